"""One picture of each kind, of figures as disks have them."""

from __future__ import annotations

import math

from widgets.plot_render.plot_data import (
    BoxData,
    BoxSample,
    CourseInterval,
    CurveData,
    CurveLine,
    Data,
    HistogramData,
    HistoryData,
    HistoryEpoch,
    Latencies,
    MeasuredPoint,
    PercentileData,
    RunCourse,
    ScatterData,
    ScatterSample,
    StaticPlotKind,
    TimelineData,
    Unit,
)

DAY = 86_400.0
NOON = 1_700_000_000.0


def latencies(name: str, middle: float, count: int = 100_000) -> Latencies:
    """A bell of ratios round a latency."""
    shape = [(place, math.exp(-(place**2) / 50)) for place in range(-20, 41)]
    total = sum(weight for _, weight in shape)
    return Latencies(
        name=name,
        bins=tuple(
            (int(middle * 1.03**place), many) for place, weight in shape if (many := round(count * weight / total))
        ),
    )


TWO = (latencies("read-ahead none", 750_000), latencies("read-ahead on", 920_000))


def measured(*points: tuple[float, float]) -> tuple[MeasuredPoint, ...]:
    return tuple(MeasuredPoint(x=x, mean=mean, low=mean * 0.9, high=mean * 1.1) for x, mean in points)


def course(name: str, worst: float = 9e6) -> RunCourse:
    seconds = range(-3, 20)
    return RunCourse(
        name=name,
        intervals=tuple(
            CourseInterval(at=at, rate=8e4 + at, p50=7e5, p99=1.1e6, p99_9=1.4e6, worst=worst, stalled=at == 7)
            for at in seconds
        ),
    )


DEPTHS = tuple((2.0**power, 1e4 * 2**power) for power in range(6))

PICTURES: dict[StaticPlotKind, Data] = {
    StaticPlotKind.PERCENTILES: PercentileData(series=TWO),
    StaticPlotKind.HISTOGRAM: HistogramData(series=TWO),
    StaticPlotKind.BOX: BoxData(
        lots=(BoxSample(name="none", values=(83e3, 84e3, 83.5e3)), BoxSample(name="on", values=(68e3, 69e3, 66e3))),
        unit=Unit.IOPS,
    ),
    StaticPlotKind.SCATTER: ScatterData(
        clouds=(
            ScatterSample(name="none", points=((8e4, 1e6), (6e4, 2e6))),
            ScatterSample(name="on", points=((7e4, 1.5e6),)),
        ),
        unit=Unit.IOPS,
    ),
    StaticPlotKind.TIMELINE: TimelineData(courses=(course("one"),), unit=Unit.IOPS),
    StaticPlotKind.CURVE: CurveData(
        lines=(CurveLine(name="", rates=measured(*DEPTHS), latencies=measured(*DEPTHS)),),
        across="queue depth",
        unit=Unit.IOPS,
        steps=tuple(x for x, _ in DEPTHS),
    ),
    StaticPlotKind.HISTORY: HistoryData(
        stages=(
            HistoryEpoch(name="none", points=measured((NOON, 8e4), (NOON + 3 * DAY, 8.1e4))),
            HistoryEpoch(name="on", points=measured((NOON + 6 * DAY, 6.8e4))),
        ),
        unit=Unit.IOPS,
        band=(7.9e4, 8.1e4),
        marks=((NOON + 4 * DAY, "read-ahead on"),),
    ),
}
