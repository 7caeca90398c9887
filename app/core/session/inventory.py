"""The machine of a session: looked for, found by any of its names, read."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from app.core.session.event_types import with_ratings
from app.core.session.events import InventorySeen
from app.core.session.recorder import Recorder
from backends.change import Change
from backends.device_label import DeviceLabel, device_label_of
from backends.did_you_mean import suggestion_hint
from backends.display_names import find_by_name, name_of
from backends.errors import NotFoundError, RaidbenchError, ToolFailedError
from backends.merge_inventory import join_parts
from backends.model import KERNEL, Array, Controller, Drive, Inventory, Problem, Target, Task
from backends.protocol import PlansTogether, TaskReporter
from backends.settings import Effect, Reading, Risk, Setting, worst
from backends.text import clean
from backends.topology.stacking import HOLDER_KINDS

if TYPE_CHECKING:
    from backends.registry import MachineBackends


STALE = 600.0
"""Seconds after which what was told is asked again before somebody is shown what would be done."""


JUST_NOW = 60.0
"""Seconds for which a look is not worth repeating for a log that begins."""


_TELLING = ("mount", "swap", "btrfs", "zfs", "loop", *HOLDER_KINDS)
"""Kinds of use that say what stands on a thing whose vendor tells nothing else."""


class SessionInventory:
    """What is there; each look goes into the session of `record`."""

    _parts: Mapping[str, Inventory] = MappingProxyType({})
    """What each backend, or card of one, told last."""
    _last_inventory: Inventory | None = None
    """The last whole look."""
    _scanned_at: float = 0.0
    """When it began, of time.monotonic()."""

    def __init__(self, record: Recorder) -> None:
        self._record = record

    @cached_property
    def machine(self) -> MachineBackends:
        """Every backend of the host; the vendors are looked for when the first is asked."""
        from backends.registry import MachineBackends

        return MachineBackends.of(self._record.host)

    async def probe(self) -> Inventory:
        """Ask every backend at once; what has answered is shown while others still think.

        Who has not answered yet is shown as it was told before, also by a look that was given up: nothing that is there
        is missing for a moment.
        """
        answered: dict[str, Inventory] = {}

        def show_part(part: str, inventory: Inventory) -> None:
            answered[part] = inventory
            self._parts = {**self._parts, part: inventory}
            self._record.emit(InventorySeen(at=time.time(), inventory=join_parts(self._parts), complete=False))

        self._scanned_at = time.monotonic()
        merged = with_ratings(await self.machine.probe(show_part), self._record.endurance_ratings)
        self._parts = answered
        self._record_inventory(merged)
        return merged

    async def probe_if_stale(self) -> Inventory:
        """As `probe`; what this process found in the last minute is put into the session without another look."""
        if self._last_inventory is None or time.monotonic() - self._scanned_at > JUST_NOW:
            return await self.probe()
        self._record_inventory(self._last_inventory)
        return self._last_inventory

    async def rescan_after_change(self, changes: Iterable[Change]) -> Inventory:
        """As `probe`, of what these changes may have moved: everything where one makes a device anew."""
        change_list = tuple(changes)
        if self._record.session.probing or any(change.effect is Effect.RECREATED for change in change_list):
            return await self.probe()
        vendors = {change.target.backend for change in change_list}
        merged = with_ratings(await self.machine.rescan_after_change(vendors), self._record.endurance_ratings)
        self._record_inventory(merged)
        return merged

    def _record_inventory(self, merged: Inventory) -> None:
        """Put a whole look into the session, and into its log where it is another than the last one."""
        self._last_inventory = merged
        event = InventorySeen(at=time.time(), inventory=merged)
        last = next((e for e in reversed(self._record.session.events) if isinstance(e, InventorySeen)), None)
        if last is not None and last.inventory == merged and self._record.is_open:
            self._record.replay_to_listeners(
                replace(self._record.session, inventory=merged, probing=False, whole=True), event
            )
        else:
            self._record.emit(event)

    async def find(self, address: str) -> Controller | Array | Drive:
        """The thing an address, a device node or a link to one names.

        Also what it is called in the list, `ssd`. Raises NotFoundError naming what is there, or whatever else is meant
        by the same word.
        """
        inventory = self._record.session.inventory if not self._record.session.probing else await self.probe()
        device = inventory.find(address)
        if device is None and ":" not in address and "/" not in address:
            device = inventory.find(f"/dev/{address}")
        if device is None and (address.startswith("/") or ":" not in address):
            by_address = (inventory.find(f"{vendor}:{address}") for vendor in self.machine.backends)
            device = next((match for match in by_address if match is not None), None)
        device = _find_by_name(inventory, address, device)
        if device is None and address.startswith("/"):
            real = await self._record.host.link(address)
            device = inventory.find(real) if real else None
        if device is None:
            devices: tuple[Controller | Array | Drive, ...] = (
                *inventory.arrays,
                *inventory.drives,
                *inventory.controllers,
            )
            addresses = [str(present.target) for present in devices if present.target not in inventory.twins]
            hint = (
                f"There are: {', '.join(addresses[:12])}."
                if addresses
                else "`raidbench doctor` says why nothing is found."
            )
            hint = suggestion_hint(address, _accepted_names(devices), hint)
            if unread := _problem_above(inventory, address):
                raise ToolFailedError(f"Whether there is {address!r} cannot be told: {unread.message}", hint=hint)
            raise NotFoundError(f"There is no {address!r} here.", hint=hint)
        return device

    async def device_label(self, target: Target) -> DeviceLabel:
        """How a question names a target, and the word that means it."""
        inventory = self._record.session.inventory
        if (
            self._record.session.probing and inventory.find(str(target)) is None
        ):  # not waiting for backends that still think
            inventory = await self.probe()
        return device_label_of(inventory, target)

    def owner_of_setting(self, target: Target, key: str) -> Target:
        """The target that has a setting: itself, else another view of the same block device; itself if none has it.

        `scheduler` of a namespace or an array is the kernel's disk's, `vwc` of the kernel's disk is the namespace's.
        """
        homes = (view for view in self.views_of(target) if any(setting.key == key for setting in self.settings(view)))
        return next(homes, target)

    def views_of(self, target: Target) -> tuple[Target, ...]:
        """The target, then what else its block device is: an array, a vendor's drive, the kernel's disk."""
        record = self._record.session.inventory.find(str(target))
        device = None if record is None or isinstance(record, Controller) else record.device
        views = self._record.session.inventory.at(device) if device is not None else ()
        return tuple(dict.fromkeys((target, *(view.target for view in views))))

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """The declared settings of a target."""
        return self.machine.settings(target)

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Their values now."""
        return await self.machine.read(target)

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """What setting `key` to `value` would do, on the target or on what else its block device is."""
        home = self.owner_of_setting(target, key)
        return self.with_dependents(await self.machine.setter(home).plan(home, key, value))

    async def plan_all(self, target: Target, values: Mapping[str, str]) -> tuple[Change, ...]:
        """What setting all of `values` would do, as one set; in the order that their backend wants."""
        homes: dict[Target, dict[str, str]] = {}
        for key, value in values.items():
            homes.setdefault(self.owner_of_setting(target, key), {})[key] = value
        changes: list[Change] = []
        for home, own_values in homes.items():
            backend = self.machine.backend(home)
            if isinstance(backend, PlansTogether):
                changes += map(self.with_dependents, await backend.plan_together(home, own_values))
            else:
                changes += [await self.plan(home, key, value) for key, value in own_values.items()]
        return self.order_changes(changes)

    def disk_of(self, target: Target) -> Target | None:
        """Return the kernel's disk that a target is, None where it is none by the last look."""
        return next((view for view in self.views_of(target) if view.backend == KERNEL), None)

    def order_changes(self, changes: Sequence[Change]) -> tuple[Change, ...]:
        """Return the changes of a set with those in front that move what others set on the kernel's disk.

        All changes of the same target stay together, in their order.
        """
        settings = {(change.target, change.key) for change in changes}
        front = {change.target for change in changes if not settings.isdisjoint(self._moved_on_disk(change))}
        first = [change for change in changes if change.target in front]
        return (*first, *(change for change in changes if change.target not in front))

    def required_changes(self, changes: Sequence[Change]) -> tuple[Change, ...]:
        """Return the changes of a set without those whose value is so already, unless another one moves it."""
        effective = [change for change in changes if change.before != change.after]
        moved = {(change.target, key) for change in effective for key in change.moves}
        moved |= {setting for change in effective for setting in self._moved_on_disk(change)}
        return tuple(change for change in changes if change in effective or (change.target, change.key) in moved)

    def _moved_on_disk(self, change: Change) -> Iterator[tuple[Target, str]]:
        """Yield the settings of the kernel's disk that a change may move."""
        disk = self.disk_of(change.target) if change.moves_disk else None
        if disk is not None and disk != change.target:
            yield from ((disk, key) for key in change.moves_disk)

    async def plan_to_show(self, target: Target, values: Mapping[str, str]) -> tuple[Change, ...]:
        """As `plan_all`, of what was read since the last look: whoever applies it reads again under the lock.

        What destroys data, or could not be done as things were then, is planned of what is read now.
        """
        with contextlib.suppress(RaidbenchError), self.machine.using_last_scan(STALE):
            changes = await self.plan_all(target, values)
            if worst(change.risk for change in changes) is not Risk.DESTROYS_DATA:
                return changes
        return await self.plan_all(target, values)

    def with_dependents(self, change: Change) -> Change:
        """The change, knowing what stands on its target by the last look."""
        return replace(change, above=dependents_of(self._record.session.inventory, change.target))

    async def readings_of(self, device: str | None, file: str | None = None) -> dict[str, tuple[str, Reading]]:
        """Labels and readings of the settings of a device, by key; what cannot be read is left out.

        Of a `file` on no device those of its filesystem.

        Those of the array first, then those of the block device that it is to the kernel: of two with the same key the
        array's counts.
        """
        if device is None and file is None:
            return {}
        readings: dict[str, tuple[str, Reading]] = {}
        try:
            inventory = await self.probe() if self._record.session.probing else self._record.session.inventory
            holding = inventory.holding(file) if device is None and file is not None else None
            for view in inventory.at(device) if device is not None else (holding,) if holding is not None else ():
                labels = {setting.key: setting.label for setting in self.settings(view.target)}
                for key, reading in (await self.read(view.target)).items():
                    if reading.now is not None:
                        readings.setdefault(key, (labels.get(key, key), reading))
        except RaidbenchError:
            return readings
        return readings

    async def tasks_of(self, device: str | None) -> tuple[Task, ...] | None:
        """Background work of the array at a node and of its controller, asked anew; None where nobody can tell."""
        arrays = [
            device_record
            for device_record in self._record.session.inventory.at(device or "")
            if isinstance(device_record, Array)
        ]
        backend = self.machine.backends.get(arrays[0].target.backend) if arrays else None
        if backend is None:
            return None
        target = arrays[0].target
        try:
            if isinstance(backend, TaskReporter):
                return await backend.tasks(target)
            arrays_now = (await backend.inventory()).arrays
        except RaidbenchError:
            return None
        return next((array.tasks for array in arrays_now if array.target == target), None)


