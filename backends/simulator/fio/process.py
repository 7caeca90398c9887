"""Simulated fio process, with JSON documents at regular intervals, messages and an exit status."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence

from backends.host import Completed
from backends.simulator.fio.document import document
from backends.simulator.fio.job import FioJob
from backends.simulator.fio.target import SimulatedTarget
from backends.system.synthetic import SyntheticProcess

_FIRST = 0.31
"""Seconds until fio has started and its timer runs."""
_LAST_WORDS = 0.12
_MOST = 100_000_000
"""Number of intervals that no job exceeds."""


class SimulatedFio(SyntheticProcess):
    """One simulated fio process on devices whose speed is predicted."""

    def __init__(
        self,
        targets: Sequence[SimulatedTarget],
        *,
        speed: float,
        failure: Completed | None = None,
        ended: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Start fio. `targets`: one per job file section, in order. `speed`: simulated seconds per real second."""
        super().__init__(failure.returncode if failure is not None else 0)
        self._targets = tuple(targets)
        self._phases = _phases(self._targets)
        self._phase, self._phase_began = 0, 0.0
        self._speed = max(speed, 1e-6)
        self._failure = failure
        self._ended = ended
        self._begun = clock()
        self._elapsed = 0.0

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield standard output as it arrives."""
        try:
            if self._failure is not None or not self._targets:
                if self._failure is not None and self._failure.stdout:
                    yield self._failure.stdout.encode()
                return
            async for text in self._documents(self._targets[0].job):
                yield text.encode()
        finally:
            self._over.set()

    async def _documents(self, job: FioJob) -> AsyncIterator[str]:
        """Yield JSON documents and fio's messages until the last section has ended."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        ticks = _ticks(job.interval, _planned_seconds(self._phases), max(target.held for target in self._targets))
        for due in ticks:
            step = due - self._elapsed
            if not await self._wait(started + due / self._speed - loop.time()):
                done = min(step, max(0.0, (loop.time() - started) * self._speed - self._elapsed))
                self._advance(self._elapsed + done)
                yield "fio: terminating on signal 2\n"
                await asyncio.sleep(_LAST_WORDS / self._speed)
                break
            self._advance(due)
            if self._phase == len(self._phases):
                break
            yield self._document(done=False)
        yield self._document(done=True)

    def _advance(self, until: float) -> None:
        """Run the sections of the current phase, and then those of later phases, until the time `until`."""
        while self._phase < len(self._phases):
            phase = self._phases[self._phase]
            passed, left = self._elapsed - self._phase_began, until - self._phase_began
            marks = [mark for target in phase for mark in self._change_times(target) if passed < mark <= left]
            reached = min(marks, default=left)
            for target in phase:
                if not (self._has_different_ends and target.is_finished(passed)):
                    target.advance(reached - passed, passed)
                # fio resets its counters at the end of the ramp, which may be in the middle of an interval.
                if passed < target.job.ramp <= reached:
                    target.clear()
            self._elapsed = self._phase_began + reached if reached < left else until
            if all(target.is_finished(reached) for target in phase):
                self._phase, self._phase_began = self._phase + 1, self._elapsed
            elif self._elapsed >= until:
                return
        self._elapsed = until

    @property
    def _has_different_ends(self) -> bool:
        """True if sections end at different times."""
        return len({(target.job.ramp, target.job.runtime) for target in self._targets}) > 1 or len(self._phases) > 1

    def _change_times(self, target: SimulatedTarget) -> tuple[float, ...]:
        """Return the times, since the start of the phase, at which a section's ramp and the section itself end."""
        job = target.job
        ends = (job.ramp + job.runtime,) if self._has_different_ends and job.runtime is not None else ()
        return (job.ramp, *ends)

    def _is_running(self, target: SimulatedTarget) -> bool:
        return (
            self._phase < len(self._phases)
            and target in self._phases[self._phase]
            and not (self._has_different_ends and target.is_finished(self._elapsed - self._phase_began))
        )

    def _document(self, *, done: bool) -> str:
        entries = [
            target.entries(self._elapsed, number=number, done=done or not self._is_running(target))
            for number, target in enumerate(self._targets)
        ]
        return document(self._begun + self._elapsed, entries)

    async def _wait(self, seconds: float) -> bool:
        """Wait for a number of simulated seconds. Return False if a stop was requested meanwhile."""
        if self._stop.is_set():
            return False
        if seconds <= 0:
            await asyncio.sleep(0)  # lets other tasks run even at high simulation speed
            return not self._stop.is_set()
        try:
            async with asyncio.timeout(seconds):
                await self._stop.wait()
        except TimeoutError:
            return True
        return False

    def stderr(self) -> str:
        """Return standard error."""
        return self._failure.stderr if self._failure is not None else ""

    def close(self) -> None:
        """End the process, whether or not its output was read to the end."""
        super().close()
        self._ended()


def _phases(targets: Sequence[SimulatedTarget]) -> list[list[SimulatedTarget]]:
    """Return the phases in run order: lists of sections that run at the same time."""
    phases: list[list[SimulatedTarget]] = []
    for target in targets:
        if not phases or target.job.waits:
            phases.append([])
        phases[-1].append(target)
    return phases


def _planned_seconds(phases: Sequence[Sequence[SimulatedTarget]]) -> float | None:
    """Return the duration of all phases in seconds, or None if one of them ends after an amount of data."""
    value = 0.0
    for phase in phases:
        lengths = [None if target.job.runtime is None else target.job.ramp + target.job.runtime for target in phase]
        if None in lengths:
            return None
        value += max(length for length in lengths if length is not None)
    return value


def _ticks(interval: float, planned: float | None, held: float) -> Iterable[float]:
    """Yield the times of the JSON documents. The last one is the end of the run, which is not before `held` seconds."""
    if planned is None:
        return (_FIRST + number * interval for number in range(_MOST))
    end = max(planned, held + _FIRST if held else 0.0)
    count = max(0, math.ceil((end - _FIRST) / interval))
    return [*(_FIRST + number * interval for number in range(count)), end]
