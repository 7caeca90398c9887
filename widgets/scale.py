"""Round numbers for the axes of a graph: stable spans and readable ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from widgets.text_utils import units
from widgets.text_utils.ticks import LARGEST, SMALLEST, multiples, one_two_five, power_of_ten

CEILINGS: Final = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""Possible ends of a linear axis, times a power of ten."""

STEPS: Final = (1.0, 2.0, 5.0)
"""Possible distances of ticks, times a power of ten."""

TIME_STEPS: Final = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)
"""Possible distances of time ticks in seconds."""

LEAST_SHARE: Final = 0.02
"""Minimum span of a scale without zero, as a share of the largest value."""

SHRINK: Final = 0.5
"""Share of the scale below which the values make it shrink."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisSpan:
    """Span of values on an axis."""

    low: float
    """Value at the lower end; above zero if `log`."""
    high: float
    """Value at the upper end, greater than `low`."""
    log: bool = False
    """True if equal distances are equal ratios."""

    @property
    def span(self) -> float:
        """Length of the scale: a difference, or the logarithm of a ratio."""
        return math.log10(self.high) - math.log10(self.low) if self.log else self.high - self.low

    def ticks(self, most: int) -> tuple[float, ...]:
        """Return at most `most` round values in a linear span, ascending."""
        maximum = max(2, most)
        power = power_of_ten(max(self.span / maximum, SMALLEST))
        # The finest step without too many ticks. A power of ten may be two steps too fine.
        for factor in (*STEPS, *(10.0 * step for step in STEPS), 100.0):
            step = factor * power
            counts = multiples(step, self.low, self.high)
            if len(counts) <= maximum:
                return tuple(count * step for count in counts)
        return (self.low,)


def fit(
    values: Sequence[float], *, log: bool = False, close: bool = False, previous: AxisSpan | None = None
) -> AxisSpan:
    """Return the scale for these values. It grows at once, and shrinks only if they need clearly less.

    `values`: finite numbers; a logarithmic scale ignores those of zero and less. `close`: a linear scale need not
    include zero. `previous`: the scale shown so far.
    """
    needed = _log_span(values) if log else _close_span(values) if close else _linear_span(values)
    if previous is None or previous.log != log:
        return needed
    # Grow at once, since a line beyond the edge is invisible. Shrink only at half, to keep the graph steady.
    both = AxisSpan(low=min(needed.low, previous.low), high=max(needed.high, previous.high), log=log)
    return both if needed.span >= SHRINK * both.span else needed


def _linear_span(values: Sequence[float]) -> AxisSpan:
    if not values:
        return AxisSpan(low=0.0, high=1.0)
    low = 0.0 - _ceiling(-min(min(values), 0.0))
    high = _ceiling(max(max(values), 0.0))
    return AxisSpan(low=low, high=high if high > low else low + 1.0)


def _close_span(values: Sequence[float]) -> AxisSpan:
    """Return the span between the round numbers next to minimum and maximum, but not so small that noise fills it."""
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
    """Return the first round number slightly above a value, or 0 for zero."""
    if value < SMALLEST:
        return 0.0
    # A small margin: a line on the frame cannot be distinguished from the frame.
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
    """Return a round time slightly longer than `seconds`, for the time axis of a growing job."""
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
    """Return a time as a label of an axis over `span` seconds: `15 s`, `1:30`, `2:00:00`."""
    if span < 120:
        return f"{seconds:.1f} s" if seconds != int(seconds) else f"{int(seconds)} s"
    return units.elapsed(seconds)
