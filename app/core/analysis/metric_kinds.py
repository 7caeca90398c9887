"""The kinds of figures that runs have, and which of them a job is about. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.core.session.results import DIRECTIONS, DirectionStats, RunResult
from app.core.session.state import RunRecord
from backends.fio_buckets import bucket_of, edges_of
from backends.values import dataclass

Read = Callable[[DirectionStats], float | None]

BOTH = "both"
"""All directions of a mixed job together."""

TRIM = "trim"
"""The trims of a job."""

SYNC = "sync"
"""The flushes of a job that writes."""

LARGE_BLOCK = 128 * 1024
"""Bytes of an I/O from which on throughput is what a job is about, not the number of I/Os."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricKind:
    """A kind of figure of one direction."""

    key: str
    """In JSON."""
    read: Read
    """Where it is found; None where too few I/Os carry it."""
    higher_is_better: bool = False
    """More of it is faster; of times less is."""
    judged: bool = True
    """Whether it is a figure of a whole run that repeats can settle."""
    rare: bool = False
    """Whether few runs have enough I/Os for it, so that it is shown only where it is known."""

    @property
    def is_latency(self) -> bool:
        """Whether it is a time that an I/O takes."""
        return self.key.startswith("latency")

    @property
    def is_percentile(self) -> bool:
        """Whether it is read from the latency histogram."""
        return self.key.startswith("latency_p")

    def of(self, direction: str) -> bool:
        """Whether there is such a figure of a direction: flushes move nothing."""
        return direction != SYNC or self.key != "bytes_per_second"


FIGURES: tuple[MetricKind, ...] = (
    MetricKind(key="iops", read=lambda of: of.iops, higher_is_better=True),
    MetricKind(
        key="bytes_per_second",
        read=lambda of: of.bytes_per_second,
        higher_is_better=True,
    ),
    MetricKind(key="latency_mean_ns", read=lambda of: of.latency_ns.mean),
    MetricKind(key="latency_p50_ns", read=lambda of: of.latency_ns.p50),
    MetricKind(key="latency_p95_ns", read=lambda of: of.latency_ns.p95),
    MetricKind(key="latency_p99_ns", read=lambda of: of.latency_ns.p99),
    MetricKind(key="latency_p99_9_ns", read=lambda of: of.latency_ns.p99_9),
    MetricKind(key="latency_p99_99_ns", read=lambda of: of.latency_ns.p99_99),
    # One request decides the largest, ten decide the others.
    MetricKind(key="latency_p99_999_ns", read=lambda of: of.latency_ns.p99_999, judged=False, rare=True),
    MetricKind(key="latency_p99_9999_ns", read=lambda of: of.latency_ns.p99_9999, judged=False, rare=True),
    MetricKind(key="latency_max_ns", read=lambda of: of.latency_ns.max, judged=False),
)
"""In the order to show them."""

FIGURES_BY_KEY = {figure.key: figure for figure in FIGURES}


def headline(runs: Sequence[RunRecord]) -> tuple[MetricKind, str]:
    """What the job of these runs is about, and of which direction.

    With flushes how long they take, at a fixed rate the tail of the latency. Else I/Os per second, of large blocks
    throughput; of a mixed job those of both directions.
    """
    figures, job = runs[0].figures, runs[0].start.job
    if figures.sync is not None:
        return FIGURES_BY_KEY["latency_mean_ns"], SYNC
    if any(job.get(key) or (job.get(f"{key}_read") and job.get(f"{key}_write")) for key in ("rate_iops", "rate")):
        return _tail_of(runs)
    transfers = [side for side in figures.transfers if side.total_ios]
    ios, moved = (
        sum(side.iops for side in transfers),
        sum(side.bytes_per_second for side in transfers),
    )
    about = FIGURES[1] if ios and moved / ios >= LARGE_BLOCK else FIGURES[0]
    if len(transfers) == 2:
        return about, BOTH
    return about, next((name for name in DIRECTIONS if transfers and figures.side(name) is transfers[0]), "read")


def _tail_of(runs: Sequence[RunRecord]) -> tuple[MetricKind, str]:
    """The highest percentile up to p99 that every run carries, of the direction with more I/Os."""
    figures = runs[0].figures
    counts = {name: side.total_ios for name in DIRECTIONS if (side := figures.side(name)) is not None}
    direction = max(counts, key=lambda name: counts[name], default="read")
    for key in ("latency_p99_ns", "latency_p95_ns", "latency_p50_ns"):
        if None not in values_of(runs, direction, FIGURES_BY_KEY[key]):
            return FIGURES_BY_KEY[key], direction
    return FIGURES_BY_KEY["latency_mean_ns"], direction


def value_of(figures: RunResult, direction: str, figure: MetricKind) -> float | None:
    """One figure of a run, of both directions together their sum; None where too few I/Os carry it."""
    if direction == BOTH:
        values = [figure.read(transfer) for transfer in figures.transfers]
        known = [value for value in values if value is not None]
        return sum(known) if known and len(known) == len(values) else None
    side = figures.side(direction)
    return None if side is None else figure.read(side)


def half_step(figures: RunResult, direction: str, figure: MetricKind) -> float:
    """How far the figure of a run may be off, as a share of it, by the steps that it is measured in.

    A percentile is the middle of one of fio's buckets, a rate a whole number of I/Os over the time of the run.
    """
    value = value_of(figures, direction, figure)
    if not value:
        return 0.0
    if figure.is_percentile:
        low, high = edges_of(bucket_of(round(value)))
        return (high - low) / 2 / value
    sides = (figures.read, figures.write) if direction == BOTH else (figures.side(direction),)
    count = 0 if figure.is_latency else sum(side.total_ios for side in sides if side is not None)
    return 1 / 2 / count if count else 0.0


def values_of(runs: Sequence[RunRecord], direction: str, figure: MetricKind) -> list[float | None]:
    """The figure of each run."""
    return [value_of(run.figures, direction, figure) for run in runs]
