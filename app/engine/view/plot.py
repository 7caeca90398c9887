"""A graph that stands still, before anybody draws it: points with error bars over a common axis. Values only."""

from __future__ import annotations

from collections.abc import Callable

from backends.values import dataclass
from widgets.plain.signs import KNEE, Sign


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotPoint:
    """A point with its error bar."""

    x: float
    y: float
    low: float | None = None
    """Lower end of its 95 % interval; None without one."""
    high: float | None = None
    """Upper end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotLine:
    """Points that follow from each other."""

    name: str
    """In the legend."""
    points: tuple[PlotPoint, ...]
    """Ascending x."""
    joined: bool = True
    """Whether a line leads from each to the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotMark:
    """Something on the horizontal axis."""

    x: float
    words: str
    """What it is."""
    sign: Sign = KNEE
    """What stands on the axis."""
    bad: bool = False
    """Whether it is unwelcome."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotBand:
    """What the points are held to."""

    name: str
    """In the legend."""
    middle: float
    half: float
    """How far it reaches above and below; 0 where that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotView:
    """The graph."""

    title: str
    """What it shows."""
    lines: tuple[PlotLine, ...]
    """Those with points."""
    x_text: Callable[[float], str]
    """A value of the horizontal axis as its tick."""
    y_text: Callable[[float], str]
    """A value of the vertical axis as its tick."""
    x_log: bool = False
    """Equal distances are equal ratios."""
    y_log: bool = False
    """The same upwards."""
    marks: tuple[PlotMark, ...] = ()
    """What is where on the horizontal axis."""
    x_ticks: tuple[float, ...] = ()
    """What is labelled on it; round values where it is empty."""
    x_high: float | None = None
    """Where it ends; None behind the last point."""
    x_label: str = ""
    """What it measures."""
    band: PlotBand | None = None
    """Drawn beneath the points."""
    empty: str = "waiting for the first runs"
    """Why there is nothing to draw."""
