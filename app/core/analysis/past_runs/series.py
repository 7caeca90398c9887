"""The runs of one condition as a time series: changes of level, and the scatter of repeats. No I/O."""

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
"""A difference between two runs: key, value before, value after. A value is None if it was not recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesPoint:
    """One measurement of a series: the runs of one session with the same settings."""

    runs: tuple[PastRun, ...]
    """The runs in order; there is at least one."""

    @property
    def value(self) -> float:
        """Return the geometric mean of the headline metrics of the runs."""
        return geometric_mean([run.value for run in self.runs if run.value is not None])


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelChange:
    """A change of level in a series."""

    shift: Shift
    """Size of the change, and its position among the points."""
    first: PastRun
    """The first run after the change."""
    differs: tuple[Difference, ...]
    """Settings, kernel, firmware and fio that differ between the last run before the change and the first after it."""


@dataclass(frozen=True, kw_only=True)
class RunSeries:
    """All runs of one condition that show the normal performance of the device."""

    runs: tuple[PastRun, ...]
    """The runs, oldest first; there is at least one."""

    @cached_property
    def points(self) -> tuple[SeriesPoint, ...]:
        """Return the points: the runs of one session with the same settings are one point.

        If all runs are from one session, each run is a point.
        """
        if len({run.session for run in self.runs}) == 1:
            return tuple(SeriesPoint(runs=(run,)) for run in self.runs)
        groups: dict[tuple[str, tuple[tuple[str, str], ...]], list[PastRun]] = {}
        for run in self.runs:
            groups.setdefault((run.session, tuple(sorted(run.settings.items()))), []).append(run)
        return tuple(SeriesPoint(runs=tuple(group)) for group in groups.values())

    @cached_property
    def changes(self) -> tuple[LevelChange, ...]:
        """Return the changes of level in order of time."""
        return tuple(self._change(shift) for shift in shifts([point.value for point in self.points]))

    @cached_property
    def chart(self) -> ControlChart:
        """Return the control chart after the last point, which is compared with all earlier points without an alarm."""
        return night_chart(
            [[run.value for run in point.runs if run.value is not None] for point in self.points],
            higher_is_better=self.runs[0].about.higher_is_better,
            judged_early=False,
        )

    def _change(self, shift: Shift) -> LevelChange:
        last, first = self.points[shift.at - 1].runs[-1], self.points[shift.at].runs[0]
        return LevelChange(shift=shift, first=first, differs=run_differences(last, first))


def run_differences(a: PastRun, b: PastRun) -> tuple[Difference, ...]:
    """Return the settings, and other facts that affect results, that differ between two runs."""
    if a.settings is b.settings and a.around is b.around:  # the index uses one object for equal mappings
        return ()
    return (*differing_values(a.settings, b.settings), *differing_values(a.around, b.around))


def series_of(runs: Iterable[PastRun]) -> Mapping[Condition, RunSeries]:
    """Return the series of each condition, from runs that show normal performance (`PastRun.counts`).

    If runs of a condition have different headline metrics, the series has only those with the headline metric of the
    last run.
    """
    groups: dict[Condition, list[PastRun]] = {}
    for run in runs:
        if run.counts:
            groups.setdefault(run.condition, []).append(run)
    return {
        condition: RunSeries(runs=tuple(run for run in group if run.kind == group[-1].kind))
        for condition, group in groups.items()
    }


def changed_since_before(runs: Sequence[PastRun]) -> Mapping[str, tuple[Difference, ...]]:
    """Return, by name of the run, its differences from the previous run on the same device.

    The first run on a device has no differences.
    """
    last_runs: dict[tuple[bool, str], PastRun] = {}
    differences: dict[str, tuple[Difference, ...]] = {}
    for run in runs:
        before = last_runs.get((run.simulated, run.thing))
        differences[run.name] = () if before is None else run_differences(before, run)
        last_runs[run.simulated, run.thing] = run
    return differences


def noise_of_condition(condition: Condition, runs: Iterable[PastRun]) -> RunNoise | None:
    """Return the noise of the complete runs of this condition. Runs of one session with the same settings are repeats.

    Runs for which an experiment or sweep had changed a setting count too, because they are repeats of each other.
    """
    groups: dict[object, list[float]] = {}
    for run in runs:
        if run.condition == condition and run.status == RunStatus.OK and not run.forbidden and run.value:
            key = (run.session, run.kind, tuple(sorted(run.settings.items())))
            groups.setdefault(key, []).append(run.value)
    return noise_of(groups.values())
