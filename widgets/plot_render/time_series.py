"""Plots along an axis: a run over time, a sweep over its values, and a job over all sessions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

from widgets.plot_render.axes import PlotAxis, amounts, dates, ratios
from widgets.plot_render.axes_pane import GUTTER, PlotPane
from widgets.plot_render.plot_data import CourseInterval, CurveData, HistoryData, MeasuredPoint, TimelineData
from widgets.plot_render.style import BEHIND, PlotStyle, fit_line, legend
from widgets.text_utils import units
from widgets.text_utils.ticks import si_label, time_label

_Points = list[tuple[float, float]]

_MINUTES_FROM = 300.0
"""A time axis of at least this number of seconds is labelled in minutes."""


# -- a run over time --------------------------------------------------------------------------------------------------


def paint_timeline(data: TimelineData, style: PlotStyle) -> list[str]:
    """Return a plot over time, with throughput above latency. The ramp, which is left of 0, is shaded."""
    intervals = [interval for course in data.courses for interval in course.intervals]
    start, end = min(0.0, *(interval.at for interval in intervals)), max(1.0, *(interval.at for interval in intervals))
    seconds = amounts([end], style.width // 12, _time_format(end))
    x = PlotAxis(low=start, high=end, ticks=tuple(tick for tick in seconds.ticks if tick[0] <= end))
    head = legend(style, [(course.name, "") for course in data.courses], joined=True)
    upper = (style.height - len(head) - 2) * 2 // 5
    lower = style.height - len(head) - 2 - upper
    rate_axis = amounts([interval.rate for interval in intervals], max(3, upper // 3), si_label)
    upper_pane = PlotPane(style, upper, replace(x, ticks=()), rate_axis)
    lines, dots = _latencies(data)
    latencies = [value for _, line in lines for _, value in line] + [value for _, value in dots]
    y = _latency_axis(latencies, max(3, lower // 2), log=data.log)
    lower_pane = PlotPane(style, lower, x, y)
    for pane in (upper_pane, lower_pane):
        if start < 0:
            pane.shade(start, 0.0)
    for index, course in enumerate(data.courses):
        upper_pane.line([(interval.at, interval.rate) for interval in course.intervals], index)
        upper_pane.marks(
            [
                (upper_pane.column(interval.at), upper_pane.rows - 1, "!")
                for interval in course.intervals
                if interval.stalled
            ]
        )
    lower_pane.marks([(lower_pane.column(at), lower_pane.row(value), "·") for at, value in dots])
    for index, (_, line) in enumerate(lines):
        lower_pane.line(line, index)
        third = max(1, len(line) // 3)
        lower_pane.signs(line[-1:] if style.ascii else line[third::third] or line, index)
    signs = ["░ not measured"] if start < 0 else []
    signs += ["! stall"] if any(interval.stalled for interval in intervals) else []
    text = "  ".join(style.colored(f"{style.sign(at)} {name}", at) for at, (name, _) in enumerate(lines))
    captions = [f"latency  {text if len(data.courses) == 1 else 'p99'}"]
    captions += ["· worst"] if dots else []
    above, between = _heading_text("   ".join([data.unit.value, *signs])), _heading_text("  ".join(captions))
    return [*head, above, *upper_pane.build(), between, *lower_pane.build()]


def _time_format(end: float) -> Callable[[float], str]:
    return (lambda at: f"{at / 60:g} min") if end >= _MINUTES_FROM else (lambda at: f"{at:g} s")


def _latencies(data: TimelineData) -> tuple[list[tuple[str, _Points]], _Points]:
    """Return the lines of the latencies by name, and single points.

    These are the percentiles and the worst latencies of one run, or the p99 of several runs.
    """
    if len(data.courses) > 1:
        return [
            (course.name, _points_of(course.intervals, lambda interval: interval.p99)) for course in data.courses
        ], []
    intervals = data.courses[0].intervals
    named = (
        ("p50", _points_of(intervals, lambda interval: interval.p50)),
        ("p99", _points_of(intervals, lambda interval: interval.p99)),
        ("p99.9", _points_of(intervals, lambda interval: interval.p99_9)),
    )
    return [(name, line) for name, line in named if line], _points_of(intervals, lambda interval: interval.worst)


def _points_of(intervals: Sequence[CourseInterval], read: Callable[[CourseInterval], float | None]) -> _Points:
    return [(interval.at, value) for interval in intervals if (value := read(interval))]


def _heading_text(text: str) -> str:
    """Return the heading of a pane as one line."""
    return " " * GUTTER + f" {text}"


def _latency_axis(values: Sequence[float], most: int, *, log: bool) -> PlotAxis:
    """Return an axis for latencies."""
    return ratios(values, most, time_label) if log else amounts(values, most, time_label)


# -- a sweep over its values ------------------------------------------------------------------------------------------


def paint_curve(data: CurveData, style: PlotStyle) -> list[str]:
    """Return a plot of a sweep, with throughput above latency on the same horizontal axis.

    A metric without data is left out.
    """
    head = legend(style, [(line.name, "") for line in data.lines], joined=True)
    metrics = [metric for metric in ("rates", "latencies") if any(getattr(line, metric) for line in data.lines)]
    x = _step_axis(data, style)
    available = style.height - len(head) - len(metrics)
    heights = {"rates": available // 2 if len(metrics) > 1 else available}
    heights["latencies"] = available - (heights["rates"] if len(metrics) > 1 else 0)
    rows, latency = [*head], "p99" if len(metrics) > 1 else "latency"
    for metric in metrics:
        last = metric == metrics[-1]
        series = [getattr(line, metric) for line in data.lines]
        y = _metric_axis(data, metric, series, heights[metric])
        pane = PlotPane(
            style, heights[metric], x if last else replace(x, ticks=()), y, label=data.across if last else ""
        )
        _draw(pane, data, series, shaded=last)
        knee = f"   ░ knee {_knee_text(data)}" if data.knee and last else ""
        rows += [_heading_text((data.unit.value if metric == "rates" else latency) + knee), *pane.build()]
    return rows


def _knee_text(data: CurveData) -> str:
    middle, low, high = data.knee or (0.0, 0.0, 0.0)
    return f"{units.iops(middle)} [{units.iops(low)}, {units.iops(high)}]"


def _step_axis(data: CurveData, style: PlotStyle) -> PlotAxis:
    """Return the horizontal axis, with a tick at each measured value. For a wide range, it is logarithmic."""
    values = [point.x for line in data.lines for point in (*line.rates, *line.latencies)]
    if not data.steps:
        return amounts(values, style.width // 12, si_label)
    ticks = tuple((step, _step_text(step)) for step in data.steps)
    low, high = min(data.steps), max(data.steps)
    if low > 0 and high / low >= 4:
        return replace(ratios(data.steps, 2, si_label), ticks=ticks)
    margin = (high - low) * 0.04 or 1.0
    return PlotAxis(low=low - margin, high=high + margin, ticks=ticks)


def _step_text(step: float) -> str:
    """Return a value of the sweep as a tick label. Multiples of 1024 have a binary prefix, such as `64ki`."""
    for size, name in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "k")):
        if step > size and step % size == 0:
            return f"{step / size:g}{name}i"
    return f"{step:g}"


def _metric_axis(data: CurveData, metric: str, series: Sequence[Sequence[MeasuredPoint]], height: int) -> PlotAxis:
    values = [end for line in series for point in line for end in (point.low, point.high)]
    if metric == "latencies":
        return _latency_axis(values, max(3, height // 2), log=data.log)
    return amounts(values, max(3, height // 3), data.unit.tick)


def _draw(pane: PlotPane, data: CurveData, series: Sequence[Sequence[MeasuredPoint]], *, shaded: bool) -> None:
    if data.knee and shaded:
        pane.shade(data.knee[1], data.knee[2])
    for index, line in enumerate(series):
        pane.line([(point.x, point.mean) for point in line], index)
        for point in line:
            pane.interval(point.x, point.low, point.high, index)
    for index, line in enumerate(series):
        pane.signs([(point.x, point.mean) for point in line], index)


# -- one job over all sessions ----------------------------------------------------------------------------------------

_LEVELS = 3
"""Number of rows over which the texts of changes are distributed, so that they do not overlap."""


def paint_history(data: HistoryData, style: PlotStyle) -> list[str]:
    """Return a plot of results by date. Each combination of settings has its sign.

    A line joins only results with the same settings.
    """
    head = legend(style, [(stage.name, "") for stage in data.stages], joined=False)
    height = style.height - len(head)
    points = [(point, index) for index, stage in enumerate(data.stages) for point in stage.points]
    x = dates([*(point.x for point, _ in points), *(at for at, _ in data.marks)], style.width // 12)
    ends = [end for point, _ in points for end in (point.low, point.high)]
    ends += data.band or ()
    zero = data.zero or min(ends) < max(ends) / 2
    y = amounts(ends, max(4, height // 3), data.unit.tick, zero=zero)
    band = "   ░ baseline" if data.band else ""
    pane = PlotPane(style, height, x, y, label=f"{data.unit.value}, by date{band}")
    if data.band:
        for row in range(pane.row(data.band[0]), pane.row(data.band[1]) + 1):
            pane.stretch(row, 0, pane.columns - 1, "░", BEHIND)
    for number, (at, text) in enumerate(data.marks):
        pane.upright(pane.column(at), 0, pane.rows - 1, "│", BEHIND)
        pane.write_text(f"│ {fit_line(text, pane.columns // 2)}", pane.column(at), pane.rows - 1 - number % _LEVELS)
    points.sort(key=lambda pair: pair[0].x)
    for (first, index), (second, next_index) in itertools.pairwise(points):
        if index == next_index:
            pane.line([(first.x, first.mean), (second.x, second.mean)], index)
    for point, index in points:
        pane.interval(point.x, point.low, point.high, index)
    for point, index in points:
        pane.signs([(point.x, point.mean)], index)
    return [*head, *pane.build()]
