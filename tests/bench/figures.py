"""Figures with their spread: medians, ratios of pairs, and how they are printed."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

_T95 = (
    12.71,
    4.30,
    3.18,
    2.78,
    2.57,
    2.45,
    2.36,
    2.31,
    2.26,
    2.23,
    2.20,
    2.18,
    2.16,
    2.14,
    2.13,
    2.12,
    2.11,
    2.10,
    2.09,
)
"""Student's t for 95 %, two-sided, by degrees of freedom from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One line of the table."""

    name: str
    """What was measured."""
    value: float
    """The figure that is held against the goal."""
    low: float
    """Lower end of the interval."""
    high: float
    """Upper end."""
    unit: str = ""
    """`x` for a ratio, `%`, `s`, `KiB/s`."""
    goal: float | None = None
    """What it should reach."""
    at_least: bool = False
    """Whether more is better."""
    note: str = ""
    """How it was come by: pairs, medians behind a ratio."""

    @property
    def reached(self) -> bool:
        """Whether the value itself is at the goal or better; true where there is none."""
        return self.goal is None or (self.value - self.goal) * (1 if self.at_least else -1) >= 0

    @property
    def verdict(self) -> str:
        """`met` or `missed` where the whole interval says so, else `likely` or `unlikely`."""
        if self.goal is None:
            return ""
        sign = 1 if self.at_least else -1
        ends = [(end - self.goal) * sign >= 0 for end in (self.low, self.high)]
        if self.reached:
            return "met" if all(ends) else "likely"
        return "unlikely" if any(ends) else "missed"

    def row(self) -> tuple[str, str, str, str, str, str]:
        """Words for the table."""
        goal = "" if self.goal is None else f"{'>=' if self.at_least else '<='} {self.goal:g}"
        digits = 3 if abs(self.value) < 10 else 1
        span = f"[{self.low:.{digits}f} .. {self.high:.{digits}f}]"
        return self.name, f"{self.value:.{digits}f} {self.unit}".strip(), span, goal, self.verdict, self.note


def ratio(name: str, ours: Sequence[float], theirs: Sequence[float], **more: object) -> Figure:
    """The mean log-ratio of pairs as a ratio, with its 95 % t interval."""
    logs = [math.log(a / b) for a, b in zip(ours, theirs, strict=True) if a > 0 and b > 0]
    if not logs:
        nothing = math.nan
        return Figure(name=name, value=nothing, low=nothing, high=nothing, unit="x", **more)  # type: ignore[arg-type]
    mean = statistics.fmean(logs)
    freedom = len(logs) - 1
    half = math.inf
    if freedom:
        t = _T95[freedom - 1] if freedom <= len(_T95) else 1.96
        half = t * statistics.stdev(logs) / math.sqrt(len(logs))
    return Figure(
        name=name,
        value=math.exp(mean),
        low=math.exp(mean - half),
        high=math.exp(mean + half),
        unit="x",
        **more,  # type: ignore[arg-type]
    )


def ratio_of_medians(name: str, ours: Sequence[float], theirs: Sequence[float], **more: object) -> Figure:
    """The median of the pairs' ratios, with the smallest and largest of them."""
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    return Figure(
        name=name,
        value=statistics.median(ratios),
        low=min(ratios),
        high=max(ratios),
        unit="x",
        **more,  # type: ignore[arg-type]
    )


def median(name: str, values: Sequence[float], unit: str, **more: object) -> Figure:
    """The median, with the smallest and largest."""
    return Figure(
        name=name,
        value=statistics.median(values),
        low=min(values),
        high=max(values),
        unit=unit,
        **more,  # type: ignore[arg-type]
    )


def table(figures: Sequence[Figure]) -> str:
    """All of them, aligned."""
    head = ("figure", "value", "interval", "goal", "", "")
    rows = [head, *(figure.row() for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
