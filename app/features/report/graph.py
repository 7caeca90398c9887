"""Data model of the graphs in a report. The package `svg` draws them."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from app.core.analysis.stats import LogMeanInterval, MeanInterval
from backends.values import dataclass

MOST_LINES = 6
"""Maximum number of lines in one graph. More lines would be hard to distinguish."""

Point = tuple[float, float | None]
"""x and y of a point. If y is None, the line is interrupted there."""


class AxisUnit(StrEnum):
    """Unit of the numbers on an axis."""

    IOPS = "IOPS"
    """I/Os per second."""
    MIB_PER_S = "MiB/s"
    """MiB per second. The values are in bytes per second."""
    LATENCY = "latency"
    """Latencies. The values are in nanoseconds."""
    SECONDS = "s"
    """Time in seconds."""
    PERCENT = "%"
    """Percent; 100 is the total."""
    BYTES = "bytes"
    """Sizes in bytes."""
    NUMBER = ""
    """No unit: plain numbers."""


class Spacing(StrEnum):
    """Scale of an axis."""

    LINEAR = "linear"
    """A linear scale: equal differences have equal distances."""
    LOG = "log"
    """A logarithmic scale, with marks at powers of ten."""
    NINES = "nines"
    """For percentiles from 0 to 100. Each additional nine (90, 99, 99.9) is at the same distance from the one before.
    """
    RATIO = "ratio"
    """For differences in percent. The position is the logarithm of the ratio: half is as far from 0 as double."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """An axis of a graph."""

    label: str
    """Name of the quantity on the axis."""
    unit: AxisUnit = AxisUnit.NUMBER
    """Unit of the values."""
    spacing: Spacing = Spacing.LINEAR
    """Scale of the axis."""
    tight: bool = False
    """Whether the axis begins and ends at the outermost values instead of at round numbers."""
    at: tuple[float, ...] = ()
    """Values at which the axis has marks. If empty, the marks are at round numbers."""


IOPS = Axis(label="IOPS", unit=AxisUnit.IOPS)
LATENCY = Axis(label="latency", unit=AxisUnit.LATENCY, spacing=Spacing.LOG)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphLine:
    """A line of a graph."""

    name: str
    """Name of the line in the legend."""
    points: tuple[Point, ...]
    """Points of the line, sorted by x."""
    measured: bool = False
    """Whether each point is a separate measurement, so that each gets a marker."""
    joined: bool = True
    """Whether a line connects the points."""
    spread: tuple[tuple[float, float] | None, ...] = ()
    """Low and high end of the interval of each point; None for a point without an interval. Empty if no point has one.
    """


def line_of_means(name: str, pairs: Iterable[tuple[float, MeanInterval | LogMeanInterval | None]]) -> GraphLine:
    """Return a line of means with their intervals. Each pair is an x value and the mean at it; where the mean is None,
    the line is interrupted.
    """
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
    """Title, in one line."""
    about: str
    """Description below the graph, in one or two sentences."""
    simulated: bool = False
    """Whether any of the data was simulated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineGraph(_TitledGraph):
    """A graph of lines over a common x axis."""

    x: Axis
    y: Axis
    series: tuple[GraphLine, ...]
    """Up to `MOST_LINES` lines."""
    from_zero: bool = True
    """Whether a linear y axis begins at 0."""
    shaded: tuple[float, float] | None = None
    """Start and end of the range of x that is shaded because it was not measured; None for no shading."""
    shaded_as: str = "ramp"
    """Label of the shaded range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatMap(_TitledGraph):
    """A table whose cells are coloured by how close they come to the best value of their row or column."""

    rows: tuple[str, ...]
    """Headings of the rows, on the left."""
    columns: tuple[str, ...]
    """Headings of the columns, at the top."""
    cells: tuple[tuple[float | None, ...], ...]
    """Values by row and column; None where nothing was measured."""
    texts: tuple[tuple[str, ...], ...]
    """Text of each cell, by row and column."""
    framed: frozenset[tuple[int, int]] = frozenset()
    """Row and column of each cell with a frame. These are the best cell of each row or column, and those not
    significantly different from it.
    """
    along_rows: bool = False
    """Whether cells are compared within their row; otherwise within their column."""
    lower_is_better: bool = False
    """Whether the lowest value is the best, as for latencies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whisker:
    """A mean with its confidence interval."""

    label: str
    """Name of the row."""
    mean: float
    low: float | None
    """Low end of the interval; None if there is no interval."""
    high: float | None
    text: str
    """The numbers as text, with the verdict if there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalGraph(_TitledGraph):
    """A graph of means with intervals, in rows one below the other."""

    axis: Axis
    rows: tuple[Whisker, ...]
    zero: bool = False
    """Whether the values are differences. If so, 0 is marked."""
    threshold: float | None = None
    """Size in percent below which a difference counts as no difference; None if there is no such threshold."""


Graph = LineGraph | HeatMap | IntervalGraph
