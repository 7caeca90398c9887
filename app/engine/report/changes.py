"""The changes of a session, what was put back, and every command that changed something. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from app.engine.report.blocks import Code, Grid, Paragraph, Section, facts, grid, section
from app.engine.session.events import CommandRan, ProblemMet, RulePersisted
from app.engine.session.state import ChangeRecord, Session
from app.engine.view import change as view
from widgets.plain import units

DETAILED = 12
"""Changes that are told with their steps; of more a table says more."""


def change_sections(session: Session) -> Iterator[Section]:
    """Every change with its steps, or a table of them if they are many."""
    changes = session.changes
    if len(changes) > DETAILED:
        yield from section("Changes", grid(view.made(changes)))
        return
    told = [part for record in changes for part in _change(record)]
    yield from section("Changes", Paragraph(text=units.plural(len(told), "change") if told else ""), always=True)
    yield from told


def _change(record: ChangeRecord) -> tuple[Section, ...]:
    told = view.facts(record)
    return section(
        told.heading,
        facts(told),
        Code(lines=view.steps(record.change.writes)),
        Code(label="Taken back by:", lines=view.steps(record.change.undo)),
        level=3,
    )


def restored(session: Session) -> Iterator[str]:
    """What has its old value again, a sentence for each setting."""
    told: dict[tuple[str, str], list[ChangeRecord]] = {}
    for record in session.changes:
        if record.undone_by is not None:
            told.setdefault((str(record.change.target), record.change.label), []).append(record)
    for (target, label), records in told.items():
        times = f", {len(records)} times" if len(records) > 1 else ""
        yield f"{label} of {target}: {view.before(records[-1].change)} again{times}."
    for each in session.experiments:
        if each.end is not None:
            start = each.start
            done = "has its old value again" if each.end.restored else "was NOT put back"
            yield f"{each.id}: {start.label} of {start.target} {done} ({start.key}={start.a})."
    if session.sweep is not None and session.sweep.end is not None:
        yield from session.sweep.end.left
        if not session.sweep.end.left:
            before = [f"{one.key} of {one.target} = {one.value}" for one in session.sweep.design.originals]
            yield (
                f"Sweep: everything it set is as it was before: {', '.join(before)}."
                if before
                else "Sweep: it set nothing."
            )


def in_force(session: Session) -> Iterator[str]:
    """What still stands, a sentence each."""
    return map(view.standing, session.in_force)


def problems(session: Session) -> Iterator[str]:
    """What went wrong, and which settings are kept over a reboot."""
    for problem in session.inventory.problems:
        yield " ".join(filter(None, (f"{problem.where}: {problem.message}", problem.hint)))
    for event in session.events:
        match event:
            case ProblemMet():
                yield f"{units.moment(event.at)} {event.problem.where}: {event.problem.message}"
            case RulePersisted():
                kept = ", ".join(f"{key}={text}" for key, text in event.values.items()) or "nothing any more"
                yield f"{units.moment(event.at)} {event.path} keeps for {event.target}: {kept}"
            case _:
                pass


def commands(session: Session) -> Grid:
    """Everything that changed something, with its exit status."""
    ran = [event for event in session.events if isinstance(event, CommandRan) and event.mutates]
    rows = tuple(
        (
            units.moment(event.at),
            event.line,
            units.NOTHING if event.returncode is None else str(event.returncode),
            units.duration(event.seconds),
        )
        for event in ran
    )
    return Grid(columns=("When", "Command", "Status", "Took"), rows=rows)
