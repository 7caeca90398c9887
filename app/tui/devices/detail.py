"""The detail of one device: settings, facts and history, each in a tab."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widget import Widget

from app.core.presentation.table import Facts, Table
from app.tui import render
from app.tui.devices.activity_line import ActivityLine
from app.tui.devices.settings_panel import SettingsPanel
from widgets.details import Details
from widgets.keyed_table import KeyedTable
from widgets.text_panel import Line, TextPanel

if TYPE_CHECKING:
    from app.tui.base import WorkbenchScreen

TABS = {"settings": "Settings", "facts": "Facts", "history": "History"}
"""Titles of the tabs, in the order in which `t` shows them."""


class TabLine(TextPanel):
    """A line with the tabs, the current one in reverse video, and `key`, which switches between them."""

    DEFAULT_CSS = "TabLine { & > .lines--heading { text-style: bold reverse; } }"

    def __init__(self, key: str) -> None:
        super().__init__(id="tabs")
        self._key = key
        self._tabs: tuple[str, ...] = ()
        self._shown = ""

    def show(self, tabs: tuple[str, ...], shown: str) -> None:
        """Set the tabs and the current one."""
        if (tabs, shown) != (self._tabs, self._shown):
            self._tabs, self._shown = tabs, shown
            self.update_lines()

    def lay_out(self, width: int) -> list[Line]:
        """Return the line of tabs."""
        pieces = [("heading" if tab == self._shown else "label", f" {TABS[tab]} ") for tab in self._tabs]
        room = width - sum(len(text) for _, text in pieces)
        return [(*pieces, ("muted", f"{self._key} switches".rjust(room) if room > 10 else ""))]


class FactsPane(VerticalScroll):
    """Facts in groups, scrollable."""

    BINDINGS = [("j", "scroll_down"), ("k", "scroll_up"), ("g", "scroll_home"), ("G", "scroll_end")]  # noqa: RUF012

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._details = Details(id="facts")

    def compose(self) -> ComposeResult:
        """Compose the facts."""
        yield self._details

    def show(self, facts: tuple[Facts, ...], *, is_new: bool) -> None:
        """Show facts. `is_new`: they belong to another device, so scroll to the top."""
        self._details.groups = render.groups(facts)
        if is_new:
            self.scroll_home(animate=False)


class DeviceDetail(Vertical):
    """Shows one device: its title, the tabs, and the content of the current tab."""

    def __init__(self, activity: ActivityLine | None = None) -> None:
        """Create the widget. `activity`: the line with the present I/O of the device; None if it is unknown."""
        super().__init__(id="detail")
        self._activity = activity
        self.tab = "settings"
        """The current tab."""
        self.facts_apart = False
        """Whether the facts have their own pane next to the tabs."""
        self._history: KeyedTable | None = None

    def compose(self) -> ComposeResult:
        """Compose tabs, settings and facts. The history is created when it is first shown."""
        screen = cast("WorkbenchScreen", self.screen)
        yield TabLine(screen.with_keys(f"<{screen.NAME}.tab>"))
        if self._activity is not None:
            yield self._activity
        yield self.make_panel()
        yield FactsPane(id="facts-scroll")

    def make_panel(self) -> SettingsPanel:
        """Return the panel of settings."""
        return SettingsPanel()

    def on_mount(self) -> None:
        """Show the first tab."""
        self.show_tab(self.tab)

    @property
    def tabs(self) -> tuple[str, ...]:
        """The available tabs. Facts in their own pane need no tab."""
        return tuple(tab for tab in TABS if tab != "facts" or not self.facts_apart)

    def show_tab(self, tab: str) -> None:
        """Show another tab. If the focus was in the old tab, it moves to the new one."""
        inside = self.holds_focus
        self.tab = tab if tab in self.tabs else self.tabs[0]
        self.query_one(TabLine).show(self.tabs, self.tab)
        self.query_one(SettingsPanel).display = self.tab == "settings"
        self.query_one(FactsPane).display = self.tab == "facts"
        if self.tab == "history" or self._history is not None:
            self.history.display = self.tab == "history"
        if inside:
            self.screen.set_focus(self.entrance)

    def next_tab(self) -> None:
        """Show the next tab."""
        tabs = self.tabs
        self.show_tab(tabs[(tabs.index(self.tab) + 1) % len(tabs)])

    @property
    def history(self) -> KeyedTable:
        """The table of the device's history."""
        if self._history is None:
            self._history = KeyedTable(id="history", empty="no changes or runs in this session")
            self.mount(self._history)
        return self._history

    @property
    def holds_focus(self) -> bool:
        """Whether a widget inside this one has the focus."""
        focused = self.screen.focused
        return focused is not None and self in focused.ancestors

    @property
    def entrance(self) -> Widget:
        """The widget that gets the focus when the user enters the current tab."""
        if self.tab == "history":
            return self.history
        return self.query_one(SettingsPanel).table if self.tab == "settings" else self.query_one(FactsPane)

    def show_history(self, table: Table) -> None:
        """Show the device's history."""
        self.history.columns = render.columns(table)
        self.history.rows = render.rows(table)
