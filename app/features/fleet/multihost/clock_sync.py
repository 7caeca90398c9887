"""Offsets between the clocks of a host and of this machine, measured by pings, and the start times. No I/O.

All times are in seconds. "Our clock" is the monotonic clock of this machine, which controls the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from backends.values import dataclass

LEAST_LEAD_S = 2.0
"""Minimum seconds from the start command to the start. Even a host that stalls for a second receives it in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PingReply:
    """Times of a ping that a host answered."""

    sent: float
    """Time when the ping was sent, by our clock."""
    received: float
    """Time when the answer arrived, by our clock."""
    monotonic: float
    """Time of the host's monotonic clock when it answered."""
    wall: float
    """Time of the host's wall clock when it answered."""

    @property
    def round_trip(self) -> float:
        """Return the round-trip time in seconds."""
        return self.received - self.sent


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockOffset:
    """Difference between a host's clocks and our clock, in seconds."""

    monotonic: float
    """The host's monotonic clock minus our clock."""
    wall: float
    """The host's wall clock minus our clock."""
    error_s: float
    """Maximum error: half of the round trip, because the two directions need not take equally long."""

    def to_controller_time(self, monotonic: float) -> float:
        """Convert a time of the host's monotonic clock to our clock."""
        return monotonic - self.monotonic

    def to_host_wall_time(self, ours: float) -> float:
        """Convert a time of our clock to the host's wall clock."""
        return ours + self.wall


def offset_of(replies: Iterable[PingReply]) -> ClockOffset | None:
    """Return the offset from the ping with the shortest round trip, whose error is smallest; None without pings."""
    best = min(replies, key=lambda reply: reply.round_trip, default=None)
    if best is None:
        return None
    middle = (best.sent + best.received) / 2
    return ClockOffset(monotonic=best.monotonic - middle, wall=best.wall - middle, error_s=best.round_trip / 2)


def start_moments(now: float, round_trips: Sequence[float], hosts: int, stagger_s: float) -> tuple[float, ...]:
    """Return one start time by our clock for each of `hosts` hosts, `stagger_s` seconds apart.

    `now`: the present time by our clock. `round_trips`: the latest round-trip time of each host in seconds. The first
    start is three of the longest round trips after `now`, but at least `LEAST_LEAD_S` seconds after it.
    """
    first = now + max(LEAST_LEAD_S, 3 * max(round_trips, default=0.0))
    return tuple(first + number * stagger_s for number in range(hosts))
