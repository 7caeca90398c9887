"""A matrix that fills in: set-ups against workloads, in every cell a figure on its shade, a bar and a sign."""

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
"""Cells of the heading of a column, at most."""

GAP = 2
"""Spaces between two columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixCell:
    """One cell."""

    text: str = ""
    """Its figure, or a word on its state."""
    level: float | None = None
    """How high its bar is and how strong its shade, 0 to 1; None for neither."""
    framed: bool = False
    """Whether it leads, alone or with others that are framed as well."""
    running: bool = False
    """Whether it is being measured: then it is inverse."""
    sign: str = " "
    """One character that says how it stands."""
    tone: Tone = ""
    """What the sign means, for its colour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixGrid:
    """What a matrix shows."""

    corner: str = ""
    """Over the headings of the rows."""
    columns: tuple[str, ...] = ()
    """Headings of the columns."""
    rows: tuple[str, ...] = ()
    """Headings of the rows."""
    cells: tuple[tuple[MatrixCell, ...], ...] = ()
    """A tuple for every row, with a cell for every column."""


_STYLES = {
    "header": "color: $text-muted; text-style: bold;",
    **TONE_STYLES,
    "accent": "color: $text-primary; text-style: bold;",
    "bar": "color: $primary;",
    "running": "text-style: bold reverse;",
    "cursor": "background: $block-cursor-blurred-background; text-style: bold;",
}
"""Component classes and their rules."""


