"""Events of a session as lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from app.engine.session.events import (
    ChangeIntended,
    CommandRan,
    InventorySeen,
    LoggedEvent,
    RunEnded,
    RunStarted,
    SessionStarted,
)
from app.engine.session.figures import RunFigures
from app.engine.session.state import Session
from app.engine.view.events import EventWords, describe_event
from app.engine.view.run import both_directions, direction_line
from backends.text import clean
from widgets.plain import units

_INDENT = " " * 10
_OUTPUT_LINES = 5


def event_lines(event: LoggedEvent, session: Session | None = None) -> Iterator[str]:
    """One line with the time, and what belongs to it below; `session`: what it belongs to, where that is known."""
    words = describe_event(event, session)
    yield f"{units.clock(event.at)}  {words.kind:<8} {clean(words.head, 600)}"
    for row in _below(event, words):
        yield _INDENT + clean(row, 600)


def _below(event: LoggedEvent, words: EventWords) -> list[str]:
    """What is worth a line on a terminal that scrolls: the rest is in the JSON, and in the workbench."""
    match event:
        case CommandRan():
            worth = event.mutates or event.returncode not in (0, None)
            return event.output.splitlines()[:_OUTPUT_LINES] if worth else []
        case ChangeIntended() | RunStarted() | InventorySeen() | SessionStarted():
            return []
        case RunEnded():
            return figure_lines(event.figures)
        case _:
            return list(words.body)


def figure_lines(figures: RunFigures) -> list[str]:
    """A run's figures in a line each direction, its reason, and what speaks against the figures."""
    rows = [direction_line(*each) for each in both_directions(figures)]
    rows += [text for text in (figures.reason, figures.hint) if text]
    rows += [" ".join(filter(None, (f"Advice: {each.message}", each.do))) for each in figures.advice]
    return [*rows, *(f"Note: {warning}" for warning in figures.warnings)]
