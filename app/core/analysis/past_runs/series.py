"""The runs of one condition: as a series in time, where its level changed, how far repeats lay apart. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from app.core.analysis.comparison import differing_values
from app.core.analysis.control_chart import ControlChart, night_chart
from app.core.analysis.drift import Shift, shifts
from app.core.analysis.noise import RunNoise, noise_of
from app.core.analysis.past_runs.earlier_runs import Condition, PastRun
from app.core.analysis.stats import geometric_mean
from app.core.session.results import RunStatus
from backends.values import dataclass

Difference = tuple[str, str | None, str | None]
"""What differs, before, after; None where it was not recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesPoint:
    """What counts as one measurement: the runs that one session made with the same settings."""

    runs: tuple[PastRun, ...]
    """At least one, in their order."""

    @property
    def value(self) -> float:
        """Geometric mean of their headlines."""
        return geometric_mean([run.value for run in self.runs if run.value is not None])


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelChange:
    """A change of level among the points of a series."""

    shift: Shift
    """How much, and between which points."""
    first: PastRun
    """The first run after it."""
    differs: tuple[Difference, ...]
    """Settings, kernel, firmware, fio that differ between the runs on both sides of it."""


@dataclass(frozen=True, kw_only=True)
class RunSeries:
    """All runs of one condition that count."""

    runs: tuple[PastRun, ...]
    """Oldest first; not none."""

    @cached_property
    def points(self) -> tuple[SeriesPoint, ...]:
        """Runs of one session are more alike than those of several: together one point, unless there is one session."""
        if len({run.session for run in self.runs}) == 1:
            return tuple(SeriesPoint(runs=(run,)) for run in self.runs)
        groups: dict[tuple[str, tuple[tuple[str, str], ...]], list[PastRun]] = {}
        for run in self.runs:
            groups.setdefault((run.session, tuple(sorted(run.settings.items()))), []).append(run)
        return tuple(SeriesPoint(runs=tuple(group)) for group in groups.values())

    @cached_property
    def changes(self) -> tuple[LevelChange, ...]:
        """Where its level changed."""
        found_shifts = shifts([point.value for point in self.points])
        return tuple(self._change(shift) for shift in found_shifts)

    @cached_property
    def chart(self) -> ControlChart:
        """Whether a loss began or goes on at its last point, held against all before it that were not alarmed."""
        return night_chart(
            [[run.value for run in point.runs if run.value is not None] for point in self.points],
            higher_is_better=self.runs[0].about.higher_is_better,
            judged_early=False,
        )

    def _change(self, shift: Shift) -> LevelChange:
        last, first = self.points[shift.at - 1].runs[-1], self.points[shift.at].runs[0]
        return LevelChange(shift=shift, first=first, differs=run_differences(last, first))


def run_differences(a: PastRun, b: PastRun) -> tuple[Difference, ...]:
    """Settings and what else figures hang on that the two runs do not agree on."""
    if a.settings is b.settings and a.around is b.around:  # as the index reads most of them
        return ()
    return (*differing_values(a.settings, b.settings), *differing_values(a.around, b.around))


def series_of(runs: Iterable[PastRun]) -> Mapping[Condition, RunSeries]:
    """The runs that count, by what was measured; of those with several kinds of headline the kind of the last."""
    groups: dict[Condition, list[PastRun]] = {}
    for run in runs:
        if run.counts:
            groups.setdefault(run.condition, []).append(run)
    return {
        condition: RunSeries(runs=tuple(run for run in group if run.kind == group[-1].kind))
        for condition, group in groups.items()
    }


def changed_since_before(runs: Sequence[PastRun]) -> Mapping[str, tuple[Difference, ...]]:
    """By name of each run: what differs from the run before on the same thing; of the first nothing."""
    last_runs: dict[tuple[bool, str], PastRun] = {}
    differences: dict[str, tuple[Difference, ...]] = {}
    for run in runs:
        before = last_runs.get((run.simulated, run.thing))
        differences[run.name] = () if before is None else run_differences(before, run)
        last_runs[run.simulated, run.thing] = run
    return differences


def noise_of_condition(condition: Condition, runs: Iterable[PastRun]) -> RunNoise | None:
    """From whole runs of this condition; those of one session with the same settings repeat each other.

    Runs with what was only tried count, too: they repeat each other as much.
    """
    groups: dict[object, list[float]] = {}
    for run in runs:
        if run.condition == condition and run.status == RunStatus.OK and not run.forbidden and run.value:
            key = (run.session, run.kind, tuple(sorted(run.settings.items())))
            groups.setdefault(key, []).append(run.value)
    return noise_of(groups.values())
