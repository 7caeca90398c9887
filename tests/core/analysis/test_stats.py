"""Every statistic against scipy, and the simple truths it does not know."""

from __future__ import annotations

from math import log, log1p

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from app.core.analysis import stats
from app.core.analysis.noise import RunNoise, detectable_effect
from app.core.analysis.stats import incomplete_beta, quantile, tails
from app.core.fio.steady_state import judge_rounds, slope
from tests.oracle import scipy

pytestmark = pytest.mark.exhaustive


VALUES = st.floats(min_value=1.0, max_value=1e6)
SAMPLES = st.lists(VALUES, min_size=2, max_size=20)
PAIRS = st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=20)
DOF = st.floats(min_value=1.0, max_value=500.0)


def close(ours: float, theirs: float) -> bool:
    return ours == pytest.approx(theirs, rel=1e-9, abs=1e-12)


@given(a=st.floats(0.5, 300), b=st.floats(0.5, 300), x=st.floats(0, 1))
def test_the_incomplete_beta_function_is_scipys(a: float, b: float, x: float) -> None:
    assert incomplete_beta(a, b, x) == pytest.approx(scipy.special.betainc(a, b, x), rel=1e-8, abs=1e-13)


@given(p=st.floats(0.001, 0.999), dof=DOF)
def test_the_quantile_of_students_t_is_scipys(p: float, dof: float) -> None:
    assert quantile(p, dof) == pytest.approx(scipy.stats.t.ppf(p, dof), rel=1e-8, abs=1e-9)


@given(t=st.floats(-50, 50), dof=DOF)
def test_the_tails_of_students_t_are_scipys(t: float, dof: float) -> None:
    assert tails(t, dof) == pytest.approx(2 * scipy.stats.t.sf(abs(t), dof), rel=1e-7, abs=1e-13)


@pytest.mark.parametrize(("p", "dof"), [(0.0, 5.0), (1.0, 5.0), (0.5, 0.0)])
def test_there_is_no_quantile_of_what_is_certain(p: float, dof: float) -> None:
    with pytest.raises(ValueError, match="no quantile"):
        quantile(p, dof)


@given(pairs=PAIRS)
def test_the_paired_interval_is_scipys(pairs: list[tuple[float, float]]) -> None:
    a, b = [one for one, _ in pairs], [other for _, other in pairs]
    ratios = [log(other / one) for one, other in pairs]
    assume(max(ratios) - min(ratios) > 1e-6)
    theirs = scipy.stats.ttest_rel([log(value) for value in b], [log(value) for value in a])
    low, high = theirs.confidence_interval(0.95)
    ours = stats.ratio_interval(stats.log_ratios(a, b))
    assert all(map(close, (ours.low, ours.high), (low, high)))
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-6)


@given(a=SAMPLES, b=SAMPLES)
def test_the_unpaired_interval_is_scipys_after_welch(a: list[float], b: list[float]) -> None:
    assume(max(a) / min(a) > 1.0001 and max(b) / min(b) > 1.0001)
    theirs = scipy.stats.ttest_ind([log(value) for value in b], [log(value) for value in a], equal_var=False)
    low, high = theirs.confidence_interval(0.95)
    ours = stats.welch_interval(a, b)
    assert ours.low == pytest.approx(low, rel=1e-7, abs=1e-9)
    assert ours.high == pytest.approx(high, rel=1e-7, abs=1e-9)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-5, abs=1e-12)


@given(values=SAMPLES)
def test_the_spread_of_repeats_is_scipys(values: list[float]) -> None:
    assume(max(values) / min(values) > 1.0001)
    low, high = scipy.stats.t.interval(
        0.95, len(values) - 1, loc=sum(values) / len(values), scale=scipy.stats.sem(values)
    )
    seen = stats.mean_interval(values)
    assert seen.half is not None
    assert all(map(close, (seen.mean - seen.half, seen.mean + seen.half), (low, high)))


@given(p_values=st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_never_takes_more_than_bonferroni_and_never_less_than_nothing(p_values: list[float]) -> None:
    adjusted = stats.holm(p_values)
    assert all(p <= ours <= min(1.0, len(p_values) * p) + 1e-12 for p, ours in zip(p_values, adjusted, strict=True))


@given(p_values=st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_rejects_what_its_steps_reject(p_values: list[float]) -> None:
    ranked = sorted(p_values)
    steps = [p <= 0.05 / (len(ranked) - rank) for rank, p in enumerate(ranked)]
    rejected = steps.index(False) if False in steps else len(steps)
    assert sum(p <= 0.05 for p in stats.holm(p_values)) == pytest.approx(rejected, abs=1e-9)


@given(values=st.lists(VALUES, min_size=1, max_size=20))
def test_the_geometric_mean_is_scipys(values: list[float]) -> None:
    assert close(stats.geometric_mean(values), scipy.stats.gmean(values))


@given(values=st.lists(VALUES, min_size=2, max_size=25))
def test_the_slope_is_scipys(values: list[float]) -> None:
    theirs = scipy.stats.linregress(range(len(values)), values).slope
    assert slope(values) == pytest.approx(theirs, rel=1e-6, abs=1e-6)


@given(sd=st.floats(0.002, 0.1), pairs=st.integers(3, 50))
@settings(max_examples=50)
def test_what_pairs_see_is_scipys(sd: float, pairs: int) -> None:
    noise = RunNoise(sd=sd, dof=10**6, runs=10**6)
    both = scipy.stats.t.ppf(0.975, pairs - 1) + scipy.stats.t.ppf(0.8, pairs - 1)
    assert log1p(detectable_effect(noise, pairs) / 100) == pytest.approx(both * sd / pairs**0.5, rel=2e-3)


def test_equal_runs_leave_no_doubt() -> None:
    assert (
        stats.ratio_interval(stats.log_ratios([5, 5, 5], [5, 5, 5])).p,
        stats.ratio_interval(stats.log_ratios([5, 5, 5], [6, 6, 6])).p,
    ) == (1.0, 0.0)


def test_one_run_has_no_spread() -> None:
    assert stats.mean_interval([3.0]) == stats.MeanInterval(mean=3.0, half=None, sd=None, n=1)


def test_five_rounds_within_the_limits_are_steady() -> None:
    assert judge_rounds([50, 100, 104, 98, 101, 99]).steady


def test_a_slope_within_the_range_is_not_steady() -> None:
    seen = judge_rounds([100, 103, 106, 109, 112])
    assert (seen.steady, round(seen.range_share or 0, 3), round(seen.slope_share or 0, 3)) == (False, 0.113, 0.113)


def test_one_round_far_off_is_not_steady() -> None:
    seen = judge_rounds([100, 100, 122, 100, 100])
    assert (seen.steady, seen.slope_share) == (False, 0.0)


def test_four_rounds_say_nothing_yet() -> None:
    assert judge_rounds([100, 100, 100, 100]).range_share is None


def test_silence_is_not_steady() -> None:
    assert not judge_rounds([0, 0, 0, 0, 0]).steady
