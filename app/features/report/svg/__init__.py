"""Draws graphs as SVG, without scripts or external resources."""

from __future__ import annotations

from app.features.report.graph import Graph, HeatMap, IntervalGraph, LineGraph
from app.features.report.svg.elements import Svg
from app.features.report.svg.heat import heat_svg
from app.features.report.svg.intervals import interval_svg
from app.features.report.svg.lines import line_svg


def to_svg(graph: Graph, *, standalone: bool = False) -> Svg:
    """Return the graph as an SVG element. With `standalone`, it is a complete file that includes its style sheet."""
    match graph:
        case LineGraph():
            return line_svg(graph, standalone=standalone)
        case HeatMap():
            return heat_svg(graph, standalone=standalone)
        case IntervalGraph():
            return interval_svg(graph, standalone=standalone)
