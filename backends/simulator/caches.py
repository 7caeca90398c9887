"""What a simulated cache holds and has counted, and how jobs and time change that."""

from __future__ import annotations

from dataclasses import replace

from backends.simulator.cache_model import CacheFlow, cache_flow, region_of, write_out_rate
from backends.simulator.workload_target import CachedBy, CacheKind, CacheMode, IoPattern, WorkloadTarget
from backends.simulator.zfs_model import pool_flow
from backends.values import dataclass

Moved = tuple[int, int, int, int]
"""Reads, bytes read, writes, bytes written."""


@dataclass(slots=True, kw_only=True)
class CacheCounts:
    """Of one cached device, or of the ARC: what is in it, and requests since ever."""

    held_bytes: float = 0.0
    """Data in the cache: those at the beginning of the device."""
    dirty_bytes: float = 0.0
    """Of them, those that the slow part does not have."""
    read_hits: float = 0.0
    """Reads whose block was there."""
    read_misses: float = 0.0
    """And was not."""
    write_hits: float = 0.0
    """The same of writes."""
    write_misses: float = 0.0
    """And was not."""
    bypass_hits: float = 0.0
    """Reads of streams that pass by, whose block was there all the same."""
    bypass_misses: float = 0.0
    """And was not."""
    bypassed_bytes: float = 0.0
    """Read and written by those."""
    promotions: float = 0.0
    """Blocks brought in."""
    demotions: float = 0.0
    """Blocks that went for them."""
    at: float = 0.0
    """Rack's time up to which that is so."""

    def add_job(self, layout: WorkloadTarget, work: IoPattern, moved: Moved, seconds: float) -> None:
        """Count what a job did in so many seconds on a device that is as full as this says."""
        if layout.pool is not None:
            flow = pool_flow(layout, layout.pool, work)
            missed = min(1.0, flow.record_reads)
            self._count(moved, 1 - missed, 1 - min(1.0, flow.fetched))
            if layout.pool.caches_data:
                came = moved[0] * flow.record_reads + moved[2] * flow.record_writes * (1 - flow.hits)
                most = min(layout.pool.arc_bytes, region_of(layout, work))
                self.held_bytes = max(self.held_bytes, min(most, self.held_bytes + came * flow.record_bytes))
        elif layout.cache is not None:
            region = region_of(layout, work)
            self._add_cached_job(layout.cache, cache_flow(layout.cache, region, work), region, moved, seconds)

    def applied_to(self, layout: WorkloadTarget) -> WorkloadTarget:
        """Return the device with its cache as full as it is."""
        if layout.cache is not None:
            return replace(
                layout, cache=replace(layout.cache, held_bytes=self.held_bytes, dirty_bytes=self.dirty_bytes)
            )
        if layout.pool is not None:
            held = min(self.held_bytes, layout.pool.arc_bytes)
            return replace(layout, pool=replace(layout.pool, held_bytes=held))
        return layout

    def _count(self, moved: Moved, reads: float, writes: float) -> None:
        self.read_hits += moved[0] * reads
        self.read_misses += moved[0] * (1 - reads)
        self.write_hits += moved[2] * writes
        self.write_misses += moved[2] * (1 - writes)

    def _add_cached_job(self, cache: CachedBy, flow: CacheFlow, region: int, moved: Moved, seconds: float) -> None:
        reads, read_bytes, writes, written = moved
        if flow.bypassed:
            self.bypass_hits += reads * flow.read_hits
            self.bypass_misses += reads * (1 - flow.read_hits)
            self.bypassed_bytes += read_bytes + written
        else:
            self._count(moved, flow.read_hits, flow.write_hits)
        whole = cache.kind is CacheKind.DM_CACHE
        brought = reads * flow.read_fills + writes * flow.write_fills
        came = brought * cache.block_bytes if whole else read_bytes * flow.read_fills + written * flow.write_fills
        dirtied = writes * flow.dirties * cache.block_bytes if whole else written * flow.dirties
        room = min(self.held_bytes, region) if whole else region
        again = min(1.0, self.dirty_bytes / room) if room and cache.kind is not CacheKind.WRITECACHE else 0.0
        self.promotions += brought
        self.demotions += brought if self.held_bytes >= cache.cache_bytes else 0.0
        self.dirty_bytes += dirtied * (1 - again)
        if flow.drains:
            least = cache.low * cache.cache_bytes if cache.mode is CacheMode.WRITE_BACK else 0.0
            self._write_out(write_out_rate(cache, region, beside=bool(reads)) * seconds, least)
        self.dirty_bytes = min(self.dirty_bytes, cache.cache_bytes)
        self.held_bytes = min(self.held_bytes + came, cache.cache_bytes)
        if cache.kind is CacheKind.WRITECACHE:
            self.held_bytes = self.dirty_bytes  # what was written out is there no longer
        gone = writes * flow.drops
        self.demotions += gone
        self.held_bytes = max(0.0, self.held_bytes - (gone * cache.block_bytes if whole else written * flow.drops))

    def write_out_idle(self, cache: CachedBy, size_bytes: int, now: float) -> None:
        """Write out what is dirty, as far as the driver did that by itself until now, with no request in between."""
        seconds, self.at = max(0.0, now - self.at), now
        all_of_it = cache.kind is CacheKind.DM_CACHE or cache.mode is not CacheMode.WRITE_BACK
        high, low = (0.0, 0.0) if all_of_it else (cache.high, cache.low)  # smq cleans all when idle, and nothing else
        if self.dirty_bytes > high * cache.cache_bytes:
            self._write_out(write_out_rate(cache, size_bytes, beside=False) * seconds, low * cache.cache_bytes)
            if cache.kind is CacheKind.WRITECACHE:
                self.held_bytes = self.dirty_bytes

    def _write_out(self, most: float, least: float) -> None:
        """So many bytes, until no more than `least` are left."""
        self.dirty_bytes = min(self.dirty_bytes, max(least, self.dirty_bytes - most))


def fullness(layout: WorkloadTarget, work: IoPattern) -> tuple[object, ...]:
    """Equal as long as a job is as fast as before: what changes less than a hundredth of its requests is not told."""
    if layout.pool is not None:
        return (round(pool_flow(layout, layout.pool, work).hits, 2),)
    if layout.cache is None:
        return ()
    flow = cache_flow(layout.cache, region_of(layout, work), work)
    return round(flow.fast_reads, 2), round(flow.fast_writes, 2), flow.slow_writes >= 1, flow.drains, flow.full
