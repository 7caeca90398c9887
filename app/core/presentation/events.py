"""Texts for the events of sessions and sweeps. No I/O."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import assert_never

from app.core.presentation.change import change_text, change_value_text, moved_name, moved_texts, movement_text
from app.core.presentation.comparison_text import experiment_end_text
from app.core.presentation.device import count_texts
from app.core.presentation.finding_counts import findings_text
from app.core.presentation.risk_text import outcome_cell
from app.core.presentation.run import (
    NOT_MEASURED,
    RUN_TONES,
    direction_line,
    measured_directions,
    parts_of,
    result_line,
)
from app.core.presentation.table import Tone
from app.core.session.event_types import written_text
from app.core.session.events import (
    BaselineMarked,
    ChangeEnded,
    ChangeIntended,
    CommandRan,
    ExperimentEnded,
    ExperimentStarted,
    InventorySeen,
    LoggedEvent,
    MachineChecked,
    NoteAdded,
    PreconditionEnded,
    ProblemRecorded,
    RulePersisted,
    RunEnded,
    RunStarted,
    SessionEnded,
    SessionStarted,
)
from app.core.session.results import RunResult, RunStatus
from app.core.session.state import Session
from app.core.session.sweep_record import (
    SweepArrayRefused,
    SweepEnded,
    SweepEvent,
    SweepExtended,
    SweepResumed,
    SweepStarted,
    SweepStepEnded,
    SweepStepStarted,
)
from app.core.session.sweep_steps import StepResult, SweepResult
from app.core.session.unit_labels import setting_label, value_text
from backends.sizes import size_words
from backends.values import dataclass
from widgets.text_utils import units

# -- events of a sweep ------------------------------------------------------------------------------------------------

_ENDS: dict[SweepResult, Tone] = {
    SweepResult.FINISHED: Tone.GOOD,
    SweepResult.STOPPED: Tone.ATTENTION,
    SweepResult.WAITING: Tone.ATTENTION,
    SweepResult.FAILED: Tone.BAD,
}
_STEP_TONES: dict[StepResult, Tone] = {StepResult.DONE: Tone.DIM, StepResult.FAILED: Tone.BAD}


def _describe_sweep_event(event: SweepEvent) -> tuple[str, list[str], Tone]:
    """Return headline, details and tone of a sweep event."""
    match event:
        case SweepStarted(design=design):
            steps, cells = units.plural(len(design.steps), "step"), units.plural(len(design.cells), "cell")
            body = [f"{role} is {address}" for role, address in design.targets.items()]
            if (making := design.making) is not None:
                body += [f"creates arrays on {item.place}, serial number {item.serial}" for item in making.drives]
                body += [f"array {item.id}: {item.level.value}; {item.prepared}" for item in making.arrays]
            body += [f"destroys the data on {item.shown}" for item in design.destroys]
            body += [
                f"before: {setting_label(item.key)} of {item.target} {value_text(item.key, item.value)}"
                for item in design.originals
            ]
            body += [f"left out: {item.row}, {item.column}: {item.reason}" for item in design.skipped]
            return f"sweep {design.title}: {steps} for {cells}, seed {design.seed}", body, Tone.ACCENT
        case SweepResumed():
            return "sweep continues", [], Tone.ACCENT
        case SweepExtended():
            return f"sweep: {units.plural(len(event.steps), 'more step')} for {event.purpose}", [], Tone.ACCENT
        case SweepStepStarted():
            return f"step {event.step}", [], Tone.DIM
        case SweepStepEnded():
            tone = _STEP_TONES.get(event.result, Tone.ATTENTION)
            run = f", {event.run}" if event.run else ""
            result = f"{event.result}, retried" if event.again else event.result
            return f"step {event.step} {result}{run}", [event.reason] if event.reason else [], tone
        case SweepArrayRefused():
            return f"sweep: the array {event.array} was refused and is left out", [event.reason], Tone.ATTENTION
        case SweepEnded():
            body = [*filter(None, (event.reason,)), *event.left]
            back = "the old settings were restored" if not event.left else "NOT ALL OLD SETTINGS WERE RESTORED"
            return f"sweep {event.result}: {back}", body, Tone.BAD if event.left else _ENDS[event.result]
        case _:
            assert_never(event)


# -- events of a session ----------------------------------------------------------------------------------------------

# Screens, command line and report show these texts.

_WORTH_TELLING = 0.05
"""Shortest duration of a command, in seconds, that is shown with the command."""

READ = "command"
"""Kind of an event for a command that changed nothing."""

NOTICE = "notice"
"""Kind of a message that was shown on a screen; it is not an event of the session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventWords:
    """Description of an event. Its texts are not yet cleaned for a terminal."""

    kind: str
    """Kind of the event: `session`, `devices`, `command`, `write`, `change`, `run`, `note`, `problem`."""
    head: str
    """Headline in one line."""
    body: tuple[str, ...] = ()
    """Details, as lines."""
    tone: Tone = Tone.PLAIN
    """Tone, which depends on the outcome."""


