"""Scales of axes: convert numbers to positions, and choose round numbers for the marks. No I/O."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from app.features.report.graph import Axis, AxisUnit, Spacing
from backends.sizes import size_words
from widgets.text_utils.ticks import ALMOST, one_two_five, outer_multiples, si_label, time_label

_MEBI = 1 << 20
_MOST_NINES = 6
_FACTORS = ((1, 2, 5), (1, 5), (1,))
_PERCENTILES = (0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999)


class Scale:
    """The scale of an axis that covers the given values."""

    def __init__(self, axis: Axis, values: Sequence[float], *, zero: bool = False, most: int = 6) -> None:
        """Fit the axis to the values. `zero`: whether to include 0; `most`: approximate maximum number of marks."""
        self._axis = axis
        self._move: Callable[[float], float] = _MOVES[axis.spacing]
        finite = [value for value in values if math.isfinite(value)]
        if axis.spacing in _LEAST:
            finite = [value for value in finite if value > _LEAST[axis.spacing]]
        low, high = (min(finite), max(finite)) if finite else (1.0, 10.0)
        if zero:
            low, high = min(0.0, low), max(0.0, high)
        self.marks: tuple[float, ...]
        self.low, self.high, self.marks = _limits(axis, low, high, most)
        self._start = self._end = 0.0

    def set_range(self, start: float, end: float) -> Scale:
        """Set the range of the axis in pixels, and return the scale itself."""
        self._start, self._end = start, end
        return self

    def position(self, value: float) -> float:
        """Return the position of a number in pixels. Numbers beyond the axis are placed at its nearest end."""
        low, high = self._move(self.low), self._move(self.high)
        share = (self._move(min(max(value, self.low), self.high)) - low) / ((high - low) or 1.0)
        return self._start + share * (self._end - self._start)

    def label(self, mark: float) -> str:
        """Return the label of the mark at this number."""
        return _times(mark) if self._axis.spacing is Spacing.RATIO else tick(mark, self._axis.unit)


def tick(value: float, unit: AxisUnit) -> str:
    """Return the label of a round number on an axis with this unit."""
    match unit:
        case AxisUnit.IOPS:
            return si_label(value)
        case AxisUnit.MIB_PER_S:
            return f"{value / _MEBI:g}"
        case AxisUnit.LATENCY:
            return time_label(value)
        case AxisUnit.BYTES:
            return size_words(int(value)).replace("iB", "").replace(" ", "")
        case AxisUnit.PERCENT:
            return f"{value:.6g}"
        case _:
            return f"{value:g}"


def _nines(percent: float) -> float:
    """Return the number of nines in a percentile: 0 for 0 %, 1 for 90 %, 2 for 99 %."""
    return -math.log10(max(10.0**-_MOST_NINES, 1 - percent / 100))


def _times(percent: float) -> str:
    """Return a difference as text. From half to double it is given in percent, beyond that as a factor."""
    ratio = 1 + percent / 100
    if 0.5 <= ratio <= 2:
        return f"{percent:+.0f} %" if percent else "0"
    return f"x{ratio:.10g}" if ratio > 1 else f"/{1 / ratio:.10g}"


def _log_ratio(percent: float) -> float:
    return math.log10(max(1 + percent / 100, 1e-12))


def _log(value: float) -> float:
    return math.log10(max(value, 1e-12))


_MOVES: dict[Spacing, Callable[[float], float]] = {
    Spacing.LINEAR: float,
    Spacing.LOG: _log,
    Spacing.NINES: _nines,
    Spacing.RATIO: _log_ratio,
}
_LEAST = {Spacing.LOG: 0.0, Spacing.RATIO: -100.0}
"""Lower limit by kind of scale. Values at or below the limit have no position, so they are ignored."""


def _limits(axis: Axis, low: float, high: float, most: int) -> tuple[float, float, tuple[float, ...]]:
    """Return the first and the last number of the axis, and the numbers at which it has marks."""
    if axis.at:
        return min(low, axis.at[0]), max(high, axis.at[-1]), axis.at
    match axis.spacing:
        case Spacing.LINEAR:
            first, last, marks = _linear(low, high, most, _MEBI if axis.unit is AxisUnit.MIB_PER_S else 1)
            inside = tuple(mark for mark in marks if low <= mark <= high)
            return (low, high, inside) if axis.tight else (first, last, marks)
        case Spacing.LOG:
            return _logarithmic(low, high, most)
        case Spacing.RATIO:
            return _ratios(low, high, most)
        case Spacing.NINES:
            last = max(high, 90.0)
            return 0.0, last, tuple(mark for mark in _PERCENTILES if mark <= last)


def _linear(low: float, high: float, most: int, unit: float) -> tuple[float, float, tuple[float, ...]]:
    low, high = low / unit, high / unit
    if high - low <= abs(high) * 1e-9:
        low, high = (0.0, high * 1.1) if high > 0 else (low - 1.0, high + 1.0)
    step = one_two_five((high - low) / most * (1 - ALMOST), up=True)
    marks = tuple(at * step * unit for at in outer_multiples(step, low, high))
    return marks[0], marks[-1], marks


def _logarithmic(low: float, high: float, most: int) -> tuple[float, float, tuple[float, ...]]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 2)
    tried = [
        _marks(low, high, [factor * 10.0**power for power in decades for factor in factors]) for factors in _FACTORS
    ]
    first, last = tried[0][0], max(tried[0][-1], tried[0][0] * 2)
    inside = [tuple(mark for mark in factors if first <= mark <= last) for factors in tried]
    marks = next((factors for factors in inside if len(factors) <= most + 1), inside[-1])
    return first, last, marks[:: max(1, math.ceil(len(marks) / (most + 2)))]


def _ratios(low: float, high: float, most: int) -> tuple[float, float, tuple[float, ...]]:
    """Return the first number, the last number and the marks of an axis of ratios. Marks are at powers of ten and, if
    they fit, at factors such as 2 and 1/2.
    """
    lowest, highest = math.floor(_log_ratio(low) + 1e-9), math.ceil(_log_ratio(high) - 1e-9)
    step = max(1, math.ceil((highest - lowest) / most))
    powers = [10.0**power for power in range(-12, 301) if power % step == 0]
    near = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0] if highest - lowest <= 2 else [0.5, 1.0, 2.0]
    every = sorted({*powers, *(near if highest - lowest <= most - 2 else (1.0,))})
    marks = _marks(low, high, [(ratio - 1) * 100 for ratio in every])
    return marks[0], marks[-1], marks


def _marks(low: float, high: float, every: Sequence[float]) -> tuple[float, ...]:
    """Return those of the marks in `every` from the last one at or below `low` to the first one at or above `high`."""
    first = max((mark for mark in every if mark <= low * 1.001), default=every[0])
    last = min((mark for mark in every if mark >= high * 0.999), default=every[-1])
    return tuple(mark for mark in every if first <= mark <= last)
