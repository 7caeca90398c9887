"""The state of a session, computed from its events. It is immutable, so screens may keep and compare it."""

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
    """A change, and how it ended."""

    intent: logged.ChangeIntended
    """The event that was recorded before the change."""
    end: logged.ChangeEnded | None = None
    """The event that was recorded after the change; None while the change is being made, or after a crash."""
    undone_by: str | None = None
    """Id of the change that undid this one, once that undo is verified; None until then."""
    begun_before_end: int = 0
    """Number of changes of the session that had begun when this one ended.

    It gives the order of changes. Times do not, because clocks may be set.
    """

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
        """Return whether the change is an undecided trial, which is reverted unless the user confirms it."""
        return self.intent.trial_until is not None and self.in_force and (self.end is None or self.end.result != "kept")

    @property
    def in_force(self) -> bool:
        """Return whether the change may be effective: it was applied, was not undone, and is not itself an undo."""
        if self.undone_by is not None or self.intent.undoes is not None:
            return False
        if self.change.before in (None, NOT_THERE) and self.change.effect is Effect.RECREATED:
            return False  # this re-created a deleted array: only the deletion can be undone
        if self.end is None or self.end.result in ("verified", "differs", "kept"):
            return True
        return self.end.result == "failed" and self.end.now != self.change.before  # it failed, but changed the value

    @property
    def may_apply_late(self) -> bool:
        """Return whether a controller may still apply the change later.

        This is possible if the tool gave up and the value read afterwards was still the old one.
        """
        same = self.end is not None and self.end.result == "failed" and self.end.now == self.change.before
        existed = self.change.before not in (None, NOT_THERE)
        return same and existed and self.undone_by is None and self.intent.undoes is None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """A run, and how it ended."""

    start: logged.RunStarted
    """The event that was recorded before the run."""
    end: logged.RunEnded | None = None
    """The event that was recorded after the run; None while it runs, or after a crash."""
    machine: MachineFacts | None = None
    """Facts about the machine when the program that measured the run was started; None if unknown."""
    version: str = ""
    """The version of the program that measured the run."""
    number: int = field(default=0, compare=False)
    """Number of the run in the session, from 1; 0 if not known. Runs are ordered by it, because clocks may be set."""
    running: bool = False
    """Whether the run is in progress, in this or in another process. Without an end and not in progress, it failed."""

    @property
    def provenance(self) -> dict[str, str]:
        """Return the known facts about the machine, the programs and the measured device of the run, by key."""
        machine_facts = {} if self.machine is None else dict(provenance_of(self.machine))
        tools = {"raidbench_version": self.version, "fio_version": self.start.fio_version or ""}
        return machine_facts | {key: text for key, text in tools.items() if text} | self.start.provenance

    @property
    def id(self) -> str:
        """Return the run's id."""
        return self.start.id

    @property
    def figures(self) -> RunResult:
        """Return the result of the run. Without a recorded end, its status is `running` or `failed`."""
        if self.end is not None:
            return self.end.figures
        if self.running:
            return RunResult(status=RunStatus.RUNNING)
        return RunResult(status=RunStatus.FAILED, reason="raidbench ended during the run, so fio was stopped.")

    def write_to(self, device: str) -> DirectionStats | None:
        """Return the metrics of the run's writes to a device or to a file on it; None without writes."""
        if not self.start.targets:
            return self.figures.write if self.start.device == device else None
        names = [run_target.target for run_target in self.start.targets if run_target.device == device]
        return next((part.write for part in self.figures.targets if part.target in names), None)

    def has_overwritten(self, device: str) -> bool:
        """Return whether the run wrote to the device itself.

        In a run with several targets, a target that is another path than the device node is a file on the device.
        """
        if not self.start.targets or not self.start.destructive:
            return self.start.destructive and self.start.device == device
        names = [run_target.target for run_target in self.start.targets if run_target.device == device]
        return any(name == device or not name.startswith("/") for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentRecord:
    """An experiment: a setting measured in pairs. Its runs are those runs of the session whose `mark` names it."""

    start: logged.ExperimentStarted
    """The event that was recorded before the experiment."""
    end: logged.ExperimentEnded | None = None
    """The event that was recorded after the experiment; None while it continues, or after a crash."""

    @property
    def id(self) -> str:
        """Return the experiment's id."""
        return self.start.id


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveRun:
    """The job that is running now."""

    start: logged.RunStarted
    """The event that was recorded before the run."""
    phase: Phase = Phase.PREPARING
    """The present phase."""
    phase_since: float = 0.0
    """Start of the phase, in seconds since the epoch."""
    phase_seconds: float | None = None
    """Planned length of the phase in seconds; None if unknown."""
    message: str = ""
    """A sentence about the phase; "" for none."""
    samples: tuple[Sample, ...] = ()
    """Intervals so far, oldest first. Intervals of laying out or filling a file are dropped when that phase ends."""
    fio_percent_of_core: float | None = None
    """Present CPU usage of fio; 100 is one core."""
    host_percent: float | None = None
    """Present CPU usage of the host; 100 is all cores."""
    silent_s: float = 0.0
    """Seconds since fio's last output. fio prints nothing while an I/O is stuck."""
    members: tuple[MemberStats, ...] = ()
    """Present metrics of the devices below the device under test; empty if it has none."""
    caches: tuple[CacheStats, ...] = ()
    """Metrics of the caches among these devices since the measured phase began; empty before that."""
    advice: tuple[Advice, ...] = ()
    """Conditions that make the results doubtful, the worst first."""

    happened: tuple[RunEvent, ...] = ()
    """Events so far of the devices below the device under test."""
    steady: SteadyStateResult | None = None
    """The steady state result; None before the first round."""
    settled: float = 0.0
    """Seconds of settling before measuring began; 0 until then."""
    moved_bytes: float = 0.0
    """Bytes transferred in the present phase, computed from its samples."""
    total_bytes: int | None = None
    """Bytes after which the present phase ends; None if it ends by time, or if that is not known."""

    def passed(self, now: float) -> float:
        """Return how many seconds the present phase has lasted.

        A simulated run has its own clock, which may be faster.
        """
        if self.start.simulated and self.samples and self.samples[-1].phase is self.phase:
            return self.samples[-1].at
        return max(0.0, now - self.phase_since)

    def amount_left(self, now: float) -> float | None:
        """Return the seconds left in a phase that ends after an amount of data, at its mean speed so far.

        None if unknown.
        """
        if not self.total_bytes or not self.moved_bytes:
            return None
        return max(0.0, self.total_bytes - self.moved_bytes) * self.passed(now) / self.moved_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The complete state of a session, for screens and reports."""

    id: str = ""
    """Name of the session."""
    started: float = 0.0
    """Start of the session, in seconds since the epoch; 0 for a session that has not started."""
    machine: MachineFacts | None = None
    """The machine."""
    simulated: bool = False
    """Whether any part of the session is simulated."""
    version: str = ""
    """raidbench's version."""
    inventory: Inventory = field(default_factory=Inventory)
    """Result of the last complete scan; until this program has completed a scan, of the last partial one."""
    scan_complete: bool = False
    """Whether this program has made a complete scan. If not, partial results of its first scan are shown."""
    probing: bool = True
    """Whether a hardware scan is in progress."""
    changes: tuple[ChangeRecord, ...] = ()
    """All changes, oldest first."""
    runs: tuple[RunRecord, ...] = ()
    """All runs, oldest first."""
    experiments: tuple[ExperimentRecord, ...] = ()
    """All experiments, oldest first."""
    active: ActiveRun | None = None
    """The run in progress; None if there is none."""
    baseline: str | None = None
    """Id of the run with which others are compared; None if no run is marked."""
    events: tuple[LoggedEvent, ...] = ()
    """All events on disk, oldest first."""
    sweep: sweep_record.SweepRecord | None = None
    """The sweep of this session; None if there is none."""
    ended: bool = False
    """Whether the last program that used the session closed it normally."""

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

    def without_active(self) -> Session:
        """Return the session without a run in progress: the process that ran it is gone, or no longer runs it."""
        runs = tuple(replace(run, running=False) if run.running else run for run in self.runs)
        return replace(self, runs=runs, active=None)


def fold(session: Session, event: AnyEvent) -> Session:
    """Return the session as it is after an event. No I/O."""
    match event:
        case LiveEvent():
            return _fold_live(session, event)
        case logged.InventorySeen(complete=False):  # a partial scan is shown, but not added to the events
            return _fold_logged(session, event)
        case _:
            return _fold_logged(replace(session, events=(*session.events, event)), event)


def replay(events: Iterable[LoggedEvent]) -> Session:
    """Return the session that results from the events."""
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
    """Return the run without the samples and other data that belong only to its current phase."""
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
                session.without_active(),
                id=session.id or event.id,
                started=session.started or event.at,
                machine=event.machine,
                simulated=session.simulated or event.simulated,
                version=event.version,
                probing=True,
                scan_complete=False,
                ended=False,
                sweep=sweep_record.stop_running(session.sweep),
            )
        case logged.InventorySeen(complete=False) if session.scan_complete:  # keep the complete inventory
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
            run = RunRecord(start=event, machine=session.machine, version=session.version, number=number, running=True)
            return replace(
                session,
                runs=(*session.runs, run),
                active=ActiveRun(start=event, phase_since=event.at),
                sweep=sweep_record.with_run(session.sweep, event.id),
            )
        case logged.RunEnded():
            runs = tuple(replace(run, end=event, running=False) if run.id == event.id else run for run in session.runs)
            active = session.active
            if active is not None and active.start.id == event.id:
                active = None
            return replace(session, runs=runs, active=active)
        case logged.ExperimentStarted():
            # A continued experiment has a second start event, which replaces the first.
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
            return replace(session.without_active(), ended=True, sweep=sweep_record.stop_running(session.sweep))
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
            moved = None if change.end is None else change.end.moved  # side effects are recorded only by the first end
            end = event if event.moved is not None else replace(event, moved=moved)
            change = replace(change, end=end, begun_before_end=len(changes))
            if event.result == "restored":
                change = replace(change, undone_by=event.id)
        elif reverted is not None and change.id == reverted:
            change = replace(change, undone_by=event.id)
        ended.append(change)
    return tuple(ended)
