"""Widgets that draw their own lines: what is copied of them, what they send, and styles computed once for a theme."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.style import Style
from textual.geometry import Region
from textual.message import Message
from textual.selection import Selection
from textual.widget import Widget

TONE_STYLES: Final[Mapping[str, str]] = {
    "accent": "color: $text-primary;",
    "good": "color: $text-success;",
    "warning": "color: $text-warning;",
    "bad": "color: $text-error; text-style: bold;",
    "muted": "color: $text-muted;",
}
"""Styles of what a text means, by `widgets.table_layout.Tone`."""


def component_classes(prefix: str, styles: Iterable[str]) -> set[str]:
    """Return the component classes of a widget for the names of its styles."""
    return {f"{prefix}--{name}" for name in styles}


def component_css(prefix: str, styles: Mapping[str, str]) -> str:
    """Return the rules of these component classes, for within the widget's own."""
    return "\n".join(f"& > .{prefix}--{name} {{ {rules} }}" for name, rules in styles.items())


@dataclass
class WidgetMessage(Message):
    """A message of a widget, which `on(..., selector)` selects by that widget."""

    widget: Widget
    """The sender."""

    @property
    def control(self) -> Widget:
        """Return the sender."""
        return self.widget


class Selectable(Widget):
    """A widget of drawn lines whose text can be selected with the mouse and copied.

    Textual would copy the name of its class.
    """

    def shown_text(self) -> str:
        """What is copied when all of it is selected: its lines as they are in sight, without the blanks behind them."""
        return "\n".join(self.render_line(y).text.rstrip() for y in range(self.size.height))

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The part of it that is selected."""
        return selection.extract(self.shown_text()), "\n"


class StyleCachedWidget(Selectable):
    """A widget that is painted several times a second in styles that seldom change.

    Textual computes styles again after every refresh.
    """

    _steady: dict[str, Style] | None = None

    def style_of(self, name: str) -> Style:
        """The style of a component class; of the widget itself for an empty name."""
        cached = self._steady
        if cached is None:
            cached = self._steady = {}
        style = cached.get(name)
        if style is None:
            style = cached[name] = self.get_component_rich_style(name) if name else self.rich_style
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
