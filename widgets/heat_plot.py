"""Turns counts of values over time into rows of characters: a heat map, without a terminal."""

from __future__ import annotations

import math
from collections import Counter
from typing import Final

from widgets.chart_data import ChartData, HeatInterval
from widgets.plain.bins import bin_edge
from widgets.plot_frame import FARTHEST, Frame, FramedDrawing, Row, axis_rows, gutter_of, over_grid, time_span
from widgets.ruler import DOTS

LEVELS: Final = 7
"""How many strengths there are: from one of ten thousand to all."""
FIRST_LEVEL: Final = 10
"""Code of the faintest; the others follow."""
SIGNS: Final = " ░░▒▒▓▓█"
"""What each strength is drawn with, so that it is told without colour, too."""
ASCII_SIGNS: Final = " .:-=+#@"
"""The same without UTF-8."""

_RAREST: Final = 1e-4


def level_of(share: float) -> int:
    """The strength of a share of an interval's values, 0 for none: equal ratios are equal steps."""
    if share <= 0.0:
        return 0
    return 1 + int((LEVELS - 1) * min(max(1.0 - math.log10(share) / math.log10(_RAREST), 0.0), 1.0) + 1e-9)


class HeatPlot(FramedDrawing):
    """Draws one heat map after another; a new interval changes only its columns."""

    def __init__(self) -> None:
        super().__init__()
        self._heat: tuple[HeatInterval, ...] = ()
        self._extremes: tuple[int, int] | None = None
        self._columns: list[Counter[int]] = []
        self._cells: list[bytearray] = []
        self._rows: list[Row] = []

    def draw(
        self,
        data: ChartData,
        width: int,
        height: int,
        *,
        log: bool = True,
        window: float = 0.0,
        ascii_only: bool = False,
    ) -> list[Row]:
        """The rows, each `width` characters; unchanged rows are the same objects. `log` is passed over: it always is.

        Each column shows how the values of its time are spread: a cell's strength is its share of them.
        """
        if width < 1 or height < 1:
            return []
        heat = tuple(one for one in data.heat if abs(one.at) <= FARTHEST)
        known = self._heat
        more = len(heat) >= len(known) and heat[: len(known)] == known
        self._extremes = _extremes(heat[len(known) :] if more else heat, self._extremes if more else None)
        values = tuple(bin_edge(edge) for edge in self._extremes or ())
        frame = self._framer.lay_out(
            data, width, height, span=time_span(data, window), values=values, log=True, ascii_only=ascii_only
        )
        grows = more and frame == self._frame
        if not grows:
            self._columns = [Counter() for _ in range(frame.columns)]
            self._cells = [bytearray(frame.columns) for _ in range(frame.rows)]
            self._rows = [("", b"")] * frame.rows + axis_rows(frame)
        touched = {column for one in heat[len(known) if grows else 0 :] for column in self._add(frame, one)}
        changed = self._fill(frame, touched)
        for row in range(frame.rows):
            if row in changed or not grows:
                self._rows[row] = _composed(frame, row, self._cells[row])
        self._frame, self._heat = frame, heat
        return list(self._rows)

    def _add(self, frame: Frame, one: HeatInterval) -> range:
        """Counts an interval in every column that it ends in or passes through; they are returned."""
        if not frame.start <= one.at <= frame.end:
            return range(0)
        last = frame.column_of(one.at)
        columns = range(min(frame.column_of(max(one.at - one.seconds, frame.start)) + 1, last), last + 1)
        for column in columns:
            for place, count in enumerate(one.counts, one.first):
                if count > 0:
                    self._columns[column][place] += count
        return columns

    def _fill(self, frame: Frame, columns: set[int]) -> set[int]:
        """Sets the strengths of these columns; returns the rows in which any is another than before."""
        changed = set()
        for column in columns:
            counts = self._columns[column]
            whole = sum(counts.values())
            shares = [0.0] * frame.rows
            for place, count in counts.items():
                for row in _rows_of(frame, place):
                    shares[row] += count / whole
            for row, share in enumerate(shares):
                level = level_of(share)
                if self._cells[row][column] != level:
                    self._cells[row][column] = level
                    changed.add(row)
        return changed


def _extremes(heat: tuple[HeatInterval, ...], known: tuple[int, int] | None) -> tuple[int, int] | None:
    """The lowest edge and the highest of all bins with a count."""
    edges = list(known or ())
    for one in heat:
        filled = [place for place, count in enumerate(one.counts, one.first) if count > 0]
        if filled:
            edges += (filled[0], filled[-1] + 1)
    return (min(edges), max(edges)) if edges else None


def _rows_of(frame: Frame, place: int) -> range:
    """The rows that a bin covers: where a row is higher than a bin, the one that its middle is in."""
    below, above = (frame.ruler.place_of(bin_edge(edge)) / DOTS for edge in (place, place + 1))
    first, last = math.floor(above + 0.5), math.floor(below - 0.5)
    if first > last:
        first = last = math.floor((above + below) / 2.0)
    return range(min(max(first, 0), frame.rows - 1), min(max(last, 0), frame.rows - 1) + 1)


def _composed(frame: Frame, row: int, levels: bytearray) -> Row:
    signs = ASCII_SIGNS if frame.ascii_only else SIGNS
    text = "".join(signs[level] for level in levels)
    label = dict(frame.labels).get(row)
    if label is not None:
        text = over_grid(text, frame.ascii_only)
    gutter, codes = gutter_of(frame, label)
    return gutter + text, codes + bytes(FIRST_LEVEL + level - 1 if level else 0 for level in levels)
