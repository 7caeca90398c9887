"""Turns series of points into rows of characters: axes, dotted references and lines, without a terminal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from widgets.canvas import SOLID, Canvas, ascii_sign
from widgets.chart_data import ChartData, Point, Series
from widgets.plain.text import clean, width_of
from widgets.ruler import Ruler, ruler
from widgets.scale import AxisSpan, fit, time_ceiling, time_label, time_ticks

Row = tuple[str, bytes]
"""The characters of a row and, for each, the code of its style."""

GRID: Final = 0
"""Code of empty cells and of the grid."""
REFERENCE: Final = 1
"""Code of the dotted reference lines."""
FIRST_SERIES: Final = 2
"""Code of the first series; the others follow."""
AXIS: Final = 250
"""Code of the axes."""
LABEL: Final = 251
"""Code of the labels at the ticks."""
MARK: Final = 252
"""Code of what is marked on the time axis."""

DASHES: Final = (SOLID, b"\1\0", b"\1\1\1\1\0\0", b"\1\1\1\1\0\1\0\0")
"""Which columns of dots the first, second, third and fourth series fill."""
SAMPLES: Final = ("──", "··", "╌╌", "─·")
"""How the legend shows these dashes."""
ASCII_FIRST: Final = ".:"
"""How the legend shows the first series in ASCII."""

_REFERENCE_DASHES: Final = b"\1\0\0\0"
_FARTHEST: Final = 1e12
_LEAST_GUTTER: Final = 10
"""Columns left of every graph: room for `99.9 ms`, so that graphs above one another have one time axis."""


def sample(index: int, *, ascii_only: bool, joined: bool = True) -> str:
    """The sign of a series in the legend, by its place."""
    if not joined:
        return ascii_sign(FIRST_SERIES + index) if ascii_only else "⠂"
    if not ascii_only:
        return SAMPLES[index % len(SAMPLES)]
    return ASCII_FIRST if index == 0 else ascii_sign(FIRST_SERIES + index) * 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """Where things lie: while it stays equal, a new sample only adds dots."""

    width: int
    height: int
    gutter: int
    axis_rows: int
    start: float
    end: float
    ruler: Ruler
    labels: tuple[tuple[int, str], ...]
    ascii_only: bool
    references: tuple[float, ...]
    x_label: str
    shaded: float
    marks: tuple[tuple[float, str], ...]

    @property
    def columns(self) -> int:
        return self.width - self.gutter

    @property
    def rows(self) -> int:
        return self.height - self.axis_rows

    def dot_x(self, seconds: float) -> int:
        return round((seconds - self.start) / (self.end - self.start) * (self.columns * 2 - 1))

    def column_of(self, seconds: float) -> int:
        return min(max(self.dot_x(seconds) // 2, 0), self.columns - 1)


class Plot:
    """Draws one graph after another; what did not change since the last one is not drawn again."""

    def __init__(self) -> None:
        self._frame: _Frame | None = None
        self._series: tuple[Series, ...] = ()
        self._scale: AxisSpan | None = None
        self._known: tuple[tuple[float, bool, tuple[float, ...]], tuple[Series, ...]] = ((0.0, False, ()), ())
        self._gutter = 0
        self._canvas = Canvas(0, 0)
        self._rows: list[Row] = []
        self._cells: list[tuple[bytes, bytes]] = []

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
        """The rows of the graph, each `width` characters; the list is a new one, unchanged rows are the same objects.

        Args:
            data: What to draw.
            width: Columns available.
            height: Rows available.
            log: Whether the vertical axis is logarithmic.
            window: Seconds shown, up to the newest; 0 for all.
            ascii_only: Whether to do without braille and lines.
        """
        if width < 1 or height < 1:
            return []
        frame = self._arrange(data, width, height, log, window, ascii_only)
        # The one thing that makes a live graph cheap: as long as nothing moved, only the new points are drawn.
        grows = frame == self._frame and _extends(data.series, self._series)
        if not grows:
            self._canvas = Canvas(frame.columns, frame.rows)
            self._cells = [(b"", b"")] * frame.rows
            self._rows = [("", b"")] * frame.rows + _axis_rows(frame)
            for value in frame.references:
                y = frame.ruler.dot_of(value)
                self._canvas.line(0, y, frame.columns * 2 - 1, y, REFERENCE, _REFERENCE_DASHES)
        for index, series in enumerate(data.series):
            start = len(self._series[index].points) if grows else 0
            self._trace(frame, series, start, index)
        self._frame, self._series = frame, data.series
        self._compose(frame)
        return list(self._rows)

    def _arrange(self, data: ChartData, width: int, height: int, log: bool, window: float, ascii_only: bool) -> _Frame:
        start, end = _time_span(data, window)
        values = self._extremes(data.series, start, end, log)
        references = tuple(reference.value for reference in data.references if math.isfinite(reference.value))
        # The scale of before goes in, so that it changes seldom: every change redraws all.
        self._scale = fit((*values, *references), log=log, previous=self._scale)
        # Below seven rows the axis would take a third of the graph.
        axis_rows = 2 if height >= 7 else 1 if height >= 4 else 0
        rows = height - axis_rows
        laid = ruler(self._scale, max(1, rows))
        labels = tuple((row, clean(data.y_format(tick))) for row, tick in laid.ticks)
        gutter = 0
        if width >= 20 and rows >= 2:
            widest = max((width_of(label) for _, label in labels), default=0)
            if self._frame is None or self._frame.width != width:
                self._gutter = 0
            # Only ever wider: a gutter that follows the labels would shift the whole graph with every new digit.
            self._gutter = max(self._gutter, min(widest, width // 3) + 2, _LEAST_GUTTER)
            gutter = self._gutter
        return _Frame(
            width=width,
            height=height,
            gutter=gutter,
            axis_rows=axis_rows,
            start=start,
            end=end,
            ruler=laid,
            labels=labels,
            ascii_only=ascii_only,
            references=tuple(value for value in references if value > 0 or not log),
            x_label=data.x_label,
            shaded=data.shaded_until,
            marks=tuple((mark.at, mark.sign) for mark in data.marks),
        )

    def _extremes(self, series: tuple[Series, ...], start: float, end: float, log: bool) -> tuple[float, ...]:
        """The least and greatest value in sight; of a line that only grew, no more than its new points are read."""
        known, before = self._known if self._known[0][:2] == (start, log) else ((start, log, ()), ())
        grows = bool(before) and _extends(series, before)
        values = list(known[2]) if grows else []
        for index, line in enumerate(series):
            points = line.points[len(before[index].points) :] if grows else line.points
            values += [
                value
                for seconds, value in points
                if value is not None and start <= seconds <= end and math.isfinite(value) and not (log and value <= 0.0)
            ]
        found = (min(values), max(values)) if values else ()
        self._known = ((start, log, found), series)
        return found

    def _trace(self, frame: _Frame, series: Series, start: int, index: int) -> None:
        """Draws the points from `start` on, joined to the one before."""
        points = series.points
        canvas, layer = self._canvas, min(FIRST_SERIES + index, AXIS - 1)
        dashes = DASHES[index % len(DASHES)]
        before = _dot(frame, points[start - 1]) if start else None
        for point in points[start:]:
            here = _dot(frame, point)
            if here is not None:
                # A gap (nothing measured) is left open: a line across it would be a claim.
                if before is None or not series.joined:
                    canvas.dot(*here, layer)
                else:
                    canvas.line(*before, *here, layer, dashes)
            before = here

    def _compose(self, frame: _Frame) -> None:
        """Writes the rows whose cells changed."""
        ticks = dict(frame.labels)
        for row in range(frame.rows):
            start = row * frame.columns
            cells = (
                bytes(self._canvas.dots[start : start + frame.columns]),
                bytes(self._canvas.layers[start : start + frame.columns]),
            )
            # Equal cells keep the same row object, and Textual sends only rows that are other objects.
            if cells == self._cells[row]:
                continue
            self._cells[row] = cells
            text = _shaded(frame, self._canvas.text(row, ascii_only=frame.ascii_only))
            if row in ticks:
                text = _over_grid(text, frame.ascii_only)
            gutter, codes = _gutter(frame, ticks.get(row))
            self._rows[row] = (gutter + text, codes + cells[1])


def _extends(series: tuple[Series, ...], before: tuple[Series, ...]) -> bool:
    """Whether every series is the one of before with points added at the end."""
    return len(series) == len(before) and all(
        new.points[: len(old.points)] == old.points for new, old in zip(series, before, strict=True)
    )


def _dot(frame: _Frame, point: Point) -> tuple[int, int] | None:
    seconds, value = point
    if value is None or not math.isfinite(value) or not abs(seconds) <= _FARTHEST:
        return None
    if frame.ruler.log and value <= 0.0:
        return None
    return frame.dot_x(seconds), frame.ruler.dot_of(value)


def _time_span(data: ChartData, window: float) -> tuple[float, float]:
    """The first and last second shown. A window moves on by a quarter of itself, so that it mostly stands still."""
    newest = max(
        (seconds for series in data.series for seconds, _ in series.points[-1:] if abs(seconds) <= _FARTHEST),
        default=0.0,
    )
    newest = max(newest, 0.0)
    length = data.x_max if data.x_max is not None and 0.0 < data.x_max <= _FARTHEST else None
    end = length if length is not None and length >= newest else time_ceiling(newest)
    if not 0.001 <= window < end:
        return 0.0, end
    step = window / 4.0
    # It jumps by a quarter instead of scrolling: a scrolled graph is sent anew four times a second.
    start = max(0.0, math.ceil((newest - window) / step) * step)
    return start, start + window


def _shaded(frame: _Frame, text: str) -> str:
    """A row with what does not count filled faintly where nothing is drawn."""
    if frame.shaded <= frame.start:
        return text
    until = frame.column_of(min(frame.shaded, frame.end)) + 1
    return text[:until].replace(" ", ":" if frame.ascii_only else "░") + text[until:]


def _gutter(frame: _Frame, label: str | None) -> Row:
    """What stands left of a row: the label of its tick and the axis."""
    if not frame.gutter:
        return "", b""
    room = frame.gutter - 2
    if label is None:
        return " " * (room + 1) + ("|" if frame.ascii_only else "│"), bytes([GRID] * (room + 1) + [AXIS])
    text = label[:room] if width_of(label) == len(label) else "?"
    text = text.rjust(room) + " " + ("+" if frame.ascii_only else "┤")
    return text, bytes([LABEL] * (room + 1) + [AXIS])


def _over_grid(text: str, ascii_only: bool) -> str:
    """A row of a tick: faint points where nothing is drawn."""
    point = "." if ascii_only else "·"
    step = 6 if ascii_only else 4
    return "".join(point if cell == " " and column % step == step - 1 else cell for column, cell in enumerate(text))


def _axis_rows(frame: _Frame) -> list[Row]:
    """The horizontal axis and the labels under it, as far as there is room."""
    if not frame.axis_rows:
        return []
    most = max(1, frame.columns // 14)
    ticks = [
        (frame.gutter + frame.dot_x(tick) // 2, time_label(tick, frame.end))
        for tick in time_ticks(frame.start, frame.end, most + 1)
    ]
    labels = [" "] * frame.width
    free = 0
    for column, label in ticks:
        left = min(max(column - len(label) // 2, 0), frame.width - len(label))
        if left >= free:
            labels[left : left + len(label)] = label
            free = left + len(label) + 2
    name = clean(frame.x_label)
    if name and width_of(name) == len(name) and free + len(name) <= frame.width:
        labels[frame.width - len(name) :] = name
    rows: list[Row] = [("".join(labels), bytes([LABEL]) * frame.width)]
    if frame.axis_rows > 1:
        line, corner, tee = ("-", "+", "+") if frame.ascii_only else ("─", "└", "┬")
        axis = [" "] * max(0, frame.gutter - 1) + [corner] * min(1, frame.gutter) + [line] * frame.columns
        for column, _ in ticks:
            if frame.gutter <= column < frame.width:
                axis[column] = tee
        codes = bytearray([AXIS]) * frame.width
        for seconds, sign in frame.marks:
            if frame.start <= seconds <= frame.end:
                column = frame.gutter + frame.column_of(seconds)
                axis[column], codes[column] = sign, MARK
        rows.insert(0, ("".join(axis), bytes(codes)))
    return rows
