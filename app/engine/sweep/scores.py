"""A finished run in the figures that a sweep ranks by. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from app.engine.judge.stats import LogSpread, log_spread
from app.engine.session.figures import DirectionFigures, RunFigures, RunStatus
from app.engine.session.state import RunRecord
from app.engine.session.sweep_steps import Rank
from backends.values import dataclass

ENOUGH_FOR_P99 = 1000
"""I/Os of which ten lie beyond the 99th percentile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What one run reached, both directions together."""

    iops: float
    """I/Os per second."""
    bytes_per_second: float
    """Bytes per second."""
    p99_ns: int | None
    """99th percentile of the latency, that of the slower direction; None with too few I/Os."""
    mean_ns: float | None
    """Mean latency of all I/Os."""
    p50_ns: int | None = None
    """Median, that of the slower direction."""
    p99_9_ns: int | None = None
    """99.9th percentile, that of the slower direction; None with too few I/Os."""
    ios: int = 0
    """Completed."""

    def by(self, rank: Rank) -> float | None:
        """The figure that counts."""
        match rank:
            case Rank.IOPS:
                return self.iops
            case Rank.BANDWIDTH:
                return self.bytes_per_second
            case Rank.P99:
                return None if self.p99_ns is None else float(self.p99_ns)


class LatencyFigure(StrEnum):
    """A latency of a run, by the field of its score."""

    MEAN = "mean_ns"
    P50 = "p50_ns"
    P99 = "p99_ns"
    P99_9 = "p99_9_ns"


def latency(scores: Sequence[Score], figure: LatencyFigure) -> LogSpread | None:
    """The figure over the runs; None without a run, and where one of them has too few I/Os for it."""
    known = [value for one in scores if (value := getattr(one, figure)) is not None and value > 0]
    return log_spread(known) if known and len(known) == len(scores) else None


def score(run: RunRecord | None) -> Score | None:
    """The figures of a run; None unless it went well and did something."""
    if run is None or run.figures.status is not RunStatus.OK:
        return None
    return score_of(run.figures)


def score_of(figures: RunFigures) -> Score | None:
    """The figures in both directions together; None when nothing was measured."""
    both = [one for one in (figures.read, figures.write) if one is not None and one.total_ios]
    if not both:
        return None
    return Score(
        iops=sum(one.iops for one in both),
        bytes_per_second=sum(one.bytes_per_second for one in both),
        p99_ns=_slower(one.latency_ns.p99 if one.total_ios >= ENOUGH_FOR_P99 else None for one in both),
        mean_ns=_mean(both),
        p50_ns=_slower(one.latency_ns.p50 for one in both),
        p99_9_ns=_slower(one.latency_ns.p99_9 for one in both),
        ios=sum(one.total_ios for one in both),
    )


def _slower(percentiles: Iterable[int | None]) -> int | None:
    """The largest; None where a direction has none."""
    known = list(percentiles)
    return None if None in known else max(one for one in known if one is not None)


def _mean(both: list[DirectionFigures]) -> float | None:
    pairs = [(one.latency_ns.mean, one.total_ios) for one in both]
    if any(mean is None for mean, _ in pairs):
        return None
    return sum((mean or 0.0) * count for mean, count in pairs) / sum(count for _, count in pairs)
