"""Draws means with their intervals as SVG."""

from __future__ import annotations

from app.features.report.graph import AxisUnit, IntervalGraph, Spacing, Whisker
from app.features.report.svg.elements import LETTER, TOP, WIDTH, Svg, frame_svg, line, rect, shorten, text
from app.features.report.svg.lines import marker
from app.features.report.svg.scales import Scale

_LEFT, _RIGHT, _ROW = 20, 20, 38


def interval_svg(graph: IntervalGraph, *, standalone: bool = False) -> Svg:
    """Return the graph as SVG. The text of each row is above its interval, so that it may be long."""
    scale = Scale(graph.axis, _values(graph), zero=True, most=7).set_range(_LEFT, WIDTH - _RIGHT)
    bottom = TOP + len(graph.rows) * _ROW + 6
    parts: list[Svg] = []
    if graph.threshold is not None:
        low, high = scale.position(-graph.threshold), scale.position(graph.threshold)
        parts.append(rect(low, TOP, high - low, bottom - TOP, "shade"))
    for mark in scale.marks:
        at = scale.position(mark)
        parts.append(line(at, TOP, at, bottom, "grid"))
        parts.append(text(_label(graph, scale, mark), at, bottom + 15, "soft", anchor="middle"))
    if graph.zero:
        parts.append(line(scale.position(0), TOP, scale.position(0), bottom, "zero"))
    for number, row in enumerate(graph.rows):
        parts += _row(row, TOP + number * _ROW, scale)
    parts.append(text(graph.axis.label, WIDTH - 4, bottom + 33, "soft", anchor="end"))
    return frame_svg(graph, bottom + 42, *parts, standalone=standalone)


def _values(graph: IntervalGraph) -> list[float]:
    numbers = [value for row in graph.rows for value in (row.mean, row.low, row.high) if value is not None]
    return numbers if graph.threshold is None else [*numbers, -2 * graph.threshold, 2 * graph.threshold]


def _label(graph: IntervalGraph, scale: Scale, mark: float) -> str:
    label = scale.label(mark)
    if graph.axis.unit is AxisUnit.PERCENT and graph.axis.spacing is not Spacing.RATIO:
        return f"{'+' if graph.zero and mark > 0 else ''}{label} %"
    return label


def _row(row: Whisker, top: float, scale: Scale) -> list[Svg]:
    room = int((WIDTH - 8) / LETTER) - len(row.text) - 2
    parts = [text(shorten(row.label, max(8, room)), 4, top + 14, "halo")]
    parts.append(text(row.text, WIDTH - 4, top + 14, "halo", anchor="end"))
    y = top + 26
    if row.low is not None and row.high is not None:
        low, high = scale.position(row.low), scale.position(row.high)
        parts.append(line(low, y, high, y, "curve c0"))
        parts += [line(end, y - 5, end, y + 5, "curve c0") for end in (low, high)]
    parts.append(marker(0, scale.position(row.mean), y))
    return parts
