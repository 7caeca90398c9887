"""Matrix of configurations and workloads. Each cell has a number on a shade, a bar and a sign."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.reactive import reactive
from textual.strip import Strip

from widgets.cached_styles import TONE_STYLES, StyleCachedWidget, WidgetMessage, component_classes, component_css
from widgets.heat_plot import SHADE_CLASSES, SHADE_CSS, shade_of
from widgets.table_layout import Tone
from widgets.text_utils.sparkline import block
from widgets.text_utils.text import clean, pad, shorten, width_of

WIDEST = 22
"""Maximum width of a column heading in cells."""

GAP = 2
"""Spaces between two columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixCell:
    """A cell of the matrix."""

    text: str = ""
    """Number to show, or the state of the cell."""
    level: float | None = None
    """Height of the bar and strength of the shade, from 0 to 1; None for neither."""
    framed: bool = False
    """Whether the cell has a frame because it is the best one, or not worse than the best."""
    running: bool = False
    """Whether the run of the cell is in progress. If so, its colours are reversed."""
    sign: str = " "
    """Character for the state of the cell."""
    tone: Tone = ""
    """Tone of the sign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixGrid:
    """Contents of a matrix."""

    corner: str = ""
    """Text in the upper left corner, above the row headings."""
    columns: tuple[str, ...] = ()
    """Column headings."""
    rows: tuple[str, ...] = ()
    """Row headings."""
    cells: tuple[tuple[MatrixCell, ...], ...] = ()
    """One tuple per row, with one cell per column."""


_STYLES = {
    "header": "color: $text-muted; text-style: bold;",
    **TONE_STYLES,
    "accent": "color: $text-primary; text-style: bold;",
    "bar": "color: $primary;",
    "running": "text-style: bold reverse;",
    "cursor": "background: $block-cursor-blurred-background; text-style: bold;",
}
"""CSS rules of the component classes, by name."""


class Matrix(StyleCachedWidget, can_focus=True):
    """Shows a matrix. If there is too little space, it shows the part around the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1, 0)", "Row up", show=False, id="matrix.up"),
        Binding("down,j", "move(1, 0)", "Row down", show=False, id="matrix.down"),
        Binding("left", "move(0, -1)", "Column left", show=False, id="matrix.left"),
        Binding("right,l", "move(0, 1)", "Column right", show=False, id="matrix.right"),
    ]

    COMPONENT_CLASSES: ClassVar[set[str]] = component_classes("matrix", _STYLES) | SHADE_CLASSES

    DEFAULT_CSS = f"""
    Matrix {{
        height: auto;
        {SHADE_CSS}
        {component_css("matrix", _STYLES)}
        &:focus > .matrix--cursor {{ background: $primary-muted; text-style: $block-cursor-text-style; }}
    }}
    """

    grid: reactive[MatrixGrid] = reactive(MatrixGrid(), repaint=False)
    """Contents of the matrix."""
    cursor: reactive[tuple[int, int]] = reactive((0, 0), repaint=False)
    """Row and column of the cell under the cursor."""
    ascii: reactive[bool] = reactive(False)
    """Whether to use only ASCII characters. If so, there are no bars."""

    @dataclass
    class Moved(WidgetMessage):
        """The cursor moved to another cell."""

        row: int
        """Row of the cell."""
        column: int
        """Column of the cell."""

    def __init__(self, grid: MatrixGrid | None = None, *, ascii: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self._top = 0
        self._left = 0
        self.set_reactive(Matrix.grid, grid or MatrixGrid())
        self.set_reactive(Matrix.ascii, ascii)

    def watch_grid(self, before: MatrixGrid, grid: MatrixGrid) -> None:
        """Repaint changed rows. If headings or widths changed, repaint everything."""
        if (before.rows, before.columns, before.corner) != (grid.rows, grid.columns, grid.corner):
            self.cursor = self._clamp(*self.cursor)
            self.refresh(layout=True)
            return
        if self._column_widths(before) != self._column_widths(grid):
            self.refresh()
            return
        for index, (old, new) in enumerate(zip(before.cells, grid.cells, strict=True)):
            if old != new:
                self.refresh(Region(0, 1 + index - self._top, self.size.width, 1))

    def watch_cursor(self) -> None:
        """Scroll to the cell under the cursor, and post a message."""
        self._scroll()
        self.refresh()
        self.post_message(self.Moved(self, *self.cursor))

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Repaint, because the colour of the cursor depends on the focus."""
        super().watch_has_focus(_has_focus)
        self.refresh()

    def on_resize(self) -> None:
        """Keep the cursor visible."""
        self._scroll()

    def action_move(self, rows: int, columns: int) -> None:
        """Move the cursor by this number of rows and columns."""
        self.cursor = self._clamp(self.cursor[0] + rows, self.cursor[1] + columns)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the height of the headings and all rows."""
        return len(self.grid.rows) + 1 if self.grid.rows else 0

    def render_line(self, y: int) -> Strip:
        """Return the line with the headings, or a row."""
        width = self.size.width
        grid = self.grid
        if not grid.rows or y - 1 + self._top >= len(grid.rows):
            return Strip.blank(width, self.style_of(""))
        side = self._side_width()
        visible = self._columns_from(self._left)
        if y == 0:
            return self._header(side, visible)
        row = y - 1 + self._top
        segments = [
            Segment(pad(clean(grid.rows[row]), side), self.style_of("matrix--header" if row != self.cursor[0] else ""))
        ]
        for column, column_width in visible:
            segments.append(Segment(" " * GAP, self.style_of("")))
            segments += self._cell(grid.cells[row][column], column, column_width, current=(row, column) == self.cursor)
        return Strip(segments).adjust_cell_length(width, self.style_of(""))

    def _header(self, side: int, visible: list[tuple[int, int]]) -> Strip:
        grid, style = self.grid, self.style_of("matrix--header")
        rows = max(0, self.size.height - 1)
        corner = clean(grid.corner)
        if rows < len(grid.rows):
            corner = f"{corner} {self._top + 1}-{min(len(grid.rows), self._top + rows)} of {len(grid.rows)}".strip()
        text = pad(shorten(corner, side), side)
        for column, width in visible:
            label = shorten(clean(grid.columns[column]), width)
            text += " " * (GAP + width - width_of(label)) + label
        hidden = len(grid.columns) - len(visible)
        if hidden:
            note = f" +{hidden}"
            text = pad(shorten(text, max(1, self.size.width - len(note))), self.size.width - len(note)) + note
        return Strip([Segment(text, style)]).adjust_cell_length(self.size.width, style)

    def _cell(self, cell: MatrixCell, column: int, width: int, *, current: bool) -> list[Segment]:
        """Return the number, the bar and the sign of a cell. Numbers are right-aligned at their decimal points."""
        base = self.style_of("matrix--cursor" if current else "")
        _, tail = self._number_widths(self.grid, column)
        text = clean(cell.text)
        head, rest = split_number(text)
        text = head + rest.ljust(tail) if head[-1:].isdigit() else text
        bar = self._bar_text(cell)
        text_width = width - width_of(bar) - 2
        tone = self.style_of(f"matrix--{cell.tone}") if cell.tone else base
        colour = tone + base if current else tone
        label = shorten(f"[{text}]" if cell.framed else f" {text} ", text_width)
        return [
            Segment(" " * (text_width - width_of(label)), base),
            Segment(label, self._figure_style(cell, base, colour, current=current)),
            Segment(bar, base if current else self.style_of("matrix--bar")),
            Segment(" " + (clean(cell.sign) or " ")[:1], colour),
        ]

    def _figure_style(self, cell: MatrixCell, base: Style, colour: Style, *, current: bool) -> Style:
        """Return the style of a cell's number: reversed for a running cell, else that of the cursor or of the shade."""
        if cell.running:
            return base + self.get_component_rich_style("matrix--running", partial=True)
        if cell.level is None or cell.level != cell.level:
            return colour
        style = base if current else self.style_of(shade_of(cell.level))
        return style + Style(bold=True) if cell.framed else style

    def _bar_text(self, cell: MatrixCell) -> str:
        if self.ascii:
            return ""
        if cell.level is None or cell.level != cell.level:
            return "  "
        return " " + block(cell.level)

    def _number_widths(self, grid: MatrixGrid, column: int) -> tuple[int, int]:
        """Return the width of a column's numbers before the decimal point, and from the point on."""
        pairs = [split_number(clean(row[column].text)) for row in grid.cells]
        return max((width_of(head) for head, _ in pairs), default=0), max(
            (width_of(tail) for head, tail in pairs if head[-1:].isdigit()), default=0
        )

    def _column_widths(self, grid: MatrixGrid) -> list[int]:
        extra = 4 if self.ascii else 6  # for brackets, bar and sign
        return [
            max(sum(self._number_widths(grid, column)) + extra, min(WIDEST, width_of(clean(label))))
            for column, label in enumerate(grid.columns)
        ]

    def _side_width(self) -> int:
        """Return the width of the row headings: at most two fifths of the width of the matrix."""
        needed = max((width_of(clean(text)) for text in (*self.grid.rows, self.grid.corner)), default=0)
        return min(needed, max(8, self.size.width * 2 // 5))

    def _columns_from(self, first: int) -> list[tuple[int, int]]:
        """Return index and width of the columns that fit if `first` is the leftmost. There is at least one."""
        available = self.size.width - self._side_width()
        pairs: list[tuple[int, int]] = []
        for column, width in list(enumerate(self._column_widths(self.grid)))[first:]:
            available -= width + GAP
            if available < 0 and pairs:
                break
            pairs.append((column, width))
        return pairs

    def _clamp(self, row: int, column: int) -> tuple[int, int]:
        return (
            min(max(0, row), max(0, len(self.grid.rows) - 1)),
            min(max(0, column), max(0, len(self.grid.columns) - 1)),
        )

    def _scroll(self) -> None:
        if not self.size.height:
            return
        row, column = self.cursor
        visible_rows = max(1, self.size.height - 1)
        self._top = min(max(self._top, row - visible_rows + 1), row, max(0, len(self.grid.rows) - visible_rows))
        self._left = min(self._left, column)
        while self._left < column and column not in [at for at, _ in self._columns_from(self._left)]:
            self._left += 1


_NUMBER = re.compile(r"[^\d]*\d[\d,]*")


def split_number(text: str) -> tuple[str, str]:
    """Split a text after the integer part of its first number. Return both parts."""
    match = _NUMBER.match(text)
    return (text[: match.end()], text[match.end() :]) if match else (text, "")
