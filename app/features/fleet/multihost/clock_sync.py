"""How far a host's clocks are from ours, by pings there and back, and when all are to start. Pure.

All times are seconds. Ours is the monotonic clock of the controller.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from backends.values import dataclass

LEAST_LEAD_S = 2.0
"""From the word to the start, at least: every host has to have heard it, also one that stands still for a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PingReply:
    """A ping that came back."""

    sent: float
    """When it was sent, by our clock."""
    received: float
    """When the answer came, by our clock."""
    monotonic: float
    """The host's monotonic clock between the two."""
    wall: float
    """The host's wall clock between the two."""

    @property
    def round_trip(self) -> float:
        """Seconds there and back."""
        return self.received - self.sent


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockOffset:
    """How far a host's clocks are ahead of ours."""

    monotonic: float
    """The host's monotonic clock minus ours."""
    wall: float
    """The host's wall clock minus our monotonic clock."""
    error_s: float
    """By so much at most it is wrong: half of the round trip, since the two ways need not take the same time."""

    def ours(self, monotonic: float) -> float:
        """Our time of a moment that the host's monotonic clock tells."""
        return monotonic - self.monotonic

    def theirs(self, ours: float) -> float:
        """The host's wall clock at a moment of ours."""
        return ours + self.wall


def offset_of(echoes: Iterable[PingReply]) -> ClockOffset | None:
    """By the ping with the shortest round trip, whose error is the smallest; None without one."""
    best = min(echoes, key=lambda echo: echo.round_trip, default=None)
    if best is None:
        return None
    middle = (best.sent + best.received) / 2
    return ClockOffset(monotonic=best.monotonic - middle, wall=best.wall - middle, error_s=best.round_trip / 2)


def start_moments(now: float, round_trips: Sequence[float], hosts: int, stagger_s: float) -> tuple[float, ...]:
    """Our time at which each of so many hosts is to start, in their order; `round_trips`: the latest of each."""
    first = now + max(LEAST_LEAD_S, 3 * max(round_trips, default=0.0))
    return tuple(first + number * stagger_s for number in range(hosts))
