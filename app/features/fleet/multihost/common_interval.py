"""The common interval of a run on many hosts: the time in which all hosts measured. No I/O.

fio starts up to a second late, so hosts never start at exactly the same time. Results are taken only from the common
interval. Hosts that did not measure in it are named.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from backends.values import dataclass

SHARE = 0.5
"""Minimum length of the common interval, as a share of the median measuring time. If it is shorter, a host is left out.
"""

LATE_S = 1.0
"""A host started late if it started more than this number of seconds after the first; fio cannot start more precisely.
"""

SLACK_S = 1e-6
"""Maximum rounding error in seconds between two equal times."""

Span = tuple[float, float]
"""Begin and end, in seconds of this machine's monotonic clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonInterval:
    """The time in which all of `hosts` measured."""

    begin: float
    """Begin of the interval, in seconds of this machine's monotonic clock."""
    end: float
    """End of the interval, in seconds of this machine's monotonic clock."""
    hosts: tuple[str, ...]
    """Hosts that measured during the common interval."""
    outside: Mapping[str, str]
    """Hosts that were left out because they measured at a different time, with the reason as a clause."""

    @property
    def seconds(self) -> float:
        """Return the length of the common interval in seconds."""
        return self.end - self.begin

    def holds(self, span: Span) -> bool:
        """Return whether `span` lies completely within the common interval."""
        return span[0] >= self.begin - SLACK_S and span[1] <= self.end + SLACK_S


def common_window(spans: Mapping[str, Span]) -> CommonInterval | None:
    """Return the common interval of the hosts' measuring times, or None if there is none.

    As long as the common interval is shorter than half of the median measuring time, the host that shortens it most is
    left out.
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
    """Return the length that the common interval would have without this host."""
    rest = [span for host, span in spans.items() if host != without]
    return min(span[1] for span in rest) - max(span[0] for span in rest) if rest else 0.0


def _outlier_reason(span: Span, first: float, rest: Mapping[str, Span]) -> str:
    end = min((span[1] for span in rest.values()), default=span[1])
    if span[0] - first > end - span[1]:
        return f"it began {span[0] - first:.1f} s after the first"
    return f"it ended {end - span[1]:.1f} s before the others"


def late_starts(spans: Mapping[str, Span], planned: Mapping[str, float]) -> dict[str, float]:
    """Return the delay in seconds of each host that started more than `LATE_S` later than the first.

    Each start is relative to the planned start of the host.
    """
    waits = {host: span[0] - planned.get(host, 0.0) for host, span in spans.items()}
    first = min(waits.values(), default=0.0)
    return {host: wait - first for host, wait in waits.items() if wait - first > LATE_S}
