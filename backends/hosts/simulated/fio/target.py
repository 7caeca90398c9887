"""One target of a running fio that does no I/O: what is done there, interval by interval."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from backends.fio_buckets import bucket_of
from backends.hosts.simulated.fio.counters import RunCounters
from backends.hosts.simulated.fio.document import Json, Moment, disk_entry, job_entry
from backends.hosts.simulated.fio.job import FioJob
from backends.hosts.simulated.fio.latency import latencies
from backends.hosts.simulated.load import Direction, Expected

RUN_SPREAD = 0.007
"""Standard deviation from run to run."""

_INTERVAL_SPREAD = 0.012
_MEMORY = 0.55
_DIP = 0.004


class SimulatedTarget:
    """One section of a job file on a device with a known speed."""

    def __init__(
        self,
        job: FioJob,
        expected: Expected,
        *,
        device: str,
        amount: int | None,
        seed: str,
        done: Callable[[tuple[int, int, int, int], float], None] = lambda *_: None,
        still: tuple[float, float] | None = None,
    ) -> None:
        """`amount`: bytes after which it ends. `done` is told what was done in how many seconds: reads, bytes read,
        writes, bytes written. `still`: from when to when, in seconds of fio, the device answers nothing.
        """
        self.job = job
        """What was asked for."""
        self.expected = expected
        """How fast it is."""
        self._device = device
        self._amount = amount
        self._chance = random.Random(seed)
        self._done = done
        self._still = still
        self._read, self._write, self._flushes = RunCounters(), RunCounters(), RunCounters()
        # Runs of the same job differ by more than intervals of one run do: a level for each run, a walk within it.
        self._level = math.exp(self._chance.gauss(0.0, RUN_SPREAD))
        self._wander = 0.0
        self._runtime = 0.0

    def clear(self) -> None:
        """Begin anew, as fio does when the ramp is over."""
        for counters in (self._read, self._write, self._flushes):
            counters.clear()
        self._runtime = 0.0

    def finished(self, elapsed: float) -> bool:
        """Whether it has come to its end."""
        runtime = self.job.runtime
        if runtime is not None:
            over = elapsed >= self.job.ramp + runtime - 1e-9
            if over or self._amount is None:
                return over
        moved = self._read.io_bytes + self._write.io_bytes
        return self._amount is None or moved >= self._amount

    def advance(self, seconds: float, elapsed: float) -> None:
        """What is done in so many seconds, the run being `elapsed` seconds old."""
        if seconds <= 0:
            return
        expected = self.expected
        timed = elapsed >= self.job.ramp - 1e-9 or self.job.ramp == 0
        self._wander = _MEMORY * self._wander + self._chance.gauss(0.0, _INTERVAL_SPREAD * math.sqrt(1 - _MEMORY**2))
        pace = self._level * math.exp(self._wander)
        if self._chance.random() < _DIP:
            pace *= self._chance.uniform(0.85, 0.95)
        held = self.job.rate_iops > 0
        if held:
            pace = min(pace, 1.0)
        writes, working = expected.write, self._working() * self._answering(elapsed, seconds)
        moved: list[int] = []
        for direction, counters in ((expected.read, self._read), (writes, self._write)):
            before = counters.ios, counters.io_bytes
            if direction is not None:
                self._count(direction, counters, pace, seconds * working, timed=timed)
            moved += [counters.ios - before[0], counters.io_bytes - before[1]]
        self._answer_late(elapsed, seconds, timed=timed)
        self._done((moved[0], moved[1], moved[2], moved[3]), seconds)
        if writes is not None and (every := self.job.flush_every):
            flushes = replace(
                writes, iops=writes.iops * working / every, mean_us=expected.flush_us, spread=0.6, tail=6.0
            )
            self._count(flushes, self._flushes, pace, seconds, timed=timed)
        self._runtime += seconds

    def _answering(self, elapsed: float, seconds: float) -> float:
        """Share of the interval in which the device answers."""
        if self._still is None:
            return 1.0
        begin, end = self._still
        return 1.0 - max(0.0, min(elapsed + seconds, end) - max(elapsed, begin)) / seconds

    def _answer_late(self, elapsed: float, seconds: float, *, timed: bool) -> None:
        """What was in flight when the device stopped answering comes back when it does again, and took that long."""
        if self._still is None or not elapsed < self._still[1] <= elapsed + seconds:
            return
        late = bucket_of(round((self._still[1] - self._still[0]) * 1e9))
        counters = self._read if self.expected.read is not None else self._write
        count = self.job.depth * self.job.numjobs
        counters.add(count, int(count * self.job.mean_bytes), Counter({late: count}) if timed else None, 0.0)

    def _working(self) -> float:
        """Share of the time that a job does not wait for its flushes."""
        expected = self.expected
        if expected.write is None or not (every := self.job.flush_every):
            return 1.0
        between = every * self.job.numjobs / expected.write.iops
        return between / (between + expected.flush_us / 1e6)

    def _count(self, direction: Direction, counters: RunCounters, pace: float, seconds: float, *, timed: bool) -> None:
        wanted = direction.iops * pace * seconds
        ios = int(wanted) + (self._chance.random() < wanted - int(wanted))
        block = sum(size * share for size, share in self.job.sizes)
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

    def entries(self, begun: float, elapsed: float, *, number: int, done: bool) -> tuple[Json, Json]:
        """What a document has of it: the figures, as group `number`, and the disk beneath."""
        runtime, expected = self.job.runtime, self.expected
        moment = Moment(
            at=begun + elapsed,
            runtime=self._runtime,
            elapsed=elapsed,
            left=None if runtime is None else max(0.0, self.job.ramp + runtime - elapsed),
            core_percent=expected.core_percent * self._level,
            submit_ns=expected.submit_us * 1000,
            device=self._device,
            busy=1.0 if expected.drive_busy > 0.9 else 0.93 + expected.drive_busy * 0.06,
        )
        figures = job_entry(self.job, moment, self._read, self._write, self._flushes, number=number, done=done)
        return figures, disk_entry(moment, self._read, self._write)
