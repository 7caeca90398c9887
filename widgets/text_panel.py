"""Base class of panels of text. Lines consist of styled pieces and are laid out once per width."""

from __future__ import annotations

from typing import ClassVar, Literal

from rich.segment import Segment
from textual.geometry import Region, Size
from textual.strip import Strip

from widgets.cached_styles import TONE_STYLES, StyleCachedWidget, component_classes, component_css
from widgets.text_utils.text import width_of, wrap

Style = Literal["", "accent", "bad", "good", "heading", "label", "muted", "title", "value", "warning"]
"""Name of a text style; "" for the default."""

Line = tuple[tuple[str, str], ...]
"""Pieces of a line. Each has a style name (a component class of `TextPanel` without its prefix) and cleaned text."""


_STYLES = {
    "title": "text-style: bold; color: $foreground;",
    "heading": "text-style: bold; color: $text-primary;",
    "label": "color: $text-muted;",
    "value": "color: $foreground;",
    **TONE_STYLES,
}
"""CSS rules of the component classes, by name."""


class TextPanel(StyleCachedWidget):
    """Panel that is as high as its lines. Subclasses lay out the lines. Markup is never interpreted."""

    COMPONENT_CLASSES: ClassVar[set[str]] = component_classes("lines", _STYLES)

    DEFAULT_CSS = f"""
    TextPanel {{
        height: auto;
        {component_css("lines", _STYLES)}
    }}
    """

    def __init__(
        self,
        *,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._laid: tuple[int, list[Line]] = (-1, [])

    def lay_out(self, width: int) -> list[Line]:
        """Return the lines for a width of at least 1. Subclasses override this."""
        raise NotImplementedError

    def update_lines(self) -> None:
        """Lay out the lines again after the content has changed. Only lines that differ are repainted."""
        width, before = self._laid
        if width != self.size.width or width < 1:
            self._laid = (-1, [])
            self.refresh(layout=True)
            return
        after = self.lay_out(width)
        self._laid = (width, after)
        if len(after) != len(before):
            self.refresh(layout=True)
            return
        for y, (old, new) in enumerate(zip(before, after, strict=True)):
            if old != new:
                left, right = _difference(old, new)
                self.refresh(Region(left, y, max(1, min(right, width) - left), 1))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of lines for this width."""
        return len(self._lines(width))

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Return the available width."""
        return container.width

    def render_line(self, y: int) -> Strip:
        """Return a line of the panel."""
        width = self.size.width
        lines = self._lines(width)
        if y >= len(lines):
            return Strip.blank(width, self.style_of(""))
        segments = [Segment(text, self.style_of(f"lines--{kind}")) for kind, text in lines[y]]
        return Strip(segments).adjust_cell_length(width, self.style_of(""))

    def _lines(self, width: int) -> list[Line]:
        if self._laid[0] != width:
            self._laid = (width, self.lay_out(max(1, width)))
        return self._laid[1]


def _difference(old: Line, new: Line) -> tuple[int, int]:
    """Return the column of the first piece that differs, and the column at the end of the longer line."""
    left = 0
    for (kind, text), (new_kind, new_text) in zip(old, new, strict=False):
        if (kind, text) != (new_kind, new_text):
            break
        left += width_of(text)
    return left, max(sum(width_of(text) for _, text in line) for line in (old, new))


class TextParagraphs(TextPanel):
    """Shows a text, wrapped to the width."""

    def __init__(
        self,
        text: str = "",
        tone: Style = "",
        *,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._text = text
        self._tone = tone

    @property
    def text(self) -> str:
        """The text that is shown."""
        return self._text

    def say(self, text: str, tone: Style = "") -> None:
        """Show another text."""
        if (text, tone) != (self._text, self._tone):
            self._text, self._tone = text, tone
            self.update_lines()

    def lay_out(self, width: int) -> list[Line]:
        """Return the wrapped text; no lines if there is no text."""
        return [((self._tone or "value", line),) for line in wrap(self._text, width)] if self._text else []
