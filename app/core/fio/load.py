"""The load: whatever does I/O to a target and tells how it goes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import posixpath
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Protocol

from app.core.fio.job import Engine, Job, JobTarget, TargetKind
from app.core.fio.preflight import find_fio
from app.core.fio.process import FioProcess, Timeouts, open_raw
from app.core.fio.render import JobRendering, render, render_fill, render_layout
from app.core.fio.run_phases import RunPhases
from app.core.session.event_types import LoadEvent, PhaseChanged, SteadyPlan, WorkloadFinished
from app.core.session.results import Phase, RunResult, RunStatus
from backends.errors import InvalidValueError, RefusedError, StorageError
from backends.host import Command, Host, Process
from backends.text import clean
from backends.values import dataclass

TARGETS_A_DOCUMENT = 8
"""Targets or sections whose figures are asked for at the full pace; of twice as many half as often."""

_NAMES = {Phase.FILLING: "fill", Phase.LAYOUT: "layout"}


class Load(Protocol):
    """Does I/O and tells how it goes: fio, or a simulation that answers in fio's words.

    The methods are async generators whose last event is `WorkloadFinished`, whatever happens to the I/O; consume them
    inside `contextlib.aclosing`, since an abandoned generator would keep the program alive. Setting `stop` ends
    the load in good order: figures so far are kept, the status is STOPPED. `workdir` exists and receives
    `job.fio`, `fio.out` (standard output as it came) and `stderr` (a layout: `layout.fio`, ...).

    Raise ToolMissingError (no fio), RefusedError (read-only host and a job that writes), InvalidValueError
    (the target is too small for the job), StorageError (`workdir` cannot be written).
    """

    def run(
        self,
        job: Job,
        targets: Sequence[JobTarget],
        workdir: Path,
        stop: asyncio.Event,
        *,
        steady: SteadyPlan | None = None,
    ) -> AsyncGenerator[LoadEvent, None]:
        """Run the job on all targets at once; `steady`: when measuring starts and when it may end before its time."""
        ...

    def layout(self, target: JobTarget, workdir: Path, stop: asyncio.Event) -> AsyncGenerator[LoadEvent, None]:
        """Write `target.size` bytes to the scratch file, so that reads have something to read."""
        ...

    def fill(
        self, target: JobTarget, workdir: Path, stop: asyncio.Event, *, loops: int, engine: Engine, block: int
    ) -> AsyncGenerator[LoadEvent, None]:
        """Write all of the target in order, `loops` times, `block` bytes at once."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _FioStart:
    """One start of fio."""

    rendering: JobRendering
    workdir: Path
    name: str
    """Beginning of the names of its files."""
    course: RunPhases
    job: Job | None
    """None for what ends by amount and has no plan to be compared with."""
    targets: tuple[JobTarget, ...]
    seconds: int | None
    """Ramp and run time as fio has them; None for what ends by amount."""
    interval_ms: int
    """Milliseconds between two documents."""
    cap_s: int | None = None
    """Seconds that it may wait for the steady state; None for no wait."""

    @property
    def raw(self) -> Path:
        return self.workdir / (f"{self.name}.out" if self.job is None else "fio.out")

    def prepare(self) -> BinaryIO:
        """Write the job file, open the file for the output. Raises StorageError."""
        try:
            self.workdir.joinpath(f"{self.name}.fio").write_text(self.rendering.text, encoding="utf-8")
            return open_raw(self.raw)
        except OSError as error:
            raise StorageError(f"{self.workdir} cannot be written: {error.strerror}", evidence=str(error)) from error

    def keep_stderr(self, text: str) -> None:
        """fio's messages, beside the session; a full disk costs them, not the run."""
        path = self.workdir / (f"{self.name}.stderr" if self.job is None else "stderr")
        with contextlib.suppress(OSError):
            path.write_text(text, encoding="utf-8", errors="replace")


