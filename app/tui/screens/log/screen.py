"""The session as it was: every command, change, run and note."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input

from app.engine.session.events import LoggedEvent
from app.engine.session.state import Session
from app.engine.view.events import describe_event
from app.tui.base import WorkbenchScreen
from app.tui.render import TONES
from backends.errors import RaidbenchError
from widgets.field_dialog import TextDialog
from widgets.log_view import LogEntry, LogView
from widgets.plain import units


class LogScreen(WorkbenchScreen):
    """A log that folds and can be searched."""

    NAME: ClassVar[str] = "log"

    def __init__(self) -> None:
        super().__init__()
        self._entries: list[LogEntry] = []

    def body(self) -> ComposeResult:
        """The log and its search line."""
        yield LogView(id="log")
        yield Input(placeholder="search", id="search", compact=True)

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
            self._entries += [log_entry(start + index, event) for index, event in enumerate(fresh)]
            self.query_one(LogView).entries = tuple(self._entries)

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
        self.query_one(LogView).action_match(step)

    def action_save(self) -> None:
        """Write the report now."""
        self.workbench_app.ask_export()


def log_entry(index: int, event: LoggedEvent) -> LogEntry:
    """One event as a line that unfolds."""
    words = describe_event(event)
    head = f"{units.clock(event.at)}  {words.head}"
    return LogEntry(key=str(index), head=head, body=words.body, kind=words.kind, tone=TONES[words.tone])