class EventChoice(StrEnum):
    """Selection of the events that are shown."""

    EVENTS = "events"
    """All events except commands that changed nothing."""
    CHANGES = "changes"
    RUNS = "runs"
    NOTICES = "notices"
    """Messages that were shown on screens."""
    ALL = "all"

    @property
    def description(self) -> str:
        """Return a description of the selection, for the user."""
        return _CHOICES[self][0]

    def shows(self, kind: str) -> bool:
        """Return whether events of that kind are shown."""
        return _CHOICES[self][1](kind)


_CHOICES: dict[EventChoice, tuple[str, Callable[[str], bool]]] = {
    EventChoice.EVENTS: ("events", lambda kind: kind != READ),
    EventChoice.CHANGES: ("changes", lambda kind: kind in ("change", "write")),
    EventChoice.RUNS: ("runs", lambda kind: kind == "run"),
    EventChoice.NOTICES: ("messages", lambda kind: kind == NOTICE),
    EventChoice.ALL: ("all events, including read-only commands", lambda kind: True),
}
"""For each selection: its description, and a function that returns whether it shows a kind of event."""

RECORDED = tuple(choice for choice in EventChoice if choice is not EventChoice.NOTICES)
"""Selections that are possible for the log on disk, which has no notices."""


def describe_event(event: LoggedEvent, session: Session | None = None) -> EventWords:
    """Return the description of an event. `session`: the session of the event, which has the units of its values."""
    kind, head, body, tone = _describe(event, session)
    return EventWords(kind=kind, head=head, body=tuple(body), tone=tone)


def run_end_texts(figures: RunResult) -> tuple[str, ...]:
    """Return the next step for the user after a run, and the warnings about its results."""
    return tuple(filter(None, (figures.hint, *figures.warnings)))


_Description = tuple[str, str, list[str], Tone]
"""Kind, headline, details and tone of an event."""


