"""Styles that are computed once for a theme: Textual computes them again after every refresh."""

from __future__ import annotations

from rich.cells import cell_len
from rich.style import Style
from textual.geometry import Region

from widgets.selecting import Selectable


class SteadyWidget(Selectable):
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

    def refresh_difference(self, before: str, after: str, y: int = 0) -> None:
        """Paint again the columns of line `y` in which two texts differ; all of the line when these are not the same
        width, or when only a style changed.
        """
        if len(before) != len(after) or before == after or not (before + after).isprintable():
            self.refresh(Region(0, y, self.size.width, 1))
            return
        columns = [column for column, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
        left = cell_len(before[: columns[0]])
        right = max(cell_len(text[: columns[-1] + 1]) for text in (before, after))
        self.refresh(Region(left, y, right - left, 1))

    def notify_style_update(self) -> None:
        """Forgets the styles of the old theme."""
        super().notify_style_update()
        self._steady = None
