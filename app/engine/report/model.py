"""What a report says, whatever its format: tables and sentences made of a session. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.engine import units
from app.engine.compare import compare_experiment, varying
from app.engine.events import CommandRan, NoteAdded, ProblemMet, RulePersisted
from app.engine.figures import DirectionFigures
from app.engine.members.telling import COLUMNS, paths, row
from app.engine.session import ChangeRecord, RunRecord, Session
from backends.model import Array, Drive, Persistence, Risk
from backends.text import clean

_KEPT = {
    Persistence.STORED: "until changed again",
    Persistence.LOST_AT_REBOOT: "until reboot",
    Persistence.LOST_AT_POWER_OFF: "until power-off",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table: every row has as many cells as there are columns."""

    columns: tuple[str, ...]
    """Headings."""
    rows: tuple[tuple[str, ...], ...]
    """Cells, as text from tools and devices or made of it: not yet escaped for any format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeEntry:
    """One change with all that was done."""

    heading: str
    """What, from which value to which."""
    facts: tuple[tuple[str, str], ...]
    """Label and text."""
    commands: tuple[str, ...]
    """The very steps."""
    undo: tuple[str, ...]
    """The steps back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A session, ready to be written down."""

    title: str
    """One line."""
    simulated: bool
    """Whether any of it was not measured on hardware."""
    machine: tuple[tuple[str, str], ...]
    """Label and text."""
    devices: Grid
    """What was found last."""
    changes: tuple[ChangeEntry, ...]
    """Oldest first."""
    in_force: tuple[str, ...]
    """What still stands, a sentence each."""
    runs: Grid
    """What was measured, with the settings that differ as columns."""
    common: tuple[tuple[str, str], ...]
    """Settings that were the same in all runs."""
    latencies: Grid
    """Percentiles of each run and direction."""
    members: Grid
    """What the devices below the one that was measured did in each run."""
    findings: tuple[str, ...]
    """What each experiment has shown, a sentence or two."""
    compared: Grid
    """The figures of both letters of each experiment, with intervals and verdicts."""
    warnings: tuple[str, ...]
    """What makes figures doubtful, with the run it concerns."""
    notes: tuple[tuple[str, str], ...]
    """Time and text of what somebody wrote down."""
    problems: tuple[str, ...]
    """What went wrong."""
    commands: Grid
    """Everything that changed something, with its exit status."""


def report_of(session: Session) -> Report:
    """The report of a session."""
    runs, common = _runs(session.runs)
    return Report(
        title=f"Storage session {clean(session.id)}",
        simulated=session.simulated or any(run.start.simulated for run in session.runs),
        machine=tuple(_machine(session)),
        devices=_devices(session),
        changes=tuple(_change(record) for record in session.changes),
        in_force=tuple(_in_force(record) for record in session.in_force),
        runs=runs,
        common=common,
        latencies=_latencies(session.runs),
        members=_members(session.runs),
        findings=tuple(_findings(session)),
        compared=_compared(session),
        warnings=tuple(_warnings(session.runs)),
        notes=tuple((units.moment(each.at), each.text) for each in session.events if isinstance(each, NoteAdded)),
        problems=tuple(_problems(session)),
        commands=_commands(session),
    )


def _machine(session: Session) -> Iterator[tuple[str, str]]:
    machine = session.machine
    yield "Session", f"{session.id}, begun {units.moment(session.started)}"
    if machine is not None:
        yield "Host", machine.host
        yield "Processor", f"{machine.cpu}, {units.plural(machine.cores, 'logical CPU')}"
        yield "Memory", units.size(machine.memory_bytes)
        yield "Kernel", machine.kernel
        yield "System", machine.system
        yield "Rights", "root" if machine.root else "not root"
    versions = dict.fromkeys(run.start.fio_version for run in session.runs if run.start.fio_version)
    yield "Programs", ", ".join([f"raidbench {session.version}", *(f"fio {version}" for version in versions)])


def _devices(session: Session) -> Grid:
    inventory = session.inventory
    rows: list[tuple[str, ...]] = []
    for controller in inventory.controllers:
        firmware = f"firmware {controller.firmware}" if controller.firmware else ""
        rows.append((str(controller.target), "controller", "", "", controller.model or "", firmware))
    things: tuple[Array | Drive, ...] = (*inventory.arrays, *inventory.drives)
    for thing in things:
        if isinstance(thing, Array):
            kind, name = thing.level.value, thing.name or ""
        else:
            kind, name = thing.media.value, thing.model or thing.backing or ""
        use = ", ".join(dict.fromkeys(use.detail for use in thing.uses))
        rows.append((str(thing.target), kind, units.size(thing.size_bytes), thing.state.value, name, use))
    return Grid(columns=("Address", "Kind", "Size", "State", "Model", "In use"), rows=tuple(rows))


def _change(record: ChangeRecord) -> ChangeEntry:
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
    return ChangeEntry(
        heading=f"{record.id}: {intent.label} of {intent.target}, {_value(intent.before)} to {_value(intent.after)}",
        facts=tuple(facts),
        commands=tuple(step.shown() for step in intent.writes),
        undo=tuple(step.shown() for step in intent.undo),
    )


def _in_force(record: ChangeRecord) -> str:
    intent = record.intent
    now = intent.after if record.end is None else record.end.now
    was = f"{_value(now)} (was {_value(intent.before)}), {_KEPT[intent.persistence]}"
    return f"{record.id}: {intent.label} of {intent.target} is {was}."


def _runs(runs: Sequence[RunRecord]) -> tuple[Grid, tuple[tuple[str, str], ...]]:
    keys = varying([run.start.settings for run in runs])
    same = {key: text for run in runs[:1] for key, text in run.start.settings.items() if key not in keys}
    rows = tuple(
        (
            run.id,
            units.moment(run.start.at),
            run.start.target,
            run.start.title,
            *(run.start.settings.get(key, "") for key in keys),
            "" if run.figures.read is None else units.iops(run.figures.read.iops),
            "" if run.figures.write is None else units.iops(run.figures.write.iops),
            *(units.mib_per_s(each.bytes_per_second) if each else "" for each in (run.figures.read, run.figures.write)),
            units.percent(run.figures.cpu.fio_percent_of_core),
            run.figures.status.value + (" (SIMULATED)" if run.start.simulated else ""),
        )
        for run in runs
    )
    figures = ("Read IOPS", "Write IOPS", "Read MiB/s", "Write MiB/s", "fio CPU", "Ended")
    return Grid(columns=("Run", "When", "Target", "Job", *keys, *figures), rows=rows), tuple(same.items())


def _latencies(runs: Sequence[RunRecord]) -> Grid:
    rows = []
    for run in runs:
        for name, direction in (("read", run.figures.read), ("write", run.figures.write)):
            if direction is not None:
                rows.append((run.id, name, *_times(direction), str(direction.total_ios)))
    columns = ("Run", "", "mean", "p50", "p95", "p99", "p99.9", "max", "I/Os")
    return Grid(columns=columns, rows=tuple(rows))


def _members(runs: Sequence[RunRecord]) -> Grid:
    rows = []
    for run in runs:
        members = run.figures.members
        rows += [(run.id, *row(member, path)) for member, path in zip(members, paths(members), strict=True)]
    return Grid(columns=("Run", *COLUMNS), rows=tuple(rows))


def _times(direction: DirectionFigures) -> tuple[str, ...]:
    times = direction.latency_ns
    values = (times.mean, times.p50, times.p95, times.p99, times.p99_9, times.max)
    return tuple("too few I/Os" if value is None else units.latency(value) for value in values)


def _findings(session: Session) -> Iterator[str]:
    for record in session.experiments:
        start, end = record.start, record.end
        comparison = compare_experiment(session, record.id)
        shown = "No pair was measured to its end." if comparison is None else comparison.sentence
        how = "It never ended." if end is None else f"It ended early: {end.reason}." if end.reason else ""
        moved = "" if end is None else "; ".join(f"{key} moved along, {what}" for key, what in end.moved.items())
        told = (f"{record.id}, {start.target}: {shown}", how, f"{moved}." if moved else "")
        yield " ".join(filter(None, told))


def _compared(session: Session) -> Grid:
    rows = []
    for record in session.experiments:
        comparison = compare_experiment(session, record.id)
        for line in () if comparison is None else comparison.rows:
            a, b = line.figure.show(line.a), line.figure.show(line.b)
            rows.append((record.id, line.name, a, b, line.difference, line.word))
    return Grid(columns=("A/B", "Figure", "A", "B", "Difference [95 %]", "Shown"), rows=tuple(rows))


def _warnings(runs: Sequence[RunRecord]) -> Iterator[str]:
    for run in runs:
        if run.figures.reason:
            yield f"{run.id}: {run.figures.reason}"
        for warning in run.figures.warnings:
            yield f"{run.id}: {warning}"
        if run.start.destructive:
            found = "; ".join(run.start.found) or "nothing known"
            yield f"{run.id} overwrote {run.start.device or run.start.target}, where this was found: {found}"


def _problems(session: Session) -> Iterator[str]:
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


def _commands(session: Session) -> Grid:
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


def _value(text: str | None) -> str:
    return "unknown" if text is None else text
