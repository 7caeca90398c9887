"""Measuring: from what somebody asked for to a run on disk, with the guard between."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path

from app.engine.advisor.gather import Place
from app.engine.advisor.watching import Watch
from app.engine.aftermath import Witness
from app.engine.events import (
    Advised,
    AnyEvent,
    CommandRan,
    CpuSampled,
    ExperimentMark,
    MembersSampled,
    PhaseChanged,
    RunEnded,
    RunStarted,
    SampleTaken,
    SteadinessSeen,
)
from app.engine.figures import Advice, Phase, RunFigures, RunStatus
from app.engine.fio import events as load_events
from app.engine.fio.job import Job, fit
from app.engine.fio.load import Load
from app.engine.fio.preflight import Preflight
from app.engine.fio.render import render
from app.engine.fio.sizes import format_size
from app.engine.fio.target import JobTarget, TargetKind
from app.engine.gate import Gate, Judgement
from app.engine.locks import hold_lock
from app.engine.members import MemberMeter
from app.engine.scratch import ScratchPlan
from app.engine.scratching import LocalScratching, Scratching
from app.engine.steady import SteadyPlan
from backends.errors import RaidbenchError, StorageError
from backends.model import disk_lock
from backends.text import clean

Emit = Callable[[AnyEvent], None]

_SILENT_S = 1.0
"""Seconds without a word from fio after which the members are looked at all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What somebody wants measured."""

    where: str
    """A block device node, or a file or folder for a scratch file."""
    name: str
    """What to call it: an address, a device, the file's path."""
    job: Job
    """The workload."""
    profile: str | None = None
    """Its name, None for a custom job."""
    keep: bool = False
    """Whether a scratch file stays afterwards."""
    again: bool = False
    """Whether another run follows on the same scratch file, which then stays until that one."""
    steady: SteadyPlan | None = None
    """What to do about the steady state; None measures at once, for the whole time."""
    fills: int = 0
    """How often to write all of it in order before, to precondition it."""

    @property
    def writes(self) -> bool:
        """Whether anything is written, so whether the data of a device are lost."""
        return self.job.writes or self.fills > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """What will be done, for the dialog; nothing has been touched yet."""

    request: Request
    """What was asked for."""
    job: Job
    """The job as the device can serve it."""
    fio: str
    """Path of the program."""
    fio_version: str
    """`3.33`."""
    scratch: ScratchPlan | None = None
    """The file, None for a device."""
    judgement: Judgement | None = None
    """The guard's word on a device, None for a file."""
    device: str | None = None
    """Block device beneath, `/dev/sda`; None if unknown."""
    command: tuple[str, ...] = ()
    """fio's words, the job file standing for itself."""
    jobfile: str = ""
    """The job file's text."""
    block: int = 512
    """Smallest unit of direct I/O of what is measured, bytes."""
    notes: tuple[str, ...] = ()
    """What was changed or deserves to be known."""
    advice: tuple[Advice, ...] = ()
    """What makes the figures doubtful and can still be mended."""
    mark: ExperimentMark | None = None
    """Its place in an experiment."""

    @property
    def refused(self) -> tuple[str, ...]:
        """Why it will not be done at all."""
        return () if self.judgement is None else self.judgement.refused

    @property
    def hint(self) -> str:
        """What to do next when it is refused."""
        return "" if self.judgement is None else self.judgement.verdict.hint

    @property
    def confirm_text(self) -> str | None:
        """What has to be typed first, None if nothing has to."""
        return None if self.judgement is None else self.judgement.verdict.confirm_text

    @property
    def disk(self) -> str | None:
        """Node of the disk beneath, a partition's disk; None if unknown."""
        return self.device if self.judgement is None else self.judgement.disk

    @property
    def place(self) -> Place:
        """The same for the advisor."""
        whole = self.scratch.size if self.scratch is not None else self.judgement.size if self.judgement else 0
        return Place(
            job=self.job,
            name=self.request.name if self.scratch is None else str(self.scratch.path),
            device=self.disk,
            area_bytes=min(self.job.size or whole, whole) or None,
            scratch=self.scratch is not None,
            whole_disk=self.judgement is None or self.judgement.disk == self.judgement.device,
            holes=self.scratch is not None and self.scratch.holes and not self.scratch.fill,
        )

    @property
    def found(self) -> tuple[str, ...]:
        """What lies on the device and would be lost."""
        return () if self.judgement is None else self.judgement.verdict.found

    @property
    def destructive(self) -> bool:
        """Whether a device is overwritten."""
        return self.scratch is None and self.request.writes

    @property
    def size(self) -> int:
        """Bytes of what is measured, all of it."""
        return self.scratch.size if self.scratch is not None else self.judgement.size if self.judgement else 0


