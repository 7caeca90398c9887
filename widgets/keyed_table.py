"""Table of many live rows. It draws only visible rows, and redraws only changed ones."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.reactive import reactive
from textual.strip import Strip

from widgets.cached_styles import WidgetMessage
from widgets.table_layout import Align, PlacedColumn, TableCell, TableColumn, TableLayout, TableRow, Tone
from widgets.table_renderer import GUTTER, TableRenderer
from widgets.text_utils.text import pad, wrap

__all__ = ["Align", "KeyedTable", "TableCell", "TableColumn", "TableRow", "Tone"]


class KeyedTable(TableRenderer, can_focus=True):
    """Table whose rows have keys and are set as one tuple. When rows change, the cursor stays with its key."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "cursor(-1)", "Row up", show=False, id="table.up"),
        Binding("down,j", "cursor(1)", "Row down", show=False, id="table.down"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="table.page-up"),
        Binding("pagedown", "page(1)", "Page down", show=False, id="table.page-down"),
        Binding("home,g", "first", "First row", show=False, id="table.first"),
        Binding("end,G", "last", "Last row", show=False, id="table.last"),
        Binding("enter", "select", "Choose", show=False, id="table.select"),
    ]

    columns: reactive[tuple[TableColumn, ...]] = reactive((), repaint=False)
    """Columns, in order."""
    rows: reactive[tuple[TableRow, ...]] = reactive((), repaint=False)
    """Rows, in order. Their keys must be unique."""
    cursor: reactive[str | None] = reactive(None, repaint=False)
    """Key of the row under the cursor; None if there are no rows."""
    empty: reactive[str] = reactive("")
    """Text that is shown if there are no rows."""

    @dataclass
    class RowHighlighted(WidgetMessage):
        """The cursor moved to another row."""

        key: str
        """Key of the row."""

    @dataclass
    class RowSelected(WidgetMessage):
        """Enter was pressed, or the row under the cursor was clicked."""

        key: str
        """Key of the row."""

    def __init__(
        self,
        columns: tuple[TableColumn, ...] = (),
        rows: tuple[TableRow, ...] = (),
        *,
        empty: str = "",
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._layout_of_columns = TableLayout(columns, rows)
        self._awaits_rows = False
        self._measured: tuple[object, object] = (None, None)
        self._line_frame: tuple[int, tuple[PlacedColumn, ...]] | None = None
        self._index: dict[str, int] = {row.key: index for index, row in enumerate(rows)}
        self.set_reactive(KeyedTable.columns, columns)
        self.set_reactive(KeyedTable.rows, rows)
        self.set_reactive(KeyedTable.empty, empty)
        self.set_reactive(KeyedTable.cursor, self._nearest(0))
        self.virtual_size = Size(0, len(rows) + 1)

    @property
    def cursor_row(self) -> TableRow | None:
        """Row under the cursor; None if there is none."""
        index = self._index.get(self.cursor) if self.cursor is not None else None
        return self.rows[index] if index is not None else None

    def on_mount(self) -> None:
        """Post a message with the position of the cursor."""
        if self.cursor is not None:
            self.post_message(self.RowHighlighted(self, self.cursor))

    def on_resize(self) -> None:
        """Keep the cursor visible when the table gets shorter, or gets its first size."""
        if self.cursor is not None:
            self.show_row(self.cursor)

    def watch_columns(self) -> None:
        """Measure all columns again, now and with the rows for them, which are often set afterwards."""
        self._awaits_rows = True
        self.fit()

    def fit(self) -> None:
        """Fit the column widths to the current rows."""
        self._measure_all()
        self.refresh()

    def watch_rows(self, before: tuple[TableRow, ...], rows: tuple[TableRow, ...]) -> None:
        """Redraw visible lines that differ, and keep the cursor on its row."""
        # Compare identities first. Most rows are the same objects, and comparing 10,000 rows by value takes too long.
        pairs = [(old, row) for old, row in zip(before, rows, strict=False) if old is not row and old != row]
        changed = [*(row for _, row in pairs), *rows[len(before) :]]
        old_index = self._index
        if len(before) != len(rows) or any(old.key != row.key for old, row in pairs):
            self._index = {row.key: index for index, row in enumerate(rows)}
        if self._awaits_rows or not before or self._index.keys().isdisjoint(old_index):
            self._awaits_rows = False
            self._measure_all()
            grew = True
        else:
            # While columns are shown, they only grow, because a column that moves often is hard to read.
            grew, self._measured = self._layout_of_columns.measure(changed), (None, None)
        width_before = self._line_width
        if len(before) != len(rows):
            self.virtual_size = Size(0, len(rows) + 1)
        if grew or width_before != self._line_width:
            self.refresh()
        else:
            self._refresh_changed(before, rows)
        if self.cursor is None or self.cursor not in self._index:
            self.cursor = self._nearest(old_index.get(self.cursor or "", 0))

    def watch_cursor(self, before: str | None, key: str | None) -> None:
        """Redraw the old and the new row, scroll to the new one, and post a message."""
        for row in (before, key):
            if row is not None and row in self._index:
                self._refresh_row(self._index[row])
        if key is not None and key in self._index:
            self.show_row(key)
            self.post_message(self.RowHighlighted(self, key))

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Redraw the row under the cursor, whose colour depends on the focus."""
        super().watch_has_focus(_has_focus)
        if self.cursor is not None and self.cursor in self._index:
            self._refresh_row(self._index[self.cursor])

    def show_row(self, key: str) -> None:
        """Scroll until the row is visible."""
        index = self._index.get(key)
        if index is None or self.size.height < 2:
            return
        visible_rows, top = self.size.height - 1, round(self.scroll_y)
        if index <= top:
            over_heading = index > 0 and self.rows[index - 1].separator
            self.scroll_to(y=index - 1 if over_heading else index, animate=False, immediate=True)
        elif index >= top + visible_rows:
            self.scroll_to(y=index - visible_rows + 1, animate=False, immediate=True)

    @property
    def _line_width(self) -> int:
        """Width of a line in cells, without the scrollbar."""
        size = self.size  # Textual computes it at every access
        return size.width - (self.scrollbar_size_vertical if self.virtual_size.height > size.height else 0)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return lines of the table. Width and columns are computed once for all of them."""
        self._line_frame = (self._line_width, self._place())
        try:
            return super().render_lines(crop)
        finally:
            self._line_frame = None

    def render_line(self, y: int) -> Strip:
        """Return the header, or the visible row at this line."""
        width, placed = self._line_frame or (self._line_width, self._place())
        if y == 0:
            return self.header_strip(self.columns, placed, width)
        index = y - 1 + round(self.scroll_y)
        if index < len(self.rows):
            row = self.rows[index]
            return self.row_strip(row, placed, width, current=row.key == self.cursor)
        if not self.rows and self.empty:
            lines = wrap(self.empty, max(1, width - GUTTER))
            text = " " * GUTTER + lines[y - 1] if y <= len(lines) else ""
            style = self.get_component_rich_style("keyed-table--muted")
            return Strip([Segment(pad(text, width), style)], width)
        return Strip.blank(width, self.rich_style)

    def action_cursor(self, step: int) -> None:
        """Move the cursor by `step` rows. Headings are skipped."""
        self._move_to(self._position() + step, 1 if step > 0 else -1)

    def action_page(self, step: int) -> None:
        """Move the cursor by `step` pages."""
        self._move_to(self._position() + step * max(1, self.size.height - 2), 1 if step > 0 else -1)

    def action_first(self) -> None:
        """Move the cursor to the first row."""
        self._move_to(0, 1)

    def action_last(self) -> None:
        """Move the cursor to the last row."""
        self._move_to(len(self.rows) - 1, -1)

    def action_select(self) -> None:
        """Post a message that the row under the cursor was chosen."""
        if self.cursor is not None:
            self.post_message(self.RowSelected(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked row. If it is there already, choose the row."""
        index = event.y - 1 + round(self.scroll_y)
        if event.y == 0 or not 0 <= index < len(self.rows) or self.rows[index].separator:
            return
        if self.rows[index].key == self.cursor:
            self.action_select()
        else:
            self.cursor = self.rows[index].key

    def _position(self) -> int:
        return self._index.get(self.cursor or "", 0)

    def _move_to(self, index: int, direction: int) -> None:
        """Move the cursor to the row at `index`.

        If that is a heading, move to the nearest row, first in this direction.
        """
        if (key := self._nearest(index, direction)) is not None:
            self.cursor = key

    def _nearest(self, index: int, direction: int = 1) -> str | None:
        """Return the key of the nearest row that is not a heading; None if there is none.

        Rows in this direction come first.
        """
        rows: tuple[TableRow, ...] = self.rows
        index = min(max(index, 0), max(len(rows) - 1, 0))
        down, up = range(index, len(rows)), range(min(index, len(rows) - 1), -1, -1)
        positions = chain(down, up) if direction > 0 else chain(up, down)
        return next((rows[position].key for position in positions if not rows[position].separator), None)

    def _measure_all(self) -> None:
        """Measure all columns, unless columns and rows are unchanged."""
        content = (self.columns, self.rows)
        if all(old is new for old, new in zip(self._measured, content, strict=True)):
            return  # these rows were already measured when they were set, just before the caller called `fit`
        self._measured = content
        self._layout_of_columns = TableLayout(self.columns, self.rows)

    def _place(self) -> tuple[PlacedColumn, ...]:
        # Reserve the scrollbar even where all rows fit, so that more rows do not move the columns.
        return self._layout_of_columns.place(self.size.width - self.scrollbar_size_vertical - GUTTER)

    def _refresh_changed(self, before: tuple[TableRow, ...], rows: tuple[TableRow, ...]) -> None:
        (width, height), top = self.size, round(self.scroll_y)
        regions: list[Region] = []
        for index in range(top, min(top + height - 1, max(len(before), len(rows)))):
            old = before[index] if index < len(before) else None
            new = rows[index] if index < len(rows) else None
            if old is not new and old != new:
                y = index + 1 - top
                if regions and regions[-1].bottom == y:  # one region of many rows costs less than many of one row
                    regions[-1] = regions[-1].grow((0, 0, 1, 0))
                else:
                    regions.append(Region(0, y, width, 1))
        if regions:
            self.refresh(*regions)

    def _refresh_row(self, index: int) -> None:
        y = index + 1 - round(self.scroll_y)
        if 0 < y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))
