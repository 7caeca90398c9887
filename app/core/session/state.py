"""The state of a session, folded from its events. Immutable, so screens may keep and compare it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from typing import assert_never

from app.core.session import event_types as live
from app.core.session import events as logged
from app.core.session import sweep_record
from app.core.session.events import AnyEvent, LiveEvent, LoggedEvent, MachineFacts
from app.core.session.machine import provenance_of
from app.core.session.results import (
    Advice,
    CacheStats,
    DirectionStats,
    MemberStats,
    Phase,
    RunEvent,
    RunResult,
    RunStatus,
    Sample,
    SteadyStateResult,
)
from backends.change import NOT_THERE, Change
from backends.model import Inventory
from backends.settings import Effect
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRecord:
    """A change and its end."""

    intent: logged.ChangeIntended
    """The planned change."""
    end: logged.ChangeEnded | None = None
    """None while it is being made, or after a crash."""
    undone_by: str | None = None
    """The change that undid it, once that is verified."""
    begun_before_end: int = 0
    """Number of changes of the session that had begun when it ended. Times give no order, as clocks may be set."""

    @property
    def id(self) -> str:
        """Return the change's id."""
        return self.intent.id

    @property
    def change(self) -> Change:
        """Return the planned change."""
        return self.intent.change

    @property
    def is_on_trial(self) -> bool:
        """Return whether it is an undecided trial, which will be reverted automatically."""
        return self.intent.trial_until is not None and self.in_force and (self.end is None or self.end.result != "kept")

    @property
    def in_force(self) -> bool:
        """Return whether its value may be in force: applied, not undone, and not itself an undo."""
        if self.undone_by is not None or self.intent.undoes is not None:
            return False
        if self.change.before in (None, NOT_THERE) and self.change.effect is Effect.RECREATED:
            return False  # it re-created what another change had deleted; that change can be undone
        if self.end is None or self.end.result in ("verified", "differs", "kept"):
            return True
        return self.end.result == "failed" and self.end.now != self.change.before  # it failed, but changed the value

    @property
    def may_apply_late(self) -> bool:
        """Return whether its tool gave up and the old value was read: a controller may still apply it later."""
        same = self.end is not None and self.end.result == "failed" and self.end.now == self.change.before
        existed = self.change.before not in (None, NOT_THERE)
        return same and existed and self.undone_by is None and self.intent.undoes is None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """A run and its result."""

    start: logged.RunStarted
    """The planned run."""
    end: logged.RunEnded | None = None
    """None while it runs, or after a crash."""
    machine: MachineFacts | None = None
    """The machine when the program that measured it began."""
    version: str = ""
    """That program's version."""
    number: int = field(default=0, compare=False)
    """Its number in the session, from 1; 0 if it is not known. Times give no order, as clocks may be set."""

    @property
    def provenance(self) -> dict[str, str]:
        """Return all other known facts about the run: of the machine, then of the device."""
        machine_facts = {} if self.machine is None else dict(provenance_of(self.machine))
        tools = {"raidbench_version": self.version, "fio_version": self.start.fio_version or ""}
        return machine_facts | {key: text for key, text in tools.items() if text} | self.start.provenance

    @property
    def id(self) -> str:
        """Return the run's id."""
        return self.start.id

    @property
    def figures(self) -> RunResult:
        """Return the result; a run that never ended has failed."""
        if self.end is not None:
            return self.end.figures
        return RunResult(status=RunStatus.FAILED, reason="raidbench ended before the run did, so fio was stopped.")

    def write_to(self, device: str) -> DirectionStats | None:
        """Return the metrics of its writes to a device or to a file on it; None without writes."""
        if not self.start.targets:
            return self.figures.write if self.start.device == device else None
        names = [run_target.target for run_target in self.start.targets if run_target.device == device]
        return next((part.write for part in self.figures.targets if part.target in names), None)

    def has_overwritten(self, device: str) -> bool:
        """Return whether it wrote to the device itself; of several targets, a path that is no device node is a file."""
        if not self.start.targets or not self.start.destructive:
            return self.start.destructive and self.start.device == device
        names = [run_target.target for run_target in self.start.targets if run_target.device == device]
        return any(name == device or not name.startswith("/") for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentRecord:
    """A setting measured in pairs; its runs are the runs of the session with its mark."""

    start: logged.ExperimentStarted
    """The planned experiment."""
    end: logged.ExperimentEnded | None = None
    """None while it continues, or after a crash."""

    @property
    def id(self) -> str:
        """Return the experiment's id."""
        return self.start.id


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveRun:
    """The job that is running now."""

    start: logged.RunStarted
    """The planned run."""
    phase: Phase = Phase.PREPARING
    """Its phase."""
    phase_since: float = 0.0
    """Start of the phase, in seconds since the epoch."""
    phase_seconds: float | None = None
    """Planned length of the phase."""
    message: str = ""
    """A sentence worth showing."""
    samples: tuple[Sample, ...] = ()
    """Intervals so far, oldest first; those of layout and filling are dropped when that phase ends."""
    fio_percent_of_core: float | None = None
    """fio's CPU now."""
    host_percent: float | None = None
    """The host's CPU now."""
    silent_s: float = 0.0
    """Seconds without output of fio: it prints no document while an I/O is stuck."""
    members: tuple[MemberStats, ...] = ()
    """Current metrics of the devices below the device under test; empty if it has none."""
    caches: tuple[CacheStats, ...] = ()
    """Caches among them since the start of the measured phase; empty while nothing is known."""
    advice: tuple[Advice, ...] = ()
    """Conditions that make its results doubtful, the worst first."""

    happened: tuple[RunEvent, ...] = ()
    """Events of the devices below so far."""
    steady: SteadyStateResult | None = None
    """The steady state result; None before the first round."""
    settled: float = 0.0
    """Seconds of settling before measuring began; 0 until then."""
    moved_bytes: float = 0.0
    """Bytes moved in the present phase, from its samples."""
    total_bytes: int | None = None
    """Bytes after which the present phase ends; None if it ends by time or that is not known."""

    def passed(self, now: float) -> float:
        """Return the seconds of the present phase, for a simulated run by its own clock, which may be faster."""
        if self.start.simulated and self.samples and self.samples[-1].phase is self.phase:
            return self.samples[-1].at
        return max(0.0, now - self.phase_since)

    def amount_left(self, now: float) -> float | None:
        """Return the seconds until a phase that ends by amount is over, at its speed so far; None if not known."""
        if not self.total_bytes or not self.moved_bytes:
            return None
        return max(0.0, self.total_bytes - self.moved_bytes) * self.passed(now) / self.moved_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The complete state for screens and reports."""

    id: str = ""
    """Name of the session."""
    started: float = 0.0
    """Seconds since the epoch."""
    machine: MachineFacts | None = None
    """The machine."""
    simulated: bool = False
    """Whether any of it is simulated."""
    version: str = ""
    """raidbench's version."""
    inventory: Inventory = field(default_factory=Inventory)
    """Result of the last scan: the last complete one, once this program has made a complete scan."""
    scan_complete: bool = False
    """Whether a complete scan of this program exists; if not, partial results of the first scan are shown."""
    probing: bool = True
    """Whether a hardware scan is in progress."""
    changes: tuple[ChangeRecord, ...] = ()
    """Oldest first."""
    runs: tuple[RunRecord, ...] = ()
    """Oldest first."""
    experiments: tuple[ExperimentRecord, ...] = ()
    """Oldest first."""
    active: ActiveRun | None = None
    """The running job."""
    baseline: str | None = None
    """The run that others are compared with."""
    events: tuple[LoggedEvent, ...] = ()
    """All events on disk, oldest first."""
    sweep: sweep_record.SweepRecord | None = None
    """The sweep of this session."""
    ended: bool = False
    """Whether the last program left it normally."""

    def run(self, run_id: str) -> RunRecord | None:
        """Return the run of that id, or None."""
        return next((run for run in self.runs if run.id == run_id), None)

    def experiment(self, experiment_id: str) -> ExperimentRecord | None:
        """Return the experiment of that id, or None."""
        return next((experiment for experiment in self.experiments if experiment.id == experiment_id), None)

    def change(self, change_id: str) -> ChangeRecord | None:
        """Return the change of that id, or None."""
        return next((change for change in self.changes if change.id == change_id), None)

    @property
    def in_force(self) -> tuple[ChangeRecord, ...]:
        """Return the changes that can be undone, newest first."""
        return tuple(change for change in reversed(self.changes) if change.in_force)


def fold(session: Session, event: AnyEvent) -> Session:
    """Return the session after the event. No I/O; a missing kind of event is a type error."""
    match event:
        case LiveEvent():
            return _fold_live(session, event)
        case logged.InventorySeen(complete=False):  # a partial scan is shown, but not kept
            return _fold_logged(session, event)
        case _:
            return _fold_logged(replace(session, events=(*session.events, event)), event)


def replay(events: Iterable[LoggedEvent]) -> Session:
    """Return the session that the events make."""
    collected = tuple(events)
    session = Session()
    for event in collected:
        session = _fold_logged(session, event)
    return replace(session, events=collected)


def _fold_live(session: Session, event: LiveEvent) -> Session:
    active = session.active
    if active is None or active.start.id != event.id:
        return session
    progress = event.progress
    match progress:
        case live.PhaseChanged(phase=phase):
            fresh = phase != active.phase
            if fresh:
                active = _without_phase_data(active)
            active = replace(
                active,
                phase=phase,
                phase_since=event.at if fresh else active.phase_since,
                phase_seconds=progress.seconds if fresh or progress.seconds is not None else active.phase_seconds,
                message=progress.message,
                total_bytes=progress.total_bytes if fresh or progress.total_bytes is not None else active.total_bytes,
            )
        case live.SampleTaken(sample=sample):
            both = sample.transfers
            moved = sum(part.bytes_per_second for part in both) * sample.seconds
            samples = (*active.samples, sample)
            active = replace(active, samples=samples, moved_bytes=active.moved_bytes + moved, silent_s=0.0)
        case live.SteadyStateUpdated(steady=steady):
            active = replace(active, steady=steady)
        case live.MembersSampled(members=members, caches=caches):
            active = replace(active, members=members, caches=caches or active.caches)
        case live.AdviceGiven(advice=advice):
            active = replace(active, advice=advice)
        case live.BackgroundEventSeen(events=events):
            active = replace(active, happened=(*active.happened, *events))
        case live.CpuSampled():
            active = replace(
                active,
                fio_percent_of_core=progress.fio_percent_of_core,
                host_percent=progress.host_percent,
                silent_s=progress.silent_s or 0.0,
            )
        case _:
            assert_never(progress)
    return replace(session, active=active)


def _without_phase_data(active: ActiveRun) -> ActiveRun:
    """Return the run without data that belongs to its present phase only."""
    match active.phase:
        case Phase.LAYOUT | Phase.FILLING:
            return replace(active, samples=(), moved_bytes=0.0)
        case Phase.SETTLING:
            return replace(active, settled=active.samples[-1].at if active.samples else 0.0, moved_bytes=0.0)
        case _:
            return replace(active, moved_bytes=0.0)


def _fold_logged(session: Session, event: LoggedEvent) -> Session:
    if isinstance(event, sweep_record.SweepEvent):
        return replace(session, sweep=sweep_record.fold_sweep(session.sweep, event))
    match event:
        case logged.SessionStarted():
            return replace(
                session,
                id=session.id or event.id,
                started=session.started or event.at,
                machine=event.machine,
                simulated=session.simulated or event.simulated,
                version=event.version,
                probing=True,
                scan_complete=False,
                ended=False,
                active=None,
                sweep=sweep_record.stop_running(session.sweep),
            )
        case logged.InventorySeen(complete=False) if session.scan_complete:  # older but complete is better
            return replace(session, probing=True)
        case logged.InventorySeen():
            return replace(session, inventory=event.inventory, probing=not event.complete, scan_complete=event.complete)
        case logged.ChangeIntended():
            changes = (*session.changes, ChangeRecord(intent=event))
            return replace(session, changes=changes, sweep=sweep_record.with_change(session.sweep, event.id))
        case logged.ChangeEnded():
            return replace(session, changes=_end_change(session.changes, event))
        case logged.RunStarted():
            number = len(session.runs) + 1
            run = RunRecord(start=event, machine=session.machine, version=session.version, number=number)
            return replace(
                session,
                runs=(*session.runs, run),
                active=ActiveRun(start=event, phase_since=event.at),
                sweep=sweep_record.with_run(session.sweep, event.id),
            )
        case logged.RunEnded():
            runs = tuple(replace(run, end=event) if run.id == event.id else run for run in session.runs)
            active = session.active
            if active is not None and active.start.id == event.id:
                active = None
            return replace(session, runs=runs, active=active)
        case logged.ExperimentStarted():
            # A continued experiment has a second start.
            others = tuple(experiment for experiment in session.experiments if experiment.id != event.id)
            return replace(session, experiments=(*others, ExperimentRecord(start=event)))
        case logged.ExperimentEnded():
            ended = tuple(
                replace(experiment, end=event) if experiment.id == event.id else experiment
                for experiment in session.experiments
            )
            return replace(session, experiments=ended)
        case logged.BaselineMarked():
            return replace(session, baseline=event.run)
        case logged.SessionEnded():
            return replace(session, ended=True, active=None, sweep=sweep_record.stop_running(session.sweep))
        case (
            logged.CommandRan()
            | logged.NoteAdded()
            | logged.MachineChecked()
            | logged.RulePersisted()
            | logged.ProblemRecorded()
            | logged.PreconditionEnded()
        ):
            return session
        case _:
            assert_never(event)


def _end_change(changes: tuple[ChangeRecord, ...], event: logged.ChangeEnded) -> tuple[ChangeRecord, ...]:
    undoes = next((change.intent.undoes for change in changes if change.id == event.id), None)
    reverted = undoes if event.result == "verified" else None
    ended = []
    for change in changes:
        if change.id == event.id:
            moved = None if change.end is None else change.end.moved  # only the first end records side effects
            end = event if event.moved is not None else replace(event, moved=moved)
            change = replace(change, end=end, begun_before_end=len(changes))
            if event.result == "restored":
                change = replace(change, undone_by=event.id)
        elif reverted is not None and change.id == reverted:
            change = replace(change, undone_by=event.id)
        ended.append(change)
    return tuple(ended)
