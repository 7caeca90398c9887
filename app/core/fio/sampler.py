"""Differences between two of fio's documents, and from them the results of each interval."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TypeVar

from app.core.fio.document import Counters, FioDocument
from app.core.fio.histogram import Histogram
from app.core.fio.render import section_names
from app.core.session.results import DIRECTIONS, SIDES, DirectionSample, Phase, Sample, TargetSample
from backends.fio_buckets import LAST_VALUE
from backends.values import dataclass

# -- the difference of two documents of a run -------------------------------------------------------------------------


def counters_since(now: Counters, before: Counters | None) -> Counters:
    """Return the counters of the interval between two documents of one run.

    Counts and the histogram are exact differences. The mean follows exactly from the sums. Minimum and maximum are
    exact if the run's own minimum fell or its maximum rose in between. Otherwise they are those of the used buckets, at
    most 0.78 % off.
    """
    if before is None or now.total_ios < before.total_ios or now.completed < before.completed:
        return now  # the counters were reset in between
    histogram = now.histogram.since(before.histogram)
    completed = now.completed - before.completed
    mean, stddev = _moments_since(now, before, completed)
    lowest = min(histogram.counts, default=None)
    highest = histogram.top
    # fio keeps minimum and maximum of the run, so those of the interval are exact only if they changed in it.
    fell = now.min_ns is not None and before.min_ns is not None and now.min_ns < before.min_ns
    rose = now.max_ns is not None and (before.max_ns is None or now.max_ns > before.max_ns)
    return Counters(
        io_bytes=max(0, now.io_bytes - before.io_bytes),
        total_ios=now.total_ios - before.total_ios,
        completed=completed,
        runtime_ms=max(0, now.runtime_ms - before.runtime_ms),
        min_ns=now.min_ns if fell or before.min_ns is None else lowest,
        max_ns=now.max_ns if rose or (highest is not None and highest >= LAST_VALUE) else highest,
        mean_ns=mean,
        stddev_ns=stddev,
        histogram=histogram,
        short_ios=max(0, now.short_ios - before.short_ios),
        drop_ios=max(0, now.drop_ios - before.drop_ios),
        completion=None if now.completion is None else counters_since(now.completion, before.completion),
        submission=None if now.submission is None else counters_since(now.submission, before.submission),
    )


def _moments_since(now: Counters, before: Counters, count: int) -> tuple[float | None, float | None]:
    """Return mean and standard deviation of the `count` latencies between two fio documents, from their totals."""
    if count <= 0 or now.mean_ns is None:
        return None, None
    mean = (now.mean_ns * now.completed - (before.mean_ns or 0.0) * before.completed) / count

    def squares(part: Counters) -> float:
        return ((part.stddev_ns or 0.0) ** 2 + (part.mean_ns or 0.0) ** 2) * part.completed

    variance = (squares(now) - squares(before)) / count - mean * mean
    return max(0.0, mean), math.sqrt(max(0.0, variance))


# -- results of each interval from fio's running totals ---------------------------------------------------------------

_SIDES = (*SIDES, "mixed")
# Timestamp and run time of a document differ by some tens of milliseconds on a busy machine; more is a stall.
_STALL_S = 0.1
_WINDOW_S = 5.0
# Number of I/Os that each percentile needs, so that at least one I/O is beyond it.
_NEEDED = {50.0: 1, 99.0: 100, 99.9: 1000}
_IN_TURN = tuple(_NEEDED)

_Part = TypeVar("_Part")

Bins = tuple[tuple[int, int], ...]
"""(Bucket value in ns, count), ascending."""


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """The counters of one document."""

    at_ms: int
    runtime_ms: int
    parts: Mapping[str, Counters]
    rows: tuple[Mapping[str, Counters], ...] = ()
    """Counters by direction, for each target in order; () if there is only one target."""

    @property
    def transfers(self) -> tuple[Counters, ...]:
        """Counters of the I/Os that move or discard data. A flush is not counted until it has completed."""
        return tuple(part for name, part in self.parts.items() if name != "sync")

    @property
    def issued(self) -> int:
        return sum(part.total_ios for part in self.transfers)

    @property
    def completed(self) -> int:
        return sum(part.completed for part in self.transfers)

    @property
    def moved(self) -> int:
        return sum(part.io_bytes for part in self.transfers)


@dataclass(slots=True)
class LatencyWindow:
    """Latency histograms of one direction over the last seconds. A percentile may need several intervals."""

    intervals: deque[tuple[float, Histogram]] = field(default_factory=deque)

    def add(self, seconds: float, part: Histogram) -> None:
        """Add the histogram `part` of an interval that lasted `seconds`."""
        self.intervals.append((seconds, part))
        held = sum(length for length, _ in self.intervals)
        while len(self.intervals) > 1 and held - self.intervals[0][0] >= _WINDOW_S:
            held -= self.intervals.popleft()[0]

    @property
    def last(self) -> Bins:
        """Return the histogram of the last interval."""
        return self.intervals[-1][1].bins

    def percentile(self, percent: float) -> int | None:
        """Return the percentile over the fewest latest intervals with enough I/Os; None if even 5 s have too few."""
        parts: list[Histogram] = []
        count = 0
        for _, part in reversed(self.intervals):
            parts.append(part)
            count += part.total
            if count >= _NEEDED[percent]:
                histogram = parts[0] if len(parts) == 1 else Histogram.merged(parts)
                return histogram.percentile(percent)
        return None


class Sampler:
    """Samples one run. Feed it fio's documents in order; set `ending` once fio was asked to stop.

    IOPS are timed I/Os divided by the difference of the timestamps. Bandwidth is bytes divided by run time. fio updates
    these two pairs at different moments: while a worker is stuck in an I/O, bytes and run time date from before the
    stall, but counts and timestamp do not.
    """

    def __init__(
        self,
        *,
        ramp: bool,
        planned_s: float | None,
        period_s: float = 0.25,
        phase: Phase = Phase.MEASURING,
        targets: Sequence[str] = (),
    ) -> None:
        """Prepare to sample one run.

        `ramp`: whether a ramp precedes `phase`. `planned_s`: length of the phase, None for a job that ends by amount.
        `targets`: names of the targets, if there are several.
        """
        self._targets = tuple(targets) if len(targets) > 1 else ()
        self._wanted = phase
        self.phase = Phase.RAMP if ramp else phase
        """Ramp, settling or measuring, as of the last document."""
        self._planned_ms = None if planned_s is None else planned_s * 1000
        self._period = period_s
        self._before: _Snapshot | None = None
        self._start_ms = self._start_runtime_ms = 0
        self._lag = 0.0
        self.bins: Mapping[str, Bins] = {}
        """Latency histograms of the last interval by direction; I/O without a direction counts as reads."""
        self._windows = {name: LatencyWindow() for name in _SIDES}
        self._row_windows = [{name: LatencyWindow() for name in _SIDES} for _ in self._targets]

    def enter(self, phase: Phase) -> None:
        """Begin another phase at the last document. Time and percentiles restart; fio's counters continue."""
        self.phase = phase
        if self._before is not None:
            self._start_ms, self._start_runtime_ms = self._before.at_ms, self._before.runtime_ms
        self._clear_windows()

    def _clear_windows(self) -> None:
        """Empty the latency windows, so that percentiles no longer include earlier intervals."""
        for windows in (self._windows, *self._row_windows):
            for window in windows.values():
                window.intervals.clear()

    def add_document(self, document: FioDocument, *, ending: bool = False) -> Sample | None:
        """Return the interval that this document ends, or None if it ends no interval.

        The first document ends no interval. Neither does a document after a reset of the counters, a repeated document,
        or one that follows too soon.
        """
        now = _snapshot(document, section_names(len(self._targets)) if self._targets else ())
        if now is None:
            return None
        before = self._before
        restarted = before is not None and _has_restarted(now, before)
        if self.phase is Phase.RAMP and (restarted or now.completed):
            # At the end of the ramp the counters restart, for each worker at a different moment.
            self.phase = self._wanted
            restarted = True
        if before is None or restarted:
            self._begin(now)
            # While a worker is still in its ramp, its I/Os are counted but not timed.
            incomplete = restarted and now.issued > now.completed * 1.1
            if incomplete or now.runtime_ms < self._period * 500:
                return None
            return self._sample(now, _Snapshot(self._start_ms, 0, {}), ending=ending)
        # fio uses the wall clock for its timestamps, which may be set back.
        if now.at_ms < before.at_ms - 500:
            self._start_ms += now.at_ms - before.at_ms - (now.runtime_ms - before.runtime_ms)
            self._before = now
            return None
        # The first documents may be late, so the earliest start that any document implies is correct.
        self._start_ms = min(self._start_ms, now.at_ms - (now.runtime_ms - self._start_runtime_ms))
        if now.at_ms - before.at_ms < self._period * 500:
            return None  # counted in the next interval; after the last interval fio often repeats its document
        sample = self._sample(now, before, ending=ending)
        self._before = now
        return sample

    def _begin(self, now: _Snapshot) -> None:
        self._before = now
        self._start_ms, self._start_runtime_ms = now.at_ms - now.runtime_ms, 0
        self._lag = 0.0
        self._clear_windows()

    def _sample(self, now: _Snapshot, before: _Snapshot, *, ending: bool) -> Sample | None:
        # Two clocks: the timestamp, and the run time of the longest job, which fio updates when an I/O completes.
        by_clock = (now.at_ms - before.at_ms) / 1000
        by_runtime = (now.runtime_ms - before.runtime_ms) / 1000
        over = ending or (self._planned_ms is not None and now.runtime_ms >= self._planned_ms)
        # At the end fio repeats its totals. This is not an interval without I/O.
        if over and by_runtime <= 0 and now.completed == before.completed:
            return None
        stalled = False
        seconds = by_clock
        if over and by_runtime > 0:
            # The last document may be long after the last I/O, because fio waits for its threads.
            seconds = min(by_clock, by_runtime)
        elif by_clock - by_runtime > _STALL_S:
            stalled = True
        elif by_runtime - by_clock > self._lag + _STALL_S:
            # The previous document had counts older than its timestamp, so the run time is the right length.
            seconds = by_runtime
        self._lag = by_clock - by_runtime if stalled else 0.0
        if seconds <= 0 or (over and seconds < self._period / 2):
            return None

        def sides(
            windows: Mapping[str, LatencyWindow], now: Mapping[str, Counters], before: Mapping[str, Counters]
        ) -> dict[str, DirectionSample]:
            samples = {
                name: _direction_sample(windows[name], now[name], before.get(name), seconds, by_runtime)
                for name in _SIDES
                if name in now
            }
            return _by_direction(samples)

        totals = sides(self._windows, now.parts, before.parts)
        self.bins = _by_direction({name: window.last for name, window in self._windows.items() if name in now.parts})
        earlier = before.rows or tuple({} for _ in now.rows)
        rows = [sides(*row) for row in zip(self._row_windows, now.rows, earlier, strict=True)]
        return Sample(
            at=(now.at_ms - self._start_ms) / 1000,
            seconds=seconds,
            phase=self.phase,
            stalled=stalled,
            targets=tuple(TargetSample(target=target, **row) for target, row in zip(self._targets, rows, strict=True)),
            read=totals.get("read"),
            write=totals.get("write"),
            trim=totals.get("trim"),
            sync=totals.get("sync"),
        )


