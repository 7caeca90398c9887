"""Styles that are computed once for a theme: Textual computes them again after every refresh."""

from __future__ import annotations

from rich.style import Style
from textual.widget import Widget


class SteadyWidget(Widget):
    """A widget that is painted several times a second in styles that seldom change."""

    _steady: dict[str, Style] | None = None

    def style_of(self, name: str) -> Style:
        """The style of a component class; of the widget itself for an empty name."""
        known = self._steady
        if known is None:
            known = self._steady = {}
        style = known.get(name)
        if style is None:
            style = known[name] = self.get_component_rich_style(name) if name else self.rich_style
        return style

    def notify_style_update(self) -> None:
        """Forgets the styles of the old theme."""
        super().notify_style_update()
        self._steady = None
