"""Events of a session as lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from app.cli.output import sign
from app.cli.review import value
from app.engine import units
from app.engine.events import (
    BaselineMarked,
    ChangeEnded,
    ChangeIntended,
    CommandRan,
    InventorySeen,
    LoggedEvent,
    NoteAdded,
    ProblemMet,
    RulePersisted,
    RunEnded,
    RunStarted,
    SessionEnded,
    SessionStarted,
)
from app.engine.figures import DirectionFigures, RunFigures
from backends.text import clean

_INDENT = " " * 10
_OUTPUT_LINES = 5


def event_lines(event: LoggedEvent) -> Iterator[str]:
    """One line with the time, and what belongs to it below."""
    first, *more = _told(event)
    yield f"{units.clock(event.at)}  {first}"
    for row in more:
        yield _INDENT + row


def _told(event: LoggedEvent) -> list[str]:
    match event:
        case SessionStarted():
            simulated = ", SIMULATED" if event.simulated else ""
            user = "root" if event.machine.root else "not root"
            return [f"session  {units.moment(event.at)} on {clean(event.machine.host)}, {user}{simulated}"]
        case InventorySeen():
            found = event.inventory
            counts = ((found.controllers, "controller"), (found.arrays, "array"), (found.drives, "drive"))
            return ["devices  " + ", ".join(units.plural(len(things), word) for things, word in counts)]
        case CommandRan():
            return _command(event)
        case ChangeIntended():
            what = f"{event.label} of {event.target}: {value(event.before)} -> {value(event.after)}"
            undoes = f", takes back {event.undoes}" if event.undoes else ""
            return [f"change   {event.id}  {clean(what, 300)}{undoes}"]
        case ChangeEnded():
            message = [clean(event.message, 600)] if event.message else []
            return [f"change   {event.id}  {sign(event.result)}, now {value(event.now)}", *message]
        case RunStarted():
            simulated = ", SIMULATED" if event.simulated else ""
            return [f"run      {event.id}  {clean(event.target, 200)}: {clean(event.title, 200)}{simulated}"]
        case RunEnded():
            return [f"run      {event.id}  {sign(event.figures.status.value)}", *figure_lines(event.figures)]
        case BaselineMarked():
            return [f"baseline {event.run}" if event.run else "baseline taken away"]
        case NoteAdded():
            return [f"note     {clean(event.text, 2000)}"]
        case RulePersisted():
            kept = ", ".join(f"{key}={text}" for key, text in event.values.items()) or "nothing"
            return [f"persist  {event.target}: {clean(kept, 400)} in {clean(event.path, 200)}"]
        case ProblemMet():
            return [f"problem  {clean(event.problem.where)}: {clean(event.problem.message, 600)}"]
        case SessionEnded():
            return [f"left     {clean(event.reason, 200)}"]
        case _:
            assert_never(event)


def _command(event: CommandRan) -> list[str]:
    status = "" if event.returncode in (0, None) else f" (exit status {event.returncode})"
    output = [clean(line, 200) for line in event.output.splitlines()[:_OUTPUT_LINES]] if event.mutates or status else []
    mark = "write" if event.mutates else "read "
    return [f"{mark}    {clean(event.line, 300)}{status}, {units.duration(event.seconds)}", *output]


def figure_lines(figures: RunFigures) -> list[str]:
    """A run's figures in a line each direction, and its reason and warnings."""
    rows = [_direction("read ", figures.read), _direction("write", figures.write)]
    told = [row for row in rows if row]
    told += [clean(text, 600) for text in (figures.reason, figures.hint) if text]
    return [*told, *(f"Note: {clean(warning, 600)}" for warning in figures.warnings)]


def _direction(name: str, figures: DirectionFigures | None) -> str:
    if figures is None:
        return ""
    times = figures.latency_ns
    percentiles = f"p50 {units.latency(times.p50)}, p99 {units.latency(times.p99)}, p99.9 {units.latency(times.p99_9)}"
    return f"{name}  {units.iops(figures.iops)} IOPS, {units.rate(figures.bytes_per_second)}, {percentiles}"