class FioLoad:
    """The load that is fio, started on a host."""

    def __init__(self, host: Host, *, interval_ms: int = 250, patience: Timeouts | None = None) -> None:
        """`interval_ms`: between two documents; 250 costs less than 1 % of the IOPS, 100 is the least sensible."""
        self._host = host
        self._interval_ms = interval_ms
        self._patience = patience or Timeouts()

    async def run(
        self,
        job: Job,
        targets: Sequence[JobTarget],
        workdir: Path,
        stop: asyncio.Event,
        *,
        steady: SteadyPlan | None = None,
    ) -> AsyncGenerator[LoadEvent, None]:
        """Run the job on all targets at the same time; see `Load`."""
        errand = self._measuring_start(job, targets, workdir, steady or SteadyPlan())
        async with aclosing(self._run_fio(errand, stop)) as events:
            async for event in events:
                yield event

    async def fill(
        self, target: JobTarget, workdir: Path, stop: asyncio.Event, *, loops: int, engine: Engine, block: int
    ) -> AsyncGenerator[LoadEvent, None]:
        """Write all of the target in order; see `Load`."""
        # fio leaves out a last piece smaller than its block.
        whole = target.size // block * block * loops
        errand = self._writing_start(
            Phase.FILLING, target, workdir, render_fill, loops=loops, engine=engine, block=block
        )
        async with aclosing(self._run_fio(errand, stop)) as events:
            async for event in events:
                if isinstance(event, WorkloadFinished):
                    event = replace(event, figures=_require_all_written(event.figures, target, whole))
                elif isinstance(event, PhaseChanged) and event.phase is Phase.FILLING:
                    event = replace(event, total_bytes=whole)
                yield event

    async def layout(self, target: JobTarget, workdir: Path, stop: asyncio.Event) -> AsyncGenerator[LoadEvent, None]:
        """Write the scratch file in full; see `Load`.

        Past the page cache where the filesystem allows, else through it with a flush at the end. Raises
        InvalidValueError for what is not a regular file or has no folder to be in.
        """
        create = await self._may_create(target)
        for direct in (True, False):
            errand = self._writing_start(Phase.LAYOUT, target, workdir, render_layout, direct=direct, create=create)
            async with aclosing(self._run_fio(errand, stop)) as events:
                async for event in events:
                    if isinstance(event, WorkloadFinished):
                        # Whether a filesystem has direct I/O is only known when tried: then again, through the cache.
                        if direct and not stop.is_set() and _direct_refused(event.figures):
                            break
                        event = replace(event, figures=_require_all_written(event.figures, target, target.size))
                    yield event
                else:
                    return

    def _measuring_start(self, job: Job, targets: Sequence[JobTarget], workdir: Path, steady: SteadyPlan) -> _FioStart:
        workdir = workdir.resolve()
        # A document has so much for each target or section: reading them is not to cost more than a few do.
        entries = max(len(targets), len(job.sections))
        interval_ms = self._interval_ms * -(-entries // TARGETS_A_DOCUMENT)
        return _FioStart(
            rendering=render(
                job,
                targets,
                fio=find_fio(self._host),
                jobfile=str(workdir / "job.fio"),
                interval_ms=interval_ms,
                steady=steady,
            ),
            workdir=workdir,
            name="job",
            course=RunPhases(
                ramp=job.ramp > 0,
                planned_s=job.runtime or None,
                plan=steady,
                period_s=interval_ms / 1000,
                targets=[target.name for target in targets],
                sections=job.sections,
            ),
            job=job,
            targets=tuple(targets),
            seconds=job.ramp + steady.fio_seconds(job.runtime) if job.runtime else None,
            interval_ms=interval_ms,
            cap_s=steady.cap_s if steady.until else None,
        )

    def _writing_start(
        self, phase: Phase, target: JobTarget, workdir: Path, rendered: Callable[..., JobRendering], **how: object
    ) -> _FioStart:
        """What writes all of a target and ends by amount; its files are called after the phase."""
        workdir, name = workdir.resolve(), _NAMES[phase]
        jobfile, fio = str(workdir / f"{name}.fio"), find_fio(self._host)
        return _FioStart(
            rendering=rendered(target, fio=fio, jobfile=jobfile, interval_ms=self._interval_ms, **how),
            workdir=workdir,
            name=name,
            course=RunPhases(ramp=False, planned_s=None, period_s=self._interval_ms / 1000, phase=phase),
            job=None,
            targets=(target,),
            seconds=None,
            interval_ms=self._interval_ms,
        )

    async def _may_create(self, target: JobTarget) -> bool:
        """Whether fio has to create the file; a mistyped device name must not become a file in memory."""
        if target.kind is not TargetKind.FILE:
            raise InvalidValueError(f"{target.name} is a device: only files are laid out")
        status = await self._host.stat(target.path)
        if status is not None and status.kind != "file":
            raise InvalidValueError(f"{target.name} is not a regular file")
        if status is not None:
            return False
        folder_status = await self._host.stat(posixpath.dirname(target.path))
        if (
            folder_status is None
            or folder_status.kind != "directory"
            or target.path.startswith(("/dev/", "/proc/", "/sys/"))
        ):
            raise InvalidValueError(
                f"{target.name} cannot be made there", hint="Name a file in an existing folder of a filesystem."
            )
        return True

    def _start(self, errand: _FioStart, command: Command) -> AbstractAsyncContextManager[Process]:
        """fio: started here, or by the root helper where it reads what is in use. Raises RefusedError."""
        held = [target.name for target in errand.targets if target.root is not None and not target.root.lent]
        side = self._host.root_side
        if not held or side is None or errand.job is None:
            return self._host.stream(command)
        others = [target.name for target in errand.targets if target.root is None]
        if others:
            raise RefusedError(
                f"{clean(held[0])} is in use, so only the root helper reads it, and {clean(others[0])} it cannot open.",
                hint="Measure them one after another.",
            )
        from backends.system.privsep.program import HelperProcess

        request = {
            "holds": [target.root.number for target in errand.targets if target.root is not None],
            "job": errand.job.parts[0].texts(),
            "more": [{"job": section.job.texts(), "waits": section.waits} for section in errand.job.sections[1:]]
            or None,
            "cap": errand.cap_s,
            "interval": errand.interval_ms,
            "fio": os.path.realpath(command.argv[0]),  # the helper follows no link of a user
        }
        return HelperProcess(side, request)

    async def _run_fio(self, errand: _FioStart, stop: asyncio.Event) -> AsyncGenerator[LoadEvent, None]:
        """Start fio, pass its events on, end with the verdict."""
        job = errand.job
        # Before fio starts: a folder that cannot be written to must not cost a run.
        with errand.prepare() as out:
            if stop.is_set():
                figures = RunResult(status=RunStatus.STOPPED, reason="Stopped before it began")
                yield WorkloadFinished(figures=figures, raw=errand.raw)
                return
            command = Command(
                argv=errand.rendering.argv,
                mutates=job is None or job.writes,
                # fio looks there for a file that asks for extra reports: not in /tmp, where anybody can make one,
                # but in its private working folder.
                env={"TMPDIR": "."},
            )
            async with self._start(errand, command) as process:
                running = FioProcess(
                    process,
                    errand.course,
                    out,
                    planned_s=errand.seconds,
                    stop=stop,
                    patience=self._patience,
                    local=self._host.capabilities.shares_processes,
                )
                running.start()
                try:
                    while (event := await running.queue.get()) is not None:
                        yield event
                finally:
                    await running.finish()
                figures = await running.figures(job, errand.targets)
                errand.keep_stderr(process.stderr())
        yield PhaseChanged(phase=Phase.DONE)
        yield WorkloadFinished(figures=figures, raw=errand.raw)


def _direct_refused(figures: RunResult) -> bool:
    """Whether the filesystem has no direct I/O (tmpfs of older kernels, some network filesystems)."""
    evidence = figures.evidence
    return figures.status is RunStatus.FAILED and ("direct IO errored" in evidence or "err=22/" in evidence)


def _require_all_written(figures: RunResult, target: JobTarget, wanted: int) -> RunResult:
    """What is to be written is good only if all of it was."""
    written = figures.write.total_bytes if figures.write else 0
    if figures.status is not RunStatus.OK or written >= wanted:
        return figures
    return replace(
        figures,
        status=RunStatus.FAILED,
        reason=f"Only {written} of {wanted} bytes of {target.name} were written",
    )
