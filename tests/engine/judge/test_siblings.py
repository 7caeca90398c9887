"""One slow member among its siblings: found, and no sound one called slow."""

from __future__ import annotations

import random
from math import exp

import pytest

from app.engine.judge.siblings import FALSE_ALARM, SiblingFigures, against_siblings


def measured(
    count: int, seed: int, *, delay: float = 0.0, also: float = 0.0, rounds: int = 5
) -> tuple[SiblingFigures, ...]:
    """Members that differ by 2 % and scatter by 4 % from round to round, which itself drifts by 10 %; d0 is delayed."""
    chance = random.Random(seed)
    base = {f"d{at}": 1e5 * exp(chance.gauss(0, 0.02)) for at in range(count)}
    base["d0"] *= 1 + delay
    base["d1"] *= 1 + also
    rows = []
    for _ in range(rounds):
        drift = exp(chance.gauss(0, 0.1))
        rows.append({name: value * drift * exp(chance.gauss(0, 0.04)) for name, value in base.items()})
    return against_siblings(rows)


def slow(found: tuple[SiblingFigures, ...]) -> set[str]:
    return {one.name for one in found if one.is_slow}


def test_a_member_that_takes_twenty_percent_longer_is_found_and_comes_first() -> None:
    found = measured(24, 1, delay=0.2)
    assert (slow(found), found[0].name) == ({"d0"}, "d0")
    assert found[0].low < 0.2 < found[0].high


def test_two_slow_ones_do_not_hide_each_other() -> None:
    assert slow(measured(24, 2, delay=0.5, also=0.5)) == {"d0", "d1"}


def test_what_is_small_is_not_worth_a_word() -> None:
    rows = [
        {f"d{at}": 100.0 + (4.0 if at == 0 else 0.0) + number * 1e-3 * at for at in range(12)} for number in range(5)
    ]
    assert slow(against_siblings(rows)) == set()


@pytest.mark.parametrize(("members", "rounds"), [(3, 5), (4, 2), (0, 0)])
def test_of_too_few_nothing_is_said(members: int, rounds: int) -> None:
    with pytest.raises(ValueError, match="needs four siblings"):
        against_siblings([{f"d{at}": 1.0 for at in range(members)} for _ in range(rounds)])


@pytest.mark.exhaustive
@pytest.mark.parametrize("count", [4, 6, 12, 24])
def test_a_sound_array_is_seldom_blamed(count: int) -> None:
    blamed = sum(bool(slow(measured(count, seed))) for seed in range(1000))
    assert blamed <= FALSE_ALARM * 1000


@pytest.mark.exhaustive
def test_one_of_twenty_four_is_found_nearly_always() -> None:
    assert sum("d0" in slow(measured(24, seed, delay=0.2)) for seed in range(400)) >= 0.95 * 400
