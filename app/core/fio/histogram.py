"""fio's latency histogram. Differences are exact, and percentiles are computed as fio does.

A bucket is identified by the value that fio prints for it in `bins`, its midpoint in nanoseconds. Each value below 128
ns has its own bucket. From there on, each power of two is divided into 64 buckets, so the midpoint is at most 0.78 %
off. The last bucket has everything from 17.18 s on (fio's stat.h, FIO_IO_U_PLAT_BITS 6, 29 groups).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import cached_property
from typing import Self

from backends.values import dataclass
from widgets.text_utils.ticks import bin_of


@dataclass(frozen=True)
class Histogram:
    """Number of I/Os for each latency. Immutable; do not change `counts`."""

    counts: Mapping[int, int] = field(default_factory=dict)
    """Number of I/Os by bucket value in ns. Empty buckets are left out."""

    @classmethod
    def merged(cls, parts: Iterable[Histogram]) -> Self:
        """Return the sum of several histograms. It is exact, even across directions, intervals, hosts and runs."""
        counts: dict[int, int] = {}
        for part in parts:
            for value, count in part.counts.items():
                counts[value] = counts.get(value, 0) + count
        return cls(counts)

    @cached_property
    def total(self) -> int:
        """Return the number of I/Os."""
        return sum(self.counts.values())

    @cached_property
    def bins(self) -> tuple[tuple[int, int], ...]:
        """Return (value in ns, count) pairs, ascending."""
        return tuple(sorted(self.counts.items()))

    @property
    def top(self) -> int | None:
        """Return the value of the highest used bucket in ns; None for an empty histogram."""
        return max(self.counts, default=None)

    @property
    def mean(self) -> float | None:
        """Return the mean estimated from midpoints, at most 0.78 % off; None for an empty histogram."""
        if not self.total:
            return None
        return sum(value * count for value, count in self.counts.items()) / self.total

    def spread(self) -> tuple[int, tuple[int, ...]]:
        """Return the index of the lowest bin with I/Os, and the counts of all bins from there up.

        The bins are those of `widgets.text_utils.ticks`. An empty histogram gives (0, ()).
        """
        counts: dict[int, int] = {}
        for value, count in self.counts.items():
            index = bin_of(value)
            counts[index] = counts.get(index, 0) + count
        if not counts:
            return 0, ()
        lowest = min(counts)
        return lowest, tuple(counts.get(index, 0) for index in range(lowest, max(counts) + 1))

    def since(self, earlier: Histogram) -> Histogram:
        """Return the histogram of the I/Os that were counted after the histogram `earlier` of the same run.

        A count of the result is never negative. fio reads its counters while they change, so a count may fall by a few.
        A histogram with fewer I/Os than `earlier` was reset at the end of the ramp, so all of its I/Os are new.
        """
        if self.total < earlier.total:
            return self
        before = earlier.counts.get
        return Histogram({value: new for value, count in self.counts.items() if (new := count - before(value, 0)) > 0})

    def percentile(self, percent: float) -> int | None:
        """Return the latency in ns at or below which `percent` % of the I/Os are; None for an empty histogram.

        As in fio, it is the first bucket at which the cumulative count reaches percent/100 of all I/Os, without
        rounding.
        """
        return self.percentiles((percent,))[0]

    def percentiles(self, percents: Iterable[float]) -> tuple[int | None, ...]:
        """Return several percentiles in one pass; `percents` must be ascending."""
        wanted = list(percents)
        results: list[int | None] = []
        running_count = 0
        rows = iter(self.bins)
        value: int | None = None
        for percent in wanted:
            # Integers compare without rounding; floats would select the wrong bucket at exact shares such as 99.9 %.
            numerator, denominator = float(percent).as_integer_ratio()
            target = numerator * self.total
            while self.total and (value is None or running_count * 100 * denominator < target):
                row = next(rows, None)
                if row is None:
                    break
                value = row[0]
                running_count += row[1]
            results.append(value)
        return tuple(results)
