"""Draws a graph of lines as rows of characters, with axes and dotted reference lines. Needs no terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from widgets.canvas import SOLID, Canvas, ascii_sign
from widgets.chart_data import ChartData, Point, Series
from widgets.plot_frame import (
    AXIS,
    FARTHEST,
    GRID,
    Frame,
    FramedDrawing,
    Row,
    axis_rows,
    draw_grid,
    fill_bands,
    gutter_of,
    time_span,
    write_notes,
)
from widgets.text_utils.text import clean

REFERENCE: Final = 1
"""Style code of the dotted reference lines."""
FIRST_SERIES: Final = 2
"""Style code of the first series. The codes of the other series follow."""

DASHES: Final = (SOLID, b"\1\0", b"\1\1\1\1\0\0", b"\1\1\1\1\0\1\0\0")
"""Dash patterns of the first four lines. Further lines repeat them."""
SAMPLES: Final = ("──", "··", "╌╌", "─·")
"""Samples of the dash patterns for the legend."""
ASCII_FIRST: Final = ".:"
"""Sample of the first series for the legend, in ASCII."""

NAMES_EVERY: Final = 0.95
"""Minimum seconds between updates of the values at line ends. Faster changes could not be read, and cost bytes."""

_REFERENCE_DASHES: Final = b"\1\0\0\0"


def series_code(index: int) -> int:
    """Return the style code of a series. If there are very many series, the last ones share a code."""
    return min(FIRST_SERIES + index, AXIS - 1)


def sample(series: tuple[Series, ...], index: int, *, ascii_only: bool) -> str:
    """Return the sample of a series for the legend."""
    if ascii_only:
        return ASCII_FIRST if index == 0 else ascii_sign(FIRST_SERIES + index) * 2
    return SAMPLES[_lines_before(series, index) % len(SAMPLES)] if series[index].joined else "⠂"


def _lines_before(series: tuple[Series, ...], index: int) -> int:
    """Return the number of lines before a series. Series of single points do not count, as they have no dashes."""
    return sum(line.joined for line in series[:index])


class Plot(FramedDrawing):
    """Graph that is drawn repeatedly. Parts that have not changed are not drawn again."""

    def __init__(self) -> None:
        super().__init__()
        self._series: tuple[Series, ...] = ()
        self._known: tuple[tuple[float, bool, tuple[float, ...]], tuple[Series, ...]] = ((0.0, False, ()), ())
        self._canvas = Canvas(0, 0)
        self._rows: list[Row] = []
        self._cells: list[tuple[bytes, bytes, Row]] = []
        self._names: dict[int, Row] = {}
        self._named, self._over = -1.0, False

    def draw(
        self,
        data: ChartData,
        width: int,
        height: int,
        *,
        log: bool = False,
        window: float = 0.0,
        ascii_only: bool = False,
    ) -> list[Row]:
        """Return a new list of rows, each of `width` characters.

        Rows that have not changed are the same objects as before. `log`: whether the vertical axis is logarithmic.
        `window`: seconds to show, up to the newest point; 0 for all. `ascii_only`: use no braille and line characters.
        """
        if width < 1 or height < 1:
            return []
        start, end = time_span(data, window)
        values = self._extremes(data.series, start, end, log)
        frame = self._framer.lay_out(
            data, width, height, span=(start, end), values=values, log=log, ascii_only=ascii_only
        )
        # While the frame is unchanged, only new points are drawn. This makes a live graph cheap.
        grows = frame == self._frame and has_only_new_points(data.series, self._series)
        if not grows:
            self._canvas = Canvas(frame.columns, frame.rows)
            self._cells = [(b"", b"", _NO_NAME)] * frame.rows
            self._rows = [("", b"")] * frame.rows + axis_rows(frame)
            for value in frame.references:
                y = frame.ruler.dot_of(value)
                self._canvas.line(0, y, frame.columns * 2 - 1, y, REFERENCE, _REFERENCE_DASHES)
        for index, series in enumerate(data.series):
            start = len(self._series[index].points) if grows else 0
            self._trace(frame, series, start, index, _lines_before(data.series, index))
        self._frame, self._series = frame, data.series
        newest = max((series.points[-1][0] for series in data.series if series.points), default=0.0)
        changed = self._canvas.touched if grows else set(range(frame.rows))
        if not grows or data.over != self._over or not self._named <= newest < self._named + NAMES_EVERY:
            self._named, self._over = newest, data.over
            before = self._names.keys() if grows else ()  # a new frame may have fewer rows
            self._names = end_names(frame, data) if frame.margin else {}
            changed.update(before, self._names)
        self._compose(frame, changed)
        self._canvas.touched = set()
        return list(self._rows)

    def _extremes(self, series: tuple[Series, ...], start: float, end: float, log: bool) -> tuple[float, ...]:
        """Return the minimum and the maximum visible value. If series have only grown, only new points are read."""
        cached, before = self._known if self._known[0][:2] == (start, log) else ((start, log, ()), ())
        grows = bool(before) and has_only_new_points(series, before)
        values = list(cached[2]) if grows else []
        for index, line in enumerate(series):
            points = line.points[len(before[index].points) :] if grows else line.points
            values += [
                value
                for seconds, value in points
                if value is not None and start <= seconds <= end and math.isfinite(value) and not (log and value <= 0.0)
            ]
        extremes = (min(values), max(values)) if values else ()
        self._known = ((start, log, extremes), series)
        return extremes

    def _trace(self, frame: Frame, series: Series, start: int, index: int, line: int) -> None:
        """Draw the points of a series from index `start` on. A line joins them to the point before."""
        points = series.points
        canvas, layer = self._canvas, series_code(index)
        dashes = DASHES[line % len(DASHES)]
        before = _dot(frame, points[start - 1]) if start else None
        for point in points[start:]:
            dot = _dot(frame, point)
            if dot is not None:
                # Do not draw a line across a gap, because it would suggest that there are measurements.
                if before is None or not series.joined:
                    canvas.dot(*dot, layer)
                else:
                    canvas.line(*before, *dot, layer, dashes)
            before = dot

    def _compose(self, frame: Frame, changed: Iterable[int]) -> None:
        """Compose the rows whose cells have changed. `changed`: rows that may have."""
        ticks = dict(frame.labels)
        unnamed = (" " * frame.margin, bytes([GRID]) * frame.margin)
        for row in changed:
            start = row * frame.columns
            name = self._names.get(row, unnamed)
            cells = (
                bytes(self._canvas.dots[start : start + frame.columns]),
                bytes(self._canvas.layers[start : start + frame.columns]),
                name,
            )
            # Keep the row object if its cells are equal, because only new objects are sent to the terminal.
            if cells == self._cells[row]:
                continue
            self._cells[row] = cells
            text, codes = fill_bands(frame, row, self._canvas.text(row, ascii_only=frame.ascii_only), cells[1])
            if row in ticks:
                text = draw_grid(text, frame.ascii_only)
            text, codes = write_notes(frame, row, text, codes)
            gutter, left = gutter_of(frame, ticks.get(row))
            self._rows[row] = (gutter + text + name[0], left + codes + name[1])


_NO_NAME: Final[Row] = ("", b"")


def end_names(frame: Frame, data: ChartData) -> dict[int, Row]:
    """Return the labels at the ends of lines: name and last value, by row. Each label has its own row.

    If there is only one line, its label is only the value. Otherwise, if there is no space for both, the label is only
    the name.
    """
    lines = [(index, series) for index, series in enumerate(data.series) if series.joined]
    ends = []
    for index, series in lines:
        value = next((value for _, value in reversed(series.points[-2:]) if value is not None), None)
        if value is not None and math.isfinite(value) and not (frame.ruler.log and value <= 0.0):
            value_text = "" if data.over else data.y_format(value)
            text = value_text if len(lines) == 1 else f"{series.name} {value_text}".rstrip()
            text = text if len(text) < frame.margin else series.name if len(lines) > 1 else value_text
            ends.append((frame.ruler.dot_of(value) // 4, -index, text, series_code(index)))
    names: dict[int, Row] = {}
    lowest = frame.rows
    for row, _, text, code in sorted(ends, reverse=True):  # from the lowest row up; a label whose row is taken moves up
        lowest = min(row, lowest - 1)
        if lowest < 0:
            break
        text = clean(text)[: frame.margin - 1]
        names[lowest] = (f" {text}".ljust(frame.margin), bytes([code]) * frame.margin)
    return names


def has_only_new_points(series: tuple[Series, ...], before: tuple[Series, ...]) -> bool:
    """Return whether the series differ from `before` only by points that were added at their ends."""
    return len(series) == len(before) and all(
        new.points[: len(old.points)] == old.points for new, old in zip(series, before, strict=True)
    )


def _dot(frame: Frame, point: Point) -> tuple[int, int] | None:
    seconds, value = point
    if value is None or not math.isfinite(value) or not abs(seconds) <= FARTHEST:
        return None
    if frame.ruler.log and value <= 0.0:
        return None
    return frame.dot_x(seconds), frame.ruler.dot_of(value)
