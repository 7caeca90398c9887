"""The data that a graph shows: series of points, reference lines, marks and labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

Point = tuple[float, float | None]
"""Seconds since the start, and a value. A value of None or NaN interrupts the line."""


WAITING: Final = "waiting for the first sample"
"""Default text in a graph without points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One line of a graph, or one set of single points."""

    name: str
    """Name in the legend."""
    points: tuple[Point, ...] = ()
    """Points in order of time. Drawing is faster if the tuple only adds points to the previous one."""
    color: str = ""
    """Textual colour, theme variable such as `$primary`, or "" for the next default colour."""
    joined: bool = True
    """Whether lines join the points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A dotted horizontal line, such as the mean of a baseline, with a band for its spread."""

    label: str
    """Name in the legend."""
    value: float
    """Value at which the line is drawn."""
    half: float = 0.0
    """Half of the height of the band, as a value; 0 for no band."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeMark:
    """An event that is marked on the time axis."""

    at: float
    """Seconds since the start."""
    sign: str
    """Character that marks the event on the axis."""
    text: str = ""
    """Text that is shown inside the graph if there is space; "" for none."""
    bad: bool = True
    """Whether the event affects the results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatInterval:
    """Histogram of the values in one interval."""

    at: float
    """End of the interval in seconds since the start."""
    seconds: float
    """Length of the interval in seconds."""
    first: int
    """Number of the lowest bin. `widgets.text_utils.ticks` defines the bins."""
    counts: tuple[int, ...]
    """Number of values in the lowest bin and in each bin above it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartData:
    """Everything that a graph shows at one moment."""

    series: tuple[Series, ...] = ()
    """Lines and sets of points. Later ones are drawn over earlier ones."""
    references: tuple[Reference, ...] = ()
    """Dotted horizontal lines."""
    heat: tuple[HeatInterval, ...] = ()
    """Intervals of a heat map, which is shown instead of lines. Drawing is faster if intervals are only added."""
    marks: tuple[TimeMark, ...] = ()
    """Events on the time axis."""
    shaded_until: float = 0.0
    """Time in seconds up to which the graph is shaded, such as the end of the ramp; 0 for no shading."""
    shaded_text: str = ""
    """Label of the shaded range."""
    x_max: float | None = None
    """Total duration of the job in seconds, at which the time axis ends; None if unknown."""
    y_format: Callable[[float], str] = "{:g}".format
    """Function that returns the label for a value. Pass the same object each time, so that equal data is equal."""
    close: bool = False
    """Whether a linear vertical axis may begin above zero. If so, the legend says so."""
    ends: bool = False
    """Whether each line is named at its right end, because colours alone may not identify the lines."""
    over: bool = False
    """Whether the job has ended. If so, the last value of a line is not shown, because it has no special meaning."""
    bands: bool = False
    """Whether each series has its own band if the graph is logarithmic and has few rows."""
    waiting: str = WAITING
    """Text in a graph without points; "" for none."""
