"""How set-ups differ: a box for each with its runs, and the throughput of every run against its latency."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from widgets.plot_render.axes import PlotAxis, amounts, ratios
from widgets.plot_render.axes_pane import PlotPane, narrow
from widgets.plot_render.plot_data import BoxData, ScatterData, Unit
from widgets.plot_render.style import PlotStyle, legend
from widgets.text_utils.ticks import si_label, time_label

_WIDE = 4.0
"""Greatest by smallest value from which an axis is one of ratios."""

_FAR = 20.0
"""The same of an axis that else begins at 0."""


def paint_boxes(what: BoxData, look: PlotStyle) -> list[str]:
    """Lying boxes from quartile to quartile with the median, whiskers to the ends, every run below as a sign."""
    values = [value for lot in what.lots for value in lot.values]
    names = _names(what, look.width * 2 // 5)
    gutter = max(map(len, names))
    each = max(1, min(6, (look.height - 3) // len(what.lots)))
    lots, names = what.lots[: look.height - 3], names[: look.height - 3]
    room = max(3, (look.width - gutter) // 12)
    wide = not what.zero and min(values) > 0 and (what.log or min(values) * _WIDE < max(values))
    x = ratios(values, room, what.unit.tick) if wide else amounts(values, room, what.unit.tick, zero=what.zero)
    begins = f" (the axis begins at {what.unit.tick(float(f'{x.low:.3g}'))})" if x.low > 0 else ""
    rows = each * len(lots)
    middles = [rows - 1 - at * each - (each - 1) // 2 for at in range(len(lots))]
    y = PlotAxis(low=0.0, high=max(1.0, rows - 1.0), ticks=tuple(zip(map(float, middles), names, strict=True)))
    label = f"{what.unit.value}{begins}, box: middle half and median"
    pane = PlotPane(look, rows + 3, x, y, label=label, gutter=gutter)
    for place, (lot, row) in enumerate(zip(lots, middles, strict=True)):
        _box(pane, lot.values, row, each, place)
    return pane.built()


def _names(what: BoxData, most: int) -> list[str]:
    """Name and median of each, in columns."""
    medians = [what.unit.text(statistics.median(lot.values)) for lot in what.lots]
    figures = max(map(len, medians))
    names = [narrow(lot.name, most - figures - 2) for lot in what.lots]
    widest = max(map(len, names))
    return [f"{name:<{widest}}  {median:>{figures}}" for name, median in zip(names, medians, strict=True)]


def _box(pane: PlotPane, values: Sequence[float], row: int, each: int, place: int) -> None:
    least, first, middle, third, greatest = map(pane.column, five(values))
    pane.stretch(row, least, greatest, "─", place)
    pane.marks([(least, row, "├"), (greatest, row, "┤")], place)
    rows = (row - 1, row, row + 1) if each >= 5 else (row,)
    for number in rows:
        pane.stretch(number, first, third, "▒", place)
        pane.marks([(middle, number, "┃")])
    if each > 1:
        pane.marks([(pane.column(value), rows[0] - 1, pane.look.sign(place)) for value in values], place)


def five(values: Sequence[float]) -> tuple[float, float, float, float, float]:
    """The least, the quartiles and the greatest of one value or more."""
    if len(values) == 1:
        return (values[0],) * 5
    first, middle, third = statistics.quantiles(values, n=4, method="inclusive")
    return min(values), first, middle, third, max(values)


def paint_scatter(what: ScatterData, look: PlotStyle) -> list[str]:
    """Throughput across, p99 up, a sign and a colour for each set-up: right and low is good."""
    head = legend(look, [(cloud.name, "") for cloud in what.clouds], joined=False)
    height = look.height - len(head)
    points = [point for cloud in what.clouds for point in cloud.points]
    across, up = ([point[at] for point in points] for at in (0, 1))
    room = look.width // 12
    wide = min(across) > 0 and min(across) * _FAR < max(across)
    x = ratios(across, room, si_label) if wide else amounts(across, room, si_label)
    label = f"{Unit.LATENCY.value}, by {what.unit.value}: right and low is good"
    pane = PlotPane(look, height, x, ratios(up, height // 2, time_label), label=label)
    for place, cloud in enumerate(what.clouds):
        pane.signs(cloud.points, place)
    return [*head, *pane.built()]
