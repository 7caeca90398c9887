"""The events of a sweep, and the record that is computed from them. No I/O."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import field, replace
from typing import assert_never

from app.core.session.event_types import TimedEvent
from app.core.session.sweep_steps import Design, Purpose, Step, StepResult, SweepCell, SweepResult
from backends.values import dataclass

# -- events of a sweep ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepStarted(TimedEvent):
    """A sweep is about to begin. Its complete design is on disk before the first step."""

    design: Design
    """The complete design."""
    pid: int = 0
    """Process id of the sweep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepResumed(TimedEvent):
    """Another process continues the sweep."""

    pid: int = 0
    """Id of the process that continues the sweep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepExtended(TimedEvent):
    """Steps are added because of the results so far: a confirmation, or the next depth of a search."""

    purpose: Purpose
    """Purpose of the steps."""
    steps: tuple[Step, ...]
    """The added steps, in order."""
    cells: tuple[SweepCell, ...] = ()
    """Cells that were added for these steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepStepStarted(TimedEvent):
    """A step begins: its settings are set, then its run is measured."""

    step: int
    """Number of the step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepStepEnded(TimedEvent):
    """A step has ended."""

    step: int
    """Number of the step."""
    result: StepResult
    """How it ended."""
    run: str | None = None
    """Id of its run; None if there was none."""
    reason: str = ""
    """Why the step was not done.

    For a step that was done: the settings whose effective values differ from the planned ones.
    """
    again: bool = False
    """Whether the step will be tried once more, because the cause of its first failure may be temporary."""

    @property
    def is_final(self) -> bool:
        """Return whether the step will not be repeated."""
        return self.result is not StepResult.STOPPED and not self.again


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepArrayRefused(TimedEvent):
    """The creation of an array was refused, so its cells are not measured."""

    array: str
    """Id of the array in the design."""
    reason: str
    """Message of the error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepEnded(TimedEvent):
    """The sweep has ended. The settings were restored, except those in `left`."""

    result: SweepResult
    """How it ended."""
    reason: str = ""
    """Why the sweep is not finished, as a sentence."""
    left: tuple[str, ...] = ()
    """A sentence for each setting that does not have its old value."""


SweepEvent = (
    SweepStarted | SweepResumed | SweepExtended | SweepStepStarted | SweepStepEnded | SweepArrayRefused | SweepEnded
)
"""All events of a sweep."""


