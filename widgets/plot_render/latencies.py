"""Plots of latencies: percentile curves and histograms."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from widgets.plot_render.axes import PlotAxis, amounts, ratios
from widgets.plot_render.axes_pane import PlotPane, nines
from widgets.plot_render.plot_data import Bins, HistogramData, Latencies, PercentileData
from widgets.plot_render.style import PlotStyle, legend
from widgets.text_utils import units
from widgets.text_utils.ticks import time_label

BEYOND = 10
"""A percentile is drawn only if at least this number of I/Os is beyond it."""

_PERCENTILES = ((0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99"), (0.99999, "p99.999"))
_IN_LEGEND = (0.5, 0.99, 0.999)

_EDGE = 0.0005
"""Share of the I/Os at each end that a histogram leaves out if its axis of shares is linear."""


def total_of(bins: Bins) -> int:
    """Return the number of I/Os in a histogram."""
    return sum(count for _, count in bins)


def quantile(bins: Bins, share: float) -> float:
    """Return the latency that this share of the I/Os does not exceed. The histogram must not be empty."""
    target, count_so_far = share * total_of(bins), 0
    for value, count in bins:
        count_so_far += count
        if count_so_far >= target:
            return float(value)
    return float(bins[-1][0])


def percentile_points(bins: Bins) -> Iterator[tuple[int, float]]:
    """Yield the points of a percentile curve: the number of I/Os up to a latency, and that latency.

    The fastest percent of the I/Os is left out, because it would take half of the height.
    """
    total, passed = total_of(bins), 0
    for value, count in bins:
        passed += count
        if total - passed < BEYOND:
            return
        if passed * 100 >= total:
            yield passed, float(value)


def paint_percentiles(data: PercentileData, style: PlotStyle) -> list[str]:
    """Return a plot of percentile curves. Each additional nine has the same width, and latencies are logarithmic."""
    curves = [_nines_curve(latencies.bins) for latencies in data.series]
    end = max(1.0, *(curve[-1][0] for curve in curves))
    ticks = [(0.0, "p0"), *((nines(share), name) for share, name in _PERCENTILES if nines(share) <= end)]
    head = legend(style, [(latencies.name, _percentiles_text(latencies)) for latencies in data.series], joined=True)
    height = style.height - len(head)
    y = ratios((value for curve in curves for _, value in curve), height // 2, time_label)
    pane = PlotPane(style, height, PlotAxis(low=0.0, high=end, ticks=tuple(ticks)), y)
    for index, curve in enumerate(curves):
        pane.line(curve, index)
    for index, (latencies, curve) in enumerate(zip(data.series, curves, strict=True)):
        shares = [share for share, _ in _PERCENTILES if nines(share) <= curve[-1][0]]
        pane.signs([(nines(share), quantile(latencies.bins, share)) for share in shares], index)
    return [*head, *pane.build()]


def _percentiles_text(latencies: Latencies) -> str:
    """Return p50, p99 and p99.9 for the legend. Percentiles with fewer than ten I/Os beyond them are left out."""
    names, total = dict(_PERCENTILES), total_of(latencies.bins)
    percentile_points = [share for share in _IN_LEGEND if total * (1 - share) >= BEYOND]
    return "  ".join(
        f"{names[share]} {units.latency(quantile(latencies.bins, share)):>7}" for share in percentile_points
    )


def _nines_curve(bins: Bins) -> list[tuple[float, float]]:
    """Return the points of a percentile curve as nines and latency. At least ten I/Os are beyond each point."""
    total = total_of(bins)
    return [(nines(passed / total), value) for passed, value in percentile_points(bins)] or [(0.0, float(bins[0][0]))]


def paint_histogram(data: HistogramData, style: PlotStyle) -> list[str]:
    """Return a plot of histograms: the share of the I/Os per column. The first is filled, the others are lines."""
    labels = [_counts_text(latencies) for latencies in data.series]
    head = legend(
        style, [(latencies.name, text) for latencies, text in zip(data.series, labels, strict=True)], joined=True
    )
    edge = 0.0 if data.log else _EDGE
    ends = [quantile(latencies.bins, share) for latencies in data.series for share in (edge, 1 - edge)]
    height = style.height - len(head)
    x = ratios(ends, style.width // 12, time_label)
    columns = PlotPane(style, height, x, PlotAxis(low=0.0, high=1.0)).columns
    spread = [shares(latencies.bins, x, columns) for latencies in data.series]
    filled = [share for row in spread for share in row if share > 0] or [1.0]
    if data.log:
        y = ratios(filled, height // 3, lambda share: f"{share * 100:.6f}".rstrip("0").rstrip(".") + " %")
    else:
        y = amounts(filled, max(3, height // 4), lambda share: f"{share * 100:.3g} %")
    both = ", both logarithmic" if data.log else ""
    pane = PlotPane(style, height, x, y, label=f"share of the I/Os in each column, by latency{both}")
    _fill(pane, spread[0])
    for index, row in enumerate(spread[1:], 1):
        pane.line([(x.value(column / (columns - 1)), max(share, y.low)) for column, share in enumerate(row)], index)
    return [*head, *pane.build()]


def _counts_text(latencies: Latencies) -> str:
    middle, slow = (units.latency(quantile(latencies.bins, share)) for share in (0.5, 0.99))
    return f"p50 {middle:>7}  p99 {slow:>7}  {units.iops(total_of(latencies.bins)):>5} I/Os"


def _fill(pane: PlotPane, spread: Sequence[float]) -> None:
    """Draw a bar in each column, with a resolution of an eighth of a cell."""
    steps = " #" if pane.look.ascii else " ▁▂▃▄▅▆▇█"
    cells = []
    for column, share in enumerate(spread):
        if share > 0:
            # The position of a value is the middle of its row, so a bar from the bottom edge is half a row longer.
            height = pane.y.share(share) * (pane.rows - 1)
            full, part = divmod(height + 0.5 if height > 0.06 else height, 1.0)
            cells += [(column, row, steps[-1]) for row in range(int(full))]
            top = steps[round(part * (len(steps) - 1))]
            cells += [(column, int(full), top)] if top != " " else []
    pane.marks(cells, 0)


def shares(bins: Bins, x: PlotAxis, columns: int) -> list[float]:
    """Return the share of the I/Os in each column of a logarithmic axis. The I/Os of a bin are spread over its width.

    fio divides each power of two of nanoseconds into 64 bins (`FIO_IO_U_PLAT_BITS` 6 in fio's stat.h).
    """
    numbers, total = [0.0] * columns, total_of(bins)
    for value, count in bins:
        half = 2.0 ** (math.floor(math.log2(max(value, 128))) - 7)
        left, right = (_place(max(edge, 1.0), x, columns) for edge in (value - half, value + half))
        width = right - left
        for column in range(max(0, math.floor(left)), min(columns - 1, math.floor(right)) + 1):
            numbers[column] += count / total * (min(right, column + 1) - max(left, column)) / width
    return numbers


def _place(value: float, x: PlotAxis, columns: int) -> float:
    """Return the position of a latency in columns. It may be outside of the axis."""
    return math.log(value / x.low) / math.log(x.high / x.low) * (columns - 1) + 0.5
