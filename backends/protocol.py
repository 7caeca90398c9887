"""What a backend and a vendor are."""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from backends.array_planning import ArrayMatch, ArrayPlan, ArrayRequest, Candidate, CreatedArray
from backends.change import Change, ChangeStep
from backends.host import Host
from backends.model import Controller, Inventory, Problem, Target, Task
from backends.settings import Reading, Setting
from backends.values import dataclass


class InventoryBackend(Protocol):
    """One vendor's tools, or one part of the kernel, on one host: what every backend does."""

    async def inventory(self) -> Inventory:
        """All that this backend finds. Errors of a part become problems of the inventory."""
        ...

    async def diagnose(self) -> tuple[Problem, ...]:
        """What is missing or wrong, and what to do: what `raidbench doctor` shows."""
        ...


@runtime_checkable
class SettingsBackend(Protocol):
    """What a backend does besides, whose things have settings."""

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """The settings this target may have, as declared; no I/O."""
        ...

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Every setting's value now, legal values and availability, by key.

        Raises NotFoundError or DeviceGoneError.
        """
        ...

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """What setting `key` to `value` would do; changes nothing.

        Raises NotFoundError, InvalidValueError, BlockedError.
        """
        ...

    async def back(self, target: Target, key: str, value: str, companions: Mapping[str, str]) -> Change:
        """What brings `value` back, which `key` had before; changes nothing.

        `companions`: `Change.companions` of the change that is taken back. They and the value are checked as values of
        this very object, not against the choices that are offered now; everything else is taken from the object as it
        is read now, once. Where it has the value already, `before` and `after` are equal.
        Raises NotFoundError, DeviceGoneError, BlockedError, InvalidValueError, RefusedError for a companion that is
        unknown or another object's.
        """
        ...

    async def apply(self, change: Change) -> None:
        """Do it, judge by the tool's own verdict. The caller reads back.

        Raises ToolFailedError, DeviceGoneError.
        """
        ...


class Backend(InventoryBackend, SettingsBackend, Protocol):
    """A backend that finds things and sets them."""


Told = Callable[[str, Inventory], None]
"""Hears of a part of an inventory by the part's name; a later one of the same name takes its place."""


BEING_READ = "being read ..."
"""The model of a card of which only its being there is known yet."""


def placeholder_inventory(card: Target) -> Inventory:
    """The part of an inventory that a card is until it has answered."""
    return Inventory(controllers=(Controller(target=card, vendor=card.backend, model=BEING_READ),))


@runtime_checkable
class IncrementalInventory(Protocol):
    """A backend whose parts (cards) answer at different speeds."""

    async def inventory_in_parts(self, listener: Told) -> Inventory:
        """As `inventory`; each part is told as soon as it is known to exist, and again when it has answered."""
        ...


@runtime_checkable
class InventoryEnricher(Protocol):
    """A backend that can say more once it is known what all backends found."""

    async def complete(self, inventory: Inventory) -> Inventory:
        """The joined inventory of all backends, with more in it; nothing of it is lost."""
        ...


@runtime_checkable
class PlansTogether(Protocol):
    """A backend some of whose settings depend on each other: what is legal, or what a re-creation carries."""

    async def plan_together(self, target: Target, values: Mapping[str, str]) -> tuple[Change, ...]:
        """What setting all of `values` would do, in the order in which they have to be set.

        Each is planned as if those before it were set. Raises as `Backend.plan`.
        """
        ...


@runtime_checkable
class ArrayPlanner(Protocol):
    """A backend that can say which commands make an array, and of which drives it makes some."""

    async def candidates(self) -> tuple[Candidate, ...]:
        """The drives that only its cards see, with what stands against each; () where the kernel sees all.

        Raises ToolFailedError.
        """
        ...

    async def plan_array(self, request: ArrayRequest, controller: Target | None, *, assume_clean: bool) -> ArrayPlan:
        """What making it would do, as things are now; nothing is changed.

        `controller`: the card that makes it. Raises InvalidValueError, BlockedError, NotFoundError, ToolFailedError.
        """
        ...


@runtime_checkable
class ArrayCreator(ArrayPlanner, Protocol):
    """A backend that makes what it plans, finds it again and takes it apart."""

    async def find_made(self, array: CreatedArray) -> ArrayMatch:
        """What is there now of an array that was made, or about to be; asked anew, and nothing is changed.

        Its members are known by serial number (WWN) and size, wherever they are by now. Raises ToolFailedError.
        """
        ...

    async def run_making(self, controller: Target | None, steps: Sequence[ChangeStep]) -> None:
        """Take steps of `ArrayPlan.steps` or `ArrayMatch.remove` in order, up to the first that fails.

        Raises ToolFailedError in the tool's words, RefusedError for a program that is not this maker's.
        """
        ...


@runtime_checkable
class ChecksParity(Protocol):
    """A backend that can be told to read an array in full and to count where its copies or parity are not right."""

    async def begin_check(self, target: Target) -> None:
        """Begin it; the array has a task until it ends. Raises NotFoundError, DeviceGoneError, ToolFailedError."""
        ...

    async def mismatches(self, target: Target) -> int | None:
        """Sectors that were not right at the last check; None where that is not told.

        Raises NotFoundError, DeviceGoneError.
        """
        ...


@runtime_checkable
class CachedReadings(Protocol):
    """A backend that keeps what its inventory read of the settings, where to read them anew costs seconds."""

    async def readings(self, target: Target) -> Mapping[str, Reading]:
        """As `Backend.read`, as of the last inventory; the device is asked only where nothing is kept of it."""
        ...


