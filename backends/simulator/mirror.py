"""What a request costs an md mirror of two drives that need not be alike, and which of them it goes to. Pure."""

from __future__ import annotations

import math

from backends.model import Level
from backends.simulator.service_demand import Demand, mean_demand, read_demand, write_demand
from backends.simulator.workload_target import IoPattern, WorkloadTarget
from backends.values import dataclass

_NEAR_EVEN = 0.52
"""Share of random reads that RAID 10 gives its first copy, however fast that is: fitted to published counters."""
_BESIDE_WRITES = 0.12
"""What is added to it, by the share of writes."""


_ALIKE = 0.01
"""How far the work of two drives may differ that everything waits for alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorLoad:
    """What one drive of a mirror gets of what the mirror is asked for."""

    reads: float
    """Share of the reads."""
    busy_us: float
    """Time that a request to the mirror takes of the drive, on average."""
    alone_us: float
    """Latency of one of its own requests with nothing else in flight."""


def mirror_loads(layout: WorkloadTarget, work: IoPattern) -> tuple[MirrorLoad, MirrorLoad] | None:
    """Return the load of both drives; None where the layout is no such mirror."""
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
    """Of a read and of a write: a station for each drive. A read goes to one of them, a write to both."""
    costs = _costs(layout, work)
    if costs is None:
        return None
    (reads, writes), (second_reads, second_writes) = costs
    share, rest = _read_shares(layout, work, reads, second_reads)
    passed = 2.0 if layout.level is Level.RAID10 and work.sequential else 1.0  # each passes over what the other reads
    stations = share * reads.together * passed, rest * second_reads.together * passed
    read = Demand(stations, share * reads.alone + rest * second_reads.alone, max(stations))
    both = writes.together, second_writes.together
    return read, Demand(both, max(writes.alone, second_writes.alone), max(both))


def disk_demands(layout: WorkloadTarget, work: IoPattern) -> tuple[Demand, Demand]:
    """Of a read and of a write, on drives without a cache or pool of the kernel above them."""
    return mirror_demands(layout, work) or _demands(layout, work)


def _demands(layout: WorkloadTarget, work: IoPattern) -> tuple[Demand, Demand]:
    return mean_demand(read_demand, layout, work), mean_demand(write_demand, layout, work)


def _costs(layout: WorkloadTarget, work: IoPattern) -> tuple[tuple[Demand, Demand], tuple[Demand, Demand]] | None:
    """Of a read and a write, for each drive by itself."""
    if layout.halves is None:
        return None
    alone = [WorkloadTarget(card=None, drive=drive, size_bytes=layout.size_bytes) for drive in layout.halves]
    first, second = (
        (mean_demand(read_demand, target, work), mean_demand(write_demand, target, work)) for target in alone
    )
    return first, second


def _read_shares(layout: WorkloadTarget, work: IoPattern, first: Demand, second: Demand) -> tuple[float, float]:
    """Which share of the reads each drive serves.

    RAID 1 passes over a write-mostly drive, and else keeps as many requests at the one as at the other, so that each
    serves what it can; RAID 10 knows no such mark and shares out nearly evenly (drivers/md/raid1.c and raid10.c,
    read_balance).
    """
    if layout.read_from != (True, True):
        return float(layout.read_from[0]), float(layout.read_from[1])
    if layout.level is Level.RAID10:
        share = _NEAR_EVEN + _BESIDE_WRITES * (1 - work.read_share)
    else:
        share = second.together / (first.together + second.together)
    return share, 1 - share


def in_flight(loads: tuple[MirrorLoad, MirrorLoad], iops: float, population: float) -> tuple[float, float]:
    """Requests at each drive: those that do not wait at the other are at the one that everything waits for."""
    if math.isclose(loads[0].busy_us, loads[1].busy_us, rel_tol=_ALIKE):
        return population / 2, population / 2
    slow = int(loads[1].busy_us >= loads[0].busy_us)
    free = min(population, iops * loads[1 - slow].alone_us / 1e6) if loads[1 - slow].busy_us else 0.0
    return (free, population - free) if slow else (population - free, free)


def busy_share(queued: float) -> float:
    """Share of time with at least one of so many requests in flight, where they come at random."""
    return 1 - math.exp(-queued)
