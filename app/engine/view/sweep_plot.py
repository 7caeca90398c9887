"""The graph of a sweep on a screen: how a workload bears load, else figures over a field of the job. Pure."""

from __future__ import annotations

from app.engine.session.sweep_record import SweepRecord
from app.engine.session.sweep_steps import SweepCell
from app.engine.sweep.cells import CellResult
from app.engine.sweep.load_curve import curves, number_of, numeric_field
from app.engine.sweep.results import Results
from app.engine.sweep.saturation import family
from app.engine.view.load_curve import curve_plot, search_plot
from app.engine.view.plot import PlotLine, PlotPoint, PlotView
from app.engine.view.sweep import RANK_TITLES, figure_text
from widgets.plain.ticks import si_label

MOST_LINES = 4
"""More cannot be told apart."""


def alone(record: SweepRecord) -> bool:
    """Whether a sweep is a search or a curve of a single cell: then there is no matrix to look at."""
    return record.design.saturation is not None and len(record.design.cells) == 1


def sweep_plot(found: Results, cell: SweepCell | None) -> PlotView | None:
    """What is known of how the cell's workload bears load; where nothing is, the figures over a field of the job."""
    if cell is not None:
        curve = next((one for one in found.load_curves if family(one.cell) == family(cell)), None)
        if curve is not None:
            return curve_plot(curve)
        searched = next((one for one in found.saturated if family(one.cell) == family(cell)), None)
        if searched is not None and len(searched.points) > 1:
            return search_plot(searched)
    return _lines_plot(found)


def _lines_plot(found: Results) -> PlotView | None:
    field = numeric_field(found.cells)
    lines = [] if field is None else [(name, line) for name, line in curves(found.cells).items() if len(line) > 2]
    if field is None or not 0 < len(lines) <= MOST_LINES:
        return None
    drawn = [PlotLine(name=name or line[0].cell.row, points=_points(line, field)) for name, line in lines]
    places = [point.x for line in drawn for point in line.points]
    return PlotView(
        title=f"{RANK_TITLES[found.rank]} by {field}",
        lines=tuple(line for line in drawn if line.points),
        x_text=si_label,
        y_text=lambda value: figure_text(value, found.rank),
        x_log=bool(places) and min(places) > 0 and max(places) / min(places) > 10,
    )


def _points(line: list[CellResult], field: str) -> tuple[PlotPoint, ...]:
    found = []
    for one in line:
        seen = one.figure
        if seen is not None:
            low, high = (None, None) if seen.half is None else (max(0.0, seen.mean - seen.half), seen.mean + seen.half)
            found.append(PlotPoint(x=number_of(one.cell.job[field]), y=seen.mean, low=low, high=high))
    return tuple(sorted(found, key=lambda point: point.x))
