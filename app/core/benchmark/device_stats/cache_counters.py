"""Parsers for the hit counters of caches: dm-cache, dm-writecache, bcache, and ARC and L2ARC of ZFS. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping

from backends.values import dataclass

_COUNT = re.compile(r"[0-9]{1,20}", re.ASCII)


@dataclass(frozen=True, slots=True)
class CacheHitCounters:
    """Totals of one cache since it started, or the difference between two such totals. None if not counted."""

    reads: int | None = None
    """Reads that reached the cache."""
    read_hits: int | None = None
    """Reads served from the cache."""
    writes: int | None = None
    """Writes that reached the cache."""
    write_hits: int | None = None
    """Writes that the cache accepted, so that they did not wait for the slow device."""
    dirty: float | None = None
    """Fraction of the cache (0 to 1) that is not yet written back."""


def since(before: CacheHitCounters, now: CacheHitCounters) -> CacheHitCounters:
    """Return the difference between two readings. A counter that was reset becomes None."""
    reads, writes = _step(before.reads, now.reads), _step(before.writes, now.writes)
    return CacheHitCounters(
        reads=reads,
        read_hits=None if reads is None else _step(before.read_hits, now.read_hits),
        writes=writes,
        write_hits=None if writes is None else _step(before.write_hits, now.write_hits),
        dirty=now.dirty,
    )


def _step(before: int | None, now: int | None) -> int | None:
    return None if before is None or now is None or now < before else now - before


def parse_status(text: str) -> Mapping[str, CacheHitCounters]:
    """Return the counters of each dm-cache and dm-writecache target in `dmsetup status`, by device-mapper name.

    Each target is one line, `NAME: START LENGTH KIND ...` (dmsetup(8)). The fields after the kind are described in the
    kernel's Documentation/admin-guide/device-mapper/{cache,writecache}.rst.
    """
    counters: dict[str, CacheHitCounters] = {}
    for line in text.split("\n"):
        name, colon, status = line.partition(": ")
        tokens = status.split()
        reader = _TARGETS.get(tokens[2]) if colon and len(tokens) > 3 else None
        counts = reader(tokens[3:]) if reader is not None else None
        if counts is not None:
            counters[name] = counts
    return counters


def _of_cache(fields: list[str]) -> CacheHitCounters | None:
    """Return the counters of a dm-cache, or None if a field is missing.

    Fields: `8 27/4096 128 2/2048 RHITS RMISSES WHITS WMISSES DEMOTIONS PROMOTIONS DIRTY ...`.
    """
    if len(fields) < 11 or "/" not in fields[3]:
        return None
    counts = [_number(field) for field in fields[4:11]]
    if any(count is None for count in counts):
        return None
    read_hits, read_misses, write_hits, write_misses, _, _, dirty = (count or 0 for count in counts)
    return CacheHitCounters(
        reads=read_hits + read_misses,
        read_hits=read_hits,
        writes=write_hits + write_misses,
        write_hits=write_hits,
        dirty=_share(dirty, _number(fields[3].partition("/")[2])),
    )


def _of_writecache(parts: list[str]) -> CacheHitCounters | None:
    """Return the counters of a dm-writecache, or None if a field is missing.

    Fields: `ERROR BLOCKS FREE WRITEBACK READS READHITS WRITES UNCOMMITTED COMMITTED AROUND ...`. Before Linux 5.15
    there are only the first four. Writes `AROUND` the cache are no hits.
    """
    counts = [_number(field) for field in parts]
    if len(counts) < 4 or counts[1] is None or counts[2] is None:
        return None
    dirty = _share(max(0, counts[1] - counts[2]), counts[1])
    if len(counts) < 10 or any(count is None for count in counts[4:10]):
        return CacheHitCounters(dirty=dirty)
    reads, read_hits, writes, _, _, around = (count or 0 for count in counts[4:10])
    return CacheHitCounters(
        reads=reads, read_hits=read_hits, writes=writes, write_hits=max(0, writes - around), dirty=dirty
    )


_TARGETS = {"cache": _of_cache, "writecache": _of_writecache}

BCACHE = ("cache_hits", "cache_misses", "cache_bypass_hits", "cache_bypass_misses")
"""Files in `bcache/stats_total`. They count read requests only; bypassing reads are counted separately (bcache.rst)."""


def of_bcache(texts: Mapping[str, str]) -> CacheHitCounters | None:
    """Return the counters from the texts of the files that `BCACHE` lists; None if a file is missing.

    A bypassing read of cached data is a hit, because the cache serves it.
    """
    counts = [_number(texts.get(name, "")) for name in BCACHE]
    if any(count is None for count in counts):
        return None
    hits, misses, by_hits, by_misses = (count or 0 for count in counts)
    return CacheHitCounters(reads=hits + misses + by_hits + by_misses, read_hits=hits + by_hits)


def of_arc(text: str) -> tuple[CacheHitCounters | None, CacheHitCounters | None]:
    """Return the counters of ARC and L2ARC, each None if it is not reported or does not exist.

    `text`: /proc/spl/kstat/zfs/arcstats, with lines `NAME TYPE DATA`. The ARC counts only demand reads of data:
    metadata is nearly always cached, and no program waits for prefetches.
    """
    fields = {tokens[0]: _number(tokens[2]) for line in text.split("\n") if len(tokens := line.split()) == 3}
    arc = _hits(fields.get("demand_data_hits"), fields.get("demand_data_misses"))
    second = _hits(fields.get("l2_hits"), fields.get("l2_misses")) if fields.get("l2_size") else None
    return arc, second


def _hits(hits: int | None, misses: int | None) -> CacheHitCounters | None:
    return None if hits is None or misses is None else CacheHitCounters(reads=hits + misses, read_hits=hits)


def _number(text: str) -> int | None:
    return int(text) if _COUNT.fullmatch(text) else None


def _share(part: int, total: int | None) -> float | None:
    return min(1.0, part / total) if total else None
