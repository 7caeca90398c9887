"""History plot: one job on one target over all sessions. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from app.core.analysis.past_runs.series import Difference, RunSeries, SeriesPoint, run_differences
from app.core.presentation.figures import figure_label
from app.core.presentation.labels import key_name, key_value, setting_text
from app.features.plots.request import MEBI, NoPlotDataError, PlotContent, PlotRequest
from app.features.plots.selection import PlotSelection
from widgets.plot_render.plot_data import HistoryData, HistoryEpoch, MeasuredPoint, Unit
from widgets.text_utils import units


def history(request: PlotRequest) -> PlotContent:
    """Return a plot of the selection's runs by date. Raises NoPlotDataError if there is nothing to draw."""
    subject, options = request.subject, request.options
    series = subject.series
    if series is None:
        if not subject.all_sessions:
            raise NoPlotDataError("Only one session is included.", "Press <explore.earlier> for all sessions.")
        raise NoPlotDataError("Nothing to draw: there is no complete run outside an A/B experiment or a sweep.")
    if len(series.runs) == 1:
        raise NoPlotDataError("There is only one run so far. A history needs two.")
    unit = {"iops": Unit.IOPS, "bytes_per_second": Unit.RATE}.get(series.runs[0].about.key, Unit.LATENCY)
    scale = MEBI if unit is Unit.RATE else 1.0
    data = HistoryData(
        stages=_stages(series, scale),
        unit=unit,
        band=_band(subject, scale),
        marks=tuple(_marks(series)),
        zero=options.zero,
    )
    notes = ["One session."] if len({run.session for run in series.runs}) == 1 else []
    if subject.passed_over:
        left = units.plural(subject.passed_over, "run is", "runs are")
        notes.append(f"{left} not drawn: failed, stopped, or part of an A/B experiment or a sweep.")
    title = f"{subject.about}: {figure_label(series.runs[0].about)} in all sessions"
    return title, data, " ".join(notes)


def _stages(series: RunSeries, scale: float) -> tuple[HistoryEpoch, ...]:
    groups: dict[tuple[tuple[str, str], ...], list[SeriesPoint]] = {}
    for point in series.points:
        groups.setdefault(tuple(sorted(point.runs[0].settings.items())), []).append(point)
    keys = [key for key in dict(next(iter(groups))) if len({dict(group).get(key) for group in groups}) > 1]
    epoches = []
    for settings, points in groups.items():
        lines = [setting_text(key, dict(settings).get(key)) for key in keys]
        epoches.append(
            HistoryEpoch(name=units.first_of(lines, 2), points=tuple(_point(point, scale) for point in points))
        )
    return tuple(epoches)


def _point(point: SeriesPoint, scale: float) -> MeasuredPoint:
    values = [run.value / scale for run in point.runs if run.value is not None]
    return MeasuredPoint(x=point.runs[0].at, mean=point.value / scale, low=min(values), high=max(values))


def _band(subject: PlotSelection, scale: float) -> tuple[float, float] | None:
    """Return the lowest and the highest result among the repeats of the baseline run, divided by `scale`; None without
    a baseline.
    """
    baseline, series = subject.baseline, subject.series
    if baseline is None or series is None:
        return None
    repeats = [run for run in series.runs if (run.session, run.settings) == (baseline.session, baseline.settings)]
    values = [run.value / scale for run in repeats if run.value is not None]
    return (min(values), max(values)) if values else None


def _marks(series: RunSeries) -> Iterable[tuple[float, str]]:
    """Yield time and text of each mark. A mark is between two points if the conditions or the level of the results
    changed from one to the other.
    """
    levels = {change.first.name: change.shift.interval.percent for change in series.changes}
    for before, after in pairwise(series.points):
        first = after.runs[0]
        percent, differs = levels.get(first.name), run_differences(before.runs[-1], first)
        if percent is not None or differs:
            parts = [] if percent is None else [f"{percent:+.1f} %"]
            parts += [_first_difference(differs)] if differs else []
            yield (before.runs[-1].at + first.at) / 2, ", ".join(parts)


def _first_difference(differs: Sequence[Difference]) -> str:
    """Return a string with the first difference and the number of the others."""
    key, _, after = differs[0]
    more = f" and {len(differs) - 1} more" if len(differs) > 1 else ""
    return f"{key_name(key)} {key_value(key, after)}{more}"
