"""The graphs of saturation searches and of throughput-latency curves. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.report.graph import Axis, AxisUnit, GraphLine, LineGraph, Spacing
from app.engine.sweep.cells import LatencyFigure
from app.engine.sweep.load_curve import LoadCurve
from app.engine.sweep.results import Results
from app.engine.sweep.saturation import Saturated
from app.engine.view.load_curve import knee_words
from app.engine.view.sweep import cell_name

_HOW = "Requests came at random at the rates that were asked for; means of the runs with their 95 % intervals."
_NAMES = {LatencyFigure.MEAN: "mean", LatencyFigure.P50: "p50", LatencyFigure.P99: "p99", LatencyFigure.P99_9: "p99.9"}
_IOPS = Axis(label="IOPS", unit=AxisUnit.IOPS)


def load_graphs(found: Results, simulated: bool) -> list[LineGraph]:
    """Latency by the IOPS that were reached under asked rates, IOPS by the depths of a search."""
    graphs = []
    for number, curve in enumerate(found.load_curves, 1):
        graphs.append(
            LineGraph(
                key=f"curve-{number}",
                title=f"Latency by IOPS: {cell_name(found, curve.cell)}",
                about=f"{knee_words(curve)} {_HOW}",
                x=_IOPS,
                y=Axis(label="Latency", unit=AxisUnit.LATENCY, spacing=Spacing.LOG),
                series=tuple(line for figure in _NAMES if (line := _latencies(curve, figure)).points),
                shaded=_knee(curve),
                shaded_as="knee",
                simulated=simulated,
            )
        )
    for number, one in enumerate(found.saturated, 1):
        line = _depths(one)
        if len(line.points) > 2:
            graphs.append(
                LineGraph(
                    key=f"saturation-{number}",
                    title=f"IOPS by queue depth: {cell_name(found, one.cell)}",
                    about="The depths that a search tried; means of the runs with their 95 % intervals.",
                    x=Axis(label="queue depth", spacing=Spacing.LOG, at=tuple(x for x, _ in line.points)),
                    y=_IOPS,
                    series=(line,),
                    simulated=simulated,
                )
            )
    return graphs


def _knee(curve: LoadCurve) -> tuple[float, float] | None:
    """Where it lies, as far as the points reach: an axis ends there."""
    if curve.knee is None:
        return None
    farthest = max((point.reached.mean for point in curve.points if point.reached is not None), default=curve.knee.high)
    return curve.knee.low, min(curve.knee.high, farthest)


def _latencies(curve: LoadCurve, figure: LatencyFigure) -> GraphLine:
    """A latency against the IOPS that were reached, with its interval where there is one."""
    found = []
    for point in sorted(curve.points, key=lambda each: 0.0 if each.reached is None else each.reached.mean):
        seen = point.latency(figure)
        if point.reached is not None and seen is not None:
            ends = None if seen.low is None or seen.high is None else (seen.low, seen.high)
            found.append((point.reached.mean, seen.mean, ends))
    return _measured(_NAMES[figure], found)


def _depths(one: Saturated) -> GraphLine:
    """The IOPS of each depth that was tried."""
    found = [
        (
            float(point.depth),
            seen.mean,
            None if seen.half is None else (max(0.0, seen.mean - seen.half), seen.mean + seen.half),
        )
        for point in one.points
        if (seen := point.iops) is not None
    ]
    return _measured("IOPS", found)


def _measured(name: str, found: Sequence[tuple[float, float, tuple[float, float] | None]]) -> GraphLine:
    points, ends = tuple((x, y) for x, y, _ in found), tuple(end for _, _, end in found)
    return GraphLine(name=name, points=points, measured=True, spread=ends)
