"""Dialogs with a list of choices, each with a help text and a risk."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from widgets.guarded_dialog import Clock, GuardedDialog
from widgets.keyed_table import KeyedTable, TableCell, TableColumn, TableRow
from widgets.table_layout import GAP
from widgets.table_renderer import GUTTER
from widgets.text_panel import TextParagraphs
from widgets.text_utils.text import clean, width_of

_WIDTH: Final = 72
"""Least width of the list in cells, where the screen is wide enough."""

_NOW_WIDTH: Final = 3
"""Width of the column that marks the current value."""

_SCROLLBAR_WIDTH: Final = 2
"""Width of the scrollbar, which is reserved even if the whole list fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceItem:
    """A choice in a list."""

    value: str
    """Value that the dialog returns for this choice."""
    label: str
    """Text of the choice in the list."""
    help: str = ""
    """Sentence that explains the choice; "" for none."""
    risk: str = ""
    """Risk of the choice in a word or two; "" for none."""


class ChoiceDialog(GuardedDialog[str | None]):
    """Dialog that returns the chosen value, or None if the user cancels it."""

    DEFAULT_CSS = """
    ChoiceDialog {
        & > .dialog { width: auto; min-width: 50; max-width: 90%; }
        & KeyedTable { height: auto; max-width: 100%; margin-top: 1; }
        & TextParagraphs { width: 72; max-width: 100%; }
        & .dialog-help { height: 3; margin-top: 1; }
        & .dialog-keys { color: $text-muted; height: 1; width: auto; }
    }
    """

    KEYS: ClassVar[str] = "enter chooses   esc cancels"
    """Text of the last line, which explains the keys."""

    def __init__(
        self,
        title: str,
        choices: tuple[ChoiceItem, ...],
        current: str | None = None,
        *,
        grace: float = 0.0,
        clock: Clock = time.monotonic,
    ) -> None:
        super().__init__(grace=grace, clock=clock)
        self._heading = title
        self._choices = {choice.value: choice for choice in choices}
        self._current = current

    def compose(self) -> ComposeResult:
        """Yield the title, the choices, and the help of the choice under the cursor."""
        risky = any(choice.risk for choice in self._choices.values())
        columns: tuple[TableColumn, ...] = (
            TableColumn(key="label", label="Choice"),
            TableColumn(key="now", label="", width=_NOW_WIDTH),
        )
        if risky:
            columns += (TableColumn(key="risk", label="Risk"),)
        with Vertical(classes="dialog"):
            yield TextParagraphs(self._heading, "title")
            table = KeyedTable(columns, tuple(self._row(choice) for choice in self._choices.values()))
            table.styles.width = max(_WIDTH, self._table_width(risky=risky))
            yield table
            yield TextParagraphs("", "label", classes="dialog-help")
            yield Static(Content(self.KEYS), classes="dialog-keys")

    def _table_width(self, *, risky: bool) -> int:
        """Return the width of the list with whole cells, its cursor and its scrollbar."""
        cells = max((width_of(clean(choice.label)) for choice in self._choices.values()), default=0) + GAP + _NOW_WIDTH
        if risky:
            cells += GAP + max(width_of(choice.risk) for choice in self._choices.values())
        return cells + GUTTER + _SCROLLBAR_WIDTH

    def on_mount(self) -> None:
        """Move the cursor to the current value."""
        super().on_mount()
        table = self.query_one(KeyedTable)
        if self._current in self._choices:
            table.cursor = self._current
        table.focus()

    def on_resize(self) -> None:
        """Limit the height of the list, so that a long list fits on the screen."""
        self.query_one(KeyedTable).styles.max_height = max(3, self.size.height - 9)

    @on(KeyedTable.RowHighlighted)
    def _show_help(self, event: KeyedTable.RowHighlighted) -> None:
        self.query_one(".dialog-help", TextParagraphs).say(self._choices[event.key].help, "label")

    @on(KeyedTable.RowSelected)
    def _choose(self, event: KeyedTable.RowSelected) -> None:
        self.take(event.key)

    def take(self, value: str) -> None:
        """Close the dialog with this value, if it already accepts answers."""
        if self.is_listening:
            self.dismiss(value)

    def _row(self, choice: ChoiceItem) -> TableRow:
        now = "now" if choice.value == self._current else ""
        return TableRow(
            key=choice.value,
            cells=(
                clean(choice.label),
                TableCell(text=now, tone="accent"),
                TableCell(text=choice.risk or "-", tone="warning" if choice.risk else "muted"),
            ),
        )


class MarkDialog(ChoiceDialog):
    """Dialog in which the user can mark several choices with space. After it has closed, `marked` has their values."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "mark", "Mark", show=False, id="choice.mark")]
    KEYS: ClassVar[str] = "space marks several   enter chooses   esc cancels"

    def __init__(
        self,
        title: str,
        choices: tuple[ChoiceItem, ...],
        current: str | None = None,
        *,
        marked: Collection[str] = (),
        alone: str = "",
        clock: Clock = time.monotonic,
    ) -> None:
        """`marked`: values that are marked initially. `alone`: value that cannot be marked together with others."""
        super().__init__(title, choices, current, clock=clock)
        self._marks = set(marked)
        self._alone = alone

    @property
    def marked(self) -> tuple[str, ...]:
        """Return the marked values in the order of the list."""
        return tuple(value for value in self._choices if value in self._marks)

    def action_mark(self) -> None:
        """Mark or unmark the choice under the cursor, then move to the next row."""
        table = self.query_one(KeyedTable)
        value = table.cursor
        if value is None:
            return
        if value == self._alone:
            self.query_one(".dialog-help", TextParagraphs).say(
                "This choice excludes the others: enter chooses it.", "warning"
            )
            return
        self._marks ^= {value}
        table.rows = tuple(self._row(choice) for choice in self._choices.values())
        table.action_cursor(1)

    def _row(self, choice: ChoiceItem) -> TableRow:
        return replace(super()._row(choice), marked=choice.value in self._marks)
