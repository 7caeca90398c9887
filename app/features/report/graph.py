"""Data model of the graphs in a report, without their drawing."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from app.core.analysis.stats import LogMeanInterval, MeanInterval
from backends.values import dataclass

MOST_LINES = 6
"""Maximum number of lines in one graph; more would be hard to distinguish."""

Point = tuple[float, float | None]
"""x and y. A y of None interrupts the line."""


class AxisUnit(StrEnum):
    """Unit of the numbers on an axis."""

    IOPS = "IOPS"
    """I/Os per second."""
    MIB_PER_S = "MiB/s"
    """Values are bytes per second."""
    LATENCY = "latency"
    """Values are nanoseconds."""
    SECONDS = "s"
    """Seconds."""
    PERCENT = "%"
    """100 is the total."""
    BYTES = "bytes"
    """Bytes."""
    NUMBER = ""
    """Plain numbers."""


class Spacing(StrEnum):
    """Scale of an axis."""

    LINEAR = "linear"
    """Linear."""
    LOG = "log"
    """Powers of ten."""
    NINES = "nines"
    """Percentiles, 0..100: each further nine is one step."""
    RATIO = "ratio"
    """Differences in percent, placed by the logarithm of the ratio: half is as far from 0 as double."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One axis."""

    label: str
    """Quantity on the axis."""
    unit: AxisUnit = AxisUnit.NUMBER
    """Unit of its values."""
    spacing: Spacing = Spacing.LINEAR
    """Scale."""
    tight: bool = False
    """Whether the axis ends at the last value instead of the next round number."""
    at: tuple[float, ...] = ()
    """Positions of the marks; empty for round numbers."""


IOPS = Axis(label="IOPS", unit=AxisUnit.IOPS)
LATENCY = Axis(label="latency", unit=AxisUnit.LATENCY, spacing=Spacing.LOG)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphLine:
    """One line."""

    name: str
    """Name in the legend."""
    points: tuple[Point, ...]
    """Points by ascending x."""
    measured: bool = False
    """Whether each point is a separate measurement and gets a marker."""
    joined: bool = True
    """Whether a line connects the points."""
    spread: tuple[tuple[float, float] | None, ...] = ()
    """Low and high end of each point's interval, or None for a point without; empty if no point has one."""


def line_of_means(name: str, pairs: Iterable[tuple[float, MeanInterval | LogMeanInterval | None]]) -> GraphLine:
    """Return the line of means with their intervals. It is interrupted where nothing was measured."""
    measured = tuple(pairs)
    return GraphLine(
        name=name,
        points=tuple((x, None if mean is None else mean.mean) for x, mean in measured),
        measured=True,
        spread=tuple(None if mean is None else mean.ends for _, mean in measured),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _TitledGraph:
    key: str
    """Unique id in the report: letters, digits and hyphens."""
    title: str
    """One line."""
    about: str
    """Description in one sentence."""
    simulated: bool = False
    """Whether it was not measured on hardware."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineGraph(_TitledGraph):
    """Lines over a common axis."""

    x: Axis
    y: Axis
    series: tuple[GraphLine, ...]
    """Up to `MOST_LINES` lines."""
    from_zero: bool = True
    """Whether a linear y axis begins at 0."""
    shaded: tuple[float, float] | None = None
    """Range of x that does not count."""
    shaded_as: str = "ramp"
    """Label of that range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatMap(_TitledGraph):
    """A table whose cells are coloured by their share of the best value in their line."""

    rows: tuple[str, ...]
    """Headings on the left."""
    columns: tuple[str, ...]
    """Headings at the top."""
    cells: tuple[tuple[float | None, ...], ...]
    """Values by row and column; None where nothing was measured."""
    texts: tuple[tuple[str, ...], ...]
    """Text of each cell."""
    framed: frozenset[tuple[int, int]] = frozenset()
    """Row and column of the best cell of each line, and of those that cannot be distinguished from it."""
    along_rows: bool = False
    """Whether a line is a row; otherwise it is a column."""
    lower_is_better: bool = False
    """Whether the lowest value is the best, as for latencies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whisker:
    """A mean with its 95 % interval."""

    label: str
    """Name of the row."""
    mean: float
    low: float | None
    """Low end of the interval; None for a single run."""
    high: float | None
    text: str
    """The numbers, and the verdict if there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalGraph(_TitledGraph):
    """Means with intervals, one below the other."""

    axis: Axis
    rows: tuple[Whisker, ...]
    zero: bool = False
    """Whether the values are differences, so that 0 is marked."""
    threshold: float | None = None
    """Size below which a difference counts as none."""


Graph = LineGraph | HeatMap | IntervalGraph
