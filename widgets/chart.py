"""Line graph of live data, which sends only changed cells to the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.color import Color, ColorParseError
from textual.content import Content
from textual.geometry import Region
from textual.reactive import reactive
from textual.strip import Strip

from widgets.band_plot import BandedPlot
from widgets.cached_styles import Selectable, component_classes, component_css
from widgets.chart_data import WAITING, ChartData, HeatInterval, Point, Reference, Series, TimeMark
from widgets.plot import REFERENCE, sample, series_code
from widgets.plot_frame import AXIS, BAND, GRID, LABEL, MARK, NOTE, FramedDrawing, Row
from widgets.terminal_diff import differing_spans
from widgets.text_utils.text import clean, shorten, width_of

__all__ = ["WAITING", "ChartData", "HeatInterval", "LineChart", "Point", "Reference", "Series", "TimeMark"]

COLORS = ("$text-primary", "$text-warning", "$text-success", "$text-error", "$text-secondary")
"""Default colours of series, in order."""

COMPONENTS = {
    GRID: "grid",
    REFERENCE: "reference",
    AXIS: "axis",
    LABEL: "label",
    MARK: "mark",
    NOTE: "note",
    BAND: "band",
}
"""Name of the component class of each style code, except for the codes of series."""

_EDGE = 6
"""Columns of a frame's upper edge that its title cannot use: the corners, and a space and a line on both sides."""

_GAPS = {"legend": " ", "joined": ""}
"""Separators before pieces of the legend, by kind. Other pieces have two spaces before them."""


PLAIN = -1
"""Style code of text in the style of the widget."""

GROUND = -2
"""Style code of the background of shaded columns."""


LegendPiece = tuple[str, str, Style | None]
"""Name of the component class, text, and style; the style is None except for series."""


_STYLES = {
    "title": "text-style: bold; color: $foreground;",
    "legend": "color: $foreground;",
    "flag": "text-style: bold; color: $warning;",
    "mark": "text-style: bold; color: $text-error;",
    "note": "text-style: bold; color: $text-warning;",
    "shaded": "background: $panel;",
    "band": "color: $foreground 30%;",
    "axis": "color: $foreground 30%;",
    "label": "color: $text-muted;",
    "grid": "color: $foreground 20%;",
    "reference": "color: $text-muted;",
}
"""CSS rules of the component classes, by name."""


