"""A live line graph that sends the terminal only the cells that changed."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import ClassVar, Protocol

from rich.segment import Segment
from rich.style import Style
from textual.color import Color, ColorParseError
from textual.geometry import Region
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from widgets.chart_data import WAITING, ChartData, HeatInterval, Point, Reference, Series, TimeMark
from widgets.plain.text import clean, shorten, width_of
from widgets.plot import FIRST_SERIES, REFERENCE, Plot, sample
from widgets.plot_frame import AXIS, GRID, LABEL, MARK, Row

__all__ = ["WAITING", "ChartData", "HeatInterval", "LineChart", "Point", "Reference", "Series", "TimeMark"]

COLORS = ("$text-primary", "$text-warning", "$text-success", "$text-error", "$text-secondary")
"""The colours of series that name none, in their order."""

COMPONENTS = {GRID: "grid", REFERENCE: "reference", AXIS: "axis", LABEL: "label", MARK: "mark"}
"""The component of each code but those of the series."""

PLAIN = -1
"""Code of what has no style of its own."""


class Drawing(Protocol):
    """What turns data into rows."""

    def draw(
        self, data: ChartData, width: int, height: int, *, log: bool, window: float, ascii_only: bool
    ) -> list[Row]:
        """The rows, each `width` characters; unchanged ones are the same objects."""


class LineChart(Widget):
    """Lines over time, drawn in braille or ASCII; a new sample redraws only the cells it touches."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "line-chart--axis",
        "line-chart--flag",
        "line-chart--grid",
        "line-chart--label",
        "line-chart--legend",
        "line-chart--mark",
        "line-chart--reference",
        "line-chart--title",
    }

    DEFAULT_CSS = """
    LineChart {
        height: 1fr;
        & > .line-chart--title { text-style: bold; color: $foreground; }
        & > .line-chart--legend { color: $foreground 80%; }
        & > .line-chart--flag { text-style: bold; color: $warning; }
        & > .line-chart--mark { text-style: bold; color: $text-error; }
        & > .line-chart--axis { color: $foreground 30%; }
        & > .line-chart--label { color: $foreground 65%; }
        & > .line-chart--grid { color: $foreground 20%; }
        & > .line-chart--reference { color: $foreground 75%; }
    }
    """

    data: reactive[ChartData | None] = reactive(None, repaint=False)
    """What is shown; `None` before there is anything."""
    title: reactive[str] = reactive("", repaint=False)
    """Stands before the legend."""
    log_scale: reactive[bool] = reactive(False, repaint=False)
    """Whether the vertical axis is logarithmic; values of zero and less are then not drawn."""
    window: reactive[float] = reactive(0.0, repaint=False)
    """Seconds shown, up to the newest; 0 shows all."""
    frozen: reactive[bool] = reactive(False, repaint=False)
    """While set, new data waits and the picture stands still."""
    ascii: reactive[bool] = reactive(False, repaint=False)
    """Whether to draw without UTF-8."""

    def __init__(
        self,
        data: ChartData | None = None,
        *,
        title: str = "",
        log_scale: bool = False,
        window: float = 0.0,
        ascii: bool = False,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._plot = self.make_plot()
        self._shown: ChartData | None = None
        self._header: tuple[tuple[str, str, Style | None], ...] = ()
        self._rows: list[Row] = []
        self._drawn: tuple[int, int] = (0, 0)
        self._styles_by_code: dict[int, Style] = {}
        self._colors: dict[int, str] = {}
        self.set_reactive(LineChart.data, data)
        self.set_reactive(LineChart.title, title)
        self.set_reactive(LineChart.log_scale, log_scale)
        self.set_reactive(LineChart.window, window)
        self.set_reactive(LineChart.ascii, ascii)

    def watch_data(self) -> None:
        """Draws the new data."""
        self._update()

    def watch_title(self) -> None:
        """Draws the new title."""
        self._update()

    def watch_log_scale(self) -> None:
        """Draws on the other scale."""
        self._update()

    def watch_window(self) -> None:
        """Draws the other span of time."""
        self._update()

    def watch_frozen(self) -> None:
        """Shows the mark, or catches up."""
        self._update()

    def watch_ascii(self) -> None:
        """Draws with the other characters."""
        self._update()

    def notify_style_update(self) -> None:
        """Forgets the colours of the old theme."""
        super().notify_style_update()
        self._styles_by_code.clear()
        self._drawn = (0, 0)

    def render_line(self, y: int) -> Strip:
        """One line of the graph."""
        width, height = self.size
        if self._drawn != (width, height):
            self._draw(width, height)
        header = int(_has_header(height))
        if y < header:
            return self._render_header(width)
        row = self._rows[y - header] if y - header < len(self._rows) else ("", b"")
        return self._render_row(row, width)

    def make_plot(self) -> Drawing:
        """What draws it."""
        return Plot()

    def has_nothing(self, data: ChartData) -> bool:
        """Whether there is no point yet."""
        return not any(_has_value(series) for series in data.series)

    def _update(self) -> None:
        """Draws, and asks for a repaint of what came out different."""
        if not self.is_attached:
            return
        width, height = self.size
        if self._drawn != (width, height) or not (width and height):  # hidden: what was drawn is of another size
            self.refresh()
            return
        before, header = self._rows, self._header
        self._draw(width, height)
        regions = list(_changes(before, self._rows, int(_has_header(height))))
        if header != self._header:
            regions.append(Region(0, 0, width, 1))
        if regions:
            self.refresh(*regions)

    def _draw(self, width: int, height: int) -> None:
        if not self.frozen or self._shown is None:
            self._shown = self.data
        data = self._shown or ChartData()
        empty = self.has_nothing(data)
        if empty and not data.references:
            data = replace(data, y_format=_no_label)  # ticks of a scale that nothing has set would only mislead
        header = int(_has_header(height))
        self._rows = self._plot.draw(
            data,
            width,
            height - header,
            log=self.log_scale,
            window=self.window,
            ascii_only=self.ascii,
        )
        if empty:
            self._write_waiting(clean(data.waiting), width)
        self._header = self.legend(data)
        self._drawn = (width, height)

    def _write_waiting(self, words: str, width: int) -> None:
        """Puts the message into the middle of the empty graph."""
        if not words or width < len(words) + 12 or width_of(words) != len(words) or not self._rows:
            return
        row = max(0, (len(self._rows) - 2) // 2)
        text, codes = self._rows[row]
        left = (width - len(words)) // 2
        right = left + len(words)
        self._rows[row] = (
            text[:left] + words + text[right:],
            codes[:left] + bytes([LABEL]) * len(words) + codes[right:],
        )

    def legend(self, data: ChartData) -> tuple[tuple[str, str, Style | None], ...]:
        """The first line in pieces: component class, text, and the style of a series."""
        pieces: list[tuple[str, str, Style | None]] = [("title", clean(self.title), None)] if self.title else []
        for index, series in sorted(enumerate(data.series), key=lambda each: not each[1].joined):
            code = min(FIRST_SERIES + index, AXIS - 1)
            color = series.color or COLORS[index % len(COLORS)]
            if self._colors.get(code) != color or code not in self._styles_by_code:
                self._colors[code] = color
                self._styles_by_code[code] = self._series_style(color)
            style = self._styles_by_code[code]
            pieces.append(("", sample(data.series, index, ascii_only=self.ascii), style))
            pieces.append(("legend", clean(series.name), None))
        for reference in data.references:
            label = f"{clean(reference.label)} {clean(data.y_format(reference.value))}"
            pieces.append(("reference", "- -" if self.ascii else "┈┈", None))
            pieces.append(("legend", label, None))
        if self.log_scale:
            pieces.append(("flag", "log", None))
        if self.frozen:
            pieces.append(("flag", "FROZEN", None))
        return tuple(pieces)

    def _series_style(self, color: str) -> Style:
        """The style of a colour or theme variable; the text's own colour when it cannot be read."""
        value = self.app.theme_variables.get(color[1:], "") if color.startswith("$") else color
        try:
            return self.style_of_code(PLAIN) + Style.from_color(Color.parse(value).rich_color)
        except ColorParseError:
            return self.style_of_code(PLAIN)

    def _render_header(self, width: int) -> Strip:
        segments: list[Segment] = []
        flags = [piece for piece in self._header if piece[0] == "flag"]
        flag_text = " ".join(text for _, text, _ in flags)
        room = width - (len(flag_text) + 1 if flag_text else 0)
        for kind, text, style in self._header:
            if kind == "flag" or room <= 0:
                continue
            gap = {"legend": " ", "joined": ""}.get(kind, "  ")
            part = shorten(text if not segments else gap + text, room)
            segments.append(Segment(part, style or self.get_component_rich_style(f"line-chart--{kind}")))
            room -= width_of(part)
        if flag_text:
            segments.append(Segment(" " * max(0, room), self.style_of_code(PLAIN)))
            segments.append(Segment(f" {flag_text}", self.get_component_rich_style("line-chart--flag")))
        return Strip(segments).adjust_cell_length(width, self.style_of_code(PLAIN))

    def _render_row(self, row: Row, width: int) -> Strip:
        """A strip of the runs of one style; empty cells join the run before, so that fewer colours are sent."""
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
        at = 0
        for code, length in runs:
            segments.append(Segment(text[at : at + length], self.style_of_code(code)))
            at += length
        return Strip(segments).adjust_cell_length(width, self.style_of_code(PLAIN))

    def style_of_code(self, code: int) -> Style:
        """The style of a cell, by the code that the plot gave it."""
        style = self._styles_by_code.get(code)
        if style is None:
            name = COMPONENTS.get(code)
            style = self.get_component_rich_style(f"line-chart--{name}") if name else self.rich_style
            self._styles_by_code[code] = style
        return style


def _has_value(series: Series) -> bool:
    return any(value is not None and value == value for _, value in series.points)


def _no_label(_value: float) -> str:
    return ""


def _has_header(height: int) -> bool:
    return height >= 4


def _changes(before: list[Row], after: list[Row], offset: int) -> list[Region]:
    """The region of each row that differs, from the first to the last cell that does."""
    regions: list[Region] = []
    for y, (old, new) in enumerate(zip(before, after, strict=True)):
        if old is new or old == new:
            continue
        columns = [
            x for x, (a, b, c, d) in enumerate(zip(old[0], new[0], old[1], new[1], strict=True)) if a != b or c != d
        ]
        if columns:
            regions.append(Region(columns[0], y + offset, columns[-1] - columns[0] + 1, 1))
    return regions
