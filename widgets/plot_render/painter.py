"""Paints static plots as rows of text."""

from __future__ import annotations

from dataclasses import replace

from widgets.plot_render.box_scatter import paint_boxes, paint_scatter
from widgets.plot_render.latencies import paint_histogram, paint_percentiles
from widgets.plot_render.plot_data import (
    BoxData,
    CurveData,
    Data,
    HistogramData,
    HistoryData,
    PercentileData,
    ScatterData,
    StaticPlot,
    TimelineData,
)
from widgets.plot_render.style import PlotStyle, fit_line, too_small
from widgets.plot_render.time_series import paint_curve, paint_history, paint_timeline
from widgets.text_utils.text import wrap

SIMULATED = "SIMULATED  "
"""Text before the title if the results are simulated."""


def paint(picture: StaticPlot, style: PlotStyle) -> list[str]:
    """Return the rows of a plot, or the wrapped reason why it cannot be drawn."""
    if picture.data is None or (reason := too_small(style)):
        return wrap(picture.why if picture.data is None else reason, style.width)[: max(1, style.height)]
    title = fit_line(f"{SIMULATED if picture.simulated else ''}{picture.title}", style.width)
    return style.terminal_rows([title, *_rows(picture.data, replace(style, height=style.height - 1))])


def _rows(data: Data, style: PlotStyle) -> list[str]:
    match data:
        case PercentileData():
            return paint_percentiles(data, style)
        case HistogramData():
            return paint_histogram(data, style)
        case BoxData():
            return paint_boxes(data, style)
        case ScatterData():
            return paint_scatter(data, style)
        case TimelineData():
            return paint_timeline(data, style)
        case CurveData():
            return paint_curve(data, style)
        case HistoryData():
            return paint_history(data, style)
