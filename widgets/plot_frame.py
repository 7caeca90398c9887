"""The frame of a graph: axes, ticks, marks, and where a second and a value lie. Without a terminal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from widgets.axis_ticks import DOTS, Ruler, ruler
from widgets.chart_data import ChartData, Reference, TimeMark
from widgets.scale import AxisSpan, fit, time_ceiling, time_label, time_ticks
from widgets.text_utils.text import clean, width_of

Row = tuple[str, bytes]
"""The characters of a row and, for each, the code of its style."""

GRID: Final = 0
"""Code of empty cells and of the grid."""
AXIS: Final = 250
"""Code of the axes."""
LABEL: Final = 251
"""Code of the labels at the ticks."""
MARK: Final = 252
"""Code of what is marked on the time axis and spoils what is measured."""
NOTE: Final = 253
"""Code of what is marked there and only worth knowing."""
BAND: Final = 254
"""Code of the band around a dotted line."""

_LEAST_NOTED: Final = 4
"""Rows beyond which there is room for words in a graph."""
FARTHEST: Final = 1e12
"""Seconds beyond are no seconds."""
SHORTEST: Final = 0.001
"""Seconds that an axis spans at least: a division by less is no number."""
_MARGIN: Final = 8
"""Columns right of a graph: room for `1.16 ms`."""
_WIDE_MARGIN: Final = 14
"""The same with the name before it, `p99.9 1.16 ms`."""
_NARROW: Final = 60
_WIDE: Final = 100
_LEAST_GUTTER: Final = 10
"""Columns left of every graph: room for `99.9 ms`, so that graphs above one another have one time axis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Where things lie: while it stays equal, a new sample only adds to what is drawn."""

    width: int
    """Columns of all."""
    height: int
    """Rows of all."""
    gutter: int
    """Columns left of the graph."""
    axis_rows: int
    """Rows below it."""
    start: float
    """First second shown."""
    end: float
    """Last second shown."""
    ruler: Ruler
    """The vertical axis."""
    labels: tuple[tuple[int, str], ...]
    """Labels of its ticks with their rows."""
    ascii_only: bool
    """Whether to do without UTF-8."""
    references: tuple[float, ...]
    """Where the dotted lines lie."""
    bands: tuple[tuple[float, float], ...]
    """Lower and upper ends of the bands around them."""
    x_ticks: tuple[tuple[float, str], ...]
    """Places on the horizontal axis with their labels; none where it measures time."""
    x_label: str
    """What the horizontal axis measures."""
    shaded: float
    """Seconds at the beginning that do not count."""
    shaded_text: str
    """What they are called."""
    marks: tuple[TimeMark, ...]
    """What happened when."""
    margin: int = 0
    """Columns right of the graph, for what the lines are called."""

    @property
    def columns(self) -> int:
        """Columns of the graph itself."""
        return self.width - self.gutter - self.margin

    @property
    def rows(self) -> int:
        """Rows of the graph itself."""
        return self.height - self.axis_rows

    @property
    def shaded_columns(self) -> int:
        """Columns of the graph, from its left, that do not count."""
        return self.column_of(min(self.shaded, self.end)) + 1 if self.shaded > self.start else 0

    def dot_x(self, seconds: float) -> int:
        """The dot of a second, from the left of the graph."""
        return round((seconds - self.start) / (self.end - self.start) * (self.columns * 2 - 1))

    def column_of(self, seconds: float) -> int:
        """The column of a second, the first or last for one beyond."""
        return min(max(self.dot_x(seconds) // 2, 0), self.columns - 1)


class PlotLayout:
    """Lays out one graph after another: what is shown stands still as long as it can."""

    def __init__(self) -> None:
        self._scale: AxisSpan | None = None
        self._gutter = 0
        self._width = -1

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
        """Where everything lies: `span` in seconds, `values` the least and the greatest that is shown."""
        references = tuple(reference.value for reference in data.references if math.isfinite(reference.value))
        # The scale of before goes in, so that it changes seldom: every change redraws all.
        bands = tuple(
            (reference.value - reference.half, reference.value + reference.half)
            for reference in data.references
            if reference.half > 0.0
        )
        bands = tuple(band for band in bands if all(map(math.isfinite, band)) and not (log and band[0] <= 0.0))
        edges = tuple(edge for band in bands for edge in band)
        self._scale = fit((*values, *references, *edges), log=log, close=data.close, previous=self._scale)
        # Below seven rows the axis would take a third of the graph.
        below = 2 if height >= 7 else 1 if height >= 4 else 0
        rows = height - below
        laid = ruler(self._scale, max(1, rows))
        labels = tuple((row, clean(data.y_format(tick))) for row, tick in laid.ticks)
        gutter = 0
        if width >= 20 and rows >= 2:
            widest = max((width_of(label) for _, label in labels), default=0)
            if self._width != width:
                self._gutter = 0
            # Only ever wider: a gutter that follows the labels would shift the whole graph with every new digit.
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
            ruler=laid,
            labels=labels,
            ascii_only=ascii_only,
            references=tuple(reference.value for reference in data.references if _is_line(reference, log)),
            x_ticks=data.x_ticks,
            bands=bands,
            x_label=data.x_label,
            shaded=data.shaded_until,
            shaded_text=clean(data.shaded_text),
            marks=data.marks,
            margin=margin_of(width) if data.ends and gutter else 0,
        )


def margin_of(width: int) -> int:
    """Columns for the names of lines at their ends, with their values where the graph is wide: the same in all graphs
    of a width, so that those above one another have one time axis.
    """
    return _WIDE_MARGIN if width >= _WIDE else _MARGIN if width >= _NARROW else 0


class FramedDrawing:
    """What draws within a frame, and keeps the last one."""

    def __init__(self) -> None:
        self._framer = PlotLayout()
        self._frame: Frame | None = None

    @property
    def shaded(self) -> range:
        """Columns of the last drawing that do not count."""
        frame = self._frame
        return range(0) if frame is None else range(frame.gutter, frame.gutter + frame.shaded_columns)

    @property
    def rows(self) -> int:
        """Its rows above the axis."""
        return 0 if self._frame is None else self._frame.rows


def _is_line(reference: Reference, log: bool) -> bool:
    """Whether it is drawn as a line: one with a band is that."""
    return math.isfinite(reference.value) and not reference.half and (reference.value > 0.0 or not log)


def time_span(data: ChartData, window: float) -> tuple[float, float]:
    """The first and last second shown. A window moves on by a quarter of itself, so that it mostly stands still."""
    ends = [seconds for series in data.series for seconds, _ in series.points[-1:]]
    ends += [interval.at for interval in data.heat[-1:]]
    newest = max((seconds for seconds in ends if 0.0 <= seconds <= FARTHEST), default=0.0)
    length = data.x_max if data.x_max is not None and SHORTEST <= data.x_max <= FARTHEST else None
    end = length if length is not None and length >= newest else time_ceiling(newest)
    if not SHORTEST <= window < end:
        return 0.0, end
    step = window / 4.0
    # It jumps by a quarter instead of scrolling: a scrolled graph is sent anew four times a second.
    start = max(0.0, math.ceil((newest - window) / step) * step)
    return start, start + window


def fill_bands(frame: Frame, row: int, text: str, codes: bytes) -> Row:
    """Return a row with the bands filled faintly where nothing is drawn."""
    for low, high in frame.bands:
        if frame.ruler.dot_of(high) // DOTS <= row <= frame.ruler.dot_of(low) // DOTS:
            codes = bytes(BAND if char == " " else code for char, code in zip(text, codes, strict=True))
            text = text.replace(" ", ":" if frame.ascii_only else "░")
    return text, codes


def write_notes(frame: Frame, row: int, text: str, codes: bytes) -> Row:
    """A row with what is said in it: in the first what happened, from its second on; in the last what is shaded, and
    where there is room neither for words nor for a line of the axis the signs of what happened.
    """
    notes: list[tuple[int, str, int]] = []
    if row == 0:
        marks = _in_sight(frame) if frame.rows > _LEAST_NOTED else []
        notes = [
            (frame.column_of(mark.at), f"{mark.sign} {clean(mark.text)}", MARK if mark.bad else NOTE) for mark in marks
        ]
    if row == frame.rows - 1 and frame.rows > _LEAST_NOTED and len(frame.shaded_text) + 2 <= frame.shaded_columns:
        notes.append(((frame.shaded_columns - len(frame.shaded_text)) // 2, frame.shaded_text, LABEL))
    if row == frame.rows - 1 and frame.axis_rows < 2 and frame.rows <= _LEAST_NOTED:  # no words, no line to mark
        notes += [(frame.column_of(mark.at), mark.sign, MARK if mark.bad else NOTE) for mark in _in_sight(frame)]
    free = 0
    for column, note, code in sorted(notes):
        left = min(column, frame.columns - len(note))
        if left >= free:
            text = text[:left] + note + text[left + len(note) :]
            codes = codes[:left] + bytes([code]) * len(note) + codes[left + len(note) :]
            free = left + len(note) + 1
    return text, codes


def _in_sight(frame: Frame) -> list[TimeMark]:
    """Those in sight that say something."""
    return [mark for mark in frame.marks if mark.text and frame.start <= mark.at <= frame.end]


def gutter_of(frame: Frame, label: str | None) -> Row:
    """What stands left of a row: the label of its tick and the axis."""
    if not frame.gutter:
        return "", b""
    room = frame.gutter - 2
    if label is None:
        return " " * (room + 1) + ("|" if frame.ascii_only else "│"), bytes([GRID] * (room + 1) + [AXIS])
    text = label[:room] if width_of(label) == len(label) else "?"
    text = text.rjust(room) + " " + ("+" if frame.ascii_only else "┤")
    return text, bytes([LABEL] * (room + 1) + [AXIS])


def draw_grid(text: str, ascii_only: bool) -> str:
    """Return a row of a tick with faint points where nothing is drawn."""
    point = "." if ascii_only else "·"
    step = 6 if ascii_only else 4
    return "".join(point if cell == " " and column % step == step - 1 else cell for column, cell in enumerate(text))


def _ticks(frame: Frame) -> list[tuple[float, str]]:
    """What is labelled on the horizontal axis."""
    if frame.x_ticks:
        return [(position, clean(label)) for position, label in frame.x_ticks if frame.start <= position <= frame.end]
    most = max(1, frame.columns // 14)
    return [(tick, time_label(tick, frame.end)) for tick in time_ticks(frame.start, frame.end, most + 1)]


def axis_rows(frame: Frame) -> list[Row]:
    """The horizontal axis and the labels under it, as far as there is room."""
    if not frame.axis_rows:
        return []
    ticks = [(frame.gutter + frame.dot_x(position) // 2, label) for position, label in _ticks(frame)]
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
