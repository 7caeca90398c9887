"""The metrics of runs, and the headline metric of a job. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.core.session.results import DIRECTIONS, DirectionStats, RunResult
from app.core.session.state import RunRecord
from backends.fio_buckets import bucket_of, edges_of
from backends.values import dataclass

Read = Callable[[DirectionStats], float | None]

BOTH = "both"
"""Direction key for all directions of a mixed job together."""

TRIM = "trim"
"""Direction key for the trims of a job."""

SYNC = "sync"
"""Direction key for the flushes of a job that writes."""

LARGE_BLOCK = 128 * 1024
"""For I/Os with this mean size in bytes or more, throughput is the headline metric instead of IOPS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricKind:
    """A metric of one direction."""

    key: str
    """Key of the metric in JSON."""
    read: Read
    """Function that returns the value of the metric, or None if there are too few I/Os for it."""
    higher_is_better: bool = False
    """Whether a larger value is better; for latencies a smaller value is better."""
    judged: bool = True
    """Whether repeated runs can give a verdict on the metric. False for a maximum, which depends on a single I/O."""
    rare: bool = False
    """Whether most runs have too few I/Os for the metric, so that it is shown only if it has a value."""

    @property
    def is_latency(self) -> bool:
        """Return whether the metric is a latency."""
        return self.key.startswith("latency")

    @property
    def is_percentile(self) -> bool:
        """Return whether the metric is a percentile, which is computed from the latency histogram."""
        return self.key.startswith("latency_p")

    def of(self, direction: str) -> bool:
        """Return whether a direction has the metric. Flushes have no throughput, because they transfer no data."""
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
    # These get no verdict, because too few I/Os determine them: one I/O the maximum, about ten I/Os the others.
    MetricKind(key="latency_p99_999_ns", read=lambda of: of.latency_ns.p99_999, judged=False, rare=True),
    MetricKind(key="latency_p99_9999_ns", read=lambda of: of.latency_ns.p99_9999, judged=False, rare=True),
    MetricKind(key="latency_max_ns", read=lambda of: of.latency_ns.max, judged=False),
)
"""All metrics, in display order."""

FIGURES_BY_KEY = {figure.key: figure for figure in FIGURES}


def headline(runs: Sequence[RunRecord]) -> tuple[MetricKind, str]:
    """Return the headline metric of the job of these runs, and its direction.

    For a job with flushes it is the mean latency of the flushes. For a job with a fixed rate it is the tail latency.
    Otherwise it is IOPS, or throughput for large blocks. For a mixed job it is the sum of both directions.
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
    """Return the highest latency percentile up to p99 that all runs have, and the direction with more I/Os.

    Without any percentile, return the mean latency.
    """
    figures = runs[0].figures
    counts = {name: side.total_ios for name in DIRECTIONS if (side := figures.side(name)) is not None}
    direction = max(counts, key=lambda name: counts[name], default="read")
    for key in ("latency_p99_ns", "latency_p95_ns", "latency_p50_ns"):
        if None not in values_of(runs, direction, FIGURES_BY_KEY[key]):
            return FIGURES_BY_KEY[key], direction
    return FIGURES_BY_KEY["latency_mean_ns"], direction


def value_of(figures: RunResult, direction: str, figure: MetricKind) -> float | None:
    """Return one metric of a run; None if there are too few I/Os for it. For BOTH, return the sum of all directions."""
    if direction == BOTH:
        values = [figure.read(transfer) for transfer in figures.transfers]
        present = [value for value in values if value is not None]
        return sum(present) if present and len(present) == len(values) else None
    side = figures.side(direction)
    return None if side is None else figure.read(side)


def half_step(figures: RunResult, direction: str, figure: MetricKind) -> float:
    """Return the rounding error of a run's metric, as a share of the metric.

    A percentile is rounded to the midpoint of one of fio's histogram buckets. A rate comes from a whole number of I/Os.
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
    """Return one metric of each run; None for a run with too few I/Os for it."""
    return [value_of(run.figures, direction, figure) for run in runs]
