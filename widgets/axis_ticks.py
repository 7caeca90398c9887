"""Vertical axes over rows of braille dots. Every tick is in the middle of a row, so that its label is exact."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from widgets.scale import AxisSpan
from widgets.text_utils.ticks import ALMOST, power_of_ten

DOTS: Final = 4
"""Number of dots per row in braille."""

_MIDDLE: Final = 2
_LEAST_DOT: Final = 0.26
"""A value up to this many rows from the middle of a row counts as being there: one dot (0.25 rows) plus rounding."""
_ROUND: Final = (1.0, 2.0, 5.0)
_FAR: Final = 1e6
_LOW: Final = 20
"""Maximum number of rows for which six labels are enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruler:
    """A vertical axis over a number of rows. The last row is the lowest."""

    rows: int
    """Number of rows."""
    log: bool
    """Whether the axis is logarithmic."""
    origin: float
    """Value at the position `dot`; on a logarithmic axis, its logarithm to base 10."""
    dot: float
    """Position of `origin` in dots from the top."""
    step: float
    """Difference of the values of two ticks; on a logarithmic axis, of their logarithms."""
    dots: float
    """Distance between two ticks in dots."""
    ticks: tuple[tuple[int, float], ...]
    """Row and value of each tick, from the bottom."""

    def position_of(self, value: float) -> float:
        """Return the position of a value in dots from the top. It may be outside the rows."""
        position = math.log10(value) if self.log else value
        return self.dot - min(max((position - self.origin) / self.step * self.dots, -_FAR), _FAR)

    def dot_of(self, value: float) -> int:
        """Return the position of a value in whole dots from the top, limited to the rows of the axis."""
        return min(max(round(self.position_of(value)), 0), self.rows * DOTS - 1)


@lru_cache(maxsize=64)  # the arguments stay the same for every sample while the scale is unchanged
def ruler(span: AxisSpan, rows: int) -> Ruler:
    """Return the best axis for a span of values in `rows` rows (at least 1).

    It uses as much of the height as possible with round ticks.
    """
    rulers = list(_log_rulers(span, rows) if span.log else _linear_rulers(span, rows)) if rows > 1 else []
    return max(rulers, key=lambda candidate: _score(candidate, span)) if rulers else _edge_ruler(span, rows)


def _score(candidate: Ruler, span: AxisSpan) -> float:
    """Return a score for an axis: the share of the height that it uses, reduced for too few or too many labels."""
    used_dots = candidate.position_of(span.low) - candidate.position_of(span.high)
    # A high logarithmic axis may have labels in a third of the rows, so that 2 and 5 fit between powers of ten.
    maximum = max(6, candidate.rows // 3) if span.log and candidate.rows > _LOW else 6
    labels, target = len(candidate.ticks), min(maximum, max(3, candidate.rows // 3))
    return used_dots / (candidate.rows * DOTS) - 0.08 * abs(labels - target) - 0.2 * max(0, 3 - labels)


def _edge_ruler(span: AxisSpan, rows: int) -> Ruler:
    """Return an axis that has the ends of the span at its edges. It is used if no axis with round ticks fits."""
    bottom = rows * DOTS - 1
    low, high = (math.log10(span.low), math.log10(span.high)) if span.log else (span.low, span.high)
    ticks = ((rows - 1, span.low), (0, span.high)) if rows > 1 else ()
    return Ruler(rows=rows, log=span.log, origin=low, dot=bottom, step=high - low, dots=bottom, ticks=ticks)


def _linear_rulers(span: AxisSpan, rows: int) -> Iterator[Ruler]:
    power = power_of_ten(span.span) / 10.0
    for step in (factor * power * ten for ten in (1.0, 10.0) for factor in _ROUND):
        height = int((rows - 1) / (span.span / step) + ALMOST)
        first = math.ceil(span.low / step - ALMOST)
        candidate = _lay_out(span, rows, origin=first * step, step=step, height=height)
        if candidate is not None:
            ticks = tuple((row, (first + count) * step) for count, row in enumerate(_tick_rows(candidate, height)))
            yield replace(candidate, ticks=ticks)


def _log_rulers(span: AxisSpan, rows: int) -> Iterator[Ruler]:
    low, high = math.log10(span.low), math.log10(span.high)
    highest = int((rows - 1) / (high - low) + ALMOST)
    decades = max(1, math.ceil((high - low) / (rows - 1)))  # more than one per step if there are more decades than rows
    has_candidate = False
    while not has_candidate and decades <= rows:  # if no axis fits, try one more decade per step
        for height in range(max(1, highest - 4), max(1, highest) + 1):
            candidate = _lay_out(span, rows, origin=float(math.ceil(low - ALMOST)), step=float(decades), height=height)
            if candidate is not None:
                has_candidate = True
                yield replace(candidate, ticks=_log_ticks(candidate, span, height, decades))
        decades += 1


def _lay_out(span: AxisSpan, rows: int, *, origin: float, step: float, height: int) -> Ruler | None:
    """Return an axis with `height` rows per step and without ticks. The origin is in the lowest possible row.

    Return None if the span does not fit.
    """
    if height < 1:
        return None
    low = math.log10(span.low) if span.log else span.low
    dots = float(height * DOTS)
    below = max(0.0, (origin - low) / step * dots)
    row = math.floor((rows * DOTS - 1 - _MIDDLE - below) / DOTS + ALMOST)
    axis = Ruler(
        rows=rows, log=span.log, origin=origin, dot=float(row * DOTS + _MIDDLE), step=step, dots=dots, ticks=()
    )
    return axis if axis.position_of(span.high) >= -ALMOST else None


def _tick_rows(axis: Ruler, height: int) -> range:
    """Return the rows of the ticks, the lowest first."""
    return range((int(axis.dot) - _MIDDLE) // DOTS, -1, -height)


def _log_ticks(axis: Ruler, span: AxisSpan, height: int, decades: int) -> tuple[tuple[int, float], ...]:
    """Return row and value of the ticks.

    They are at powers of ten, and also at 2 and 5 times these if both are in the middle of a row.
    """
    between = [factor for factor in _ROUND if abs(height * math.log10(factor) % 1.0 - 0.5) >= 0.5 - _LEAST_DOT]
    maximum = max(3, axis.rows // 2)
    ticks = _ticks_on_axis(axis, span, decades, between if decades == 1 and len(between) == len(_ROUND) else [1.0])
    if len(ticks) > maximum:
        ticks = _ticks_on_axis(axis, span, decades, [1.0])
    return tuple(ticks[:: max(1, math.ceil(len(ticks) / maximum))])


def _ticks_on_axis(axis: Ruler, span: AxisSpan, decades: int, factors: list[float]) -> list[tuple[int, float]]:
    """Return row and value of each tick that is on the axis: the products of `factors` and powers of ten.

    Only powers are used whose exponent differs from that of the origin by a multiple of `decades`.
    """
    first, last = math.floor(math.log10(span.low)), math.ceil(math.log10(span.high)) + 1
    values = [
        factor * 10.0**exponent
        for exponent in range(max(first, -300), min(last, 300) + 1)
        if (exponent - round(axis.origin)) % decades == 0
        for factor in factors
    ]
    return [
        (math.floor(dot / DOTS), value)
        for value in values
        if value >= span.low * 0.999 and 0 <= (dot := axis.position_of(value)) < axis.rows * DOTS
    ]
