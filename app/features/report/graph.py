"""Graphs as values: what a report draws, before anybody draws it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from app.core.analysis.stats import LogMeanInterval, MeanInterval
from backends.values import dataclass

MOST_LINES = 6
"""Lines that can be told apart in one graph."""

Point = tuple[float, float | None]
"""x and y; without y the line is interrupted."""


class AxisUnit(StrEnum):
    """What the numbers of an axis are."""

    IOPS = "IOPS"
    """I/Os per second."""
    MIB_PER_S = "MiB/s"
    """Given in bytes per second."""
    LATENCY = "latency"
    """Nanoseconds."""
    SECONDS = "s"
    """Seconds."""
    PERCENT = "%"
    """Of which 100 is the whole."""
    BYTES = "bytes"
    """Bytes."""
    NUMBER = ""
    """Plain."""


class Spacing(StrEnum):
    """How an axis is divided."""

    LINEAR = "linear"
    """Evenly."""
    LOG = "log"
    """By powers of ten."""
    NINES = "nines"
    """Percentiles, 0..100: each further nine is one step."""
    RATIO = "ratio"
    """Differences in percent, by the logarithm of their ratio: half lies as far from 0 as double."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One axis."""

    label: str
    """What it shows."""
    unit: AxisUnit = AxisUnit.NUMBER
    """In which unit."""
    spacing: Spacing = Spacing.LINEAR
    """How it is divided."""
    tight: bool = False
    """It ends where the numbers end, not at the next round one."""
    at: tuple[float, ...] = ()
    """Where its marks are; empty for round numbers."""


IOPS = Axis(label="IOPS", unit=AxisUnit.IOPS)
LATENCY = Axis(label="latency", unit=AxisUnit.LATENCY, spacing=Spacing.LOG)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphLine:
    """One line."""

    name: str
    """In the legend."""
    points: tuple[Point, ...]
    """Ascending x."""
    measured: bool = False
    """Each point is a measurement of its own, and gets a marker."""
    joined: bool = True
    """Points follow from each other; those that do not are drawn without a line between them."""
    spread: tuple[tuple[float, float] | None, ...] = ()
    """The interval of each point's y: low and high; None of a point that has none. Empty where no point has one."""


def measured_line(name: str, pairs: Iterable[tuple[float, MeanInterval | LogMeanInterval | None]]) -> GraphLine:
    """Return the line over means with their intervals; it is interrupted where nothing was measured."""
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
    """Unique in the report; letters, digits and hyphens."""
    title: str
    """One line."""
    about: str
    """What it shows, in a sentence."""
    simulated: bool = False
    """Not measured on hardware."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineGraph(_TitledGraph):
    """Lines over a common axis."""

    x: Axis
    y: Axis
    series: tuple[GraphLine, ...]
    """At most `MOST_LINES`."""
    from_zero: bool = True
    """A linear y axis begins at 0."""
    shaded: tuple[float, float] | None = None
    """Stretch of x that does not count."""
    shaded_as: str = "ramp"
    """What that is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatMap(_TitledGraph):
    """A table whose cells are coloured by their share of the best in their line."""

    rows: tuple[str, ...]
    """Headings at the left."""
    columns: tuple[str, ...]
    """Headings at the top."""
    cells: tuple[tuple[float | None, ...], ...]
    """By row and column; None where nothing was measured."""
    texts: tuple[tuple[str, ...], ...]
    """What stands in each cell."""
    framed: frozenset[tuple[int, int]] = frozenset()
    """The best of each line by row and column, with what cannot be told from it."""
    along_rows: bool = False
    """The best is looked for in each row; else in each column."""
    lower_is_better: bool = False
    """Of latencies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whisker:
    """A mean and its 95 % interval."""

    label: str
    """Of what."""
    mean: float
    low: float | None
    """None of a single run."""
    high: float | None
    text: str
    """The numbers, and the verdict if there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalGraph(_TitledGraph):
    """Means with intervals, one below the other."""

    axis: Axis
    rows: tuple[Whisker, ...]
    zero: bool = False
    """Differences: 0 is marked."""
    threshold: float | None = None
    """Differences smaller than it count as none."""


Graph = LineGraph | HeatMap | IntervalGraph
