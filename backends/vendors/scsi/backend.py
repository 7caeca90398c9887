"""Backend of SATA and SAS disks: inventory, and reading and changing of settings."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from re import Pattern

from backends.change import Change, ChangeStep
from backends.change_steps import (
    RequestedValue,
    denial_of,
    gone_error,
    lock_of,
    not_found_error,
    require_same_device,
    setting_of,
)
from backends.errors import BlockedError
from backends.host import Host, WriteDenied
from backends.identity import Identity
from backends.model import Drive, Inventory, Problem, Target
from backends.protocol import InventoryListener, PersistRule
from backends.settings import Reading, Setting, check_value
from backends.settings_backend import Settable
from backends.topology import Node, read_tree
from backends.topology.device_identity import identity
from backends.topology.tree import read_node
from backends.udev import match_keys, require_unique
from backends.vendors.scsi.disks import Disk, disk_of, is_disk, is_name, paths_of
from backends.vendors.scsi.drive_queries import SwitchReader, missing_tools, unread_problems
from backends.vendors.scsi.inventory import NAME, drive
from backends.vendors.scsi.plans import companions_now, finished, legal_companions, steps, value_before, way_back
from backends.vendors.scsi.readings import View, readings
from backends.vendors.scsi.running import RULES, NotSaveableError, actions, require_own_step, run_tool
from backends.vendors.scsi.settings import SETTINGS
from backends.vendors.scsi.smartctl import SmartAnswer


class ScsiBackend(Settable[View]):
    """The `sd` disks of one host."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._asker = SwitchReader(host)
        self._health: dict[Identity, SmartAnswer] = {}
        self._last_answers: dict[Identity, SmartAnswer | None] = {}
        self._unsaveable: set[Identity] = set()

    async def inventory(self) -> Inventory:
        """Return all disks with their health, sorted by name."""
        return await self.inventory_in_parts(lambda name, part: None)

    async def inventory_in_parts(self, report: InventoryListener) -> Inventory:
        """Report the inventory without the health of the disks, then report and return the complete inventory.

        Reading the health may take long.
        """
        disks = await self._disks()
        if not disks:
            return Inventory()
        report(NAME, Inventory(drives=tuple(drive(disk, None) for disk in disks)))
        drives = tuple(await asyncio.gather(*(self._drive(disk) for disk in disks)))
        inventory = Inventory(drives=drives, problems=unread_problems(disks, map(self._last_answer, disks)))
        report(NAME, inventory)
        return inventory

    async def cached_inventory(self) -> Inventory:
        """Return the inventory with the health that each drive last reported, because settings do not change it."""
        disks = await self._disks()
        drives = tuple(drive(disk, self._last_answer(disk)) for disk in disks)
        return Inventory(drives=drives, problems=unread_problems(disks, map(self._last_answer, disks)))

    def _last_answer(self, disk: Disk) -> SmartAnswer | None:
        return self._last_answers.get(identity(disk.node))

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Return all settings. The reading of a setting that a disk does not have is blocked."""
        return SETTINGS if target.backend == NAME else ()

    async def read_state(self, target: Target, *, back: bool = False) -> View:
        """Return the current state of the disk and of its switches (on/off features such as the write cache)."""
        return await self._view(await self._disk(target))

    async def readings_of(self, view: View) -> Mapping[str, Reading]:
        """Return the readings of all settings: the values of the drive and the kernel, and the legal values."""
        return readings(view)

    def identity_of(self, view: View, key: str) -> Identity:
        """Return the identity of the kernel's disk."""
        return identity(view.disk.node)

    async def lock_for(self, view: View, key: str) -> str:
        """Return the lock of the disk."""
        return await lock_of(self._host, view.disk.name)

    def steps(self, view: View, key: str, value: str, companions: Mapping[str, str] | None) -> tuple[ChangeStep, ...]:
        """Return the steps that set `key` to `value`.

        For an undo, they also restore the value that the drive had saved.
        """
        return steps(view, key, value) if companions is None else way_back(view, key, value, companions)

    def revert_steps(self, view: View, key: str, before: str) -> tuple[ChangeStep, ...]:
        """Return the steps that restore the current and the saved value."""
        return way_back(view, key, before, companions_now(view, key))

    def check_restorable(self, view: View, setting: Setting, now: Reading, value: str) -> str:
        """Return the old `value` if it may be restored; see `value_before`. Raises InvalidValueError."""
        return value_before(setting, now, value)

    def legal_companions(self, view: View, key: str) -> Mapping[str, Pattern[str]]:
        """Return patterns of the values that may be restored along with a setting: for a bit of a mode page, its saved
        value.
        """
        return legal_companions(view, key)

    def finished(
        self, view: View, request: RequestedValue, companions: Mapping[str, str] | None, change: Change
    ) -> Change:
        """Return the change with its risk on this drive, and with the drive's saved value as a companion."""
        return finished(view, request, change)

    def require_steps(self, view: View, change: Change) -> None:
        """Raise RefusedError for a step that does not belong to this setting of this disk."""
        for step in change.writes:
            require_own_step(step, change, view.disk, view.tool)

    def is_there(self, now: Reading, change: Change) -> bool:
        """Return False, so that the steps are always run: the saved value may differ from the current value."""
        return False

    async def require_unchanged_target(self, view: View, change: Change) -> None:
        """Raise an error unless the target is still the planned disk."""
        require_same_device(change, identity(await self._node(change.target)))

    async def take(self, view: View, change: Change, step: ChangeStep) -> None:
        """Run one step. If the drive then reports that it cannot save the mode page, later plans do not try to
        save it.
        """
        if step.path is not None:
            await super().take(view, change, step)
            return
        try:
            await run_tool(self._host, step, view.disk.kind)
        except NotSaveableError:
            self._unsaveable.add(identity(view.disk.node))
            raise

    async def persist(self, target: Target, values: Mapping[str, str]) -> PersistRule:
        """Return the udev rules file with the rule for this drive replaced and all other lines kept."""
        disk = await self._disk(target)
        declared = {key: setting_of(SETTINGS, target, key) for key in values}
        now = readings(await self._view(disk)) if values else {}
        for key in values:
            why_not = now[key].availability.why_not
            if why_not is not None and not isinstance(why_not, WriteDenied):
                raise BlockedError(f"{declared[key].label} of {disk.node.device} cannot be persisted: {why_not}.")
        legal = {key: check_value(declared[key], now[key], value) for key, value in values.items()}
        match = match_keys(disk.node)
        require_unique(disk.node, match, await read_tree(self._host))
        rule_actions = actions(disk, self._asker.tool(disk.kind), legal)
        return await RULES.rule(self._host, disk.node.device, match, rule_actions, legal)

    async def diagnose(self) -> tuple[Problem, ...]:
        """Return a problem for each of hdparm, sdparm and smartctl that is missing."""
        return missing_tools(await self._disks(), lambda name: self._host.which((name,)) is not None)

    async def _drive(self, disk: Disk) -> Drive:
        health = self._last_answers[identity(disk.node)] = await self._asker.health(disk)
        if health is not None and not health.asleep and not health.unread:
            self._health[identity(disk.node)] = health
        return drive(disk, health)

    async def _view(self, disk: Disk) -> View:
        """Return all values from which the readings of one disk are derived."""
        tool = self._asker.tool(disk.kind)
        paths = [path for path in (disk.device_file("queue_depth"), disk.cache_path) if path is not None]
        switches, health = await asyncio.gather(self._asker.switches(disk), self._drive_health(disk))
        reasons = [await self._host.writable(path) for path in paths]
        return View(
            disk=disk,
            tool=tool,
            flags=switches.flags,
            fields=switches.fields,
            silent=switches.silent,
            rights=await denial_of(self._host, tool),
            writable=dict(zip(paths, reasons, strict=True)),
            health=health,
            saves=identity(disk.node) not in self._unsaveable,
        )

    async def _drive_health(self, disk: Disk) -> SmartAnswer | None:
        """Return the health of a drive from smartctl, or None.

        The health is read once, and only for drives without moving parts, because only these may have a protected
        cache.
        """
        who = identity(disk.node)
        if who not in self._health and disk.node.attributes.get("queue/rotational") == "0":
            health = await self._asker.health(disk)
            if health is not None and not health.unread:
                self._health[who] = health
        return self._health.get(who)

    async def _disks(self) -> tuple[Disk, ...]:
        if not await self._host.list("/sys/block/sd*"):
            return ()
        tree = await read_tree(self._host)
        nodes = sorted(filter(is_disk, tree.nodes.values()), key=lambda node: (len(node.name), node.name))
        return await self._with_texts(nodes)

    async def _with_texts(self, nodes: Iterable[Node]) -> tuple[Disk, ...]:
        disk_nodes = tuple(nodes)
        texts = await self._host.read_many([path for node in disk_nodes for path in paths_of(node)])
        return tuple(disk_of(node, texts) for node in disk_nodes)

    async def _disk(self, target: Target) -> Disk:
        (disk,) = await self._with_texts([await self._node(target)])
        return disk

    async def _node(self, target: Target) -> Node:
        """Return the disk of a target, whose name is safe as part of a path."""
        if target.backend != NAME or not is_name(target.address):
            raise not_found_error(target)
        node = await read_node(self._host, target.address)
        if node is None:
            raise gone_error(target)
        if not is_disk(node):
            raise not_found_error(target)
        return node