def _by_direction(parts: Mapping[str, _Part]) -> dict[str, _Part]:
    """Return the parts by direction. With unified_rw_reporting fio reports no direction: all I/O counts as reads."""
    return {"read" if name == "mixed" else name: part for name, part in parts.items()}


def _direction_sample(
    window: LatencyWindow, now: Counters, before: Counters | None, seconds: float, by_runtime: float
) -> DirectionSample:
    before = before or Counters()
    ios = max(0, _timed_ios(now) - _timed_ios(before))
    moved = max(0, now.io_bytes - before.io_bytes)
    # fio reads bytes and run time at one moment, but counts and timestamp at another. So divide bytes by run time,
    # and counts by the difference of the timestamps.
    runtime = (now.runtime_ms - before.runtime_ms) / 1000 or by_runtime
    part = now.histogram.since(before.histogram)
    window.add(seconds, part)
    p50, p99, p99_9 = window_percentiles(window, part)
    lowest, spread = part.spread()
    return DirectionSample(
        iops=ios / seconds,
        bytes_per_second=moved / runtime if runtime > 0 else moved / seconds,
        ios=ios,
        p50_ns=p50,
        p99_ns=p99,
        p99_9_ns=p99_9,
        max_ns=_maximum(now, before, part),
        spread_from=lowest,
        spread=spread,
    )


