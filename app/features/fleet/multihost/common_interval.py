"""The common interval of a run on many hosts: the time in which all of them measured. No I/O.

fio starts up to a second late, so hosts never start together. Only the time in which all hosts measured counts. Hosts
outside of it are named.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from backends.values import dataclass

SHARE = 0.5
"""Minimum length of the common interval, as a share of a host's median time; below it a host is left out."""

LATE_S = 1.0
"""Seconds after the first host from which a host started late; fio cannot start more precisely."""

SLACK_S = 1e-6
"""Rounding error between two equal times."""

Span = tuple[float, float]
"""Begin and end in seconds of our monotonic clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonInterval:
    """The time in which all of `hosts` measured."""

    begin: float
    """Begin by our monotonic clock."""
    end: float
    """End by our monotonic clock."""
    hosts: tuple[str, ...]
    """Hosts that measured in it."""
    outside: Mapping[str, str]
    """Hosts that measured at a different time, with the reason as a clause."""

    @property
    def seconds(self) -> float:
        """Return its length."""
        return self.end - self.begin

    def holds(self, span: Span) -> bool:
        """Return whether an interval is completely inside."""
        return span[0] >= self.begin - SLACK_S and span[1] <= self.end + SLACK_S


def common_window(spans: Mapping[str, Span]) -> CommonInterval | None:
    """Return the common interval of the hosts' measuring times, or None if there is none.

    While it is shorter than half of a host's median time, the host that shortens it most is left out.
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
    """Return the length of the common interval without a host."""
    rest = [span for host, span in spans.items() if host != without]
    return min(span[1] for span in rest) - max(span[0] for span in rest) if rest else 0.0


def _outlier_reason(span: Span, first: float, rest: Mapping[str, Span]) -> str:
    end = min((span[1] for span in rest.values()), default=span[1])
    if span[0] - first > end - span[1]:
        return f"it began {span[0] - first:.1f} s after the first"
    return f"it ended {end - span[1]:.1f} s before the others"


def late_starts(spans: Mapping[str, Span], planned: Mapping[str, float]) -> dict[str, float]:
    """Return the hosts that started over a second later than the first, relative to their planned starts."""
    waits = {host: span[0] - planned.get(host, 0.0) for host, span in spans.items()}
    first = min(waits.values(), default=0.0)
    return {host: wait - first for host, wait in waits.items() if wait - first > LATE_S}
