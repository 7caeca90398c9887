"""The hardware of a session: scans devices, finds them by name, reads their settings and plans changes."""

from __future__ import annotations

import asyncio
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
from backends.identity import HOLDER_KINDS
from backends.merge_inventory import join_parts
from backends.model import KERNEL, Array, Controller, Device, Drive, Inventory, Problem, Target, Task
from backends.protocol import PlansTogether, TaskReporter
from backends.settings import Effect, Reading, Risk, Setting, worst
from backends.text import clean

if TYPE_CHECKING:
    from backends.registry import MachineBackends


STALE = 600.0
"""Maximum age in seconds of the readings from which a change may be planned if the plan is only shown."""


JUST_NOW = 60.0
"""Maximum age in seconds of a scan that a new session reuses."""


PART_INTERVAL = 0.05
"""Minimum time in seconds between partial results of a scan, because each of them joins all parts again."""


_TELLING = ("mount", "swap", "btrfs", "zfs", "loop", *HOLDER_KINDS)
"""Kinds of use whose details name dependents of a block device. They count if its vendor reports no dependents."""


class SessionInventory:
    """The devices of the machine. Each scan is recorded in the session that `record` records."""

    _parts: Mapping[str, Inventory] = MappingProxyType({})
    """The last scan result of each backend or controller, by name."""
    _last_inventory: Inventory | None = None
    """The last complete scan."""
    _scanned_at: float = 0.0
    """Start of the last scan of all backends, by time.monotonic()."""

    def __init__(self, record: Recorder) -> None:
        self._record = record

    @cached_property
    def machine(self) -> MachineBackends:
        """Return all backends of the host. The modules of vendors are imported when they are first needed."""
        from backends.registry import MachineBackends

        return MachineBackends.of(self._record.host)

    @property
    def waited_for(self) -> frozenset[str]:
        """Return the vendors that have not answered in the current scan; none before the first scan."""
        return self.machine.waited_for if "machine" in vars(self) else frozenset()

    async def probe(self) -> Inventory:
        """Scan all backends at the same time, and return the inventory. Partial results are shown as they arrive.

        Until a backend responds, its last result is shown, even if that is from an aborted scan. So no device
        disappears during a scan.
        """
        answered: dict[str, Inventory] = {}
        loop = asyncio.get_running_loop()
        timer: asyncio.TimerHandle | None = None

        def add_part(part: str, inventory: Inventory) -> None:
            nonlocal timer
            answered[part] = inventory
            self._parts = {**self._parts, part: inventory}
            if len(answered) == 1:
                show_parts()
            elif timer is None:
                timer = loop.call_later(PART_INTERVAL, show_parts)

        def show_parts() -> None:
            nonlocal timer
            timer = None
            self._record.emit(InventorySeen(at=time.time(), inventory=join_parts(self._parts), complete=False))

        self._scanned_at = time.monotonic()
        try:
            merged = with_ratings(await self.machine.probe(add_part), self._record.endurance_ratings)
        finally:
            if timer is not None:
                timer.cancel()
        self._parts = answered
        self._record_inventory(merged)
        return merged

    async def probe_if_stale(self) -> Inventory:
        """Return an inventory that is at most `JUST_NOW` seconds old, and record it in the session.

        If there is none, scan all backends.
        """
        if self._last_inventory is None or time.monotonic() - self._scanned_at > JUST_NOW:
            return await self.probe()
        self._record_inventory(self._last_inventory)
        return self._last_inventory

    async def rescan_after_change(self, changes: Iterable[Change]) -> Inventory:
        """Scan again the backends whose devices were changed, or all backends if a change re-creates an array."""
        change_list = tuple(changes)
        if self._record.session.probing or any(change.effect is Effect.RECREATED for change in change_list):
            return await self.probe()
        vendors = {change.target.backend for change in change_list}
        merged = with_ratings(await self.machine.rescan_after_change(vendors), self._record.endurance_ratings)
        self._record_inventory(merged)
        return merged

    def _record_inventory(self, merged: Inventory) -> None:
        """Record a complete scan in the session; write it to the log only if it differs from the last one there."""
        self._last_inventory = merged
        event = InventorySeen(at=time.time(), inventory=merged)
        last = next((e for e in reversed(self._record.session.events) if isinstance(e, InventorySeen)), None)
        if last is not None and last.inventory == merged and self._record.is_open:
            self._record.replay_to_listeners(
                replace(self._record.session, inventory=merged, probing=False, scan_complete=True), event
            )
        else:
            self._record.emit(event)

    async def find(self, address: str) -> Device:
        """Return the device that an address, a device node, a link or a display name (`ssd`) identifies.

        Raises NotFoundError, which lists the devices, if no device has this name or if it is ambiguous. Raises
        ToolFailedError if the name belongs to a vendor or controller that could not be read.
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
            devices: tuple[Device, ...] = (*inventory.arrays, *inventory.drives, *inventory.controllers)
            addresses = [str(present.target) for present in devices if present.target not in inventory.twins]
            hint = (
                f"Known addresses: {', '.join(addresses[:12])}."
                if addresses
                else "Run `raidbench doctor` to see why nothing is found."
            )
            hint = suggestion_hint(address, _accepted_names(devices), hint)
            if unread := _problem_above(inventory, address):
                raise ToolFailedError(f"raidbench cannot check whether {address!r} exists: {unread.message}", hint=hint)
            raise NotFoundError(f"{address!r} does not exist.", hint=hint)
        return device

    async def device_label(self, target: Target) -> DeviceLabel:
        """Return the label that names a target in a confirmation prompt, with the confirmation token."""
        inventory = self._record.session.inventory
        if (
            self._record.session.probing and inventory.find(str(target)) is None
        ):  # no need to wait for a scan if the target is listed already
            inventory = await self.probe()
        return device_label_of(inventory, target)

    def owner_of_setting(self, target: Target, key: str) -> Target:
        """Return the target that has a setting: the target itself, or another view of the same block device.

        For example, `scheduler` of a namespace or an array is a setting of the kernel disk, and `vwc` of the kernel
        disk is a setting of the namespace. Returns the target itself if no view has the setting.
        """
        homes = (view for view in self.views_of(target) if any(setting.key == key for setting in self.settings(view)))
        return next(homes, target)

    def views_of(self, target: Target) -> tuple[Target, ...]:
        """Return the target and all other views of its block device: an array, a vendor's drive, the kernel disk."""
        record = self._record.session.inventory.find(str(target))
        device = None if record is None or isinstance(record, Controller) else record.device
        views = self._record.session.inventory.at(device) if device is not None else ()
        return tuple(dict.fromkeys((target, *(view.target for view in views))))

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Return the declared settings of a target."""
        return self.machine.settings(target)

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Return the current readings of a target's settings, by key."""
        return await self.machine.read(target)

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """Return the change that sets `key` to `value`, on the target or on another view of its block device."""
        home = self.owner_of_setting(target, key)
        return self.with_dependents(await self.machine.setter(home).plan(home, key, value))

    async def plan_all(self, target: Target, values: Mapping[str, str]) -> tuple[Change, ...]:
        """Return the changes that together set all of `values`, in the order that their backend needs."""
        homes: dict[Target, dict[str, str]] = {}
        for key, value in values.items():
            homes.setdefault(self.owner_of_setting(target, key), {})[key] = value
        changes: list[Change] = []
        for home, home_values in homes.items():
            backend = self.machine.backend(home)
            if isinstance(backend, PlansTogether):
                changes += map(self.with_dependents, await backend.plan_together(home, home_values))
            else:
                changes += [await self.plan(home, key, value) for key, value in home_values.items()]
        return self.order_changes(changes)

    def disk_of(self, target: Target) -> Target | None:
        """Return the kernel disk of a target as of the last scan, or None if it has none."""
        return next((view for view in self.views_of(target) if view.backend == KERNEL), None)

    def order_changes(self, changes: Sequence[Change]) -> tuple[Change, ...]:
        """Return the changes in such an order that none resets a setting of the kernel disk that an earlier one set.

        All changes of one target stay together, in their order.
        """
        settings = {(change.target, change.key) for change in changes}
        front = {change.target for change in changes if not settings.isdisjoint(self._moved_on_disk(change))}
        first = [change for change in changes if change.target in front]
        return (*first, *(change for change in changes if change.target not in front))

    def required_changes(self, changes: Sequence[Change]) -> tuple[Change, ...]:
        """Return the changes that are needed: their value is not set yet, or another needed change may alter it."""
        effective = [change for change in changes if change.before != change.after]
        moved = {(change.target, key) for change in effective for key in change.moves}
        moved |= {setting for change in effective for setting in self._moved_on_disk(change)}
        return tuple(change for change in changes if change in effective or (change.target, change.key) in moved)

    def _moved_on_disk(self, change: Change) -> Iterator[tuple[Target, str]]:
        """Yield (kernel disk, key) of each setting of the kernel disk that a change may alter as a side effect."""
        disk = self.disk_of(change.target) if change.moves_disk else None
        if disk is not None and disk != change.target:
            yield from ((disk, key) for key in change.moves_disk)

    async def plan_to_show(self, target: Target, values: Mapping[str, str]) -> tuple[Change, ...]:
        """Return the changes of `plan_all` for display, planned from readings of the last `STALE` seconds if possible.

        When the changes are applied, the values are read again under the lock. The values are read at once if a change
        destroys data, or if planning fails with the earlier readings.
        """
        with contextlib.suppress(RaidbenchError), self.machine.using_last_scan(STALE):
            changes = await self.plan_all(target, values)
            if worst(change.risk for change in changes) is not Risk.DESTROYS_DATA:
                return changes
        return await self.plan_all(target, values)

    def with_dependents(self, change: Change) -> Change:
        """Return the change, supplemented by the dependents of its target (volumes, mounts) as of the last scan."""
        return replace(change, above=dependents_of(self._record.session.inventory, change.target))

    async def readings_of(self, device: str | None, file: str | None = None) -> dict[str, tuple[str, Reading]]:
        """Return the label and reading of each setting of the device node `device`, by key.

        Unreadable settings are omitted. For a `file` without a device, these are the settings of its filesystem. If an
        array and its kernel disk have a setting with the same key, that of the array is returned.
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
        """Return the background work of the array with the node `device`; None for no array or an unreadable one."""
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


def _find_by_name(inventory: Inventory, name: str, device: Device | None) -> Device | None:
    """Return the device with this display name or address; None if there is none.

    `device`: the device already found by its node; None if there is none. Raises NotFoundError if the name is
    ambiguous.
    """
    if device is not None and name in (str(device.target), getattr(device, "device", None)):
        return device
    others = find_by_name(inventory, name)
    by_target = {candidate.target: candidate for candidate in (others if device is None else (device, *others))}
    if len(by_target) > 1:
        raise NotFoundError(
            f"{clean(name, 100)!r} is ambiguous: {' or '.join(map(str, by_target))}.", hint="Use the address."
        )
    return next(iter(by_target.values()), None)


def _problem_above(inventory: Inventory, address: str) -> Problem | None:
    """Return the problem with reading the vendor or controller of an address; None if both responded."""
    for problem in inventory.problems:
        below = address.startswith((f"{problem.where}:", f"{problem.where}/"))
        if (below or address == problem.where) and inventory.find(problem.where) is None:
            return problem
    return None


def _accepted_names(devices: Iterable[Device]) -> Iterator[str]:
    """Yield the names that a user may type for each device: address, address without backend, kernel name."""
    for device in devices:
        yield from (str(device.target), device.target.address, name_of(device))
        if not isinstance(device, Controller) and device.device is not None:
            yield device.device.rpartition("/")[2]


def dependents_of(inventory: Inventory, target: Target) -> tuple[str, ...]:
    """Return the dependents of a target (volumes, mounts), each of them once.

    Those of a controller include the dependents of its drives and arrays; those of a member include the dependents of
    its array.
    """
    return tuple(dict.fromkeys(word for device in _affected_devices(inventory, target) for word in _use_texts(device)))


def _affected_devices(inventory: Inventory, target: Target) -> Iterator[Array | Drive]:
    """Yield the devices whose dependents are affected: the target, other views of its block device, and its array."""
    device = inventory.find(str(target))
    if isinstance(device, Controller):
        yield from (array for array in inventory.arrays if array.controller == target)
        yield from (drive for drive in inventory.drives if drive.controller == target)
        return
    if device is None:
        return
    yield device
    if isinstance(device, Array) and device.device is None:  # no kernel disk, as for a pool: its members may be in use
        members = (inventory.find(str(member)) for member in device.members)
        yield from (member for member in members if isinstance(member, Array | Drive))
    yield from inventory.at(device.device) if device.device is not None else ()
    home = inventory.find(str(device.array)) if isinstance(device, Drive) and device.array is not None else None
    if isinstance(home, Array):
        yield home


def _use_texts(device: Array | Drive) -> tuple[str, ...]:
    return device.above or tuple(use.detail for use in device.uses if use.kind in _TELLING)
