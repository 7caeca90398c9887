"""Draws a heat map as SVG."""

from __future__ import annotations

from app.features.report.graph import HeatMap
from app.features.report.svg.elements import TOP, WIDTH, Svg, frame_svg, rect, text, wrap

_SIDE, _CELL, _ROW, _LINE = 150.0, 74.0, 34.0, 13.0
_HEAD_LINES = 4

# Samples of the colour map cividis (Nunez, Anderton, Renslow 2018). Its lightness increases evenly for all kinds of
# colour vision.
_RAMP = ((0, 34, 78), (53, 69, 108), (102, 105, 112), (148, 142, 119), (200, 184, 102), (254, 232, 56))


def heat_svg(graph: HeatMap, *, standalone: bool = False) -> Svg:
    """Return the heat map as SVG. With many columns, it is wider than other graphs."""
    cell = max(_CELL, (WIDTH - _SIDE - 4) / max(1, len(graph.columns)))
    width = _SIDE + 4 + cell * len(graph.columns)
    heads = [wrap(column, int(cell / 6.2), _HEAD_LINES) for column in graph.columns]
    top = TOP + max((len(head) for head in heads), default=1) * _LINE + 4
    parts: list[Svg] = []
    for at, head in enumerate(heads):
        for number, label in enumerate(reversed(head)):
            y = top - 6 - number * _LINE
            parts.append(text(label, _SIDE + cell * (at + 0.5), y, "mono", anchor="middle"))
    shares = [[_share_at(graph, row, column) for column in range(len(graph.columns))] for row in range(len(graph.rows))]
    least = min((share for line in shares for share in line if share is not None), default=0.0)
    # The darkest colour is the lowest share, rounded down to a tenth, so that small differences are visible.
    floor = min(0.9, int(least * 10) / 10)
    for at, row in enumerate(graph.rows):
        y = top + at * _ROW
        side = wrap(row, int(_SIDE / 6.2), 2)
        first = y + _ROW / 2 + 4 - (len(side) - 1) * _LINE / 2
        parts += [text(label, 0, first + number * _LINE, "mono") for number, label in enumerate(side)]
        for column in range(len(graph.columns)):
            share = shares[at][column]
            box = (_SIDE + column * cell, y, cell)
            colour = None if share is None else _colour((share - floor) / (1 - floor))
            parts += _cell(box, colour, graph.texts[at][column], best=(at, column) in graph.framed)
    height = top + len(graph.rows) * _ROW + 30
    parts += _key(width, height - 20, floor)
    return frame_svg(graph, height, *parts, standalone=standalone, width=width)


def _cell(box: tuple[float, float, float], colour: tuple[int, ...] | None, label: str, *, best: bool) -> list[Svg]:
    x, y, width = box
    middle = (x + width / 2, y + _ROW / 2 + 4)
    if colour is None:
        return [rect(x, y, width, _ROW, "none"), text(label or "-", *middle, "soft", anchor="middle")]
    ink = "#ffffff" if sum(colour) / 3 < 115 else "#000000"
    shown = text(label, *middle, "best" if best else "", anchor="middle", style=f"fill:{ink}")
    parts = [rect(x, y, width, _ROW, "cell", fill=_hex(colour)), shown]
    return [*parts, rect(x + 2, y + 2, width - 4, _ROW - 4, "frame")] if best else parts


def _key(width: float, y: float, floor: float) -> list[Svg]:
    """Return the legend for the colours and frames."""
    left = width - 4 - 52 - 130
    boxes = [rect(left + step * 13, y, 13, 10, "", fill=_hex(_colour(step / 9))) for step in range(10)]
    low = text(f"{floor * 100:.0f} %", left - 6, y + 9, "soft", anchor="end")
    high = text("the best", width - 4, y + 9, "soft", anchor="end")
    return [
        low,
        *boxes,
        high,
        text("framed: the best, and cells that are not significantly different", 4, y + 9, "soft"),
    ]


def _share_at(graph: HeatMap, row: int, column: int) -> float | None:
    """Return how close a cell comes to the best value of its row or column, from 0 to 1; None if not measured."""
    value = graph.cells[row][column]
    if value is None:
        return None
    line = graph.cells[row] if graph.along_rows else [cells[column] for cells in graph.cells]
    results = [other for other in line if other is not None]
    if graph.lower_is_better:
        return min(results) / value if value else 1.0
    return value / max(results) if max(results) else 0.0


def _colour(share: float) -> tuple[int, ...]:
    at = min(max(share, 0.0), 1.0) * (len(_RAMP) - 1)
    low = min(int(at), len(_RAMP) - 2)
    rest = at - low
    return tuple(round(a + (b - a) * rest) for a, b in zip(_RAMP[low], _RAMP[low + 1], strict=True))


def _hex(colour: tuple[int, ...]) -> str:
    return "#" + "".join(f"{part:02x}" for part in colour)