class LineChart(Selectable):
    """Graph of lines over time, in braille or ASCII. A new sample redraws only changed cells."""

    COMPONENT_CLASSES: ClassVar[set[str]] = component_classes("line-chart", _STYLES)

    DEFAULT_CSS = f"""
    LineChart {{
        height: 1fr;
        {component_css("line-chart", _STYLES)}
    }}
    """

    data: reactive[ChartData | None] = reactive(None, repaint=False)
    """Data to show; None for an empty graph."""
    title: reactive[str] = reactive("", repaint=False)
    """Title before the legend."""
    log_scale: reactive[bool] = reactive(False, repaint=False)
    """Whether the vertical axis is logarithmic. If so, values of zero or less are not drawn."""
    window: reactive[float] = reactive(0.0, repaint=False)
    """Number of seconds to show, up to the newest point; 0 for all."""
    frozen: reactive[bool] = reactive(False, repaint=False)
    """Whether to keep the current picture while new data arrives."""
    ascii: reactive[bool] = reactive(False, repaint=False)
    """Whether to use only ASCII characters."""

    def __init__(
        self,
        data: ChartData | None = None,
        *,
        title: str = "",
        log_scale: bool = False,
        ascii: bool = False,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._plot = self.make_plot()
        self._shown: ChartData | None = None
        self._header: tuple[LegendPiece, ...] = ()
        self._rows: list[Row] = []
        self._drawn: tuple[int, int] = (0, 0)
        self._shaded = range(0)
        self._in_edge: tuple[int, object] = (0, None)
        self._styles_by_code: dict[int, Style] = {}
        self._colors: dict[int, str] = {}
        self.set_reactive(LineChart.data, data)
        self.set_reactive(LineChart.title, title)
        self.set_reactive(LineChart.log_scale, log_scale)
        self.set_reactive(LineChart.ascii, ascii)

    def watch_data(self) -> None:
        """Redraw the cells that have changed."""
        self._update()

    watch_title = watch_log_scale = watch_window = watch_frozen = watch_ascii = watch_data

    def notify_style_update(self) -> None:
        """Drop the cached colours, because the theme has changed."""
        super().notify_style_update()
        self._styles_by_code.clear()
        self._drawn = (0, 0)

    def render_line(self, y: int) -> Strip:
        """Return one line of the widget: the legend or a row of the graph."""
        width, height = self.size
        if self._drawn != (width, height):
            self._draw(width, height)
        header = self._header_rows(height)
        if y < header:
            return self._render_header(width)
        row = self._rows[y - header] if y - header < len(self._rows) else ("", b"")
        strip = self._render_row(row, width)
        return self._with_shade(strip, width) if y - header < self._plot.rows else strip

    def make_plot(self) -> FramedDrawing:
        """Return the object that draws the graph."""
        return BandedPlot()

    def has_nothing(self, data: ChartData) -> bool:
        """Return whether the data has no points yet."""
        # From the end: a run that measures has values there, while its ramp may have none.
        return not any(
            value is not None and value == value for series in data.series for _, value in reversed(series.points)
        )

    def _update(self) -> None:
        """Draw the data, and repaint the cells that have changed."""
        if not self.is_attached:
            return
        width, height = self.size
        if self._drawn != (width, height) or not (width and height):  # a hidden chart must be drawn when it reappears
            self._drawn = (0, 0)
            self.refresh()
            return
        before, header = self._rows, self._header
        shaded = self._shaded
        self._draw(width, height)
        if shaded != self._shaded:
            self.refresh()
            return
        rows = self._header_rows(height)
        regions = list(_changed_regions(before, self._rows, rows))
        if header != self._header and rows:
            regions.append(Region(0, 0, width, 1))
        if regions:
            self.refresh(*regions)

    def _draw(self, width: int, height: int) -> None:
        if not self.frozen or self._shown is None:
            self._shown = self.data
        data = self._shown or ChartData()
        empty = self.has_nothing(data)
        if empty and not data.references:
            data = replace(data, y_format=_empty_label)  # without data, tick labels would be misleading
        header = self._header_rows(height)
        self._rows = self._plot.draw(
            data,
            width,
            height - header,
            log=self.log_scale,
            window=self.window,
            ascii_only=self.ascii,
        )
        self._shaded = self._plot.shaded
        if empty:
            self._write_waiting(clean(data.waiting), width)
        self._header = self.legend(data)
        self._drawn = (width, height)
        self._title_frame(width)

    def _write_waiting(self, message: str, width: int) -> None:
        """Write the message into the middle of the empty graph, if it fits."""
        if not message or width < len(message) + 12 or width_of(message) != len(message) or not self._rows:
            return
        row = max(0, (len(self._rows) - 2) // 2)
        text, codes = self._rows[row]
        left = (width - len(message)) // 2
        right = left + len(message)
        self._rows[row] = (
            text[:left] + message + text[right:],
            codes[:left] + bytes([LABEL]) * len(message) + codes[right:],
        )

    def legend(self, data: ChartData) -> tuple[LegendPiece, ...]:
        """Return the pieces of the legend, the title first."""
        title, ascii_only = self.title, self.ascii
        pieces: list[LegendPiece] = [("title", clean(title), None)] if title else []
        for index, series in sorted(enumerate(data.series), key=lambda pair: not pair[1].joined):
            code = series_code(index)
            color = series.color or COLORS[index % len(COLORS)]
            if self._colors.get(code) != color or code not in self._styles_by_code:
                self._colors[code] = color
                self._styles_by_code[code] = self._series_style(color)
            style = self._styles_by_code[code]
            if not series.name or self._plot.has_names:
                continue
            pieces.append(("", sample(data.series, index, ascii_only=ascii_only), style))
            pieces.append(("legend", clean(series.name), None))
        for reference in data.references:
            label = f"{clean(reference.label)} {clean(data.y_format(reference.value))}"
            if reference.half:
                label += f" {'+-' if ascii_only else '±'} {clean(data.y_format(reference.half))}"
                pieces.append(("band", "::" if ascii_only else "░░", None))
            else:
                pieces.append(("reference", "- -" if ascii_only else "┈┈", None))
            pieces.append(("legend", label, None))
        if self.log_scale:
            pieces.append(("flag", "log", None))
        elif data.close:
            pieces.append(("flag", "not from 0", None))
        if self.frozen:
            pieces.append(("flag", "FROZEN", None))
        return tuple(pieces)

    def _header_rows(self, height: int) -> int:
        """Return the number of rows for the legend. It is 0 if the upper edge of the frame shows the legend."""
        return 0 if self._has_frame else int(height >= 4)

    @property
    def _has_frame(self) -> bool:
        return bool(self.styles.border_top[0])

    def _title_frame(self, width: int) -> None:
        """Write the title to the left and the legend to the right of the frame's upper edge."""
        if not self._has_frame or self._in_edge == (width, self._header):
            return
        self._in_edge = (width, self._header)
        left = [piece for piece in self._header if piece[0] == "title"]
        right = [piece for piece in self._header if piece[0] != "title"]
        used = sum(width_of(text) for _, text, _ in left)
        segments, room = self._legend_segments(right, width - used - _EDGE)
        line = ("-" if self.ascii else "─") * max(0, room)
        title = Text("".join(text for _, text, _ in left), self.get_component_rich_style("line-chart--title"))
        edge = self.background_colors[1] + self.styles.border_top[1]
        title = Text.assemble(title, (f" {line}", Style(color=edge.rich_color)))
        for text, style, _ in segments:
            title.append(text, style)
        self.border_title = Content.from_rich_text(title, console=self.app.console)

    def _series_style(self, color: str) -> Style:
        """Return the style for a colour or theme variable. If it is invalid, return the style of plain text."""
        value = self.app.theme_variables.get(color[1:], "") if color.startswith("$") else color
        try:
            return self.style_of_code(PLAIN) + Style.from_color(Color.parse(value).rich_color)
        except ColorParseError:
            return self.style_of_code(PLAIN)

    def _render_header(self, width: int) -> Strip:
        flags = [piece for piece in self._header if piece[0] == "flag"]
        flag_text = " ".join(text for _, text, _ in flags)
        room = width - (len(flag_text) + 1 if flag_text else 0)
        segments, room = self._legend_segments([piece for piece in self._header if piece[0] != "flag"], room, first="")
        if flag_text:
            segments.append(Segment(" " * max(0, room), self.style_of_code(PLAIN)))
            segments.append(Segment(f" {flag_text}", self.get_component_rich_style("line-chart--flag")))
        return Strip(segments).adjust_cell_length(width, self.style_of_code(PLAIN))

    def _legend_segments(
        self, pieces: Iterable[LegendPiece], room: int, *, first: str | None = None
    ) -> tuple[list[Segment], int]:
        """Return segments for the legend pieces that fit, and the remaining width.

        `first`: separator before the first piece; None for the usual one.
        """
        segments: list[Segment] = []
        for kind, text, style in pieces:
            gap = first if first is not None and not segments else _GAPS.get(kind, "  ")
            part = shorten(f"{gap}{text}", room)
            room -= width_of(part)
            segments.append(Segment(part, style or self.get_component_rich_style(f"line-chart--{kind}")))
        return segments, room

    def _render_row(self, row: Row, width: int) -> Strip:
        """Return a strip with one segment per run of equal style.

        Empty cells belong to the segment before them, so that fewer changes of colour are sent.
        """
        text, codes = row
        runs: list[tuple[int, int]] = []
        for code, group in groupby([PLAIN if char == " " else code for char, code in zip(text, codes, strict=False)]):
            length = len(list(group))
            if runs and code in (PLAIN, runs[-1][0]):
                runs[-1] = (runs[-1][0], runs[-1][1] + length)
            elif runs and runs[-1][0] == PLAIN:
                runs[-1] = (code, runs[-1][1] + length)
            else:
                runs.append((code, length))
        segments: list[Segment] = []
        column = 0
        for code, length in runs:
            segments.append(Segment(text[column : column + length], self.style_of_code(code)))
            column += length
        return Strip(segments).adjust_cell_length(width, self.style_of_code(PLAIN))

    def _with_shade(self, strip: Strip, width: int) -> Strip:
        """Return the strip with a different background in the shaded columns."""
        left, right = self._shaded.start, min(self._shaded.stop, width)
        if right <= left:
            return strip
        before, within, after = strip.divide([left, right, width])
        ground = self.style_of_code(GROUND)
        shaded = Strip(Segment(text, (style or ground) + ground) for text, style, _ in within)
        return Strip.join([before, shaded, after])

    def style_of_code(self, code: int) -> Style:
        """Return the style for a style code."""
        style = self._styles_by_code.get(code)
        if style is None and code == GROUND:
            ground = self.get_component_rich_style("line-chart--shaded").bgcolor
            style = self._styles_by_code[code] = Style(bgcolor=ground)
        if style is None:
            name = COMPONENTS.get(code)
            style = self.get_component_rich_style(f"line-chart--{name}") if name else self.rich_style
            self._styles_by_code[code] = style
        return style


def _empty_label(_value: float) -> str:
    return ""


def _changed_regions(before: list[Row], after: list[Row], offset: int) -> list[Region]:
    """Return a region for each part of a row that has changed. `offset`: number of lines above the first row."""
    regions: list[Region] = []
    for y, (old, new) in enumerate(zip(before, after, strict=True)):
        if old is new or old == new:
            continue
        cells = (list(zip(*row, strict=True)) for row in (old, new))
        regions += [Region(first, y + offset, end - first, 1) for first, end in differing_spans(*cells)]
    return regions
