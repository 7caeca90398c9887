"""One worked example of every statistic, computed once by scipy, with which others are compared at random."""

from __future__ import annotations

from math import expm1, inf, log, log1p, sqrt

import pytest

from app.core.analysis import stats
from app.core.analysis.stats import ConfidenceInterval
from app.core.analysis.verdict import Verdict, judge, judge_between
from app.core.presentation.percent import covers_text, interval_text, parse_threshold
from tests.case_loop import loop_over

A = (100.0, 104.0, 98.0, 101.0, 103.0, 99.0)
B = (110.0, 109.0, 112.0, 108.0, 115.0, 107.0, 111.0)
MANY = ConfidenceInterval(mean=0.01, low=0.005, high=0.015, sd=0.02, n=12, p=0.01)


def ends(interval: ConfidenceInterval) -> tuple[float, float, float]:
    return interval.low, interval.high, interval.p


def test_the_paired_interval() -> None:
    assert ends(stats.ratio_interval(stats.log_ratios(A, B[:6]))) == pytest.approx(
        (0.0557715171787, 0.1211356129081, 0.000942947239), rel=1e-8
    )


def test_the_paired_interval_at_another_level() -> None:
    seen = stats.ratio_interval(stats.log_ratios(A, B[:6]), level=0.01)
    assert (seen.low, seen.high) == pytest.approx((0.0371894161418, 0.1397177139451), rel=1e-8)


def test_the_interval_of_groups_after_welch() -> None:
    assert ends(stats.welch_interval(A, B)) == pytest.approx(
        (0.060692097101, 0.118451313872, 2.9958404987e-05), rel=1e-7
    )


def test_the_scatter_of_groups_is_that_of_one_run_to_one_run() -> None:
    seen = stats.welch_interval(A, B)
    own = [stats.log_ratios([1.0] * len(side), side) for side in (A, B)]
    variances = [sum((x - sum(xs) / len(xs)) ** 2 for x in xs) / (len(xs) - 1) for xs in own]
    assert (seen.sd, seen.n) == pytest.approx((sqrt(sum(variances)), 6))


@pytest.mark.parametrize("other", [100.0, 110.0], ids=["equal", "other"])
def test_groups_without_scatter_leave_no_doubt(other: float) -> None:
    seen = stats.welch_interval([100.0, 100.0, 100.0], [other] * 3)
    assert ends(seen) == pytest.approx((log(other / 100), log(other / 100), float(other == 100)))


def test_the_spread_of_repeats() -> None:
    seen = stats.mean_interval(A)
    assert (seen.mean, seen.half, seen.sd, seen.n) == pytest.approx((100.8333333333, 2.4311296491, 2.3166067139, 6))


def test_one_run_has_no_spread() -> None:
    assert stats.mean_interval([100.0]) == stats.MeanInterval(mean=100.0, half=None, sd=None, n=1)


def test_one_latency_has_no_spread() -> None:
    assert stats.log_mean_interval([100.0]) == stats.LogMeanInterval(
        mean=stats.geometric_mean([100.0]), low=None, high=None, n=1
    )


def test_the_smallest_effect_that_would_have_shown() -> None:
    half = stats.quantile(0.975, 5) * 0.02 / 6**0.5
    seen = ConfidenceInterval(mean=0.01, low=0.01 - half, high=0.01 + half, sd=0.02, n=6, p=0.1)
    assert seen.smallest_percent == pytest.approx(2.890667338894)
    assert covers_text(seen.level) == "95 %"


def test_two_repeats_have_a_spread() -> None:
    assert stats.mean_interval([100.0, 102.0]).half == pytest.approx(12.7062047362)


def test_the_spread_of_latencies() -> None:
    seen = stats.log_mean_interval(A)
    assert (seen.mean, seen.low, seen.high) == pytest.approx((100.811219415391, 98.414494127738, 103.266313057781))


def test_two_latencies_have_a_spread() -> None:
    assert stats.log_mean_interval([100.0, 102.0]).low is not None


def test_the_adjustment_of_holm() -> None:
    assert stats.holm([0.01, 0.04, 0.03, 0.2]) == pytest.approx((0.04, 0.09, 0.09, 0.2))


def test_no_adjusted_p_value_is_above_one() -> None:
    assert stats.holm([0.9, 0.8]) == (1.0, 1.0)


@pytest.mark.parametrize(("sixth", "place"), [(0.014, ()), (0.0145, (5,)), (-0.0145, (5,))])
def test_the_value_that_does_not_belong_to_the_others(sixth: float, place: tuple[int, ...]) -> None:
    assert stats.outliers([0.01, 0.011, 0.009, 0.0105, 0.0095, sixth]) == place


