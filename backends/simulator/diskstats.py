"""I/O counters of the simulated disks, to which running fio jobs add, and the text of /proc/diskstats."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import zip_longest

from backends.model import Level
from backends.raid import PARITY
from backends.simulator.cache_model import cache_flow, region_of, write_out_rate
from backends.simulator.caches import CacheCounts
from backends.simulator.mirror import in_flight, mirror_loads
from backends.simulator.queueing_model import IoPattern, PredictedPerformance, WorkloadTarget
from backends.simulator.service_demand import parity_operations
from backends.simulator.volume import SPANNED
from backends.simulator.workload_target import CachedBy, Pooled
from backends.simulator.zfs_model import ALLOCATED, pool_flow
from backends.values import dataclass

Totals = dict[str, list[float]]
"""Counters by kernel name: reads, sectors read, writes, sectors written, milliseconds busy, milliseconds of waiting,
milliseconds that the reads took, milliseconds that the writes took.
"""

DISKSTATS = "/proc/diskstats"
"""Path of the kernel's counters."""


_SECTOR = 512
_COLUMNS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskShare:
    """Share of a job's I/O that one disk receives."""

    name: str
    """Kernel name."""
    reads: float
    """Share of the reads."""
    writes: float
    """Share of the writes. Disks that each store a copy have a share of 1 each."""
    queued: float
    """Mean number of requests in flight."""
    fetches: float = 0.0
    """Number of reads that each write causes."""
    read_bytes: int | None = None
    """Bytes per read, or None for the job's size."""
    write_bytes: int | None = None
    """Bytes per write, or None for the job's size."""


def shares(
    name: str,
    members: Callable[[str], Sequence[str]],
    layout: WorkloadTarget,
    work: IoPattern,
    expected: PredictedPerformance,
) -> list[DiskShare]:
    """Return which share of a job's I/O each disk receives: the job's own disk (`name`) and all disks below it.

    `members` returns the devices directly below a disk. Striped members and paths have equal shares.
    """
    queued = float(min(work.depth * work.jobs, work.tags))
    top = DiskShare(name=name, reads=1.0, writes=1.0, queued=queued)
    return [top, *_member_shares(top, members, layout, work, expected)]


def _member_shares(
    top: DiskShare,
    members: Callable[[str], Sequence[str]],
    layout: WorkloadTarget,
    work: IoPattern,
    expected: PredictedPerformance,
) -> Iterator[DiskShare]:
    """Yield the share of the job's I/O that each device below `top` receives."""
    below = members(top.name)
    loads = mirror_loads(layout, work)
    if len(below) == 1:
        lower = replace(top, name=below[0])
        yield lower
        yield from _member_shares(lower, members, layout, work, expected)
    elif layout.cache is not None:
        shares_by_part = _cache_shares(top, layout, layout.cache, work, expected)
        for name, below_it, share in zip(below, (layout.cache.slow, layout.cache.fast), shares_by_part, strict=True):
            lower = replace(share, name=name)
            yield lower
            yield from _member_shares(lower, members, below_it, work, expected)
    elif layout.pool is not None:
        vdevs = _pool_share(top, layout, layout.pool, work)
        yield from _member_shares(vdevs, members, layout.pool.vdevs, work, expected)
    elif loads is not None:
        queued = in_flight(loads, expected.iops, top.queued)
        for name, load, waiting in zip(below, loads, queued, strict=True):
            reads, fetches = top.reads * load.reads, top.fetches * load.reads
            yield replace(top, name=name, reads=reads, fetches=fetches, queued=waiting)
    elif layout.level in SPANNED and any(members(name) for name in below):
        inner = replace(
            layout,
            level=SPANNED[layout.level],
            drives=(layout.drives + layout.degraded) // len(below),
            degraded=0,
            spans=1,
        )
        for name in below:
            lower = _split_share(top, name, len(below))
            yield lower
            yield from _member_shares(lower, members, inner, work, expected)
    elif below and layout.card is None and layout.level in PARITY:
        reads_per_read, fetched, written = parity_operations(layout, work)
        for name in below:
            lower = _split_share(top, name, len(below))
            yield replace(
                lower, reads=lower.reads * reads_per_read, fetches=lower.writes * fetched, writes=lower.writes * written
            )
    elif below:
        copies = 2 if layout.card is None and layout.level in (Level.RAID1, Level.RAID10) else 1
        for name in below:
            lower = _split_share(top, name, len(below))
            yield replace(lower, writes=lower.writes * copies)


def _split_share(top: DiskShare, name: str, count: int) -> DiskShare:
    """Return the share of device `name`, which is one of `count` devices that divide the I/O of `top` equally."""
    return replace(top, name=name, reads=top.reads / count, writes=top.writes / count, queued=top.queued / count)


