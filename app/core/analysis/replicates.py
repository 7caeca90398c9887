"""Repeats of a run: the mean of what they measured, and how far it may be off. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from app.core.analysis.metric_kinds import FIGURES, MetricKind
from app.core.analysis.sample_groups import Condition, condition, repeats
from app.core.analysis.stats import MeanInterval, mean_interval
from app.core.session.results import SIDES
from app.core.session.state import RunRecord


class Replicates:
    """Runs of one list by what was measured."""

    def __init__(self, runs: Sequence[RunRecord]) -> None:
        self._groups: dict[Condition, tuple[RunRecord, ...]] = repeats(runs)

    def of(self, run: RunRecord) -> tuple[RunRecord, ...]:
        """The whole runs that measured the same as this one, itself included; none if it is not whole."""
        records = self._groups.get(condition(run), ())
        return records if run in records else ()

    @property
    def any(self) -> bool:
        """Whether anything was measured more than once."""
        return any(len(group) > 1 for group in self._groups.values())


def spread_of(runs: Sequence[RunRecord], direction: str, figure: MetricKind) -> MeanInterval | None:
    """Mean and 95 % interval of one figure; None where a run has none, or there is no run."""
    both = [run.figures.side(direction) for run in runs]
    values = [figure.read(figures) for figures in both if figures is not None]
    known = [value for value in values if value is not None]
    return mean_interval(known) if known and len(known) == len(runs) else None


def spreads(runs: Sequence[RunRecord]) -> tuple[tuple[str, MetricKind, MeanInterval], ...]:
    """Direction, figure and spread of all figures that repeats settle."""
    candidates = (
        (direction, figure, spread_of(runs, direction, figure))
        for direction in SIDES
        for figure in FIGURES
        if figure.judged and figure.of(direction)
    )
    return tuple((direction, figure, interval) for direction, figure, interval in candidates if interval is not None)
