"""Data of static plots: names and numbers in the units of their axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from widgets.text_utils import units
from widgets.text_utils.ticks import si_label, time_label

Bins = Sequence[tuple[int, int]]
"""Histogram as fio reports it: (latency in ns, I/Os), ascending."""


MOST_CURVES = 4
"""Maximum number of curves in one plot that can be distinguished."""


class StaticPlotKind(StrEnum):
    """Kinds of static plots."""

    PERCENTILES = "percentiles"
    HISTOGRAM = "histogram"
    BOX = "box"
    SCATTER = "scatter"
    TIMELINE = "timeline"
    CURVE = "curve"
    HISTORY = "history"


class Unit(StrEnum):
    """Metric of an axis."""

    IOPS = "IOPS"
    """I/Os per second."""
    RATE = "MiB/s"
    """MiB per second."""
    LATENCY = "p99"
    """Nanoseconds."""

    @property
    def text(self) -> Callable[[float], str]:
        """Function that returns a value in three digits with its unit."""
        if self is Unit.RATE:
            return units.three
        return units.latency if self is Unit.LATENCY else units.iops

    @property
    def tick(self) -> Callable[[float], str]:
        """Function that returns a round value as a label."""
        return time_label if self is Unit.LATENCY else si_label


@dataclass(frozen=True, slots=True, kw_only=True)
class Latencies:
    """Latency histogram of all runs of one configuration."""

    name: str
    """Name of the configuration."""
    bins: Bins


@dataclass(frozen=True, slots=True, kw_only=True)
class PercentileData:
    """Latency by percentile, one curve per configuration."""

    series: tuple[Latencies, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramData:
    """Latency histograms: the first filled, the others as lines."""

    series: tuple[Latencies, ...]
    log: bool = False
    """True for logarithmic shares, which also show one I/O in a million."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxSample:
    """One value per run of a configuration."""

    name: str
    values: tuple[float, ...]
    """Values in run order, at least one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxData:
    """Spread of the runs of each configuration."""

    lots: tuple[BoxSample, ...]
    unit: Unit
    zero: bool = False
    """True if the axis begins at 0."""
    log: bool = False
    """True if equal distances are equal ratios."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterSample:
    """One point per run of a configuration."""

    name: str
    points: tuple[tuple[float, float], ...]
    """(IOPS or MiB/s, p99 in ns)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterData:
    """Throughput against latency of every run."""

    clouds: tuple[ScatterSample, ...]
    unit: Unit
    """Metric of the horizontal axis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CourseInterval:
    """Metrics of one interval of a run."""

    at: float
    """Seconds since the start of the measured phase. The ramp is before 0."""
    rate: float
    """Throughput in the unit of the timeline."""
    p50: float | None = None
    p99: float | None = None
    p99_9: float | None = None
    worst: float | None = None
    stalled: bool = False
    """True if no request completed in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCourse:
    """Intervals of one run."""

    name: str
    intervals: tuple[CourseInterval, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineData:
    """Throughput and latency over time: all percentiles of one run, or p99 of several."""

    courses: tuple[RunCourse, ...]
    unit: Unit
    """Metric of the upper axis."""
    log: bool = True
    """True for logarithmic latencies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPoint:
    """Point with its interval."""

    x: float
    mean: float
    low: float
    """Lower end, or the mean itself without an interval."""
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveLine:
    """Results along an axis."""

    name: str
    rates: tuple[MeasuredPoint, ...] = ()
    latencies: tuple[MeasuredPoint, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveData:
    """Results of a sweep along an axis: throughput above, latency below."""

    lines: tuple[CurveLine, ...]
    across: str
    """Label of the horizontal axis."""
    unit: Unit
    """Metric of the throughput."""
    steps: tuple[float, ...] = ()
    """Measured values, each with a tick; () for round ticks."""
    knee: tuple[float, float, float] | None = None
    """Knee of the curve: the middle and both ends of its interval."""
    log: bool = True
    """True for logarithmic latencies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEpoch:
    """All sessions with the same settings."""

    name: str
    points: tuple[MeasuredPoint, ...]
    """Points; x is in seconds since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryData:
    """The same job on the same target over all sessions."""

    stages: tuple[HistoryEpoch, ...]
    unit: Unit
    band: tuple[float, float] | None = None
    """Spread of the baseline."""
    marks: tuple[tuple[float, str], ...] = ()
    """Times and descriptions of changes."""
    zero: bool = False
    """True if the axis begins at 0."""


Data = PercentileData | HistogramData | BoxData | ScatterData | TimelineData | CurveData | HistoryData


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticPlot:
    """One plot, or the reason why there is none."""

    title: str
    """Title in one line."""
    data: Data | None = None
    """Data, or None if there is nothing to show."""
    why: str = ""
    """Reason why there is nothing to show; otherwise a remark on the data."""
    keys: str = ""
    """Keys on the screen that would produce data."""
    simulated: bool = False
    """True for simulated results."""
