"""Load model of dm-cache, dm-writecache and bcache: the time that requests take on slow device and cache. No I/O.

docs/dev/simulation.md explains the model. Its constants come from the code of the drivers or from published
measurements, unless they are marked as estimates.
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
"""Share of misses after which dm-cache loads the chunk, because its hot-spot cache fills slowly. An estimate."""

_SYNC_CUTOFF = 0.70
"""Share of unwritten data in the cache above which bcache writes through (drivers/md/bcache/writeback.h,
CUTOFF_WRITEBACK_SYNC)."""

_FULL = 0.995
"""Share of unwritten data in a writecache above which a write waits until a block has been written out."""

_DRAINED = 0.5
"""Share of the slow device's time that is spent on writing out dirty data while a job also uses that device. An
estimate."""


_FAST_STATION = 2
"""Index of the fast device in `Demand.stations`. Index 0 is the driver, and index 1 the slow device."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Driver:
    """Microseconds that a cache driver adds per read and write: processor time, and latency of a single request."""

    read_us: float
    write_us: float
    read_alone_us: float
    write_alone_us: float


_DRIVERS: Mapping[CacheKind, _Driver] = {
    # These values are estimates.
    CacheKind.DM_CACHE: _Driver(read_us=2.5, write_us=2.5, read_alone_us=5, write_alone_us=5),
    # From 2,759 MiB/s with 4 KiB blocks on a RAM disk (Linux commit dcd195071f22). The latency is an estimate.
    CacheKind.WRITECACHE: _Driver(read_us=1.4, write_us=1.4, read_alone_us=5, write_alone_us=5),
    # From measurements on a RAM disk with 4 KiB: one job has 142,292 reads/s and 38,055 writes/s; 32 jobs have
    # 1,361,308 reads/s, and 16 jobs 226,094 writes/s (Dongsheng Yang, "cbd cache" against bcache,
    # linux-bcache@vger.kernel.org, 2025).
    CacheKind.BCACHE: _Driver(read_us=0.73, write_us=4.4, read_alone_us=6, write_alone_us=25),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheFlow:
    """How a cache handles a job's requests, as shares (0..1) of all reads or of all writes."""

    read_hits: float
    """Reads whose block is cached."""
    write_hits: float
    """Writes whose block is cached."""
    fast_reads: float
    """Reads that the fast device (the cache) serves; the slow device serves the other reads."""
    fast_writes: float
    """Writes that go to the fast device."""
    slow_writes: float
    """Writes that must reach the slow device before they complete."""
    read_fills: float = 0.0
    """Reads that load a block into the cache."""
    write_fills: float = 0.0
    """Writes that add a block to the cache."""
    dirties: float = 0.0
    """Writes that leave data in the cache that are not on the slow device yet."""
    drops: float = 0.0
    """Writes that discard the cached block."""
    bypassed: bool = False
    """True if the requests bypass the cache because they are a stream."""
    drains: bool = False
    """True if unwritten data are written out during the job."""
    full: bool = False
    """True if the cache is full and a write waits until a block has been written out."""


def region_of(layout: WorkloadTarget, work: IoPattern) -> int:
    """Return the size of the region of the device that a job uses, in bytes."""
    return work.region_bytes or layout.size_bytes


def cache_flow(cache: CachedBy, region: int, work: IoPattern) -> CacheFlow:
    """Return how the cache handles a job that uses the first `region` bytes of the device."""
    cached = min(1.0, cache.held_bytes / region) if region else 0.0
    unwritten = cache.dirty_bytes / cache.cache_bytes if cache.cache_bytes else 0.0
    back = cache.mode is CacheMode.WRITE_BACK
    drains = cache.dirty_bytes > 0 and (not back or unwritten > cache.high)
    flow = CacheFlow(
        read_hits=cached, write_hits=cached, fast_reads=cached, fast_writes=0.0, slow_writes=1.0, drains=drains
    )
    match cache.kind:
        case CacheKind.DM_CACHE if cache.mode is CacheMode.PASSTHROUGH:
            return replace(flow, fast_reads=0.0, drops=cached)
        # In every mode, a miss goes to the slow device (drivers/md/dm-cache-target.c, map_bio).
        case CacheKind.DM_CACHE:
            promoted, dirties = (1 - cached) * _PROMOTED, cached if back else 0.0
            return replace(
                flow,
                fast_writes=cached,
                slow_writes=1 - dirties,
                read_fills=promoted,
                write_fills=promoted,
                dirties=dirties,
            )
        case CacheKind.WRITECACHE if cache.mode is CacheMode.NONE:
            return flow
        case CacheKind.WRITECACHE:
            full = unwritten >= _FULL
            return replace(
                flow, fast_writes=1.0, slow_writes=float(full), write_fills=1 - cached, dirties=1 - cached, full=full
            )
        case CacheKind.BCACHE:
            bypassed = cache.mode is CacheMode.NONE or _is_stream(cache, region, work)
            takes = not bypassed and cache.mode in (CacheMode.WRITE_BACK, CacheMode.WRITE_THROUGH)
            keeps = takes and back and unwritten < _SYNC_CUTOFF
            return replace(
                flow,
                fast_writes=float(takes),
                slow_writes=float(not keeps),
                read_fills=0.0 if bypassed else 1 - cached,
                write_fills=1 - cached if takes else 0.0,
                dirties=float(keeps),
                drops=0.0 if takes else cached,
                bypassed=bypassed,
            )


def _is_stream(cache: CachedBy, region: int, work: IoPattern) -> bool:
    """Return True if requests or streams are so long that bcache bypasses the cache (check_should_bypass)."""
    if not cache.cutoff_bytes:
        return False
    return work.mean_bytes >= cache.cutoff_bytes or (work.sequential and region > cache.cutoff_bytes)


def cached_demands(
    layout: WorkloadTarget, work: IoPattern
) -> tuple[Demand, Demand, tuple[CacheHitPath, CacheHitPath]] | None:
    """Return the demand of a read, the demand of a write, and the cache hits of reads and of writes; None if uncached.

    The stations of both demands are the driver, the slow device and the fast device.
    """
    cache = layout.cache
    if cache is None:
        return None
    region = region_of(layout, work)
    flow, driver = cache_flow(cache, region, work), _DRIVERS[cache.kind]
    slow_read, slow_write, fast_read, fast_write = _part_demands(cache, work, region, flow)
    # dm-writecache handles each block separately, so its processor time grows with the request.
    blocks = work.mean_bytes / PAGE if cache.kind is CacheKind.WRITECACHE else 1.0
    chunk_in, chunk_out = _block_demands(cache, work, region)
    read = Demand(
        (
            driver.read_us,
            (1 - flow.fast_reads) * slow_read.together + flow.read_fills * chunk_out,
            flow.fast_reads * fast_read.together + flow.read_fills * chunk_in,
        ),
        driver.read_alone_us + flow.fast_reads * fast_read.alone + (1 - flow.fast_reads) * slow_read.alone,
        (1 - flow.fast_reads) * slow_read.together,
    )
    slow, fast = flow.slow_writes, flow.fast_writes
    both = max(0.0, slow + fast - 1)
    alone = both * max(slow_write.alone, fast_write.alone)
    alone += (slow - both) * slow_write.alone + (fast - both) * fast_write.alone
    write = Demand(
        (
            driver.write_us * blocks,
            slow * slow_write.together + flow.write_fills * chunk_out,
            fast * fast_write.together + flow.write_fills * chunk_in,
        ),
        driver.write_alone_us + alone,
        slow * slow_write.together,
    )
    read_hit_us, write_hit_us = driver.read_alone_us + fast_read.alone, driver.write_alone_us + fast_write.alone
    read_hits = CacheHitPath(share=flow.fast_reads, alone_us=read_hit_us, station=_FAST_STATION)
    write_hits = CacheHitPath(share=1 - flow.slow_writes, alone_us=write_hit_us, station=_FAST_STATION)
    return read, write, (read_hits, write_hits)


def _part_demands(
    cache: CachedBy, work: IoPattern, region: int, flow: CacheFlow
) -> tuple[Demand, Demand, Demand, Demand]:
    """Return four demands: of a read and a write on the slow device, and of a read and a write on the fast device."""
    on_region = replace(work, region_bytes=region)
    slow_read, slow_write = disk_demands(cache.slow, on_region)
    if flow.full:
        slow_write = slow_write.times(SORTED)  # the write waits for blocks that are written out in order of position
    elif flow.drains:
        slow_read, slow_write = slow_read.times(1 / (1 - _DRAINED)), slow_write.times(1 / (1 - _DRAINED))
    return slow_read, slow_write, *disk_demands(cache.fast, on_region)


def _block_demands(cache: CachedBy, work: IoPattern, region: int) -> tuple[float, float]:
    """Return the microseconds that loading a block into the cache takes on the fast and on the slow device.

    The time on the slow device is in addition to the request itself.
    """
    if cache.kind is CacheKind.WRITECACHE:
        return 0.0, 0.0
    size = max(cache.block_bytes, round(work.mean_bytes))
    copied = replace(work, sizes=((size, 1.0),), region_bytes=region)
    _, write = disk_demands(cache.fast, copied)
    if cache.kind is CacheKind.BCACHE:  # the request itself has read all data that bcache caches
        return write.together, 0.0
    read, _ = disk_demands(cache.slow, copied)
    return write.together, read.together


def write_out_rate(cache: CachedBy, region: int, *, shared: bool) -> float:
    """Return how fast the cache writes dirty data to the slow device, in bytes per second.

    `shared`: True if a job uses the slow device at the same time. Data are written out in order of position: the closer
    together they are, the more sequential the writes. The gain from this is an estimate.
    """
    size = cache.block_bytes
    small = IoPattern(read_share=0.0, region_bytes=region, sizes=((size, 1.0),))
    _, demand = disk_demands(cache.slow, small)
    _, sequential = disk_demands(cache.slow, replace(small, sequential=True))
    spread = 1 - min(1.0, cache.dirty_bytes / region) if region else 1.0
    write_us = max(sequential.together, demand.together * SORTED * spread)
    return size * 1e6 / write_us * (_DRAINED if shared else 1.0)
