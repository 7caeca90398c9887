"""Supervision of one fio process, from its first output to its result: time limits, and how to stop it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from app.core.fio.cpu import CpuSampler
from app.core.fio.document import FioDocument
from app.core.fio.job import Job, JobTarget
from app.core.fio.run_phases import RunPhases
from app.core.fio.stream import Event, FioJsonDocument, MalformedDocument, NonJsonLine, StreamParser
from app.core.fio.summary import FioResult, summarize
from app.core.session.event_types import CpuSampled, LoadEvent, PhaseChanged, SampleTaken, SteadyStateUpdated
from app.core.session.results import CpuStats, Phase, RunResult
from backends.host import Process
from backends.text import clean
from backends.values import dataclass

_NOISE_LINES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Time limits in seconds.

    fio reports nothing while a worker is stuck in an I/O, so silence alone is no reason to kill it.
    """

    before_signal: float = 0.5
    """Time to wait for fio's first output before a signal is sent.

    Until fio has installed its signal handler, a signal would kill it without a summary.
    """
    remark: float = 10.0
    """Time after the interrupt, until a message says what the run is waiting for."""
    terminate: float = 30.0
    """Time after the interrupt, until SIGTERM."""
    kill: float = 40.0
    """Time after the interrupt, until SIGKILL."""
    look: float = 1.0
    """Time between two checks of the clock and of CPU time."""
    silence: float = 10.0
    """Time without a document, until a message reports the silence."""
    overdue: float = 60.0
    """Time after the planned end of ramp and run time, until a message reports the delay."""
    give_up: float = 300.0
    """Time after the planned end of ramp and run time, until fio is stopped."""


