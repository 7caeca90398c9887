"""Protocols of backends and vendors."""

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
    """The minimum interface of a backend, which reads one vendor's tools or one part of the kernel on one host."""

    async def inventory(self) -> Inventory:
        """Return all devices of this backend. A failure to read a part is reported as a problem of the inventory."""

    async def diagnose(self) -> tuple[Problem, ...]:
        """Return missing or faulty prerequisites with their fixes, as `raidbench doctor` shows them."""


@runtime_checkable
class SettingsBackend(Protocol):
    """A backend whose devices have settings."""

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Return the settings that a target may have, as declared; no I/O."""

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Return the reading of every setting by key: value, legal values and availability.

        Raises NotFoundError for an unknown target, DeviceGoneError for a vanished one.
        """

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """Return the change that sets `key` to `value`; changes nothing.

        Raises NotFoundError, InvalidValueError, BlockedError if it cannot be set.
        """

    async def back(self, target: Target, key: str, value: str, companions: Mapping[str, str]) -> Change:
        """Return the change that restores the old value of `key`; changes nothing.

        `companions`: `Change.companions` of the change that is undone. The value and the companions must be values that
        this object may have had, offered now or not. Everything else is taken from one fresh reading of the object. If
        the object has the value already, `before` and `after` are equal. Raises NotFoundError, DeviceGoneError,
        BlockedError, InvalidValueError if it cannot be restored, RefusedError for a companion that is unknown or
        another object's.
        """

    async def apply(self, change: Change) -> None:
        """Apply a change. Only the tool's own result is checked, so the caller must read the value back.

        Raises ToolFailedError if the tool refuses, DeviceGoneError if the device vanished.
        """


class Backend(InventoryBackend, SettingsBackend, Protocol):
    """A backend with an inventory and settings."""


InventoryListener = Callable[[str, Inventory], None]
"""Function that receives the name and the inventory of a part. A later part of the same name replaces the earlier."""


BEING_READ = "being read ..."
"""Model of a controller that has not answered yet."""


def placeholder_inventory(card: Target) -> Inventory:
    """Return the part of an inventory that represents a controller until it has answered."""
    return Inventory(controllers=(Controller(target=card, vendor=card.backend, model=BEING_READ),))


@runtime_checkable
class IncrementalInventory(Protocol):
    """A backend whose parts (controllers) answer at different speeds."""

    async def inventory_in_parts(self, listener: InventoryListener) -> Inventory:
        """Return the inventory. Report each part to `listener` when it is detected, and again when it has answered."""


@runtime_checkable
class InventoryEnricher(Protocol):
    """A backend that adds facts once the inventories of all backends are known."""

    async def complete(self, inventory: Inventory) -> Inventory:
        """Return the joined inventory of all backends with facts added; nothing is removed."""


@runtime_checkable
class PlansTogether(Protocol):
    """A backend with dependent settings: one limits the legal values of another, or one re-creation sets several."""

    async def plan_together(self, target: Target, values: Mapping[str, str]) -> tuple[Change, ...]:
        """Return the changes that set all `values`, in the order in which they have to be applied.

        Each change is planned as if the changes before it had been applied. Raises the errors of
        `SettingsBackend.plan`.
        """


@runtime_checkable
class ArrayPlanner(Protocol):
    """A backend that can plan arrays, and that may report drives which the kernel does not see as candidates."""

    async def candidates(self) -> tuple[Candidate, ...]:
        """Return the drives that only its controllers see, with reasons against each; () if the kernel sees all drives.

        Raises ToolFailedError if the tool fails.
        """

    async def plan_array(self, request: ArrayRequest, controller: Target | None, *, assume_clean: bool) -> ArrayPlan:
        """Return the plan for an array in the current state; changes nothing.

        `controller`: controller that creates it. Raises InvalidValueError, BlockedError, NotFoundError if it cannot be
        created, ToolFailedError if the tool fails.
        """


