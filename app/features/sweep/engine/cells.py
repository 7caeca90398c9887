"""Cells of a sweep: the results of their runs, and the metrics by which they are ranked. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from app.core.analysis.reasons import Caveat
from app.core.analysis.stats import THRESHOLD_PERCENT, LogMeanInterval, MeanInterval, log_mean_interval, mean_interval
from app.core.analysis.verdict import VerdictResult
from app.core.session.results import DirectionStats, RunResult, RunStatus
from app.core.session.state import RunRecord
from app.core.session.sweep_record import SweepRecord
from app.core.session.sweep_steps import Purpose, Rank, SweepCell
from backends.values import dataclass

# -- metrics of a run -------------------------------------------------------------------------------------------------

ENOUGH_FOR_P99 = 1000
"""Minimum number of I/Os for a 99th percentile, so that ten I/Os are slower than it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunScore:
    """Metrics of one run, reads and writes together."""

    iops: float
    """I/Os per second."""
    bytes_per_second: float
    """Bytes per second."""
    p99_ns: int | None
    """99th percentile of the latency of the slower direction; None with too few I/Os."""
    mean_ns: float | None
    """Mean latency of all I/Os; None if it is unknown for a direction."""
    p50_ns: int | None = None
    """Median latency of the slower direction; None if it is unknown for a direction."""
    p99_9_ns: int | None = None
    """99.9th percentile of the latency of the slower direction; None with too few I/Os."""
    ios: int = 0
    """Number of completed I/Os."""

    def by(self, rank: Rank) -> float | None:
        """Return the metric that a ranking uses; None if the run lacks it."""
        match rank:
            case Rank.IOPS:
                return self.iops
            case Rank.BANDWIDTH:
                return self.bytes_per_second
            case Rank.P99:
                return None if self.p99_ns is None else float(self.p99_ns)


class LatencyFigure(StrEnum):
    """A latency metric of a run; the value is the field of `RunScore`."""

    MEAN = "mean_ns"
    P50 = "p50_ns"
    P99 = "p99_ns"
    P99_9 = "p99_9_ns"


def latency(scores: Sequence[RunScore], figure: LatencyFigure) -> LogMeanInterval | None:
    """Return the geometric mean and the interval of a latency metric over the runs; None if there are no runs, or if a
    run has too few I/Os for the metric.
    """
    values = [value for score in scores if (value := getattr(score, figure)) is not None and value > 0]
    return log_mean_interval(values) if values and len(values) == len(scores) else None


def score(run: RunRecord | None) -> RunScore | None:
    """Return the metrics of a run; None unless it succeeded and did I/O."""
    if run is None or run.figures.status is not RunStatus.OK:
        return None
    return score_of(run.figures)


def score_of(figures: RunResult) -> RunScore | None:
    """Return the metrics of a run's result, for reads and writes together; None if nothing was measured."""
    directions = [stats for stats in figures.transfers if stats.total_ios]
    if not directions:
        return None
    return RunScore(
        iops=sum(stats.iops for stats in directions),
        bytes_per_second=sum(stats.bytes_per_second for stats in directions),
        p99_ns=_slower(stats.latency_ns.p99 if stats.total_ios >= ENOUGH_FOR_P99 else None for stats in directions),
        mean_ns=_mean(directions),
        p50_ns=_slower(stats.latency_ns.p50 for stats in directions),
        p99_9_ns=_slower(stats.latency_ns.p99_9 for stats in directions),
        ios=sum(stats.total_ios for stats in directions),
    )


def _slower(percentiles: Iterable[int | None]) -> int | None:
    """Return the percentile of the slower direction; None if a direction has no percentile."""
    values = list(percentiles)
    return None if None in values else max(number for number in values if number is not None)