class FioProcess:
    """Reads fio's output and puts events into `queue`, without ever waiting for the consumer.

    The queue has no limit: it gets four small values a second. If this reader ever waited, the pipe would fill up, and
    a full pipe stops fio. A None in the queue marks the end.
    """

    def __init__(
        self,
        process: Process,
        course: RunPhases,
        raw: BinaryIO,
        *,
        planned_s: float | None,
        stop: asyncio.Event,
        patience: Timeouts,
        local: bool,
    ) -> None:
        """`planned_s`: seconds of ramp and run time; None for an end by amount.

        `local`: whether fio runs on this machine, so that its CPU time is readable.
        """
        self.queue: asyncio.Queue[LoadEvent | None] = asyncio.Queue()
        self._process = process
        self._course = course
        self._raw: BinaryIO | None = raw
        self._raw_problem = ""
        self._planned = planned_s
        self._stop = stop
        self._patience = patience
        self._parser = StreamParser()
        self._local = local
        # On this machine, the process number of a remote fio belongs to a different process.
        self._cpu = CpuSampler(process.pid if local else 0)
        self._started = self._heard = time.monotonic()
        self._first_byte = asyncio.Event()
        self._over = asyncio.Event()
        self._measured = asyncio.Event()
        self._ending = "measurement complete: fio is summarising"
        self._phase = Phase.PREPARING
        self._last: FioDocument | None = None
        self._noise: list[str] = []
        self._broken = 0
        self._stopped = self._overdue = False
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start to read, to watch the clock and to react to `stop`."""
        self._report(Phase.PREPARING)
        parts = (self._read(), self._stop_when_asked(), self._end_when_measured(), self._tick())
        self._tasks = [asyncio.create_task(part, name="fio") for part in parts]

    async def finish(self) -> None:
        """End all tasks. Raises the error of the task that reads fio's output, if it failed."""
        for task in self._tasks:
            task.cancel()  # has no effect on finished tasks
        await asyncio.wait(self._tasks)
        reader = self._tasks[0]
        if not reader.cancelled() and (error := reader.exception()) is not None:
            raise error

    async def result(self, job: Job | None, targets: Sequence[JobTarget]) -> RunResult:
        """Return the result of the run; call it only after fio has ended."""
        try:
            async with asyncio.timeout(self._patience.terminate):
                returncode = await self._process.wait()
        except TimeoutError:  # fio closed its output but has not exited
            self._process.kill()
            returncode = await self._process.wait()
        cpu = self._cpu.total() if self._local else CpuStats()
        outcome = FioResult(
            document=self._last,
            returncode=returncode,
            noise=self._noise,
            stderr=self._process.stderr(),
            broken=self._broken,
            stopped=self._stopped,
            overdue=self._overdue,
            since=self._course.since,
            until=self._course.until,
            settling=self._course.settling,
            ended_early=self._course.ended_early,
        )
        run_result = summarize(outcome, job, targets, cpu)
        run_result = replace(run_result, steady=self._course.verdict)
        if self._raw_problem:
            sentence = f"fio's own output could not be saved: {self._raw_problem}"
            run_result = replace(run_result, warnings=(*run_result.warnings, sentence))
        return run_result

    async def _read(self) -> None:
        try:
            async for chunk in self._process.chunks():
                self._first_byte.set()
                self._write_raw(chunk)
                for event in self._parser.feed(chunk):
                    self._handle(event)
            for event in self._parser.close():
                self._handle(event)
        finally:
            # None ends the queue even if reading failed, otherwise the consumer would wait forever.
            self._over.set()
            self.queue.put_nowait(None)

    def _write_raw(self, chunk: bytes) -> None:
        """Write output to disk unchanged. On a full disk the raw output is lost, but not the run."""
        if self._raw is None:
            return
        try:
            self._raw.write(chunk)
        except OSError as error:
            self._raw_problem = error.strerror or str(error)
            self._raw = None

    def _handle(self, event: Event) -> None:
        match event:
            case FioJsonDocument():
                self._heard = time.monotonic()
                self._last = FioDocument(event.data)
                self._report_document(self._last)
                # exitall_on_error ends one group only, and each target or section is its own group: end the others.
                if self._last.jobs > 1 and self._last.errors:
                    self._ending = f"a {self._course.part} failed: fio is ending"
                    self._measured.set()
            case NonJsonLine():
                if len(self._noise) < _NOISE_LINES:
                    self._noise.append(clean(event.line, 400))
            case MalformedDocument():
                self._broken += 1

    def _report_document(self, document: FioDocument) -> None:
        """Report the interval, the round or the new phase that a document shows."""
        sample, judged = self._course.add_document(document, ending=self._stopped or self._overdue)
        phase = self._course.phase if sample is None else sample.phase
        self._enter(phase)
        if sample is not None:
            bins = {f"{name}_bins": part for name, part in self._course.bins.items()}
            self.queue.put_nowait(SampleTaken(sample=sample, **bins))
        if judged and (steady := self._course.steady) is not None:
            self.queue.put_nowait(SteadyStateUpdated(steady=steady))
        self._enter(self._course.phase)  # the interval that ends the wait is still part of the wait
        if self._course.complete:
            self._measured.set()

    def _enter(self, phase: Phase) -> None:
        if self._phase in (phase, Phase.STOPPING):
            return
        # Restart with each phase except the ramp, so that the recorded CPU use is that of the measured time only.
        if phase is not Phase.RAMP:
            self._cpu.begin()
        self._report(phase)

    def _report(self, phase: Phase, note: str = "") -> None:
        self._phase = phase
        self.queue.put_nowait(PhaseChanged(phase=phase, message=note))

    async def _stop_when_asked(self) -> None:
        """Stop fio when `stop` is set."""
        await self._stop.wait()
        if self._measured.is_set():
            return  # fio is already being ended
        self._stopped = not self._overdue
        self._report(Phase.STOPPING)
        # If SIGINT arrives before fio has set up its handler, fio dies without a summary. So wait for its first output.
        wait = self._patience.before_signal - (time.monotonic() - self._started)
        await _wait(self._first_byte, max(0.0, wait))
        await self._end()

    async def _end_when_measured(self) -> None:
        """End fio when measuring is complete, or when one of several targets or sections failed."""
        await self._measured.wait()
        if self._stop.is_set():
            return
        self._report(Phase.STOPPING, self._ending)
        await self._end()

    async def _end(self) -> None:
        await end_fio(self._process, self._patience, self._over, lambda note: self._report(Phase.STOPPING, note))

    async def _tick(self) -> None:
        """Report CPU shares once a second, and messages when fio is silent or late."""
        silent = late = False
        while True:
            await asyncio.sleep(self._patience.look)
            now = time.monotonic()
            shares = self._cpu.tick()
            if not self._local:  # the share that fio reports; the CPU use of the other host is not known
                shares = CpuStats(fio_percent_of_core=self._last.cpu_percent_of_core if self._last else None)
            silence = now - self._heard
            self.queue.put_nowait(
                CpuSampled(
                    fio_percent_of_core=shares.fio_percent_of_core,
                    host_percent=shares.host_percent,
                    silent_s=silence,
                )
            )
            if self._phase is Phase.STOPPING:
                continue
            if (silence > self._patience.silence) != silent:
                silent = not silent
                if silent:
                    self._report(self._phase, f"no output from fio for {silence:.0f} s: an I/O has not completed")
            # fio waits for every I/O in flight, but an I/O that is stuck in a driver never returns. So wait, then stop
            # fio.
            beyond = now - self._started - self._planned if self._planned is not None else 0.0
            if beyond > self._patience.overdue and not late:
                late = True
                self._report(
                    self._phase, f"fio should have ended {max(beyond, 0.0):.0f} s ago: an I/O has not completed"
                )
            if beyond > self._patience.give_up:
                self._overdue = True
                self._report(Phase.STOPPING, "fio is not exiting; stopping it")
                await self._end()


def open_raw(path: Path) -> BinaryIO:
    """Return a new file for fio's standard output, unbuffered, readable by the owner only."""
    raw = open(path, "wb", buffering=0)  # noqa: SIM115  (closed by the load)
    path.chmod(0o600)
    return raw


async def end_fio(process: Process, patience: Timeouts, over: asyncio.Event, say: Callable[[str], None]) -> None:
    """Interrupt fio and wait for `over`; if that takes too long, terminate fio, and finally kill it.

    On an interrupt, fio prints its summary once outstanding I/O has completed. `say` receives a message before each
    further step.
    """
    process.interrupt()
    if await _wait(over, patience.remark):
        return
    say("Waiting for outstanding I/O to complete")
    if await _wait(over, patience.terminate - patience.remark):
        return
    say("outstanding I/O is not completing; asking fio to exit")
    process.terminate()
    if await _wait(over, patience.kill - patience.terminate):
        return
    say("fio is not exiting; killing it")
    process.kill()


async def _wait(event: asyncio.Event, seconds: float) -> bool:
    """Wait for the event for at most `seconds`; return whether it was set."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
