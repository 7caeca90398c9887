"""A running fio that does no I/O: documents at its interval, its words and exit status at the end."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, replace

from backends.hosts.made_up import MadeUpProcess
from backends.hosts.simulated.fio.counters import RunCounters
from backends.hosts.simulated.fio.document import Moment, document
from backends.hosts.simulated.fio.job import FioJob
from backends.hosts.simulated.fio.latency import latencies
from backends.hosts.simulated.load import Direction, Expected

RUN_SPREAD = 0.007
"""Standard deviation from run to run."""

_INTERVAL_SPREAD = 0.012
_MEMORY = 0.55
_DIP = 0.004
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
    """One start of fio on a device with a known speed."""

    def __init__(
        self,
        job: FioJob,
        expected: Expected | None,
        *,
        device: str,
        amount: int | None,
        seed: str,
        speed: float,
        failure: Failure | None = None,
        done: Callable[[tuple[int, int, int, int], float], None] = lambda *_: None,
        ended: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`amount`: bytes after which it ends. `speed`: simulated seconds in a real one. `done` is told what was done
        in how many seconds: reads, bytes read, writes, bytes written.
        """
        super().__init__(failure.returncode if failure is not None else 0)
        self._job = job
        self._expected = expected
        self._device = device
        self._amount = amount
        self._chance = random.Random(seed)
        self._speed = max(speed, 1e-6)
        self._failure = failure
        self._done = done
        self._ended = ended
        self._begun = clock()
        self._read, self._write, self._flushes = RunCounters(), RunCounters(), RunCounters()
        # Runs of the same job differ by more than intervals of one run do: a level for each run, a walk within it.
        self._level = math.exp(self._chance.gauss(0.0, RUN_SPREAD))
        self._wander = 0.0
        self._runtime = 0.0
        self._elapsed = 0.0

    async def chunks(self) -> AsyncIterator[bytes]:
        """Standard output as it comes."""
        try:
            if self._failure is not None or self._expected is None:
                if self._failure is not None and self._failure.stdout:
                    yield self._failure.stdout.encode()
                return
            async for text in self._documents(self._expected):
                yield text.encode()
        finally:
            self._over.set()

    async def _documents(self, expected: Expected) -> AsyncIterator[str]:
        loop = asyncio.get_running_loop()
        started = loop.time()
        ramp = self._job.ramp
        ticks = _ticks(self._job)
        for at in ticks:
            step = at - self._elapsed
            if not await self._waited(started + at / self._speed - loop.time()):
                done = min(step, max(0.0, (loop.time() - started) * self._speed - self._elapsed))
                self._advance(expected, done)
                self._elapsed += done
                yield "fio: terminating on signal 2\n"
                await asyncio.sleep(_LAST_WORDS / self._speed)
                break
            before = self._elapsed
            # fio empties its counters at the end of the ramp, in the middle of an interval.
            if before < ramp <= at:
                self._advance(expected, ramp - before)
                self._read.clear()
                self._write.clear()
                self._flushes.clear()
                self._runtime = 0.0
                self._elapsed, step = ramp, at - ramp
            self._advance(expected, step)
            self._elapsed = at
            if self._finished():
                break
            yield document(self._job, self._moment(expected), self._read, self._write, self._flushes, done=False)
        yield document(self._job, self._moment(expected), self._read, self._write, self._flushes, done=True)

    def _finished(self) -> bool:
        runtime = self._job.runtime
        if runtime is not None:
            over = self._elapsed >= self._job.ramp + runtime - 1e-9
            if over or self._amount is None:
                return over
        moved = self._read.io_bytes + self._write.io_bytes
        return self._amount is None or moved >= self._amount

    def _advance(self, expected: Expected, seconds: float) -> None:
        """What is done in so many seconds."""
        if seconds <= 0:
            return
        timed = self._elapsed >= self._job.ramp - 1e-9 or self._job.ramp == 0
        self._wander = _MEMORY * self._wander + self._chance.gauss(0.0, _INTERVAL_SPREAD * math.sqrt(1 - _MEMORY**2))
        pace = self._level * math.exp(self._wander)
        if self._chance.random() < _DIP:
            pace *= self._chance.uniform(0.85, 0.95)
        held = self._job.rate_iops > 0
        if held:
            pace = min(pace, 1.0)
        writes, working = expected.write, self._working(expected)
        moved: list[int] = []
        for direction, counters in ((expected.read, self._read), (writes, self._write)):
            before = counters.ios, counters.io_bytes
            if direction is not None:
                self._count(direction, counters, pace, seconds * working, timed=timed)
            moved += [counters.ios - before[0], counters.io_bytes - before[1]]
        self._done((moved[0], moved[1], moved[2], moved[3]), seconds)
        if writes is not None and (every := self._job.flush_every):
            flushes = replace(
                writes, iops=writes.iops * working / every, mean_us=expected.flush_us, spread=0.6, tail=6.0
            )
            self._count(flushes, self._flushes, pace, seconds, timed=timed)
        self._runtime += seconds

    def _working(self, expected: Expected) -> float:
        """Share of the time that a job does not wait for its flushes."""
        if expected.write is None or not (every := self._job.flush_every):
            return 1.0
        between = every * self._job.numjobs / expected.write.iops
        return between / (between + expected.flush_us / 1e6)

    def _count(self, direction: Direction, counters: RunCounters, pace: float, seconds: float, *, timed: bool) -> None:
        wanted = direction.iops * pace * seconds
        ios = int(wanted) + (self._chance.random() < wanted - int(wanted))
        block = sum(size * share for size, share in self._job.sizes)
        moved = int(ios * block) // 512 * 512
        if self._amount is not None:  # a layout ends with its last byte
            left = max(0, self._amount - self._read.io_bytes - self._write.io_bytes)
            moved = min(moved, left)
            ios = min(ios, math.ceil(left / block))
        found = None
        if timed and ios:
            found = latencies(ios, direction.mean_us * 1000 / pace, direction.spread, direction.tail, self._chance)
        elif timed:
            return
        counters.add(ios, moved, found, seconds)

    def _moment(self, expected: Expected) -> Moment:
        runtime = self._job.runtime
        left = None if runtime is None else max(0.0, self._job.ramp + runtime - self._elapsed)
        return Moment(
            at=self._begun + self._elapsed,
            runtime=self._runtime,
            elapsed=self._elapsed,
            left=left,
            core_percent=expected.core_percent * self._level,
            submit_ns=expected.submit_us * 1000,
            device=self._device,
            busy=1.0 if expected.drive_busy > 0.9 else 0.93 + expected.drive_busy * 0.06,
        )

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


def _ticks(job: FioJob) -> Iterable[float]:
    """When documents are due; the end of the run is one of them."""
    if job.runtime is None:
        return (_FIRST + number * job.interval for number in range(_MOST))
    end = job.ramp + job.runtime
    count = max(0, math.ceil((end - _FIRST) / job.interval))
    return [*(_FIRST + number * job.interval for number in range(count)), end]
