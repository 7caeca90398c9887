"""Draws tables: the header, rows, signs and colours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.scroll_view import ScrollView
from textual.strip import Strip

from widgets.cached_styles import TONE_STYLES, Selectable, component_classes, component_css
from widgets.table_layout import PlacedColumn, TableCell, TableColumn, TableRow, align, heading, plain
from widgets.text_utils.text import pad, shorten, width_of

GUTTER = 2
"""Number of cells for the cursor sign and the mark."""


_STYLES = {
    "header": "color: $text-muted; text-style: bold;",
    "cursor": "background: $block-cursor-blurred-background;",
    "separator": "color: $text-muted; text-style: bold;",
    "dim": "color: $text-muted;",
    "mark": "color: $accent; text-style: bold;",
    "match": "text-style: underline bold;",
    "bar": "color: $primary;",
    **TONE_STYLES,
}
"""CSS rules of the component classes, by name."""


class TableRenderer(ScrollView, Selectable):  # ScrollView first: Textual inherits bindings and CSS only from there
    """Base class of tables. It draws the header and rows, and subclasses determine their positions."""

    COMPONENT_CLASSES: ClassVar[set[str]] = component_classes("keyed-table", _STYLES)

    DEFAULT_CSS = f"""
    TableRenderer {{
        height: 1fr;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        {component_css("keyed-table", _STYLES)}
        &:focus > .keyed-table--cursor {{ background: $primary-muted; text-style: $block-cursor-text-style; }}
    }}
    """

    sought: tuple[str, ...] = ()
    """Words to highlight in rows, in lower case."""

    _plain_style: Style | None = None

    @property
    def plain_style(self) -> Style:
        """The style of a row without a tone, cached until the styles change: Textual computes it for every line."""
        if self._plain_style is None:
            self._plain_style = self.rich_style
        return self._plain_style

    def notify_style_update(self) -> None:
        """Drop the cached style, because the theme has changed."""
        super().notify_style_update()
        self._plain_style = None

    def header_strip(self, columns: Sequence[TableColumn], placed: Sequence[PlacedColumn], width: int) -> Strip:
        """Return the header: the headings of the visible columns, and the number of hidden columns."""
        text = " " * GUTTER + "".join(map(heading, placed))
        style = self.get_component_rich_style("keyed-table--header")
        if hidden := len(columns) - len(placed):
            notes = (f" +{hidden} hidden", f" +{hidden}")
            note = next((note for note in notes if width_of(text.rstrip()) + len(note) + 1 <= width), "")
            text = pad(text.rstrip(), width - len(note)) + note
        return Strip([Segment(pad(text, width), style)], width)

    def row_strip(self, row: TableRow, placed: Sequence[PlacedColumn], width: int, *, current: bool) -> Strip:
        """Return a row with cursor sign and mark, or a group heading. `current`: whether the cursor is on the row."""
        if row.separator:
            title = shorten(" " * GUTTER + plain(row.cells[0] if row.cells else ""), width)
            style = self.get_component_rich_style("keyed-table--separator")
            return Strip([Segment(pad(title, width), style)], width)
        base = self._row_style(row, current=current)
        mark = self._text_style(base, "mark", current) if row.marked else base
        segments = [Segment(">" if current else " ", base), Segment("*" if row.marked else " ", mark)]
        if row.banner:
            return Strip([*segments, *self._banner(row.banner, width - GUTTER, base, current)]).adjust_cell_length(
                width, base
            )
        right = GUTTER
        for column in placed:
            if column.gap:
                segments.append(Segment(" " * column.gap, base))
            segments.extend(self._render_cell(column.cell_of(row), column, base, current))
            right += column.gap + column.width
        if right < width:
            segments.append(Segment(" " * (width - right), base))
        return Strip(_joined(segments)).adjust_cell_length(width, base)

    def _render_cell(
        self, cell: str | TableCell | Text, column: PlacedColumn, base: Style, current: bool
    ) -> list[Segment]:
        if isinstance(cell, Text) and cell.plain.isprintable() and cell_len(cell.plain) <= column.width:
            pieces = cell.render(self.app.console)
            bar = self._text_style(base, "bar", current)
            segments = [Segment(text, bar + style if style else bar) for text, style, _ in pieces if text]
            rest = column.width - cell_len(cell.plain)
            return [*segments, Segment(" " * rest, base)] if rest else segments
        style = self._text_style(base, cell.tone, current) if isinstance(cell, TableCell) and cell.tone else base
        return self._highlight(align(plain(cell), column), style)

    def _highlight(self, text: str, style: Style) -> list[Segment]:
        """Return the text with the words in `sought` highlighted."""
        if not self.sought:
            return [Segment(text, style)]
        words_in_text = tuple(word for word in self.sought if word in text.lower())
        if not words_in_text or len(text.lower()) != len(text):
            return [Segment(text, style)]
        parts = re.split(f"({'|'.join(map(re.escape, words_in_text))})", text, flags=re.IGNORECASE)
        match = style + self.get_component_rich_style("keyed-table--match", partial=True)
        return [Segment(part, match if number % 2 else style) for number, part in enumerate(parts) if part]

    def _banner(self, pieces: Sequence[str | TableCell], available: int, base: Style, current: bool) -> list[Segment]:
        """Return the texts of a banner.

        Dots separate them, except for the first two, which are a name and its description.
        """
        segments: list[Segment] = []
        for number, piece in enumerate(pieces):
            style = self._text_style(base, piece.tone, current) if isinstance(piece, TableCell) and piece.tone else base
            text = shorten(("", "  ", " · ")[min(number, 2)] + plain(piece), max(0, available))
            available -= width_of(text)
            segments += self._highlight(text, style)
        return segments

    def _row_style(self, row: TableRow, *, current: bool) -> Style:
        style = self.get_component_rich_style("keyed-table--cursor") if current else self.plain_style
        if row.tone:
            style = self._text_style(style, row.tone, current)
        return self._text_style(style, "dim", current) if row.dim else style

    def _text_style(self, base: Style, name: str, current: bool) -> Style:
        """Return the text style of a component class. Under the cursor, it keeps the background of the cursor."""
        style = self.get_component_rich_style(f"keyed-table--{name}")
        return style + Style(bgcolor=base.bgcolor, bold=base.bold, reverse=base.reverse) if current else style


def _joined(segments: Iterable[Segment]) -> list[Segment]:
    """Return the segments with neighbours of the same style joined, because each segment costs Textual time."""
    return [
        Segment("".join([segment.text for segment in group]), style)
        for style, group in groupby(segments, key=attrgetter("style"))
    ]
