"""What a graph shows: series of points, references, and how its values read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

Point = tuple[float, float | None]
"""Seconds since the start, and a value; `None` or NaN breaks the line."""


WAITING: Final = "waiting for the first sample"
"""What stands in a graph without points, unless its owner says more."""


def plain_format(value: float) -> str:
    """A value as a short number: what an axis shows when its owner gives no format."""
    return f"{value:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One line of a graph."""

    name: str
    """What the legend calls it."""
    points: tuple[Point, ...] = ()
    """The points in the order of time; append to grow the line cheaply."""
    color: str = ""
    """A Textual colour or a theme variable such as `$primary`; empty for the next of the theme's colours."""
    joined: bool = True
    """Whether lines join the points; else each stands for itself."""
    whole: bool = False
    """Whether it is drawn without gaps: a line without dashes, a point of four dots."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A dotted horizontal line, such as the mean of the baseline, in a band where its spread is known."""

    label: str
    """What the legend calls it."""
    value: float
    """Where it lies."""
    half: float = 0.0
    """How far the band reaches above and below it; 0 without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeMark:
    """Something that happened, on the time axis."""

    at: float
    """Seconds since the start."""
    sign: str
    """One character."""
    text: str = ""
    """What is said of it within the graph, where there is room; "" for nothing."""
    bad: bool = True
    """Whether it spoils what is measured; else it is only worth knowing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatInterval:
    """How often each value was seen in one interval."""

    at: float
    """Its end, seconds since the start."""
    seconds: float
    """Its length."""
    first: int
    """The lowest bin, as `widgets.text_utils.ticks` has them."""
    counts: tuple[int, ...]
    """Of this bin and those above it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartData:
    """All that a graph shows at one moment."""

    series: tuple[Series, ...] = ()
    """The lines; later ones are drawn over earlier ones."""
    references: tuple[Reference, ...] = ()
    """The dotted lines."""
    heat: tuple[HeatInterval, ...] = ()
    """What a heat map shows in place of lines; append to grow it cheaply."""
    marks: tuple[TimeMark, ...] = ()
    """What happened when."""
    shaded_until: float = 0.0
    """Seconds at the beginning that do not count."""
    shaded_text: str = ""
    """What they are called."""
    x_ticks: tuple[tuple[float, str], ...] = ()
    """Places on the horizontal axis with their labels, where it measures no time."""
    x_label: str = ""
    """What the horizontal axis measures."""
    x_max: float | None = None
    """Seconds the whole job takes, so that the axis stands still; `None` while that is not known."""
    y_format: Callable[[float], str] = plain_format
    """Turns a value into the label of a tick: pass the same function every time."""
    close: bool = False
    """Whether a linear vertical axis holds only what is shown, not zero; the legend says so."""
    ends: bool = False
    """Whether lines are named where they end, in a margin on the right: not everybody tells them by colour."""
    over: bool = False
    """Whether no more comes: the value at the end of a line is then one of many, and is not told."""
    bands: bool = False
    """Whether each series has a row of its own where the graph is low and logarithmic."""
    waiting: str = WAITING
    """What stands in a graph without points; "" for nothing."""
