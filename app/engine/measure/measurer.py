"""Measuring: from what somebody asked for to a run on disk, with the guard between."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from app.engine.advisor.gather import JobPlace
from app.engine.advisor.watching import Watch
from app.engine.fio.job import fit
from app.engine.fio.load import Load
from app.engine.fio.preflight import Preflight
from app.engine.fio.render import render, render_fill
from app.engine.fio.sizes import format_size
from app.engine.fio.target import JobTarget, TargetKind
from app.engine.measure.cap import WriteCap
from app.engine.measure.device_access import Gate
from app.engine.measure.device_faults import Witness
from app.engine.measure.following import Following
from app.engine.measure.heat import HeatWatch
from app.engine.measure.preparation import Preparation, Request
from app.engine.measure.scratch import ScratchPlan
from app.engine.measure.scratch_place import LocalScratching, Scratching
from app.engine.members import MemberMeter
from app.engine.session.events import AnyEvent, CommandRan, LiveEvent, RunEnded, RunStarted
from app.engine.session.figures import Phase, RunFigures, RunStatus
from app.engine.session.locks import LockPlace, hold_lock
from app.engine.session.paths import private_folder
from app.engine.session.progress import Advised
from backends.errors import RaidbenchError, RefusedError, StorageError
from backends.guard import require

__all__ = ["Emit", "Measurer", "Preparation", "Request"]

Emit = Callable[[AnyEvent], None]


class Measurer:
    """Prepares and runs jobs, one at a time."""

    def __init__(
        self,
        *,
        load: Load,
        preflight: Callable[[], Awaitable[Preflight]],
        gate: Gate,
        locks: LockPlace,
        folder: Path,
        emit: Emit,
        scratching: Scratching | None = None,
        members: Callable[[str | None], Awaitable[MemberMeter]] | None = None,
        witness: Callable[[str | None], Awaitable[Witness]] | None = None,
        heat: Callable[[str], Awaitable[tuple[str, ...]]] | None = None,
        cap: Callable[[Preparation], int | None] = lambda ready: None,
        simulated: bool = False,
    ) -> None:
        """`scratching`: where scratch files go, None is this machine. `simulated`: whether what is measured is.

        `members`: the meter of the devices below a disk; None counts none. `witness`: sees what befalls a disk.
        `heat`: which of them are too warm, which ends a run; None where nothing tells. `cap`: after how many bytes that
        it wrote a run ends, None for never.
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
        self._heat = heat
        self._cap = cap
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
            if not size and judgement.refused:  # the guard's word comes before what fio would need
                raise RefusedError(" ".join(judgement.refused), hint="Choose another device.")
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
        along = () if judgement is None else judgement.along
        disk = device if judgement is None else judgement.disk
        rendering = render(job, target, fio=ready.path, jobfile="job.fio", steady=request.steady)
        fill = render_fill(target, loops=request.fills, engine=job.ioengine, fio=ready.path, jobfile="fill.fio")
        return Preparation(
            request=request,
            job=job,
            fio_version=ready.version.removeprefix("fio-"),
            scratch=scratch,
            judgement=judgement,
            device=device,
            locks=(f"file-{request.where}",) if disk is None else await self._gate.locks(disk, *along),
            command=rendering.argv,
            fill_command=fill.argv if request.fills else (),
            block=target.logical_block_size,
            notes=(*substituted, *notes),
        )

    async def survey(self, request: Request) -> JobPlace:
        """Where it would be measured; fio is not asked for, nothing is judged or opened.

        Raises InvalidValueError, RefusedError for a file that cannot be.
        """
        job = request.job
        if await self._gate.is_device(request.where):
            stat = await self._gate.device_number(request.where)
            disk, _ = await self._gate.beneath(stat)
            return JobPlace(
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
        return JobPlace(job=job, name=str(plan.path), device=device, area_bytes=plan.size, scratch=True, holes=holes)

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
            require(ready.judgement.verdict, confirm)
        with ExitStack() as stack:
            for name in ready.locks:
                stack.enter_context(hold_lock(self._locks, name, f"{ready.job.describe()} on {ready.request.name}"))
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
        async with self._scratching.hold(plan) as held:
            held.keep = ready.request.keep
            target = JobTarget(
                path=held.path,
                name=str(plan.path),
                kind=TargetKind.FILE,
                size=plan.size,
                logical_block_size=ready.block,
            )
            figures = await self._record(
                run_id, ready, target, settings, stop, watch, layout=plan.fill, moved=held.moved
            )
            held.keep = held.keep or (ready.request.again and figures.status is RunStatus.OK)
            return figures

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
        moved: Callable[[], str] = lambda: "",
    ) -> RunFigures:
        """`moved`: a sentence at the end where the file's name leads elsewhere by then."""
        folder = Path("runs") / run_id
        workdir = self._folder / folder
        try:
            private_folder(workdir.parent)
            private_folder(workdir)
        except OSError as error:
            raise StorageError(
                f"The run's folder cannot be made: {error.strerror or error}.",
                hint=f"Check {workdir}.",
                evidence=str(error),
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
                title=ready.title,
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
                provenance=dict(ready.provenance),
            )
        )
        if watch is not None:
            self._emit(LiveEvent(at=time.time(), id=run_id, progress=Advised(advice=watch.first())))
        figures = RunFigures(status=RunStatus.FAILED, reason="raidbench was interrupted.")
        try:
            look = None if self._heat is None or ready.disk is None else partial(self._heat, ready.disk)
            cap = WriteCap(self._cap(ready), stop)
            async with HeatWatch(look, stop) as heat:
                figures = await self._run(run_id, ready, target, workdir, stop, watch, cap, layout=layout)
            figures = cap.tell(heat.tell(figures))
            figures = replace(figures, warnings=tuple(filter(None, (*ready.notes, *figures.warnings, moved()))))
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
        cap: WriteCap,
        *,
        layout: bool,
    ) -> RunFigures:
        meter = None if self._members is None else await self._members(ready.disk)
        witness = None if self._witness is None else await self._witness(ready.disk)
        following = Following(run_id, self._emit, meter=meter, watch=watch, heard=cap.hear)
        if layout and (failed := await self._lay_out(following, target, workdir, stop)) is not None:
            return failed
        filled = 0
        if ready.request.fills:
            done = await self._fill(run_id, following, ready, target, workdir, stop, layout=layout)
            if done.status is not RunStatus.OK:
                return done
            filled = done.filled_bytes
        started = time.time()
        clock = time.monotonic()
        if meter is not None:
            await meter.open()
        running = self._load.run(ready.job, target, workdir, stop, steady=ready.request.steady)
        lengths = {Phase.MEASURING: float(ready.job.runtime)}
        if ready.request.steady is not None:
            lengths[Phase.SETTLING] = float(ready.request.steady.cap_s)
        figures = replace(await following.follow(running, lengths), filled_bytes=filled)
        if meter is not None:
            figures = replace(figures, members=await meter.whole(figures.seconds))
        if witness is not None:
            figures = await witness.tell(figures, () if meter is None else meter.members)
        self._log(started, clock, ready.command, figures, mutates=ready.destructive, output=f"runs/{run_id}/fio.out")
        return figures

    async def _lay_out(
        self, following: Following, target: JobTarget, workdir: Path, stop: asyncio.Event
    ) -> RunFigures | None:
        """Make the scratch file; figures only if that did not come to its end."""
        filling = workdir / "layout"
        filling.mkdir(mode=0o700, exist_ok=True)
        laid = await following.follow(self._load.layout(target, filling, stop))
        if laid.status is RunStatus.OK:
            return None
        what = "stopped" if laid.status is RunStatus.STOPPED else "failed"
        return RunFigures(status=laid.status, reason=f"Laying out the file {what}: {laid.reason or 'no reason given'}")

    async def _fill(
        self,
        run_id: str,
        following: Following,
        ready: Preparation,
        target: JobTarget,
        workdir: Path,
        stop: asyncio.Event,
        *,
        layout: bool,
    ) -> RunFigures:
        """Write all of the target as often as was asked for; laying out its file was once."""
        written = target.size if layout else 0
        loops = ready.request.fills - layout
        if not loops:
            return RunFigures(status=RunStatus.OK, filled_bytes=written)
        started = time.time()
        clock = time.monotonic()
        fill = self._load.fill(target, workdir, stop, loops=loops, engine=ready.job.ioengine)
        done = await following.follow(fill)
        output = f"runs/{run_id}/fill.out"
        self._log(started, clock, ready.fill_command, done, mutates=ready.destructive, output=output)
        written += done.write.total_bytes if done.write is not None else 0
        if done.status is RunStatus.OK:
            return RunFigures(status=RunStatus.OK, filled_bytes=written)
        what = "was stopped" if done.status is RunStatus.STOPPED else f"failed: {done.reason}"
        reason = f"Filling {what}; written {written / target.size:.1f}x"
        hint = "" if done.status is RunStatus.STOPPED else done.hint
        return RunFigures(status=done.status, reason=reason, hint=hint, filled_bytes=written)

    def _log(
        self, at: float, clock: float, command: Sequence[str], figures: RunFigures, *, mutates: bool, output: str
    ) -> None:
        self._emit(
            CommandRan(
                at=at,
                line=" ".join(command),
                mutates=mutates,
                seconds=time.monotonic() - clock,
                returncode=None if figures.status is RunStatus.FAILED else 0,
                output=figures.reason or "",
                output_file=output,
            )
        )
