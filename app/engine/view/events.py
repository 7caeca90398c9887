"""What happened, in words: one way of saying it for the screens, the command line and whoever else tells it."""

from __future__ import annotations

from enum import StrEnum
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
from app.engine.session.state import Session
from app.engine.session.sweep_events import (
    SweepEnded,
    SweepExtended,
    SweepResumed,
    SweepStarted,
    SweepStepEnded,
    SweepStepStarted,
)
from app.engine.session.write_history import written_words
from app.engine.view.change import move, value
from app.engine.view.effects import outcome_cell
from app.engine.view.run import RUN_TONES, result_line
from app.engine.view.sweep_events import describe_sweep_event
from app.engine.view.table import Tone
from backends.values import dataclass
from widgets.plain import units

_WORTH_TELLING = 0.05
"""Seconds from which on it is told how long a command took."""

READ = "command"
"""The kind of a command that changed nothing."""

NOTICE = "notice"
"""The kind of what was said on the screens; no event of the session."""


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


class EventChoice(StrEnum):
    """Which events of a session are told: all of them, or what somebody looks for."""

    EVENTS = "events"
    """All but what was only read."""
    CHANGES = "changes"
    RUNS = "runs"
    NOTICES = "notices"
    """What was said on the screens."""
    ALL = "all"

    @property
    def words(self) -> str:
        """What is shown."""
        return _TITLES[self]

    def shows(self, kind: str) -> bool:
        """Whether events of that kind are among them."""
        match self:
            case EventChoice.ALL:
                return True
            case EventChoice.EVENTS:
                return kind != READ
            case EventChoice.CHANGES:
                return kind in ("change", "write")
            case EventChoice.RUNS:
                return kind == "run"
            case EventChoice.NOTICES:
                return kind == NOTICE


_TITLES = {
    EventChoice.EVENTS: "what happened",
    EventChoice.CHANGES: "changes",
    EventChoice.RUNS: "runs",
    EventChoice.NOTICES: "what was said",
    EventChoice.ALL: "everything, with what was only read",
}

RECORDED = tuple(each for each in EventChoice if each is not EventChoice.NOTICES)
"""Choices among what stands in the log on disk."""


def describe_event(event: LoggedEvent, session: Session | None = None) -> EventWords:
    """The event in words; `session`: what it belongs to, which knows the units of values."""
    kind, head, body, tone = _words(event)
    if isinstance(event, ChangeEnded) and session is not None and (known := session.change(event.id)) is not None:
        head = f"{event.id} {event.result}: now {value(known.change, event.now)}"
    return EventWords(kind=kind, head=head, body=tuple(body), tone=tone)


def _experiment_end(event: ExperimentEnded) -> str:
    """What it has shown, in its first sentence, and how it stands with the old value."""
    shown = event.sentence.partition(". ")[0].rstrip(".")
    cut = f"{event.status}: {event.reason.rstrip('.')}" if event.status is not RunStatus.OK else ""
    told = "; ".join(filter(None, (cut, shown))) or "all runs done"
    return f"{told}; the old value is back" if event.restored else f"THE OLD VALUE IS NOT BACK; {told}"


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
            code = "" if not event.returncode else f"  failed with exit status {event.returncode}"
            took = f"  {units.duration(event.seconds)}" if event.seconds >= _WORTH_TELLING else ""
            head = f"{event.line}{code}{took}"
            body = [f"$ {event.line}", *event.output.splitlines()]
            if event.output_file:
                body.append(f"all of it: {event.output_file}")
            return ("write" if event.mutates else READ), head, body, Tone.ACCENT if event.mutates else Tone.DIM
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
            body = [event.sentence] if event.sentence else []
            body += [f"{key} moved along: {what}" for key, what in event.moved.items()]
            tone = RUN_TONES[event.status] if event.restored else Tone.BAD
            return "run", f"{event.id} {_experiment_end(event)}", body, tone
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