def _cache_shares(
    top: DiskShare, layout: WorkloadTarget, cache: CachedBy, work: IoPattern, expected: PredictedPerformance
) -> tuple[DiskShare, DiskShare]:
    """Return the I/O shares of a cache's slow and fast device, including write-outs but no other I/O of the cache."""
    region = region_of(layout, work)
    flow = cache_flow(cache, region, work)
    out = 0.0
    if flow.drains and not flow.full and expected.write is not None:
        out = write_out_rate(cache, region, shared=expected.read is not None) / cache.block_bytes / expected.write.iops
    both = [direction for direction in (expected.read, expected.write) if direction is not None]
    fast = min(top.queued, sum(direction.iops * direction.fast_share * direction.fast_us for direction in both) / 1e6)
    slow = replace(top, reads=1 - flow.fast_reads, writes=flow.slow_writes + out)
    reads = expected.read is not None and slow.reads > 0
    waits = top.queued - fast if reads or (expected.write is not None and slow.writes > 0) else 0.0
    share = replace(top, reads=flow.fast_reads, writes=flow.fast_writes, queued=fast if waits else top.queued)
    return replace(slow, queued=waits), share


def _pool_share(top: DiskShare, layout: WorkloadTarget, pool: Pooled, work: IoPattern) -> DiskShare:
    """Return the I/O share of all disks of a pool together. They read single blocks and write many blocks at once."""
    flow = pool_flow(layout, pool, work)
    return replace(
        top,
        reads=flow.record_reads,
        fetches=flow.fetched,
        writes=flow.record_writes * flow.record_bytes / ALLOCATED,
        read_bytes=flow.record_bytes,
        write_bytes=ALLOCATED,
    )


@dataclass(slots=True)
class DiskCounts:
    """I/O of running jobs that has not been added to the stored state yet."""

    totals: Totals = field(default_factory=dict)
    """I/O counters by disk."""
    caches: dict[str, CacheCounts] = field(default_factory=dict)
    """Contents and counters of the caches that the jobs use, by name of the cached device."""
    seconds: float = 0.0
    """Run time of the jobs in simulated seconds."""

    def add(self, disks: Sequence[DiskShare], moved: tuple[int, int, int, int], seconds: float) -> None:
        """Add a job's reads, bytes read, writes and bytes written (`moved`) in `seconds` to its disks' counters."""
        reads, read_bytes, writes, written = moved
        self.seconds += seconds
        for disk in disks:
            disk_reads, disk_writes = reads * disk.reads + writes * disk.fetches, writes * disk.writes
            waited = disk.queued * seconds * 1000
            read_share = disk_reads / (disk_reads + disk_writes) if disk_reads else 0.0
            added = [
                disk_reads,
                (read_bytes * disk.reads if disk.read_bytes is None else disk_reads * disk.read_bytes) / _SECTOR,
                disk_writes,
                (written * disk.writes if disk.write_bytes is None else disk_writes * disk.write_bytes) / _SECTOR,
                # For random arrivals, this is the time with at least one request in flight.
                (1 - math.exp(-disk.queued)) * seconds * 1000,
                waited,
                waited * read_share,
                waited * (1 - read_share) if disk_writes else 0.0,
            ]
            self.totals[disk.name] = _add_rows(self.totals.get(disk.name), added)

    def move_to(self, totals: Totals) -> None:
        """Add all counters to the stored `totals`, and clear them here."""
        for name, row in self.totals.items():
            totals[name] = _add_rows(totals.get(name), row)
        self.totals.clear()
        self.caches.clear()


def _add_rows(numbers: Sequence[float] | None, other: Sequence[float] | None) -> list[float]:
    rows = zip_longest(numbers or (), other or (), range(_COLUMNS), fillvalue=0.0)
    return [first + second for first, second, _ in rows]


def diskstats(numbers: Mapping[str, str], before: Totals, now: Totals) -> str:
    """Return the text of /proc/diskstats, with the sums of the counters in `before` and `now`.

    `numbers`: device number of each disk as MAJOR:MINOR, by kernel name.
    """
    lines = []
    for name, number in numbers.items():
        reads, sectors, writes, written, busy, waited, *took = map(int, _add_rows(before.get(name), now.get(name)))
        major, _, minor = number.partition(":")
        done = f"{reads} 0 {sectors} {took[0]} {writes} 0 {written} {took[1]}"
        lines.append(f"{major:>4} {minor:>7} {name} {done} 0 {busy} {waited} 0 0 0 0 0 0")
    return "\n".join(lines) + "\n"
