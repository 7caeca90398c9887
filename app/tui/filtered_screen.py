"""Base class of screens with a list that the user filters by words."""

from __future__ import annotations

from textual import on
from textual.widgets import Input

from app.tui.base import WorkbenchScreen
from widgets.keyed_table import KeyedTable
from widgets.pane import pane_of
from widgets.text_field import TextField


class FilteredScreen(WorkbenchScreen):
    """A screen whose list shows only the rows with all words of a filter. Its field is created when it is needed."""

    def __init__(self) -> None:
        super().__init__()
        self._filter: TextField | None = None

    @property
    def filtered_list(self) -> KeyedTable:
        """The list that the filter applies to."""
        raise NotImplementedError

    def apply_filter(self, text: str) -> None:
        """Show only the rows with all words of `text`."""
        raise NotImplementedError

    def action_filter(self) -> None:
        """Open the filter."""
        if self._filter is None:
            pane = pane_of(self.filtered_list)
            assert pane is not None
            self._filter = TextField(placeholder="filter", id="filter", compact=True)
            self._filter.leave = self._leave_filter
            pane.mount(self._filter)
        self.open_field(self._filter)

    @on(Input.Changed, "#filter")
    def _filter_changed(self, event: Input.Changed) -> None:
        self.apply_filter(event.value)

    def _leave_filter(self) -> None:
        """Apply the filter at once, because the next key acts on its result."""
        if self._filter is not None:
            self.apply_filter(self._filter.value)
            self._close_filter()

    def _close_filter(self) -> None:
        if self._filter is not None:
            self._filter.display = bool(self._filter.value)
        self.set_focus(self.filtered_list)

    def clear_filter(self) -> bool:
        """Remove the filter if its field or the list has the focus; return whether there was one."""
        if self._filter is None or not self._filter.display or self.focused not in (self._filter, self.filtered_list):
            return False
        self.remove_filter()
        self.set_focus(self.filtered_list)
        return True

    def remove_filter(self) -> None:
        """Show all rows again."""
        if self._filter is not None:
            self._filter.value = ""
            self._filter.display = False
