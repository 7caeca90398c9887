"""One target of a running fio that does no I/O: what is done there, interval by interval, and its pauses."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from backends.fio_buckets import bucket_of
from backends.simulator.fio.counters import RunCounters
from backends.simulator.fio.document import Json, Moment, disk_entry, job_entry
from backends.simulator.fio.job import FioJob
from backends.simulator.fio.latency import latencies
from backends.simulator.queueing_model import Direction, PredictedPerformance

RUN_SPREAD = 0.007
"""Standard deviation from run to run."""

_INTERVAL_SPREAD = 0.012
_MEMORY = 0.55
_DIP = 0.004


Window = tuple[float, float]
"""Seconds of fio: from when to when nothing is answered."""

_PERIOD = 1.0
"""Seconds from one pause of an uneven device to the next, on average."""


class Stalls:
    """The pauses of one run, in their order."""

    def __init__(self, windows: Iterable[Window] = (), *, pace: float = 1.0) -> None:
        """`pace`: how many times as fast as on average the device is between them."""
        self.pace = pace
        """The same."""
        self._coming = iter(windows)
        self._next = next(self._coming, None)

    def answered_share(self, begin: float, end: float) -> tuple[float, list[float]]:
        """Return the share of the seconds from `begin` to `end` that is answered, and the lengths of pauses that end.

        Asked for one interval after the other.
        """
        still, over = 0.0, []
        while self._next is not None and self._next[0] < end:
            first, last = self._next
            still += max(0.0, min(last, end) - max(first, begin))
            if last > end:
                break
            over.append(last - first)
            self._next = next(self._coming, None)
        return (1.0 - still / (end - begin) if end > begin else 1.0), over


def uneven_stalls(pace: float, chance: random.Random) -> Stalls:
    """Return the pauses of a device that works `pace` times as fast as on average, and then not at all."""
    return Stalls(_pauses(pace, chance), pace=pace)


def _pauses(pace: float, chance: random.Random) -> Iterator[Window]:
    # Each round is even by itself, however long it is: what is done in all is what the mean says.
    at = 0.0
    while True:
        whole = _PERIOD * chance.uniform(0.7, 1.3)
        yield at + whole / pace, at + whole
        at += whole


class SimulatedTarget:
    """One section of a job file on a device with a known speed."""

    def __init__(
        self,
        job: FioJob,
        expected: PredictedPerformance,
        *,
        device: str,
        amount: int | None,
        seed: str,
        done: Callable[[tuple[int, int, int, int], float], None] = lambda *_: None,
        still: tuple[float, float] | None = None,
        held: float = 0.0,
    ) -> None:
        """`amount`: bytes after which it ends. `done` is told what was done in how many seconds: reads, bytes read,
        writes, bytes written. `still`: from when to when, in seconds of fio, the device answers nothing, whatever
        else keeps it from being even. `held`: seconds of fio until the first request is answered; fio waits for it.
        """
        self.job = job
        """What was asked for."""
        self.expected = expected
        """How fast it is."""
        self.share = 1.0
        """What of that is left to it by sections that use the device at the same time."""
        self.device = device
        """Kernel name of the disk beneath."""
        self._amount = amount
        self._chance = random.Random(seed)
        self._done = done
        self._read, self._write, self._trim, self._flushes = (RunCounters() for _ in range(4))
        # Runs of the same job differ by more than intervals of one run do: a level for each run, a walk within it.
        self._level = math.exp(self._chance.gauss(0.0, RUN_SPREAD))
        self._wander = 0.0
        self._runtime = 0.0
        burst = expected.write.burst if expected.write is not None else 1.0
        self.held = held
        """Seconds of fio before which it cannot end."""
        if held:
            still = (0.0, held)
        self._stalls = Stalls([still]) if still else uneven_stalls(burst, self._chance) if burst > 1 else Stalls()
        self._late: Counter[int] = Counter()

    def clear(self) -> None:
        """Begin anew, as fio does when the ramp is over."""
        for counters in (self._read, self._write, self._trim, self._flushes):
            counters.clear()
        self._runtime = 0.0

    def finished(self, elapsed: float) -> bool:
        """Whether it has come to its end."""
        runtime = self.job.runtime
        if elapsed < self.held:
            return False
        if runtime is not None:
            over = elapsed >= self.job.ramp + runtime - 1e-9
            if over or self._amount is None:
                return over
        return self._amount is None or self._moved >= self._amount

    @property
    def _moved(self) -> int:
        """Bytes by which an end by amount goes: of trims that are written again, those of the writes."""
        return self._read.io_bytes + (self._write.io_bytes if self.job.writes_data else self._trim.io_bytes)

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
        answering, over = self._stalls.answered_share(elapsed, elapsed + seconds)
        # What was in flight when the device stopped answering comes back when it does again, and took that long.
        for pause in over:
            self._late[bucket_of(round(pause * 1e9))] += self.job.depth * self.job.numjobs
        if not timed:
            self._late.clear()
        pace *= self._stalls.pace * self.share
        writes, working = self._writes(), self._working() * answering
        moved: list[int] = []
        written = writes if self.job.writes_data else None
        directions = (expected.read, written, writes if self.job.trims else None)
        limits = (*self.job.side_rates, None)
        for direction, counters, most in zip(directions, (self._read, self._write, self._trim), limits, strict=True):
            before = counters.ios, counters.io_bytes
            if direction is not None and most is not None:
                direction = replace(direction, iops=min(direction.iops, most / pace))
            if direction is not None:
                self._count(direction, counters, pace, seconds, working=working, timed=timed)
            moved += [counters.ios - before[0], counters.io_bytes - before[1]]
        self._done((moved[0], moved[1], moved[2], moved[3]), seconds)
        if written is not None and (every := self.job.flush_every):
            flushes = replace(written, iops=written.iops / every, mean_us=expected.flush_us, spread=0.6, tail=6.0)
            self._count(flushes, self._flushes, pace, seconds, working=working, timed=timed)
        self._runtime += seconds

    def _writes(self) -> Direction | None:
        """Return what becomes of the writes, or of the trims, which take as long: each waits for stable media if the
        job asks for that, and one of two is a trim where they alternate.
        """
        direction = self.expected.write
        if direction is None:
            return None
        if self.job.trims and self.job.writes_data:
            direction = replace(direction, iops=direction.iops / 2)
        if not self.job.syncs:
            return direction
        took = direction.mean_us + self.expected.flush_us
        most = direction.iops * direction.mean_us / took
        if self.job.rate_iops:
            most = min(direction.iops, self.job.depth * self.job.numjobs * 1e6 / took)
        return replace(direction, iops=most, mean_us=took, fast_share=0.0)

    def _working(self) -> float:
        """Share of the time that a job does not wait for its flushes."""
        expected = self.expected
        if expected.write is None or not (every := self.job.flush_every):
            return 1.0
        between = every * self.job.numjobs / expected.write.iops
        return between / (between + expected.flush_us / 1e6)

    def _count(
        self,
        direction: Direction,
        counters: RunCounters,
        pace: float,
        seconds: float,
        *,
        working: float,
        timed: bool,
    ) -> None:
        """`working`: share of the time in which something is done."""
        wanted = direction.iops * pace * seconds * working
        ios = int(wanted) + (self._chance.random() < wanted - int(wanted))
        block = sum(size * share for size, share in self.job.sizes)
        moved = int(ios * block) // 512 * 512
        if self._amount is not None:  # a layout ends with its last byte
            left = max(0, self._amount - (counters.io_bytes if self.job.trims else self._moved))
            moved = min(moved, left)
            ios = min(ios, math.ceil(left / block))
        counts = None
        if timed:
            late = self._take_late(ios)
            counts = self._latencies(direction, ios - late.total(), pace)
            counts.update(late)
        counters.add(ios, moved, counts, seconds)

    def _latencies(self, direction: Direction, count: int, pace: float) -> Counter[int]:
        """Of so many requests; what a cache answers and what it does not are two kinds."""
        counts: Counter[int] = Counter()
        *first, last = direction.request_classes
        for way in first:
            some = min(count - counts.total(), int(count * way.share + self._chance.random()))
            counts.update(latencies(some, way.mean_us * 1000 / pace, way.spread, way.tail, self._chance))
        rest = count - counts.total()
        counts.update(latencies(rest, last.mean_us * 1000 / pace, last.spread, last.tail, self._chance))
        return counts

    def _take_late(self, count: int) -> Counter[int]:
        """Return those of the next `count` requests that a pause made late, by the bucket of their latency."""
        counts: Counter[int] = Counter()
        for bucket in list(self._late):
            counts[bucket] = min(self._late[bucket], count - counts.total())
        self._late -= counts
        return counts

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
            device=self.device,
            busy=1.0 if expected.drive_busy > 0.9 else 0.93 + expected.drive_busy * 0.06,
        )
        figures = job_entry(
            self.job, moment, self._read, self._write, self._trim, self._flushes, number=number, done=done
        )
        return figures, disk_entry(moment, self._read, self._write)
