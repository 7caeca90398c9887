"""What caches count of their hits: dm-cache, writecache, bcache, ZFS's ARC and L2ARC. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping

from backends.values import dataclass

_COUNT = re.compile(r"[0-9]{1,20}", re.ASCII)


@dataclass(frozen=True, slots=True)
class CacheHitCounters:
    """Totals of one cache since it came, or the difference of two such; None for what it does not count."""

    reads: int | None = None
    """Reads that it was asked for."""
    read_hits: int | None = None
    """Reads that it served."""
    writes: int | None = None
    """Writes that came to it."""
    write_hits: int | None = None
    """Writes that it took, so that the slow device was not waited for."""
    dirty: float | None = None
    """Share of it, now, that is still to be written back, 0..1."""


def since(before: CacheHitCounters, now: CacheHitCounters) -> CacheHitCounters:
    """What was counted between two readings; nothing is known of a count that began anew."""
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
    """Every dm-cache and writecache target in `dmsetup status`, by its device-mapper name.

    One line a target, `NAME: START LENGTH KIND ...` (dmsetup(8)); the fields behind the kind are those of the kernel's
    Documentation/admin-guide/device-mapper/{cache,writecache}.rst.
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
    """`8 27/4096 128 2/2048 RHITS RMISSES WHITS WMISSES DEMOTIONS PROMOTIONS DIRTY ...`."""
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
    """`ERROR BLOCKS FREE WRITEBACK READS READHITS WRITES UNCOMMITTED COMMITTED AROUND ...`.

    Before Linux 5.15 the first four only. What went around was not taken.
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
"""Below `bcache/stats_total`: reads only, in whole requests; those that bypass it are counted apart (bcache.rst)."""


def of_bcache(texts: Mapping[str, str]) -> CacheHitCounters | None:
    """Of the files BCACHE; what was in the cache was served from it also where it was to be bypassed."""
    counts = [_number(texts.get(name, "")) for name in BCACHE]
    if any(count is None for count in counts):
        return None
    hits, misses, by_hits, by_misses = (count or 0 for count in counts)
    return CacheHitCounters(reads=hits + misses + by_hits + by_misses, read_hits=hits + by_hits)


def of_arc(text: str) -> tuple[CacheHitCounters | None, CacheHitCounters | None]:
    """ARC and L2ARC in /proc/spl/kstat/zfs/arcstats (`NAME TYPE DATA` lines); None where it is not told or not there.

    Of the ARC only reads of data that somebody waited for: metadata are nearly always there, prefetches not asked for.
    """
    fields = {tokens[0]: _number(tokens[2]) for line in text.split("\n") if len(tokens := line.split()) == 3}
    arc = _hits(fields.get("demand_data_hits"), fields.get("demand_data_misses"))
    second = _hits(fields.get("l2_hits"), fields.get("l2_misses")) if fields.get("l2_size") else None
    return arc, second


def _hits(hits: int | None, misses: int | None) -> CacheHitCounters | None:
    return None if hits is None or misses is None else CacheHitCounters(reads=hits + misses, read_hits=hits)


def _number(word: str) -> int | None:
    return int(word) if _COUNT.fullmatch(word) else None


def _share(part: int, whole: int | None) -> float | None:
    return min(1.0, part / whole) if whole else None
