"""A graph of the views as the plots of the screens draw it, and as text for the command line: it stands still."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from app.engine.view.plot import PlotLine, PlotView
from widgets.chart_data import ChartData, Reference, Series, TimeMark
from widgets.plain.text import clean, shorten
from widgets.plot import Plot, sample
from widgets.scale import AxisSpan

COLORS = ("$text-primary", "$text-warning", "$text-success", "$text-secondary")
"""Of the lines, in their order; an error bar has that of its line."""

_AIR = 1.04
"""A point on the frame cannot be told from the frame."""

_MOST_TICKS = 9


def chart_of(view: PlotView, *, ascii: bool, above: tuple[Series, ...] = ()) -> ChartData:
    """What a graph shows; without any line where there is nothing to draw. `above`: drawn over its points."""
    points = [point for line in view.lines for point in line.points]
    if not points:
        return ChartData(waiting=view.empty)
    across = _across(view)
    bars = (series for at, line in enumerate(view.lines) for series in _bars(line, across, COLORS[at % len(COLORS)]))
    lines = (
        Series(
            name=line.name,
            points=tuple((place(across, point.x), point.y) for point in line.points),
            color=COLORS[at % len(COLORS)],
            joined=line.joined,
            whole=not line.joined,
        )
        for at, line in enumerate(view.lines)
    )
    band = view.band
    return ChartData(
        series=(*bars, *lines, *above),
        references=() if band is None else (Reference(label=band.name, value=band.middle, half=band.half),),
        marks=tuple(
            TimeMark(at=place(across, mark.x), sign=mark.sign.shown(ascii=ascii), words=mark.words, bad=mark.bad)
            for mark in view.marks
        ),
        x_ticks=tuple((place(across, tick), view.x_text(tick)) for tick in view.x_ticks or across.ticks(_MOST_TICKS)),
        x_label=view.x_label,
        x_max=1.0,
        y_format=view.y_text,
    )


def _across(view: PlotView) -> AxisSpan:
    """The horizontal axis: from 0, or the least where equal distances are ratios, with a place for every point."""
    values = [*(point.x for line in view.lines for point in line.points), *(mark.x for mark in view.marks)]
    low, high = min(values), max(values)
    if view.x_log and low > 0:
        return AxisSpan(low=low / _AIR, high=high * _AIR, log=True)
    return AxisSpan(low=min(0.0, low), high=view.x_high or (high * _AIR if high > 0 else 1.0))


def place(span: AxisSpan, x: float) -> float:
    """Where a value stands, as a share of the axis."""
    if span.log:
        return math.log10(max(x, span.low) / span.low) / span.span
    return (x - span.low) / span.span


def _bars(line: PlotLine, across: AxisSpan, color: str) -> Iterator[Series]:
    """From end to end of the interval of each point; nothing where no point has one."""
    ends: list[tuple[float, float | None]] = []
    for point in line.points:
        if point.low is not None and point.high is not None and point.low < point.high:
            x = place(across, point.x)
            ends += [(x, point.low), (x, point.high), (x, None)]
    if ends:
        yield Series(name="", points=tuple(ends), color=color, whole=True)


def drawn(view: PlotView, width: int, height: int, *, ascii_only: bool = False) -> list[str]:
    """Its rows under a title and a legend; none where there is nothing to draw."""
    data = chart_of(view, ascii=ascii_only)
    if not data.series:
        return []
    rows = Plot().draw(data, width, height - 1, log=view.y_log, ascii_only=ascii_only)
    head = "   ".join((clean(view.title), *_legend(data.series, view, ascii_only=ascii_only)))
    return [shorten(head, width), *(row.rstrip() for row, _ in rows)]


def _legend(series: Sequence[Series], view: PlotView, *, ascii_only: bool) -> Iterator[str]:
    """What stands for what; nothing where one line needs no name."""
    shown = [(at, one) for at, one in enumerate(series) if one.name]
    if len(shown) > 1:
        yield from (f"{sample(tuple(series), at, ascii_only=ascii_only)} {clean(one.name)}" for at, one in shown)
    if view.band is not None:
        yield f"{'::' if ascii_only else '░░'} {clean(view.band.name)}"
