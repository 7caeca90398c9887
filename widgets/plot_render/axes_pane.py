"""Pair of axes on a grid of cells, painted by plotext.

plotext joins points, has the finer grid of braille, and lays out axes and ticks. It receives positions in cells only
and never scales. So values of 0 do no harm, and a sign is in the same cell as its line.
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
"""Cells left of an axis, equal in panes above each other so that they are aligned."""

_FINE = (2, 4)
"""Braille dots per cell, across and up."""

_BARE_RESET = re.compile(r"(\x1b\[(?!0m)[\d;]+m[^\x1b]*\x1b\[0m)|\x1b\[0m")

Cell = tuple[int, int, str]
"""Column from the left, row from below, and character."""


class PlotPane:
    """One pair of axes. Each pane has its own figure: plotext's default figure is shared by all threads."""

    def __init__(
        self, style: PlotStyle, height: int, x: PlotAxis, y: PlotAxis, *, label: str = "", gutter: int = GUTTER
    ) -> None:
        """`height`: rows including axis, ticks and label. `label`: label of the horizontal axis."""
        from plotext._figure import _figure_class  # takes 65 ms, and must not load during a run

        self.look, self.x, self.y = style, x, y
        self.columns = max(2, style.width - gutter - 1)
        self.rows = max(2, height - 1 - bool(x.ticks) - bool(label))
        self._label = fit_line(label, style.width).center(self.columns).rjust(style.width) if label else ""
        self._series_by_cell: dict[tuple[int, int], int] = {}
        self._figure: Any = _figure_class()
        self._figure._limit_size(False, False)  # otherwise plotext cuts it to the terminal, or to 80x23 in a pipe
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
        self.marks([(0, 0, " ")], BEHIND)  # plotext draws no ticks without a point

    def column(self, value: float) -> int:
        """Return the column of a value on the horizontal axis."""
        return math.floor(self.x.share(value) * (self.columns - 1) + 0.5)

    def row(self, value: float) -> int:
        """Return the row of a value on the vertical axis, from below."""
        return math.floor(self.y.share(value) * (self.rows - 1) + 0.5)

    def line(self, points: Iterable[tuple[float, float]], series: int) -> None:
        """Draw joined points in the colour of a series, with braille if possible."""
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
        """Draw single characters in the colour of a series, or of the text for None."""
        visible = [cell for cell in cells if 0 <= cell[0] < self.columns and 0 <= cell[1] < self.rows]
        if visible:
            color = "default" if series is None else self.look.hue(series)
            xs, ys, signs = ([cell[index] for cell in visible] for index in range(3))
            self._figure.scatter(xs, ys, marker=signs, color=color)

    def signs(self, points: Iterable[tuple[float, float]], series: int) -> None:
        """Draw the sign of a series at points, one cell aside if another series has the cell."""
        for x, y in points:
            column, row = self.column(x), self.row(y)
            candidates = (column, column + 1, column - 1)
            column = next(
                (number for number in candidates if self._series_by_cell.get((number, row), series) == series), column
            )
            self._series_by_cell[column, row] = series
            self.marks([(column, row, self.look.sign(series))], series)

    def stretch(self, row: int, first: int, last: int, sign: str, series: int | None = None) -> None:
        """Draw a character in a row from column to column."""
        self.marks([(column, row, sign) for column in range(min(first, last), max(first, last) + 1)], series)

    def upright(self, column: int, first: int, last: int, sign: str, series: int | None = None) -> None:
        """Draw a character in a column from row to row."""
        self.marks([(column, row, sign) for row in range(min(first, last), max(first, last) + 1)], series)

    def shade(self, low: float, high: float) -> None:
        """Shade the range between two values of the horizontal axis, behind everything else."""
        for column in range(self.column(low), self.column(high) + 1):
            self.upright(column, 0, self.rows - 1, "░", BEHIND)

    def interval(self, x: float, low: float, high: float, series: int) -> None:
        """Draw an error bar if it is higher than a sign."""
        first, last = self.row(low), self.row(high)
        if last - first > 1:
            self.upright(self.column(x), first, last, "│", series)

    def write_text(self, text: str, column: int, row: int) -> None:
        """Write text from a column on, moved to the left if it does not fit."""
        text = single_cells(text, self.columns)
        start = max(0, min(column, self.columns - len(text)))
        self.marks([(start + at, row, sign) for at, sign in enumerate(text)])

    def build(self) -> list[str]:
        """Return the rows, without redundant resets, which are a quarter of plotext's output."""
        text = _BARE_RESET.sub(lambda match: match[1] or "", self._figure.build()).rstrip("\n")
        return [*text.split("\n"), *([self._label] if self._label else [])]


def single_cells(text: str, width: int) -> str:
    """Return one line in which every character takes one cell, as the grid requires."""
    return "".join(character if width_of(character) == 1 else "?" for character in fit_line(text, width))


def _fine_position(cell: float, cells: int, points: int) -> float:
    """Return plotext's coordinate of a position in cells, so that its braille dot is in that cell."""
    return (cell * points + (points - 1) / 2) * (cells - 1) / (cells * points - 1)


def _split_ticks(ticks: Sequence[tuple[int, str]]) -> tuple[list[int], list[str]]:
    return [at for at, _ in ticks], [text for _, text in ticks]


def nines(share: float) -> float:
    """Return the number of nines of a share: p99.9 is 3."""
    return -math.log10(1 - share)
