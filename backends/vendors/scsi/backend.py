"""The backend of SATA and SAS disks: inventory, reading, planning and applying."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from backends.change import Change
from backends.changing import denial_of, gone, lock_of, not_found, require_same, setting_of, wanted
from backends.errors import BlockedError
from backends.host import Denial, Host
from backends.identity import Identity
from backends.model import Drive, Inventory, Problem, Target
from backends.protocol import PersistRule, Told
from backends.settings import Reading, Setting, check_value
from backends.topology import Node, read_tree
from backends.topology.naming import identity
from backends.topology.tree import read_node
from backends.udev import match_keys, require_unique
from backends.vendors.scsi.asking import Switches, SwitchReader
from backends.vendors.scsi.diagnosis import missing_tools
from backends.vendors.scsi.disks import Disk, Kind, disk_of, is_disk, is_name, paths_of
from backends.vendors.scsi.inventory import NAME, drive
from backends.vendors.scsi.persist import RULES, actions
from backends.vendors.scsi.plans import change as change_of
from backends.vendors.scsi.readings import View, readings
from backends.vendors.scsi.running import NotSaveableError, ScsiRunner
from backends.vendors.scsi.settings import SETTINGS
from backends.vendors.scsi.smartctl import Health


class ScsiBackend:
    """The `sd` disks of one host."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._asker = SwitchReader(host)
        self._runner = ScsiRunner(host)
        self._health: dict[Identity, Health] = {}
        self._unsaveable: set[Identity] = set()

    async def inventory(self) -> Inventory:
        """Every disk with what it says of its health, in the order of their names."""
        return await self.inventory_in_parts(lambda name, part: None)

    async def inventory_in_parts(self, told: Told) -> Inventory:
        """The same; told at once without health, because a drive may take its time to tell of it."""
        disks = await self._disks()
        if not disks:
            return Inventory()
        told(NAME, Inventory(drives=tuple(drive(disk, None) for disk in disks)))
        drives = tuple(await asyncio.gather(*(self._drive(disk) for disk in disks)))
        found = Inventory(drives=drives)
        told(NAME, found)
        return found

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """The same for every disk; what one lacks is blocked when read."""
        return SETTINGS if target.backend == NAME else ()

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Every setting now, the drive's own asked of the drive."""
        return readings(await self._view(await self._disk(target)))

    async def plan(self, target: Target, key: str, value: str) -> Change:
        """What setting `key` to `value` would do, and what brings the present state back."""
        setting = setting_of(self.settings(target), target, key)
        disk = await self._disk(target)
        view = await self._view(disk)
        wish = wanted(target, setting, readings(view)[key], value)
        return change_of(view, wish, await lock_of(self._host, disk.name))

    async def apply(self, change: Change) -> None:
        """Take the steps, after making sure that this is still the disk that was planned for."""
        disk = await self._disk(change.target)
        try:
            await self._runner.run(change, disk, self._asker.tool(disk.kind), lambda: self._same(change))
        except NotSaveableError:
            self._unsaveable.add(identity(disk.node))
            raise

    async def persist(self, target: Target, values: Mapping[str, str]) -> PersistRule:
        """The udev rules file with this drive's line replaced; no other line is touched."""
        disk = await self._disk(target)
        declared = {key: setting_of(SETTINGS, target, key) for key in values}
        now = readings(await self._view(disk)) if values else {}
        for key in values:
            why_not = now[key].availability.why_not
            if why_not is not None and not isinstance(why_not, Denial):
                raise BlockedError(f"{declared[key].label} of {disk.node.device} cannot be kept: {why_not}.")
        legal = {key: check_value(declared[key], now[key], value) for key, value in values.items()}
        match = match_keys(disk.node)
        require_unique(disk.node, match, await read_tree(self._host))
        kept = actions(disk, self._asker.tool(disk.kind), legal)
        return await RULES.rule(self._host, disk.node.device, match, kept, legal)

    async def diagnose(self) -> tuple[Problem, ...]:
        """Which of hdparm, sdparm and smartctl is missing, and what is lost without each."""
        return missing_tools(await self._disks(), lambda name: self._host.which((name,)) is not None)

    async def _drive(self, disk: Disk) -> Drive:
        health = await self._asker.health(disk)
        if health is not None and not health.asleep:
            self._health[identity(disk.node)] = health
        return drive(disk, health)

    async def _view(self, disk: Disk) -> View:
        """Everything that the readings of one disk are made of."""
        tool = self._asker.tool(disk.kind)
        paths = [path for path in (disk.below("queue_depth"), disk.cache_path) if path is not None]
        switches, health = await asyncio.gather(self._switches(disk), self._known_health(disk))
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

    async def _switches(self, disk: Disk) -> Switches:
        return Switches() if disk.kind is Kind.VOLUME else await self._asker.switches(disk)

    async def _known_health(self, disk: Disk) -> Health | None:
        """Asked once of each drive without moving parts: only those have capacitors for their cache."""
        who = identity(disk.node)
        if who not in self._health and disk.node.attributes.get("queue/rotational") == "0":
            health = await self._asker.health(disk)
            if health is not None:
                self._health[who] = health
        return self._health.get(who)

    async def _disks(self) -> tuple[Disk, ...]:
        if not await self._host.list("/sys/block/sd*"):
            return ()
        tree = await read_tree(self._host)
        nodes = sorted(filter(is_disk, tree.nodes.values()), key=lambda node: (len(node.name), node.name))
        return await self._with_texts(nodes)

    async def _with_texts(self, nodes: Iterable[Node]) -> tuple[Disk, ...]:
        several = tuple(nodes)
        texts = await self._host.read_many([path for node in several for path in paths_of(node)])
        return tuple(disk_of(node, texts) for node in several)

    async def _disk(self, target: Target) -> Disk:
        (disk,) = await self._with_texts([await self._node(target)])
        return disk

    async def _node(self, target: Target) -> Node:
        """The disk under a target of ours, whose name becomes part of a path: no other name may."""
        if target.backend != NAME or not is_name(target.address):
            raise not_found(target)
        node = await read_node(self._host, target.address)
        if node is None:
            raise gone(target)
        if not is_disk(node):
            raise not_found(target)
        return node

    async def _same(self, change: Change) -> None:
        require_same(change, identity(await self._node(change.target)))
