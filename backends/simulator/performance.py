"""Converts simulated devices of each kind to targets of the load model, with their effective settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backends.model import Level
from backends.raid import PARITY
from backends.simulator.bcache import BcacheDevice
from backends.simulator.calibration import CARDS, DRIVES, MIB, SoftwareType
from backends.simulator.fusionio import IoMemory
from backends.simulator.lvm.volumes import LvmVolume
from backends.simulator.md_array import MdArray
from backends.simulator.queueing_model import WorkloadTarget
from backends.simulator.smartarray.cards import SmartCard, SmartVolume
from backends.simulator.smcli import DiskSystem, HostDisk
from backends.simulator.threeware import SimulatedThreeware, SimulatedUnit
from backends.simulator.volume import SPANNED
from backends.simulator.workload_target import CachedBy, CacheKind, CacheMode, Pooled
from backends.simulator.zfs.pool import VOLUME, ZfsPool

_LEVELS = {
    "0": Level.RAID0,
    "1": Level.RAID1,
    "1+0": Level.RAID10,
    "5": Level.RAID5,
    "6": Level.RAID6,
    "50": Level.RAID50,
    "60": Level.RAID60,
}
"""RAID levels by the names of ssacli and SMcli."""

_MODES = {mode.value.replace("-", ""): mode for mode in CacheMode}
"""Cache modes by the kernel's names."""

_SCANNING = 0.05
"""Share of the drives' time that a surface scan in high mode takes."""


_INITIALISING = 0.12
"""Share of the drives' time that the initialisation of a 3ware unit takes."""

_OWN_CACHES = {"enable": "on", "disable": "off"}
"""Drive cache policies of the load model, by ssacli's value of the setting."""

_BIG_BLOCK, _BIG_BYTES = "3", 65536
"""Performance mode of Adaptec series 2 to 8 in which large blocks bypass the cache, and their minimum size in bytes."""


def logical_drive_target(card: SmartCard, volume: SmartVolume) -> WorkloadTarget:
    """Return a logical drive of a Smart Array or Adaptec controller as a target of the load model."""
    members = card.members(volume.group)
    common = WorkloadTarget(
        card=CARDS[card.model],
        drive=DRIVES[members[0].model],
        level=_LEVELS[volume.level],
        drives=len(members),
        spans=(volume.parity_groups or 2)
        if volume.level in ("50", "60")
        else len(members) // 2
        if volume.level == "1+0"
        else 1,
        strip_bytes=volume.strip_kib * 1024,
        write_back=card.writes_back(volume),
        cache_bytes=card.cache_mib * MIB,
        size_bytes=volume.size_bytes,
    )
    if card.series:  # series 2 to 8 have a single switch for read cache and read-ahead
        return replace(
            common,
            cached=volume.read_cache,
            read_ahead=volume.read_cache,
            drive_cache="on" if all(bay.own_cache for bay in members) else "off",
            bypass_bytes=_BIG_BYTES if card.performance == _BIG_BLOCK else 0,
        )
    values = card.values
    reads, writes = (int(part) / 100 for part in values["cacheratio"].split("/"))
    depth = values["queuedepth"]
    return replace(
        common,
        cached=volume.acceleration == "cache" and reads > 0 and not card.cache_problem,
        fastpath=volume.acceleration == "path",
        read_part=reads,
        write_part=writes,
        drive_cache=_OWN_CACHES.get(values["drivewritecache configured"], "default"),
        # The threshold applies only to logical drives without parity (Microchip's online documentation, 7.4.1).
        bypass_bytes=0 if common.level in PARITY else int(values["writecachebypassthreshold"]) * 1024,
        member_depth=int(depth) if depth.isdigit() else 0,
        sorts_writes=values["elevatorsort"] == "enable",
        rebuild_share=_SCANNING if values["surfacescanmode"] == "high" else 0.0,
    )


def unit_target(card: SimulatedThreeware, unit: SimulatedUnit, now: float) -> WorkloadTarget:
    """Return a unit of a 3ware controller as a target of the load model."""
    return WorkloadTarget(
        card=CARDS[card.model],
        drive=DRIVES[next(port.model for port in card.ports if port.number == unit.ports[0])],
        level=unit.level,
        drives=len(unit.ports),
        spans=unit.groups,
        strip_bytes=unit.stripe_kib * 1024,
        write_back=card.writes_back(unit),
        cached=unit.read != "off",
        read_ahead=unit.read == "intelligent",
        cache_bytes=card.cache_mib * MIB,
        rebuild_share=0.0 if unit.initialised_share(now) is None else _INITIALISING,
        size_bytes=unit.size_bytes,
    )