@runtime_checkable
class ArrayCreator(ArrayPlanner, Protocol):
    """A backend that creates arrays, recognises them and deletes them."""

    async def find_made(self, array: CreatedArray) -> ArrayMatch:
        """Search for an array that was or may have been created, and return the parts found; changes nothing.

        The devices are read again. Members are recognised by serial number (WWN) and size, wherever they are connected
        now. Raises ToolFailedError if the tool fails.
        """

    async def run_making(self, controller: Target | None, steps: Sequence[ChangeStep]) -> None:
        """Run steps of `ArrayPlan.steps` or `ArrayMatch.remove` in order, up to the first that fails.

        Raises ToolFailedError with the tool's message, RefusedError for a program that this backend does not use.
        """


@runtime_checkable
class ChecksParity(Protocol):
    """A backend that can read an array completely and count inconsistent copies or parity."""

    async def begin_check(self, target: Target) -> None:
        """Start the check, which is listed as a task until it ends.

        Raises NotFoundError, DeviceGoneError, ToolFailedError if it fails.
        """

    async def mismatches(self, target: Target) -> int | None:
        """Return the number of inconsistent sectors at the last check; None if unknown.

        Raises NotFoundError, DeviceGoneError for a missing array.
        """


@runtime_checkable
class CachedReadings(Protocol):
    """A backend that caches the readings of its inventory, because reading them again takes seconds."""

    async def readings(self, target: Target) -> Mapping[str, Reading]:
        """Return the readings cached by the last inventory. The device is read only if none are cached."""


@runtime_checkable
class SingleSettingReader(CachedReadings, Protocol):
    """A backend that can refresh single settings with fewer queries than all settings need."""

    async def read_for(self, target: Target, key: str) -> Mapping[str, Reading]:
        """Return all readings. Only those on which `key` depends are read again; the others are cached ones."""


@runtime_checkable
class CachedInventory(Protocol):
    """A backend that can build its inventory from cached readings, because a scan takes seconds."""

    async def cached_inventory(self) -> Inventory:
        """Return the inventory from the last readings, including those read for a change.

        Only missing readings are read now.
        """


@runtime_checkable
class LegalValueQuery(Protocol):
    """A backend whose tool can list the legal values of every setting, although `read` queries only some of them."""

    async def ask_legal_values(self, target: Target) -> int:
        """Query the legal values of all settings, so that a recording contains them; return the number of queries.

        Changes nothing.

        Raises the errors of `SettingsBackend.read`.
        """


