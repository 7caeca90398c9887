"""Builds the picture of a selection, which has the data to draw, or the reason why there is nothing to draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from app.core.analysis.comparison import Comparison
from app.core.analysis.past_runs.earlier_runs import PastRun
from app.core.analysis.past_runs.series import series_of
from app.core.session.results import Sample
from app.core.session.state import RunRecord, Session
from app.features.plots.box_scatter import boxes, scatter
from app.features.plots.histories import history
from app.features.plots.latencies import histogram, percentiles
from app.features.plots.request import Intervals, NoPlotDataError, PlotContent, PlotOptions, PlotRequest, missing_text
from app.features.plots.selection import (
    PlacedRun,
    PlotSelection,
    select_experiment,
    select_runs_to_plot,
    select_sides,
    select_sweep,
    select_sweep_parts,
    short_target,
)
from app.features.plots.sweep_curves import curve
from app.features.plots.timelines import timeline
from widgets.plot_render.plot_data import StaticPlot, StaticPlotKind, Unit

_MAKERS: dict[StaticPlotKind, Callable[[PlotRequest], PlotContent]] = {
    StaticPlotKind.PERCENTILES: percentiles,
    StaticPlotKind.HISTOGRAM: histogram,
    StaticPlotKind.BOX: boxes,
    StaticPlotKind.SCATTER: scatter,
    StaticPlotKind.TIMELINE: timeline,
    StaticPlotKind.CURVE: curve,
    StaticPlotKind.HISTORY: history,
}


_PLAIN = PlotOptions()


def picture(
    subject: PlotSelection,
    kind: StaticPlotKind | None = None,
    options: PlotOptions = _PLAIN,
    intervals: Intervals = lambda _: (),
) -> StaticPlot:
    """Return the picture of a selection. Its kind is `kind`, or by default the most informative one.

    If there is nothing to draw, the picture has a reason instead of data. `intervals` is the function that reads the
    intervals of a run; by default, no intervals are read from disk.
    """
    request = PlotRequest(subject=subject, options=options, intervals=intervals)
    try:
        title, data, note = _MAKERS[kind or default_kind(subject)](request)
    except NoPlotDataError as nothing:
        return StaticPlot(title=subject.about, why=str(nothing), keys=nothing.keys, simulated=subject.simulated)
    others = f"Other workloads: {', '.join(subject.other_workloads)}." if subject.other_workloads else ""
    why = " ".join(filter(None, (note, missing_text(subject), others)))
    return StaticPlot(title=title, data=data, why=why, simulated=subject.simulated)


def empty_plots(subject: PlotSelection) -> dict[StaticPlotKind, StaticPlot]:
    """Return, by kind, those pictures of a selection that have no data. Timelines are not checked, because they need
    the intervals on disk.
    """
    pictures = {kind: picture(subject, kind) for kind in StaticPlotKind if kind is not StaticPlotKind.TIMELINE}
    return {kind: plot for kind, plot in pictures.items() if plot.data is None}


def default_kind(subject: PlotSelection) -> StaticPlotKind:
    """Return the most informative kind of picture: a curve for a sweep, a history for all sessions, percentiles for
    several groups such as the sides of an A/B, box plots for several runs of one group, a timeline for a single run.
    """
    if subject.results is not None:
        return StaticPlotKind.CURVE
    if subject.all_sessions:
        return StaticPlotKind.HISTORY
    if len(subject.parts) > 1:
        return StaticPlotKind.PERCENTILES
    return StaticPlotKind.BOX if len(subject.runs) > 1 else StaticPlotKind.TIMELINE


# -- pictures for screens outside this feature ------------------------------------------------------------------------


def run_picture(run: RunRecord, baseline: RunRecord | None) -> StaticPlot:
    """Return a picture with the latencies of a run by percentile, and those of the baseline if there is one."""
    placed = PlacedRun(run=run, folder=Path())
    subject = select_runs_to_plot([placed], None if baseline is None else PlacedRun(run=baseline, folder=Path()))
    return picture(subject, StaticPlotKind.PERCENTILES)


def sides_picture(
    comparison: Comparison,
    names: Sequence[str],
    folders: Sequence[Path],
    *,
    kind: StaticPlotKind | None,
    unit: Unit,
    intervals: Callable[[RunRecord, Path], Sequence[Sample]],
) -> StaticPlot:
    """Return a picture of the two sides of a comparison: by default the percentiles, or the timeline if only that has
    data.
    """
    subject, options = select_sides(comparison, names, folders), PlotOptions(unit=unit)

    def draw(kind: StaticPlotKind) -> StaticPlot:
        return picture(subject, kind, options, lambda placed: intervals(placed.run, placed.folder))

    first = draw(kind or StaticPlotKind.PERCENTILES)
    if kind is not None or first.data is not None:
        return first
    second = draw(StaticPlotKind.TIMELINE)
    return first if second.data is None else second


def sweep_picture(session: Session, folder: Path) -> StaticPlot | None:
    """Return the default picture of a sweep, or None if it has measured nothing."""
    subject = select_sweep(session, folder)
    return None if subject is None else picture(subject)


def history_picture(last: PastRun, runs: Sequence[PastRun], baseline: PastRun | None) -> StaticPlot:
    """Return a picture, by date, of `runs`, which have the same condition. No session is read for it.

    `last`: one of these runs. `baseline`: the run that they are compared with; None for none.
    """
    series = series_of(runs).get(last.condition)
    subject = PlotSelection(
        heading=f"{last.workload} on {short_target(last.target)}",
        about=f"{last.workload}, {short_target(last.target)}",
        parts=(),
        series=series,
        passed_over=len(runs) - (0 if series is None else len(series.runs)),
        baseline=baseline,
        all_sessions=True,
    )
    return replace(picture(subject, StaticPlotKind.HISTORY), simulated=any(run.simulated for run in runs))


def session_lines(
    session: Session, runs: Sequence[RunRecord], samples: Mapping[str, Sequence[Sample]], size: tuple[int, int]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield a heading and the text lines of each picture of a session: of each A/B, of its sweep, and of each run in
    `runs`.

    `samples` contains the intervals of runs, by id. `size` is the number of columns and rows.
    """
    from widgets.plot_render.painter import paint
    from widgets.plot_render.style import PlotStyle

    look = PlotStyle(width=size[0], height=size[1], palette=())
    for subject in _subjects(session, runs):
        shown = picture(subject, intervals=lambda placed: samples.get(placed.run.id, ()))
        if shown.data is not None:
            yield subject.heading, tuple(paint(shown, look))


def _subjects(session: Session, runs: Sequence[RunRecord]) -> Iterator[PlotSelection]:
    for record in session.experiments:
        if (subject := select_experiment(session, Path(), record)) is not None:
            yield subject
    yield from select_sweep_parts(session, Path())
    for run in runs:
        yield select_runs_to_plot([PlacedRun(run=run, folder=Path())])
