"""Clocks of hosts by pings, and when all are to start."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.features.fleet.multihost.clock_sync import PingReply, offset_of, start_moments

AHEAD, WALL = 1234.5, 1.7e9


def echo(sent: float, there: float, back: float) -> PingReply:
    """A ping that took so long there and back to a host whose clocks are ahead by the constants above."""
    at = sent + there
    return PingReply(sent=sent, received=at + back, monotonic=at + AHEAD, wall=at + WALL)


def test_the_shortest_round_trip_counts() -> None:
    offset = offset_of([echo(1.0, 0.2, 0.0), echo(2.0, 0.001, 0.001), echo(3.0, 0.0, 0.3)])
    assert offset is not None
    assert abs(offset.monotonic - AHEAD) < 1e-6
    assert abs(offset.error_s - 0.001) < 1e-9


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0, 5)), min_size=1, max_size=20))
def test_it_is_wrong_by_its_error_at_most(ways: list[tuple[float, float]]) -> None:
    offset = offset_of([echo(10.0 * number, *way) for number, way in enumerate(ways)])
    assert offset is not None
    assert abs(offset.monotonic - AHEAD) <= offset.error_s + 1e-6
    assert abs(offset.wall - WALL) <= offset.error_s + 1e-6


def test_without_a_ping_nothing_is_known() -> None:
    assert offset_of([]) is None


def test_a_moment_is_the_same_by_both_clocks() -> None:
    offset = offset_of([echo(1.0, 0.01, 0.01)])
    assert offset is not None
    assert abs(offset.to_controller_time(100.0 + AHEAD) - 100.0) < 1e-6
    assert abs(offset.to_host_wall_time(100.0) - (100.0 + WALL)) < 1e-6


def test_the_start_leaves_half_a_second_or_three_round_trips() -> None:
    assert start_moments(10.0, [0.01, 0.02], 2, 0.0) == (12.0, 12.0)
    assert start_moments(10.0, [0.01, 0.9], 1, 0.0) == (10.0 + 3 * 0.9,)


def test_hosts_may_start_one_after_another() -> None:
    assert start_moments(10.0, [], 3, 2.0) == (12.0, 14.0, 16.0)
