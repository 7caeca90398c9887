"""Base classes of widgets that draw their own lines: messages, text selection, and cached styles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rich.cells import cell_len
from rich.style import Style
from textual.geometry import Region
from textual.message import Message
from textual.selection import Selection
from textual.widget import Widget

from widgets.line_cache import LineCache

TONE_STYLES: Final[Mapping[str, str]] = {
    "accent": "color: $text-primary;",
    "good": "color: $text-success;",
    "warning": "color: $text-warning;",
    "bad": "color: $text-error; text-style: bold;",
    "muted": "color: $text-muted;",
}
"""CSS rules for text, by the tone (`widgets.table_layout.Tone`)."""


def component_classes(prefix: str, styles: Iterable[str]) -> set[str]:
    """Return the component classes of a widget: one for each name of a style."""
    return {f"{prefix}--{name}" for name in styles}


def component_css(prefix: str, styles: Mapping[str, str]) -> str:
    """Return the CSS rules of the component classes, to be nested in the CSS rule of the widget."""
    return "\n".join(f"& > .{prefix}--{name} {{ {rules} }}" for name, rules in styles.items())


@dataclass
class WidgetMessage(Message):
    """Base class of messages of widgets. `on(..., selector)` can select them by the sending widget."""

    widget: Widget
    """Widget that sent the message."""

    @property
    def control(self) -> Widget:
        """Widget that sent the message."""
        return self.widget


class Selectable(Widget):
    """Widget that draws its own lines, and whose text can be selected with the mouse and copied.

    Without this class, Textual would copy the name of the widget's class.
    """

    def __init__(self, *children: Widget, **arguments: Any) -> None:
        """The arguments are those of `Widget`."""
        super().__init__(*children, **arguments)
        self._styles_cache = LineCache()

    def shown_text(self) -> str:
        """Return the text of the complete widget, with its lines as shown but without trailing blanks."""
        return "\n".join(self.render_line(y).text.rstrip() for y in range(self.size.height))

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected part of the text."""
        return selection.extract(self.shown_text()), "\n"


class StyleCachedWidget(Selectable):
    """Widget that caches its styles. It is painted several times a second, and its styles rarely change.

    Textual itself computes styles again after every refresh.
    """

    _steady: dict[str, Style] | None = None

    def style_of(self, name: str) -> Style:
        """Return the style of a component class. For "", return the style of the widget itself."""
        cached = self._steady
        if cached is None:
            cached = self._steady = {}
        style = cached.get(name)
        if style is None:
            style = cached[name] = self.get_component_rich_style(name) if name else self.rich_style
        return style

    def refresh_difference(self, before: str, after: str, y: int = 0) -> None:
        """Repaint the columns of line `y` in which two texts differ.

        If the lengths of the texts differ, or the texts are equal because only a style changed, the complete line is
        repainted.
        """
        if len(before) != len(after) or before == after or not (before + after).isprintable():
            self.refresh(Region(0, y, self.size.width, 1))
            return
        columns = [column for column, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
        left = cell_len(before[: columns[0]])
        right = max(cell_len(text[: columns[-1] + 1]) for text in (before, after))
        self.refresh(Region(left, y, right - left, 1))

    def notify_style_update(self) -> None:
        """Drop the cached styles, because the theme has changed."""
        super().notify_style_update()
        self._steady = None
