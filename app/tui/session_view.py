"""Runs and events as the rows that the Runs and Log screens show. Pure."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import assert_never

from app.engine import units
from app.engine.compare import varying
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
from app.engine.figures import DirectionFigures, RunStatus
from app.engine.session import RunRecord
from app.tui.bench_view import result_line
from widgets.keyed_table import Cell, Column, Row
from widgets.log_view import LogEntry
from widgets.table_layout import Tone

_MARKS: dict[RunStatus, tuple[str, Tone]] = {
    RunStatus.OK: ("ok", "good"),
    RunStatus.STOPPED: ("stopped", "warning"),
    RunStatus.FAILED: ("failed", "bad"),
}


def differing_settings(runs: Iterable[RunRecord]) -> tuple[str, ...]:
    """Keys of the settings that are not the same in all runs."""
    return tuple(varying([run.start.settings for run in runs]))


def run_columns(keys: tuple[str, ...]) -> tuple[Column, ...]:
    """Columns of the list of runs, with one for each differing setting."""
    return (
        Column(key="id", label="Run"),
        Column(key="time", label="Time", priority=4),
        Column(key="target", label="Target", priority=2),
        Column(key="job", label="Job", priority=1),
        *(Column(key=key, label=key, priority=3) for key in keys),
        Column(key="read", label="Read/s", align="decimal"),
        Column(key="write", label="Write/s", align="decimal"),
        Column(key="p50", label="p50", align="right"),
        Column(key="p99", label="p99", align="right"),
        Column(key="status", label="Status"),
    )


def run_row(run: RunRecord, keys: tuple[str, ...], *, key: str, marked: bool, baseline: bool, active: bool) -> Row:
    """One run."""
    figures = run.figures
    both = [direction for direction in (figures.read, figures.write) if direction is not None]
    status, tone = ("running", "accent") if active else _MARKS[figures.status]
    if baseline:
        status += " baseline"
    if figures.warnings:
        status += " !"
    where = run.start.target
    return Row(
        key=key,
        cells=(
            key if "/" not in key else key.rpartition("/")[2],
            time.strftime("%H:%M:%S", time.localtime(run.start.at)),
            where if len(where) <= 24 else f"…{where[-23:]}",
            run.start.profile or run.start.title,
            *(run.start.settings.get(name, "") for name in keys),
            units.iops(figures.read.iops) if figures.read else "",
            units.iops(figures.write.iops) if figures.write else "",
            units.latency(_slowest(both, "p50")) if both else "",
            units.latency(_slowest(both, "p99")) if both else "",
            Cell(text=status, tone=tone),  # type: ignore[arg-type]
        ),
        marked=marked,
    )


def _slowest(directions: list[DirectionFigures], name: str) -> float | None:
    values = [value for direction in directions if (value := getattr(direction.latency_ns, name)) is not None]
    return max(values) if values else None


def log_entry(index: int, event: LoggedEvent) -> LogEntry:
    """One event as a line that unfolds."""
    clock = time.strftime("%H:%M:%S", time.localtime(event.at))
    kind, head, body, tone = _words(event)
    return LogEntry(key=str(index), head=f"{clock}  {head}", body=tuple(body), kind=kind, tone=tone)


def _words(event: LoggedEvent) -> tuple[str, str, list[str], Tone]:
    match event:
        case SessionStarted():
            machine = event.machine
            body = [f"{machine.cpu}, {machine.cores} CPUs", f"kernel {machine.kernel}", machine.system]
            simulated = " SIMULATED" if event.simulated else ""
            return "session", f"raidbench {event.version} on {machine.host}{simulated}", body, "muted"
        case InventorySeen():
            found = event.inventory
            counts = ", ".join(
                units.plural(len(things), word)
                for things, word in (
                    (found.controllers, "controller"),
                    (found.arrays, "array"),
                    (found.drives, "drive"),
                )
                if things
            )
            body = [
                " ".join(filter(None, (str(d.target), d.model, units.size(d.size_bytes)))) for d in found.drives
            ] + [f"{problem.where}: {problem.message} {problem.hint}" for problem in found.problems]
            return "devices", f"found {counts or 'nothing'}", body, "bad" if found.problems else "muted"
        case CommandRan():
            code = "" if event.returncode is None else f"  exit {event.returncode}"
            head = f"{event.line}{code}  {units.duration(event.seconds)}"
            body = [f"$ {event.line}", *event.output.splitlines()]
            if event.output_file:
                body.append(f"all of it: {event.output_file}")
            return ("write" if event.mutates else "command"), head, body, "accent" if event.mutates else "muted"
        case ChangeIntended():
            what = f"{event.label} of {event.target}: {event.before} -> {event.after}"
            body = [step.shown() for step in event.writes]
            body += [f"undo: {step.shown()}" for step in event.undo]
            head = f"{event.id} undoes {event.undoes}: {what}" if event.undoes else f"{event.id} {what}"
            return "change", head, body, "accent"
        case ChangeEnded():
            tones: dict[str, Tone] = {"verified": "good", "restored": "good", "kept": "muted", "differs": "warning"}
            head = f"{event.id} {event.result}: now {event.now}"
            return "change", head, [event.message] if event.message else [], tones.get(event.result, "bad")
        case RunStarted():
            body = [f"{key} = {value}" for key, value in event.job.items()]
            body += [f"setting {key} = {value}" for key, value in event.settings.items()]
            return "run", f"{event.id} {event.title} on {event.target}", body, "accent"
        case RunEnded():
            tone: Tone = _MARKS[event.figures.status][1]
            body = [*event.figures.warnings, f"raw output: {event.folder}/fio.out"]
            return "run", f"{event.id} {result_line(event.figures)}", body, tone
        case BaselineMarked():
            return "run", f"baseline: {event.run or 'none'}", [], "muted"
        case NoteAdded():
            lines = event.text.splitlines() or [""]
            return "note", lines[0], lines[1:], ""
        case RulePersisted():
            verb = "keeps" if event.values else "no longer keeps"
            body = [f"{key} = {value}" for key, value in event.values.items()]
            return "change", f"{event.path} {verb} {event.target} after a reboot", body, "accent"
        case ProblemMet():
            problem = event.problem
            return "problem", f"{problem.where}: {problem.message}", [problem.hint] if problem.hint else [], "bad"
        case SessionEnded():
            return "session", event.reason, [], "muted"
        case _:
            assert_never(event)
