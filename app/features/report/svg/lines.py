"""Draws lines over a common x axis as SVG."""

from __future__ import annotations

from collections.abc import Iterator

from app.features.report.graph import MOST_LINES, AxisUnit, GraphLine, LineGraph, Spacing
from app.features.report.svg.elements import LETTER, TOP, WIDTH, Svg, frame_svg, line, path, rect, tag, text
from app.features.report.svg.scales import Scale

_LEFT, _RIGHT, _HEIGHT = 62, 14, 200
_LEGEND = 20
_MARKED = 7
"""Approximate number of markers along a line with many points."""
_CAP = 4
"""Half of the width of an interval's end caps, in pixels."""

_NAMES = {AxisUnit.MIB_PER_S: "MiB/s", AxisUnit.SECONDS: "s", AxisUnit.PERCENT: "%"}


def line_svg(graph: LineGraph, *, standalone: bool = False) -> Svg:
    """Return the graph as SVG."""
    shown = graph.series[:MOST_LINES]
    x = Scale(graph.x, [at for series in shown for at, _ in series.points])
    x.set_range(_LEFT, WIDTH - _RIGHT)
    ends = [end for series in shown for spread in series.spread if spread is not None for end in spread]
    heights = [*(y for series in shown for _, y in series.points if y is not None), *ends]
    y = Scale(graph.y, heights, zero=graph.from_zero and graph.y.spacing is Spacing.LINEAR)
    legend, rows = _legend(shown)
    top = TOP + rows * _LEGEND + 20
    bottom = top + _HEIGHT
    y.set_range(bottom, top)
    parts = [*legend, *_shaded_area(graph, x, top, bottom), *_axes(graph, x, y, top, bottom)]
    for number, series in enumerate(shown):
        parts += _line_elements(series, number, x, y)
    return frame_svg(graph, bottom + 44, *parts, standalone=standalone)


def _legend(shown: tuple[GraphLine, ...]) -> tuple[list[Svg], int]:
    """Return the legend, and the number of rows that it takes. A single line has no legend."""
    if len(shown) < 2:
        return [], 0
    parts: list[Svg] = []
    at, row = 4.0, 0
    for number, series in enumerate(shown):
        width = 40 + len(series.name) * LETTER
        if at + width > WIDTH and at > 4:
            at, row = 4.0, row + 1
        y = TOP + row * _LEGEND + 4
        if series.joined:
            parts.append(line(at, y, at + 28, y, f"curve c{number}"))
        parts.append(marker(number, at + 14, y))
        parts.append(text(series.name, at + 34, y + 4))
        at += width + 12
    return parts, row + 1


def _shaded_area(graph: LineGraph, x: Scale, top: float, bottom: float) -> Iterator[Svg]:
    if graph.shaded is None:
        return
    start, end = (x.position(edge) for edge in graph.shaded)
    yield rect(start, top, end - start, bottom - top, "shade")
    if end - start > len(graph.shaded_as) * LETTER + 6:
        yield text(graph.shaded_as, (start + end) / 2, bottom - 6, "soft", anchor="middle")


def _axes(graph: LineGraph, x: Scale, y: Scale, top: float, bottom: float) -> Iterator[Svg]:
    for mark in y.marks:
        at = y.position(mark)
        yield line(_LEFT, at, WIDTH - _RIGHT, at, "grid")
        yield text(y.label(mark), _LEFT - 6, at + 4, "soft", anchor="end")
    last = -100.0
    for mark in x.marks:
        at, label = x.position(mark), x.label(mark)
        yield line(at, bottom, at, bottom + 4, "axis")
        half = len(label) * LETTER / 2
        if at - half < last + 4:
            continue
        yield text(label, at, bottom + 17, "soft", anchor="middle" if at + half < WIDTH else "end")
        last = at + half
    yield line(_LEFT, bottom, WIDTH - _RIGHT, bottom, "axis")
    yield text(_axis_name(graph.y.label, graph.y.unit), 0, top - 11, "soft")
    yield text(_axis_name(graph.x.label, graph.x.unit), WIDTH - _RIGHT, bottom + 35, "soft", anchor="end")


def _axis_name(label: str, unit: AxisUnit) -> str:
    name = _NAMES.get(unit, "")
    return f"{label} ({name})" if name and name not in label else label


def _line_elements(series: GraphLine, number: int, x: Scale, y: Scale) -> Iterator[Svg]:
    placed = [None if value is None else (x.position(at), y.position(value)) for at, value in series.points]
    if series.joined:
        yield path(placed, f"curve c{number}")
    for (at, _), ends in zip(series.points, series.spread, strict=False):
        if ends is not None:
            yield from _whisker(x.position(at), y.position(ends[0]), y.position(ends[1]), f"bar b{number}")
    points = [point for point in placed if point is not None]
    every = 1 if series.measured else max(1, len(points) // _MARKED)
    # Shift the markers of each line, so that overlapping lines can be distinguished.
    start = 0 if series.measured else (number * every // MOST_LINES + every // 2) % max(1, every)
    if len(points) == 1 or series.measured or len(points) > _MARKED:
        for px, py in points[start::every]:
            yield marker(number, px, py)


def _whisker(x: float, low: float, high: float, kind: str) -> Iterator[Svg]:
    """Yield the elements of an interval: a line with end caps."""
    yield line(x, low, x, high, kind)
    yield from (line(x - _CAP, end, x + _CAP, end, kind) for end in (low, high))


def marker(number: int, x: float, y: float) -> Svg:
    """Return the marker of the line with this number, at this position. Each line has its own shape."""
    kind = f"mark m{number}"
    match number % MOST_LINES:
        case 0:
            return tag("circle", class_=kind, cx=x, cy=y, r=3)
        case 1:
            return tag("rect", class_=kind, x=x - 2.7, y=y - 2.7, width=5.4, height=5.4)
        case 2:
            return tag("path", class_=kind, d=_polygon(x, y, ((0, -3.6), (3.4, 2.6), (-3.4, 2.6))))
        case 3:
            return tag("path", class_=kind, d=_polygon(x, y, ((0, -3.8), (3.8, 0), (0, 3.8), (-3.8, 0))))
        case 4:
            return tag("path", class_=kind, d=_polygon(x, y, ((0, 3.6), (3.4, -2.6), (-3.4, -2.6))))
        case _:
            return tag("path", class_=kind, d=f"M{x - 3:.1f} {y - 3:.1f}l6 6m0-6l-6 6")


def _polygon(x: float, y: float, corners: tuple[tuple[float, float], ...]) -> str:
    return "M" + "L".join(f"{x + dx:.1f} {y + dy:.1f}" for dx, dy in corners) + "Z"