# -- the record of a sweep: steps done, in progress and left ---------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentStep:
    """The step in progress, or the step that a crash interrupted."""

    step: Step
    """The step."""
    since: float
    """When the step began, in seconds since the epoch."""
    run: str | None = None
    """Id of its run, once the run has begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRecord:
    """The state of a session's sweep."""

    design: Design
    """Its design."""
    started: float
    """Start of the sweep, in seconds since the epoch."""
    pid: int = 0
    """Id of the last process that ran the sweep."""
    steps: tuple[Step, ...] = ()
    """All steps so far, in order. Added steps come last."""
    cells: tuple[SweepCell, ...] = ()
    """All cells so far."""
    ended: tuple[SweepStepEnded, ...] = ()
    """The events at the ends of steps, in order of time. At most one end of a step has the result `done`."""
    current: CurrentStep | None = None
    """The step in progress, or interrupted by a crash; None if there is none."""
    running: bool = True
    """Whether a process was running the sweep when the log was last written."""
    changes: tuple[str, ...] = ()
    """Ids of the changes that the sweep made, oldest first."""
    extended: tuple[Purpose, ...] = ()
    """The purposes for which steps were added during the sweep, in order of time."""
    end: SweepEnded | None = None
    """How the sweep ended. None while it runs, after a crash, and after it was continued."""
    seconds: float = 0.0
    """Total time of its steps in seconds, without interrupted ones."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """The error messages of arrays that could not be created, by the id of the array."""
    damage: tuple[str, ...] = ()
    """A sentence for each reference in the log to a cell or step that the log does not contain."""

    def cell(self, cell_id: str) -> SweepCell:
        """Return the cell of that id. Raises KeyError if there is none."""
        return {cell.id: cell for cell in reversed(self.cells)}[cell_id]

    def final_end(self, step: Step) -> SweepStepEnded | None:
        """Return the event that ended a step for good; None if the step is still to be done or repeated."""
        return next((end for end in self.ended if end.step == step.number and end.is_final), None)

    def was_tried(self, step: Step) -> bool:
        """Return whether a step has failed once and will be tried a second time."""
        return any(end.step == step.number and end.again for end in self.ended)

    @property
    def todo(self) -> tuple[Step, ...]:
        """Return the steps still to be done, in order."""
        over = {end.step for end in self.ended if end.is_final}
        none = {cell.id for cell in self.cells if cell.array in self.refused}
        return tuple(step for step in self.steps if step.number not in over and step.cell not in none)

    @property
    def done(self) -> int:
        """Return the number of steps that have ended for good."""
        return len(self.steps) - len(self.todo)

    @property
    def finished(self) -> bool:
        """Return whether no step is left to do and all settings were restored."""
        return self.end is not None and self.end.result is SweepResult.FINISHED

    def runs_of(self, cell_id: str, *purposes: Purpose) -> tuple[tuple[Step, str], ...]:
        """Return the completed runs of a cell as (step, run id), in the order of the steps.

        `purposes`: purposes of the steps to include; all if none is given.
        """
        steps = [step for step in self.steps if step.cell == cell_id and (not purposes or step.purpose in purposes)]
        numbers = {step.number for step in steps}
        ends = (end for end in self.ended if end.step in numbers and end.result is StepResult.DONE)
        runs = {end.step: end.run for end in ends if end.run is not None}
        return tuple((step, runs[step.number]) for step in steps if step.number in runs)


def first_record(event: SweepStarted) -> SweepRecord:
    """Return the record of a sweep that has just started."""
    design = event.design
    bare = SweepRecord(design=replace(design, cells=()), started=event.at, pid=event.pid)
    record = _with_steps(bare, design.cells, design.steps)
    return replace(record, design=replace(design, cells=record.cells))


def fold_sweep(record: SweepRecord | None, event: SweepEvent) -> SweepRecord | None:
    """Return the record as it is after an event. Before the start of a sweep, it is None."""
    if isinstance(event, SweepStarted):
        return first_record(event)
    if record is None:
        return None
    match event:
        case SweepResumed():
            return replace(record, pid=event.pid, running=True, end=None)
        case SweepExtended():
            return replace(_with_steps(record, event.cells, event.steps), extended=(*record.extended, event.purpose))
        case SweepStepStarted():
            step = next((step for step in record.steps if step.number == event.step), None)
            current = None if step is None else CurrentStep(step=step, since=event.at)
            return replace(record, current=current)
        case SweepStepEnded():
            return _step_ended(record, event)
        case SweepArrayRefused():
            return replace(record, refused={**record.refused, event.array: event.reason})
        case SweepEnded():
            return replace(record, end=event, running=False, current=None)
        case _:
            assert_never(event)


def stop_running(record: SweepRecord | None) -> SweepRecord | None:
    """Return the record with `running` False, after a process opened or left the session."""
    return None if record is None else replace(record, running=False)


def with_run(record: SweepRecord | None, run: str) -> SweepRecord | None:
    """Return the record as it is after a run began. If the sweep is running, the run belongs to the current step."""
    if record is None or not record.running or record.current is None or record.current.run is not None:
        return record
    return replace(record, current=replace(record.current, run=run))


def with_change(record: SweepRecord | None, change: str) -> SweepRecord | None:
    """Return the record as it is after a change began. If the sweep is running, the change belongs to it."""
    return record if record is None or not record.running else replace(record, changes=(*record.changes, change))


def _with_steps(record: SweepRecord, cells: Sequence[SweepCell], steps: Sequence[Step]) -> SweepRecord:
    """Return the record with additional cells and steps. `damage` reports references to missing cells."""
    cell_ids = {cell.id for cell in (*record.cells, *cells)}
    orphans = [cell for cell in cells if _lacks_baseline(cell, cell_ids)]
    damage = [f"The log is damaged: {cell.against}, to which {cell.id} is compared, is missing." for cell in orphans]
    unknown = dict.fromkeys(step.cell for step in steps if step.cell not in cell_ids)
    damage += [f"The log is damaged: it has steps of an unknown cell {name}, which are ignored." for name in unknown]
    return replace(
        record,
        cells=(
            *record.cells,
            *(replace(cell, against=None) if _lacks_baseline(cell, cell_ids) else cell for cell in cells),
        ),
        steps=(*record.steps, *(step for step in steps if step.cell in cell_ids)),
        damage=(*record.damage, *damage),
    )


def _lacks_baseline(cell: SweepCell, cell_ids: Container[str]) -> bool:
    return cell.against is not None and cell.against not in cell_ids


def _step_ended(record: SweepRecord, event: SweepStepEnded) -> SweepRecord:
    if all(step.number != event.step for step in record.steps):
        return replace(record, current=None)
    took = 0.0
    if record.current is not None and record.current.step.number == event.step:
        took = max(0.0, event.at - record.current.since)
    if any(end.step == event.step and end.is_final for end in record.ended):
        return replace(record, current=None)  # the step has ended already: its first end is kept
    return replace(record, ended=(*record.ended, event), current=None, seconds=record.seconds + took)
