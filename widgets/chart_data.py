"""Data of a graph: series of points, references, marks and formats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

Point = tuple[float, float | None]
"""Seconds since the start and a value. None or NaN interrupts the line."""


WAITING: Final = "waiting for the first sample"
"""Default text in a graph without points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One line of a graph."""

    name: str
    """Name in the legend."""
    points: tuple[Point, ...] = ()
    """Points in order of time. Append to this tuple to extend the line cheaply."""
    color: str = ""
    """Textual colour, theme variable such as `$primary`, or "" for the next default colour."""
    joined: bool = True
    """True to join the points with lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Dotted horizontal line, such as a baseline mean, with a band for its spread."""

    label: str
    """Name in the legend."""
    value: float
    """Position on the vertical axis."""
    half: float = 0.0
    """Height of the band above and below; 0 for no band."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeMark:
    """Event on the time axis."""

    at: float
    """Seconds since the start."""
    sign: str
    """One character."""
    text: str = ""
    """Text inside the graph where there is space, or ""."""
    bad: bool = True
    """True if the event affects the results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatInterval:
    """Counts of values in one interval."""

    at: float
    """End of the interval in seconds since the start."""
    seconds: float
    """Length in seconds."""
    first: int
    """Lowest bin, as defined in `widgets.text_utils.ticks`."""
    counts: tuple[int, ...]
    """Counts of this bin and those above it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartData:
    """Everything that a graph shows at one moment."""

    series: tuple[Series, ...] = ()
    """Lines. Later ones are drawn over earlier ones."""
    references: tuple[Reference, ...] = ()
    """Dotted lines."""
    heat: tuple[HeatInterval, ...] = ()
    """Intervals of a heat map, instead of lines. Append to this tuple to extend it cheaply."""
    marks: tuple[TimeMark, ...] = ()
    """Events."""
    shaded_until: float = 0.0
    """End of the shaded range at the beginning in seconds, such as the ramp."""
    shaded_text: str = ""
    """Label of the shaded range."""
    x_max: float | None = None
    """Total seconds of the job, which fix the axis; None if unknown."""
    y_format: Callable[[float], str] = "{:g}".format
    """Function that returns the label of a tick. Pass the same function every time."""
    close: bool = False
    """True if a linear vertical axis need not include zero. The legend says so."""
    ends: bool = False
    """True to name lines at their ends, in a right margin: colour alone may not identify them."""
    over: bool = False
    """True if the data are complete. Lines then show no last value, as it would be one of many."""
    bands: bool = False
    """True to give each series its own row if the graph is low and logarithmic."""
    waiting: str = WAITING
    """Text in a graph without points, or ""."""
