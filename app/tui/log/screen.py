"""The Log screen: commands, changes, runs, notes and notices of the session."""

from __future__ import annotations

from operator import itemgetter
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.notifications import SeverityLevel
from textual.widgets import Input

from app.core.presentation.events import NOTICE, EventChoice, describe_event
from app.core.presentation.table import Tone
from app.core.session.events import LoggedEvent
from app.core.session.state import Session
from app.tui.base import WorkbenchScreen
from app.tui.notices import Notice
from app.tui.render import TONES
from backends.errors import RaidbenchError
from widgets.field_dialog import TextDialog
from widgets.log_view import LogEntry, LogView
from widgets.pane import Pane
from widgets.text_field import TextField
from widgets.text_utils import units

_TONES: Final[dict[SeverityLevel, Tone]] = {
    "information": Tone.PLAIN,
    "warning": Tone.ATTENTION,
    "error": Tone.BAD,
}


class LogScreen(WorkbenchScreen):
    """The log, whose entries can be expanded. It can hide read-only commands, and it can be searched."""

    NAME: ClassVar[str] = "log"

    def __init__(self) -> None:
        super().__init__()
        self._entries: list[tuple[float, LogEntry]] = []
        self._events = 0
        self._notices = 0
        self._choice = EventChoice.EVENTS
        self._found = 0

    def body(self) -> ComposeResult:
        """Compose the log and its search field."""
        with Pane("Log", id="log-pane"):
            yield LogView(id="log", ascii=self.workbench_app.ascii)
            yield TextField(placeholder="search", id="search", compact=True)

    def on_mount(self) -> None:
        """Focus the log."""
        self.query_one(LogView).focus()

    def show(self, session: Session) -> None:
        """Add new events and notices, in order of time."""
        messages = self.workbench_app.notices.messages
        if len(session.events) < self._events or len(messages) < self._notices:
            self._entries, self._events, self._notices = [], 0, 0
        events, notices = session.events[self._events :], messages[self._notices :]
        if not events and not notices and self._entries:
            return
        self._entries += [
            (event.at, log_entry(number, event, session)) for number, event in enumerate(events, self._events)
        ]
        self._entries += [
            (notice.at, notice_entry(number, notice)) for number, notice in enumerate(notices, self._notices)
        ]
        self._entries.sort(key=itemgetter(0))
        self._events, self._notices = len(session.events), len(messages)
        self._show_chosen()

    def show_notices(self) -> None:
        """Add new notices to the log at once."""
        super().show_notices()
        if self.query(LogView):
            self.show(self.workbench_app.session)

    def _show_chosen(self) -> None:
        view = self.query_one(LogView)
        view.entries = tuple(entry for _, entry in self._entries if self._choice.shows(entry.kind))
        view.empty = self.with_keys(f"no events yet ({self._choice.description}): <log.filter> shows more")
        self._show_titles()

    def _show_titles(self) -> None:
        """Show which kinds of events are listed, the number of entries, and the number of search matches."""
        pane, view = self.query_one("#log-pane", Pane), self.query_one(LogView)
        pane.title = f"Log: {self._choice.description}"
        hidden = len(self._entries) - len(view.entries)
        count = units.plural(len(view.entries), "event") + (f", {hidden} more with <log.filter>" if hidden else "")
        if not view.search:
            pane.note = self.with_keys(count)
        elif self._found:
            matches = units.plural(self._found, "match", "matches")
            pane.note = self.with_keys(f"{matches}: <log.next> next, <log.previous> previous")
        else:
            pane.note = f"no matches ({self._choice.description})"

    def action_filter_events(self) -> None:
        """Show the next selection: events, changes, runs, notices, or everything."""
        choices = list(EventChoice)
        self._choice = choices[(choices.index(self._choice) + 1) % len(choices)]
        self._show_chosen()

    def action_note(self) -> None:
        """Write a note."""

        def written(text: str | None) -> None:
            if text:
                try:
                    self.workbench_app.workbench.note(text)
                except RaidbenchError as error:
                    self.workbench_app.show_error(error, title="The note was not saved")

        self.app.push_screen(TextDialog("Note", help="A line in the session and its report."), written)

    def action_search(self) -> None:
        """Open the search field."""
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

    def action_back(self) -> None:
        """Close the search."""
        field = self.query_one("#search", Input)
        if not field.display:
            super().action_back()
        field.value = ""
        field.display = False
        self.set_focus(self.query_one(LogView))

    def action_next_match(self, step: int) -> None:
        """Go to the next or previous match."""
        view = self.query_one(LogView)
        if not view.search:
            self.say("There is no search: <log.search> starts one.")
        view.action_match(step)

    def action_save(self) -> None:
        """Write the report of the session."""
        self.workbench_app.ask_export()


def log_entry(index: int, event: LoggedEvent, session: Session | None = None) -> LogEntry:
    """Return an event as a line that can be expanded."""
    event_words = describe_event(event, session)
    head = f"{units.clock(event.at)}  {event_words.head}"
    return LogEntry(
        key=str(index), head=head, body=event_words.body, kind=event_words.kind, tone=TONES[event_words.tone]
    )


def notice_entry(index: int, notice: Notice) -> LogEntry:
    """Return a notice as a line that can be expanded."""
    first, *body = notice.text.splitlines() or [""]
    head = f"{units.clock(notice.at)}  {first}"
    return LogEntry(key=f"said{index}", head=head, body=tuple(body), kind=NOTICE, tone=TONES[_TONES[notice.severity]])
