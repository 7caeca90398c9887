"""A picture as rows of text: the one place where any of them is painted."""

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
"""Before the title of what was not measured on hardware."""


def paint(picture: StaticPlot, look: PlotStyle) -> list[str]:
    """Return the rows of a picture, no more and no wider than asked for; a sentence where it cannot be drawn."""
    if picture.data is None or (why := too_small(look)):
        return wrap(picture.why if picture.data is None else why, look.width)[: max(1, look.height)]
    title = fit_line(f"{SIMULATED if picture.simulated else ''}{picture.title}", look.width)
    return look.terminal_rows([title, *_rows(picture.data, replace(look, height=look.height - 1))])


def _rows(data: Data, look: PlotStyle) -> list[str]:
    match data:
        case PercentileData():
            return paint_percentiles(data, look)
        case HistogramData():
            return paint_histogram(data, look)
        case BoxData():
            return paint_boxes(data, look)
        case ScatterData():
            return paint_scatter(data, look)
        case TimelineData():
            return paint_timeline(data, look)
        case CurveData():
            return paint_curve(data, look)
        case HistoryData():
            return paint_history(data, look)
