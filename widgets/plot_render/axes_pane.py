"""A pair of axes on a grid of cells, painted by plotext.

plotext joins points, keeps the finer grid of braille, and sets out axes and ticks. It gets places in cells only: it
never scales, so nothing at 0 stops it, and a sign stands in the very cell of its line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from widgets.plot_render.axes import PlotAxis
from widgets.plot_render.style import BEHIND, PlotStyle, fit_line
from widgets.text_utils.text import width_of

GUTTER = 8
"""Cells left of an axis, the same in panes above one another so that they have one edge."""

_FINE = (2, 4)
"""Points of braille in a cell, across and up."""

_BARE_RESET = re.compile(r"(\x1b\[(?!0m)[\d;]+m[^\x1b]*\x1b\[0m)|\x1b\[0m")

Cell = tuple[int, int, str]
"""Column from the left, row from below, and what stands there."""


class PlotPane:
    """One pair of axes. Every pane is a figure of its own: plotext's other one is shared by all threads."""

    def __init__(
        self, look: PlotStyle, height: int, x: PlotAxis, y: PlotAxis, *, label: str = "", gutter: int = GUTTER
    ) -> None:
        """`height`: rows with its axis, ticks and label; `label`: what the axis across is."""
        from plotext._figure import _figure_class  # 65 ms, and never while something is measured

        self.look, self.x, self.y = look, x, y
        self.columns = max(2, look.width - gutter - 1)
        self.rows = max(2, height - 1 - bool(x.ticks) - bool(label))
        self._label = fit_line(label, look.width).center(self.columns).rjust(look.width) if label else ""
        self._taken: dict[tuple[int, int], int] = {}
        self._figure: Any = _figure_class()
        self._figure._limit_size(False, False)  # else it is cut to the terminal, in a pipe to 80x23
        self._figure.plot_size(gutter + 1 + self.columns, self.rows + 1 + bool(x.ticks))
        self._figure.theme("clear")
        self._figure.xaxes(True, False)
        self._figure.yaxes(True, False)
        self._figure.xlim(0, self.columns - 1)
        self._figure.ylim(0, self.rows - 1)
        across = [(self.column(at), single_cells(text, self.columns)) for at, text in x.ticks]
        self._figure.xticks(*_split_ticks(across))
        upwards = [(self.row(at), single_cells(text, gutter).rjust(gutter)) for at, text in y.ticks]
        self._figure.yticks(*_split_ticks(upwards or [(0, " " * gutter)]))
        self.marks([(0, 0, " ")], BEHIND)  # without any point there are no ticks

    def column(self, value: float) -> int:
        """The column of a value of the axis across."""
        return math.floor(self.x.share(value) * (self.columns - 1) + 0.5)

    def row(self, value: float) -> int:
        """The row of a value of the axis up, from below."""
        return math.floor(self.y.share(value) * (self.rows - 1) + 0.5)

    def line(self, points: Iterable[tuple[float, float]], series: int) -> None:
        """Points joined in the colour of a series, finer than a cell where braille can be shown."""
        cells = [(self.x.share(x) * (self.columns - 1), self.y.share(y) * (self.rows - 1)) for x, y in points]
        if not cells:
            return
        across, up = zip(*cells, strict=True)
        if self.look.ascii:
            self._figure.plot(list(across), list(up), marker=self.look.sign(series), color=self.look.hue(series))
            return
        xs = [_fine_position(cell, self.columns, _FINE[0]) for cell in across]
        ys = [_fine_position(cell, self.rows, _FINE[1]) for cell in up]
        self._figure.plot(xs, ys, marker="braille", color=self.look.hue(series))

    def marks(self, cells: Iterable[Cell], series: int | None = None) -> None:
        """Single characters; of no series in the colour of the text."""
        inside = [cell for cell in cells if 0 <= cell[0] < self.columns and 0 <= cell[1] < self.rows]
        if inside:
            color = "default" if series is None else self.look.hue(series)
            xs, ys, signs = ([cell[at] for cell in inside] for at in range(3))
            self._figure.scatter(xs, ys, marker=signs, color=color)

    def signs(self, points: Iterable[tuple[float, float]], series: int) -> None:
        """The sign of a series at points of it, one cell aside where another series has the cell."""
        for x, y in points:
            column, row = self.column(x), self.row(y)
            around = (column, column + 1, column - 1)
            column = next((number for number in around if self._taken.get((number, row), series) == series), column)
            self._taken[column, row] = series
            self.marks([(column, row, self.look.sign(series))], series)

    def stretch(self, row: int, first: int, last: int, sign: str, series: int | None = None) -> None:
        """A row of one character from column to column."""
        self.marks([(column, row, sign) for column in range(min(first, last), max(first, last) + 1)], series)

    def upright(self, column: int, first: int, last: int, sign: str, series: int | None = None) -> None:
        """A column of one character from row to row."""
        self.marks([(column, row, sign) for row in range(min(first, last), max(first, last) + 1)], series)

    def shade(self, low: float, high: float) -> None:
        """What lies between two values of the axis across, behind everything."""
        for column in range(self.column(low), self.column(high) + 1):
            self.upright(column, 0, self.rows - 1, "░", BEHIND)

    def interval(self, x: float, low: float, high: float, series: int) -> None:
        """An error bar, where it is higher than a sign."""
        first, last = self.row(low), self.row(high)
        if last - first > 1:
            self.upright(self.column(x), first, last, "│", series)

    def say(self, text: str, column: int, row: int) -> None:
        """Words from a column on, as far as there is room; where there is none at the right, they end there."""
        text = single_cells(text, self.columns)
        start = max(0, min(column, self.columns - len(text)))
        self.marks([(start + at, row, sign) for at, sign in enumerate(text)])

    def build(self) -> list[str]:
        """Return its rows, without the resets that reset nothing, a quarter of what plotext writes."""
        text = _BARE_RESET.sub(lambda match: match[1] or "", self._figure.build()).rstrip("\n")
        return [*text.split("\n"), *([self._label] if self._label else [])]


def single_cells(text: str, width: int) -> str:
    """Return one line in which every character takes one cell, as the grid has them."""
    return "".join(character if width_of(character) == 1 else "?" for character in fit_line(text, width))


def _fine_position(cell: float, cells: int, points: int) -> float:
    """Where a place in cells lies on plotext's axis so that its point of braille is in that cell."""
    return (cell * points + (points - 1) / 2) * (cells - 1) / (cells * points - 1)


def _split_ticks(ticks: Sequence[tuple[int, str]]) -> tuple[list[int], list[str]]:
    return [at for at, _ in ticks], [text for _, text in ticks]


def nines(share: float) -> float:
    """How many nines a share has: p99.9 is 3."""
    return -math.log10(1 - share)
