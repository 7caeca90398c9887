"""The kernel's totals of the simulated disks: what a running fio adds to them, and /proc/diskstats made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from backends.model import Level
from backends.raid import PARITY
from backends.simulator.cache_model import cache_flow, region_of, write_out_rate
from backends.simulator.caches import CacheCounts
from backends.simulator.mirror import busy_share, in_flight, mirror_loads
from backends.simulator.queueing_model import IoPattern, PredictedPerformance, WorkloadTarget
from backends.simulator.service_demand import parity_operations
from backends.simulator.volume import SPANNED
from backends.simulator.workload_target import CachedBy, Pooled
from backends.simulator.zfs_model import ALLOCATED, pool_flow
from backends.values import dataclass

Totals = dict[str, list[float]]
"""By kernel name: reads, sectors read, writes, sectors written, milliseconds busy, milliseconds waited for."""

DISKSTATS = "/proc/diskstats"
"""Where the kernel keeps count."""


_SECTOR = 512
_COLUMNS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskShare:
    """A disk's part of what a job does."""

    name: str
    """Kernel name."""
    reads: float
    """Share of the reads."""
    writes: float
    """Share of the writes; a copy on each is 1 for each."""
    queued: float
    """Requests in flight there."""
    fetches: float = 0.0
    """Reads that each write causes."""
    read_bytes: int | None = None
    """Bytes of a read; None for those that the job asked for."""
    write_bytes: int | None = None
    """The same of a write."""


def shares(
    name: str,
    members: Callable[[str], Sequence[str]],
    layout: WorkloadTarget,
    work: IoPattern,
    expected: PredictedPerformance,
) -> list[DiskShare]:
    """The disk under a job and all that is below it, `members` of each: stripes and paths share evenly."""
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
    """What the parts of a disk get of its share."""
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
        for name, half, waiting in zip(below, loads, queued, strict=True):
            part = half.reads
            yield replace(top, name=name, reads=top.reads * part, fetches=top.fetches * part, queued=waiting)
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
        red, fetched, written = parity_operations(layout, work)
        for name in below:
            lower = _split_share(top, name, len(below))
            yield replace(lower, reads=lower.reads * red, fetches=lower.writes * fetched, writes=lower.writes * written)
    elif below:
        copies = 2 if layout.card is None and layout.level in (Level.RAID1, Level.RAID10) else 1
        for name in below:
            lower = _split_share(top, name, len(below))
            yield replace(lower, writes=lower.writes * copies)


def _split_share(top: DiskShare, name: str, count: int) -> DiskShare:
    """Return the part of a share that one of so many gets."""
    return replace(top, name=name, reads=top.reads / count, writes=top.writes / count, queued=top.queued / count)


def _cache_shares(
    top: DiskShare, layout: WorkloadTarget, cache: CachedBy, work: IoPattern, expected: PredictedPerformance
) -> tuple[DiskShare, DiskShare]:
    """Return the shares of both parts of a cache; of what it moves between them only what is written out."""
    region = region_of(layout, work)
    flow = cache_flow(cache, region, work)
    out = 0.0
    if flow.drains and not flow.full and expected.write is not None:
        out = write_out_rate(cache, region, beside=expected.read is not None) / cache.block_bytes / expected.write.iops
    both = [direction for direction in (expected.read, expected.write) if direction is not None]
    fast = min(top.queued, sum(direction.iops * direction.fast_share * direction.fast_us for direction in both) / 1e6)
    slow = replace(top, reads=1 - flow.fast_reads, writes=flow.slow_writes + out)
    reads = expected.read is not None and slow.reads > 0
    waits = top.queued - fast if reads or (expected.write is not None and slow.writes > 0) else 0.0
    share = replace(top, reads=flow.fast_reads, writes=flow.fast_writes, queued=fast if waits else top.queued)
    return replace(slow, queued=waits), share


def _pool_share(top: DiskShare, layout: WorkloadTarget, pool: Pooled, work: IoPattern) -> DiskShare:
    """Return what reaches the disks of a pool: whole blocks, read by themselves and written together."""
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
    """What the jobs of this process have done, as far as the rack does not have it yet."""

    totals: Totals = field(default_factory=dict)
    """By disk."""
    caches: dict[str, CacheCounts] = field(default_factory=dict)
    """What the caches that they use hold and have counted since ever, by the name of what is cached."""
    seconds: float = 0.0
    """How long they ran, in the rack's time."""

    def add(self, disks: Sequence[DiskShare], done: tuple[int, int, int, int], seconds: float) -> None:
        """What a job did in so many seconds: reads, bytes read, writes, bytes written."""
        reads, read_bytes, writes, written = done
        self.seconds += seconds
        for disk in disks:
            red, out = reads * disk.reads + writes * disk.fetches, writes * disk.writes
            added = [
                red,
                (read_bytes * disk.reads if disk.read_bytes is None else red * disk.read_bytes) / _SECTOR,
                out,
                (written * disk.writes if disk.write_bytes is None else out * disk.write_bytes) / _SECTOR,
                busy_share(disk.queued) * seconds * 1000,
                disk.queued * seconds * 1000,
            ]
            self.totals[disk.name] = _add_rows(self.totals.get(disk.name), added)

    def move_to(self, totals: Totals) -> None:
        """Give it all to the rack."""
        for name, row in self.totals.items():
            totals[name] = _add_rows(totals.get(name), row)
        self.totals.clear()
        self.caches.clear()


def _add_rows(numbers: Sequence[float] | None, other: Sequence[float] | None) -> list[float]:
    nothing = (0.0,) * _COLUMNS
    return [had + more for had, more in zip(numbers or nothing, other or nothing, strict=True)]


def diskstats(numbers: Mapping[str, str], before: Totals, now: Totals) -> str:
    """The text of /proc/diskstats. `numbers`: MAJ:MIN of each disk by kernel name."""
    lines = []
    for name, number in numbers.items():
        reads, sectors, writes, written, busy, waited = map(int, _add_rows(before.get(name), now.get(name)))
        major, _, minor = number.partition(":")
        lines.append(
            f"{major:>4} {minor:>7} {name} {reads} 0 {sectors} 0 {writes} 0 {written} 0 0 {busy} {waited} 0 0 0 0 0 0"
        )
    return "\n".join(lines) + "\n"
