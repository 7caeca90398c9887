"""Spans of axes that rarely change, and ticks at round numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from widgets.text_utils import units
from widgets.text_utils.ticks import LARGEST, SMALLEST, multiples, one_two_five, power_of_ten

CEILINGS: Final = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""Possible ends of a linear axis, to be multiplied by a power of ten."""

STEPS: Final = (1.0, 2.0, 5.0)
"""Possible distances of ticks, to be multiplied by a power of ten."""

TIME_STEPS: Final = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)
"""Possible distances of ticks on a time axis in seconds."""

LEAST_SHARE: Final = 0.02
"""Minimum span of a linear axis that does not include zero, as a share of the largest value."""

SHRINK: Final = 0.5
"""The span of an axis shrinks only if the values need less than this share of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisSpan:
    """The span of values that an axis covers."""

    low: float
    """Value at the lower end. On a logarithmic axis it is above zero."""
    high: float
    """Value at the upper end, which is greater than `low`."""
    log: bool = False
    """Whether the axis is logarithmic."""

    @property
    def span(self) -> float:
        """Length of the span: the difference of the ends, or of their logarithms to base 10."""
        return math.log10(self.high) - math.log10(self.low) if self.log else self.high - self.low

    def ticks(self, most: int) -> tuple[float, ...]:
        """Return at most `most` round values within a linear span, in ascending order."""
        maximum = max(2, most)
        power = power_of_ten(max(self.span / maximum, SMALLEST))
        # Use the finest step that does not give too many ticks. That step may be more than ten times `power`.
        for factor in (*STEPS, *(10.0 * step for step in STEPS), 100.0):
            step = factor * power
            counts = multiples(step, self.low, self.high)
            if len(counts) <= maximum:
                return tuple(count * step for count in counts)
        return (self.low,)


def fit(
    values: Sequence[float], *, log: bool = False, close: bool = False, previous: AxisSpan | None = None
) -> AxisSpan:
    """Return the span of an axis for these values. It grows at once, but shrinks only if the values need much less.

    `values`: finite numbers; a logarithmic axis ignores those of zero or less. `close`: a linear axis need not include
    zero. `previous`: the span that was used so far.
    """
    needed = _log_span(values) if log else _close_span(values) if close else _linear_span(values)
    if previous is None or previous.log != log:
        return needed
    # Grow at once, because a line beyond the edge is invisible. Shrink rarely, to keep the graph steady.
    both = AxisSpan(low=min(needed.low, previous.low), high=max(needed.high, previous.high), log=log)
    return both if needed.span >= SHRINK * both.span else needed


def _linear_span(values: Sequence[float]) -> AxisSpan:
    if not values:
        return AxisSpan(low=0.0, high=1.0)
    low = 0.0 - _ceiling(-min(min(values), 0.0))
    high = _ceiling(max(max(values), 0.0))
    return AxisSpan(low=low, high=high if high > low else low + 1.0)


def _close_span(values: Sequence[float]) -> AxisSpan:
    """Return the span from a round number below the minimum to one above the maximum.

    It has a minimum length, so that noise does not fill the graph.
    """
    if not values:
        return AxisSpan(low=0.0, high=1.0)
    least, greatest = max(min(values), -LARGEST), min(max(values), LARGEST)
    span = max(greatest - least, abs(greatest) * LEAST_SHARE, SMALLEST)
    step = next(
        step for step in (value * power_of_ten(span / 4.0) for value in (1.0, 2.0, 5.0, 10.0)) if step * 4.0 >= span
    )
    low, high = math.floor(least / step - 0.1) * step, math.ceil(greatest / step + 0.1) * step
    return AxisSpan(low=max(low, 0.0) if least >= 0.0 else low, high=high)


def _log_span(values: Sequence[float]) -> AxisSpan:
    positive = [value for value in values if value > SMALLEST]
    if not positive:
        return AxisSpan(low=1.0, high=10.0, log=True)
    low, high = one_two_five(min(positive), up=False), one_two_five(max(positive), up=True)
    if high < low * 4.0:
        low, high = one_two_five(low / 2.0, up=False), one_two_five(high * 1.5, up=True)
    return AxisSpan(low=low, high=high, log=True)


def _ceiling(value: float) -> float:
    """Return the next round number that is slightly above a value; 0 for zero."""
    if value < SMALLEST:
        return 0.0
    # Leave a small margin, because a line on the frame cannot be distinguished from the frame.
    value = min(value, LARGEST) * 1.02
    power = power_of_ten(value)
    return next((step * power for step in CEILINGS if step * power >= value), 10.0 * power)


def time_ceiling(seconds: float) -> float:
    """Return a round time of at least `seconds`, for the time axis of a job of unknown length."""
    for step in TIME_STEPS[6:]:
        if seconds <= step:
            return float(step)
    return math.ceil(seconds / TIME_STEPS[-1]) * float(TIME_STEPS[-1])


def time_end(seconds: float) -> float:
    """Return a round time that is slightly longer than `seconds`, for the time axis of a job that continues."""
    step = next((step for step in reversed(TIME_STEPS) if step <= seconds / 8.0), TIME_STEPS[0])
    return max(1.0, math.ceil(seconds / step) * float(step))


def time_ticks(start: float, end: float, most: int) -> tuple[float, ...]:
    """Return at most `most` round times from `start` to `end`, in seconds."""
    most = max(1, most)
    for step in (*TIME_STEPS, *(TIME_STEPS[-1] * 10.0**power for power in range(1, 14))):
        counts = multiples(step, start, end)
        if len(counts) <= most:
            return tuple(count * step for count in counts)
    return (start,)


def time_label(seconds: float, span: float) -> str:
    """Return the label of a time on an axis of `span` seconds, such as `15 s`, `1:30` or `2:00:00`."""
    if span < 120:
        return f"{seconds:.1f} s" if seconds != int(seconds) else f"{int(seconds)} s"
    return units.elapsed(seconds)
