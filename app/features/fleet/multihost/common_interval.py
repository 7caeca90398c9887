"""The common window of a run on many hosts: the time in which all of them measured, out of their intervals. Pure.

fio starts within a second of what it was told at best, so no start is common. What counts is the time in which every
host was measuring; who was outside of it is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from backends.values import dataclass

SHARE = 0.5
"""A host is left outside where the window would else be shorter than this share of the usual time of a host."""

LATE_S = 1.0
"""Seconds after the first of them from which a host began late: closer than that no fio is started."""

SLACK_S = 1e-6
"""What rounding may make of two equal moments."""

Span = tuple[float, float]
"""Begin and end, seconds of our monotonic clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonInterval:
    """The time in which all of `hosts` measured."""

    begin: float
    """By our monotonic clock."""
    end: float
    """By our monotonic clock."""
    hosts: tuple[str, ...]
    """Who was in it."""
    outside: Mapping[str, str]
    """Who measured, but not in it, and why, in a clause."""

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.end - self.begin

    def holds(self, span: Span) -> bool:
        """Whether an interval lies in it as a whole."""
        return span[0] >= self.begin - SLACK_S and span[1] <= self.end + SLACK_S


def common_window(spans: Mapping[str, Span]) -> CommonInterval | None:
    """The window of hosts that each measured from a begin to an end; None where there is none.

    The one that shortens it most is left outside as long as it is shorter than half of the usual time of a host.
    """
    inside = {host: span for host, span in spans.items() if span[1] > span[0]}
    outside: dict[str, str] = {}
    while inside:
        begin = max(span[0] for span in inside.values())
        end = min(span[1] for span in inside.values())
        usual = median(span[1] - span[0] for span in inside.values())
        if end - begin >= SHARE * usual:
            return CommonInterval(begin=begin, end=end, hosts=tuple(inside), outside=outside)
        worst = max(inside, key=lambda host: _length(inside, host))
        first = min(span[0] for span in inside.values())
        outside[worst] = _outlier_reason(inside.pop(worst), first, inside)
    return None


def _length(spans: Mapping[str, Span], without: str) -> float:
    """The length of the window without a host."""
    rest = [span for host, span in spans.items() if host != without]
    return min(span[1] for span in rest) - max(span[0] for span in rest) if rest else 0.0


def _outlier_reason(own: Span, first: float, rest: Mapping[str, Span]) -> str:
    end = min((span[1] for span in rest.values()), default=own[1])
    if own[0] - first > end - own[1]:
        return f"it began {own[0] - first:.1f} s after the first"
    return f"it ended {end - own[1]:.1f} s before the others"


def late_starts(spans: Mapping[str, Span], planned: Mapping[str, float]) -> dict[str, float]:
    """Who began to measure more than a second later than the first of them, each counted from its planned start."""
    waits = {host: span[0] - planned.get(host, 0.0) for host, span in spans.items()}
    first = min(waits.values(), default=0.0)
    return {host: wait - first for host, wait in waits.items() if wait - first > LATE_S}
