"""Signed ranks against scipy and against all patterns of signs, and from which number of pairs on they judge."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from app.core.analysis.pair_design import LEVEL, STANDARD
from app.core.analysis.signed_rank import RANKS_FROM, pair_interval, signed_ranks, uses_ranks
from app.core.analysis.stats import ratio_interval
from tests.oracle import scipy


def drawn(pairs: int, seed: int, effect: float = 0.01) -> list[float]:
    random = Random(f"{pairs} {seed}")
    return [random.gauss(effect, 0.02) for _ in range(pairs)]


@pytest.mark.long
@pytest.mark.parametrize("pairs", [8, 9, 12, 20, 50])
def test_the_p_value_is_scipys(pairs: int) -> None:
    for seed in range(20):
        ratios = drawn(pairs, seed)
        theirs = scipy.stats.wilcoxon(ratios, method="exact").pvalue
        assert signed_ranks(ratios).p == pytest.approx(theirs, rel=1e-9)


@pytest.mark.parametrize("level", [0.05, 0.034, 0.017])
def test_the_interval_excludes_nothing_just_where_p_is_within_the_level(level: float) -> None:
    for seed in range(200):
        ratios = drawn(8 + seed % 13, seed)
        found = signed_ranks(ratios, level=level)
        assert found.excludes_zero == (found.p <= level)


def test_the_interval_covers_what_it_says_over_all_patterns_of_signs() -> None:
    """Of 256 patterns of eight values around 0 at most one in twenty leaves it out."""
    sizes = drawn(8, 1)
    wrong = sum(
        signed_ranks([size * sign for size, sign in zip(sizes, signs, strict=True)]).excludes_zero
        for signs in product((-1, 1), repeat=8)
    )
    assert wrong == 10  # 3.9 %: the most that whole ranks allow below 5 %


@pytest.mark.long
def test_beyond_a_hundred_pairs_the_normal_distribution_is_near_enough() -> None:
    ratios = drawn(101, 3, effect=0.004)
    theirs = scipy.stats.wilcoxon(ratios, method="exact").pvalue
    assert signed_ranks(ratios).p == pytest.approx(theirs, rel=0.03)


def test_equal_pairs_are_no_difference_and_equal_ratios_leave_no_doubt() -> None:
    assert (signed_ranks([0.0] * 8).p, signed_ranks([0.0] * 8).excludes_zero) == (1.0, False)
    assert (signed_ranks([0.1] * 8).p, signed_ranks([0.1] * 8).sd) == (2 / 256, 0.0)


def test_pairs_of_no_difference_count_against_either_side() -> None:
    assert signed_ranks([0.0] * 7 + [0.01]).p == 1.0


def test_student_judges_up_to_seven_pairs_and_ranks_from_eight_on() -> None:
    assert [uses_ranks(pairs, LEVEL) for pairs in (3, 6, 7, 8, 12, 50)] == [False] * 3 + [True] * 3
    assert [uses_ranks(look.pairs, look.level) for look in STANDARD] == [False, False, True, True, True, True]
    ratios = drawn(RANKS_FROM, 5)
    assert pair_interval(ratios) == signed_ranks(ratios)
    assert pair_interval(ratios[1:]) == ratio_interval(ratios[1:])


def test_where_ranks_of_so_few_cannot_reach_a_level_student_judges() -> None:
    assert pair_interval(drawn(12, 1), strictest=0.0005) == ratio_interval(drawn(12, 1))
    assert pair_interval(drawn(13, 1), strictest=0.0005) == signed_ranks(drawn(13, 1))
    with pytest.raises(ValueError, match="6 pairs have no interval at a level"):
        signed_ranks(drawn(6, 1), level=0.03)


def test_a_few_runs_that_took_ten_times_as_long_move_nothing() -> None:
    ratios = [0.05 + step / 1000 for step in range(-9, 9)]
    seen, spoilt = signed_ranks(ratios), signed_ranks([*ratios, -2.3, 2.3])
    assert spoilt.mean == pytest.approx(seen.mean, abs=0.001)
    assert (spoilt.high - spoilt.low) < 2 * (seen.high - seen.low)
