"""The frame of a graph: its axes, ticks and marks, and the positions of times and values. Needs no terminal."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from widgets.axis_ticks import DOTS, Ruler, ruler
from widgets.chart_data import ChartData, Reference, TimeMark
from widgets.scale import AxisSpan, fit, time_ceiling, time_label, time_ticks
from widgets.text_utils.text import clean, width_of

Row = tuple[str, bytes]
"""Characters of a row, and the style code of each character."""

GRID: Final = 0
"""Style code of empty cells and of the grid."""
AXIS: Final = 250
"""Style code of the axes."""
LABEL: Final = 251
"""Style code of tick labels."""
MARK: Final = 252
"""Style code of marks for events that affect the results."""
NOTE: Final = 253
"""Style code of marks for other events."""
BAND: Final = 254
"""Style code of the bands of references."""

_LEAST_NOTED: Final = 4
"""A graph with more than this number of rows has space for the texts of events."""
FARTHEST: Final = 1e12
"""Largest valid time in seconds. Points beyond it are not drawn."""
SHORTEST: Final = 0.001
"""Minimum span of a time axis in seconds. It avoids a division by zero."""
_MARGIN: Final = 8
"""Columns to the right of a graph, with space for a value such as `1.16 ms`."""
_WIDE_MARGIN: Final = 14
"""Columns to the right of a wide graph, with space for name and value, such as `p99.9 1.16 ms`."""
_NARROW: Final = 60
_WIDE: Final = 100
_LEAST_GUTTER: Final = 10
"""Minimum number of columns to the left of a graph, with space for `99.9 ms`.

