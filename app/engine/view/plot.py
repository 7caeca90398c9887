"""A graph that stands still, before anybody draws it: lines with error bars over a common axis. Values only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


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
    mark: tuple[float, str] | None = None
    """Where something is on the horizontal axis, and what."""