def _describe(event: LoggedEvent, session: Session | None) -> _Description:  # noqa: C901 one case for each event; mypy reports a missing one
    match event:
        case SessionStarted(machine=machine):
            body = [f"{machine.cpu}, {machine.cores} CPUs", f"kernel {machine.kernel}", machine.system]
            simulated = " SIMULATED" if event.simulated else ""
            return "session", f"raidbench {event.version} on {machine.host}{simulated}", body, Tone.DIM
        case InventorySeen(inventory=inventory):
            twins, counts = inventory.twins, ", ".join(count_texts(inventory))
            body = [
                " ".join(filter(None, (str(drive.target), drive.model, size_words(drive.size_bytes))))
                for drive in inventory.drives
                if drive.target not in twins
            ]
            body += [f"{problem.where}: {problem.message} {problem.hint}".rstrip() for problem in inventory.problems]
            return "devices", f"found {counts or 'nothing'}", body, Tone.BAD if inventory.problems else Tone.DIM
        case CommandRan():
            code = "" if not event.returncode else f"  failed with exit status {event.returncode}"
            took = f"  {units.duration(event.seconds)}" if event.seconds >= _WORTH_TELLING else ""
            body = [f"$ {event.line}", *event.output.splitlines()]
            body += [f"full output: {event.output_file}"] if event.output_file else []
            kind, tone = ("write", Tone.ACCENT) if event.mutates else (READ, Tone.DIM)
            return kind, f"{event.line}{code}{took}", body, tone
        case ChangeIntended(change=change):
            body = [step.shown() for step in change.writes] + [f"undo: {step.shown()}" for step in change.undo]
            undoes = f" undoes {event.undoes}:" if event.undoes else ""
            return "change", f"{event.id}{undoes} {change_text(change)}", body, Tone.ACCENT
        case ChangeEnded():
            record = None if session is None else session.change(event.id)
            now = event.now if record is None else change_value_text(record.change, event.now)
            moved = moved_texts(event) if record is None else moved_texts(event, record.change.label)
            body = [*([event.message] if event.message else []), *moved]
            return "change", f"{event.id} {event.result}: now {now}", body, outcome_cell(event.result).tone
        case RunStarted():
            body = [f"section {section.name}: {section.title}, phase {section.phase}" for section in event.sections]
            body += [f"{key} = {value}" for key, value in event.job.items()]
            body += [f"setting {key} = {value_text(key, value)}" for key, value in event.settings.items()]
            return "run", f"{event.id} {event.title} on {event.target}", body, Tone.ACCENT
        case RunEnded(figures=figures):
            body = [
                f"{name}: {'; '.join(direction_line(*side) for side in measured_directions(part)) or NOT_MEASURED}"
                for name, part in parts_of(figures)
                if figures.sections
            ]
            body += run_end_texts(figures)
            body += [" ".join(filter(None, (item.message, item.do))) for item in figures.advice]
            body.append(f"raw output: {event.folder}/fio.out")
            return "run", f"{event.id} {result_line(figures)}", body, RUN_TONES[figures.status]
        case PreconditionEnded():
            unnamed = "raidbench does not remember this, because the device has no unique identity."
            text = f"{event.id} {event.target}: {written_text(event.written)}"
            return "run", text, [] if event.remembered else [unnamed], Tone.ACCENT
        case ExperimentStarted():
            body = [f"{event.title} on {event.measured}", f"order {' '.join(event.order)}"]
            a, b = (value_text(event.key, value) for value in (event.a, event.b))
            description = f"{event.label} of {event.target}, A {a}, B {b}"
            return "run", f"{event.id} {units.plural(event.pairs, 'pair')}: {description}", body, Tone.ACCENT
        case ExperimentEnded():
            return _experiment_ended(event)
        case (
            SweepStarted()
            | SweepResumed()
            | SweepExtended()
            | SweepStepStarted()
            | SweepStepEnded()
            | SweepArrayRefused()
            | SweepEnded()
        ):
            return ("run", *_describe_sweep_event(event))
        case BaselineMarked():
            return "run", f"baseline: {event.run or 'none'}", [], Tone.DIM
        case NoteAdded():
            lines = event.text.splitlines() or [""]
            return "note", lines[0], lines[1:], Tone.PLAIN
        case MachineChecked(findings=findings):
            body = [f"{finding.severity} {finding.rule} at {finding.where}: {finding.message}" for finding in findings]
            headline = findings_text(finding.severity for finding in findings)
            return "session", headline, body, Tone.ATTENTION if findings else Tone.DIM
        case RulePersisted():
            verb = "keeps" if event.values else "no longer persists"
            body = [f"{key} = {value_text(key, value)}" for key, value in event.values.items()]
            return "change", f"{event.path} {verb} {event.target} across reboots", body, Tone.ACCENT
        case ProblemRecorded(problem=problem):
            body = [problem.hint] if problem.hint else []
            return "problem", f"{problem.where}: {problem.message}", body, Tone.BAD
        case SessionEnded():
            return "session", event.reason, [], Tone.DIM
        case _:
            assert_never(event)


def _experiment_ended(event: ExperimentEnded) -> _Description:
    """Return the text of an ended experiment: its result, and whether the value was restored."""
    text = experiment_end_text(event)
    cut = f"{event.status}: {event.reason.rstrip('.')}" if event.status is not RunStatus.OK else ""
    summary = "; ".join(filter(None, (cut, text))) or "all runs done"
    head = (
        (f"{summary}; the old value was restored") if event.restored else f"THE OLD VALUE WAS NOT RESTORED; {summary}"
    )
    body = [text] if text else []
    body += [f"{moved_name(key)} also changed: {movement_text(key, movement)}" for key, movement in event.moved.items()]
    return "run", f"{event.id} {head}", body, RUN_TONES[event.status] if event.restored else Tone.BAD
