"""What one block device did over a time: its rates, and how much its I/O comes in bursts. No I/O."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from app.core.benchmark.device_stats.diskstats import DeviceRates, DiskCounters, add_counters, is_reset, since
from backends.values import dataclass
from widgets.text_utils import units

READING_S = 0.1
"""Seconds between two readings. The index of dispersion refers to counts of this length."""

_FEWEST_COUNTS = 90
"""Number of intervals from which bursts are known, about 10 s: in fewer, a single flush takes 5 % of the time."""

_PEAK_PART = 0.8
"""Part of the I/Os whose share of the time is counted, the intervals with the most I/Os first."""

_MOST_PEAK_TIME, _LEAST_PEAK_TIME, _LEAST_DISPERSION = 0.3, 0.05, 30.0
"""Bursts: _PEAK_PART of the I/Os come in 5 to 30 % of the time, and the dispersion is at least 30.

The dispersion alone does not show bursts, because it grows with the rate: a disk with 79,000 steady reads a second has
539. The share of the time does not grow: steady load has 0.5 to 0.8, load with pauses 0.08 to 0.16. It alone does not
show bursts either: of a few I/Os a second, most intervals have none. A disk with little to do, to which the kernel
writes what programs have buffered, has 0.01 to 0.03: such bursts are rare.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceActivity:
    """What a device did, or the reason why this is not known."""

    device: str
    """Kernel name."""
    is_level: bool = False
    """Whether devices below it do the I/O, as for md and device-mapper. Then only they count flushes."""
    counts_flushes: bool = True
    """Whether the kernel counts its flushes."""
    reason: str = ""
    """Why the rates are not known, as a part of a sentence."""
    rates: DeviceRates | None = None
    """Rates over the whole time; None if they are not known."""
    dispersion: float | None = None
    """Index of dispersion: variance of the I/Os in 100 ms by their mean. 1 for random arrivals; None if not known."""
    peak_time: float | None = None
    """Share of the time (0..1) in which _PEAK_PART of the I/Os came: 0.8 if they come evenly; None if not known."""

    @property
    def has_io(self) -> bool:
        """Whether the device completed any I/O."""
        return self.rates is not None and self.rates.done.reads + self.rates.done.writes > 0

    @property
    def bursts(self) -> str | None:
        """Whether the I/Os come in bursts: `yes`, `rare`, `no`, or `few` for few I/Os; None if not known."""
        if self.dispersion is None or self.peak_time is None:
            return None
        if self.dispersion < _LEAST_DISPERSION or self.peak_time > _MOST_PEAK_TIME:
            return "no" if self.peak_time > _MOST_PEAK_TIME else "few"
        return "yes" if self.peak_time >= _LEAST_PEAK_TIME else "rare"

    @property
    def flush_share(self) -> float:
        """Mean number of flushes in flight; 0 if they are not known."""
        return self.rates.done.flush_ms / 1000 / self.rates.seconds if self.rates is not None else 0.0


class ActivityCounter:
    """Adds up the readings of one device."""

    def __init__(self, device: str, *, is_level: bool, is_counted: bool, counts_flushes: bool) -> None:
        self._activity = DeviceActivity(device=device, is_level=is_level, counts_flushes=counts_flushes)
        self._reason = "" if is_counted else "the kernel does not count its I/O (queue/iostats is 0)"
        self._begin = self._end = 0.0
        self._last: DiskCounters | None = None
        self._sum = DiskCounters()
        self._intervals, self._counts, self._squares = Counter[int](), Counter[int](), 0

    def take(self, at: float, totals: DiskCounters | None) -> None:
        """Add a reading. `at`: time in seconds; `totals`: None if the device is missing."""
        last = self._last
        if self._reason:
            return
        if totals is None:
            after = f"it disappeared after {units.duration(self._end - self._begin)}"
            self._reason = after if last is not None else "/proc/diskstats does not list it"
        elif last is None:
            self._begin, self._end, self._last = at, at, totals
        elif is_reset(last, totals):
            self._reason = "its counters went backwards, as if it was removed and added again"
        elif at > self._end:
            done = since(last, totals)
            self._count(done.reads + done.writes, at - self._end)
            self._sum, self._end, self._last = add_counters((self._sum, done)), at, totals

    def _count(self, number: int, seconds: float) -> None:
        """Add the count of an interval to those of the same power of two, so that memory does not grow with time.

        An interval that is far from 100 ms, as on a busy machine, does not show bursts and is left out.
        """
        if READING_S / 2 <= seconds <= READING_S * 2:
            count = round(number * READING_S / seconds)
            self._intervals[count.bit_length()] += 1
            self._counts[count.bit_length()] += count
            self._squares += count * count

    def _peak_time(self) -> float:
        """Return the share of the intervals that had _PEAK_PART of the I/Os."""
        left, intervals = _PEAK_PART * self._counts.total(), 0.0
        for power in sorted(self._counts, reverse=True):
            part = min(1.0, left / self._counts[power]) if left > 0 else 0.0
            intervals += part * self._intervals[power]
            left -= part * self._counts[power]
        return intervals / self._intervals.total()

    def activity(self) -> DeviceActivity:
        """Return the activity so far."""
        seconds = self._end - self._begin
        reason = self._reason or ("" if seconds > 0 else "there are no two readings yet")
        if reason:
            return replace(self._activity, reason=reason)
        known = replace(self._activity, rates=DeviceRates(self._sum, seconds))
        intervals, total = self._intervals.total(), self._counts.total()
        if intervals < _FEWEST_COUNTS or not total:
            return known
        dispersion = max(0.0, round(self._squares / total - total / intervals, 3))
        return replace(known, dispersion=dispersion, peak_time=round(self._peak_time(), 3))
