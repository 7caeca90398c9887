"""Cache of the lines of a widget that draws its own lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual._border import get_box
from textual._segment_tools import make_blank
from textual._styles_cache import StylesCache
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import Region
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """Border and padding around the lines of a widget, and the style of the cells after them."""

    width: int
    """Columns of the widget."""
    top: int
    """Lines of border and padding above the first line."""
    content_width: int
    """Columns of a line, without border and padding."""
    content_height: int
    """Number of lines."""
    left: tuple[Segment, ...]
    """Border and padding to the left of each line."""
    right: tuple[Segment, ...]
    """Border and padding to the right of each line."""
    blank: RichStyle
    """Style of the cells after the end of a line."""
    background: Color
    """Background colour of the widget, for the filters."""
    filters: Sequence[LineFilter]
    """Filters of the app, which change the colours of each line."""


class LineCache(StylesCache):
    """Cache of drawn lines. It reads border, padding and background once, until the complete widget is repainted.

    Textual 8.2 reads them at every repaint: the background of every ancestor, the position and size, and about
    thirty styles. That costs more than the few lines that a live widget draws.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lines: dict[int, Strip] = {}
        self._frame: _Frame | None = None
        self._is_known = False

    def clear(self) -> None:
        """Drop all lines, and border and padding around them. Textual calls this for new styles, sizes and titles."""
        super().clear()
        self._lines.clear()
        self._is_known = False

    def render_widget(self, widget: Widget, crop: Region) -> list[Strip]:
        """Return the lines in the region `crop` of the widget. Only lines that have changed are drawn."""
        if not self._is_known:
            self._frame, self._is_known = _frame_of(widget), True
        frame = self._frame
        if frame is None:
            return super().render_widget(widget, crop)
        strips: list[Strip] = []
        for y in crop.line_range:
            strip = None if y in self._dirty_lines else self._lines.get(y)
            if strip is None:
                if frame.top <= y < frame.top + frame.content_height:
                    strip = _framed(widget.render_line(y - frame.top), frame)
                else:
                    (strip,) = super().render_widget(widget, Region(0, y, frame.width, 1))
                self._lines[y] = strip
            strips.append(strip)
        self._dirty_lines.difference_update(crop.line_range)
        left, right = crop.column_span
        return strips if (left, right) == (0, frame.width) else [strip.crop(left, right) for strip in strips]


def _framed(line: Strip, frame: _Frame) -> Strip:
    # Each `Strip` creates seven caches, so only the final one is created.
    segments = [*frame.left, *line.adjust_cell_length(frame.content_width, frame.blank), *frame.right]
    for line_filter in frame.filters:
        segments = line_filter.apply(segments, frame.background)
    return Strip(segments, frame.width)


def _frame_of(widget: Widget) -> _Frame | None:
    """Return border and padding of the widget; None if it has effects that only Textual draws."""
    styles = widget.styles
    if (
        any(kind for kind, _ in styles.outline)
        or (styles.has_rule("hatch") and styles.hatch != "none")
        or styles.tint.a
        or styles.text_opacity != 1.0
        or widget.opacity != 1.0
    ):
        return None
    base, background = widget.background_colors
    inner, outer = Style(background=base + background), Style(background=base)
    _, (right_border, right_color), _, (left_border, left_color) = styles.border
    blank, padding, size = inner.rich_style, styles.padding, widget.content_region.size
    left = [get_box(left_border, inner, outer, Style(foreground=base + left_color))[1][0]] if left_border else []
    left += [make_blank(padding.left, blank)] if padding.left else []
    right = [make_blank(padding.right, blank)] if padding.right else []
    right += [get_box(right_border, inner, outer, Style(foreground=base + right_color))[1][2]] if right_border else []
    return _Frame(
        width=widget.region.width,
        top=styles.gutter.top,
        content_width=size.width,
        content_height=size.height,
        left=tuple(left),
        right=tuple(right),
        blank=blank,
        background=background,
        filters=widget.get_line_filters(),
    )
