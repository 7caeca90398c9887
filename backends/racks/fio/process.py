"""A running fio that does no I/O: documents at its interval, its words and exit status at the end."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence

from backends.hosts.made_up import MadeUpProcess
from backends.racks.fio.document import document
from backends.racks.fio.job import FioJob
from backends.racks.fio.target import SimulatedTarget
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


class SimulatedFio(MadeUpProcess):
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
        """`targets`: a section each, all of one length. `speed`: simulated seconds in a real one."""
        super().__init__(failure.returncode if failure is not None else 0)
        self._targets = tuple(targets)
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
        ramp = job.ramp
        ticks = _ticks(job, max(target.held for target in self._targets))
        for at in ticks:
            step = at - self._elapsed
            if not await self._waited(started + at / self._speed - loop.time()):
                done = min(step, max(0.0, (loop.time() - started) * self._speed - self._elapsed))
                self._advance(done)
                self._elapsed += done
                yield "fio: terminating on signal 2\n"
                await asyncio.sleep(_LAST_WORDS / self._speed)
                break
            before = self._elapsed
            # fio empties its counters at the end of the ramp, in the middle of an interval.
            if before < ramp <= at:
                self._advance(ramp - before)
                for target in self._targets:
                    target.clear()
                self._elapsed, step = ramp, at - ramp
            self._advance(step)
            self._elapsed = at
            if all(target.finished(self._elapsed) for target in self._targets):
                break
            yield self._document(done=False)
        yield self._document(done=True)

    def _advance(self, seconds: float) -> None:
        for target in self._targets:
            target.advance(seconds, self._elapsed)

    def _document(self, *, done: bool) -> str:
        entries = [
            target.entries(self._begun, self._elapsed, number=number, done=done)
            for number, target in enumerate(self._targets)
        ]
        return document(self._begun + self._elapsed, entries)

    async def _waited(self, seconds: float) -> bool:
        """Whether nobody asked to stop meanwhile."""
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


def _ticks(job: FioJob, held: float) -> Iterable[float]:
    """When documents are due; the end of the run is one of them, after `held` seconds at the earliest."""
    if job.runtime is None:
        return (_FIRST + number * job.interval for number in range(_MOST))
    end = max(job.ramp + job.runtime, held + _FIRST if held else 0.0)
    count = max(0, math.ceil((end - _FIRST) / job.interval))
    return [*(_FIRST + number * job.interval for number in range(count)), end]
