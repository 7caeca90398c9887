"""One slow member among its siblings: found, and no sound one called slow."""

from __future__ import annotations

import random
from math import exp

import pytest

from app.core.analysis.slow_member import MOST_ROUNDS, MemberComparison, against_siblings, detectable, rounds_to_show

PROMISED = 0.05
"""False alarms at most, of arrays."""


def measured(
    count: int,
    seed: int,
    *,
    delay: float = 0.0,
    also: float = 0.0,
    rounds: int = 5,
    scatter: float = 0.04,
    hiccups: float = 0.0,
) -> tuple[MemberComparison, ...]:
    """Members that differ by 2 % and scatter from round to round, which itself drifts by 10 %; d0 is delayed.

    `hiccups`: the share of readings that take three times as long.
    """
    chance = random.Random(seed)
    base = {f"d{at}": 1e5 * exp(chance.gauss(0, 0.02)) for at in range(count)}
    base["d0"] *= 1 + delay
    base["d1"] *= 1 + also
    rows = []
    for _ in range(rounds):
        drift = exp(chance.gauss(0, 0.1))
        rows.append(
            {
                name: value * drift * exp(chance.gauss(0, scatter)) * (3 if chance.random() < hiccups else 1)
                for name, value in base.items()
            }
        )
    return against_siblings(rows)


def slow(found: tuple[MemberComparison, ...]) -> set[str]:
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
    with pytest.raises(ValueError, match="needs four members to compare"):
        against_siblings([{f"d{at}": 1.0 for at in range(members)} for _ in range(rounds)])


def false_alarms(count: int, runs: int, **how: float) -> float:
    return sum(bool(slow(measured(count, seed, **how))) for seed in range(runs)) / runs  # type: ignore[arg-type]


def found(count: int, runs: int, **how: float) -> float:
    return sum("d0" in slow(measured(count, seed, **how)) for seed in range(runs)) / runs  # type: ignore[arg-type]


def test_four_members_in_five_rounds_find_one_that_is_thirty_percent_slower_and_blame_no_sound_one() -> None:
    assert found(4, 100, delay=0.3, scatter=0.05) >= 0.98
    assert false_alarms(4, 100, scatter=0.05) <= PROMISED


def test_two_slow_ones_of_four_are_both_found() -> None:
    assert slow(measured(4, 3, delay=0.3, also=3.0)) == {"d0", "d1"}


def test_one_hiccup_hides_no_slow_member_and_makes_none() -> None:
    rows = [{"d0": 130.0 + at, "d1": 100.0 - at, "d2": 101.0 + at, "d3": 99.0 + at} for at in range(5)]
    rows[2]["d1"] = 400.0
    assert slow(against_siblings(rows)) == {"d0"}


@pytest.mark.parametrize("members", [4, 8, 24])
def test_more_rounds_show_less_and_what_is_planned_is_enough(members: int) -> None:
    shown = [detectable(members, rounds, 0.05) for rounds in (3, 5, 10, 20, 50)]
    assert shown == sorted(shown, reverse=True)
    rounds = rounds_to_show(0.1, members, 0.05)
    assert rounds is not None
    assert detectable(members, rounds, 0.05) <= 0.1 < detectable(members, rounds - 1, 0.05)


def test_what_no_number_of_rounds_shows_is_none() -> None:
    assert rounds_to_show(0.1, 4, 0.2) is None
    assert detectable(4, MOST_ROUNDS, 0.2) > 0.1


@pytest.mark.parametrize(("members", "rounds"), [(4, 3), (4, 5), (6, 5), (24, 5), (4, 20)])
@pytest.mark.long
def test_a_member_as_slow_as_is_promised_is_found_in_eight_of_ten_cases(members: int, rounds: int) -> None:
    promised = detectable(members, rounds, 0.05)
    assert found(members, 150, delay=promised, rounds=rounds, scatter=0.05) >= 0.8


@pytest.mark.exhaustive
@pytest.mark.parametrize("count", [4, 6, 8, 9, 12, 24])
@pytest.mark.parametrize(("rounds", "scatter", "hiccups"), [(3, 0.04, 0.0), (5, 0.04, 0.01), (20, 0.01, 0.0)])
def test_a_sound_array_is_seldom_blamed(count: int, rounds: int, scatter: float, hiccups: float) -> None:
    assert false_alarms(count, 1000, rounds=rounds, scatter=scatter, hiccups=hiccups) <= PROMISED


@pytest.mark.exhaustive
def test_one_of_twenty_four_is_found_nearly_always() -> None:
    assert found(24, 400, delay=0.2) >= 0.95
