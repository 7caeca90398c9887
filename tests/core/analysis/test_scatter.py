"""Set-ups whose runs scatter more than those of the others."""

from __future__ import annotations

from random import Random

import pytest

from app.core.analysis.permutation_test import RoundResults, permutation_intervals, row_scatter
from app.core.analysis.scatter import WIDER, f_tail, variance_ratios

NAMES = tuple(map(str, range(12)))


def rounds(seed: int, *, wide: int | None = None, baseline: tuple[float, ...] = ()) -> RoundResults:
    """Three rounds of twelve set-ups that scatter by 2 %, one of them by 10 %; `baseline`: values of the first."""
    random = Random(seed)
    labels = [random.sample(range(12), 12) for _ in range(3)]
    values = [[random.gauss(0, 0.1 if label == wide else 0.02) for label in row] for row in labels]
    for row, names, value in zip(values, labels, baseline, strict=False):
        row[names.index(0)] = value
    return RoundResults(values=tuple(map(tuple, values)), labels=tuple(map(tuple, labels)), names=NAMES)


@pytest.mark.parametrize(
    ("f", "freedom", "others", "p"), [(3.7784, 4, 44, 0.01), (2.5837, 4, 44, 0.05), (5.7190, 2, 22, 0.01), (0, 2, 9, 1)]
)
def test_the_tail_of_the_ratio_of_two_variances(f: float, freedom: int, others: int, p: float) -> None:
    assert f_tail(f, freedom, others) == pytest.approx(p, rel=1e-3)


def test_a_set_up_that_scatters_five_times_as_much_stands_out_of_two_workloads() -> None:
    scatter = row_scatter([rounds(1, wide=5), rounds(2, wide=5)])
    assert [name for name, one in scatter.items() if one.p < WIDER] == ["5"]
    assert scatter["5"].ratio > 3
    assert all(one.p >= WIDER for one in row_scatter([rounds(1), rounds(2)]).values())


def test_few_equal_set_ups_are_said_to_scatter_more() -> None:
    said = sum(one.p < WIDER for seed in range(100) for one in row_scatter([rounds(seed), rounds(900 + seed)]).values())
    assert 1 <= said <= 45  # 24 of 1,200 by chance


def test_a_scatter_under_one_workload_has_fewer_degrees_of_freedom() -> None:
    both = row_scatter([rounds(1, wide=5), rounds(2, wide=5)])["5"]
    one = row_scatter([rounds(1, wide=5), rounds(2)])["5"]
    assert one.freedom < both.freedom <= 4


def test_where_nothing_scatters_nothing_scatters_more() -> None:
    assert variance_ratios([[0.0, 0.0], [0.0, 0.0]]) == [1.0, 1.0]
    still = RoundResults(values=((0.0,) * 12,) * 3, labels=(tuple(range(12)),) * 3, names=NAMES)
    assert all(one.p > WIDER for one in row_scatter([still]).values())


FAR = (0.02, 0.12, 0.10)
"""A baseline that is 8 % above the others, and whose own runs lie 10 % apart."""


def shown(one: RoundResults) -> list[int]:
    (intervals,) = permutation_intervals((one,), seed="s", level=0.035, draws=199)
    return [label for label, interval in enumerate(intervals, 1) if interval.excludes_zero]


def test_a_baseline_that_its_own_scatter_explains_makes_no_set_up_different() -> None:
    assert shown(rounds(3, baseline=FAR)) == []


def test_a_baseline_that_is_steady_and_far_makes_all_set_ups_different() -> None:
    assert len(shown(rounds(3, baseline=(0.30, 0.31, 0.29)))) == 11


def test_what_is_held_back_has_a_p_beyond_the_level() -> None:
    (intervals,) = permutation_intervals((rounds(3, baseline=FAR),), seed="s", level=0.035, draws=199)
    assert all(one.p > 0.035 and one.low <= 0 <= one.high for one in intervals)