class Matrix(StyleCachedWidget, can_focus=True):
    """As high as its rows where there is room; otherwise it shows what is around its cursor."""

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
    """What is shown."""
    cursor: reactive[tuple[int, int]] = reactive((0, 0), repaint=False)
    """Row and column of the cell that is told about elsewhere."""
    ascii: reactive[bool] = reactive(False)
    """Whether to draw without UTF-8: then without bars."""

    @dataclass
    class Moved(WidgetMessage):
        """The cursor came to another cell."""

        row: int
        """The cell's row."""
        column: int
        """The cell's column."""

    def __init__(self, grid: MatrixGrid | None = None, *, ascii: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self._top = 0
        self._left = 0
        self.set_reactive(Matrix.grid, grid or MatrixGrid())
        self.set_reactive(Matrix.ascii, ascii)

    def watch_grid(self, before: MatrixGrid, grid: MatrixGrid) -> None:
        """Paints what differs; all of it when headings changed."""
        if (before.rows, before.columns, before.corner) != (grid.rows, grid.columns, grid.corner):
            self.cursor = self._inside(*self.cursor)
            self.refresh(layout=True)
            return
        if self._widths_of(before) != self._widths_of(grid):
            self.refresh()
            return
        for at, (old, new) in enumerate(zip(before.cells, grid.cells, strict=True)):
            if old != new:
                self.refresh(Region(0, 1 + at - self._top, self.size.width, 1))

    def watch_cursor(self) -> None:
        """Brings the cell into sight and tells of it."""
        self._scroll()
        self.refresh()
        self.post_message(self.Moved(self, *self.cursor))

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Paints the cursor in its other colour."""
        super().watch_has_focus(_has_focus)
        self.refresh()

    def on_resize(self) -> None:
        """Keeps the cursor in sight."""
        self._scroll()

    def action_move(self, rows: int, columns: int) -> None:
        """Go to another cell."""
        self.cursor = self._inside(self.cursor[0] + rows, self.cursor[1] + columns)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The heading and the rows."""
        return len(self.grid.rows) + 1 if self.grid.rows else 0

    def render_line(self, y: int) -> Strip:
        """The headings, or a row."""
        width = self.size.width
        grid = self.grid
        if not grid.rows or y - 1 + self._top >= len(grid.rows):
            return Strip.blank(width, self.style_of(""))
        side = self._side()
        shown = self._columns_from(self._left)
        if y == 0:
            return self._header(side, shown)
        at = y - 1 + self._top
        segments = [
            Segment(pad(clean(grid.rows[at]), side), self.style_of("matrix--header" if at != self.cursor[0] else ""))
        ]
        for column, column_width in shown:
            segments.append(Segment(" " * GAP, self.style_of("")))
            segments += self._cell(grid.cells[at][column], column, column_width, current=(at, column) == self.cursor)
        return Strip(segments).adjust_cell_length(width, self.style_of(""))

    def _header(self, side: int, shown: list[tuple[int, int]]) -> Strip:
        grid, style = self.grid, self.style_of("matrix--header")
        rows = max(0, self.size.height - 1)
        corner = clean(grid.corner)
        if rows < len(grid.rows):
            corner = f"{corner} {self._top + 1}-{min(len(grid.rows), self._top + rows)} of {len(grid.rows)}".strip()
        text = pad(shorten(corner, side), side)
        for column, width in shown:
            label = shorten(clean(grid.columns[column]), width)
            text += " " * (GAP + width - width_of(label)) + label
        hidden = len(grid.columns) - len(shown)
        if hidden:
            note = f" +{hidden}"
            text = pad(shorten(text, max(1, self.size.width - len(note))), self.size.width - len(note)) + note
        return Strip([Segment(text, style)]).adjust_cell_length(self.size.width, style)

    def _cell(self, cell: MatrixCell, column: int, width: int, *, current: bool) -> list[Segment]:
        """Figure, bar and sign, right in the column, points under each other."""
        base = self.style_of("matrix--cursor" if current else "")
        _, tail = self._figures(self.grid, column)
        text = clean(cell.text)
        head, rest = split_number(text)
        text = head + rest.ljust(tail) if head[-1:].isdigit() else text
        bar = self._bar(cell)
        room = width - width_of(bar) - 2
        tone = self.style_of(f"matrix--{cell.tone}") if cell.tone else base
        colour = tone + base if current else tone
        shown = shorten(f"[{text}]" if cell.framed else f" {text} ", room)
        return [
            Segment(" " * (room - width_of(shown)), base),
            Segment(shown, self._figure_style(cell, base, colour, current=current)),
            Segment(bar, base if current else self.style_of("matrix--bar")),
            Segment(" " + (clean(cell.sign) or " ")[:1], colour),
        ]

    def _figure_style(self, cell: MatrixCell, base: Style, colour: Style, *, current: bool) -> Style:
        """Inverse while it is measured, else on its shade; under the cursor on that of the cursor."""
        if cell.running:
            return base + self.get_component_rich_style("matrix--running", partial=True)
        if cell.level is None or cell.level != cell.level:
            return colour
        style = base if current else self.style_of(shade_of(cell.level))
        return style + Style(bold=True) if cell.framed else style

    def _bar(self, cell: MatrixCell) -> str:
        if self.ascii:
            return ""
        if cell.level is None or cell.level != cell.level:
            return "  "
        return " " + block(cell.level)

    def _figures(self, grid: MatrixGrid, column: int) -> tuple[int, int]:
        """Widths before and from the decimal points of a column."""
        pairs = [split_number(clean(row[column].text)) for row in grid.cells]
        return max((width_of(head) for head, _ in pairs), default=0), max(
            (width_of(tail) for head, tail in pairs if head[-1:].isdigit()), default=0
        )

    def _widths_of(self, grid: MatrixGrid) -> list[int]:
        extra = 4 if self.ascii else 6  # brackets, bar, sign
        return [
            max(sum(self._figures(grid, column)) + extra, min(WIDEST, width_of(clean(label))))
            for column, label in enumerate(grid.columns)
        ]

    def _side(self) -> int:
        """Cells of the headings of the rows: as they need, at most two fifths of the room."""
        needed = max((width_of(clean(text)) for text in (*self.grid.rows, self.grid.corner)), default=0)
        return min(needed, max(8, self.size.width * 2 // 5))

    def _columns_from(self, first: int) -> list[tuple[int, int]]:
        """The columns that have room, from one on: (index, width); one at least."""
        room = self.size.width - self._side()
        pairs: list[tuple[int, int]] = []
        for column, width in list(enumerate(self._widths_of(self.grid)))[first:]:
            room -= width + GAP
            if room < 0 and pairs:
                break
            pairs.append((column, width))
        return pairs

    def _inside(self, row: int, column: int) -> tuple[int, int]:
        return (
            min(max(0, row), max(0, len(self.grid.rows) - 1)),
            min(max(0, column), max(0, len(self.grid.columns) - 1)),
        )

    def _scroll(self) -> None:
        if not self.size.height:
            return
        row, column = self.cursor
        room = max(1, self.size.height - 1)
        self._top = min(max(self._top, row - room + 1), row, max(0, len(self.grid.rows) - room))
        self._left = min(self._left, column)
        while self._left < column and column not in [at for at, _ in self._columns_from(self._left)]:
            self._left += 1


_NUMBER = re.compile(r"[^\d]*\d[\d,]*")


def split_number(text: str) -> tuple[str, str]:
    """A text before and from its decimal point, or from the end of its whole number when it has none."""
    match = _NUMBER.match(text)
    return (text[: match.end()], text[match.end() :]) if match else (text, "")
