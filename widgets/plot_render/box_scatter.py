"""Plots that compare configurations: box plots of their runs, or throughput against latency of each run."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from widgets.plot_render.axes import PlotAxis, amounts, ratios
from widgets.plot_render.axes_pane import PlotPane, single_cells
from widgets.plot_render.plot_data import BoxData, ScatterData, Unit
from widgets.plot_render.style import PlotStyle, legend
from widgets.text_utils.ticks import si_label, time_label

_WIDE = 4.0
"""If the maximum is more than this many times the minimum, the axis of a box plot is logarithmic."""

_FAR = 20.0
"""If the maximum is more than this many times the minimum, the throughput axis of a scatter plot is logarithmic."""


def paint_boxes(data: BoxData, style: PlotStyle) -> list[str]:
    """Return horizontal box plots with quartiles, median and whiskers. A sign for each run is below its box."""
    values = [value for lot in data.lots for value in lot.values]
    names = _names(data, style.width * 2 // 5)
    gutter = max(map(len, names))
    height = max(1, min(6, (style.height - 3) // len(data.lots)))
    lots, names = data.lots[: style.height - 3], names[: style.height - 3]
    most = max(3, (style.width - gutter) // 12)
    wide = not data.zero and min(values) > 0 and (data.log or min(values) * _WIDE < max(values))
    x = ratios(values, most, data.unit.tick) if wide else amounts(values, most, data.unit.tick, zero=data.zero)
    begin_text = f" (the axis begins at {data.unit.tick(float(f'{x.low:.3g}'))})" if x.low > 0 else ""
    rows = height * len(lots)
    middles = [rows - 1 - at * height - (height - 1) // 2 for at in range(len(lots))]
    y = PlotAxis(low=0.0, high=max(1.0, rows - 1.0), ticks=tuple(zip(map(float, middles), names, strict=True)))
    label = f"{data.unit.value}{begin_text}, box: quartiles and median"
    pane = PlotPane(style, rows + 3, x, y, label=label, gutter=gutter)
    for index, (lot, row) in enumerate(zip(lots, middles, strict=True)):
        _box(pane, lot.values, row, height, index)
    return pane.build()


def _names(data: BoxData, width: int) -> list[str]:
    """Return the row headings: name and median of each sample, in aligned columns."""
    medians = [data.unit.text(statistics.median(lot.values)) for lot in data.lots]
    median_width = max(map(len, medians))
    names = [single_cells(lot.name, width - median_width - 2) for lot in data.lots]
    widest = max(map(len, names))
    return [f"{name:<{widest}}  {median:>{median_width}}" for name, median in zip(names, medians, strict=True)]


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
    """Return the minimum, the three quartiles and the maximum. There must be at least one value."""
    if len(values) == 1:
        return (values[0],) * 5
    first, middle, third = statistics.quantiles(values, n=4, method="inclusive")
    return min(values), first, middle, third, max(values)


def paint_scatter(data: ScatterData, style: PlotStyle) -> list[str]:
    """Return a scatter plot of p99 (vertical) against throughput. Each configuration has its own sign and colour."""
    head = legend(style, [(cloud.name, "") for cloud in data.clouds], joined=False)
    height = style.height - len(head)
    points = [point for cloud in data.clouds for point in cloud.points]
    across, up = ([point[at] for point in points] for at in (0, 1))
    most = style.width // 12
    wide = min(across) > 0 and min(across) * _FAR < max(across)
    x = ratios(across, most, si_label) if wide else amounts(across, most, si_label)
    label = f"{Unit.LATENCY.value}, by {data.unit.value}: right and low is better"
    pane = PlotPane(style, height, x, ratios(up, height // 2, time_label), label=label)
    for index, cloud in enumerate(data.clouds):
        pane.signs(cloud.points, index)
    return [*head, *pane.build()]
