"""Load model of an md mirror of two drives that may differ: demand of a request, and load of each drive. No I/O."""

from __future__ import annotations

import math

from backends.model import Level
from backends.simulator.service_demand import Demand, mean_demand, read_demand, write_demand
from backends.simulator.workload_target import IoPattern, WorkloadTarget
from backends.values import dataclass

_NEAR_EVEN = 0.52
"""Share of the reads that RAID 10 sends to the first drive, whatever its speed. Fitted to published counters."""
_EXTRA_WITH_WRITES = 0.12
"""Amount added to `_NEAR_EVEN`, after multiplication by the job's share of writes."""


_ALIKE = 0.01
"""Relative difference of the drives' busy times below which requests wait equally at both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorLoad:
    """Load of one drive of a mirror."""

    reads: float
    """Share of the reads, 0..1."""
    busy_us: float
    """Mean time that the drive is busy per request to the mirror, in microseconds."""
    alone_us: float
    """Latency of one of its requests with nothing else in flight, in microseconds."""


def mirror_loads(layout: WorkloadTarget, work: IoPattern) -> tuple[MirrorLoad, MirrorLoad] | None:
    """Return the load of both drives, or None if the target is not a mirror of two drives."""
    costs = _costs(layout, work)
    if costs is None:
        return None
    share = work.read_share
    shares = _read_shares(layout, work, costs[0][0], costs[1][0])
    first, second = (
        MirrorLoad(
            reads=part,
            busy_us=share * part * reads.together + (1 - share) * writes.together,
            alone_us=reads.alone * share + writes.alone * (1 - share),
        )
        for part, (reads, writes) in zip(shares, costs, strict=True)
    )
    return first, second


def mirror_demands(layout: WorkloadTarget, work: IoPattern) -> tuple[Demand, Demand] | None:
    """Return the demands of a read and a write; None if the target is not an md mirror of two drives.

    Each drive is a station. A read goes to only one drive, a write to both.
    """
    costs = _costs(layout, work)
    if costs is None:
        return None
    (reads, writes), (second_reads, second_writes) = costs
    share, rest = _read_shares(layout, work, reads, second_reads)
    # In a stream, passing over the data that the other drive reads takes as long as reading it.
    passed = 2.0 if layout.level is Level.RAID10 and work.sequential else 1.0
    stations = share * reads.together * passed, rest * second_reads.together * passed
    read = Demand(stations, share * reads.alone + rest * second_reads.alone, max(stations))
    both = writes.together, second_writes.together
    return read, Demand(both, max(writes.alone, second_writes.alone), max(both))


def disk_demands(layout: WorkloadTarget, work: IoPattern) -> tuple[Demand, Demand]:
    """Return the demands of a read and a write on drives without a kernel cache or pool above them."""
    return mirror_demands(layout, work) or _plain_demands(layout, work)


def _plain_demands(layout: WorkloadTarget, work: IoPattern) -> tuple[Demand, Demand]:
    return mean_demand(read_demand, layout, work), mean_demand(write_demand, layout, work)


def _costs(layout: WorkloadTarget, work: IoPattern) -> tuple[tuple[Demand, Demand], tuple[Demand, Demand]] | None:
    """Return the demands of a read and a write on each drive by itself; None if the target is not a mirror of two."""
    if layout.halves is None:
        return None
    alone = [WorkloadTarget(card=None, drive=drive, size_bytes=layout.size_bytes) for drive in layout.halves]
    first, second = (_plain_demands(target, work) for target in alone)
    return first, second


def _read_shares(layout: WorkloadTarget, work: IoPattern, first: Demand, second: Demand) -> tuple[float, float]:
    """Return the share of the reads that each drive serves.

    RAID 1 skips a write-mostly drive. Otherwise it keeps the same number of requests at both drives, so a faster drive
    serves more. RAID 10 has no such flag and splits nearly evenly (drivers/md/raid1.c and raid10.c, read_balance).
    """
    if layout.read_from != (True, True):
        return float(layout.read_from[0]), float(layout.read_from[1])
    if layout.level is Level.RAID10:
        share = _NEAR_EVEN + _EXTRA_WITH_WRITES * (1 - work.read_share)
    else:
        share = second.together / (first.together + second.together)
    return share, 1 - share


def in_flight(loads: tuple[MirrorLoad, MirrorLoad], iops: float, population: float) -> tuple[float, float]:
    """Return the requests in flight at each drive. Requests queue only at the slower drive, unless both are alike."""
    if math.isclose(loads[0].busy_us, loads[1].busy_us, rel_tol=_ALIKE):
        return population / 2, population / 2
    slow = int(loads[1].busy_us >= loads[0].busy_us)
    free = min(population, iops * loads[1 - slow].alone_us / 1e6) if loads[1 - slow].busy_us else 0.0
    return (free, population - free) if slow else (population - free, free)
