"""Axes of static plots: the positions of values, and ticks at round values."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from widgets.text_utils.ticks import one_two_five, outer_multiples, power_of_ten

Tick = tuple[float, str]
"""Value of a tick, and its label."""

_AIR = 1.05
"""Factor by which a logarithmic axis extends beyond the values, because a point on the frame is not visible."""

_LEAST_RATIO = 1.5
"""Minimum ratio between the ends of a logarithmic axis."""

_STEPS = ((1.0, 1.5, 2.0, 3.0, 5.0, 7.0), (1.0, 2.0, 5.0), (1.0, 3.0), (1.0,))
"""Possible ticks in a decade. The densest come first."""

_FINE = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
"""Ticks of an axis that covers at most a decade."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotAxis:
    """An axis from `low` to `high`, which must be higher than `low`."""

    low: float
    high: float
    ticks: tuple[Tick, ...] = ()
    log: bool = False
    """Whether the axis is logarithmic. If so, both ends must be above 0."""

    def share(self, value: float) -> float:
        """Return the position of a value: 0 at the low end and 1 at the high end.

        Other values are limited to this range.
        """
        value = min(max(value, self.low), self.high)
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def value(self, share: float) -> float:
        """Return the value at a position from 0 (low end) to 1 (high end)."""
        if self.log:
            return float(self.low * (self.high / self.low) ** share)
        return self.low + (self.high - self.low) * share


def ratios(values: Iterable[float], most: int, tick: Callable[[float], str]) -> PlotAxis:
    """Return a logarithmic axis that covers the values above 0. `most`: approximate maximum number of ticks."""
    positive = [value for value in values if value > 0] or [1.0]
    low, high = min(positive) / _AIR, max(positive) * _AIR
    if high / low < _LEAST_RATIO:
        low, high = low / 1.2, high * 1.2
    powers = [10.0**power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    choices = [
        [value for power in powers for step in steps if low <= (value := step * power) <= high]
        for steps in (*((_FINE,) if high / low <= 10 else ()), *_STEPS)
    ]
    tick_values = next((choice for choice in choices if 2 <= len(choice) <= most), None)
    tick_values = tick_values or min((choice for choice in choices if choice), key=len, default=[])
    return PlotAxis(
        low=low, high=high, log=True, ticks=tuple((value, tick(round_figure(value))) for value in tick_values)
    )


def amounts(values: Iterable[float], most: int, tick: Callable[[float], str], *, zero: bool = True) -> PlotAxis:
    """Return a linear axis that covers the values, and begins and ends at a tick.

    `most`: approximate maximum number of ticks; `zero`: whether the axis includes 0.
    """
    numbers = list(values) or [1.0]
    low, high = min(numbers), max(numbers)
    if zero:
        low = min(0.0, low)
    if high <= low:
        low, high = (0.0, 1.0) if high == 0 else (low - abs(low) * 0.05, high + abs(high) * 0.05)
    step = _round_step((high - low) / max(1, most - 1))
    marks = [count * step for count in outer_multiples(step, low, high)]
    return PlotAxis(low=marks[0], high=marks[-1], ticks=tuple((mark, tick(round_figure(mark))) for mark in marks))


def _round_step(rough: float) -> float:
    """Return the smallest number of at least `rough` that is 1, 2, 2.5 or 5 times a power of ten."""
    step, quarter = one_two_five(rough, up=True), 2.5 * power_of_ten(rough)
    return quarter if rough <= quarter < step else step


def round_figure(value: float) -> float:
    """Return a number without floating-point noise."""
    return float(f"{value:.6g}")


# -- axes of dates, in local time -------------------------------------------------------------------------------------

_DAY = 86_400.0
_MONTH = 2_629_800.0
_SECONDS = (1, 5, 10, 30, 60, 300, 900, 1800, 3600, 10_800, 21_600, 43_200)
_DAYS = (1, 2, 7, 14)
_MONTHS = (1, 3, 6, 12, 24, 60, 120)


def dates(times: Sequence[float], most: int) -> PlotAxis:
    """Return an axis of dates that covers these times (seconds since 1970).

    Ticks are at round times of day, midnights, Mondays or beginnings of months, in local time.
    """
    span = max(times) - min(times)
    margin = max(span * 0.03, 1.0)
    low, high = min(times) - margin, max(times) + margin
    ticks: list[Tick] = []
    for length, form, (months, days, seconds) in _calendar_steps(high - low):
        if (high - low) / length <= most:
            moments = _calendar_times(low, high, months, days, seconds)
            ticks = [(at, time.strftime(form, time.localtime(at))) for at in moments]
            break
    return PlotAxis(low=low, high=high, ticks=tuple(ticks))


def _calendar_steps(span: float) -> Iterable[tuple[float, str, tuple[int, int, int]]]:
    """Yield possible distances of ticks, the shortest first.

    Each has its length in seconds, the format of the labels, and the distance as months, days and seconds.
    """
    day = "" if span < _DAY else "%d %b "
    yield from ((float(count), f"{day}{'%H:%M:%S' if count < 60 else '%H:%M'}", (0, 0, count)) for count in _SECONDS)
    yield from ((_DAY * count, "%d %b", (0, count, 0)) for count in _DAYS)
    yield from ((_MONTH * count, "%b %Y", (count, 0, 0)) for count in _MONTHS)


def _calendar_times(low: float, high: float, months: int, days: int, seconds: int) -> list[float]:
    """Return the times of the ticks from `low` to `high` at this distance.

    mktime normalises months and days that are out of range, and handles summer time.
    """
    begin = time.localtime(low)
    month = 1 if months > 1 else begin.tm_mon
    day = 1 if months else begin.tm_mday - (begin.tm_wday if days > 2 else 0)
    first = (begin.tm_hour, 0, 0) if seconds and seconds < 3600 else (0, 0, 0)
    length = months * _MONTH or days * _DAY or float(seconds)
    count = int((high - low + (400 if months else 9 if days else 1) * _DAY) / length) + 2
    moments = (
        time.mktime((begin.tm_year, month + at * months, day + at * days, first[0], 0, at * seconds, 0, 0, -1))
        for at in range(count)
    )
    return list(itertools.takewhile(lambda at: at <= high, itertools.dropwhile(lambda at: at < low, moments)))
