"""A live heat map: what percentiles hide, such as two populations of latencies or a cliff."""

from __future__ import annotations

from rich.style import Style
from textual.color import Color

from widgets.chart import LineChart
from widgets.chart_data import ChartData
from widgets.heat_plot import ASCII_SIGNS, FIRST_LEVEL, LEVELS, SIGNS, HeatPlot
from widgets.plain.text import clean


class HeatChart(LineChart):
    """Time across, values up on a logarithmic axis, strength by the share of an interval's values."""

    def make_plot(self) -> HeatPlot:
        """What draws it."""
        return HeatPlot()

    def has_nothing(self, data: ChartData) -> bool:
        """Whether nothing was counted yet."""
        return not data.heat

    def legend(self, data: ChartData) -> tuple[tuple[str, str, Style | None], ...]:
        """What the strengths mean."""
        signs = ASCII_SIGNS if self.ascii else SIGNS
        pieces: list[tuple[str, str, Style | None]] = [("title", clean(self.title), None)] if self.title else []
        pieces.append(("legend", "0.01 %", None))
        for level in range(1, LEVELS + 1):
            pieces.append(("joined", signs[level], self.style_of_code(FIRST_LEVEL + level - 1)))
        pieces.append(("legend", "all I/Os of the moment", None))
        if self.frozen:
            pieces.append(("flag", "FROZEN", None))
        return tuple(pieces)

    def style_of_code(self, code: int) -> Style:
        """The style of a cell: from near the background over accent and good to the warning colour."""
        level = code - FIRST_LEVEL + 1
        if not 1 <= level <= LEVELS:
            return super().style_of_code(code)
        known = self._styles_by_code.get(code)
        if known is None:
            names = ("background", "primary", "success", "warning", "error")
            background, *rest = (self._theme_color(name) for name in names)
            stops = (background.blend(rest[0], 0.45), *rest[:3], rest[2].blend(rest[3], 0.4))
            place = (level - 1) / (LEVELS - 1) * (len(stops) - 1)
            at = min(int(place), len(stops) - 2)
            color = stops[at].blend(stops[at + 1], place - at)
            known = self._styles_by_code[code] = super().style_of_code(0) + Style.from_color(color.rich_color)
        return known

    def _theme_color(self, name: str) -> Color:
        return Color.parse(self.app.theme_variables.get(name, "#808080"))
