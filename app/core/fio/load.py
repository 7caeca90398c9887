"""The load of a run: fio on a host, and the protocol that this and simulated loads implement."""

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
"""Largest number of targets or sections for which fio prints documents at the full rate; twice as many halve it."""

_NAMES = {Phase.FILLING: "fill", Phase.LAYOUT: "layout"}


class Load(Protocol):
    """Runner of I/O that reports its progress: fio, or a simulation that prints what fio prints.

    The methods are async generators whose last event is `WorkloadFinished`, whatever happens to the I/O. Consume them
    inside `contextlib.aclosing`, because an abandoned generator would leave fio running. Setting `stop` ends the load
    normally: results so far are kept, and the status is STOPPED. `workdir` must exist; it receives `job.fio`, `fio.out`
    (standard output unchanged) and `stderr` (a layout: `layout.fio`, ...).

    The methods raise ToolMissingError if fio is not installed, RefusedError for a job that writes on a read-only host,
    InvalidValueError if the target is too small for the job, and StorageError if `workdir` is not writable.
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
        """Run the job on all targets at the same time.

        `steady`: the plan to wait for the steady state, and to end the run early once it is steady.
        """
        ...

    def layout(self, target: JobTarget, workdir: Path, stop: asyncio.Event) -> AsyncGenerator[LoadEvent, None]:
        """Write `target.size` bytes to the scratch file, so that there is data to read."""
        ...

    def fill(
        self, target: JobTarget, workdir: Path, stop: asyncio.Event, *, loops: int, engine: Engine, block: int
    ) -> AsyncGenerator[LoadEvent, None]:
        """Write all of the target in order, `loops` times, with `block` bytes per write."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _FioStart:
    """The parameters of one start of fio."""

    rendering: JobRendering
    workdir: Path
    name: str
    """Prefix of the names of the files that this start of fio writes."""
    course: RunPhases
    job: Job | None
    """The job; None for a layout or fill, which ends by amount, so its result is not compared with a plan."""
    targets: tuple[JobTarget, ...]
    seconds: int | None
    """Seconds of ramp and run time passed to fio; None for a job that ends by amount."""
    interval_ms: int
    """Milliseconds between two of fio's JSON documents."""
    cap_s: int | None = None
    """Maximum seconds to wait for the steady state; None for no wait."""

    @property
    def raw(self) -> Path:
        return self.workdir / (f"{self.name}.out" if self.job is None else "fio.out")

    def prepare(self) -> BinaryIO:
        """Write the job file and open the output file. Raises StorageError if the folder is not writable."""
        try:
            self.workdir.joinpath(f"{self.name}.fio").write_text(self.rendering.text, encoding="utf-8")
            return open_raw(self.raw)
        except OSError as error:
            raise StorageError(
                f"raidbench cannot write to {self.workdir}: {error.strerror}", evidence=str(error)
            ) from error

    def keep_stderr(self, text: str) -> None:
        """Write fio's messages next to its output. On a full disk the messages are lost, but not the run."""
        path = self.workdir / (f"{self.name}.stderr" if self.job is None else "stderr")
        with contextlib.suppress(OSError):
            path.write_text(text, encoding="utf-8", errors="replace")