def _mean(directions: list[DirectionStats]) -> float | None:
    pairs = [(direction_stats.latency_ns.mean, direction_stats.total_ios) for direction_stats in directions]
    if any(mean is None for mean, _ in pairs):
        return None
    return sum((mean or 0.0) * count for mean, count in pairs) / sum(count for _, count in pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredLoad:
    """A load at which a cell is measured (a queue depth or I/Os per second), and the results at this load."""

    cell: SweepCell
    """The cell that is measured at this load."""
    tried: int
    """Number of steps that have ended for good, including failed ones."""
    scores: tuple[RunScore, ...] = ()
    """Metrics of the completed runs."""

    @property
    def iops(self) -> MeanInterval | None:
        """Mean and interval of the reached I/Os per second; None without a run."""
        return mean_interval([score.iops for score in self.scores]) if self.scores else None

    def latency(self, figure: LatencyFigure) -> LogMeanInterval | None:
        """Return the mean and interval of a latency metric over the runs; None if a run has too few I/Os for it."""
        return latency(self.scores, figure)


# -- runs of a cell ---------------------------------------------------------------------------------------------------

Runs = Mapping[str, RunRecord]
"""The runs of a session by id."""

Turn = tuple[int, int]
"""Block number and round number of a step."""


def threshold_of(record: SweepRecord) -> float:
    """Return the sweep's threshold: the difference in percent up to which two results count as equal."""
    return record.design.threshold_percent or THRESHOLD_PERCENT


def scored_runs(record: SweepRecord, cell: str, runs: Runs, *purposes: Purpose) -> list[tuple[Turn, RunScore]]:
    """Return the turn and the metrics of each run of a cell whose step has one of the `purposes`."""
    pairs = []
    for step, run in record.runs_of(cell, *purposes):
        reached = score(runs.get(run))
        if reached is not None:
            pairs.append(((step.block, step.round), reached))
    return pairs


def values_by_turn(record: SweepRecord, cell: str, runs: Runs, *purposes: Purpose) -> dict[Turn, float]:
    """Return the ranking metric of each run of a cell by turn, for steps with one of the `purposes`."""
    rank = record.design.rank
    scored = scored_runs(record, cell, runs, *purposes)
    return {turn: value for turn, score in scored if (value := score.by(rank)) is not None and value > 0}


def runs_of_cell(record: SweepRecord, runs: Runs, cell: str, *, confirming: bool = False) -> tuple[RunRecord, ...]:
    """Return the runs on which the verdict on a cell is based: its confirmation runs if `confirming`, else the rest."""
    purposes = (Purpose.CONFIRM,) if confirming else (Purpose.SCREEN, Purpose.BASELINE)
    return tuple(runs[run] for _, run in record.runs_of(cell, *purposes) if run in runs)


# -- result of a cell -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """The measured result of one cell."""

    cell: SweepCell
    """The cell that was measured."""
    scores: tuple[RunScore, ...] = ()
    """Metrics of the cell's completed runs, in the order of their steps."""
    figure: MeanInterval | None = None
    """Mean and interval of the ranking metric; None before the first run."""
    iops: float | None = None
    """Mean I/Os per second."""
    p99_ns: float | None = None
    """Geometric mean of the runs' 99th percentiles; None with too few I/Os."""
    mean_ns: float | None = None
    """Mean of the runs' mean latencies."""
    judgement: VerdictResult | None = None
    """Verdict against its baseline; None for a baseline, or if the cell or its baseline has no runs."""
    reads_by: tuple[tuple[str, float], ...] = ()
    """Kernel name of each member, and its mean share (0 to 1) of the reads; () for fewer than two counted members."""
    failures: tuple[str, ...] = ()
    """Reasons why steps of the cell failed."""
    notes: tuple[str, ...] = ()
    """Messages about values that were set but not effective, and about repeated runs."""
    weakened: tuple[Caveat, ...] = ()
    """Caveats of the cell's runs that weaken a verdict."""

    @property
    def value(self) -> float | None:
        """Mean of the ranking metric; None before the first run."""
        return None if self.figure is None else self.figure.mean
