"""The knee of a throughput-latency curve: where throughput by latency is the greatest."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from app.core.analysis.knee import Knee, LoadPoint, knee

RATES = (10, 20, 30, 40, 50, 60, 70, 80, 90, 95)


def loads(rise: Callable[[float], float], *, runs: Sequence[float] = (0.99, 1.0, 1.01)) -> list[LoadPoint]:
    """Loads of a device of 100 a second, all of them carried."""
    return [
        LoadPoint(rate=rate, latencies=tuple(rise(rate / 100) * run for run in runs), carried=True) for rate in RATES
    ]


def too_much(latency: float = 50.0) -> LoadPoint:
    """Asked for more than it can."""
    return LoadPoint(rate=100.0, latencies=(latency, latency * 1.01, latency * 0.99), carried=False)


def one_server(share: float) -> float:
    return 1 / (1 - share)


def found(given: Sequence[LoadPoint]) -> Knee:
    seen = knee(given)
    assert seen is not None
    return seen


def test_one_server_has_its_knee_at_half_its_capacity() -> None:
    assert found([*loads(one_server), too_much()]).rate == pytest.approx(50, abs=2)


def test_the_knee_is_found_although_nothing_was_too_much() -> None:
    assert found(loads(one_server)).rate == pytest.approx(50, abs=2)


def test_what_does_not_slow_down_has_its_knee_at_the_highest_load_it_carries() -> None:
    seen = found([*loads(lambda _: 1.0), too_much()])
    assert (seen.rate, seen.at_limit) == (95, True)


def test_the_knee_at_the_limit_may_lie_anywhere_up_to_what_was_too_much() -> None:
    assert found([*loads(lambda _: 1.0), too_much()]).high == 100


def test_a_knee_that_nothing_was_too_much_for_is_not_reached() -> None:
    assert knee(loads(lambda _: 1.0)) is None


def test_a_knee_before_the_limit_is_not_at_it() -> None:
    assert not found([*loads(one_server), too_much()]).at_limit


def test_the_latency_of_the_knee_is_that_between_its_neighbours() -> None:
    assert found([*loads(one_server), too_much()]).latency == pytest.approx(2.0, rel=0.1)


def test_runs_that_scatter_more_make_the_interval_wider() -> None:
    calm, wild = found(loads(one_server)), found(loads(one_server, runs=(0.7, 1.0, 1.4)))
    assert wild.high - wild.low > calm.high - calm.low


def test_the_interval_is_never_narrower_than_the_ladder() -> None:
    seen = found(loads(one_server, runs=(1.0, 1.0, 1.0)))
    assert seen.high - seen.low >= 5


def test_the_same_loads_have_the_same_interval() -> None:
    assert knee(loads(one_server)) == knee(loads(one_server))


def test_single_runs_tell_nothing_of_their_scatter_and_so_bound_no_knee() -> None:
    assert knee(loads(one_server, runs=(1.0,))) is None


def test_two_loads_make_no_curve() -> None:
    assert knee(loads(one_server)[:2]) is None