def window_percentiles(window: LatencyWindow, part: Histogram) -> tuple[int | None, ...]:
    """Return p50, p99 and p99.9 of an interval, from the window if the interval has too few I/Os."""
    # A fast device has enough I/Os in this interval alone, so the window is not needed.
    if part.total >= _NEEDED[99.9]:
        return part.percentiles(_IN_TURN)
    return tuple(window.percentile(percent) for percent in _IN_TURN)


def _snapshot(document: FioDocument, sections: Sequence[str]) -> _Snapshot | None:
    parts = _parts(document)
    stamp = document.timestamp_ms
    if not parts or stamp is None:
        return None
    rows = tuple(_parts(document.section(name)) for name in sections)
    return _Snapshot(stamp, max(part.runtime_ms for part in parts.values()), parts, rows)


def _parts(document: FioDocument) -> dict[str, Counters]:
    parts = {name: part for name in _SIDES if (part := document.counters(name)) is not None}
    if "mixed" in parts and not parts.keys().isdisjoint(DIRECTIONS):
        del parts["mixed"]  # unified_rw_reporting=both counts every I/O twice
    return parts


def _timed_ios(part: Counters) -> int:
    """Return the timed I/Os, or the issued ones if none are timed (in the ramp, or with latency switched off)."""
    return part.completed or part.total_ios


def _has_restarted(now: _Snapshot, before: _Snapshot) -> bool:
    return now.issued < before.issued or now.completed < before.completed or now.moved < before.moved


def _maximum(now: Counters, before: Counters, part: Histogram) -> int | None:
    """Return the largest latency: exact if the run's maximum rose in this interval, else that of the top bucket."""
    if not part.total:
        return None
    if now.max_ns is not None and now.max_ns > (before.max_ns or 0):
        return now.max_ns
    top = part.top
    return now.max_ns if top is not None and top >= LAST_VALUE else top
