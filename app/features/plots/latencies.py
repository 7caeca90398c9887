"""Plots of all latencies of each part of a selection: by percentile, and as a histogram. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.core.fio.histogram import Histogram
from app.core.session.results import DIRECTIONS
from app.features.plots.request import (
    NoPlotDataError,
    PlotContent,
    PlotRequest,
    count_text,
    failure_text,
    parts_to_draw,
)
from app.features.plots.selection import PlacedRun, PlotSelection, completed_runs
from widgets.plot_render.latencies import BEYOND, total_of
from widgets.plot_render.plot_data import MOST_CURVES, HistogramData, Latencies, PercentileData
from widgets.text_utils import units


def _latencies(subject: PlotSelection) -> tuple[tuple[Latencies, ...], str]:
    """Return the latencies of all I/Os of each part, and the direction as a suffix such as ` of the reads` ("" if there
    is only one direction, or if both are drawn). Raises NoPlotDataError if there are no latencies.
    """
    runs = completed_runs(subject.runs)
    if not runs:
        raise NoPlotDataError(failure_text(subject.runs))
    both = len({name for placed in runs for name in DIRECTIONS if _bins([placed], name)}) > 1
    if both and len(subject.parts) == 1:
        series = [Latencies(name=f"{name}s", bins=_bins(runs, name)) for name in DIRECTIONS]
        return tuple(latencies for latencies in series if latencies.bins), ""
    side = _slower_direction(runs)
    series = [Latencies(name=part.name, bins=_bins(completed_runs(part.runs), side)) for part in parts_to_draw(subject)]
    drawn = tuple(latencies for latencies in series if latencies.bins)
    if not drawn:
        raise NoPlotDataError(
            f"{subject.runs[0].run.id} has no latency histogram: an earlier version of raidbench measured it."
        )
    if all(len(latencies.bins) == 1 for latencies in drawn) and len({latencies.bins[0][0] for latencies in drawn}) == 1:
        raise NoPlotDataError(f"Nothing to draw: all I/Os took {units.latency(drawn[0].bins[0][0])}.")
    return drawn, f" of the {side}s" if both else ""


def _bins(runs: Iterable[PlacedRun], side: str) -> tuple[tuple[int, int], ...]:
    reported = (figures for placed in runs if (figures := placed.run.figures.side(side)) is not None)
    return Histogram.merged(Histogram(dict(figures.bins)) for figures in reported).bins


def merge_bins(runs: Sequence[PlacedRun], subject: PlotSelection) -> tuple[tuple[tuple[int, int], ...], str]:
    """Return the merged histogram of `runs` in the slower direction of the whole selection, and that direction."""
    side = _slower_direction(completed_runs(subject.runs))
    return _bins(runs, side), side


def _slower_direction(runs: Sequence[PlacedRun]) -> str:
    """Return the direction with the highest p99, so that a faster direction does not hide it."""
    tails = {
        name: max(
            (figures.latency_ns.p99 or 0 for placed in runs if (figures := placed.run.figures.side(name))), default=-1
        )
        for name in DIRECTIONS
    }
    return max(tails, key=lambda name: tails[name])


def percentiles(request: PlotRequest) -> PlotContent:
    """Return a plot with a curve of latency by percentile per part, up to the highest percentile for which the part has
    enough I/Os.

    Raises NoPlotDataError if there is nothing to draw.
    """
    subject = request.subject
    series, of = _latencies(subject)
    enough = tuple(latencies for latencies in series if total_of(latencies.bins) > 2 * BEYOND)
    if not enough:
        raise NoPlotDataError("Too few I/Os for percentiles.", "Press <app.bench>: a longer run has more I/Os.")
    title = f"{subject.about}: latency{of} by percentile{count_text(subject)}"
    return title, PercentileData(series=enough), _left_out_text(subject, len(series))


def histogram(request: PlotRequest) -> PlotContent:
    """Return a plot with the latency histogram of each part. The first is filled, and the others are drawn over it as
    lines.

    Raises NoPlotDataError if there is nothing to draw.
    """
    subject = request.subject
    series, of = _latencies(subject)
    title = f"{subject.about}: latency{of}{count_text(subject)}"
    return title, HistogramData(series=series, log=bool(request.options.log)), _left_out_text(subject, len(series))


def _left_out_text(subject: PlotSelection, drawn: int) -> str:
    left = len(subject.parts) - drawn
    if left <= 0 or len(subject.parts) <= MOST_CURVES:
        return ""
    which = "best" if subject.results is not None else "first"
    return f"Only the {which} {drawn} of {len(subject.parts)} are drawn."