class Measurer:
    """Prepares and runs jobs, one at a time."""

    def __init__(
        self,
        *,
        load: Load,
        preflight: Callable[[], Awaitable[Preflight]],
        gate: Gate,
        locks: Path,
        folder: Path,
        emit: Emit,
        scratching: Scratching | None = None,
        members: Callable[[str | None], Awaitable[MemberMeter]] | None = None,
        witness: Callable[[str | None], Awaitable[Witness]] | None = None,
        simulated: bool = False,
    ) -> None:
        """`scratching`: where scratch files go, None is this machine. `simulated`: whether what is measured is.

        `members`: the meter of the devices below a disk; None counts none. `witness`: sees what befalls a disk.
        """
        self._load = load
        self._preflight = preflight
        self._gate = gate
        self._locks = locks
        self._folder = folder
        self._emit = emit
        self._scratching: Scratching = scratching or LocalScratching()
        self._members = members
        self._witness = witness
        self._simulated = simulated

    async def prepare(self, request: Request) -> Preparation:
        """Look at target, tool and room; changes nothing.

        Raises ToolMissingError, ToolFailedError (engine not permitted, with the one to use instead),
        InvalidValueError, RefusedError.
        """
        if request.steady is not None:
            request.steady.checked()
        ready = await self._preflight()
        wanted, substituted = ready.substitute(request.job)
        if await self._gate.is_device(request.where):
            judgement = await self._gate.judge(request.where, writes=request.writes)
            job, notes = fit(wanted, judgement.logical_block_size)
            size = judgement.size
            target = JobTarget(
                path=judgement.device,
                name=judgement.device,
                kind=TargetKind.BLOCK,
                size=size,
                logical_block_size=judgement.logical_block_size,
            )
            if job.size is not None and job.size > size:
                notes = (*notes, f"The job wants {format_size(job.size)}, the device has {format_size(size)}.")
            scratch = None
            device: str | None = judgement.device
        else:
            scratch = await self._scratching.plan(request.where, request.job.size, writes=request.writes)
            device, block = await self._gate.beneath(await self._scratching.beneath(scratch))
            job, notes = fit(wanted, block)
            target = JobTarget(
                path=str(scratch.path),
                name=str(scratch.path),
                kind=TargetKind.FILE,
                size=scratch.size,
                logical_block_size=block,
            )
            judgement = None
        rendering = render(job, target, fio=ready.path, jobfile="job.fio", steady=request.steady)
        return Preparation(
            request=request,
            job=job,
            fio=ready.path,
            fio_version=ready.version.removeprefix("fio-"),
            scratch=scratch,
            judgement=judgement,
            device=device,
            command=rendering.argv,
            jobfile=rendering.text,
            block=target.logical_block_size,
            notes=(*substituted, *notes),
        )

    async def survey(self, request: Request) -> Place:
        """Where it would be measured; fio is not asked for, nothing is judged or opened.

        Raises InvalidValueError, RefusedError for a file that cannot be.
        """
        job = request.job
        if await self._gate.is_device(request.where):
            stat = await self._gate.device_number(request.where)
            disk, _ = await self._gate.beneath(stat)
            return Place(
                job=job,
                name=request.name,
                device=disk or request.where,
                area_bytes=job.size,
                scratch=False,
                whole_disk=disk in (None, request.where),
            )
        plan = await self._scratching.plan(request.where, job.size, writes=job.writes)
        device, _ = await self._gate.beneath(await self._scratching.beneath(plan))
        holes = plan.holes and not plan.fill
        return Place(job=job, name=str(plan.path), device=device, area_bytes=plan.size, scratch=True, holes=holes)

    async def measure(
        self,
        run_id: str,
        ready: Preparation,
        *,
        confirm: str | None = None,
        settings: Mapping[str, str] | None = None,
        stop: asyncio.Event | None = None,
        watch: Watch | None = None,
    ) -> RunFigures:
        """Run what was prepared; the session has it whole even if this is cancelled.

        `watch`: what hears the run and gives advice, None for no advice.

        Raises RefusedError (guard, lock), StorageError, DeviceGoneError.
        """
        stop = stop or asyncio.Event()
        if ready.judgement is not None:
            ready.judgement.insist(confirm)
        lock = disk_lock(ready.disk) if ready.disk is not None else f"file-{ready.request.where}"
        with hold_lock(self._locks, lock, ready.job.describe()):
            if ready.scratch is not None:
                return await self._on_file(run_id, ready, ready.scratch, settings or {}, stop, watch)
            return await self._on_device(run_id, ready, confirm, settings or {}, stop, watch)

    async def _on_device(
        self,
        run_id: str,
        ready: Preparation,
        confirm: str | None,
        settings: Mapping[str, str],
        stop: asyncio.Event,
        watch: Watch | None,
    ) -> RunFigures:
        assert ready.judgement is not None
        async with self._gate.hold(ready.judgement, confirm) as path:
            target = JobTarget(
                path=path,
                name=ready.judgement.device,
                kind=TargetKind.BLOCK,
                size=ready.judgement.size,
                logical_block_size=ready.judgement.logical_block_size,
            )
            return await self._record(run_id, ready, target, settings, stop, watch, layout=False)

    async def _on_file(
        self,
        run_id: str,
        ready: Preparation,
        plan: ScratchPlan,
        settings: Mapping[str, str],
        stop: asyncio.Event,
        watch: Watch | None,
    ) -> RunFigures:
        await self._scratching.create(plan)
        stays = ready.request.keep
        target = JobTarget(
            path=str(plan.path),
            name=str(plan.path),
            kind=TargetKind.FILE,
            size=plan.size,
            logical_block_size=ready.block,
        )
        try:
            figures = await self._record(run_id, ready, target, settings, stop, watch, layout=plan.fill)
            stays = stays or (ready.request.again and figures.status is RunStatus.OK)
            return figures
        finally:
            if plan.own and not stays:
                await self._scratching.remove(plan)

    async def _record(
        self,
        run_id: str,
        ready: Preparation,
        target: JobTarget,
        settings: Mapping[str, str],
        stop: asyncio.Event,
        watch: Watch | None,
        *,
        layout: bool,
    ) -> RunFigures:
        folder = Path("runs") / run_id
        workdir = self._folder / folder
        try:
            workdir.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(
                f"The run's folder cannot be made: {error.strerror}.", hint=f"Check {workdir}.", evidence=str(error)
            ) from error
        temporary = ready.scratch is not None and ready.scratch.own and not ready.request.keep
        temporary = temporary and self._scratching.real
        self._emit(
            RunStarted(
                at=time.time(),
                id=run_id,
                target=ready.request.name if ready.scratch is None else str(ready.scratch.path),
                device=ready.device,
                profile=ready.request.profile,
                job={key: text for key, text in ready.job.texts().items() if text},
                title=ready.job.describe(),
                planned_seconds=float(ready.job.ramp + ready.job.runtime),
                settings=dict(settings),
                destructive=ready.destructive,
                found=ready.found,
                fio_version=ready.fio_version,
                simulated=self._simulated,
                scratch=str(ready.scratch.path) if ready.scratch is not None and temporary else None,
                mark=ready.mark,
                steady=ready.request.steady,
                fills=ready.request.fills,
            )
        )
        if watch is not None:
            self._advise(run_id, watch.first())
        figures = RunFigures(status=RunStatus.FAILED, reason="raidbench was interrupted.")
        try:
            figures = await self._run(run_id, ready, target, workdir, stop, watch, layout=layout)
            figures = replace(figures, warnings=(*ready.notes, *figures.warnings))
            if watch is not None:  # the figures are safe already, should this be cut short
                figures = replace(figures, advice=await watch.end(figures))
        except RaidbenchError as error:
            reason = " ".join(filter(None, (error.message, error.hint)))
            figures = RunFigures(status=RunStatus.FAILED, reason=reason)
        finally:
            self._emit(RunEnded(at=time.time(), id=run_id, figures=figures, folder=str(folder)))
        return figures

    async def _run(
        self,
        run_id: str,
        ready: Preparation,
        target: JobTarget,
        workdir: Path,
        stop: asyncio.Event,
        watch: Watch | None,
        *,
        layout: bool,
    ) -> RunFigures:
        meter = None if self._members is None else await self._members(ready.disk)
        witness = None if self._witness is None else await self._witness(ready.disk)
        if layout:
            filling = workdir / "layout"
            filling.mkdir(mode=0o700, exist_ok=True)
            laid = await self._follow(run_id, self._load.layout(target, filling, stop), {}, meter, None)
            if laid.status is not RunStatus.OK:
                what = "stopped" if laid.status is RunStatus.STOPPED else "failed"
                return RunFigures(
                    status=laid.status, reason=f"Laying out the file {what}: {laid.reason or 'no reason given'}"
                )
        filled = 0
        if ready.request.fills:
            fill = self._load.fill(target, workdir, stop, loops=ready.request.fills, engine=ready.job.ioengine)
            done = await self._follow(run_id, fill, {}, meter, None)
            filled = done.write.total_bytes if done.write is not None else 0
            if done.status is not RunStatus.OK:
                what = "was stopped" if done.status is RunStatus.STOPPED else f"failed: {done.reason}"
                reason = f"Filling {what} when it was written {filled / max(target.size, 1):.1f}x"
                return RunFigures(status=done.status, reason=reason, hint=done.hint, filled_bytes=filled)
        started = time.time()
        clock = time.monotonic()
        steady = ready.request.steady
        running = self._load.run(ready.job, target, workdir, stop, steady=steady)
        lengths = {Phase.MEASURING: float(ready.job.runtime), Phase.SETTLING: float(steady.cap_s if steady else 0)}
        figures = await self._follow(run_id, running, lengths, meter, watch)
        figures = replace(figures, filled_bytes=filled)
        if meter is not None:
            figures = replace(figures, members=await meter.whole())
        if witness is not None:
            figures = await witness.tell(figures, () if meter is None else meter.members)
        self._emit(
            CommandRan(
                at=started,
                line=" ".join(ready.command),
                mutates=ready.destructive,
                seconds=time.monotonic() - clock,
                returncode=None if figures.status is RunStatus.FAILED else 0,
                output=figures.reason or "",
                output_file=f"runs/{run_id}/fio.out",
            )
        )
        return figures

    async def _follow(
        self,
        run_id: str,
        events: AsyncGenerator[load_events.LoadEvent, None],
        lengths: Mapping[Phase, float],
        meter: MemberMeter | None,
        watch: Watch | None,
    ) -> RunFigures:
        """Turn what the load tells into session events until it is over."""
        phase = Phase.PREPARING
        async with aclosing(events):
            async for event in events:
                match event:
                    case load_events.PhaseChanged():
                        if event.phase is Phase.MEASURING is not phase:
                            await self._begin(meter, watch)
                        phase = event.phase
                        self._live_phase(run_id, event, lengths.get(event.phase))
                    case load_events.SampleTaken():
                        await self._look_below(run_id, meter, watch, phase)
                        self._emit(SampleTaken(at=time.time(), id=run_id, sample=event.sample))
                        if watch is not None and (said := await watch.sample(event.sample)) is not None:
                            self._advise(run_id, said)
                    case load_events.CpuSampled():
                        if event.silent_s > _SILENT_S:  # what the members do while fio says nothing
                            await self._look_below(run_id, meter, watch, phase)
                        if watch is not None and phase is Phase.MEASURING:
                            watch.cpu(event.fio_percent_of_core, event.host_percent)
                        self._emit(
                            CpuSampled(
                                at=time.time(),
                                id=run_id,
                                fio_percent_of_core=event.fio_percent_of_core,
                                host_percent=event.host_percent,
                            )
                        )
                    case load_events.SteadinessSeen():
                        self._emit(SteadinessSeen(at=time.time(), id=run_id, steady=event.steady))
                    case load_events.NoiseHeard():
                        pass  # in the raw output and in the verdict's reason
                    case load_events.Finished():
                        return event.figures
        return RunFigures(status=RunStatus.FAILED, reason="The load ended without a word.")

    async def _begin(self, meter: MemberMeter | None, watch: Watch | None) -> None:
        """From here on counts."""
        if meter is not None:
            await meter.begin()
        if watch is not None:
            await watch.begin()

    async def _look_below(self, run_id: str, meter: MemberMeter | None, watch: Watch | None, phase: Phase) -> None:
        """Tell what the members did since the last time; not once the job was told to stop: it measures no more."""
        if meter is not None and phase is not Phase.STOPPING and (members := await meter.take()):
            self._emit(MembersSampled(at=time.time(), id=run_id, members=members))
            if watch is not None and phase is Phase.MEASURING:
                watch.members(members)

    def _advise(self, run_id: str, advice: tuple[Advice, ...]) -> None:
        self._emit(Advised(at=time.time(), id=run_id, advice=advice))

    def _live_phase(self, run_id: str, event: load_events.PhaseChanged, seconds: float | None) -> None:
        self._emit(
            PhaseChanged(
                at=time.time(),
                id=run_id,
                phase=event.phase,
                seconds=seconds,
                message=clean(event.note, 200),
                total_bytes=event.total_bytes,
            )
        )
