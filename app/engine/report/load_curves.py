"""The graphs of saturation searches and of throughput-latency curves. Pure."""

from __future__ import annotations

from app.engine.report.graph import Axis, AxisUnit, GraphLine, LineGraph, Spacing
from app.engine.sweep.cells import LatencyFigure
from app.engine.sweep.load_curve import LoadCurve
from app.engine.sweep.results import Results
from app.engine.view.load_curve import curve_plot, knee_words, search_plot
from app.engine.view.plot import PlotLine
from app.engine.view.sweep import cell_name

_HOW = "Requests came at random at the rates that were asked for; means of the runs with their 95 % intervals."
_IOPS = Axis(label="IOPS", unit=AxisUnit.IOPS)


def load_graphs(found: Results, simulated: bool) -> list[LineGraph]:
    """Latency by the IOPS that were reached under asked rates, IOPS by the depths of a search."""
    graphs = []
    for number, curve in enumerate(found.load_curves, 1):
        view = curve_plot(curve, tuple(LatencyFigure))
        graphs.append(
            LineGraph(
                key=f"curve-{number}",
                title=f"{view.title}: {cell_name(found, curve.cell)}",
                about=f"{knee_words(curve)} {_HOW}",
                x=_IOPS,
                y=Axis(label="Latency", unit=AxisUnit.LATENCY, spacing=Spacing.LOG),
                series=tuple(map(_line, view.lines)),
                shaded=_knee(curve),
                shaded_as="knee",
                simulated=simulated,
            )
        )
    for number, one in enumerate(found.saturated, 1):
        view = search_plot(one)
        depths = tuple(point.x for line in view.lines for point in line.points)
        if len(depths) > 2:
            graphs.append(
                LineGraph(
                    key=f"saturation-{number}",
                    title=f"{view.title}: {cell_name(found, one.cell)}",
                    about="The depths that a search tried; means of the runs with their 95 % intervals.",
                    x=Axis(label="queue depth", spacing=Spacing.LOG, at=depths),
                    y=_IOPS,
                    series=tuple(map(_line, view.lines)),
                    simulated=simulated,
                )
            )
    return graphs


def _knee(curve: LoadCurve) -> tuple[float, float] | None:
    """Where it lies, as far as the points reach: an axis ends there."""
    if curve.knee is None:
        return None
    farthest = max((one.reached.mean for one in curve.points if one.reached is not None), default=curve.knee.high)
    return curve.knee.low, min(curve.knee.high, farthest)


def _line(line: PlotLine) -> GraphLine:
    ends = [None if each.low is None or each.high is None else (each.low, each.high) for each in line.points]
    points = tuple((each.x, each.y) for each in line.points)
    return GraphLine(name=line.name, points=points, measured=True, spread=tuple(ends))
