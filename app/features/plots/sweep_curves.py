"""Curves of a sweep along a numeric axis. No I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from app.core.analysis.stats import MeanInterval, mean_interval
from app.core.presentation.labels import field_name
from app.core.session.sweep_steps import Rank
from app.features.plots.box_scatter import boxes
from app.features.plots.request import (
    UNITS,
    NoPlotDataError,
    PlotContent,
    PlotOptions,
    PlotRequest,
    count_text,
    value_of,
)
from app.features.plots.selection import PlotSelection
from app.features.sweep.engine.cells import CellResult, LatencyFigure, latency
from app.features.sweep.engine.load_curve import LoadCurve, Measured, curves, numeric_field, values_along
from app.features.sweep.engine.saturation import SaturationResult
from widgets.plot_render.plot_data import MOST_CURVES, CurveData, CurveLine, MeasuredPoint, Unit


def curve(request: PlotRequest) -> PlotContent:
    """Return a plot of the load curve of a sweep. If it has none, plot the metric by a numeric job field, else a
    saturation search, else boxes.

    Raises NoPlotDataError if there is nothing to draw.
    """
    subject, options = request.subject, request.options
    results = subject.results
    if results is None:
        raise NoPlotDataError("A curve needs a sweep; the selection is not a sweep.", "<app.sweep> shows sweeps.")
    if results.load_curves:
        return _load_curve(subject, results.load_curves[0], options)
    field = numeric_field(results.cells)
    lines = {} if field is None else {name: line for name, line in curves(results.cells).items() if len(line) > 1}
    if field is not None and lines:
        return _field_curves(subject, field, lines, options)
    searched = next((search for search in results.saturated if len(search.points) > 1), None)
    if searched is not None:
        return _saturation_curve(subject, searched, options)
    unit = UNITS[results.rank] if options.unit is Unit.IOPS else options.unit
    title, data, _ = boxes(replace(request, options=replace(options, unit=unit)))
    return (
        title,
        data,
        "There is no curve, because no numeric setting with three or more values was swept.",
    )


def _field_curves(
    subject: PlotSelection, field: str, lines: dict[str, list[CellResult]], options: PlotOptions
) -> PlotContent:
    unit = Unit.RATE if subject.results is not None and subject.results.rank is Rank.BANDWIDTH else options.unit
    unit = Unit.IOPS if unit is Unit.LATENCY else unit
    drawn = [
        CurveLine(
            name=name or line[0].cell.row,
            rates=_points_of(values_along(field, line, lambda cell_result: _rates(cell_result, unit))),
            latencies=_points_of(
                values_along(field, line, lambda cell_result: latency(cell_result.scores, LatencyFigure.P99))
            ),
        )
        for name, line in lines.items()
    ]
    kept = tuple(line for line in drawn if line.rates or line.latencies)[:MOST_CURVES]
    steps = tuple(sorted({point.x for line in kept for point in (*line.rates, *line.latencies)}))
    if len(steps) < 2:
        raise NoPlotDataError("Only one value was measured so far. A curve needs two.", "<app.sweep> shows the sweep.")
    name = field_name(field)
    title = f"{subject.about}: {unit.value} and p99 by {name}{count_text(subject)}"
    note = f"Only the first {len(kept)} of {len(drawn)} lines are drawn." if len(drawn) > len(kept) else ""
    return title, CurveData(lines=kept, across=name, unit=unit, steps=steps, log=options.log is not False), note


def _rates(cell_result: CellResult, unit: Unit) -> MeanInterval | None:
    values = [value for score in cell_result.scores if (value := value_of(score, unit)) is not None]
    return mean_interval(values) if values else None


def _points_of(pairs: Iterable[tuple[float, Measured]]) -> tuple[MeasuredPoint, ...]:
    measured = ((x, value.mean, value.ends or (value.mean, value.mean)) for x, value in pairs if value is not None)
    return tuple(MeasuredPoint(x=x, mean=mean, low=low, high=high) for x, mean, (low, high) in measured)


def _load_curve(subject: PlotSelection, loads: LoadCurve, options: PlotOptions) -> PlotContent:
    lines = tuple(
        CurveLine(name=name, latencies=_points_of(loads.latencies(figure)))
        for figure, name in ((LatencyFigure.MEAN, "mean"), (LatencyFigure.P99, "p99"))
    )
    kept = tuple(line for line in lines if len(line.latencies) > 1)
    if not kept:
        raise NoPlotDataError("Only one load was measured so far. A curve needs two.", "<app.sweep> shows the sweep.")
    knee = None if loads.knee is None else (loads.knee.rate, loads.knee.low, loads.knee.high)
    title = f"{subject.about} at rising load: latency by the IOPS reached{count_text(subject)}"
    data = CurveData(lines=kept, across="IOPS reached", unit=Unit.IOPS, knee=knee, log=options.log is not False)
    return title, data, ""


def _saturation_curve(subject: PlotSelection, search: SaturationResult, options: PlotOptions) -> PlotContent:
    line = CurveLine(
        name="",
        rates=_points_of((float(point.depth), point.iops) for point in search.points),
        latencies=_points_of((float(point.depth), point.p99_ns) for point in search.points),
    )
    steps = tuple(sorted({point.x for point in (*line.rates, *line.latencies)}))
    if len(steps) < 2:
        raise NoPlotDataError(
            "Only one queue depth was measured so far. A curve needs two.", "<app.sweep> shows the sweep."
        )
    title = f"{subject.about}: IOPS and p99 by queue depth"
    log = options.log is not False
    return title, CurveData(lines=(line,), across="queue depth", unit=Unit.IOPS, steps=steps, log=log), ""