It is the same for all graphs, so that the time axes of graphs above each other are aligned.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Layout of a graph. As long as two layouts are equal, new points can be added to the existing drawing."""

    width: int
    """Total number of columns."""
    height: int
    """Total number of rows."""
    gutter: int
    """Number of columns to the left of the graph, for the labels of the vertical axis."""
    axis_rows: int
    """Number of rows below the graph, for the time axis."""
    start: float
    """Time in seconds at the left edge."""
    end: float
    """Time in seconds at the right edge."""
    ruler: Ruler
    """Vertical axis."""
    labels: tuple[tuple[int, str], ...]
    """Row and label of each tick on the vertical axis."""
    ascii_only: bool
    """Whether to use only ASCII characters."""
    references: tuple[float, ...]
    """Values at which dotted lines are drawn."""
    bands: tuple[tuple[float, float], ...]
    """Lower and upper end of each band."""
    shaded: float
    """Time in seconds up to which the graph is shaded; 0 for no shading."""
    shaded_text: str
    """Label of the shaded range."""
    marks: tuple[TimeMark, ...]
    """Events on the time axis."""
    margin: int = 0
    """Number of columns to the right of the graph, for the names of lines."""

    @property
    def columns(self) -> int:
        """Number of columns of the graph itself."""
        return self.width - self.gutter - self.margin

    @property
    def rows(self) -> int:
        """Number of rows of the graph itself."""
        return self.height - self.axis_rows

    @property
    def shaded_columns(self) -> int:
        """Number of shaded columns, from the left."""
        return self.column_of(min(self.shaded, self.end)) + 1 if self.shaded > self.start else 0

    def dot_x(self, seconds: float) -> int:
        """Return the position of a time, in dots from the left of the graph."""
        return round((seconds - self.start) / (self.end - self.start) * (self.columns * 2 - 1))

    def column_of(self, seconds: float) -> int:
        """Return the column of a time, limited to the columns of the graph."""
        return min(max(self.dot_x(seconds) // 2, 0), self.columns - 1)


class PlotLayout:
    """Computes the layout for each drawing of a graph. The layout changes as rarely as possible."""

    def __init__(self) -> None:
        self._scale: AxisSpan | None = None
        self._gutter = 0
        self._width = -1
        self._labels_of: tuple[Ruler, Callable[[float], str]] | None = None
        self._labels: tuple[tuple[int, str], ...] = ()

    def lay_out(
        self,
        data: ChartData,
        width: int,
        height: int,
        *,
        span: tuple[float, float],
        values: tuple[float, ...],
        log: bool,
        ascii_only: bool,
    ) -> Frame:
        """Return the layout. `span`: first and last visible second.

        `values`: minimum and maximum of the visible values.
        """
        references = tuple(reference.value for reference in data.references if math.isfinite(reference.value))
        # The scale depends on the previous one, so that it changes rarely. Each change redraws everything.
        bands = tuple(
            (reference.value - reference.half, reference.value + reference.half)
            for reference in data.references
            if reference.half > 0.0
        )
        bands = tuple(band for band in bands if all(map(math.isfinite, band)) and not (log and band[0] <= 0.0))
        edges = tuple(edge for band in bands for edge in band)
        self._scale = fit((*values, *references, *edges), log=log, close=data.close, previous=self._scale)
        # With fewer than seven rows, an axis of two rows would take a third of the graph.
        below = 2 if height >= 7 else 1 if height >= 4 else 0
        rows = height - below
        axis = ruler(self._scale, max(1, rows))
        if self._labels_of != (axis, data.y_format):
            self._labels_of = (axis, data.y_format)
            self._labels = tuple((row, clean(data.y_format(tick))) for row, tick in axis.ticks)
        labels = self._labels
        gutter = 0
        if width >= 20 and rows >= 2:
            widest = max((width_of(label) for _, label in labels), default=0)
            if self._width != width:
                self._gutter = 0
            # The gutter only grows. If it followed the labels, the graph would shift with every new digit.
            self._gutter = max(self._gutter, min(widest, width // 3) + 2, _LEAST_GUTTER)
            gutter = self._gutter
        self._width = width
        return Frame(
            width=width,
            height=height,
            gutter=gutter,
            axis_rows=below,
            start=span[0],
            end=span[1],
            ruler=axis,
            labels=labels,
            ascii_only=ascii_only,
            references=tuple(reference.value for reference in data.references if _is_line(reference, log)),
            bands=bands,
            shaded=data.shaded_until,
            shaded_text=clean(data.shaded_text),
            marks=data.marks,
            margin=margin_of(width) if data.ends and gutter else 0,
        )


def margin_of(width: int) -> int:
    """Return the number of columns for the labels at line ends. A wide graph has space for names and values.

    The number depends only on the width, so that the time axes of graphs above each other are aligned.
    """
    return _WIDE_MARGIN if width >= _WIDE else _MARGIN if width >= _NARROW else 0


class FramedDrawing:
    """Base class of graphs that draw within a frame. It keeps the last frame."""

    has_names = False
    """Whether the last drawing shows the names of the series, so that the legend need not."""

    def __init__(self) -> None:
        self._framer = PlotLayout()
        self._frame: Frame | None = None

    @property
    def shaded(self) -> range:
        """Columns that are shaded in the last drawing."""
        frame = self._frame
        return range(0) if frame is None else range(frame.gutter, frame.gutter + frame.shaded_columns)

    @property
    def rows(self) -> int:
        """Number of rows above the axis in the last drawing."""
        return 0 if self._frame is None else self._frame.rows

    def draw(
        self, data: ChartData, width: int, height: int, *, log: bool, window: float, ascii_only: bool
    ) -> list[Row]:
        """Return the rows, each of `width` characters. Rows that have not changed are the same objects as before."""
        raise NotImplementedError


def _is_line(reference: Reference, log: bool) -> bool:
    """Return whether a reference is drawn as a dotted line. A reference with a band is not."""
    return math.isfinite(reference.value) and not reference.half and (reference.value > 0.0 or not log)


def time_span(data: ChartData, window: float) -> tuple[float, float]:
    """Return the first and the last visible second."""
    ends = [seconds for series in data.series for seconds, _ in series.points[-1:]]
    ends += [interval.at for interval in data.heat[-1:]]
    newest = max((seconds for seconds in ends if 0.0 <= seconds <= FARTHEST), default=0.0)
    length = data.x_max if data.x_max is not None and SHORTEST <= data.x_max <= FARTHEST else None
    end = length if length is not None and length >= newest else time_ceiling(newest)
    if not SHORTEST <= window < end:
        return 0.0, end
    step = window / 4.0
    # The window moves by a quarter of its length. If it moved with each sample, each sample would resend the graph.
    start = max(0.0, math.ceil((newest - window) / step) * step)
    return start, start + window


def fill_bands(frame: Frame, row: int, text: str, codes: bytes) -> Row:
    """Return a row in which the empty cells within bands are filled."""
    for low, high in frame.bands:
        if frame.ruler.dot_of(high) // DOTS <= row <= frame.ruler.dot_of(low) // DOTS:
            codes = bytes(BAND if char == " " else code for char, code in zip(text, codes, strict=True))
            text = text.replace(" ", ":" if frame.ascii_only else "░")
    return text, codes


def write_notes(frame: Frame, row: int, text: str, codes: bytes) -> Row:
    """Return a row with texts written into it.

    The texts of events are in the first row, each beginning at its time. The label of the shaded range is in the last
    row. If there is no space for texts and no axis line, the signs of events are in the last row.
    """
    notes: list[tuple[int, str, int]] = []
    if row == 0:
        marks = _visible_marks(frame) if frame.rows > _LEAST_NOTED else []
        notes = [
            (frame.column_of(mark.at), f"{mark.sign} {clean(mark.text)}", MARK if mark.bad else NOTE) for mark in marks
        ]
    if row == frame.rows - 1 and frame.rows > _LEAST_NOTED and len(frame.shaded_text) + 2 <= frame.shaded_columns:
        notes.append(((frame.shaded_columns - len(frame.shaded_text)) // 2, frame.shaded_text, LABEL))
    if row == frame.rows - 1 and frame.axis_rows < 2 and frame.rows <= _LEAST_NOTED:  # no space for texts
        notes += [(frame.column_of(mark.at), mark.sign, MARK if mark.bad else NOTE) for mark in _visible_marks(frame)]
    free = 0
    for column, note, code in sorted(notes):
        left = min(column, frame.columns - len(note))
        if left >= free:
            text = text[:left] + note + text[left + len(note) :]
            codes = codes[:left] + bytes([code]) * len(note) + codes[left + len(note) :]
            free = left + len(note) + 1
    return text, codes


def _visible_marks(frame: Frame) -> list[TimeMark]:
    """Return the events that have a text and are within the visible time."""
    return [mark for mark in frame.marks if mark.text and frame.start <= mark.at <= frame.end]


def gutter_of(frame: Frame, label: str | None) -> Row:
    """Return the text to the left of a row: the label of its tick (None for no tick) and the axis."""
    if not frame.gutter:
        return "", b""
    label_width = frame.gutter - 2
    if label is None:
        return " " * (label_width + 1) + ("|" if frame.ascii_only else "│"), bytes([GRID] * (label_width + 1) + [AXIS])
    text = label[:label_width] if width_of(label) == len(label) else "?"
    text = text.rjust(label_width) + " " + ("+" if frame.ascii_only else "┤")
    return text, bytes([LABEL] * (label_width + 1) + [AXIS])


def draw_grid(text: str, ascii_only: bool) -> str:
    """Return the row of a tick with the dots of the grid in its empty cells."""
    point = "." if ascii_only else "·"
    step = 6 if ascii_only else 4
    cells = list(text)
    for column in range(step - 1, len(cells), step):
        if cells[column] == " ":
            cells[column] = point
    return "".join(cells)


def axis_rows(frame: Frame) -> list[Row]:
    """Return the rows with the horizontal axis and its labels. If there is too little space, some are left out."""
    if not frame.axis_rows:
        return []
    times = time_ticks(frame.start, frame.end, max(1, frame.columns // 14) + 1)
    ticks = [(frame.gutter + frame.dot_x(tick) // 2, time_label(tick, frame.end)) for tick in times]
    labels = [" "] * frame.width
    free = 0
    for column, label in ticks:
        left = min(max(column - len(label) // 2, 0), frame.width - len(label))
        if left >= free:
            labels[left : left + len(label)] = label
            free = left + len(label) + 2
    rows: list[Row] = [("".join(labels), bytes([LABEL]) * frame.width)]
    if frame.axis_rows > 1:
        line, corner, tee = ("-", "+", "+") if frame.ascii_only else ("─", "└", "┬")
        axis = [" "] * max(0, frame.gutter - 1) + [corner] * min(1, frame.gutter) + [line] * frame.columns
        axis += [" "] * frame.margin
        for column, _ in ticks:
            if frame.gutter <= column < frame.gutter + frame.columns:
                axis[column] = tee
        codes = bytearray([AXIS]) * frame.width
        for mark in sorted(frame.marks, key=lambda mark: mark.bad):
            if frame.start <= mark.at <= frame.end:
                column = frame.gutter + frame.column_of(mark.at)
                axis[column], codes[column] = mark.sign, MARK if mark.bad else NOTE
        rows.insert(0, ("".join(axis), bytes(codes)))
    return rows
