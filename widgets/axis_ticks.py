"""Where values stand in rows of four dots: every tick in the middle of its row, so that a label tells the truth."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from widgets.scale import AxisSpan
from widgets.text_utils.ticks import ALMOST, power_of_ten

DOTS: Final = 4
"""Dots of a row, as braille has them."""

_MIDDLE: Final = 2
_LEAST_DOT: Final = 0.26
"""Rows beside the middle of a row that are still its middle: a dot and the rounding."""
_ROUND: Final = (1.0, 2.0, 5.0)
_FAR: Final = 1e6
_LOW: Final = 20
"""Rows up to which six labels are as many as one wants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruler:
    """A vertical axis laid over rows; the lowest row is the last."""

    rows: int
    """Rows of the graph."""
    log: bool
    """Whether equal distances are equal ratios."""
    origin: float
    """The value, or its logarithm, that stands at `dot`."""
    dot: float
    """A dot, counted from the top."""
    step: float
    """A length of values, or of logarithms."""
    dots: float
    """How many dots that length has."""
    ticks: tuple[tuple[int, float], ...]
    """Rows with the round value in the middle of each, from the bottom."""

    def position_of(self, value: float) -> float:
        """Return where a value is, in dots from the top; beyond the rows for values that are not on the axis."""
        position = math.log10(value) if self.log else value
        return self.dot - min(max((position - self.origin) / self.step * self.dots, -_FAR), _FAR)

    def dot_of(self, value: float) -> int:
        """The dot of a value; the first or the last for one beyond."""
        return min(max(round(self.position_of(value)), 0), self.rows * DOTS - 1)


@lru_cache(maxsize=64)  # the same for every sample, as long as the scale stands
def ruler(span: AxisSpan, rows: int) -> Ruler:
    """The axis for a span in `rows` rows, at least 1: as much of the height as round ticks leave."""
    rulers = list(_log_rulers(span, rows) if span.log else _linear_rulers(span, rows)) if rows > 1 else []
    return max(rulers, key=lambda candidate: _worth(candidate, span)) if rulers else _plain(span, rows)


def _worth(candidate: Ruler, span: AxisSpan) -> float:
    """Share of the height that is used, less what too few or too many labels take from it."""
    used = candidate.position_of(span.low) - candidate.position_of(span.high)
    # Of a high logarithmic axis a third of the rows: then 2 and 5 have a place between the powers of ten.
    most = max(6, candidate.rows // 3) if span.log and candidate.rows > _LOW else 6
    labels, wanted = len(candidate.ticks), min(most, max(3, candidate.rows // 3))
    return used / (candidate.rows * DOTS) - 0.08 * abs(labels - wanted) - 0.2 * max(0, 3 - labels)


def _plain(span: AxisSpan, rows: int) -> Ruler:
    """Where no round step has a row: from edge to edge."""
    bottom = rows * DOTS - 1
    low, high = (math.log10(span.low), math.log10(span.high)) if span.log else (span.low, span.high)
    ticks = ((rows - 1, span.low), (0, span.high)) if rows > 1 else ()
    return Ruler(rows=rows, log=span.log, origin=low, dot=bottom, step=high - low, dots=bottom, ticks=ticks)


def _linear_rulers(span: AxisSpan, rows: int) -> Iterator[Ruler]:
    power = power_of_ten(span.span) / 10.0
    for step in (factor * power * ten for ten in (1.0, 10.0) for factor in _ROUND):
        height = int((rows - 1) / (span.span / step) + ALMOST)
        first = math.ceil(span.low / step - ALMOST)
        laid = _lay_out(span, rows, origin=first * step, step=step, height=height)
        if laid is not None:
            ticks = tuple((row, (first + count) * step) for count, row in enumerate(_rows(laid, height)))
            yield replace(laid, ticks=ticks)


def _log_rulers(span: AxisSpan, rows: int) -> Iterator[Ruler]:
    low, high = math.log10(span.low), math.log10(span.high)
    highest = int((rows - 1) / (high - low) + ALMOST)
    decades = max(1, math.ceil((high - low) / (rows - 1)))  # to a row, where there are more of them than rows
    fits = False
    while not fits and decades <= rows:  # one more where the lowest round value leaves too little above it
        for height in range(max(1, highest - 4), max(1, highest) + 1):
            laid = _lay_out(span, rows, origin=float(math.ceil(low - ALMOST)), step=float(decades), height=height)
            if laid is not None:
                fits = True
                yield replace(laid, ticks=_log_ticks(laid, span, height, decades))
        decades += 1


def _lay_out(span: AxisSpan, rows: int, *, origin: float, step: float, height: int) -> Ruler | None:
    """The origin in the middle of the lowest row it can have, `height` rows a step; None where that is too little."""
    if height < 1:
        return None
    low = math.log10(span.low) if span.log else span.low
    dots = float(height * DOTS)
    below = max(0.0, (origin - low) / step * dots)
    row = math.floor((rows * DOTS - 1 - _MIDDLE - below) / DOTS + ALMOST)
    laid = Ruler(
        rows=rows, log=span.log, origin=origin, dot=float(row * DOTS + _MIDDLE), step=step, dots=dots, ticks=()
    )
    return laid if laid.position_of(span.high) >= -ALMOST else None


def _rows(laid: Ruler, height: int) -> range:
    """The rows of the ticks, the lowest first."""
    return range((int(laid.dot) - _MIDDLE) // DOTS, -1, -height)


def _log_ticks(laid: Ruler, span: AxisSpan, height: int, decades: int) -> tuple[tuple[int, float], ...]:
    """Powers of ten, and what lies between them where it lies in the middle of a row, too."""
    between = [factor for factor in _ROUND if abs(height * math.log10(factor) % 1.0 - 0.5) >= 0.5 - _LEAST_DOT]
    most = max(3, laid.rows // 2)
    ticks = _ticks_on_axis(laid, span, decades, between if decades == 1 and len(between) == len(_ROUND) else [1.0])
    if len(ticks) > most:
        ticks = _ticks_on_axis(laid, span, decades, [1.0])
    return tuple(ticks[:: max(1, math.ceil(len(ticks) / most))])


def _ticks_on_axis(laid: Ruler, span: AxisSpan, decades: int, factors: list[float]) -> list[tuple[int, float]]:
    """Rows and values of these factors of every power of ten that is on the axis."""
    first, last = math.floor(math.log10(span.low)), math.ceil(math.log10(span.high)) + 1
    values = [
        factor * 10.0**exponent
        for exponent in range(max(first, -300), min(last, 300) + 1)
        if (exponent - round(laid.origin)) % decades == 0
        for factor in factors
    ]
    return [
        (math.floor(dot / DOTS), value)
        for value in values
        if value >= span.low * 0.999 and 0 <= (dot := laid.position_of(value)) < laid.rows * DOTS
    ]
