"""A session: the fold of its events. Immutable, so screens may hold it and compare it."""

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
    """A change and how it ended."""

    intent: logged.ChangeIntended
    """What was to be done."""
    end: logged.ChangeEnded | None = None
    """None while it is being done, or after a crash."""
    undone_by: str | None = None
    """The change that took it back, once that is verified."""
    begun_before_end: int = 0
    """The number of changes of the session that had begun when it ended. Clocks are set, so times tell no order."""

    @property
    def id(self) -> str:
        """The change's id."""
        return self.intent.id

    @property
    def change(self) -> Change:
        """What was planned."""
        return self.intent.change

    @property
    def on_trial(self) -> bool:
        """Whether it is to be taken back by itself, and nobody has decided yet."""
        return self.intent.trial_until is not None and self.in_force and (self.end is None or self.end.result != "kept")

    @property
    def in_force(self) -> bool:
        """Whether its value may still stand: applied in some way, not taken back, not itself an undo."""
        if self.undone_by is not None or self.intent.undoes is not None:
            return False
        if self.change.before in (None, NOT_THERE) and self.change.effect is Effect.RECREATED:
            return False  # it made again what another change had deleted: that one is what can be taken back
        if self.end is None or self.end.result in ("verified", "differs", "kept"):
            return True
        return self.end.result == "failed" and self.end.now != self.change.before  # it failed, and yet it did something

    @property
    def may_come_late(self) -> bool:
        """Whether its tool gave up and the old value was read: a card may do it later all the same."""
        same = self.end is not None and self.end.result == "failed" and self.end.now == self.change.before
        there = self.change.before not in (None, NOT_THERE)
        return same and there and self.undone_by is None and self.intent.undoes is None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """A run and what it measured."""

    start: logged.RunStarted
    """What was to be measured."""
    end: logged.RunEnded | None = None
    """None while it runs, or after a crash."""
    machine: MachineFacts | None = None
    """The machine as it was when the program that measured it began."""
    version: str = ""
    """That program's version."""
    number: int = field(default=0, compare=False)
    """Its number in the session, from 1; 0 where that is not known. Clocks are set, so times tell no order."""

    @property
    def provenance(self) -> dict[str, str]:
        """All that is known of how it came about beside its job and settings: of the machine, then of the device."""
        machine_facts = {} if self.machine is None else dict(provenance_of(self.machine))
        tools = {"raidbench_version": self.version, "fio_version": self.start.fio_version or ""}
        return machine_facts | {key: text for key, text in tools.items() if text} | self.start.provenance

    @property
    def id(self) -> str:
        """The run's id."""
        return self.start.id

    @property
    def figures(self) -> RunResult:
        """What was measured; a run that never ended has failed."""
        if self.end is not None:
            return self.end.figures
        return RunResult(status=RunStatus.FAILED, reason="raidbench ended before the run did; fio was stopped with it.")

    def write_to(self, device: str) -> DirectionStats | None:
        """What it wrote to a device or to a file on it, alone or beside others; None if nothing."""
        if not self.start.targets:
            return self.figures.write if self.start.device == device else None
        names = [run_target.target for run_target in self.start.targets if run_target.device == device]
        return next((part.write for part in self.figures.targets if part.target in names), None)

    def overwrote(self, device: str) -> bool:
        """Whether it wrote to a device itself; of several targets a path that is no device node was a file on it."""
        if not self.start.targets or not self.start.destructive:
            return self.start.destructive and self.start.device == device
        names = [run_target.target for run_target in self.start.targets if run_target.device == device]
        return any(name == device or not name.startswith("/") for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentRecord:
    """A setting measured in pairs; its runs are those of the session that carry its mark."""

    start: logged.ExperimentStarted
    """What was to be measured."""
    end: logged.ExperimentEnded | None = None
    """None while it goes on, or after a crash."""

    @property
    def id(self) -> str:
        """The experiment's id."""
        return self.start.id


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveRun:
    """The job that is running now."""

    start: logged.RunStarted
    """What it is."""
    phase: Phase = Phase.PREPARING
    """What it is doing."""
    phase_since: float = 0.0
    """When that began, seconds since the epoch."""
    phase_seconds: float | None = None
    """How long that will last."""
    message: str = ""
    """A sentence worth showing."""
    samples: tuple[Sample, ...] = ()
    """Intervals so far, oldest first; those of laying out and filling are dropped when that is over."""
    fio_percent_of_core: float | None = None
    """fio's CPU now."""
    host_percent: float | None = None
    """The host's CPU now."""
    silent_s: float = 0.0
    """Seconds for which fio has told nothing: while an I/O does not come back it prints no document."""
    members: tuple[MemberStats, ...] = ()
    """What the devices below the one under test do now; empty if it has none."""
    caches: tuple[CacheStats, ...] = ()
    """Caches among them since the measured phase began; empty while nothing is known."""
    advice: tuple[Advice, ...] = ()
    """What makes its figures doubtful, the worst first."""

    happened: tuple[RunEvent, ...] = ()
    """What befell the devices below so far."""
    steady: SteadyStateResult | None = None
    """How it stands to the steady state rule; None before the first round ended."""
    settled: float = 0.0
    """Seconds of settling before measuring began; 0 until then."""
    moved_bytes: float = 0.0
    """Bytes moved in the present phase, by its samples."""
    total_bytes: int | None = None
    """Bytes after which the present phase is over; None if it ends by time or nobody knows."""

    def passed(self, now: float) -> float:
        """Seconds of the present phase; those of a simulated run by its own clock, which may run faster."""
        if self.start.simulated and self.samples and self.samples[-1].phase is self.phase:
            return self.samples[-1].at
        return max(0.0, now - self.phase_since)

    def amount_left(self, now: float) -> float | None:
        """Seconds until a phase that ends by amount is over, at its speed so far; None if nobody knows."""
        if not self.total_bytes or not self.moved_bytes:
            return None
        return max(0.0, self.total_bytes - self.moved_bytes) * self.passed(now) / self.moved_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Everything a screen or a report needs to know."""

    id: str = ""
    """Name of the session."""
    started: float = 0.0
    """Seconds since the epoch."""
    machine: MachineFacts | None = None
    """Where it runs."""
    simulated: bool = False
    """Whether any of it is simulated."""
    version: str = ""
    """raidbench's version."""
    inventory: Inventory = field(default_factory=Inventory)
    """What was found last: by the last look that is whole, as soon as this program has made one."""
    whole: bool = False
    """Whether it is of a whole look of this program; else parts of the first one come in."""
    probing: bool = True
    """Whether hardware is still being looked for."""
    changes: tuple[ChangeRecord, ...] = ()
    """Oldest first."""
    runs: tuple[RunRecord, ...] = ()
    """Oldest first."""
    experiments: tuple[ExperimentRecord, ...] = ()
    """Oldest first."""
    active: ActiveRun | None = None
    """The running job."""
    baseline: str | None = None
    """The run others are shown against."""
    events: tuple[LoggedEvent, ...] = ()
    """All that is on disk, oldest first."""
    sweep: sweep_record.SweepRecord | None = None
    """The sweep that this session is about."""
    ended: bool = False
    """Whether the last program left it in good order."""

    def run(self, run_id: str) -> RunRecord | None:
        """The run of that id."""
        return next((run for run in self.runs if run.id == run_id), None)

    def experiment(self, experiment_id: str) -> ExperimentRecord | None:
        """The experiment of that id."""
        return next((experiment for experiment in self.experiments if experiment.id == experiment_id), None)

    def change(self, change_id: str) -> ChangeRecord | None:
        """The change of that id."""
        return next((change for change in self.changes if change.id == change_id), None)

    @property
    def in_force(self) -> tuple[ChangeRecord, ...]:
        """Changes that could be undone, newest first."""
        return tuple(change for change in reversed(self.changes) if change.in_force)


def fold(session: Session, event: AnyEvent) -> Session:
    """The session after the event. Pure; a forgotten event is a type error."""
    match event:
        case LiveEvent():
            return _fold_live(session, event)
        case logged.InventorySeen(complete=False):  # backends still answer: shown, not kept
            return _fold_logged(session, event)
        case _:
            return _fold_logged(replace(session, events=(*session.events, event)), event)


def replay(events: Iterable[LoggedEvent]) -> Session:
    """The session that the events make."""
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
    """Without what does not outlast the phase."""
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
                whole=False,
                ended=False,
                active=None,
                sweep=sweep_record.stop_running(session.sweep),
            )
        case logged.InventorySeen(complete=False) if (
            session.whole
        ):  # half of a newer look is less than a whole older one
            return replace(session, probing=True)
        case logged.InventorySeen():
            return replace(session, inventory=event.inventory, probing=not event.complete, whole=event.complete)
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
            # an experiment that continues has a second start
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
    taken_back = undoes if event.result == "verified" else None
    ended = []
    for change in changes:
        if change.id == event.id:
            moved = None if change.end is None else change.end.moved  # what ends it a second time does not look at that
            end = event if event.moved is not None else replace(event, moved=moved)
            change = replace(change, end=end, begun_before_end=len(changes))
            if event.result == "restored":
                change = replace(change, undone_by=event.id)
        elif taken_back is not None and change.id == taken_back:
            change = replace(change, undone_by=event.id)
        ended.append(change)
    return tuple(ended)
