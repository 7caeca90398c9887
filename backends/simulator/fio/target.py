"""One section of a running simulated fio job: its I/O in each interval, and the pauses of its device."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from backends.fio_buckets import bucket_of
from backends.simulator.fio.counters import RunCounters
from backends.simulator.fio.document import Json, disk_entry, job_entry
from backends.simulator.fio.job import FioJob
from backends.simulator.fio.latency import latencies
from backends.simulator.queueing_model import Direction, PredictedPerformance

RUN_SPREAD = 0.007
"""Relative standard deviation of the speed from run to run."""

_INTERVAL_SPREAD = 0.012
_MEMORY = 0.55
_DIP = 0.004


Window = tuple[float, float]
"""Start and end of a pause without completions, in seconds since fio started."""

_PERIOD = 1.0
"""Mean seconds from one pause to the next, for a device with pauses."""


class Stalls:
    """Pauses of a device during one run of fio, in order of time."""

    def __init__(self, windows: Iterable[Window] = (), *, pace: float = 1.0) -> None:
        """Store the pauses. `pace`: speed between the pauses, as a multiple of the mean speed."""
        self.pace = pace
        self._coming = iter(windows)
        self._next = next(self._coming, None)

    def answered_share(self, begin: float, end: float) -> tuple[float, list[float]]:
        """Return the share of an interval in which requests complete, and the lengths of pauses that end in it.

        Call this for consecutive intervals only.
        """
        paused, ended = 0.0, []
        while self._next is not None and self._next[0] < end:
            first, last = self._next
            paused += max(0.0, min(last, end) - max(first, begin))
            if last > end:
                break
            ended.append(last - first)
            self._next = next(self._coming, None)
        return (1.0 - paused / (end - begin) if end > begin else 1.0), ended


def uneven_stalls(pace: float, chance: random.Random) -> Stalls:
    """Return the pauses of a device that alternates between `pace` times its mean speed and standing still."""
    return Stalls(_pauses(pace, chance), pace=pace)


def _pauses(pace: float, chance: random.Random) -> Iterator[Window]:
    # Each round of work and pause has the mean speed, so the total work matches it too.
    begin = 0.0
    while True:
        round_seconds = _PERIOD * chance.uniform(0.7, 1.3)
        yield begin + round_seconds / pace, begin + round_seconds
        begin += round_seconds


class SimulatedTarget:
    """One section of a job file on a device whose speed is predicted."""

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
        """Start a section. `amount`: bytes after which it ends; None if only time ends it.

        `done` is called after each interval with the reads, bytes read, writes and bytes written, and the length in
        seconds. `still`: start and end of a pause in which no request completes, in seconds since fio started. It
        replaces other pauses. `held`: seconds until the first request completes, before which fio does not end.
        """
        self.job = job
        """Section of the job file."""
        self.expected = expected
        """Predicted performance."""
        self.share = 1.0
        """Share of the predicted performance for this section if other sections use the device at the same time."""
        self.device = device
        """Kernel name of the disk."""
        self._amount = amount
        self._chance = random.Random(seed)
        self._done = done
        self._read, self._write, self._trim, self._flushes = (RunCounters() for _ in range(4))
        # Runs of a job differ more than the intervals of one run. So each run has its own level, and its intervals are
        # a random walk around that level.
        self._level = math.exp(self._chance.gauss(0.0, RUN_SPREAD))
        self._wander = 0.0
        self._runtime = 0.0
        burst = expected.write.burst if expected.write is not None else 1.0
        self.held = held
        """Seconds since fio started before which the section cannot end."""
        if held:
            still = (0.0, held)
        self._stalls = Stalls([still]) if still else uneven_stalls(burst, self._chance) if burst > 1 else Stalls()
        self._delayed: Counter[int] = Counter()

    def clear(self) -> None:
        """Reset the counters, as fio does at the end of the ramp."""
        for counters in (self._read, self._write, self._trim, self._flushes):
            counters.clear()
        self._runtime = 0.0

    def is_finished(self, elapsed: float) -> bool:
        """Return True if the section has ended."""
        runtime = self.job.runtime
        if elapsed < self.held:
            return False
        if runtime is not None:
            over = elapsed >= self.job.ramp + runtime - 1e-9
            if over or self._amount is None:
                return over
        return self._amount is None or self._moved_bytes >= self._amount

    @property
    def _moved_bytes(self) -> int:
        """Bytes that count towards `amount`. If the job writes each block after a trim of it, only the writes count."""
        return self._read.io_bytes + (self._write.io_bytes if self.job.writes_data else self._trim.io_bytes)

    def advance(self, seconds: float, elapsed: float) -> None:
        """Simulate an interval of `seconds` that starts `elapsed` seconds after the start of the run."""
        if seconds <= 0:
            return
        expected = self.expected
        timed = elapsed >= self.job.ramp - 1e-9 or self.job.ramp == 0
        self._wander = _MEMORY * self._wander + self._chance.gauss(0.0, _INTERVAL_SPREAD * math.sqrt(1 - _MEMORY**2))
        pace = self._level * math.exp(self._wander)
        if self._chance.random() < _DIP:
            pace *= self._chance.uniform(0.85, 0.95)
        is_limited = self.job.rate_iops > 0
        if is_limited:
            pace = min(pace, 1.0)
        answering, ended_pauses = self._stalls.answered_share(elapsed, elapsed + seconds)
        # Requests in flight at the start of a pause complete at its end, with its length as their latency.
        for pause in ended_pauses:
            self._delayed[bucket_of(round(pause * 1e9))] += self.job.depth * self.job.numjobs
        if not timed:
            self._delayed.clear()
        pace *= self._stalls.pace * self.share
        writes, working = self._write_performance(), self._working_share() * answering
        moved: list[int] = []
        written = writes if self.job.writes_data else None
        directions = (expected.read, written, writes if self.job.trims else None)
        limits = (*self.job.side_rates, None)
        for direction, counters, limit in zip(directions, (self._read, self._write, self._trim), limits, strict=True):
            before = counters.ios, counters.io_bytes
            if direction is not None and limit is not None:
                direction = replace(direction, iops=min(direction.iops, limit / pace))
            if direction is not None:
                self._count(direction, counters, pace, seconds, working=working, timed=timed)
            moved += [counters.ios - before[0], counters.io_bytes - before[1]]
        self._done((moved[0], moved[1], moved[2], moved[3]), seconds)
        if written is not None and (every := self.job.flush_every):
            flushes = replace(written, iops=written.iops / every, mean_us=expected.flush_us, spread=0.6, tail=6.0)
            self._count(flushes, self._flushes, pace, seconds, working=working, timed=timed)
        self._runtime += seconds

    def _write_performance(self) -> Direction | None:
        """Return the performance of the writes, or of the trims, which are equally fast.

        Each write waits until it is on stable media if the job requests that. If trims and writes alternate, half of
        the requests are trims.
        """
        direction = self.expected.write
        if direction is None:
            return None
        if self.job.trims and self.job.writes_data:
            direction = replace(direction, iops=direction.iops / 2)
        if self.job.text("sync", "0") in ("0", "none"):  # writes do not wait for stable media
            return direction
        latency_us = direction.mean_us + self.expected.flush_us
        iops = direction.iops * direction.mean_us / latency_us
        if self.job.rate_iops:
            iops = min(direction.iops, self.job.depth * self.job.numjobs * 1e6 / latency_us)
        return replace(direction, iops=iops, mean_us=latency_us, fast_share=0.0)

    def _working_share(self) -> float:
        """Return the share of the time in which the job is not waiting for its own flushes."""
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
        """Add the requests of an interval to the counters. `working`: share of the interval in which requests run."""
        expected_ios = direction.iops * pace * seconds * working
        ios = int(expected_ios) + (self._chance.random() < expected_ios - int(expected_ios))
        block = self.job.mean_bytes
        moved = int(ios * block) // 512 * 512
        if self._amount is not None:  # a job with an amount ends exactly after its last byte
            left = max(0, self._amount - (counters.io_bytes if self.job.trims else self._moved_bytes))
            moved = min(moved, left)
            ios = min(ios, math.ceil(left / block))
        counts = None
        if timed:
            late = self._take_delayed(ios)
            counts = self._latencies(direction, ios - late.total(), pace)
            counts.update(late)
        counters.add(ios, moved, counts, seconds)

    def _latencies(self, direction: Direction, count: int, pace: float) -> Counter[int]:
        """Return the latency buckets of `count` requests. Cache hits and misses have different latencies."""
        counts: Counter[int] = Counter()
        *first, last = direction.request_classes
        for kind in first:
            hits = min(count - counts.total(), int(count * kind.share + self._chance.random()))
            counts.update(latencies(hits, kind.mean_us * 1000 / pace, kind.spread, kind.tail, self._chance))
        rest = count - counts.total()
        counts.update(latencies(rest, last.mean_us * 1000 / pace, last.spread, last.tail, self._chance))
        return counts

    def _take_delayed(self, count: int) -> Counter[int]:
        """Return, by latency bucket, those of the next `count` requests that a pause has delayed, and forget them."""
        counts: Counter[int] = Counter()
        for bucket in list(self._delayed):
            counts[bucket] = min(self._delayed[bucket], count - counts.total())
        self._delayed -= counts
        return counts

    def entries(self, elapsed: float, *, number: int, done: bool) -> tuple[Json, Json]:
        """Return the section's results, as group `number`, and its disk utilisation, for a JSON document."""
        runtime, expected = self.job.runtime, self.expected
        results = job_entry(
            self.job,
            self._read,
            self._write,
            self._trim,
            self._flushes,
            number=number,
            runtime=int(self._runtime * 1000),
            elapsed=elapsed,
            left=None if runtime is None else max(0.0, self.job.ramp + runtime - elapsed),
            core_percent=expected.core_percent * self._level,
            submit_ns=expected.submit_us * 1000,
            done=done,
        )
        busy = 1.0 if expected.drive_busy > 0.9 else 0.93 + expected.drive_busy * 0.06
        return results, disk_entry(self.device, self._read, self._write, busy=busy, elapsed=elapsed)
