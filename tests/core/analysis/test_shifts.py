"""Changes of level in a series: found where they are, and seldom where there are none."""

from __future__ import annotations

from math import exp, log
from random import Random

import pytest

from app.core.analysis.drift import FEWEST_POINTS, level_of, shifts
from tests.case_loop import loop_over
from tests.oracle import scipy

LOW = (100.0, 100.1, 99.9)
HIGH = (150.0, 150.1, 149.9)


def test_three_points_on_either_side_are_enough() -> None:
    assert [shift.at for shift in shifts((*LOW, *HIGH))] == [3]


def test_two_on_one_side_are_not() -> None:
    assert shifts((*LOW, *HIGH[:2])) == ()


def test_it_tells_by_how_much() -> None:
    (shift,) = shifts((*LOW, *HIGH))
    assert shift.interval.percent == pytest.approx(50.0, abs=0.1)


def test_two_changes_are_two() -> None:
    assert [shift.at for shift in shifts((*LOW, *HIGH, *HIGH, *LOW))] == [3, 9]


def test_three_levels_are_told_where_each_begins() -> None:
    lower = (60.0, 60.1, 59.9)
    assert [shift.at for shift in shifts((*LOW, *LOW, *lower, *lower, *HIGH, *HIGH))] == [6, 12]


def test_each_is_told_up_to_the_next() -> None:
    assert [(shift.before, shift.after) for shift in shifts((*LOW, *LOW, *HIGH, *HIGH, *LOW))] == [(6, 6), (6, 3)]


def test_less_than_the_threshold_is_none() -> None:
    assert shifts((100.0, 100.01, 99.99, 101.5, 101.51, 101.49)) == ()


def test_the_threshold_may_be_another() -> None:
    assert len(shifts((100.0, 100.01, 99.99, 101.5, 101.51, 101.49), threshold=1.0)) == 1


def test_equal_values_have_no_change() -> None:
    assert shifts((100.0,) * 12) == ()


def test_a_step_without_any_scatter_is_one() -> None:
    assert [shift.at for shift in shifts((100.0,) * 4 + (50.0,) * 4)] == [4]


def test_one_wild_run_is_no_change_of_level() -> None:
    assert shifts((*LOW, *LOW, 30.0, *LOW, *LOW)) == ()


def _by_scipy(values: list[float]) -> bool:
    """Whether the smallest p of Student's t of all parts that are tried, times their number, is small enough."""
    logs, n = [log(value) for value in values], len(values)

    def small(parts: list[tuple[int, int]]) -> bool:
        found = {
            part: scipy.stats.ttest_ind(logs[slice(*part)], logs[: part[0]] + logs[part[1] :]).pvalue for part in parts
        }
        begin, end = min(found, key=lambda part: found[part])
        short = begin and end - begin < 5
        return bool(found[begin, end] * len(found) <= level_of(n) / (10 if short else 2))

    places = range(FEWEST_POINTS, n - FEWEST_POINTS + 1)
    stretches = [(a, b) for a in places for b in range(a + FEWEST_POINTS, n - FEWEST_POINTS + 1)]
    return small([(0, at) for at in places]) or small(stretches)


@pytest.mark.long
@loop_over("seed", range(8))
def test_the_rule_is_that_of_the_t_test_of_every_part(seed: int) -> None:
    random = Random(seed)
    values = [exp(random.gauss(0, 0.04)) * (1.10 if at >= 7 else 1.0) for at in range(14)]
    assert bool(shifts(values, threshold=0.0)) == _by_scipy(values)