@runtime_checkable
class SingleSettingReader(CachedReadings, Protocol):
    """A backend some of whose settings take fewer questions than all of them; what it read of others is kept."""

    async def read_for(self, target: Target, key: str) -> Mapping[str, Reading]:
        """As `SettingsBackend.read`; only what this setting depends on is asked anew."""
        ...


@runtime_checkable
class CachedInventory(Protocol):
    """A backend that can tell its inventory out of what it read last, where to look anew costs seconds."""

    async def cached_inventory(self) -> Inventory:
        """As `InventoryBackend.inventory`, of what was read last, also by a change; what is not known is asked."""
        ...


@runtime_checkable
class LegalValueQuery(Protocol):
    """A backend whose tool can be asked which values each setting may have, where `read` asks only for some."""

    async def ask_legal_values(self, target: Target) -> int:
        """Ask for all of them, so that a recording has the answers; how many were asked for. Changes nothing.

        Raises as `SettingsBackend.read`.
        """
        ...


@runtime_checkable
class TaskReporter(Protocol):
    """A backend that can say what goes on in the background of one array without looking for everything anew."""

    async def tasks(self, target: Target) -> tuple[Task, ...]:
        """Background work on the array and on its controller. Raises NotFoundError, ToolFailedError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PersistRule:
    """A file that keeps settings after a reboot."""

    path: str
    """Where it lies."""
    before: bytes | None
    """What it holds now, whoever wrote it; None if there is no file."""
    rewrite: Callable[[bytes], bytes]
    """Return the new content for the old one: every line of another author stays, byte for byte."""
    explanation: str
    """A sentence: what it does, and when it takes effect."""
    reload: tuple[tuple[str, ...], ...] = ()
    """Commands that make it known (`udevadm control --reload-rules`)."""

    @property
    def content(self) -> bytes:
        """Return what the file will hold; b"" means that it is removed. Raises BlockedError."""
        return self.rewrite(self.before or b"")

    @property
    def text(self) -> str:
        """Return the content as it is shown: a byte that is not UTF-8 as `\\xNN`. Raises BlockedError."""
        return self.content.decode("utf-8", "backslashreplace")

    @property
    def changes(self) -> bool:
        """Return whether the file will hold anything else than it does now. Raises BlockedError."""
        return self.content != (self.before or b"")

    @property
    def digest(self) -> str:
        """Return the SHA-256 of old and new content. Raises BlockedError."""
        from hashlib import sha256  # loads a library of megabytes

        parts = (b"" if self.before is None else b"file", self.before or b"", self.content)
        return sha256(b"".join(sha256(part).digest() for part in parts)).hexdigest()

    def following(self, earlier: PersistRule) -> PersistRule:
        """Return the rule for the file as an earlier rule for the same path leaves it. Raises BlockedError."""
        return replace(self, before=earlier.content or None) if earlier.changes else self


@runtime_checkable
class CanPersist(Protocol):
    """A backend that can keep settings after a reboot."""

    async def persist(self, target: Target, values: Mapping[str, str]) -> PersistRule:
        """The rule that keeps `values` on `target`; an empty mapping takes the target's lines out again.

        Raises BlockedError when the device has nothing stable to match by.
        """
        ...


@runtime_checkable
class Recreatable(Protocol):
    """A backend some of whose changes delete a thing and make it anew."""

    async def plan_remake(self, change: Change) -> Change:
        """What makes again what a change deleted and, cut short by a crash, did not make; changes nothing.

        `change`: out of this user's own journal; its `members` are drives by serial number, each of which has to be
        free now. Raises RefusedError when it is there or a drive is not free, DeviceGoneError for a drive that is not
        there, BlockedError.
        """
        ...


@runtime_checkable
class InterruptedChangeReporter(Protocol):
    """A backend some of whose changes take a thing apart and make it anew."""

    async def remains(self, change: Change) -> str | None:
        """What to do first about a thing that a change, cut short, took apart; by what its parts say of it.

        None where it is there, or its parts say nothing. Only reads, and raises nothing of ours.
        """
        ...


async def always(_host: Host) -> bool:
    """For a vendor that may be on every machine."""
    return True


def present_if_found(pattern: str) -> Callable[[Host], Awaitable[bool]]:
    """For a vendor that a machine has where a path matches."""

    async def present(host: Host) -> bool:
        return bool(await host.list(pattern))

    return present


def lazy_backend(path: str) -> Callable[[Host], InventoryBackend]:
    """Makes the backend of `package.module:Class`; the module is imported for the first one."""

    def backend(host: Host) -> InventoryBackend:
        made: InventoryBackend = load_object(path)(host)
        return made

    return backend


def load_object(path: str) -> Any:
    """What stands at `package.module:NAME`; the module is imported."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


RootReads = Mapping[tuple[str, ...], tuple[tuple[str, ...], ...]]
"""By the names and places of a program: what may follow it, each word a pattern for the whole word."""

DEVICE = "DEVICE"
"""In such a table: the node of a block device, or of an NVMe or SCSI generic character device."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """What a module in backends.vendors exports as `VENDOR`. Importing that module should cost next to nothing."""

    name: str
    """The prefix of its targets: `block`."""
    backend: Callable[[Host], InventoryBackend]
    """Makes the backend on a host; no I/O yet. See `lazy_backend`."""
    present: Callable[[Host], Awaitable[bool]] = always
    """Whether a host may have any of its things, at next to no cost; else its backend is not made to look for them."""
    drivers: tuple[str, ...] = ()
    """Kernel drivers of the cards behind which all of its disks are; none where it may tell of any disk."""
    root_reads: str = ""
    """Where its `RootReads` stand, `package.module:NAME`: what root starts for a user. Only vendors that lie in
    `backends.vendors` are asked for them.
    """
    declares: tuple[str, ...] = ()
    """Where its settings stand, each `package.module:SETTINGS`: what tells of another machine names them by these."""
