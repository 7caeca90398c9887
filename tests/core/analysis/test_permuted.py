"""Set-ups in rounds: what another order would have met, and what stands out of it."""

from __future__ import annotations

from itertools import permutations, product
from math import log
from random import Random

import pytest

from app.core.analysis.permutation_test import REACH, RoundResults, can_show, permutation_intervals, rounds_needed


def drawn(
    seed: int,
    *,
    setups: int = 12,
    rounds: int = 3,
    scatter: float = 0.02,
    effects: dict[int, float] | None = None,
    rise: float = 0.0,
) -> RoundResults:
    """One workload: effects by label, as shares; `rise` from the first to the last of a round."""
    random = Random(seed)
    labels = [random.sample(range(setups), setups) for _ in range(rounds)]
    return RoundResults(
        values=tuple(
            tuple(
                random.gauss(0, scatter) + log(1 + (effects or {}).get(label, 0.0)) + rise * place / setups
                for place, label in enumerate(row)
            )
            for row in labels
        ),
        labels=tuple(map(tuple, labels)),
    )


def shown(found: RoundResults, seed: str = "s", level: float = 0.05) -> list[int]:
    """Labels of which a difference is shown."""
    (intervals,) = permutation_intervals((found,), seed=seed, level=level, draws=99)
    return [label for label, one in enumerate(intervals, 1) if one.excludes_zero]


def test_what_stands_out_is_found_and_nothing_else() -> None:
    assert shown(drawn(1, effects={5: 0.2})) == [5]
    assert shown(drawn(1)) == []


def test_where_the_first_stands_out_all_others_differ_from_it() -> None:
    assert shown(drawn(1, effects={0: 0.2})) == [*range(1, 12)]


def test_the_interval_is_around_the_effect_however_far_it_lies() -> None:
    for effect in (0.2, 1.0, 9.0):
        ((*_, fifth, _, _, _, _, _, _),) = permutation_intervals((drawn(3, effects={5: effect}),), seed="s", level=0.05)
        assert fifth.percent == pytest.approx(effect * 100, rel=0.15)
        assert fifth.p <= 0.05


def test_the_same_values_are_told_the_same_again() -> None:
    family = (drawn(4, effects={5: 0.06}), drawn(5))
    first = permutation_intervals(family, seed="a", level=0.05)
    permutation_intervals.cache_clear()
    assert permutation_intervals(family, seed="a", level=0.05) == first


def test_a_difference_is_shown_only_where_p_is_within_the_level() -> None:
    told = [
        one.p
        for seed in range(30)
        for one in permutation_intervals((drawn(seed, effects={5: 0.07}),), seed="s", level=0.05, draws=99)[0]
        if one.excludes_zero
    ]
    assert len(told) > 10
    assert max(told) <= 0.05


def test_a_few_wild_runs_do_not_hide_a_difference() -> None:
    spoilt = drawn(6, effects={5: 0.2})
    rows = [list(row) for row in spoilt.values]
    for turn, label in ((0, 3), (2, 9)):
        rows[turn][spoilt.labels[turn].index(label)] -= log(10)
    assert shown(RoundResults(values=tuple(map(tuple, rows)), labels=spoilt.labels)) == [5]


def test_a_rise_along_the_rounds_does_not_hide_a_difference() -> None:
    assert shown(drawn(7, effects={5: 0.1}, rise=0.2)) == [5]


def test_of_all_orders_that_could_have_been_drawn_few_are_told_to_differ() -> None:
    """Six labels of one round for four set-ups that are the same, whatever the values: at most one of twenty."""
    values = tuple(tuple(Random(9).gauss(0, 1) ** 3 for _ in range(4)) for _ in range(3))
    labels = list(permutations(range(4)))
    orders = Random(1).sample(list(product(labels, repeat=3)), 200)
    wrong = sum(bool(shown(RoundResults(values=values, labels=order), seed=str(order))) for order in orders)
    assert wrong <= 0.05 * 200


def test_what_is_really_different_does_not_make_others_different() -> None:
    """Half of the set-ups differ: among the labels as they were drawn that is scatter, and would hide scatter."""
    effects = dict.fromkeys(range(1, 6), 0.2)
    wrong = sum(bool(set(shown(drawn(seed, effects=effects), level=0.05)) - set(effects)) for seed in range(60))
    assert wrong <= 6


def test_rounds_without_any_scatter_are_told_apart_and_equal_ones_are_not() -> None:
    assert shown(drawn(1, scatter=0.0, effects={5: 0.1})) == [5]
    assert shown(drawn(1, scatter=0.0)) == []


@pytest.mark.parametrize(("setups", "rounds"), [(2, 7), (3, 5), (4, 4), (5, 4), (8, 3), (12, 3), (64, 2)])
def test_so_many_rounds_can_show_what_stands_out_and_one_less_cannot(setups: int, rounds: int) -> None:
    assert rounds_needed(setups, 0.03) == rounds
    assert can_show(setups, rounds, 0.03)
    assert not can_show(setups, rounds - 1, 0.03)
    assert setups ** (1 - rounds) <= REACH * 0.03
