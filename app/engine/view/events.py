"""What happened, in words: one way of saying it for the screens, the command line and whoever else tells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

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
from app.engine.session.sweep_events import (
    SweepEnded,
    SweepExtended,
    SweepResumed,
    SweepStarted,
    SweepStepEnded,
    SweepStepStarted,
)
from app.engine.session.write_history import written_words
from app.engine.view.change import move
from app.engine.view.effects import outcome_cell
from app.engine.view.run import RUN_TONES, result_line
from app.engine.view.sweep_events import describe_sweep_event
from app.engine.view.table import Tone
from widgets.plain import units


@dataclass(frozen=True, slots=True, kw_only=True)
class EventWords:
    """An event in words; not cleaned for a terminal."""

    kind: str
    """What sort of thing it is: `session`, `devices`, `command`, `write`, `change`, `run`, `note`, `problem`."""
    head: str
    """One line."""
    body: tuple[str, ...] = ()
    """What belongs to it."""
    tone: Tone = Tone.PLAIN
    """How it went."""


def describe_event(event: LoggedEvent) -> EventWords:
    """The event in words."""
    kind, head, body, tone = _words(event)
    return EventWords(kind=kind, head=head, body=tuple(body), tone=tone)


def after_words(figures: RunFigures) -> tuple[str, ...]:
    """What else is to be said of a finished run: what to do next, and what makes the figures doubtful."""
    return tuple(filter(None, (figures.hint, *figures.warnings)))


def _words(event: LoggedEvent) -> tuple[str, str, list[str], Tone]:
    match event:
        case SessionStarted():
            machine = event.machine
            body = [f"{machine.cpu}, {machine.cores} CPUs", f"kernel {machine.kernel}", machine.system]
            simulated = " SIMULATED" if event.simulated else ""
            return "session", f"raidbench {event.version} on {machine.host}{simulated}", body, Tone.DIM
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
            return "devices", f"found {counts or 'nothing'}", body, Tone.BAD if found.problems else Tone.DIM
        case CommandRan():
            code = "" if event.returncode is None else f"  exit {event.returncode}"
            head = f"{event.line}{code}  {units.duration(event.seconds)}"
            body = [f"$ {event.line}", *event.output.splitlines()]
            if event.output_file:
                body.append(f"all of it: {event.output_file}")
            return ("write" if event.mutates else "command"), head, body, Tone.ACCENT if event.mutates else Tone.DIM
        case ChangeIntended():
            what = move(event.change)
            body = [step.shown() for step in event.change.writes]
            body += [f"undo: {step.shown()}" for step in event.change.undo]
            head = f"{event.id} undoes {event.undoes}: {what}" if event.undoes else f"{event.id} {what}"
            return "change", head, body, Tone.ACCENT
        case ChangeEnded():
            head = f"{event.id} {event.result}: now {event.now}"
            return "change", head, [event.message] if event.message else [], outcome_cell(event.result).tone
        case RunStarted():
            body = [f"{key} = {value}" for key, value in event.job.items()]
            body += [f"setting {key} = {value}" for key, value in event.settings.items()]
            return "run", f"{event.id} {event.title} on {event.target}", body, Tone.ACCENT
        case RunEnded():
            tone = RUN_TONES[event.figures.status]
            advice = [" ".join(filter(None, (each.message, each.do))) for each in event.figures.advice]
            body = [*after_words(event.figures), *advice, f"raw output: {event.folder}/fio.out"]
            return "run", f"{event.id} {result_line(event.figures)}", body, tone
        case PreconditionEnded():
            body = [] if event.remembered else ["It will not be remembered: nothing tells the device from another one."]
            return "run", f"{event.id} {event.target}: {written_words(event.written)}", body, Tone.ACCENT
        case ExperimentStarted():
            body = [f"{event.title} on {event.measured}", f"order {' '.join(event.order)}"]
            what = f"{event.label} of {event.target}, A {event.a}, B {event.b}"
            head = f"{event.id} {units.plural(event.pairs, 'pair')}: {what}"
            return "run", head, body, Tone.ACCENT
        case ExperimentEnded():
            how = "all runs done" if event.status is RunStatus.OK else f"{event.status}: {event.reason}"
            back = "the old value is back" if event.restored else "THE OLD VALUE IS NOT BACK"
            body = [event.sentence] if event.sentence else []
            body += [f"{key} moved along: {what}" for key, what in event.moved.items()]
            tone = RUN_TONES[event.status] if event.restored else Tone.BAD
            return "run", f"{event.id} {how}; {back}", body, tone
        case SweepStarted() | SweepResumed() | SweepExtended() | SweepStepStarted() | SweepStepEnded() | SweepEnded():
            words, lines, mood = describe_sweep_event(event)
            return "run", words, lines, mood
        case BaselineMarked():
            return "run", f"baseline: {event.run or 'none'}", [], Tone.DIM
        case NoteAdded():
            lines = event.text.splitlines() or [""]
            return "note", lines[0], lines[1:], Tone.PLAIN
        case RulePersisted():
            verb = "keeps" if event.values else "no longer keeps"
            body = [f"{key} = {value}" for key, value in event.values.items()]
            return "change", f"{event.path} {verb} {event.target} after a reboot", body, Tone.ACCENT
        case ProblemMet():
            problem = event.problem
            return "problem", f"{problem.where}: {problem.message}", [problem.hint] if problem.hint else [], Tone.BAD
        case SessionEnded():
            return "session", event.reason, [], Tone.DIM
        case _:
            assert_never(event)
