"""What is known of one cell of a sweep. Pure."""

from __future__ import annotations

from app.engine.judge.stats import Spread
from app.engine.judge.verdict import Judgement
from app.engine.session.sweep_steps import SweepCell
from app.engine.sweep.scores import Score
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """What is known of one cell."""

    cell: SweepCell
    """Which."""
    scores: tuple[Score, ...] = ()
    """Its completed runs, in the order of their steps."""
    figure: Spread | None = None
    """What it is ranked by, over its runs: mean and interval; None before the first."""
    iops: float | None = None
    """Mean I/Os per second."""
    p99_ns: float | None = None
    """Geometric mean of the runs' 99th percentiles; None with too few I/Os."""
    mean_ns: float | None = None
    """Mean of the runs' mean latencies."""
    judgement: Judgement | None = None
    """Against its baseline; None for a baseline and where one of both has no runs."""
    reads_by: tuple[tuple[str, float], ...] = ()
    """Share of the reads that each of several members served, on average, by kernel name; empty where not counted."""
    failures: tuple[str, ...] = ()
    """Reasons of steps that failed."""
    notes: tuple[str, ...] = ()
    """What was in force otherwise than set, why there is no verdict, what weakens one."""

    @property
    def value(self) -> float | None:
        """What it is ranked by."""
        return None if self.figure is None else self.figure.mean
