"""A graph of few rows with one band per series. In a band, each column is as high as its value. Needs no terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from widgets.chart_data import ChartData, Series
from widgets.plot import Plot, has_only_new_points, series_code
from widgets.plot_frame import AXIS, GRID, LABEL, Frame, FramedDrawing, Row, axis_rows, time_span, write_notes
from widgets.text_utils import units
from widgets.text_utils.sparkline import ASCII_LEVELS, LEVELS
from widgets.text_utils.text import clean

LOW: Final = 8
"""Minimum number of rows of a graph of lines. With fewer rows, its lines cannot be distinguished."""

_LEAST_RATIO: Final = 8.0
"""Minimum ratio of the largest to the smallest value on a band's scale, so that small fluctuations look flat."""


class BandedPlot(FramedDrawing):
    """Graph of lines if there are enough rows, otherwise graph of bands."""

    def __init__(self) -> None:
        super().__init__()
        self._plot = Plot()
        self._bands = Bands()

    def draw(
        self, data: ChartData, width: int, height: int, *, log: bool, window: float, ascii_only: bool
    ) -> list[Row]:
        """Return the rows of the graph. `Plot.draw` describes the parameters."""
        self.has_names = data.bands and log and height < LOW and len(data.series) > 1
        plot = self._bands if self.has_names else self._plot
        rows = plot.draw(data, width, height, log=log, window=window, ascii_only=ascii_only)
        self._frame = plot._frame
        return rows


class Bands(FramedDrawing):
    """Graph with one band per series. Each shows the largest value per column on its own logarithmic scale."""

    def __init__(self) -> None:
        super().__init__()
        self._columns: list[dict[int, float]] = []
        self._most: list[tuple[float, float]] = []
        self._known: tuple[object, tuple[Series, ...]] = (None, ())
        self._rows: list[Row] = []

    def draw(
        self, data: ChartData, width: int, height: int, *, log: bool, window: float, ascii_only: bool
    ) -> list[Row]:
        """Return the rows of the graph. Rows that have not changed are the same objects as before."""
        if width < 1 or height < 1:
            return []
        span = time_span(data, window)
        frame = self._framer.lay_out(data, width, height, span=span, values=(), log=log, ascii_only=ascii_only)
        self._collect(frame, data.series)
        fresh = [
            row for index, rows in self._shares(data.series, frame.rows) for row in self._band(frame, data, index, rows)
        ]
        fresh = [write_notes(frame, at, *row) for at, row in enumerate(fresh)]
        fresh = [_frame_row(frame, row, self._name(data, at, frame.rows)) for at, row in enumerate(fresh)]
        fresh += axis_rows(frame)
        if len(fresh) == len(self._rows):  # reuse equal row objects, because only new objects are sent to the terminal
            fresh = [old if old == new else new for old, new in zip(self._rows, fresh, strict=True)]
        self._rows, self._frame = fresh, frame
        return list(fresh)

    def _collect(self, frame: Frame, series: tuple[Series, ...]) -> None:
        """Update the largest value of each column. If the series have only grown, only new points are read."""
        axis = (frame.start, frame.end, frame.columns)
        last_axis, before = self._known
        grows = last_axis == axis and has_only_new_points(series, before)
        if not grows:
            self._columns = [{} for _ in series]
            self._most = [(0.0, 0.0)] * len(series)
        for index, line in enumerate(series):
            largest = self._columns[index]
            for seconds, value in line.points[len(before[index].points) if grows else 0 :]:
                if value is not None and math.isfinite(value) and value > 0.0 and frame.start <= seconds <= frame.end:
                    column = frame.column_of(seconds)
                    largest[column] = max(value, largest.get(column, 0.0))
                    self._most[index] = max(self._most[index], (value, seconds), key=lambda pair: pair[0])
        self._known = (axis, series)

    def _shares(self, series: Sequence[Series], rows: int) -> list[tuple[int, int]]:
        """Return index and number of rows of each series, from the top: first lines, then series of single points.

        If there are too few rows, some series are left out, but not the last one.
        """
        order = sorted(range(len(series)), key=lambda at: not series[at].joined)
        if rows < len(order):  # keep the last series, because the tail of the latencies matters most
            order = [at for at in order if at != order[-2]][-rows:] if rows > 1 else order[-1:]
        height, remainder = divmod(rows, len(order))
        return [(at, height + (remainder if at == order[-1] else 0)) for at in order]

    def _name(self, data: ChartData, row: int, rows: int) -> tuple[str, str, int]:
        """Return the labels to the left and right of a row, and the style code of both.

        Only the last row of each band has labels; those of other rows are empty.
        """
        end_row = 0
        for index, high in self._shares(data.series, rows):
            end_row += high
            if row == end_row - 1:
                series = data.series[index]
                return clean(series.name), self._value(index, series, data), series_code(index)
        return "", "", GRID

    def _value(self, index: int, series: Series, data: ChartData) -> str:
        """Return the label with the last value of a line, or with the largest value of single points and its time."""
        if series.joined:
            last = next((value for _, value in reversed(series.points[-8:]) if value is not None), None)
            return "" if data.over or last is None or not math.isfinite(last) else data.y_format(last)
        value, seconds = self._most[index]
        return f"{data.y_format(value)} {units.elapsed(seconds)}" if value else ""

    def _band(self, frame: Frame, data: ChartData, index: int, rows: int) -> list[Row]:
        """Return the rows of one band, from the top."""
        largest = self._columns[index]
        levels = ASCII_LEVELS if frame.ascii_only else LEVELS
        low = math.log(min(largest.values(), default=1.0))
        high = max(math.log(max(largest.values(), default=1.0)), low + math.log(_LEAST_RATIO))
        full = rows * len(levels)
        heights = {
            column: 1 + round((math.log(value) - low) / (high - low) * (full - 1)) for column, value in largest.items()
        }
        code = series_code(index)
        cells = [[" "] * frame.columns for _ in range(rows)]
        codes = [bytearray([GRID]) * frame.columns for _ in range(rows)]
        for column, level in heights.items():
            whole, part = divmod(level, len(levels))
            for row in range(rows - whole - (part > 0), rows):
                cells[row][column] = levels[-1]
                codes[row][column] = code
            if part:
                cells[rows - whole - 1][column] = levels[part - 1]
        return [("".join(line), bytes(colours)) for line, colours in zip(cells, codes, strict=True)]


def _frame_row(frame: Frame, row: Row, name: tuple[str, str, int]) -> Row:
    """Return a row with the labels added on both sides."""
    text, codes = row
    left, right, code = name
    if frame.gutter:
        label_width = frame.gutter - 2
        text = f"{left[:label_width].rjust(label_width)} {'|' if frame.ascii_only else '│'}{text}"
        codes = bytes([code if left else LABEL] * (label_width + 1) + [AXIS]) + codes
    if frame.margin:
        label = right if len(right) < frame.margin else right.rpartition(" ")[0]
        text += f" {label[: frame.margin - 1]}".ljust(frame.margin)
        codes += bytes([code]) * frame.margin
    return text, codes
