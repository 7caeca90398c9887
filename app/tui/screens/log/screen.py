"""The session as it was: every command, change, run and note."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input

from app.engine.session.events import LoggedEvent
from app.engine.session.state import Session
from app.engine.view.events import EventChoice, describe_event
from app.tui.base import WorkbenchScreen
from app.tui.render import TONES
from backends.errors import RaidbenchError
from widgets.field_dialog import TextDialog
from widgets.log_view import LogEntry, LogView
from widgets.pane import Pane
from widgets.plain import units
from widgets.text_field import TextField

FILTERS = {
    EventChoice.EVENTS: "what happened",
    EventChoice.CHANGES: "changes",
    EventChoice.RUNS: "runs",
    EventChoice.ALL: "everything, with what was only read",
}
"""What the log may show, in the order of its key."""


class LogScreen(WorkbenchScreen):
    """A log that folds, that leaves out what was only read, and that can be searched."""

    NAME: ClassVar[str] = "log"

    def __init__(self) -> None:
        super().__init__()
        self._entries: list[LogEntry] = []
        self._choice = EventChoice.EVENTS
        self._found = 0

    def body(self) -> ComposeResult:
        """The log and its search line."""
        with Pane("Log", id="log-pane"):
            yield LogView(id="log", ascii=self.workbench_app.ascii)
            yield TextField(placeholder="search", id="search", compact=True)

    def on_mount(self) -> None:
        """The log has the keys."""
        self.query_one(LogView).focus()

    def show(self, session: Session) -> None:
        """Add what is new."""
        if len(session.events) < len(self._entries):
            self._entries = []
        fresh = session.events[len(self._entries) :]
        if fresh or not self._entries:
            start = len(self._entries)
            self._entries += [log_entry(start + index, event, session) for index, event in enumerate(fresh)]
            self._show_chosen()

    def _show_chosen(self) -> None:
        view = self.query_one(LogView)
        view.entries = tuple(entry for entry in self._entries if self._choice.shows(entry.kind))
        view.empty = f"nothing yet among {FILTERS[self._choice]}: f shows more"
        self._show_titles()

    def _show_titles(self) -> None:
        """What is shown, how much of it, and what a search has found."""
        pane, view = self.query_one("#log-pane", Pane), self.query_one(LogView)
        pane.title = f"Log: {FILTERS[self._choice]}"
        hidden = len(self._entries) - len(view.entries)
        count = units.plural(len(view.entries), "event") + (f", {hidden} more with f" if hidden else "")
        if not view.search:
            pane.note = count
        elif self._found:
            pane.note = f"{units.plural(self._found, 'match', 'matches')}, n and N go on"
        else:
            pane.note = f"nothing matches among {FILTERS[self._choice]}"

    def action_filter_events(self) -> None:
        """What happened, changes, runs, everything."""
        choices = list(FILTERS)
        self._choice = choices[(choices.index(self._choice) + 1) % len(choices)]
        self._show_chosen()

    def action_note(self) -> None:
        """Write something down."""

        def written(text: str | None) -> None:
            if text:
                try:
                    self.workbench_app.workbench.note(text)
                except RaidbenchError as error:
                    self.workbench_app.tell(error, title="Not written down")

        self.app.push_screen(TextDialog("Note", help="A line in the session and its report."), written)

    def action_search(self) -> None:
        """Open the search line."""
        self.open_field(self.query_one("#search", Input))

    @on(Input.Changed, "#search")
    def _search_changed(self, event: Input.Changed) -> None:
        self.query_one(LogView).search = event.value

    @on(LogView.Searched)
    def _searched(self, event: LogView.Searched) -> None:
        self._found = event.count
        self._show_titles()

    @on(Input.Submitted, "#search")
    def _search_done(self) -> None:
        self.set_focus(self.query_one(LogView))
        self.action_next_match(1)

    def key_escape(self) -> None:
        """Leave the search."""
        field = self.query_one("#search", Input)
        field.value = ""
        field.display = False
        self.set_focus(self.query_one(LogView))

    def action_next_match(self, step: int) -> None:
        """Go to another match."""
        view = self.query_one(LogView)
        if not view.search:
            self.say("Nothing is searched for: / begins a search.")
        view.action_match(step)

    def action_save(self) -> None:
        """Write the report now."""
        self.workbench_app.ask_export()


def log_entry(index: int, event: LoggedEvent, session: Session | None = None) -> LogEntry:
    """One event as a line that unfolds."""
    words = describe_event(event, session)
    head = f"{units.clock(event.at)}  {words.head}"
    return LogEntry(key=str(index), head=head, body=words.body, kind=words.kind, tone=TONES[words.tone])
