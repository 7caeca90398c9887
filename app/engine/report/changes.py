"""The changes of a session, what was put back, and every command that changed something. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from app.engine.report.blocks import Code, Facts, Grid, Section, section
from app.engine.session.events import CommandRan, ProblemMet, RulePersisted
from app.engine.session.state import ChangeRecord, Session
from backends.settings import Persistence, Risk
from widgets.plain import units

DETAILED = 12
"""Changes that are told with their steps; of more a table says more."""

_KEPT = {
    Persistence.STORED: "until changed again",
    Persistence.LOST_AT_REBOOT: "until reboot",
    Persistence.LOST_AT_POWER_OFF: "until power-off",
}


def change_sections(session: Session) -> Iterator[Section]:
    """Every change with its steps, or a table of them if they are many."""
    changes = session.changes
    if len(changes) > DETAILED:
        yield from section("Changes", _table(changes))
        return
    yield from section("Changes", always=True)
    for record in changes:
        yield from _change(record)


def _table(changes: tuple[ChangeRecord, ...]) -> Grid:
    rows = []
    for record in changes:
        intent, end = record.intent, record.end
        told = f"{value(intent.before)} to {value(intent.after)}"
        steps = "; ".join(step.shown() for step in intent.writes)
        outcome = "no outcome" if end is None else end.result
        rows.append((record.id, units.moment(intent.at), str(intent.target), intent.label, told, outcome, steps))
    return Grid(columns=("Change", "When", "Target", "Setting", "Value", "Outcome", "Steps"), rows=tuple(rows))


def _change(record: ChangeRecord) -> tuple[Section, ...]:
    intent, end = record.intent, record.end
    outcome = "no outcome: the program ended before" if end is None else end.result
    facts = [("Begun", units.moment(intent.at))]
    if end is not None:
        facts.append(("Ended", f"{units.moment(end.at)}, {units.duration(end.at - intent.at)} later"))
    facts.append(("Outcome", outcome))
    if end is not None:
        facts.append(("Read back", units.NOTHING if end.now is None else end.now))
        if end.message:
            facts.append(("Message", end.message))
    if intent.risk is not Risk.NONE:
        facts.append(("Risk", intent.risk.value))
    facts.append(("Stands", _KEPT[intent.persistence]))
    if intent.undoes:
        facts.append(("Takes back", intent.undoes))
    if record.undone_by:
        facts.append(("Taken back by", "itself" if record.undone_by == record.id else record.undone_by))
    return section(
        f"{record.id}: {intent.label} of {intent.target}, {value(intent.before)} to {value(intent.after)}",
        Facts(pairs=tuple(facts)),
        Code(lines=tuple(step.shown() for step in intent.writes)),
        Code(label="Taken back by:", lines=tuple(step.shown() for step in intent.undo)),
        level=3,
    )


def restored(session: Session) -> Iterator[str]:
    """What has its old value again, a sentence for each setting."""
    told: dict[tuple[str, str], list[ChangeRecord]] = {}
    for record in session.changes:
        if record.undone_by is not None:
            told.setdefault((str(record.intent.target), record.intent.label), []).append(record)
    for (target, label), records in told.items():
        times = f", {len(records)} times" if len(records) > 1 else ""
        yield f"{label} of {target}: {value(records[-1].intent.before)} again{times}."
    for each in session.experiments:
        if each.end is not None:
            start = each.start
            done = "has its value of before again" if each.end.restored else "was NOT put back"
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
    for record in session.in_force:
        intent = record.intent
        now = intent.after if record.end is None else record.end.now
        was = f"{value(now)} (was {value(intent.before)}), {_KEPT[intent.persistence]}"
        yield f"{record.id}: {intent.label} of {intent.target} is {was}."


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


def value(text: str | None) -> str:
    """A setting's value."""
    return "unknown" if text is None else text