@runtime_checkable
class TaskReporter(Protocol):
    """A backend that can report the tasks of one array without a complete scan."""

    async def tasks(self, target: Target) -> tuple[Task, ...]:
        """Return the tasks of an array and its controller.

        Raises NotFoundError, ToolFailedError if they cannot be read.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class PersistRule:
    """A planned change of a file that sets values again at every boot, such as a udev rules file."""

    path: str
    """Path of the file."""
    before: bytes | None
    """The file's current content, including lines of other authors; None if there is no file."""
    rewrite: Callable[[bytes], bytes]
    """Function that returns the new content for the old one. Lines of other authors stay byte for byte."""
    explanation: str
    """Sentence that states what the file does and when it takes effect."""
    reload: tuple[tuple[str, ...], ...] = ()
    """Commands that activate the file (`udevadm control --reload-rules`)."""

    @property
    def content(self) -> bytes:
        """Return the new content; b"" means that the file is removed. Raises BlockedError if it cannot be written."""
        return self.rewrite(self.before or b"")

    @property
    def text(self) -> str:
        """Return the new content for display, with bytes that are not UTF-8 as `\\xNN`.

        Raises BlockedError like `content`.
        """
        return self.content.decode("utf-8", "backslashreplace")

    @property
    def changes(self) -> bool:
        """Return whether the new content differs from the current one. Raises BlockedError like `content`."""
        return self.content != (self.before or b"")

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the old and the new content together. Raises BlockedError like `content`."""
        from hashlib import sha256  # imported here, because it loads a library of several megabytes

        parts = (b"" if self.before is None else b"file", self.before or b"", self.content)
        return sha256(b"".join(sha256(part).digest() for part in parts)).hexdigest()

    def after(self, earlier: PersistRule) -> PersistRule:
        """Return this rule, based on the new content of an earlier rule for the same path.

        Raises BlockedError like `content`.
        """
        return replace(self, before=earlier.content or None) if earlier.changes else self


@runtime_checkable
class CanPersist(Protocol):
    """A backend that can persist settings."""

    async def persist(self, target: Target, values: Mapping[str, str]) -> PersistRule:
        """Return the rule that makes the target's `values` persist across reboots.

        An empty mapping yields a rule that removes the target's lines from the rules file.

        Raises BlockedError if nothing identifies the device after a reboot.
        """


@runtime_checkable
class Recreatable(Protocol):
    """A backend that can finish an interrupted change which deleted a device to create it again."""

    async def plan_remake(self, change: Change) -> Change:
        """Return the change that creates a deleted device again after an interrupted change; changes nothing.

        `change`: read from this user's own journal. Its `members` are serial numbers of drives, all of which have to be
        free now. Raises RefusedError if the device exists or a drive is not free, DeviceGoneError if a drive is
        missing, BlockedError otherwise.
        """


@runtime_checkable
class InterruptedChangeReporter(Protocol):
    """A backend that recognises a device which an interrupted change stopped or deleted to create it again."""

    async def remains(self, change: Change) -> str | None:
        """Return the first step to repair a device that an interrupted change stopped or deleted.

        The step follows from the metadata on the device's parts. None if the device exists, or if its parts have no
        metadata. Only reads; raises no RaidbenchError.
        """


async def always(_host: Host) -> bool:
    """Return True: the test of presence for a vendor whose devices may be on any host."""
    return True


def present_if_found(pattern: str = "", *, programs: Sequence[str] = ()) -> Callable[[Host], Awaitable[bool]]:
    """Return a function that tests whether a host has one of `programs`, or a path that matches `pattern`."""

    async def present(host: Host) -> bool:
        return bool((programs and host.which(programs)) or (pattern and await host.list(pattern)))

    return present


def lazy_backend(path: str) -> Callable[[Host], InventoryBackend]:
    """Return a function that creates the backend `package.module:Class` and imports its module on first use."""

    def backend(host: Host) -> InventoryBackend:
        instance: InventoryBackend = load_object(path)(host)
        return instance

    return backend


def load_object(path: str) -> Any:
    """Import the module and return the object at `package.module:NAME`."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


RootReads = Mapping[tuple[str, ...], tuple[tuple[str, ...], ...]]
"""Command lines that the root helper permits. Key: the names and paths of a program. Value: its permitted argument
lists, in which each element is a pattern that must match one complete argument.
"""

DEVICE = "DEVICE"
"""Placeholder in `RootReads` for the node of a block device, or of an NVMe or SCSI generic character device."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """The value that a module in backends.vendors exports as `VENDOR`. Importing that module must be cheap."""

    name: str
    """Name of the vendor, which is also the prefix of its targets: `block`."""
    backend: Callable[[Host], InventoryBackend]
    """Function that creates the backend for a host without I/O; see `lazy_backend`."""
    present: Callable[[Host], Awaitable[bool]] = always
    """Fast test whether a host may have its devices. If not, a scan skips this vendor."""
    drivers: tuple[str, ...] = ()
    """Kernel drivers of its controllers, if all its disks are behind such controllers; () if it may report any disk."""
    root_reads: str = ""
    """Location of its `RootReads`, `package.module:NAME`: programs that the root helper may start for a user.

    It is only used for vendors in `backends.vendors`.
    """
    declares: tuple[str, ...] = ()
    """Locations of its settings, each `package.module:SETTINGS`, to label settings of devices that this host lacks."""
