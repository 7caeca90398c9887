"""Data of static plots. Numbers are in the units of the axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from widgets.text_utils import units
from widgets.text_utils.ticks import si_label, time_label

Bins = Sequence[tuple[int, int]]
"""A latency histogram: pairs of latency in ns and number of I/Os, sorted by latency."""


MOST_CURVES = 4
"""Maximum number of curves in one plot. More could not be distinguished."""


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
    """Metric that an axis shows."""

    IOPS = "IOPS"
    """I/Os per second."""
    RATE = "MiB/s"
    """MiB per second."""
    LATENCY = "p99"
    """p99 of the latency in nanoseconds."""

    @property
    def text(self) -> Callable[[float], str]:
        """Function that formats a value with three significant digits."""
        if self is Unit.RATE:
            return units.three
        return units.latency if self is Unit.LATENCY else units.iops

    @property
    def tick(self) -> Callable[[float], str]:
        """Function that formats a round value as the label of a tick."""
        return time_label if self is Unit.LATENCY else si_label


@dataclass(frozen=True, slots=True, kw_only=True)
class Latencies:
    """Latency histogram of all runs of one configuration."""

    name: str
    """Name of the configuration."""
    bins: Bins


@dataclass(frozen=True, slots=True, kw_only=True)
class PercentileData:
    """Data of a plot of latency by percentile, with one curve per configuration."""

    series: tuple[Latencies, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramData:
    """Data of a plot of latency histograms. The first is filled, the others are lines."""

    series: tuple[Latencies, ...]
    log: bool = False
    """Whether the axis of the shares is logarithmic, so that even one I/O in a million is visible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxSample:
    """The results of a configuration: one value per run."""

    name: str
    values: tuple[float, ...]
    """Values in the order of the runs. There is at least one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxData:
    """Data of box plots, which show how the runs of each configuration vary."""

    lots: tuple[BoxSample, ...]
    unit: Unit
    zero: bool = False
    """Whether the axis begins at 0."""
    log: bool = False
    """Whether the axis is logarithmic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterSample:
    """The results of a configuration: one point per run."""

    name: str
    points: tuple[tuple[float, float], ...]
    """Throughput (IOPS or MiB/s) and p99 in ns of each run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterData:
    """Data of a scatter plot: throughput against latency of each run."""

    clouds: tuple[ScatterSample, ...]
    unit: Unit
    """Metric of the horizontal axis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CourseInterval:
    """Results of one interval of a run. Latencies are in ns, or None if there are none."""

    at: float
    """Seconds since measuring began. Times in the ramp are negative."""
    rate: float
    """Throughput, in the unit of the timeline."""
    p50: float | None = None
    p99: float | None = None
    p99_9: float | None = None
    worst: float | None = None
    stalled: bool = False
    """Whether no request completed in the interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCourse:
    """The intervals of one run."""

    name: str
    intervals: tuple[CourseInterval, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineData:
    """Data of a plot over time: throughput, and all percentiles of one run or the p99 of several runs."""

    courses: tuple[RunCourse, ...]
    unit: Unit
    """Metric of the throughput, which is the upper part of the plot."""
    log: bool = True
    """Whether the axis of the latencies is logarithmic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPoint:
    """A mean with an interval around it, such as its confidence interval."""

    x: float
    mean: float
    low: float
    """Lower end of the interval. Without an interval, both ends equal the mean."""
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveLine:
    """One line of a curve plot: results along the horizontal axis."""

    name: str
    rates: tuple[MeasuredPoint, ...] = ()
    latencies: tuple[MeasuredPoint, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveData:
    """Data of a plot of a sweep along an axis, with throughput above latency."""

    lines: tuple[CurveLine, ...]
    across: str
    """Label of the horizontal axis."""
    unit: Unit
    """Metric of the throughput."""
    steps: tuple[float, ...] = ()
    """Values on the horizontal axis that were measured. Each has a tick. If empty, ticks are at round values."""
    knee: tuple[float, float, float] | None = None
    """Knee of the curve, and the lower and upper end of its interval; None for no knee."""
    log: bool = True
    """Whether the axis of the latencies is logarithmic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEpoch:
    """The results of all sessions that had the same settings."""

    name: str
    points: tuple[MeasuredPoint, ...]
    """One point per session. x is in seconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryData:
    """Data of a plot over all sessions: results of the same job on the same target."""

    stages: tuple[HistoryEpoch, ...]
    unit: Unit
    band: tuple[float, float] | None = None
    """Lower and upper end of the baseline's spread; None for no baseline."""
    marks: tuple[tuple[float, str], ...] = ()
    """Time and description of each change."""
    zero: bool = False
    """Whether the axis begins at 0."""


Data = PercentileData | HistogramData | BoxData | ScatterData | TimelineData | CurveData | HistoryData


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticPlot:
    """A plot, or the reason why there is none."""

    title: str
    """Title in one line."""
    data: Data | None = None
    """Data of the plot; None if there is nothing to show."""
    why: str = ""
    """Why there is nothing to show. If there is something to show, a note on it, or ""."""
    keys: str = ""
    """Sentence about the keys with which the user can produce data."""
    simulated: bool = False
    """Whether the results are simulated."""
