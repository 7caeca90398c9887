"""Pauses of a simulated device: seen by intervals of any length, and without changing what is done in all."""

from __future__ import annotations

import random

import pytest

from backends.simulator.fio.target import Stalls, uneven_stalls


def test_an_interval_is_answered_but_for_the_pauses_in_it() -> None:
    stalls = Stalls([(1.0, 1.5), (1.75, 3.0)])
    assert stalls.answered_share(0.0, 1.0) == (1.0, [])
    assert stalls.answered_share(1.0, 2.0) == (0.25, [0.5])
    assert stalls.answered_share(2.0, 3.0) == (0.0, [1.25])
    assert stalls.answered_share(3.0, 4.0) == (1.0, [])


def test_without_pauses_everything_is_answered() -> None:
    assert Stalls().answered_share(0.0, 60.0) == (1.0, [])


@pytest.mark.parametrize("step", [0.01, 0.25, 7.0])
def test_bursts_do_in_all_what_the_mean_says(step: float) -> None:
    stalls = uneven_stalls(3.92, random.Random(5))
    steps = int(700 / step)
    done = sum(stalls.answered_share(at * step, (at + 1) * step)[0] * stalls.pace * step for at in range(steps))
    assert done == pytest.approx(700, rel=0.005)


def test_a_quarter_of_a_second_shows_both_full_speed_and_none() -> None:
    stalls = uneven_stalls(3.92, random.Random(5))
    shares = [stalls.answered_share(at / 4, (at + 1) / 4)[0] for at in range(240)]
    assert min(shares) == 0.0
    assert max(shares) == 1.0


def test_no_pause_is_long_enough_to_be_told_as_a_standstill() -> None:
    stalls = uneven_stalls(3.92, random.Random(5))
    lengths = [length for at in range(600) for length in stalls.answered_share(float(at), at + 1.0)[1]]
    assert len(lengths) == pytest.approx(600, rel=0.05)
    assert 0.5 < max(lengths) < 1.0
