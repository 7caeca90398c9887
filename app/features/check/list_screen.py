"""Base class of the screens that list findings: the list, and the selected finding in full below it."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual import on
from textual.app import ComposeResult

from app.core.presentation.table import Facts, Table
from app.core.session.state import Session
from app.tui import render
from app.tui.devices.detail import FactsPane
from app.tui.filtered_screen import FilteredScreen
from widgets.keyed_table import KeyedTable, TableColumn, TableRow
from widgets.pane import Pane

SENTENCE = 40
"""Minimum width of the column of findings in cells. If it would be narrower, the column of fixes is hidden."""


class FindingListScreen(FilteredScreen):
    """A list of findings. Subclasses provide its rows and what Enter does."""

    AUTO_FOCUS = "#findings"
    TITLE: ClassVar[str | None] = "Findings"

    def __init__(self) -> None:
        super().__init__()
        self.words = ""
        """Words of the filter."""
        self._described: str | None = None

    def body(self) -> ComposeResult:
        """Yield the list and the selected finding."""
        with Pane(str(self.TITLE), id="findings-pane"):
            yield KeyedTable(id="findings")
        with Pane("", id="finding-pane"):
            yield FactsPane(id="finding-facts")

    def on_mount(self) -> None:
        """Show the findings."""
        self.show(self.workbench_app.session)

    @property
    def filtered_list(self) -> KeyedTable:
        """The list."""
        return self.query_one("#findings", KeyedTable)

    def apply_filter(self, text: str) -> None:
        """Show only the rows with all words of `text`."""
        self.words = text
        self.show(self.workbench_app.session)

    def show(self, session: Session) -> None:
        """Update the list and the selected finding."""
        table, shown = self.filtered_list, self.make_table()
        table.sought = tuple(self.words.lower().split())
        table.empty = (
            f"nothing matches {self.words.strip()}: Esc shows all" if self.words.strip() else self.empty_text()
        )
        columns = tuple(
            replace(column, least=SENTENCE) if column.key == "finding" else column
            for column in self.make_columns(shown)
        )
        if columns != table.columns:
            table.columns = columns
        table.rows = self.make_rows(shown)
        pane = self.query_one("#findings-pane", Pane)
        pane.title, pane.note = self.title_text(), self.note_text()
        self._show_selected()

    @on(KeyedTable.RowHighlighted, "#findings")
    def _show_selected(self) -> None:
        key = self.filtered_list.cursor
        is_new, self._described = key != self._described, key
        title, facts, hint = ("", (), "") if key is None else self.describe(key)
        self.query_one("#finding-pane", Pane).title = title
        self.query_one(FactsPane).show(facts, is_new=is_new)
        self.hint(hint)

    @on(KeyedTable.RowSelected, "#findings")
    def _row_selected(self) -> None:
        if self.is_active:  # ignore a second Enter after the first one has left the screen
            self.open_row()

    def action_open(self) -> None:
        """Do what Enter does."""
        self.open_row()

    def action_back(self) -> None:
        """Leave the filter or the list."""
        if not self.clear_filter():
            self.dismiss()

    def make_table(self) -> Table:
        """Return the rows that match the filter."""
        raise NotImplementedError

    def make_columns(self, shown: Table) -> tuple[TableColumn, ...]:
        """Return the columns of a table in the form of the list."""
        return render.columns(shown)

    def make_rows(self, shown: Table) -> tuple[TableRow, ...]:
        """Return the rows of a table in the form of the list."""
        raise NotImplementedError

    def title_text(self) -> str:
        """Return the title of the list."""
        raise NotImplementedError

    def note_text(self) -> str:
        """Return the note below the list."""
        raise NotImplementedError

    def empty_text(self) -> str:
        """Return the text in place of the rows if there are none."""
        raise NotImplementedError

    def describe(self, key: str) -> tuple[str, tuple[Facts, ...], str]:
        """Return the title and the text of the pane below the list, and what Enter does with the row."""
        raise NotImplementedError

    def open_row(self) -> None:
        """Do what Enter does with the row under the cursor."""
        raise NotImplementedError
