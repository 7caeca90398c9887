"""What a picture shows, before anybody paints it: names and numbers in the units of their axis. Values only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from widgets.text_utils import units
from widgets.text_utils.ticks import si_label, time_label

Bins = Sequence[tuple[int, int]]
"""A histogram as fio has it: (latency in ns, I/Os), ascending."""


MOST_CURVES = 4
"""Curves over one another; more cannot be told apart."""


class StaticPlotKind(StrEnum):
    """The seven pictures."""

    PERCENTILES = "percentiles"
    HISTOGRAM = "histogram"
    BOX = "box"
    SCATTER = "scatter"
    TIMELINE = "timeline"
    CURVE = "curve"
    HISTORY = "history"


class Unit(StrEnum):
    """What an axis counts."""

    IOPS = "IOPS"
    """I/Os per second."""
    RATE = "MiB/s"
    """MiB per second."""
    LATENCY = "p99"
    """Nanoseconds."""

    @property
    def text(self) -> Callable[[float], str]:
        """A value in three figures with its unit."""
        if self is Unit.RATE:
            return units.three
        return units.latency if self is Unit.LATENCY else units.iops

    @property
    def tick(self) -> Callable[[float], str]:
        """A round value."""
        return time_label if self is Unit.LATENCY else si_label


@dataclass(frozen=True, slots=True, kw_only=True)
class Latencies:
    """All latencies of the runs of one set-up, added up."""

    name: str
    """What tells it from the others."""
    bins: Bins


@dataclass(frozen=True, slots=True, kw_only=True)
class PercentileData:
    """Latency by percentile, one curve over the other."""

    series: tuple[Latencies, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramData:
    """How many I/Os took how long: the first filled, the others as lines over it."""

    series: tuple[Latencies, ...]
    log: bool = False
    """Shares as ratios, too: only that shows one I/O in a million."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxSample:
    """The runs of one set-up, a value each."""

    name: str
    values: tuple[float, ...]
    """In the order of the runs; not none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxData:
    """How the runs of each set-up are spread."""

    lots: tuple[BoxSample, ...]
    unit: Unit
    zero: bool = False
    """The axis begins at 0."""
    log: bool = False
    """Equal distances are ratios."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterSample:
    """The runs of one set-up, a point each."""

    name: str
    points: tuple[tuple[float, float], ...]
    """(IOPS or MiB/s, p99 in ns)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterData:
    """Throughput against latency of every run."""

    clouds: tuple[ScatterSample, ...]
    unit: Unit
    """Of the axis across."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CourseInterval:
    """What was reported of one interval of a run."""

    at: float
    """Seconds since what is measured began; the ramp lies before 0."""
    rate: float
    """In the unit of the timeline."""
    p50: float | None = None
    p99: float | None = None
    p99_9: float | None = None
    worst: float | None = None
    stalled: bool = False
    """Nothing was completed in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCourse:
    """One run over its time."""

    name: str
    intervals: tuple[CourseInterval, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineData:
    """Throughput and latency over time: of one run all percentiles, of several the 99th."""

    courses: tuple[RunCourse, ...]
    unit: Unit
    """Of the upper axis."""
    log: bool = True
    """Latencies as ratios."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPoint:
    """A point, and how far it may be off."""

    x: float
    mean: float
    low: float
    """The mean itself where there is no interval."""
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveLine:
    """What was measured along an axis."""

    name: str
    rates: tuple[MeasuredPoint, ...] = ()
    latencies: tuple[MeasuredPoint, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveData:
    """What a sweep found along an axis: the rate above, its latency below."""

    lines: tuple[CurveLine, ...]
    across: str
    """What the axis across is."""
    unit: Unit
    """Of the rates."""
    steps: tuple[float, ...] = ()
    """The values that were tried, each a tick; () has round ones."""
    knee: tuple[float, float, float] | None = None
    """Where it bends: the middle and both ends."""
    log: bool = True
    """Latencies as ratios."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEpoch:
    """All sessions with the same settings."""

    name: str
    points: tuple[MeasuredPoint, ...]
    """x: seconds since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryData:
    """The same job on the same thing over all sessions."""

    stages: tuple[HistoryEpoch, ...]
    unit: Unit
    band: tuple[float, float] | None = None
    """The spread of the baseline."""
    marks: tuple[tuple[float, str], ...] = ()
    """When something became another, and what."""
    zero: bool = False
    """The axis begins at 0."""


Data = PercentileData | HistogramData | BoxData | ScatterData | TimelineData | CurveData | HistoryData


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticPlot:
    """One picture, or why there is none."""

    title: str
    """One line: what it is of."""
    data: Data | None = None
    """None where there is nothing to show."""
    why: str = ""
    """Why there is nothing to show; where there is something, what is worth saying of it."""
    keys: str = ""
    """What on a screen would fill it."""
    simulated: bool = False
    """Not measured on hardware."""