def lun_target(system: DiskSystem, disk: HostDisk) -> WorkloadTarget:
    """Return a disk system's logical drive as a target of the load model."""
    return WorkloadTarget(
        card=CARDS[system.product],
        drive=DRIVES[system.drive],
        level=_LEVELS[disk.level],
        drives=system.drives,
        strip_bytes=disk.segment_kib * 1024,
        write_back=system.writes_back(disk),
        read_ahead=disk.prefetch,
        cached=disk.read_cache,
        cache_bytes=system.cache_mib * MIB,
        # On average, the cache is filled to the mean of both thresholds. With `flush` 0, data are written at once and
        # so never overwritten in the cache.
        write_part=0.0 if disk.flush == 0 else (system.flush_start + system.flush_stop) / 200,
        cache_block_bytes=system.block_kib * 1024,
        mirrored=disk.mirroring,
        size_bytes=disk.size_bytes,
    )


def flash_target(card: IoMemory) -> WorkloadTarget:
    """Return an ioMemory module as a target of the load model."""
    return WorkloadTarget(
        card=None, drive=DRIVES[card.model], written_bytes=card.written_bytes, size_bytes=card.size_bytes
    )


def md_target(array: MdArray, model: str, software: SoftwareType | None = None) -> WorkloadTarget:
    """Return an md array of equal drives as a target of the load model. `software`: processor time that md takes."""
    return WorkloadTarget(
        card=None,
        drive=DRIVES[model],
        level=Level(array.level),
        drives=len(array.members) - array.missing,
        degraded=array.missing,
        strip_bytes=array.chunk or 65536,
        size_bytes=array.size_bytes,
        software=software,
        copies=array.copies if array.level == "raid10" else 0,
        arrangement=array.arrangement,
    )


def nested_md_target(outer: MdArray, inner: Sequence[MdArray], below: WorkloadTarget) -> WorkloadTarget:
    """Return an md RAID 0 over equal md arrays as a target of the load model.

    `below`: the first of these arrays as a target.
    """
    level = next((outer for outer, inner_level in SPANNED.items() if inner_level is below.level), below.level)
    missing = sum(array.missing for array in inner)
    return replace(
        below,
        level=level,
        drives=sum(len(array.members) for array in inner) - missing,
        degraded=missing,
        spans=len(inner),
        size_bytes=outer.size_bytes,
        halves=None,
        layered=True,
    )


def cached_volume_target(volume: LvmVolume, slow: WorkloadTarget, fast: WorkloadTarget) -> WorkloadTarget:
    """Return a logical volume with dm-cache or dm-writecache as a target of the load model."""
    is_writecache = volume.kind == "writecache"
    mode = CacheMode.WRITE_BACK if is_writecache else _MODES[volume.kernel_mode]
    cache = CachedBy(
        kind=CacheKind.WRITECACHE if is_writecache else CacheKind.DM_CACHE,
        mode=CacheMode.NONE if is_writecache and volume.settings.get("cleaner") else mode,
        slow=slow,
        fast=fast,
        cache_bytes=volume.blocks * volume.chunk_bytes,
        block_bytes=volume.chunk_bytes,
        # dm-cache does not write out while a job runs (dm-cache-policy-smq.c, clean_target_met).
        high=volume.settings.get("high_watermark", 50) / 100 if is_writecache else 1.0,
        low=volume.settings.get("low_watermark", 45) / 100 if is_writecache else 0.0,
    )
    return replace(slow, size_bytes=volume.size_bytes, halves=None, cache=cache)


def bcache_target(device: BcacheDevice, slow: WorkloadTarget, fast: WorkloadTarget) -> WorkloadTarget:
    """Return a bcache device with an attached cache as a target of the load model."""
    share = device.number("writeback_percent") / 100 if device.number("writeback_running") else 1.0
    cache = CachedBy(
        kind=CacheKind.BCACHE,
        mode=_MODES[device.mode],
        slow=slow,
        fast=fast,
        cache_bytes=fast.size_bytes,
        cutoff_bytes=device.number("sequential_cutoff"),
        high=share,
        low=share,
    )
    return replace(slow, halves=None, cache=cache)


def dataset_target(pool: ZfsPool, name: str, vdevs: WorkloadTarget, record: int, arc_bytes: int) -> WorkloadTarget:
    """Return a file or zvol of a pool as a target of the load model. `record`: size of its existing blocks in bytes."""
    dataset = pool.datasets[name]
    pooled = Pooled(
        vdevs=vdevs,
        record_bytes=record,
        arc_bytes=arc_bytes,
        caches_data=pool.value(name, "primarycache")[0] == "all",
        sync=pool.value(name, "sync")[0],
        volume=dataset.kind == VOLUME,
    )
    return replace(vdevs, size_bytes=dataset.size_bytes or pool.size_bytes, halves=None, pool=pooled)
