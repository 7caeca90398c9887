"""Draws a difference with its confidence interval as a bar on an axis that includes zero."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Final

from textual.reactive import reactive

from widgets.scale import AxisSpan
from widgets.text_panel import Line, Style, TextPanel

_AIR: Final = 0.04
"""Margin of the axis beyond the outermost values, as a share of their range."""

_TICK_CELLS: Final = 12
"""Minimum number of cells per tick."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalMark:
    """A difference to draw, in percent."""

    middle: float
    """The difference."""
    low: float | None = None
    """Lower end of its confidence interval; None for no interval."""
    high: float | None = None
    """Upper end of its confidence interval; None for no interval."""
    points: tuple[float, ...] = ()
    """Individual values from which the difference was computed."""
    threshold: float = 0.0
    """Size below which a difference is too small to matter; 0 for none."""
    tone: Style = ""
    """Tone of the bar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Signs:
    """Characters with which the bar is drawn."""

    axis: str
    tick: str
    zone: str
    zero: str
    bar: str
    crossing: str
    middle: str
    point: str


_UNICODE: Final = _Signs(axis="─", tick="┴", zone="░", zero="│", bar="━", crossing="┿", middle="◆", point="•")
_ASCII: Final = _Signs(axis="-", tick="+", zone=":", zero="|", bar="=", crossing="#", middle="O", point="*")

Cells = list[tuple[str, str]]
"""Style name and character of each cell of a line."""


class IntervalBar(TextPanel):
    """Shows the bar, the points, the axis and its labels, in one line each."""

    mark: reactive[IntervalMark | None] = reactive(None, repaint=False)
    """Difference to draw. If it is None, the widget takes no space."""
    ascii: reactive[bool] = reactive(False, repaint=False)
    """Whether to use only ASCII characters."""

    def __init__(self, mark: IntervalMark | None = None, *, ascii: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self.set_reactive(IntervalBar.mark, mark)
        self.set_reactive(IntervalBar.ascii, ascii)

    def watch_mark(self) -> None:
        """Lay out the lines again."""
        self.update_lines()

    watch_ascii = watch_mark

    def lay_out(self, width: int) -> list[Line]:
        """Return the lines of the drawing."""
        return [] if self.mark is None else draw_interval(self.mark, width, ascii_only=self.ascii)


def draw_interval(mark: IntervalMark, width: int, *, ascii_only: bool = False) -> list[Line]:
    """Return the lines with the bar, the points, the axis and its labels, each `width` cells wide.

    The axis includes zero and the threshold in both directions.
    """
    signs = _ASCII if ascii_only else _UNICODE
    span = _span(mark)

    def column(value: float) -> int:
        return round((value - span.low) / span.span * (width - 1))

    zero = column(0.0)
    zone = range(column(-mark.threshold), column(mark.threshold) + 1) if mark.threshold else range(0)
    ground: Cells = [("muted", signs.zone if at in zone else " ") for at in range(width)]
    ground[zero] = ("label", signs.zero)
    bar = list(ground)
    tone = mark.tone or "value"
    if mark.low is not None and mark.high is not None:
        for at in range(column(mark.low), column(mark.high) + 1):
            bar[at] = (tone, signs.crossing if at == zero else signs.bar)
    bar[column(mark.middle)] = ("title", signs.middle)
    rows = [bar]
    if mark.points:
        points = list(ground)
        for value in mark.points:
            points[column(value)] = ("accent", signs.point)
        rows.append(points)
    ticks = span.ticks(max(2, width // _TICK_CELLS))
    axis: Cells = [("muted", signs.axis)] * width
    for tick in ticks:
        axis[column(tick)] = ("muted", signs.tick)
    labels = _label_cells([(column(tick), tick) for tick in ticks], width)
    return [_join_cells(row) for row in (*rows, axis, labels)]


def _span(mark: IntervalMark) -> AxisSpan:
    ends = [end for end in (mark.low, mark.high) if end is not None]
    values = (0.0, -mark.threshold, mark.threshold, mark.middle, *ends, *mark.points)
    low, high = min(values), max(values)
    margin = (high - low) * _AIR or 1.0
    return AxisSpan(low=low - margin, high=high + margin)


def _label_cells(ticks: list[tuple[int, float]], width: int) -> Cells:
    """Return the line with the labels of the ticks. Labels without space are left out, but zero has precedence.

    The last label has the unit.
    """
    text = [" "] * width
    last = ticks[-1][1] if ticks else 0.0
    for column, tick in sorted(ticks, key=lambda pair: (pair[1] != 0, pair[0])):
        label = ("0" if tick == 0 else f"{tick:+.6g}") + (" %" if tick == last else "")
        left = min(max(0, column - len(label.removesuffix(" %")) // 2), max(0, width - len(label)))
        neighbourhood = text[max(0, left - 1) : left + len(label) + 1]
        if not "".join(neighbourhood).strip() and left + len(label) <= width:
            text[left : left + len(label)] = label
    return [("label", char) for char in text]


def _join_cells(cells: Cells) -> Line:
    """Return the cells as a line, with one piece per run of equal style."""
    groups = ((kind, list(group)) for kind, group in groupby(cells, key=lambda cell: cell[0]))
    return tuple((kind, "".join(char for _, char in group)) for kind, group in groups)
