"""What happened, in words: one way of saying it for the screens, the command line and whoever else tells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, assert_never

from app.engine.session.events import (
    BaselineMarked,
    ChangeEnded,
    ChangeIntended,
    CommandRan,
    ExperimentEnded,
    ExperimentStarted,
    InventorySeen,
    LoggedEvent,
    NoteAdded,
    PreconditionEnded,
    ProblemMet,
    RulePersisted,
    RunEnded,
    RunStarted,
    SessionEnded,
    SessionStarted,
)
from app.engine.session.figures import RunFigures, RunStatus
from app.engine.session.steady import outcome_words
from app.engine.session.sweep_events import (
    SweepEnded,
    SweepExtended,
    SweepResumed,
    SweepStarted,
    SweepStepEnded,
    SweepStepStarted,
)
from app.engine.session.write_history import written_words
from app.engine.view.sweep_events import sweep_words
from widgets.plain import units

Tone = Literal["", "accent", "good", "warning", "bad", "muted"]
"""How it went, for a colour; the words say it too."""

RUN_TONES: dict[RunStatus, Tone] = {RunStatus.OK: "good", RunStatus.STOPPED: "warning", RunStatus.FAILED: "bad"}
"""How a run's end is coloured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An event in words; not cleaned for a terminal."""

    kind: str
    """What sort of thing it is: `session`, `devices`, `command`, `write`, `change`, `run`, `note`, `problem`."""
    head: str
    """One line."""
    body: tuple[str, ...] = ()
    """What belongs to it."""
    tone: Tone = ""
    """How it went."""


def told(event: LoggedEvent) -> Told:
    """The event in words."""
    kind, head, body, tone = _words(event)
    return Told(kind=kind, head=head, body=tuple(body), tone=tone)


def result_line(figures: RunFigures) -> str:
    """A finished run in one line."""
    parts = []
    for name, direction in (("read", figures.read), ("write", figures.write)):
        if direction is not None:
            latency = direction.latency_ns
            parts.append(
                f"{name} {units.iops(direction.iops)} IOPS, {units.rate(direction.bytes_per_second)}, "
                f"p50 {units.latency(latency.p50)}, p99 {units.latency(latency.p99)}"
            )
    text = "; ".join(parts) or "nothing was measured"
    if figures.steady is not None and (figures.steady.waited_s or figures.steady.ended_early):
        text = f"{text}; {outcome_words(figures.steady)}"
    if figures.status is RunStatus.OK:
        return f"done: {text}"
    return f"{figures.status}: {figures.reason or ''} {text if parts else ''}".strip()


def after_words(figures: RunFigures) -> tuple[str, ...]:
    """What else is to be said of a finished run: what to do next, and what makes the figures doubtful."""
    return tuple(filter(None, (figures.hint, *figures.warnings)))


def minded_mark(figures: RunFigures) -> str:
    """The mark behind a run's state in lists: how much is to be minded. ` !`, ` !3`, or nothing."""
    count = len(figures.warnings) + len(figures.advice)
    return "" if not count else " !" if count == 1 else f" !{count}"


def _words(event: LoggedEvent) -> tuple[str, str, list[str], Tone]:
    match event:
        case SessionStarted():
            machine = event.machine
            body = [f"{machine.cpu}, {machine.cores} CPUs", f"kernel {machine.kernel}", machine.system]
            simulated = " SIMULATED" if event.simulated else ""
            return "session", f"raidbench {event.version} on {machine.host}{simulated}", body, "muted"
        case InventorySeen():
            found = event.inventory
            twins = found.twins
            drives = [drive for drive in found.drives if drive.target not in twins]
            counts = ", ".join(
                units.plural(len(things), word)
                for things, word in (
                    (found.controllers, "controller"),
                    (found.arrays, "array"),
                    (drives, "drive"),
                )
                if things
            )
            body = [" ".join(filter(None, (str(d.target), d.model, units.size(d.size_bytes)))) for d in drives] + [
                f"{problem.where}: {problem.message} {problem.hint}" for problem in found.problems
            ]
            return "devices", f"found {counts or 'nothing'}", body, "bad" if found.problems else "muted"
        case CommandRan():
            code = "" if event.returncode is None else f"  exit {event.returncode}"
            head = f"{event.line}{code}  {units.duration(event.seconds)}"
            body = [f"$ {event.line}", *event.output.splitlines()]
            if event.output_file:
                body.append(f"all of it: {event.output_file}")
            return ("write" if event.mutates else "command"), head, body, "accent" if event.mutates else "muted"
        case ChangeIntended():
            what = f"{event.change.label} of {event.change.target}: {event.change.before} -> {event.change.after}"
            body = [step.shown() for step in event.change.writes]
            body += [f"undo: {step.shown()}" for step in event.change.undo]
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
            tone: Tone = RUN_TONES[event.figures.status]
            minded = [" ".join(filter(None, (each.message, each.do))) for each in event.figures.advice]
            body = [*after_words(event.figures), *minded, f"raw output: {event.folder}/fio.out"]
            return "run", f"{event.id} {result_line(event.figures)}", body, tone
        case PreconditionEnded():
            body = [] if event.remembered else ["It will not be remembered: nothing tells the device from another one."]
            return "run", f"{event.id} {event.target}: {written_words(event.written)}", body, "accent"
        case ExperimentStarted():
            body = [f"{event.title} on {event.measured}", f"order {' '.join(event.order)}"]
            what = f"{event.label} of {event.target}, A {event.a}, B {event.b}"
            head = f"{event.id} {units.plural(event.pairs, 'pair')}: {what}"
            return "run", head, body, "accent"
        case ExperimentEnded():
            how = "all runs done" if event.status is RunStatus.OK else f"{event.status}: {event.reason}"
            back = "the old value is back" if event.restored else "THE OLD VALUE IS NOT BACK"
            body = [event.sentence] if event.sentence else []
            body += [f"{key} moved along: {what}" for key, what in event.moved.items()]
            tone = RUN_TONES[event.status] if event.restored else "bad"
            return "run", f"{event.id} {how}; {back}", body, tone
        case SweepStarted() | SweepResumed() | SweepExtended() | SweepStepStarted() | SweepStepEnded() | SweepEnded():
            words, lines, mood = sweep_words(event)
            return "run", words, lines, mood
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
