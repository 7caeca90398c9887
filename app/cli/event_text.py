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
from app.engine.session.figures import DirectionFigures, RunFigures
from app.engine.view.events import Told, told
from backends.text import clean
from widgets.plain import units

_INDENT = " " * 10
_OUTPUT_LINES = 5


def event_lines(event: LoggedEvent) -> Iterator[str]:
    """One line with the time, and what belongs to it below."""
    words = told(event)
    yield f"{units.clock(event.at)}  {words.kind:<8} {clean(words.head, 600)}"
    for row in _below(event, words):
        yield _INDENT + clean(row, 600)


def _below(event: LoggedEvent, words: Told) -> list[str]:
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
    """A run's figures in a line each direction, and its reason and warnings."""
    rows = [_direction("read ", figures.read), _direction("write", figures.write)]
    told = [row for row in rows if row]
    told += [clean(text, 600) for text in (figures.reason, figures.hint) if text]
    told += [" ".join(filter(None, (f"Mind: {each.message}", each.do))) for each in figures.advice]
    return [*told, *(f"Note: {clean(warning, 600)}" for warning in figures.warnings)]


def _direction(name: str, figures: DirectionFigures | None) -> str:
    if figures is None:
        return ""
    times = figures.latency_ns
    percentiles = f"p50 {units.latency(times.p50)}, p99 {units.latency(times.p99)}, p99.9 {units.latency(times.p99_9)}"
    return f"{name}  {units.iops(figures.iops)} IOPS, {units.rate(figures.bytes_per_second)}, {percentiles}"