class FioLoad:
    """Runs fio on a host."""

    def __init__(self, host: Host, *, interval_ms: int = 250, patience: Timeouts | None = None) -> None:
        """`interval_ms`: milliseconds between two of fio's JSON documents, at least 100.

        With 250, less than 1 % of the IOPS is lost.
        """
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
        """Run the job on all targets at the same time, as `Load` specifies."""
        start = self._measuring_start(job, targets, workdir, steady or SteadyPlan())
        async with aclosing(self._run_fio(start, stop)) as events:
            async for event in events:
                yield event

    async def fill(
        self, target: JobTarget, workdir: Path, stop: asyncio.Event, *, loops: int, engine: Engine, block: int
    ) -> AsyncGenerator[LoadEvent, None]:
        """Write all of the target in order, as `Load` specifies."""
        # fio omits a last part of the target that is smaller than a block.
        total = target.size // block * block * loops
        start = self._writing_start(
            Phase.FILLING, target, workdir, render_fill, loops=loops, engine=engine, block=block
        )
        async with aclosing(self._run_fio(start, stop)) as events:
            async for event in events:
                if isinstance(event, WorkloadFinished):
                    event = replace(event, figures=_require_all_written(event.figures, target, total))
                elif isinstance(event, PhaseChanged) and event.phase is Phase.FILLING:
                    event = replace(event, total_bytes=total)
                yield event

    async def layout(self, target: JobTarget, workdir: Path, stop: asyncio.Event) -> AsyncGenerator[LoadEvent, None]:
        """Write the scratch file completely, as `Load` specifies.

        Uses direct I/O if the filesystem supports it, otherwise the page cache with a flush at the end. Raises
        InvalidValueError if the target is not a regular file or its folder does not exist.
        """
        create = await self._may_create(target)
        for direct in (True, False):
            start = self._writing_start(Phase.LAYOUT, target, workdir, render_layout, direct=direct, create=create)
            async with aclosing(self._run_fio(start, stop)) as events:
                async for event in events:
                    if isinstance(event, WorkloadFinished):
                        # Only an attempt shows whether a filesystem supports direct I/O; if not, use the page cache.
                        if direct and not stop.is_set() and _direct_refused(event.figures):
                            break
                        event = replace(event, figures=_require_all_written(event.figures, target, target.size))
                    yield event
                else:
                    return

    def _measuring_start(self, job: Job, targets: Sequence[JobTarget], workdir: Path, steady: SteadyPlan) -> _FioStart:
        workdir = workdir.resolve()
        # A document grows with each target or section: request fewer documents, so that parsing stays as cheap.
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
        """Return the parameters for a start of fio that writes the whole target. Its files are named after `phase`."""
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
        """Return whether fio must create the file. Raises InvalidValueError if it must not be created or overwritten.

        For example, a mistyped device name must not become a file in memory.
        """
        if target.kind is not TargetKind.FILE:
            raise InvalidValueError(f"{target.name} is a device, but only files can be laid out")
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
                f"{target.name} cannot be created at this path",
                hint=("Use the path of a file in an existing folder of a filesystem."),
            )
        return True

    def _start(self, start: _FioStart, command: Command) -> AbstractAsyncContextManager[Process]:
        """Start fio directly, or through the root helper if the helper has opened the device.

        Raises RefusedError if some of several targets need the helper and it cannot open the others.
        """
        held = [target.name for target in start.targets if target.root is not None and not target.root.lent]
        side = self._host.root_side
        if not held or side is None or start.job is None:
            return self._host.stream(command)
        others = [target.name for target in start.targets if target.root is None]
        if others:
            raise RefusedError(
                (
                    f"{clean(held[0])} is in use, so only the root helper can read it, but the helper cannot open "
                    f"{clean(others[0])}."
                ),
                hint="Measure one target at a time.",
            )
        from backends.system.privsep.program import HelperProcess

        request = {
            "holds": [target.root.number for target in start.targets if target.root is not None],
            "job": start.job.parts[0].texts(),
            "more": [{"job": section.job.texts(), "waits": section.waits} for section in start.job.sections[1:]]
            or None,
            "cap": start.cap_s,
            "interval": start.interval_ms,
            "fio": os.path.realpath(command.argv[0]),  # the helper follows no symbolic links of a user
        }
        return HelperProcess(side, request)

    async def _run_fio(self, start: _FioStart, stop: asyncio.Event) -> AsyncGenerator[LoadEvent, None]:
        """Start fio and yield its events; the last event has the result."""
        job = start.job
        # Write the files before fio starts, so that an unwritable folder does not waste a run.
        with start.prepare() as out:
            if stop.is_set():
                figures = RunResult(status=RunStatus.STOPPED, reason="Stopped before it started")
                yield WorkloadFinished(figures=figures, raw=start.raw)
                return
            command = Command(
                argv=start.rendering.argv,
                mutates=job is None or job.writes,
                # fio looks in TMPDIR for a file that requests extra reports. Any user can create one in /tmp, so use
                # the private working folder.
                env={"TMPDIR": "."},
            )
            async with self._start(start, command) as process:
                running = FioProcess(
                    process,
                    start.course,
                    out,
                    planned_s=start.seconds,
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
                figures = await running.result(job, start.targets)
                start.keep_stderr(process.stderr())
        yield PhaseChanged(phase=Phase.DONE)
        yield WorkloadFinished(figures=figures, raw=start.raw)


def _direct_refused(figures: RunResult) -> bool:
    """Return whether the run failed for lack of direct I/O (tmpfs of older kernels, some network filesystems)."""
    evidence = figures.evidence
    return figures.status is RunStatus.FAILED and ("direct IO errored" in evidence or "err=22/" in evidence)


def _require_all_written(figures: RunResult, target: JobTarget, wanted: int) -> RunResult:
    """Return the result, changed to failed if fewer than `wanted` bytes were written."""
    written = figures.write.total_bytes if figures.write else 0
    if figures.status is not RunStatus.OK or written >= wanted:
        return figures
    return replace(
        figures,
        status=RunStatus.FAILED,
        reason=f"Only {written} of {wanted} bytes of {target.name} were written",
    )