def test_the_one_value_that_differs_from_equal_ones_does_not_belong_to_them() -> None:
    assert stats.outliers([1.0, 1.0, 1.0, 2.0]) == (3,)


@pytest.mark.parametrize("values", [[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 9.0]], ids=["all equal", "three"])
def test_nothing_stands_out_of_equal_values_or_of_three(values: list[float]) -> None:
    assert stats.outliers(values) == ()


@pytest.mark.parametrize(
    ("low", "high", "excludes", "within"),
    [
        (0.0, 0.01, False, True),
        (-0.01, 0.0, False, True),
        (1e-9, 0.01, True, True),
        (-0.01, -1e-9, True, True),
        (-0.01, log1p(0.02), False, False),
        (log1p(-0.02), 0.01, False, False),
        (-inf, inf, False, False),
    ],
)
def test_an_interval_touching_a_limit_does_not_keep_it(low: float, high: float, excludes: bool, within: bool) -> None:
    interval = ConfidenceInterval(mean=0.0, low=low, high=high, sd=0.01, n=6, p=0.5)
    assert (interval.excludes_zero, interval.within(expm1(log1p(0.02)) * 100)) == (excludes, within)


def test_the_ends_of_an_interval_in_percent_of_the_first_side() -> None:
    interval = ConfidenceInterval(mean=log(1.05), low=log(0.9), high=log(1.2), sd=0.01, n=6, p=0.5)
    assert (interval.percent_low, interval.percent_high) == pytest.approx((-10, 20))
    assert interval_text(interval) == "+5.0 % [-10.0, +20.0]"


def test_two_pairs_have_an_interval() -> None:
    assert stats.ratio_interval(stats.log_ratios([100.0, 100.0], [110.0, 112.0])).n == 2


@pytest.mark.parametrize(("last", "place"), [(0.035, ()), (0.04, (29,))], ids=["3.4 times", "3.9 times"])
def test_among_many_values_three_and_a_half_times_the_scatter_is_far(last: float, place: tuple[int, ...]) -> None:
    assert stats.outliers([0.01, -0.01] * 14 + [-0.01, last]) == place


@pytest.mark.parametrize(("text", "percent"), [("1%", 1.0), ("0.5", 0.5), (" 49.9 % ".replace(" %", "%"), 49.9)])
def test_a_threshold_as_somebody_writes_it(text: str, percent: float) -> None:
    assert parse_threshold(text) == percent


@loop_over("text", ["0", "-1%", "50", "50%", "many", "", "nan", "inf"])
def test_what_is_no_threshold_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a percentage such as 1% \(above 0, below 50\)"):
        parse_threshold(text)


@pytest.mark.parametrize(("a", "b"), [([1.0], [1.0]), ([1.0, 2.0], [1.0]), ([1.0], [1.0, 2.0])])
def test_what_makes_no_groups_is_refused(a: list[float], b: list[float]) -> None:
    with pytest.raises(ValueError, match="make no groups"):
        stats.welch_interval(a, b)


def test_between_two_groups_of_a_the_drift_makes_the_interval_wider_at_both_ends() -> None:
    before, after = (100.0, 101.0, 102.0), (104.0, 105.0, 106.0)
    seen = judge_between(before, B, after).interval
    narrow = judge((*before, *after), B, interleaved=False, level=0.03).interval
    assert seen is not None
    assert narrow is not None
    mean = [sum(map(log, side)) / 3 for side in (before, after)]
    assert (narrow.low - seen.low, seen.high - narrow.high) == pytest.approx((mean[1] - mean[0],) * 2)


def test_which_of_the_groups_is_larger_makes_no_difference() -> None:
    before, after = (100.0, 101.0, 102.0), (104.0, 105.0, 106.0)
    one, other = judge_between(before, B, after).interval, judge_between(after, B, before).interval
    assert one is not None
    assert other is not None
    assert (one.low, one.high) == pytest.approx((other.low, other.high))


@pytest.mark.parametrize(
    ("before", "b", "after"),
    [((), B, A), (A, B, ()), (A[:1], B, A[:1]), (A, B[:2], A)],
    ids=["none before", "none after", "few of a", "few of b"],
)
def test_without_enough_of_each_nothing_is_decided(
    before: tuple[float, ...], b: tuple[float, ...], after: tuple[float, ...]
) -> None:
    assert judge_between(before, b, after).verdict is Verdict.NOT_DECIDED


@pytest.mark.parametrize(("higher", "word"), [(True, Verdict.FASTER), (False, Verdict.HIGHER)])
def test_between_two_groups_of_a_that_agree_a_difference_is_said(higher: bool, word: Verdict) -> None:
    assert judge_between(A, B, A, higher_is_better=higher).verdict is word
