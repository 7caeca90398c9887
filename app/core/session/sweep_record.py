"""A sweep as its events tell it: the kinds of events, and the record that they fold into. Pure."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import field, replace
from typing import assert_never

from app.core.session.sweep_steps import Design, Purpose, Step, StepResult, SweepCell, SweepResult
from backends.values import dataclass

# -- what happens in a sweep, as values: kinds of events of a session -------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepStarted:
    """A sweep is about to begin: its whole design is on disk before the first step."""

    at: float
    design: Design
    """All of it."""
    pid: int = 0
    """The process that runs it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepResumed:
    """Another process goes on with it."""

    at: float
    pid: int = 0
    """The process that runs it now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepExtended:
    """What was found so far asks for more steps: a confirmation, the next depth of a search."""

    at: float
    purpose: Purpose
    """What they are for."""
    steps: tuple[Step, ...]
    """In their order."""
    cells: tuple[SweepCell, ...] = ()
    """Cells made for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepStepStarted:
    """A step begins: settings first, then its run."""

    at: float
    step: int
    """Its number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepStepEnded:
    """A step is over."""

    at: float
    step: int
    """Its number."""
    result: StepResult
    """How."""
    run: str | None = None
    """Its run; None if it came to none."""
    reason: str = ""
    """Why it is not done; of one that is, what is in force otherwise than set."""
    again: bool = False
    """Whether the step is tried once more: it failed in a way that may pass, and for the first time."""

    @property
    def is_final(self) -> bool:
        """Whether the step is over for good."""
        return self.result is not StepResult.STOPPED and not self.again


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepArrayRefused:
    """An array that its maker refused: what was to be measured on it is left out."""

    at: float
    array: str
    """Its id in the design."""
    reason: str
    """The maker's words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepEnded:
    """No more steps; the settings were put back, or it says which were not."""

    at: float
    result: SweepResult
    """How."""
    reason: str = ""
    """A sentence when it is not finished."""
    left: tuple[str, ...] = ()
    """Sentences about settings that are not what they were before."""


SweepEvent = (
    SweepStarted | SweepResumed | SweepExtended | SweepStepStarted | SweepStepEnded | SweepArrayRefused | SweepEnded
)
"""All of them."""


# -- a sweep as its events tell it: what is done, what is under way, what is left -------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentStep:
    """The step under way, or the one that a crash left in the middle."""

    step: Step
    """Which."""
    since: float
    """When it began, seconds since the epoch."""
    run: str | None = None
    """Its run, once that began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRecord:
    """Everything known of the sweep of a session."""

    design: Design
    """What it is to do."""
    started: float
    """Seconds since the epoch."""
    pid: int = 0
    """The process that ran it last."""
    steps: tuple[Step, ...] = ()
    """All steps so far in their order, those found necessary on the way last."""
    cells: tuple[SweepCell, ...] = ()
    """All cells so far."""
    ended: tuple[SweepStepEnded, ...] = ()
    """Steps that came to an end, in that order; never two that are done of one step."""
    current: CurrentStep | None = None
    """The step under way."""
    running: bool = True
    """Whether a process was at it when the log was last written."""
    changes: tuple[str, ...] = ()
    """Changes it made, by id, oldest first."""
    extended: tuple[Purpose, ...] = ()
    """What more steps were added for, in that order."""
    end: SweepEnded | None = None
    """How it ended; None while it runs, after a crash and once it goes on."""
    seconds: float = 0.0
    """Time that its steps took, those that were cut short not counted."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Arrays that their maker refused, by id, and its words."""
    damage: tuple[str, ...] = ()
    """What the log names and does not have, a sentence each: a damaged log still tells all the rest."""

    def cell(self, cell_id: str) -> SweepCell:
        """The cell of that id. Raises KeyError."""
        return {cell.id: cell for cell in reversed(self.cells)}[cell_id]

    def final_end(self, step: Step) -> SweepStepEnded | None:
        """How a step ended for good; None if it is to be done."""
        return next((end for end in self.ended if end.step == step.number and end.is_final), None)

    def was_tried(self, step: Step) -> bool:
        """Return whether a step failed once and is in its second try."""
        return any(end.step == step.number and end.again for end in self.ended)

    @property
    def todo(self) -> tuple[Step, ...]:
        """Steps to be done, in their order."""
        over = {end.step for end in self.ended if end.is_final}
        none = {cell.id for cell in self.cells if cell.array in self.refused}
        return tuple(step for step in self.steps if step.number not in over and step.cell not in none)

    @property
    def done(self) -> int:
        """How many steps are over for good."""
        return len(self.steps) - len(self.todo)

    @property
    def finished(self) -> bool:
        """Whether there is nothing more to do, and everything was put back."""
        return self.end is not None and self.end.result is SweepResult.FINISHED

    def runs_of(self, cell_id: str, *purposes: Purpose) -> tuple[tuple[Step, str], ...]:
        """Completed runs of a cell as (step, run id), in the order of the steps; of all purposes if none is named."""
        own = [step for step in self.steps if step.cell == cell_id and (not purposes or step.purpose in purposes)]
        numbers = {step.number for step in own}
        ends = (end for end in self.ended if end.step in numbers and end.result is StepResult.DONE)
        runs = {end.step: end.run for end in ends if end.run is not None}
        return tuple((step, runs[step.number]) for step in own if step.number in runs)


def first_record(event: SweepStarted) -> SweepRecord:
    """The record that a sweep begins with."""
    design = event.design
    bare = SweepRecord(design=replace(design, cells=()), started=event.at, pid=event.pid)
    record = _with_steps(bare, design.cells, design.steps)
    return replace(record, design=replace(design, cells=record.cells))


def fold_sweep(record: SweepRecord | None, event: SweepEvent) -> SweepRecord | None:
    """The record after one of its events; events of a sweep that nobody began are passed over."""
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
    """The record when another process opens or leaves the session: what happens now is not the sweep's."""
    return None if record is None else replace(record, running=False)


def with_run(record: SweepRecord | None, run: str) -> SweepRecord | None:
    """The record when a run begins; it is the current step's if the sweep is at it."""
    if record is None or not record.running or record.current is None or record.current.run is not None:
        return record
    return replace(record, current=replace(record.current, run=run))


def with_change(record: SweepRecord | None, change: str) -> SweepRecord | None:
    """The record when a change begins."""
    return record if record is None or not record.running else replace(record, changes=(*record.changes, change))


def _with_steps(record: SweepRecord, cells: Sequence[SweepCell], steps: Sequence[Step]) -> SweepRecord:
    """With more cells and steps; what names a cell that is not there is left out, and said."""
    cell_ids = {cell.id for cell in (*record.cells, *cells)}
    orphans = [cell for cell in cells if _lacks_baseline(cell, cell_ids)]
    damage = [f"The log is damaged: {cell.against}, which {cell.id} is compared with, is missing." for cell in orphans]
    unknown = dict.fromkeys(step.cell for step in steps if step.cell not in cell_ids)
    damage += [f"The log is damaged: steps of {name}, a cell that it does not have, are left out." for name in unknown]
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
        return replace(record, current=None)  # the first end counts
    return replace(record, ended=(*record.ended, event), current=None, seconds=record.seconds + took)
