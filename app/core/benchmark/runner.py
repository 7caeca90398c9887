"""Benchmark runner: it turns a request into a plan, asks the guard, runs fio, and records the run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from app.core.benchmark.abort_conditions import (
    FREE_SPACE,
    HEAT,
    AbortMonitor,
    AllocatedRanges,
    WriteLimit,
    make_capacity_monitor,
    write_limit_of,
)
from app.core.benchmark.background_events import open_event_watch, with_background_events
from app.core.benchmark.conditions.collector import too_warm
from app.core.benchmark.conditions.facts import JobLocation
from app.core.benchmark.conditions.monitor import LiveAdvisor
from app.core.benchmark.device_access import DeviceAccess
from app.core.benchmark.device_faults import make_fault_detector
from app.core.benchmark.device_stats import MemberSampler, member_meter
from app.core.benchmark.run_monitor import RunMonitor
from app.core.benchmark.run_plan import (
    BenchmarkRequest,
    NamedTarget,
    ResolvedTarget,
    RunPlan,
    require_distinct_targets,
    require_valid_targets,
)
from app.core.benchmark.run_start import make_folder, run_started
from app.core.benchmark.scratch_manager import OpenTarget, scratch_manager_for
from app.core.benchmark.stack_watch import footing_watch
from app.core.fio.job import Job, JobTarget, TargetKind, fit_to_block_size, fit_to_flushes
from app.core.fio.load import Load
from app.core.fio.preflight import Preflight
from app.core.fio.render import render, render_fill
from app.core.fio.sections import change_sections
from app.core.session.event_types import AdviceGiven
from app.core.session.events import CommandRan, LiveEvent, RunEnded
from app.core.session.locks import hold_lock
from app.core.session.recorder import Recorder
from app.core.session.results import Phase, RunResult, RunStatus, Sample
from backends.errors import RaidbenchError, RefusedError
from backends.host import Host
from backends.sizes import size_words
from backends.topology.thin_capacity import WHOLE, ThinCapacity, WriteRange, refusals
from backends.values import dataclass

__all__ = ["BenchmarkRequest", "BenchmarkRunner", "RunPlan", "Until"]

Until = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ActiveRun:
    """A run in progress, with its plan and the objects that it needs."""

    id: str
    ready: RunPlan
    targets: Sequence[JobTarget]
    workdir: Path
    stop: asyncio.Event
    watch: LiveAdvisor | None
    until: Until | None


class BenchmarkRunner:
    """Prepares and runs jobs, one at a time."""

    def __init__(
        self,
        recorder: Recorder,
        folder: Path,
        *,
        load: Load,
        preflight: Callable[[Job], Awaitable[Preflight]],
        gate: DeviceAccess,
        ranges: AllocatedRanges,
        find_fio: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        """Create a runner that records runs in `recorder` and stores their files below `folder`.

        `load`: runs fio. `preflight`: checks fio and its I/O engine for a job. `gate`: access to block devices.
        `ranges`: blocks that earlier runs allocated on thin-provisioned targets. `find_fio`: raises RaidbenchError if
        fio cannot be used; None skips that check.
        """
        self._recorder = recorder
        self._host = recorder.host
        self._emit = recorder.emit
        self._folder = folder
        self._load = load
        self._preflight = preflight
        self._gate = gate
        self._ranges = ranges
        self._find_fio = find_fio
        self._scratching = scratch_manager_for(self._host)

    async def readiness_error(self) -> RaidbenchError | None:
        """Return the error that prevents benchmarks (fio missing or too old); None if there is none."""
        try:
            if self._find_fio is not None:
                await self._find_fio()
        except RaidbenchError as error:
            return error
        return None

    async def prepare(self, request: BenchmarkRequest) -> RunPlan:
        """Return the plan for a request; change nothing.

        Raises ToolMissingError if fio is missing, ToolFailedError if the I/O engine is not permitted (the error names a
        substitute), InvalidValueError for an invalid job or target, and RefusedError if there is no space or a target
        is refused.
        """
        if request.steady is not None:
            request.steady.checked()
        require_valid_targets(request)
        fitted, flushed = change_sections(request.job, fit_to_flushes)
        ready = await self._preflight(fitted.parts[0])
        for part in fitted.parts[1:]:  # check each engine of the job
            ready = await self._preflight(part)
        wanted, substituted = change_sections(fitted, ready.substitute)
        sites = [await self._site(named, wanted, request) for named in request.targets]
        if len(sites) > 1:
            await self._require_distinct(sites)
            _require_room_for_all(sites)
        largest = max(site.target.logical_block_size for site in sites)
        job, notes = change_sections(wanted, partial(fit_to_block_size, logical_block_size=largest))
        notes = (*flushed, *notes, *(note for site in sites for note in _clip_notes(job, site)))
        targets = [site.target for site in sites]
        rendering = render(job, targets, fio=ready.path, jobfile="job.fio", steady=request.steady)
        fill_options = {"loops": request.fills, "block": request.fill_block}
        fill = render_fill(targets[0], **fill_options, engine=job.ioengine, fio=ready.path, jobfile="fill.fio")
        return RunPlan(
            request=request,
            job=job,
            fio_version=ready.version.removeprefix("fio-"),
            sites=tuple(sites),
            locks=await self._locks_of(sites),
            command=rendering.argv,
            jobfile=rendering.text,
            fill_command=fill.argv if request.fills else (),
            notes=(*substituted, *notes),
        )

    async def _site(self, named: NamedTarget, job: Job, request: BenchmarkRequest) -> ResolvedTarget:
        """Return a target with its facts and the guard's result."""
        if not await self._gate.is_device(named.where):
            return await self._file(named, job, writes=request.writes)
        area = (
            WHOLE
            if request.fills
            else WriteRange(size=job.reach, allocated=self._ranges.on(await self._gate.device_number(named.where)))
        )
        judgement = await self._gate.judge(named.where, writes=request.writes, area=area)
        if not judgement.size and judgement.refused:  # report the guard's reasons, not that the size is 0
            raise RefusedError(" ".join(judgement.refused), hint="Choose another device.")
        target = JobTarget(
            path=judgement.device,
            name=named.name,
            kind=TargetKind.BLOCK,
            size=judgement.size,
            logical_block_size=judgement.logical_block_size,
        )
        return ResolvedTarget(requested=named, target=target, judgement=judgement, device=judgement.device, area=area)

    async def _file(self, named: NamedTarget, job: Job, *, writes: bool) -> ResolvedTarget:
        _require_no_trims(job)
        plan = await self._scratching.plan(named.where, job.reach, writes=writes, preallocated=job.preallocates)
        await self._scratching.require_free(plan)
        device, block = await self._gate.disk_below(await self._scratching.filesystem_number(plan))
        target = JobTarget(
            path=str(plan.path),
            name=str(plan.path),
            kind=TargetKind.FILE,
            size=plan.size,
            logical_block_size=block,
        )
        area = WriteRange(size=plan.size, allocated=self._ranges.on(str(plan.path)))
        site = ResolvedTarget(requested=named, target=target, scratch=plan, device=device, area=area)
        return replace(site, rooms=await self._require_room(site)) if writes or plan.fill else site

    async def _require_room(self, site: ResolvedTarget) -> tuple[ThinCapacity, ...]:
        """Return the thin-provisioned storage below a scratch file. Raises RefusedError if the file does not fit."""
        rooms = await self._gate.rooms(await self.number(site), site.file or "")
        if reasons := refusals(site.name, rooms, site.area):
            raise RefusedError(" ".join(reasons), hint="Use another folder or a smaller --size.")
        return rooms

    async def _require_distinct(self, sites: Sequence[ResolvedTarget]) -> None:
        """Raise RefusedError if two targets share a disk or file."""
        numbers = [await self.number(site) for site in sites]
        backing = await self._gate.backing_of(numbers)
        for number, (at, site) in zip(numbers, enumerate(sites), strict=True):
            if site.scratch is not None:
                backing[at] |= {str(site.scratch.path), f"the filesystem {number}"}
        require_distinct_targets([site.name for site in sites], backing)

    async def _locks_of(self, sites: Sequence[ResolvedTarget]) -> tuple[str, ...]:
        """Return the names of the locks for these targets. A file on an unknown disk has a lock of its own.

        The names are in the order in which every process acquires its locks.
        """
        files = [f"file-{site.requested.where}" for site in sites if site.disk is None]
        disks = [node for site in sites for node in site.locked]
        return tuple(sorted({*files, *(await self._gate.locks(*disks) if disks else ())}))

    async def number(self, site: ResolvedTarget) -> str:
        """Return the device number MAJ:MIN of a target; for a scratch file, that of its filesystem."""
        if site.scratch is not None:
            return await self._scratching.filesystem_number(site.scratch)
        return await self._gate.device_number(site.target.path)

    async def locate(self, request: BenchmarkRequest) -> JobLocation:
        """Return the location at which a request would run. This needs neither fio nor the guard, and opens nothing.

        Raises InvalidValueError or RefusedError if the scratch file cannot be used.
        """
        job = request.job
        if await self._gate.is_device(request.where):
            devno = await self._gate.device_number(request.where)
            disk, _ = await self._gate.disk_below(devno)
            return JobLocation(
                job=job,
                name=request.name,
                device=disk or request.where,
                area_bytes=job.size,
                scratch=False,
                whole_disk=disk in (None, request.where),
            )
        _require_no_trims(job)
        plan = await self._scratching.plan(request.where, job.reach, writes=job.writes, preallocated=job.preallocates)
        device, _ = await self._gate.disk_below(await self._scratching.filesystem_number(plan))
        holes = plan.holes and not plan.fill
        return JobLocation(job=job, name=str(plan.path), device=device, area_bytes=plan.size, scratch=True, holes=holes)

    async def measure(
        self,
        run_id: str,
        ready: RunPlan,
        *,
        confirm: str | None = None,
        settings: Mapping[str, str] | None = None,
        stop: asyncio.Event | None = None,
        watch: LiveAdvisor | None = None,
        until: Until | None = None,
    ) -> RunResult:
        """Run a plan and return its results. The session records the start and the end of the run even on cancellation.

        `confirm`: confirmation token that the user typed. `settings`: values to record with the run. `stop`: ends the
        run when it is set. `watch`: observes the run and gives advice; None for no advice. `until`: awaited just before
        fio starts; it returns when fio may start, or when `stop` is set.

        Raises RefusedError (by the guard, or because a target is locked), StorageError or DeviceGoneError.
        """
        stop = stop or asyncio.Event()
        ready.require(confirm)
        with ExitStack() as stack:
            for name in ready.locks:
                stack.enter_context(hold_lock(self._recorder.locks, name, f"{ready.job.describe()} on {ready.name}"))
            async with AsyncExitStack() as holds:
                held = [await holds.enter_async_context(self._hold(site, ready, confirm)) for site in ready.sites]
                figures = await self._record(run_id, ready, held, settings or {}, stop, watch, until)
                for target in held:
                    target.keep = target.keep or (ready.request.again and figures.status is RunStatus.OK)
                return figures

    @asynccontextmanager
    async def _hold(
        self, site: ResolvedTarget, ready: RunPlan, confirm: str | None
    ) -> AsyncGenerator[OpenTarget, None]:
        """Open a target for the run; the guard checks a device again.

        Raises RefusedError, DeviceGoneError or StorageError.
        """
        if site.scratch is not None:
            if site.rooms:
                await self._require_room(site)
            async with self._scratching.hold(site.scratch) as held:
                held.keep = ready.request.keep
                yield held
        else:
            assert site.judgement is not None
            async with self._gate.hold(site.judgement, ready.token_for(site, confirm)) as held:
                yield held

    async def _record(
        self,
        run_id: str,
        ready: RunPlan,
        held: Sequence[OpenTarget],
        settings: Mapping[str, str],
        stop: asyncio.Event,
        watch: LiveAdvisor | None,
        until: Until | None,
    ) -> RunResult:
        targets = [
            replace(site.target, path=target.path, root=target.root)
            for site, target in zip(ready.sites, held, strict=True)
        ]
        folder = Path("runs") / run_id
        workdir = self._folder / folder
        make_folder(workdir)
        keeps_scratch = ready.request.keep or not self._scratching.real
        self._emit(
            run_started(run_id, ready, settings, keeps_scratch=keeps_scratch, simulated=self._recorder.simulated)
        )
        if watch is not None:
            self._emit(LiveEvent(at=time.time(), id=run_id, progress=AdviceGiven(advice=watch.first())))
        figures = RunResult(status=RunStatus.FAILED, reason="raidbench was interrupted.")
        try:
            figures = await self._run_watched(
                _ActiveRun(
                    id=run_id, ready=ready, targets=targets, workdir=workdir, stop=stop, watch=watch, until=until
                )
            )
            moved = [target.moved() for target in held]
            figures = replace(figures, warnings=tuple(filter(None, (*ready.notes, *figures.warnings, *moved))))
            if watch is not None:  # if this is cancelled, the results above are already complete
                figures = replace(figures, advice=await watch.end(figures))
        except RaidbenchError as error:
            reason = error.full_text
            figures = RunResult(status=RunStatus.FAILED, reason=reason)
        finally:
            self._emit(RunEnded(at=time.time(), id=run_id, figures=figures, folder=str(folder)))
        return figures

    async def _run_watched(self, run: _ActiveRun) -> RunResult:
        """Run the job; stop it on heat, lack of free space, a change of the device stack, or at the write limit."""
        ready, stop = run.ready, run.stop
        look = partial(_warm_drives, self._host, ready.disks) if ready.disks else None
        inventory = self._recorder.session.inventory
        cap = WriteLimit([write_limit_of(ready, site, inventory) for site in ready.sites], stop)
        async with (
            AbortMonitor(HEAT, look, stop) as heat,
            AbortMonitor(FREE_SPACE, make_capacity_monitor(self._host, ready), stop) as room,
            footing_watch(self._host, ready, stop) as footing,
        ):
            figures = await self._run(run, cap)
        return footing.explain(cap.explain(room.explain(heat.explain(figures))))

    def _samples(self) -> tuple[Sample, ...]:
        """Return the samples that the running job has produced so far."""
        active = self._recorder.session.active
        return () if active is None else active.samples

    async def _sampler(self, disks: Sequence[str], files: Sequence[str]) -> MemberSampler:
        return await member_meter(self._host, disks, files)

    async def _run(self, run: _ActiveRun, cap: WriteLimit) -> RunResult:
        ready, stop = run.ready, run.stop
        sampler = await self._sampler(ready.disks, ready.files)
        detector = await make_fault_detector(self._host, self._samples, ready.disks)
        event_watch = await open_event_watch(self._host, ready.disks, sampler.members, float(ready.job.ramp))
        monitor = RunMonitor(
            run.id, self._emit, sampler=sampler, advisor=run.watch, event_watch=event_watch, on_sample=cap.count
        )
        layouts = [site.scratch is not None and site.scratch.fill for site in ready.sites]
        for target, layout in zip(run.targets, layouts, strict=True):
            if layout and (failed := await self._lay_out(monitor, target, run)) is not None:
                return failed
        filled = 0
        if ready.request.fills:
            done = await self._fill(monitor, run, layout=layouts[0])
            if done.status is not RunStatus.OK:
                return done
            filled = done.filled_bytes
        if run.until is not None and not stop.is_set():
            await run.until()
        started = time.time()
        clock = time.monotonic()
        await sampler.open()
        running = self._load.run(ready.job, run.targets, run.workdir, stop, steady=ready.request.steady)
        lengths = {Phase.MEASURING: float(ready.job.runtime)} if ready.job.runtime else {}
        if ready.request.steady is not None:
            lengths[Phase.SETTLING] = float(ready.request.steady.cap_s)
        figures = await monitor.follow(running, lengths)
        below_now = await sampler.total(figures.seconds)
        figures = replace(figures, filled_bytes=filled, members=below_now, caches=await sampler.caches.total())
        if event_watch is not None:
            figures = with_background_events(figures, await event_watch.end())
        figures = await detector.explain(figures, sampler.members, ramp=float(ready.job.ramp), idle_s=ready.job.idle_s)
        self._log(started, clock, ready.command, figures, mutates=ready.destructive, output=f"runs/{run.id}/fio.out")
        return figures

    async def _lay_out(self, monitor: RunMonitor, target: JobTarget, run: _ActiveRun) -> RunResult | None:
        """Write the scratch file in full. Return None on success, else the results of the failed or stopped run."""
        folder = run.workdir / "layout"
        folder.mkdir(mode=0o700, exist_ok=True)
        figures = await monitor.follow(self._load.layout(target, folder, run.stop))
        if figures.status is RunStatus.OK:
            return None
        outcome = "stopped" if figures.status is RunStatus.STOPPED else "failed"
        return RunResult(
            status=figures.status, reason=f"Laying out the file {outcome}: {figures.reason or 'no reason given'}"
        )

    async def _fill(self, monitor: RunMonitor, run: _ActiveRun, *, layout: bool) -> RunResult:
        """Fill the target as often as requested; return the results.

        `layout`: whether its scratch file was just written in full, which counts as one fill.
        """
        ready, target = run.ready, run.targets[0]
        written = target.size if layout else 0
        loops = ready.request.fills - layout
        if not loops:
            return RunResult(status=RunStatus.OK, filled_bytes=written)
        started = time.time()
        clock = time.monotonic()
        block = ready.request.fill_block
        fill = self._load.fill(target, run.workdir, run.stop, loops=loops, engine=ready.job.ioengine, block=block)
        done = await monitor.follow(fill)
        output = f"runs/{run.id}/fill.out"
        self._log(started, clock, ready.fill_command, done, mutates=ready.destructive, output=output)
        written += done.write.total_bytes if done.write is not None else 0
        if done.status is RunStatus.OK:
            return RunResult(status=RunStatus.OK, filled_bytes=written)
        outcome = "was stopped" if done.status is RunStatus.STOPPED else f"failed: {done.reason}"
        reason = f"Preconditioning {outcome}; written {written / target.size:.1f}x"
        hint = "" if done.status is RunStatus.STOPPED else done.hint
        return RunResult(status=done.status, reason=reason, hint=hint, filled_bytes=written)

    def _log(
        self, at: float, clock: float, command: Sequence[str], figures: RunResult, *, mutates: bool, output: str
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


async def _warm_drives(host: Host, disks: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([name for disk in disks for name in await too_warm(host, disk)]))


def _require_room_for_all(sites: Sequence[ResolvedTarget]) -> None:
    """Raise RefusedError if the targets together do not fit into the thin-provisioned storage that they share."""
    together = ", ".join(site.name for site in sites)
    rooms = [room.limited_to(site.area) for site in sites for room in site.capacity_sources]
    if reasons := refusals(f"{together} together", rooms, WHOLE):
        raise RefusedError(" ".join(reasons), hint="Measure one target at a time, or use a smaller --size.")


def _require_no_trims(job: Job) -> None:
    """Raise RefusedError for a job that trims a file, because fio can trim only block devices."""
    if job.trims:
        raise RefusedError(
            "fio can trim block devices only, not files.", hint="Choose a device whose data you can lose."
        )


def _clip_notes(job: Job, site: ResolvedTarget) -> Iterator[str]:
    """Yield a note if the job's range is larger than the device."""
    needed = max((part.reach for part in job.parts if part.reach is not None), default=0)
    if site.scratch is None and needed > site.size:
        yield f"The job needs {size_words(needed)}, but {site.name} has {size_words(site.size)}."
