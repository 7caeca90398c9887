"""Plots with one value per run: a box for each configuration, and throughput against latency. No I/O."""

from __future__ import annotations

from app.features.plots.request import (
    NoPlotDataError,
    PlotContent,
    PlotRequest,
    by_field_text,
    count_text,
    failure_text,
    value_of,
    values_of,
)
from app.features.plots.selection import MOST_SIGNS, RunGroup, completed_runs, short_target
from app.features.sweep.engine.cells import score_of
from widgets.plot_render.plot_data import BoxData, BoxSample, ScatterData, ScatterSample, Unit


def boxes(request: PlotRequest) -> PlotContent:
    """Return a box plot with a box for the runs of each part of the selection. Raises NoPlotDataError if there is
    nothing to draw.
    """
    subject, options = request.subject, request.options
    values = [(part.name, values_of(part.runs, options.unit)) for part in subject.parts]
    lots = tuple(BoxSample(name=name, values=numbers) for name, numbers in values if numbers)
    every = [value for lot in lots for value in lot.values]
    if not every:
        raise NoPlotDataError(failure_text(subject.runs, f"No run has a {options.unit.value}."))
    if len(every) == 1:
        raise NoPlotDataError(
            "One run has no spread.", "Press <app.runs> to mark more runs, or <app.bench> for an A/B experiment."
        )
    if len(set(every)) == 1:
        raise NoPlotDataError(
            f"All {len(every)} runs have {_with_unit(every[0], options.unit)}, so there is no spread to draw.",
            "Press <explore.figure> for another metric.",
        )
    title = f"{subject.about}: {options.unit.value}{by_field_text(subject)}{count_text(subject)}"
    return title, BoxData(lots=lots, unit=options.unit, zero=options.zero, log=bool(options.log)), ""


def _with_unit(value: float, unit: Unit) -> str:
    return unit.text(value) if unit is Unit.LATENCY else f"{unit.text(value)} {unit.value}"


def scatter(request: PlotRequest) -> PlotContent:
    """Return a scatter plot with throughput and p99 of every run. Runs at other loads and in other sessions are
    included if known.

    Raises NoPlotDataError if there is nothing to draw.
    """
    subject, options = request.subject, request.options
    unit = Unit.RATE if options.unit is Unit.RATE else Unit.IOPS
    clouds = [
        ScatterSample(name=part.name, points=points)
        for part in subject.every or subject.parts
        if (points := _points(part, unit))
    ]
    every = {point for cloud in clouds for point in cloud.points}
    if not clouds:
        raise NoPlotDataError(failure_text(subject.runs, "Too few I/Os for a p99 of any run."))
    if len(every) == 1:
        raise NoPlotDataError(
            "There is only one data point.",
            "Press <app.runs> to mark more runs, or <explore.earlier> for all sessions.",
        )
    ranked = sorted(clouds, key=lambda cloud: len(cloud.points), reverse=True)
    shown = [cloud for cloud in clouds if cloud in ranked[:MOST_SIGNS]]
    left = len(clouds) - len(shown)
    loads = {placed.run.start.title for part in subject.every for placed in part.runs}
    start = subject.runs[0].run.start
    about = f"{start.title.split(' · ')[0]}, {short_target(start.target)}" if len(loads) > 1 else subject.about
    where = " in all sessions" if subject.all_sessions else ""
    title = f"{about}{where}: {unit.value} and p99 of every run"
    note = f"The {len(shown)} configurations with most runs; {left} more are omitted." if left else ""
    return title, ScatterData(clouds=tuple(shown), unit=unit), note


def _points(part: RunGroup, unit: Unit) -> tuple[tuple[float, float], ...]:
    scores = (score_of(placed.run.figures) for placed in completed_runs(part.runs))
    pairs = ((value_of(score, unit), score.p99_ns) for score in scores if score is not None)
    return tuple((rate, float(tail)) for rate, tail in pairs if rate and tail)
