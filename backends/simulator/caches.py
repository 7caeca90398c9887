"""Contents and counters of a simulated cache, and how jobs and time change them."""

from __future__ import annotations

from dataclasses import replace

from backends.simulator.cache_model import CacheFlow, cache_flow, region_of, write_out_rate
from backends.simulator.workload_target import CachedBy, CacheKind, CacheMode, IoPattern, WorkloadTarget
from backends.simulator.zfs_model import pool_flow
from backends.values import dataclass

Moved = tuple[int, int, int, int]
"""What a job transferred: number of reads, bytes read, number of writes, bytes written."""


@dataclass(slots=True, kw_only=True)
class CacheCounts:
    """Contents and request counters of one device's cache, or of the ARC."""

    held_bytes: float = 0.0
    """Bytes in the cache. By assumption, these are the data at the start of the device."""
    dirty_bytes: float = 0.0
    """Bytes in the cache that are not on the slow device yet."""
    read_hits: float = 0.0
    """Reads whose block was cached."""
    read_misses: float = 0.0
    """Reads whose block was not cached."""
    write_hits: float = 0.0
    """Writes whose block was cached."""
    write_misses: float = 0.0
    """Writes whose block was not cached."""
    bypass_hits: float = 0.0
    """Reads that bypassed the cache although their block was cached."""
    bypass_misses: float = 0.0
    """Reads that bypassed the cache and whose block was not cached."""
    bypassed_bytes: float = 0.0
    """Bytes of the reads and writes that bypassed the cache."""
    promotions: float = 0.0
    """Blocks loaded into the cache."""
    demotions: float = 0.0
    """Blocks dropped from the cache."""
    at: float = 0.0
    """Simulated time at which dirty data were last written out while no job was running."""

    def add_job(self, layout: WorkloadTarget, work: IoPattern, moved: Moved, seconds: float) -> None:
        """Count a job's requests of the last `seconds`, and update the contents of the cache."""
        if layout.pool is not None:
            flow = pool_flow(layout, layout.pool, work)
            missed = min(1.0, flow.record_reads)
            self._count(moved, 1 - missed, 1 - min(1.0, flow.fetched))
            if layout.pool.caches_data:
                loaded = moved[0] * flow.record_reads + moved[2] * flow.record_writes * (1 - flow.hits)
                limit = min(layout.pool.arc_bytes, region_of(layout, work))
                self.held_bytes = max(self.held_bytes, min(limit, self.held_bytes + loaded * flow.record_bytes))
        elif layout.cache is not None:
            region = region_of(layout, work)
            self._add_cached_job(layout.cache, cache_flow(layout.cache, region, work), region, moved, seconds)

    def apply_to(self, layout: WorkloadTarget) -> WorkloadTarget:
        """Return the target with the cache contents recorded here."""
        if layout.cache is not None:
            return replace(
                layout, cache=replace(layout.cache, held_bytes=self.held_bytes, dirty_bytes=self.dirty_bytes)
            )
        if layout.pool is not None:
            held = min(self.held_bytes, layout.pool.arc_bytes)
            return replace(layout, pool=replace(layout.pool, held_bytes=held))
        return layout

    def _count(self, moved: Moved, reads: float, writes: float) -> None:
        """Add requests to the hit and miss counters. `reads`, `writes`: share of hits among reads and writes."""
        self.read_hits += moved[0] * reads
        self.read_misses += moved[0] * (1 - reads)
        self.write_hits += moved[2] * writes
        self.write_misses += moved[2] * (1 - writes)

    def _add_cached_job(self, cache: CachedBy, flow: CacheFlow, region: int, moved: Moved, seconds: float) -> None:
        """Count a job's requests to a device with a kernel cache, and update the contents of that cache."""
        reads, read_bytes, writes, written = moved
        if flow.bypassed:
            self.bypass_hits += reads * flow.read_hits
            self.bypass_misses += reads * (1 - flow.read_hits)
            self.bypassed_bytes += read_bytes + written
        else:
            self._count(moved, flow.read_hits, flow.write_hits)
        is_dm_cache = cache.kind is CacheKind.DM_CACHE
        fills = reads * flow.read_fills + writes * flow.write_fills
        loaded = fills * cache.block_bytes if is_dm_cache else read_bytes * flow.read_fills + written * flow.write_fills
        dirtied = writes * flow.dirties * cache.block_bytes if is_dm_cache else written * flow.dirties
        room = min(self.held_bytes, region) if is_dm_cache else region
        rewritten = min(1.0, self.dirty_bytes / room) if room and cache.kind is not CacheKind.WRITECACHE else 0.0
        self.promotions += fills
        self.demotions += fills if self.held_bytes >= cache.cache_bytes else 0.0
        self.dirty_bytes += dirtied * (1 - rewritten)
        if flow.drains:
            minimum = cache.low * cache.cache_bytes if cache.mode is CacheMode.WRITE_BACK else 0.0
            self._write_out(write_out_rate(cache, region, shared=bool(reads)) * seconds, minimum)
        self.dirty_bytes = min(self.dirty_bytes, cache.cache_bytes)
        self.held_bytes = min(self.held_bytes + loaded, cache.cache_bytes)
        if cache.kind is CacheKind.WRITECACHE:
            self.held_bytes = self.dirty_bytes  # dm-writecache frees blocks once they are written out
        drops = writes * flow.drops
        self.demotions += drops
        self.held_bytes = max(
            0.0, self.held_bytes - (drops * cache.block_bytes if is_dm_cache else written * flow.drops)
        )

    def write_out_idle(self, cache: CachedBy, size_bytes: int, now: float) -> None:
        """Write out dirty data for the time since the last call, assuming that no request ran meanwhile."""
        seconds, self.at = max(0.0, now - self.at), now
        writes_all = cache.kind is CacheKind.DM_CACHE or cache.mode is not CacheMode.WRITE_BACK
        # smq, the policy of dm-cache, writes out everything when idle, and nothing otherwise.
        high, low = (0.0, 0.0) if writes_all else (cache.high, cache.low)
        if self.dirty_bytes > high * cache.cache_bytes:
            self._write_out(write_out_rate(cache, size_bytes, shared=False) * seconds, low * cache.cache_bytes)
            if cache.kind is CacheKind.WRITECACHE:
                self.held_bytes = self.dirty_bytes

    def _write_out(self, most: float, least: float) -> None:
        """Write out up to `most` dirty bytes, but leave at least `least` of them in the cache."""
        self.dirty_bytes = min(self.dirty_bytes, max(least, self.dirty_bytes - most))


def fullness(layout: WorkloadTarget, work: IoPattern) -> tuple[object, ...]:
    """Return a key that changes only if a job's speed does: the shares of cached requests, rounded to 1 %."""
    if layout.pool is not None:
        return (round(pool_flow(layout, layout.pool, work).hits, 2),)
    if layout.cache is None:
        return ()
    flow = cache_flow(layout.cache, region_of(layout, work), work)
    return round(flow.fast_reads, 2), round(flow.fast_writes, 2), flow.slow_writes >= 1, flow.drains, flow.full
