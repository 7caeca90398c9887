"""What a request costs a device of the kernel that has a fast part before a slow one, and what becomes of it. Pure.

dm-cache, dm-writecache and bcache; see docs/dev/simulation.md. What is no rule of a driver or published figure is
marked as an estimate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from backends.simulator.mirror import disk_demands
from backends.simulator.service_demand import SORTED, Demand
from backends.simulator.workload_target import (
    PAGE,
    CachedBy,
    CacheHitPath,
    CacheKind,
    CacheMode,
    IoPattern,
    WorkloadTarget,
)
from backends.values import dataclass

_PROMOTED = 1 / 16
"""Share of the misses that bring their chunk into a dm-cache: a hot-spot cache that fills slowly. An estimate."""

_SYNC_CUTOFF = 0.70
"""Share of unwritten data from which bcache writes through (drivers/md/bcache/writeback.h, CUTOFF_WRITEBACK_SYNC)."""

_FULL = 0.995
"""Share of a writecache in use from which a write waits for a block that is written out."""

_DRAINED = 0.5
"""Share of the slow part's time that writing out takes where a job uses it, too. An estimate."""


_FAST_STATION = 2
"""The driver is 0, the slow part 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Driver:
    """Microseconds that a driver adds: of its processor time in all, and to a request alone, for reads and writes."""

    read_us: float
    write_us: float
    read_alone_us: float
    write_alone_us: float


_DRIVERS: Mapping[CacheKind, _Driver] = {
    # An estimate.
    CacheKind.DM_CACHE: _Driver(read_us=2.5, write_us=2.5, read_alone_us=5, write_alone_us=5),
    # 2,759 MiB/s of blocks of 4 KiB on a RAM disk (commit dcd195071f22 of Linux); alone an estimate.
    CacheKind.WRITECACHE: _Driver(read_us=1.4, write_us=1.4, read_alone_us=5, write_alone_us=5),
    # On memory, 4 KiB: 142,292 reads and 38,055 writes a second alone, 1,361,308 and 226,094 of 32 and 16 jobs
    # (Dongsheng Yang, "cbd cache" against bcache, linux-bcache@vger.kernel.org, 2025).
    CacheKind.BCACHE: _Driver(read_us=0.73, write_us=4.4, read_alone_us=6, write_alone_us=25),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheFlow:
    """What becomes of requests, as shares of all of their direction, 0..1."""

    read_hits: float
    """Reads whose block is in the cache."""
    write_hits: float
    """Writes whose block is."""
    fast_reads: float
    """Reads that the fast part answers; the slow one answers the rest."""
    fast_writes: float
    """Writes that the fast part takes."""
    slow_writes: float
    """Writes that the slow part takes, before the writer hears of it."""
    read_fills: float = 0.0
    """Reads that bring a block in."""
    write_fills: float = 0.0
    """Writes that put a block in which was not there."""
    dirties: float = 0.0
    """Writes that leave data in the cache which the slow part does not have."""
    drops: float = 0.0
    """Writes that throw out what the cache holds of their block."""
    bypassed: bool = False
    """They pass by as streams do."""
    drains: bool = False
    """Unwritten data are being written out meanwhile."""
    full: bool = False
    """There is no room: a write waits for a block that is written out."""


def region_of(layout: WorkloadTarget, work: IoPattern) -> int:
    """Bytes of the device that a job works on."""
    return work.region_bytes or layout.size_bytes


def cache_flow(cache: CachedBy, region: int, work: IoPattern) -> CacheFlow:
    """Return what becomes of the requests of a job on the first `region` bytes."""
    held = min(1.0, cache.held_bytes / region) if region else 0.0
    unwritten = cache.dirty_bytes / cache.cache_bytes if cache.cache_bytes else 0.0
    back = cache.mode is CacheMode.WRITE_BACK
    drains = cache.dirty_bytes > 0 and (not back or unwritten > cache.high)
    match cache.kind:
        case CacheKind.DM_CACHE:
            return _dm_cache(cache.mode, held, drains)
        case CacheKind.WRITECACHE if cache.mode is CacheMode.NONE:
            return CacheFlow(
                read_hits=held, write_hits=held, fast_reads=held, fast_writes=0.0, slow_writes=1.0, drains=drains
            )
        case CacheKind.WRITECACHE:
            return CacheFlow(
                read_hits=held,
                write_hits=held,
                fast_reads=held,
                fast_writes=1.0,
                slow_writes=float(unwritten >= _FULL),
                write_fills=1 - held,
                dirties=1 - held,
                drains=drains,
                full=unwritten >= _FULL,
            )
        case CacheKind.BCACHE:
            bypassed = cache.mode is CacheMode.NONE or _is_stream(cache, region, work)
            takes = not bypassed and cache.mode in (CacheMode.WRITE_BACK, CacheMode.WRITE_THROUGH)
            keeps = takes and back and unwritten < _SYNC_CUTOFF
            return CacheFlow(
                read_hits=held,
                write_hits=held,
                fast_reads=held,
                fast_writes=float(takes),
                slow_writes=float(not keeps),
                read_fills=0.0 if bypassed else 1 - held,
                write_fills=1 - held if takes else 0.0,
                dirties=float(keeps),
                drops=0.0 if takes else held,
                bypassed=bypassed,
                drains=drains,
            )


def _dm_cache(mode: CacheMode, held: float, drains: bool) -> CacheFlow:
    """drivers/md/dm-cache-target.c, map_bio: a miss goes to the origin, whatever the mode."""
    if mode is CacheMode.PASSTHROUGH:
        return CacheFlow(
            read_hits=held, write_hits=held, fast_reads=0.0, fast_writes=0.0, slow_writes=1.0, drops=held, drains=drains
        )
    back = mode is CacheMode.WRITE_BACK
    brought = (1 - held) * _PROMOTED
    return CacheFlow(
        read_hits=held,
        write_hits=held,
        fast_reads=held,
        fast_writes=held,
        slow_writes=1 - held if back else 1.0,
        read_fills=brought,
        write_fills=brought,
        dirties=held if back else 0.0,
        drains=drains,
    )


def _is_stream(cache: CachedBy, region: int, work: IoPattern) -> bool:
    """Whether bcache lets requests pass by: those of its cutoff and streams as long as that (check_should_bypass)."""
    if not cache.cutoff_bytes:
        return False
    return work.mean_bytes >= cache.cutoff_bytes or (work.sequential and region > cache.cutoff_bytes)


def cached_demands(layout: WorkloadTarget, work: IoPattern) -> tuple[Demand, Demand] | None:
    """Of a read and of a write: at the driver, the slow part and the fast one; None where there is no cache."""
    cache = layout.cache
    if cache is None:
        return None
    region = region_of(layout, work)
    flow, driver = cache_flow(cache, region, work), _DRIVERS[cache.kind]
    parts = part_demands(cache, work, region, flow)
    blocks = work.mean_bytes / PAGE if cache.kind is CacheKind.WRITECACHE else 1.0  # it takes each block by itself
    chunk_in, chunk_out = _block_demands(cache, work, region)
    read = Demand(
        (
            driver.read_us,
            (1 - flow.fast_reads) * parts.slow_read.together + flow.read_fills * chunk_out,
            flow.fast_reads * parts.fast_read.together + flow.read_fills * chunk_in,
        ),
        driver.read_alone_us + flow.fast_reads * parts.fast_read.alone + (1 - flow.fast_reads) * parts.slow_read.alone,
        (1 - flow.fast_reads) * parts.slow_read.together,
    )
    slow, fast = flow.slow_writes, flow.fast_writes
    both = max(0.0, slow + fast - 1)
    alone = both * max(parts.slow_write.alone, parts.fast_write.alone)
    alone += (slow - both) * parts.slow_write.alone + (fast - both) * parts.fast_write.alone
    write = Demand(
        (
            driver.write_us * blocks,
            slow * parts.slow_write.together + flow.write_fills * chunk_out,
            fast * parts.fast_write.together + flow.write_fills * chunk_in,
        ),
        driver.write_alone_us + alone,
        slow * parts.slow_write.together,
    )
    return read, write


def cache_hit_paths(layout: WorkloadTarget, work: IoPattern) -> tuple[CacheHitPath, CacheHitPath] | None:
    """Return the reads and the writes that only the fast part serves; None where there is no cache."""
    cache = layout.cache
    if cache is None:
        return None
    region = region_of(layout, work)
    flow, driver = cache_flow(cache, region, work), _DRIVERS[cache.kind]
    parts = part_demands(cache, work, region, flow)
    read = CacheHitPath(
        share=flow.fast_reads, alone_us=driver.read_alone_us + parts.fast_read.alone, station=_FAST_STATION
    )
    write = CacheHitPath(
        share=1 - flow.slow_writes, alone_us=driver.write_alone_us + parts.fast_write.alone, station=_FAST_STATION
    )
    return read, write


@dataclass(frozen=True, slots=True, kw_only=True)
class PartDemands:
    """What requests cost each part by itself."""

    slow_read: Demand
    slow_write: Demand
    fast_read: Demand
    fast_write: Demand


def part_demands(cache: CachedBy, work: IoPattern, region: int, flow: CacheFlow) -> PartDemands:
    """Return what a read and a write cost the slow and the fast part."""
    there = replace(work, region_bytes=region)
    slow_read, slow_write = disk_demands(cache.slow, there)
    fast_read, fast_write = disk_demands(cache.fast, there)
    if flow.full:
        slow_write = slow_write.times(SORTED)  # what it waits for is written out in the order of places
    elif flow.drains:
        slow_read, slow_write = slow_read.times(1 / (1 - _DRAINED)), slow_write.times(1 / (1 - _DRAINED))
    return PartDemands(slow_read=slow_read, slow_write=slow_write, fast_read=fast_read, fast_write=fast_write)


def _block_demands(cache: CachedBy, work: IoPattern, region: int) -> tuple[float, float]:
    """Return the time that loading a block takes of the fast part, and of the slow one beyond the request itself."""
    if cache.kind is CacheKind.WRITECACHE:
        return 0.0, 0.0
    size = max(cache.block_bytes, round(work.mean_bytes))
    copied = replace(work, sizes=((size, 1.0),), region_bytes=region)
    _, taken = disk_demands(cache.fast, copied)
    if cache.kind is CacheKind.BCACHE:  # the block that was read or written, as it is
        return taken.together, 0.0
    given, _ = disk_demands(cache.slow, copied)
    return taken.together, given.together


def write_out_rate(cache: CachedBy, region: int, *, beside: bool) -> float:
    """Bytes a second that are written out. `beside`: a job uses the slow part, too.

    In the order of their places: the closer together they lie, the more that is a stream. How much more is an estimate.
    """
    size = cache.block_bytes
    small = IoPattern(read_share=0.0, region_bytes=region, sizes=((size, 1.0),))
    _, demand = disk_demands(cache.slow, small)
    _, next_one = disk_demands(cache.slow, replace(small, sequential=True))
    apart = 1 - min(1.0, cache.dirty_bytes / region) if region else 1.0
    taken = max(next_one.together, demand.together * SORTED * apart)
    return size * 1e6 / taken * (_DRAINED if beside else 1.0)