def _find_by_name(
    inventory: Inventory, name: str, device: Controller | Array | Drive | None
) -> Controller | Array | Drive | None:
    """What is called so in the list, where an address does not tell. Raises NotFoundError where it may be several."""
    if device is not None and name in (str(device.target), getattr(device, "device", None)):
        return device
    others = find_by_name(inventory, name)
    by_target = {candidate.target: candidate for candidate in (others if device is None else (device, *others))}
    if len(by_target) > 1:
        raise NotFoundError(
            f"{clean(name, 100)!r} may be {' or '.join(map(str, by_target))}.", hint="Name it by its address."
        )
    return next(iter(by_target.values()), None)


def _problem_above(inventory: Inventory, address: str) -> Problem | None:
    """What was told instead of what an address would be below: its vendor, its controller; None where both answered."""
    for problem in inventory.problems:
        below = address.startswith((f"{problem.where}:", f"{problem.where}/"))
        if (below or address == problem.where) and inventory.find(problem.where) is None:
            return problem
    return None


def _accepted_names(things: Iterable[Controller | Array | Drive]) -> Iterator[str]:
    """What may be typed for each: its address, that within its backend, its kernel name."""
    for device in things:
        yield from (str(device.target), device.target.address, name_of(device))
        if not isinstance(device, Controller) and device.device is not None:
            yield device.device.rpartition("/")[2]


def dependents_of(inventory: Inventory, target: Target) -> tuple[str, ...]:
    """What stands on a target, in words, each once: on all that hangs from a controller, on the array of a member."""
    return tuple(dict.fromkeys(word for device in _affected_devices(inventory, target) for word in _use_texts(device)))


def _affected_devices(inventory: Inventory, target: Target) -> Iterator[Array | Drive]:
    """The target, what else its block device is, and the array that it is a member of."""
    device = inventory.find(str(target))
    if isinstance(device, Controller):
        yield from (array for array in inventory.arrays if array.controller == target)
        yield from (drive for drive in inventory.drives if drive.controller == target)
        return
    if device is None:
        return
    yield device
    if isinstance(device, Array) and device.device is None:  # a pool, a volume of a card that the kernel does not have
        members = (inventory.find(str(member)) for member in device.members)
        yield from (member for member in members if isinstance(member, Array | Drive))
    yield from inventory.at(device.device) if device.device is not None else ()
    home = inventory.find(str(device.array)) if isinstance(device, Drive) and device.array is not None else None
    if isinstance(home, Array):
        yield home


def _use_texts(device: Array | Drive) -> tuple[str, ...]:
    return device.above or tuple(use.detail for use in device.uses if use.kind in _TELLING)
