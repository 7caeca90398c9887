"""A running fio that does no I/O: documents at its interval, its words and exit status at the end."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence

from backends.simulator.fio.document import document
from backends.simulator.fio.job import FioJob
from backends.simulator.fio.target import SimulatedTarget
from backends.system.synthetic import SyntheticProcess
from backends.values import dataclass

_FIRST = 0.31
"""Seconds until fio has begun and set its timer."""
_LAST_WORDS = 0.12
_MOST = 100_000_000
"""Intervals after which any job is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A fio that ends before it did anything."""

    stdout: str = ""
    """What it prints."""
    stderr: str = ""
    """What it complains of."""
    returncode: int = 1
    """Exit status."""


class SimulatedFio(SyntheticProcess):
    """One start of fio on devices with a known speed."""

    def __init__(
        self,
        targets: Sequence[SimulatedTarget],
        *,
        speed: float,
        failure: Failure | None = None,
        ended: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`targets`: a section each, in the order of the file. `speed`: simulated seconds in a real one."""
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
        """Standard output as it comes."""
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
        loop = asyncio.get_running_loop()
        started = loop.time()
        ticks = _ticks(job.interval, _planned_seconds(self._phases), max(target.held for target in self._targets))
        for at in ticks:
            step = at - self._elapsed
            if not await self._wait(started + at / self._speed - loop.time()):
                done = min(step, max(0.0, (loop.time() - started) * self._speed - self._elapsed))
                self._advance(self._elapsed + done)
                yield "fio: terminating on signal 2\n"
                await asyncio.sleep(_LAST_WORDS / self._speed)
                break
            self._advance(at)
            if self._phase == len(self._phases):
                break
            yield self._document(done=False)
        yield self._document(done=True)

    def _advance(self, until: float) -> None:
        """What is done until then: by the sections of the present phase, and by those of later phases after it."""
        while self._phase < len(self._phases):
            here = self._phases[self._phase]
            passed, left = self._elapsed - self._phase_began, until - self._phase_began
            marks = [mark for target in here for mark in self._marks(target) if passed < mark <= left]
            reached = min(marks, default=left)
            for target in here:
                if not (self._uneven and target.finished(passed)):
                    target.advance(reached - passed, passed)
                # fio empties its counters at the end of the ramp, in the middle of an interval.
                if passed < target.job.ramp <= reached:
                    target.clear()
            self._elapsed = self._phase_began + reached if reached < left else until
            if all(target.finished(reached) for target in here):
                self._phase, self._phase_began = self._phase + 1, self._elapsed
            elif self._elapsed >= until:
                return
        self._elapsed = until

    @property
    def _uneven(self) -> bool:
        """Whether sections end at different times."""
        return len({(target.job.ramp, target.job.runtime) for target in self._targets}) > 1 or len(self._phases) > 1

    def _marks(self, target: SimulatedTarget) -> tuple[float, ...]:
        """Seconds of its phase at which it becomes another: the end of its ramp, and its own."""
        job = target.job
        ends = (job.ramp + job.runtime,) if self._uneven and job.runtime is not None else ()
        return (job.ramp, *ends)

    def _is_running(self, target: SimulatedTarget) -> bool:
        return (
            self._phase < len(self._phases)
            and target in self._phases[self._phase]
            and not (self._uneven and target.finished(self._elapsed - self._phase_began))
        )

    def _document(self, *, done: bool) -> str:
        entries = [
            target.entries(self._begun, self._elapsed, number=number, done=done or not self._is_running(target))
            for number, target in enumerate(self._targets)
        ]
        return document(self._begun + self._elapsed, entries)

    async def _wait(self, seconds: float) -> bool:
        """Wait; return whether nobody asked to stop meanwhile."""
        if self._stop.is_set():
            return False
        if seconds <= 0:
            await asyncio.sleep(0)  # others are to have a turn even when time flies
            return not self._stop.is_set()
        try:
            async with asyncio.timeout(seconds):
                await self._stop.wait()
        except TimeoutError:
            return True
        return False

    def stderr(self) -> str:
        """What it complained of."""
        return self._failure.stderr if self._failure is not None else ""

    def close(self) -> None:
        """Over, whether read to the end or not."""
        super().close()
        self._ended()


def _phases(targets: Sequence[SimulatedTarget]) -> list[list[SimulatedTarget]]:
    """The sections that run at the same time, in the order in which they follow each other."""
    phases: list[list[SimulatedTarget]] = []
    for target in targets:
        if not phases or target.job.waits:
            phases.append([])
        phases[-1].append(target)
    return phases


def _planned_seconds(phases: Sequence[Sequence[SimulatedTarget]]) -> float | None:
    """Return the seconds of all phases; None where one ends by amount alone."""
    value = 0.0
    for phase in phases:
        lengths = [None if target.job.runtime is None else target.job.ramp + target.job.runtime for target in phase]
        if None in lengths:
            return None
        value += max(length for length in lengths if length is not None)
    return value


def _ticks(interval: float, planned: float | None, held: float) -> Iterable[float]:
    """When documents are due; the end of the run is one of them, after `held` seconds at the earliest."""
    if planned is None:
        return (_FIRST + number * interval for number in range(_MOST))
    end = max(planned, held + _FIRST if held else 0.0)
    count = max(0, math.ceil((end - _FIRST) / interval))
    return [*(_FIRST + number * interval for number in range(count)), end]
