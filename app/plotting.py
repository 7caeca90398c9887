"""A graph of the views drawn as text with plotext, for the command line and the screens: it stands still."""

from __future__ import annotations

import math
from collections.abc import Sequence

from app.engine.view.plot import PlotView
from widgets.scale import AxisSpan, fit

_COLORS = ("cyan+", "orange+", "green+", "magenta+")
_ASCII_SIGNS = ("*", "o", "x", "#")
_ASCII_BAR = "|"
_TICK_CELLS = 14
"""Cells that a tick of the horizontal axis has for itself."""

_TICK_ROWS = 3
_AIR = 1.04
"""A point on the frame cannot be told from the frame."""


def drawn(view: PlotView, width: int, height: int, *, ascii_only: bool = False) -> str:
    """The rows with ANSI colours; "" where there is nothing to draw."""
    points = [point for line in view.lines for point in line.points]
    if not points:
        return ""
    import plotext

    marks = [] if view.mark is None else [view.mark[0]]
    heights = [end for point in points for end in (point.y, point.low, point.high) if end is not None]
    across = _tight([*(point.x for point in points), *marks], log=view.x_log)
    upwards = fit(heights, log=view.y_log)
    plotext.clear_figure()
    plotext.theme("clear")
    plotext.limit_size(False, False)  # by the terminal, of which it knows nothing here
    plotext.plot_size(width, height)
    plotext.title(view.title)
    for index, line in enumerate(view.lines):
        color = _COLORS[index % len(_COLORS)]
        for point in line.points:
            if point.low is not None and point.high is not None:
                ends = [_place(upwards, point.low), _place(upwards, point.high)]
                bar = _ASCII_BAR if ascii_only else "braille"
                plotext.plot([_place(across, point.x)] * 2, ends, color=color, marker=bar)
        plotext.plot(
            [_place(across, point.x) for point in line.points],
            [_place(upwards, point.y) for point in line.points],
            label=line.name,
            color=color,
            marker=_ASCII_SIGNS[index % len(_ASCII_SIGNS)] if ascii_only else "braille",
        )
    if view.mark is not None:
        plotext.vline(_place(across, view.mark[0]))
    plotext.xlim(_place(across, across.low), _place(across, across.high))
    plotext.ylim(_place(upwards, upwards.low), _place(upwards, upwards.high))
    xs, ys = across.ticks(max(2, width // _TICK_CELLS)), upwards.ticks(max(2, height // _TICK_ROWS))
    plotext.xticks([_place(across, tick) for tick in xs], [view.x_text(tick) for tick in xs])
    plotext.yticks([_place(upwards, tick) for tick in ys], [view.y_text(tick) for tick in ys])
    if view.mark is not None:
        plotext.xlabel(view.mark[1])
    text: str = plotext.build()
    plotext.clear_figure()
    return text


def _tight(values: Sequence[float], *, log: bool) -> AxisSpan:
    """From 0, or the least where equal distances are ratios, to the most: a place for every point, and no more."""
    low, high = min(values), max(values)
    if log and low > 0:
        return AxisSpan(low=low / _AIR, high=high * _AIR, log=True)
    return AxisSpan(low=min(0.0, low), high=high * _AIR if high > 0 else 1.0)


def _place(span: AxisSpan, value: float) -> float:
    """Where plotext has a value: it draws every axis evenly."""
    return math.log10(max(value, span.low)) if span.log else value
