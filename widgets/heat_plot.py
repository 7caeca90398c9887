"""Heat maps: shades for cells, a heat map as rows of characters, and the widget that shows it live."""

from __future__ import annotations

import math
from collections import Counter
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.reactive import reactive
from textual.strip import Strip

from widgets.axis_ticks import DOTS
from widgets.cached_styles import StyleCachedWidget
from widgets.chart import LegendPiece, LineChart
from widgets.chart_data import ChartData, HeatInterval
from widgets.plot_frame import FARTHEST, Frame, FramedDrawing, Row, axis_rows, draw_grid, gutter_of, time_span
from widgets.text_utils.text import clean, shorten
from widgets.text_utils.ticks import bin_edge

# -- background shades for values, and the line that explains them -----------------------------------------------------

SHADES: Final = 5
"""Number of shades."""

SHADE_CLASSES: Final = frozenset(f"shade--{at}" for at in range(SHADES))
"""Component classes of the shades. `shade--0` is the faintest."""

SHADE_CSS: Final = "\n".join(
    f"& > .shade--{at} {{ background: $primary {6 + 9 * at}%; color: $foreground; }}"
    f"&:ansi > .shade--{at} {{ background: ansi_default; }}"
    for at in range(SHADES)
)
"""CSS rules of the shades. In an ANSI theme there are no shades, because the 16 colours cannot be mixed."""


def shade_of(level: float) -> str:
    """Return the component class of the shade for a share from 0 to 1. Other values are limited to this range."""
    return f"shade--{min(SHADES - 1, max(0, int(level * SHADES)))}"


class ShadeScale(StyleCachedWidget):
    """Line that explains the shades: it shows them between a zero and `text`."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {*SHADE_CLASSES, "shade-scale--text"}
    DEFAULT_CSS = f"""
    ShadeScale {{
        height: 1;
        & > .shade-scale--text {{ color: $text-muted; }}
        {SHADE_CSS}
    }}
    """
    text: reactive[str] = reactive("")
    """Text after the shades: what the strongest one means, and further notes."""

    def render_line(self, y: int) -> Strip:
        """Return the line."""
        width, style = self.size.width, self.style_of("shade-scale--text")
        segments = [Segment("0 ", style)]
        segments += [Segment("  ", self.style_of(f"shade--{at}")) for at in range(SHADES)]
        used = 2 + 2 * SHADES
        segments.append(Segment(shorten(f" {clean(self.text)}", max(0, width - used)), style))
        return Strip(segments).adjust_cell_length(width, style)


# -- a heat map of counts over time as rows of characters; needs no terminal -------------------------------------------

LEVELS: Final = 7
"""Number of levels for the share of an interval's values, from one in ten thousand to all."""
FIRST_LEVEL: Final = 10
"""Style code of the faintest level. The codes of the other levels follow."""
SIGNS: Final = " ░░▒▒▓▓█"
"""Character of each level, from 0 on, so that levels also differ without colours."""
ASCII_SIGNS: Final = " .:-=+#@"
"""ASCII character of each level, from 0 on."""

_RAREST: Final = 1e-4


def level_of(share: float) -> int:
    """Return the level for a share of an interval's values; 0 for no values. Levels are logarithmic."""
    if share <= 0.0:
        return 0
    return 1 + int((LEVELS - 1) * min(max(1.0 - math.log10(share) / math.log10(_RAREST), 0.0), 1.0) + 1e-9)


class HeatPlot(FramedDrawing):
    """Heat map that is drawn repeatedly. A new interval changes only the columns that it covers."""

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
        """Return the rows, each of `width` characters. Rows that have not changed are the same objects as before.

        The axis is always logarithmic; `log` is ignored. The level of a cell depends on its share of the values in its
        column.
        """
        if width < 1 or height < 1:
            return []
        heat = tuple(interval for interval in data.heat if abs(interval.at) <= FARTHEST)
        drawn = self._heat
        is_extended = len(heat) >= len(drawn) and heat[: len(drawn)] == drawn
        self._extremes = _extremes(heat[len(drawn) :] if is_extended else heat, self._extremes if is_extended else None)
        values = tuple(bin_edge(edge) for edge in self._extremes or ())
        frame = self._framer.lay_out(
            data, width, height, span=time_span(data, window), values=values, log=True, ascii_only=ascii_only
        )
        grows = is_extended and frame == self._frame
        if not grows:
            self._columns = [Counter() for _ in range(frame.columns)]
            self._cells = [bytearray(frame.columns) for _ in range(frame.rows)]
            self._rows = [("", b"")] * frame.rows + axis_rows(frame)
        touched = {column for interval in heat[len(drawn) if grows else 0 :] for column in self._add(frame, interval)}
        changed = self._fill(frame, touched)
        for row in range(frame.rows):
            if row in changed or not grows:
                self._rows[row] = _compose_row(frame, row, self._cells[row])
        self._frame, self._heat = frame, heat
        return list(self._rows)

    def _add(self, frame: Frame, interval: HeatInterval) -> range:
        """Add the counts of an interval to all columns that it overlaps, and return these columns."""
        if not frame.start <= interval.at <= frame.end:
            return range(0)
        last = frame.column_of(interval.at)
        columns = range(min(frame.column_of(max(interval.at - interval.seconds, frame.start)) + 1, last), last + 1)
        for column in columns:
            for number, count in enumerate(interval.counts, interval.first):
                if count > 0:
                    self._columns[column][number] += count
        return columns

    def _fill(self, frame: Frame, columns: set[int]) -> set[int]:
        """Compute the levels of the cells in these columns, and return the rows that changed."""
        changed = set()
        for column in columns:
            counts = self._columns[column]
            total = sum(counts.values())
            shares = [0.0] * frame.rows
            for number, count in counts.items():
                for row in _rows_of(frame, number):
                    shares[row] += count / total
            for row, share in enumerate(shares):
                level = level_of(share)
                if self._cells[row][column] != level:
                    self._cells[row][column] = level
                    changed.add(row)
        return changed


