"""Counts of a run for the decision, from fio's output in its folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from app.core.fio.document import FioDocument
from app.core.fio.histogram import Histogram
from app.core.fio.job import Job
from app.core.fio.run_phases import RunPhases, read_documents
from app.core.fio.sampler import Bins
from app.core.session.results import DIRECTIONS, Phase, RunResult
from app.features.fit.decision import Quarter, RunCounts
from backends.values import dataclass

_NS = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class FitInterval:
    """Latencies of one of fio's intervals."""

    seconds: float
    """Length of the interval."""
    flushes: Bins
    """Histogram of the flushes."""
    waits: Bins
    """Histogram of everything that a writer waits for: writes and flushes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FitRun:
    """One run, as the decision needs it."""

    intervals: tuple[FitInterval, ...]
    """Measured intervals, in order of time."""
    longest_s: float
    """Longest write or flush in seconds."""
    flushes_per_s: float
    """Flushes per second."""
    iops: float
    """I/Os per second, without flushes."""
    bytes_per_s: float
    """Bytes per second."""
    mean_s: float
    """Mean latency of the I/Os in seconds; 0 if unknown."""
    written: int
    """Bytes written."""

    def counts(self, limit_s: float) -> RunCounts:
        """Return the counts for a limit in seconds."""
        limit_ns = limit_s * _NS
        quarters = [
            Quarter(
                interval.seconds,
                sum(count for _, count in interval.flushes),
                sum(count for ns, count in interval.flushes if ns > limit_ns),
                sum((ns - limit_ns) * count for ns, count in interval.waits if ns > limit_ns) / _NS,
            )
            for interval in self.intervals
        ]
        return RunCounts(quarters, (self.flush_histogram.percentile(99.0) or 0) / _NS, self.longest_s)

    def progress(self) -> RunCounts:
        """Return the number of I/Os of each interval as counts, to see whether they became fewer."""
        quarters = [
            Quarter(interval.seconds, sum(count for _, count in interval.waits), 0, 0.0) for interval in self.intervals
        ]
        return RunCounts(quarters, 0.0, self.longest_s)

    @property
    def flush_histogram(self) -> Histogram:
        """Return the latencies of all flushes."""
        return Histogram.merged(Histogram(dict(interval.flushes)) for interval in self.intervals)


def read_fit_run(raw: Path, job: Job, figures: RunResult) -> FitRun:
    """Return a finished run. `raw`: fio's output; `figures`: the results of the run."""
    intervals = tuple(_intervals(raw, job))
    sides = figures.transfers
    total = sum(side.iops for side in sides)
    waits = [*sides, *([figures.sync] if figures.sync is not None else [])]
    return FitRun(
        intervals=intervals,
        longest_s=max((side.latency_ns.max or 0 for side in waits), default=0) / _NS,
        flushes_per_s=0.0 if figures.sync is None else figures.sync.iops,
        iops=total,
        bytes_per_s=sum(side.bytes_per_second for side in sides),
        mean_s=sum((side.latency_ns.mean or 0.0) * side.iops for side in sides) / total / _NS if total else 0.0,
        written=0 if figures.write is None else figures.write.total_bytes,
    )


def _intervals(raw: Path, job: Job) -> Iterator[FitInterval]:
    course = RunPhases(ramp=job.ramp > 0, planned_s=job.runtime or None)
    for data in read_documents(raw):
        sample, _ = course.add_document(FioDocument(data))
        if sample is not None and sample.phase is Phase.MEASURING:
            bins = course.bins
            sides = [bins[name] for name in (*DIRECTIONS, "sync") if name in bins]
            yield FitInterval(seconds=sample.seconds, flushes=bins.get("sync", ()), waits=_merged(sides))


def _merged(sides: Sequence[Bins]) -> Bins:
    return Histogram.merged(Histogram(dict(side)) for side in sides).bins
