"""A pair of axes with its content on a grid of cells, painted by plotext.

plotext joins points, draws braille, and lays out axes and ticks. It only gets positions in cells and never scales
values. So a value of 0 on a logarithmic axis causes no error, and a sign is in the same cell as its line.
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
"""Number of cells to the left of the axis. It is equal in panes above each other, so that they are aligned."""

_FINE = (2, 4)
"""Number of braille dots per cell, horizontally and vertically."""

_BARE_RESET = re.compile(r"(\x1b\[(?!0m)[\d;]+m[^\x1b]*\x1b\[0m)|\x1b\[0m")

Cell = tuple[int, int, str]
"""Column from the left, row from the bottom, and character."""


class PlotPane:
    """A pair of axes. Each pane has its own plotext figure, because all threads share plotext's default figure."""

    def __init__(
        self, style: PlotStyle, height: int, x: PlotAxis, y: PlotAxis, *, label: str = "", gutter: int = GUTTER
    ) -> None:
        """`height`: number of rows including axis, ticks and label; `label`: label of the horizontal axis or ""."""
        from plotext._figure import _figure_class  # importing plotext takes 65 ms, so import it only for a static plot

        self.look, self.x, self.y = style, x, y
        self.columns = max(2, style.width - gutter - 1)
        self.rows = max(2, height - 1 - bool(x.ticks) - bool(label))
        self._label = fit_line(label, style.width).center(self.columns).rjust(style.width) if label else ""
        self._series_by_cell: dict[tuple[int, int], int] = {}
        self._figure: Any = _figure_class()
        self._figure._limit_size(False, False)  # otherwise plotext limits it to the terminal, or to 80x23 in a pipe
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
        self.marks([(0, 0, " ")], BEHIND)  # without any point, plotext draws no ticks

    def column(self, value: float) -> int:
        """Return the column of a value on the horizontal axis."""
        return math.floor(self.x.share(value) * (self.columns - 1) + 0.5)

    def row(self, value: float) -> int:
        """Return the row of a value on the vertical axis, from the bottom."""
        return math.floor(self.y.share(value) * (self.rows - 1) + 0.5)

    def line(self, points: Iterable[tuple[float, float]], series: int) -> None:
        """Draw a line through the points in the colour of a series, in braille unless only ASCII is used."""
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
        """Draw characters in cells, in the colour of a series; None for the colour of text."""
        visible = [cell for cell in cells if 0 <= cell[0] < self.columns and 0 <= cell[1] < self.rows]
        if visible:
            color = "default" if series is None else self.look.hue(series)
            xs, ys, signs = ([cell[index] for cell in visible] for index in range(3))
            self._figure.scatter(xs, ys, marker=signs, color=color)

    def signs(self, points: Iterable[tuple[float, float]], series: int) -> None:
        """Draw the sign of a series at each point. If another series occupies the cell, use the cell next to it."""
        for x, y in points:
            column, row = self.column(x), self.row(y)
            candidates = (column, column + 1, column - 1)
            column = next(
                (number for number in candidates if self._series_by_cell.get((number, row), series) == series), column
            )
            self._series_by_cell[column, row] = series
            self.marks([(column, row, self.look.sign(series))], series)

    def stretch(self, row: int, first: int, last: int, sign: str, series: int | None = None) -> None:
        """Draw a character in all cells of a row from column `first` to column `last`."""
        self.marks([(column, row, sign) for column in range(min(first, last), max(first, last) + 1)], series)

    def upright(self, column: int, first: int, last: int, sign: str, series: int | None = None) -> None:
        """Draw a character in all cells of a column from row `first` to row `last`."""
        self.marks([(column, row, sign) for row in range(min(first, last), max(first, last) + 1)], series)

    def shade(self, low: float, high: float) -> None:
        """Shade the range between two values of the horizontal axis, behind everything else."""
        for column in range(self.column(low), self.column(high) + 1):
            self.upright(column, 0, self.rows - 1, "░", BEHIND)

    def interval(self, x: float, low: float, high: float, series: int) -> None:
        """Draw an error bar, unless it would be too small to be visible next to a sign."""
        first, last = self.row(low), self.row(high)
        if last - first > 1:
            self.upright(self.column(x), first, last, "│", series)

    def write_text(self, text: str, column: int, row: int) -> None:
        """Write `text` from `column` on. If it does not fit, it begins further to the left."""
        text = single_cells(text, self.columns)
        start = max(0, min(column, self.columns - len(text)))
        self.marks([(start + at, row, sign) for at, sign in enumerate(text)])

    def build(self) -> list[str]:
        """Return the rows. Redundant reset sequences, a quarter of plotext's output, are removed."""
        text = _BARE_RESET.sub(lambda match: match[1] or "", self._figure.build()).rstrip("\n")
        return [*text.split("\n"), *([self._label] if self._label else [])]


def single_cells(text: str, width: int) -> str:
    """Return `text` as one line in which each character takes one cell. Characters of other widths become `?`."""
    return "".join(character if width_of(character) == 1 else "?" for character in fit_line(text, width))


def _fine_position(cell: float, cells: int, points: int) -> float:
    """Convert a position in cells to plotext's coordinate, so that its braille dot is in the right cell."""
    return (cell * points + (points - 1) / 2) * (cells - 1) / (cells * points - 1)


def _split_ticks(ticks: Sequence[tuple[int, str]]) -> tuple[list[int], list[str]]:
    return [at for at, _ in ticks], [text for _, text in ticks]


def nines(share: float) -> float:
    """Return the number of nines of a share, such as 3 for 0.999 (p99.9)."""
    return -math.log10(1 - share)
