"""Table without a cursor. It is as high as its rows, and repaints only changed rows."""

from __future__ import annotations

from textual.geometry import Region, Size
from textual.reactive import reactive
from textual.strip import Strip

from widgets.table_layout import TableCell, TableColumn, TableLayout, TableRow, plain
from widgets.table_renderer import GUTTER, TableRenderer

__all__ = ["StaticTable", "TableCell", "TableColumn", "TableRow", "plain"]


class StaticTable(TableRenderer, can_focus=False):
    """Table of a few live rows. If there is too little space, columns are left out by priority."""

    DEFAULT_CSS = "StaticTable { height: auto; overflow: hidden hidden; &.-empty { display: none; } }"

    columns: reactive[tuple[TableColumn, ...]] = reactive((), repaint=False)
    """Columns, in order."""
    rows: reactive[tuple[TableRow, ...]] = reactive((), repaint=False)
    """Rows, in order. Without rows, the table takes no space."""

    def __init__(
        self,
        columns: tuple[TableColumn, ...] = (),
        rows: tuple[TableRow, ...] = (),
        *,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._layout_of_columns = TableLayout(columns, rows)
        self.set_reactive(StaticTable.columns, columns)
        self.set_reactive(StaticTable.rows, rows)
        self.set_class(not rows, "-empty")

    def watch_columns(self) -> None:
        """Measure all columns again."""
        self._layout_of_columns = TableLayout(self.columns, self.rows)
        self.refresh(layout=True)

    def watch_rows(self, before: tuple[TableRow, ...], rows: tuple[TableRow, ...]) -> None:
        """Repaint changed rows. If a column has grown or the number of rows has changed, repaint everything."""
        self.set_class(not rows, "-empty")
        if not before or not rows:
            self.watch_columns()
            return
        changed = [at for at, row in enumerate(rows) if at >= len(before) or before[at] != row]
        if self._layout_of_columns.measure(rows[at] for at in changed):
            self.refresh(layout=len(before) != len(rows))
        elif len(before) != len(rows):
            self.refresh(layout=True)
        else:
            for at in changed:
                self.refresh(Region(0, at + 1, self.size.width, 1))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the height of the header and all rows."""
        return len(self.rows) + 1 if self.rows else 0

    def render_line(self, y: int) -> Strip:
        """Return the header or a row."""
        width = self.size.width
        if not self.rows or y > len(self.rows):
            return Strip.blank(width, self.rich_style)
        placed = self._layout_of_columns.place(width - GUTTER)
        if y == 0:  # the header does not count hidden columns, because the table cannot show them
            return self.header_strip([column.column for column in placed], placed, width)
        return self.row_strip(self.rows[y - 1], placed, width, current=False)