def _extremes(heat: tuple[HeatInterval, ...], previous: tuple[int, int] | None) -> tuple[int, int] | None:
    """Return the lowest and the highest edge of all bins with counts; None if there are no counts."""
    edges = list(previous or ())
    for interval in heat:
        filled = [number for number, count in enumerate(interval.counts, interval.first) if count > 0]
        if filled:
            edges += (filled[0], filled[-1] + 1)
    return (min(edges), max(edges)) if edges else None


def _rows_of(frame: Frame, number: int) -> range:
    """Return the rows that a bin covers. If it is smaller than a row, return the row of its middle."""
    below, above = (frame.ruler.position_of(bin_edge(edge)) / DOTS for edge in (number, number + 1))
    first, last = math.floor(above + 0.5), math.floor(below - 0.5)
    if first > last:
        first = last = math.floor((above + below) / 2.0)
    return range(min(max(first, 0), frame.rows - 1), min(max(last, 0), frame.rows - 1) + 1)


def _compose_row(frame: Frame, row: int, levels: bytearray) -> Row:
    signs = ASCII_SIGNS if frame.ascii_only else SIGNS
    text = "".join(signs[level] for level in levels)
    label = dict(frame.labels).get(row)
    if label is not None:
        text = draw_grid(text, frame.ascii_only)
    gutter, codes = gutter_of(frame, label)
    return gutter + text, codes + bytes(FIRST_LEVEL + level - 1 if level else 0 for level in levels)


LEAST_CONTRAST: Final = 2.0
"""Minimum contrast of the faintest level to the background, because the tail of the latencies matters most."""


def faintest(ground: Color, color: Color) -> Color:
    """Return the colour between the background and `color` that is nearest to the background but still visible."""
    steps = (ground.blend(color, step / 20) for step in range(8, 20))
    return next((step for step in steps if contrast(step, ground) >= LEAST_CONTRAST), color)


def contrast(color: Color, other: Color) -> float:
    """Return the contrast of two colours, from 1 to 21, as defined in WCAG 2.2."""
    high, low = sorted((_luminance(color), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(color: Color) -> float:
    """Return the relative luminance of a colour, from 0 to 1."""
    channels = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in color.normalized
    )
    return sum(share * channel for share, channel in zip((0.2126, 0.7152, 0.0722), channels, strict=True))


# -- widget that shows a heat map live ---------------------------------------------------------------------------------


class HeatChart(LineChart):
    """Live heat map: time is horizontal, values are on a logarithmic vertical axis, and colours show shares.

    It shows what percentiles hide, such as two groups of latencies.
    """

    def make_plot(self) -> HeatPlot:
        """Return the object that draws the heat map."""
        return HeatPlot()

    def has_nothing(self, data: ChartData) -> bool:
        """Return whether the data has no intervals yet."""
        return not data.heat

    def legend(self, data: ChartData) -> tuple[LegendPiece, ...]:
        """Return the legend, which explains the levels."""
        signs = ASCII_SIGNS if self.ascii else SIGNS
        pieces: list[LegendPiece] = [("title", clean(self.title), None)] if self.title else []
        pieces.append(("legend", "0.01 %", None))
        for level in range(1, LEVELS + 1):
            pieces.append(("joined", signs[level], self.style_of_code(FIRST_LEVEL + level - 1)))
        pieces.append(("legend", "all I/Os of an interval", None))
        if self.frozen:
            pieces.append(("flag", "FROZEN", None))
        return tuple(pieces)

    def style_of_code(self, code: int) -> Style:
        """Return the style for a style code. Levels range from near the background colour to the warning colour."""
        level = code - FIRST_LEVEL + 1
        if not 1 <= level <= LEVELS:
            return super().style_of_code(code)
        style = self._styles_by_code.get(code)
        if style is None:
            names = ("background", "primary", "success", "warning", "error")
            background, *rest = (Color.parse(self.app.theme_variables.get(name, "#808080")) for name in names)
            stops = (faintest(background, rest[0]), *rest[:3], rest[2].blend(rest[3], 0.4))
            position = (level - 1) / (LEVELS - 1) * (len(stops) - 1)
            stop = min(int(position), len(stops) - 2)
            color = stops[stop].blend(stops[stop + 1], position - stop)
            style = self._styles_by_code[code] = super().style_of_code(0) + Style.from_color(color.rich_color)
        return style
