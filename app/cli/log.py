"""`log`: the events of a session as lines or as JSON."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from app.cli.command import command
from app.cli.exit_status import DONE
from app.cli.output import Verbatim, data, lines, print_json, say, terminal_width
from app.cli.render import listing
from app.cli.session_context import picked_session, readable_sessions
from app.cli.shared_options import json_option, redact_option
from app.core.presentation.events import RECORDED, EventChoice, EventWords, describe_event
from app.core.presentation.table import Align, Column
from app.core.session import event_codec
from app.core.session.events import (
    ChangeIntended,
    CommandRan,
    InventorySeen,
    LoggedEvent,
    RunEnded,
    RunStarted,
    SessionStarted,
)
from app.core.session.folders import LOG
from app.core.session.results import RunResult
from app.core.session.state import Session
from backends.input_file import open_input
from backends.text import clean
from widgets.text_utils import units
from widgets.text_utils.text import wrap_words

# -- events of a session as lines -------------------------------------------------------------------------------------

_INDENT = " " * 10
_OUTPUT_LINES = 5


def event_lines(event: LoggedEvent, session: Session | None = None, hide: Callable[[str], str] = str) -> Iterator[str]:
    """Yield the lines of an event: first its time, kind and summary, then its details.

    `session`: the session that contains the event; None if unknown. `hide`: function that replaces secrets in a text.
    """
    event_words, width = describe_event(event, session), terminal_width()
    first, head = f"{units.clock(event.at)}  {event_words.kind:<8} ", hide(clean(event_words.head, 600))
    if isinstance(event, CommandRan):
        yield Verbatim(first + head)
    else:
        yield from wrap_words(head, width, first)
    for row in _detail_rows(event, event_words):
        yield from wrap_words(hide(clean(row, 600)), width, _INDENT)


def _detail_rows(event: LoggedEvent, event_words: EventWords) -> list[str]:
    """Return those details of an event that the terminal shows.

    The JSON output and the Log screen contain all details.
    """
    match event:
        case CommandRan():
            worth = event.mutates or event.returncode not in (0, None)
            return event.output.splitlines()[:_OUTPUT_LINES] if worth else []
        case ChangeIntended() | RunStarted() | InventorySeen() | SessionStarted():
            return []
        case RunEnded():
            return _run_notes(event.figures)
        case _:
            return list(event_words.body)


def _run_notes(figures: RunResult) -> list[str]:
    """Return the next step after a failed run, the advice and the warnings. The headline has results and reason."""
    rows = [figures.hint] if figures.hint else []
    rows += [" ".join(filter(None, (f"Advice: {item.message}", item.do))) for item in figures.advice]
    return [*rows, *(f"Note: {warning}" for warning in figures.warnings)]


# -- `log`: past and new events ---------------------------------------------------------------------------------------

_POLL_S = 0.5


@command("log", "raidbench log", "raidbench log --list", "raidbench log --show runs --json")
@click.option(
    "--show",
    type=click.Choice([choice.value for choice in RECORDED]),
    help="Events to show: `events` leaves out read-only commands (default: events; with --json: all).",
)
@click.option("--follow", is_flag=True, help="Show new events as they are added, until Ctrl-C.")
@click.option("--list", "listing", is_flag=True, help="List the sessions.")
@json_option
@redact_option
@click.argument("session", required=False)
def log_command(show: str | None, follow: bool, listing: bool, as_json: bool, redact: bool, session: str | None) -> int:
    """Show the events of a session.

    Events are changes, runs, notes and commands. SESSION is a name from --list, a folder or an archive (default: the
    last session). With --follow, --json prints one event a line.
    """
    if redact and (follow or listing):
        raise click.UsageError("--redact cannot be combined with --list or --follow.")
    if show and listing:
        raise click.UsageError("--show cannot be combined with --list.")
    if listing:
        return _list(as_json)
    choice = EventChoice(show) if show else EventChoice.ALL if as_json else EventChoice.EVENTS
    loaded = picked_session(session)
    if follow:
        return _follow(loaded.folder / LOG, choice, as_json)
    session_shown: Session = loaded.session
    hide: Callable[[str], str] = str
    if redact:
        from app.core.session.archive import session_redactor
        from app.core.session.redaction import redact_session

        redactor = session_redactor(loaded.session, loaded.folder)
        session_shown, hide = redact_session(loaded.session, redactor), redactor.text
    chosen = [event for event in session_shown.events if choice.shows(describe_event(event).kind)]
    if as_json:
        events = [event_codec.as_json(event) for event in chosen]
        print_json(session=hide(loaded.display_path), passed_over=loaded.passed_over, events=events)
        return DONE
    lines(row for event in chosen for row in event_lines(event, session_shown, hide))
    if show is None and (hidden := len(session_shown.events) - len(chosen)):
        say(f"Not shown: {units.plural(hidden, 'read-only command')} (--show all shows them).")
    return DONE


def _list(as_json: bool) -> int:
    sessions = list(readable_sessions())
    if as_json:
        listed = [
            {
                "name": loaded.folder.name,
                "folder": str(loaded.folder),
                "started": loaded.session.started,
                "simulated": loaded.session.simulated,
                **_counts(loaded.session),
            }
            for loaded in sessions
        ]
        print_json(sessions=listed)
        return DONE
    if not sessions:
        say("There is no session yet.")
        return DONE
    counts = (Column(title=title, align=Align.RIGHT) for title in ("Runs", "Changes", "In force"))
    rows = [
        (
            loaded.folder.name,
            units.moment(loaded.session.started)[:16],
            *map(str, _counts(loaded.session).values()),
            "SIMULATED" if loaded.session.simulated else "",
        )
        for loaded in sessions
    ]
    lines(listing(("Session", "Started", *counts, ""), rows))
    return DONE


def _counts(session: Session) -> dict[str, int]:
    return {"runs": len(session.runs), "changes": len(session.changes), "in_force": len(session.in_force)}


def _follow(file: Path, choice: EventChoice, as_json: bool) -> int:
    """Print the chosen events as they are appended to a log, until Ctrl-C or until standard output is closed."""
    partial_line = b""
    with open_input(file) as log:
        while True:
            chunk = log.read()
            *complete_lines, partial_line = (partial_line + chunk).split(b"\n")
            for line in complete_lines:
                event = event_codec.decode(line.decode("utf-8", "replace")) if line.strip() else None
                if event is None or not choice.shows(describe_event(event).kind):
                    continue
                if as_json:
                    data(line.decode("utf-8", "replace"))
                else:
                    lines(event_lines(event))
            time.sleep(_POLL_S)
