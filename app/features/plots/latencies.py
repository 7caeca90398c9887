"""All latencies of the I/Os of each part, by percentile and by how many took how long. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.core.fio.histogram import Histogram
from app.core.session.results import DIRECTIONS
from app.features.plots.request import Made, NoPlotDataError, PlotRequest, count_text, failure_text, parts_to_draw
from app.features.plots.selection import PlacedRun, PlotSelection, completed
from widgets.plot_render.latencies import BEYOND, total_of
from widgets.plot_render.plot_data import MOST_CURVES, HistogramData, Latencies, PercentileData
from widgets.text_utils import units


def _latencies(subject: PlotSelection) -> tuple[tuple[Latencies, ...], str]:
    """Of each part all I/Os together, and of which direction; raises NothingError."""
    runs = completed(subject.runs)
    if not runs:
        raise NoPlotDataError(failure_text(subject.runs))
    both = len({name for placed in runs for name in DIRECTIONS if _bins([placed], name)}) > 1
    if both and len(subject.parts) == 1:
        series = [Latencies(name=f"{name}s", bins=_bins(runs, name)) for name in DIRECTIONS]
        return tuple(latencies for latencies in series if latencies.bins), ""
    side = _slower_direction(runs)
    series = [Latencies(name=part.name, bins=_bins(completed(part.runs), side)) for part in parts_to_draw(subject)]
    there = tuple(latencies for latencies in series if latencies.bins)
    if not there:
        raise NoPlotDataError(
            f"{subject.runs[0].run.id} kept no histogram of the latencies: an earlier version measured it."
        )
    if all(len(latencies.bins) == 1 for latencies in there) and len({latencies.bins[0][0] for latencies in there}) == 1:
        raise NoPlotDataError(f"All I/Os took {units.latency(there[0].bins[0][0])}: there is nothing to draw.")
    return there, f" of the {side}s" if both else ""


def _bins(runs: Iterable[PlacedRun], side: str) -> tuple[tuple[int, int], ...]:
    reported = (figures for placed in runs if (figures := placed.run.figures.side(side)) is not None)
    return Histogram.merged(Histogram(dict(figures.bins)) for figures in reported).bins


def merge_bins(runs: Sequence[PlacedRun], subject: PlotSelection) -> tuple[tuple[tuple[int, int], ...], str]:
    """All I/Os of some of the runs of a subject, in the direction in which it is compared; that direction."""
    side = _slower_direction(completed(subject.runs))
    return _bins(runs, side), side


def _slower_direction(runs: Sequence[PlacedRun]) -> str:
    """The direction with the higher tail, so that nothing bad hides behind the other."""
    tails = {
        name: max(
            (figures.latency_ns.p99 or 0 for placed in runs if (figures := placed.run.figures.side(name))), default=-1
        )
        for name in DIRECTIONS
    }
    return max(tails, key=lambda name: tails[name])


def percentiles(request: PlotRequest) -> Made:
    """Each part a curve, as far as its I/Os carry it. Raises NothingError."""
    subject = request.subject
    series, of = _latencies(subject)
    enough = tuple(latencies for latencies in series if total_of(latencies.bins) > 2 * BEYOND)
    if not enough:
        raise NoPlotDataError("Too few I/Os for percentiles.", "2 goes to Bench: a longer run has more.")
    title = f"{subject.about}: latency{of} by percentile{count_text(subject)}"
    return title, PercentileData(series=enough), _left_out_text(subject, len(series))


def histogram(request: PlotRequest) -> Made:
    """The first part filled, the others over it. Raises NothingError."""
    subject = request.subject
    series, of = _latencies(subject)
    title = f"{subject.about}: latency{of}{count_text(subject)}"
    return title, HistogramData(series=series, log=bool(request.options.log)), _left_out_text(subject, len(series))


def _left_out_text(subject: PlotSelection, drawn: int) -> str:
    left = len(subject.parts) - drawn
    if left <= 0 or len(subject.parts) <= MOST_CURVES:
        return ""
    which = "best" if subject.results is not None else "first"
    return f"The {which} {drawn} of {len(subject.parts)}."
