"""Combined results of many hosts. Histograms are added, and percentiles are computed from the sum. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from statistics import fmean, stdev

from app.core.fio.document import Counters
from app.core.fio.histogram import Histogram
from app.core.fio.summary import direction_figures
from app.core.session.results import DIRECTIONS, SIDES, DirectionStats
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class IoCounts:
    """I/O counts of one direction (read, write, trim, or flushes) in one or several intervals."""

    ios: int
    """Number of completed I/Os."""
    bytes: int
    """Number of bytes transferred."""
    histogram: Histogram
    """Histogram of the latencies of the I/Os."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostStats:
    """Results of one host within the common interval."""

    seconds: float
    """Total length of its intervals inside the common interval."""
    sides: Mapping[str, DirectionStats]
    """Results by direction, without directions that had no I/Os."""

    @property
    def iops(self) -> float:
        """Return the IOPS of all directions, without flushes."""
        return sum(side.iops for name, side in self.sides.items() if name in DIRECTIONS)


@dataclass(frozen=True, slots=True, kw_only=True)
class IopsSpread:
    """Variation of the results between hosts."""

    variation: float
    """Standard deviation of the hosts' IOPS divided by their mean: 0.1 for 10 %."""
    slowest: str
    """The host with the fewest IOPS."""
    fastest: str
    """The host with the most IOPS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiHostTotals:
    """Results of all hosts of a common interval."""

    hosts: Mapping[str, HostStats]
    """Results by host name."""
    sides: Mapping[str, DirectionStats] = field(default_factory=dict)
    """Combined results by direction: IOPS and bytes per second are added, and percentiles are over all I/Os."""
    spread: IopsSpread | None = None
    """Variation between the hosts; None for fewer than two hosts."""


class IntervalSum:
    """Sum of a host's intervals."""

    def __init__(self) -> None:
        self._seconds = 0.0
        self._parts: dict[str, tuple[int, int, dict[int, int]]] = {}

    def add(self, seconds: float, sides: Mapping[str, IoCounts]) -> None:
        """Add an interval of this length, with its I/O counts by direction."""
        self._seconds += seconds
        for name, moved in sides.items():
            ios, size, counts = self._parts.get(name, (0, 0, {}))
            for value, count in moved.histogram.counts.items():
                counts[value] = counts.get(value, 0) + count
            self._parts[name] = (ios + moved.ios, size + moved.bytes, counts)

    def figures(self) -> HostStats:
        """Return the results over all added intervals."""
        sides = {
            name: direction_stats_of(IoCounts(ios=ios, bytes=size, histogram=Histogram(counts)), self._seconds)
            for name, (ios, size, counts) in self._parts.items()
        }
        return HostStats(seconds=self._seconds, sides=sides)


def direction_stats_of(moved: IoCounts, seconds: float) -> DirectionStats:
    """Return the results of one direction from its I/O counts over a period of `seconds`."""
    part = Counters(
        io_bytes=moved.bytes,
        total_ios=moved.ios,
        completed=moved.ios,
        runtime_ms=round(seconds * 1000),
        mean_ns=moved.histogram.mean,
        max_ns=moved.histogram.top,
        min_ns=min(moved.histogram.counts, default=None),
        histogram=moved.histogram,
    )
    direction_stats = direction_figures(part)
    if not seconds:
        return direction_stats
    return replace(direction_stats, iops=moved.ios / seconds, bytes_per_second=moved.bytes / seconds)


def sum_hosts(hosts: Mapping[str, HostStats]) -> MultiHostTotals:
    """Return the combined results of all hosts, and the variation between them."""
    parts = {name: [host.sides[name] for host in hosts.values() if name in host.sides] for name in SIDES}
    sides = {name: _sum(stats) for name, stats in parts.items() if stats}
    return MultiHostTotals(hosts=hosts, sides=sides, spread=_spread(hosts))


def _sum(parts: Sequence[DirectionStats]) -> DirectionStats:
    pooled = IoCounts(
        ios=sum(part.total_ios for part in parts),
        bytes=sum(part.total_bytes for part in parts),
        histogram=Histogram.merged(Histogram(dict(part.bins)) for part in parts),
    )
    return replace(
        direction_stats_of(pooled, max(part.runtime_s for part in parts)),
        iops=sum(part.iops for part in parts),
        bytes_per_second=sum(part.bytes_per_second for part in parts),
    )


def _spread(hosts: Mapping[str, HostStats]) -> IopsSpread | None:
    if len(hosts) < 2:
        return None
    rates = {name: host.iops for name, host in hosts.items()}
    mean = fmean(rates.values())
    return IopsSpread(
        variation=stdev(rates.values()) / mean if mean else 0.0,
        slowest=min(rates, key=rates.__getitem__),
        fastest=max(rates, key=rates.__getitem__),
    )
