"""How set-ups differ: a box for each with its runs, and the throughput of every run against its latency."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from widgets.plot_render.axes import PlotAxis, amounts, ratios
from widgets.plot_render.axes_pane import PlotPane, single_cells
from widgets.plot_render.plot_data import BoxData, ScatterData, Unit
from widgets.plot_render.style import PlotStyle, legend
from widgets.text_utils.ticks import si_label, time_label

_WIDE = 4.0
"""Greatest by smallest value from which an axis is one of ratios."""

_FAR = 20.0
"""The same of an axis that else begins at 0."""


def paint_boxes(data: BoxData, look: PlotStyle) -> list[str]:
    """Lying boxes from quartile to quartile with the median, whiskers to the ends, every run below as a sign."""
    values = [value for lot in data.lots for value in lot.values]
    names = _names(data, look.width * 2 // 5)
    gutter = max(map(len, names))
    height = max(1, min(6, (look.height - 3) // len(data.lots)))
    lots, names = data.lots[: look.height - 3], names[: look.height - 3]
    room = max(3, (look.width - gutter) // 12)
    wide = not data.zero and min(values) > 0 and (data.log or min(values) * _WIDE < max(values))
    x = ratios(values, room, data.unit.tick) if wide else amounts(values, room, data.unit.tick, zero=data.zero)
    begins = f" (the axis begins at {data.unit.tick(float(f'{x.low:.3g}'))})" if x.low > 0 else ""
    rows = height * len(lots)
    middles = [rows - 1 - at * height - (height - 1) // 2 for at in range(len(lots))]
    y = PlotAxis(low=0.0, high=max(1.0, rows - 1.0), ticks=tuple(zip(map(float, middles), names, strict=True)))
    label = f"{data.unit.value}{begins}, box: middle half and median"
    pane = PlotPane(look, rows + 3, x, y, label=label, gutter=gutter)
    for index, (lot, row) in enumerate(zip(lots, middles, strict=True)):
        _box(pane, lot.values, row, height, index)
    return pane.build()


def _names(data: BoxData, most: int) -> list[str]:
    """Name and median of each, in columns."""
    medians = [data.unit.text(statistics.median(lot.values)) for lot in data.lots]
    figures = max(map(len, medians))
    names = [single_cells(lot.name, most - figures - 2) for lot in data.lots]
    widest = max(map(len, names))
    return [f"{name:<{widest}}  {median:>{figures}}" for name, median in zip(names, medians, strict=True)]


def _box(pane: PlotPane, values: Sequence[float], row: int, height: int, series: int) -> None:
    least, first, middle, third, greatest = map(pane.column, five_numbers(values))
    pane.stretch(row, least, greatest, "─", series)
    pane.marks([(least, row, "├"), (greatest, row, "┤")], series)
    rows = (row - 1, row, row + 1) if height >= 5 else (row,)
    for number in rows:
        pane.stretch(number, first, third, "▒", series)
        pane.marks([(middle, number, "┃")])
    if height > 1:
        pane.marks([(pane.column(value), rows[0] - 1, pane.look.sign(series)) for value in values], series)


def five_numbers(values: Sequence[float]) -> tuple[float, float, float, float, float]:
    """Return the least, the quartiles and the greatest of one value or more."""
    if len(values) == 1:
        return (values[0],) * 5
    first, middle, third = statistics.quantiles(values, n=4, method="inclusive")
    return min(values), first, middle, third, max(values)


def paint_scatter(data: ScatterData, look: PlotStyle) -> list[str]:
    """Throughput across, p99 up, a sign and a colour for each set-up: right and low is good."""
    head = legend(look, [(cloud.name, "") for cloud in data.clouds], joined=False)
    height = look.height - len(head)
    points = [point for cloud in data.clouds for point in cloud.points]
    across, up = ([point[at] for point in points] for at in (0, 1))
    room = look.width // 12
    wide = min(across) > 0 and min(across) * _FAR < max(across)
    x = ratios(across, room, si_label) if wide else amounts(across, room, si_label)
    label = f"{Unit.LATENCY.value}, by {data.unit.value}: right and low is good"
    pane = PlotPane(look, height, x, ratios(up, height // 2, time_label), label=label)
    for index, cloud in enumerate(data.clouds):
        pane.signs(cloud.points, index)
    return [*head, *pane.build()]
