"""State of a simulated host: controllers, drives, arrays, clock and random seed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace

from backends.model import Level
from backends.simulator import performance
from backends.simulator.bcache import BcacheDevice
from backends.simulator.caches import CacheCounts
from backends.simulator.calibration import DRIVES, SOFTWARE, DriveType
from backends.simulator.controller import SimulatedCard
from backends.simulator.disk import MultipathDisk
from backends.simulator.fusionio import IoMemory
from backends.simulator.hung_disk import slow_down
from backends.simulator.lvm.volumes import LvmGroup, LvmVolume
from backends.simulator.md_array import SAFE_MODE_MS, MdArray
from backends.simulator.queueing_model import WorkloadTarget
from backends.simulator.smartarray.cards import SmartCard, SmartVolume
from backends.simulator.smcli import DiskSystem
from backends.simulator.threeware import SimulatedThreeware, SimulatedUnit
from backends.simulator.volume import Content, Volume
from backends.simulator.zfs.module import ZfsModule
from backends.simulator.zfs.pool import Dataset, ZfsPool
from backends.values import dataclass

Clock = Callable[[], float]
"""Function that returns seconds since the epoch."""


@dataclass(slots=True, kw_only=True)
class Rack:
    """Hardware, kernel state and files of one simulated host. It is saved as JSON (see `state_file`)."""

    name: str = "lsi"
    """Name of the simulated host, a key of `profiles.HOSTS`."""
    cards: list[SimulatedCard] = field(default_factory=list)
    """MegaRAID controllers, ordered by number."""
    smart: dict[str, tuple[SmartCard, ...]] = field(default_factory=dict)
    """Smart Array and Adaptec controllers, by the tool that lists them: `ssacli` or `arcconf`."""
    threeware: list[SimulatedThreeware] = field(default_factory=list)
    """3ware controllers, ordered by number."""
    systems: list[DiskSystem] = field(default_factory=list)
    """Disk systems that SMcli manages."""
    flash: list[IoMemory] = field(default_factory=list)
    """ioMemory modules."""
    pathed: list[MultipathDisk] = field(default_factory=list)
    """Multipath disks."""
    nvme: dict[str, str] = field(default_factory=dict)
    """NVMe drives of the host itself, as keys of `DRIVES` by kernel name."""
    lying: dict[str, Content] = field(default_factory=dict)
    """Contents (such as filesystems) of drives that are not behind a controller, by kernel name."""
    sata: dict[str, str] = field(default_factory=dict)
    """Drives at SATA ports of the mainboard, or at an HBA in their place, as keys of `DRIVES` by kernel name."""
    md: dict[str, MdArray] = field(default_factory=dict)
    """Running md arrays, by kernel name."""
    stopped: dict[str, MdArray] = field(default_factory=dict)
    """Stopped md arrays, of which only the members' superblocks are left, by UUID."""
    pools: dict[str, ZfsPool] = field(default_factory=dict)
    """ZFS pools, by name."""
    zfs: ZfsModule | None = None
    """The ZFS kernel module, or None if it is not loaded."""
    records: dict[str, int] = field(default_factory=dict)
    """Record size in bytes of each file on a pool. A file keeps its record size until it is rewritten."""
    lvm: dict[str, LvmGroup] = field(default_factory=dict)
    """LVM volume groups, by name."""
    bcache: dict[str, BcacheDevice] = field(default_factory=dict)
    """bcache devices, by kernel name."""
    totals: dict[str, list[float]] = field(default_factory=dict)
    """I/O counters of each disk since boot (see `diskstats.Totals`)."""
    caches: dict[str, CacheCounts] = field(default_factory=dict)
    """Contents and counters of bcache devices' caches, by kernel name, and of the ARC, by dataset."""
    queues: dict[str, dict[str, str]] = field(default_factory=dict)
    """Values written to files of `/sys/block/NAME/queue`: by kernel name, then by file name."""
    installed: dict[str, str] = field(default_factory=dict)
    """Installed files, such as udev rules, by path."""
    scratch: dict[str, int] = field(default_factory=dict)
    """Scratch files and their sizes in bytes."""
    seed: int = 1
    """Seed of all random noise."""
    runs: int = 0
    """Number of fio runs so far. Each run has its own noise."""
    made: int = 0
    """Number of volumes created so far. A new disk with a reused name gets a new sequence number."""
    states: list[str] = field(default_factory=list)
    """Simulated faults, keys of `profiles.STATES`."""
    late: dict[str, SmartCard] = field(default_factory=dict)
    """Controllers, by number, in their state before a change. The next report of arcconf still shows this state."""
    clock: Clock = time.time
    """Clock of the host, which is not saved."""

    def now(self) -> float:
        """Return the simulated time."""
        return self.clock()

    def settle(self) -> bool:
        """Advance background work to the current time. Return True if this changed values that the kernel reports."""
        is_changed = False
        now = self.now()
        for card in self.cards:
            card.settle(now)
        for array in self.md.values():
            work_before = array.work
            array.settle(now)
            is_changed = is_changed or array.work != work_before
        for volume in self.logical_volumes():
            volume_work_before = volume.work
            volume.settle(now)
            is_changed = is_changed or volume.work != volume_work_before
            if not volume.flush_to:
                self._write_out_idle(volume.device, volume.counts)
        for name in self.bcache:
            self._write_out_idle(name, self.cache_counts(name))
        return is_changed

    def _write_out_idle(self, name: str, counts: CacheCounts) -> None:
        """Let a cache write out dirty data while no job runs on it."""
        layout = self.layout(name) if counts.dirty_bytes > 0 else None
        if layout is not None and layout.cache is not None:
            counts.write_out_idle(layout.cache, layout.size_bytes, self.now())

    def logical_volumes(self) -> Iterator[LvmVolume]:
        """Yield every LVM volume."""
        for group in self.lvm.values():
            yield from group.volumes

    def logical_volume(self, name: str) -> LvmVolume | None:
        """Return the LVM volume with this kernel name, such as `dm-2`, or None. Hidden sub-volumes are not searched."""
        return next((volume for volume in self.logical_volumes() if volume.device == name), None)

    def volumes(self) -> Iterator[tuple[SimulatedCard, Volume]]:
        """Yield every virtual drive that has a kernel device, with its controller."""
        for card in self.cards:
            for volume in card.volumes:
                if volume.device:
                    yield card, volume

    def logical_drives(self) -> Iterator[tuple[SmartCard, SmartVolume]]:
        """Yield every Smart Array or Adaptec logical drive that has a kernel device, with its controller."""
        for cards in self.smart.values():
            for card in cards:
                yield from ((card, volume) for volume in card.volumes if volume.device is not None)

    def units(self) -> Iterator[tuple[SimulatedThreeware, SimulatedUnit]]:
        """Yield every 3ware unit that has a kernel device, with its controller."""
        for card in self.threeware:
            yield from ((card, unit) for unit in card.units if unit.device is not None)

    def volume_at(self, name: str) -> tuple[SimulatedCard, Volume] | None:
        """Return the virtual drive behind a kernel name such as `sdb`, with its controller, or None."""
        return next(((card, volume) for card, volume in self.volumes() if volume.device == name), None)

    def contents(self) -> Iterator[tuple[str, Content]]:
        """Yield the contents of all volumes, pools and host drives, each with its kernel or dataset name."""
        yield from self.lying.items()
        for pool in self.pools.values():
            for name, dataset in pool.datasets.items():
                if dataset.mountpoint:
                    yield name, Content(filesystem="zfs", label=name, mount=dataset.mountpoint)
        for _, volume in self.volumes():
            if volume.content is not None:
                yield volume.device, volume.content
        for _, drive in self.logical_drives():
            if drive.content is not None and drive.device is not None:
                yield drive.device.removeprefix("/dev/"), drive.content
        for _, unit in self.units():
            if unit.content is not None and unit.device is not None:
                yield unit.device, unit.content

    def members(self, name: str) -> tuple[str, ...]:
        """Return the kernel names of the devices in an array, pool, logical volume, bcache device or multipath disk."""
        if name in self.md:
            return tuple(member.name for member in self.md[name].members)
        if (pair := self.dataset(name)) is not None:
            return pair[0].disks
        for volume in self.logical_volumes():
            for node in volume.nodes(self.now()):
                if node.kernel == name:
                    return node.slaves if node.number != volume.number else volume.parts
        if (cached := self.bcache.get(name)) is not None:
            return (cached.backing, cached.cache) if cached.attached else (cached.backing,)
        return next((disk.paths for disk in self.pathed if disk.device == name), ())

    def cache_counts(self, name: str) -> CacheCounts:
        """Return the contents and counters of a device's cache."""
        volume = self.logical_volume(name)
        return self.caches.get(name, CacheCounts()) if volume is None else volume.counts

    def note_cached(self, running: Mapping[str, CacheCounts]) -> None:
        """Store the cache contents and counters of running jobs. `running`: these counters by device name."""
        for name, counts in running.items():
            if (volume := self.logical_volume(name)) is not None:
                volume.counts = counts
            else:
                self.caches[name] = counts

    def arc_counts(self) -> CacheCounts:
        """Return the contents and counters of the ARC, summed over all datasets."""
        pool_counts = [counts for name, counts in self.caches.items() if self.dataset(name) is not None]
        keys = ("held_bytes", "read_hits", "read_misses", "write_misses")
        return CacheCounts(**{key: sum(getattr(counts, key) for counts in pool_counts) for key in keys})

    def dataset(self, name: str) -> tuple[ZfsPool, Dataset] | None:
        """Return a dataset with its pool, or None. `name`: the dataset's name, or the kernel name of its zvol."""
        rows = ((pool, key, dataset) for pool in self.pools.values() for key, dataset in pool.datasets.items())
        return next(((pool, dataset) for pool, key, dataset in rows if name in (key, dataset.node)), None)

    def superblock(self, name: str) -> MdArray | None:
        """Return the running or stopped array that a device's metadata belong to, or None."""
        arrays = (*self.md.values(), *self.stopped.values())
        return next((array for array in arrays if any(it.name == name and not it.blank for it in array.members)), None)

    def forget_superblock(self, name: str) -> None:
        """Erase the metadata of stopped arrays on a device."""
        for uuid, array in list(self.stopped.items()):
            for member in array.members:
                member.blank = member.blank or member.name == name
            if all(member.blank for member in array.members):
                del self.stopped[uuid]

    def overwrite(self, name: str) -> None:
        """Remove the contents of a raw device to which a job writes."""
        self.forget_superblock(name)
        pair = self.volume_at(name)
        if pair is not None:
            pair[1].content = None
        self.lying.pop(name, None)
        for _, unit in self.units():
            unit.content = None if unit.device == name else unit.content
        for tool, cards in self.smart.items():
            self.smart[tool] = tuple(card.without_content(f"/dev/{name}") for card in cards)

    def forget_disk(self, name: str) -> None:
        """Remove the queue settings and counters of a disk, so that a new disk with its name starts without them."""
        self.queues.pop(name, None)
        self.totals.pop(name, None)

    def free_device(self) -> str:
        """Return the first SCSI disk name that is not in use."""
        used = {volume.device for _, volume in self.volumes()} | set(self.sata)
        used |= {(volume.device or "").removeprefix("/dev/") for _, volume in self.logical_drives()}
        used |= {unit.device for _, unit in self.units() if unit.device is not None}
        used |= {path for disk in self.pathed for path in disk.paths}
        return next(name for number in range(10_000) if (name := device_name(number)) not in used)

    def layout(self, name: str, path: str = "") -> WorkloadTarget | None:
        """Return a device as a target of the load model, or None if there is no such device. `path`: a file on it."""
        pair = self.volume_at(name)
        if pair is not None:
            card, volume = pair
            return card.layout(volume, self.now())
        for smart, drive in self.logical_drives():
            if drive.device == f"/dev/{name}":
                return performance.logical_drive_target(smart, drive)
        for threeware, unit in self.units():
            if unit.device == name:
                return performance.unit_target(threeware, unit, self.now())
        for disk in self.pathed:
            if name in (disk.device, *disk.paths):
                return self._multipath_target(disk)
        for module in self.flash:
            if module.attached and module.volume == name:
                return performance.flash_target(module)
        if name in self.md:
            return self._md_target(self.md[name])
        if (pool_and_dataset := self.dataset(name)) is not None:
            return self._pool_target(*pool_and_dataset, self.records.get(path))
        if (logical := self.logical_volume(name)) is not None:
            return self._volume_target(logical)
        if name in self.bcache:
            return self._bcache_target(name)
        own_drive = self.drive(name)
        if own_drive is None:
            return None
        own_drive = slow_down(self, name, own_drive)
        is_write_through = self.queues.get(name, {}).get("cache_type") == "write through"
        return WorkloadTarget(
            card=None,
            drive=own_drive,
            drive_cache="off" if is_write_through else "default",
            size_bytes=own_drive.size_bytes,
        )

    def _multipath_target(self, disk: MultipathDisk) -> WorkloadTarget | None:
        """Return a multipath disk (a disk system's logical drive or a plain drive) as a target, or None if unknown."""
        for system in self.systems:
            for volume in system.volumes:
                if volume.wwn == disk.wwn:
                    return performance.lun_target(system, volume)
        drive = DRIVES.get(disk.model)
        return None if drive is None else WorkloadTarget(card=None, drive=drive, size_bytes=drive.size_bytes)

    def note_written(self, written: Mapping[str, int]) -> None:
        """Count bytes written to ioMemory modules since they were formatted. `written`: new bytes by kernel name."""
        for module in self.flash:
            if module.written_bytes is not None:
                module.written_bytes += written.get(module.volume, 0)

    def drive(self, name: str) -> DriveType | None:
        """Return the type of one of the host's own drives, or None if there is no such drive."""
        model = self.nvme.get(name) or self.sata.get(name)
        return None if model is None else DRIVES[model]

    def _md_target(self, array: MdArray) -> WorkloadTarget | None:
        """Return an md array of equal drives, or a two-drive mirror, as a target; None if a member is unknown.

        An array may also be nested, such as RAID 50; then all its members are md arrays.
        """
        inner = [self.md[member.name] for member in array.members if member.name in self.md]
        if inner and len(inner) == len(array.members):
            below = self._md_target(inner[0])
            return None if below is None else performance.nested_md_target(array, inner, below)
        drives = [drive for member in array.members if (drive := self.drive(member.name)) is not None]
        if not drives or len(drives) != len(array.members):
            return None
        alike = len({drive.model for drive in drives}) == 1
        striped = array.level == "raid10" and array.arrangement != "near" and alike
        if striped or len(drives) != 2 or array.level not in ("raid1", "raid10"):
            return performance.md_target(array, drives[0].model, SOFTWARE.get(self.name))
        is_read = [array.level != "raid1" or "write_mostly" not in member.flags for member in array.members]
        return WorkloadTarget(
            card=None,
            drive=drives[1],
            level=Level(array.level),
            drives=2,
            halves=(drives[0], drives[1]),
            read_from=(is_read[0], is_read[1]) if any(is_read) else (True, True),
            size_bytes=array.size_bytes,
        )

    def _volume_target(self, volume: LvmVolume) -> WorkloadTarget | None:
        """Return a logical volume as a target of the load model, or None if its first physical volume is unknown.

        The target is based on this physical volume, and on that of the cache if there is one.
        """
        slow = self.layout(volume.places[0])
        fast = self.layout(volume.fast_place) if volume.fast_place else None
        if slow is None or fast is None:
            return None if slow is None else replace(slow, size_bytes=volume.size_bytes)
        return volume.counts.apply_to(performance.cached_volume_target(volume, slow, fast))

    def _bcache_target(self, name: str) -> WorkloadTarget | None:
        """Return a bcache device as a target of the load model, or None if its backing disk is unknown.

        The target is based on this disk, and on the cache if one is attached.
        """
        device = self.bcache[name]
        slow, fast = self.layout(device.backing), self.layout(device.cache)
        if slow is None or fast is None or not device.attached:
            return slow
        return self.cache_counts(name).apply_to(performance.bcache_target(device, slow, fast))

    def _pool_target(self, pool: ZfsPool, dataset: Dataset, record: int | None) -> WorkloadTarget | None:
        """Return a filesystem or zvol as a target, based on the mirrors of its pool, or None if no drive is known."""
        drives = [drive for disk in pool.disks if (drive := self.drive(disk)) is not None]
        if not drives:
            return None
        vdevs = WorkloadTarget(
            card=None,
            drive=drives[0],
            level=Level.RAID1 if len(pool.mirrors) == 1 else Level.RAID10,
            drives=len(drives),
            halves=(drives[0], drives[1]) if len(drives) == 2 else None,
            size_bytes=pool.size_bytes,
        )
        name = next(key for key, candidate in pool.datasets.items() if candidate is dataset)
        arc_limit = 0 if self.zfs is None else self.zfs.c_max
        layout = performance.dataset_target(pool, name, vdevs, record or pool.record_bytes(name), arc_limit)
        return self.cache_counts(dataset.node or name).apply_to(layout)

    def restart(self, *, without: str | None = None) -> None:
        """Reboot: activate pending software options, discard kernel settings. `without`: software option to remove."""
        for card in self.cards:
            active = dict.fromkeys((*card.pending, *card.options))
            card.options = tuple(name for name in active if without is None or without.lower() not in name.lower())
            card.pending = ()
        self.queues.clear()
        self.late.clear()
        self.totals.clear()
        if self.zfs is not None:
            self.zfs = ZfsModule(memory_bytes=self.zfs.memory_bytes)
        for device in self.bcache.values():
            device.restart()
        for array in self.md.values():
            array.limits.clear()
            array.safe_mode_ms = SAFE_MODE_MS
            array.stripes.clear()


def device_name(number: int) -> str:
    """Return the kernel name of the n-th SCSI disk, from 0: sda, ..., sdz, sdaa, ..."""
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return f"sd{letters}"
