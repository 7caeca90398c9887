"""Nights since a baseline: one alarm an episode, few false ones, and nothing told that does not matter."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, fsum, sqrt
from operator import mul
from random import Random
from statistics import fmean, median

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.core.analysis.control_chart import LEARNING, SHORT, SIGHT, WEEK, ControlChart, _Reference, night_chart
from app.core.analysis.regression import RegressionVerdict


def nights(random: Random, count: int, scatter: float, loss: float = 0.0) -> list[list[float]]:
    """So many sessions of three runs that scatter by 1 %."""
    levels = [1e5 * (1 - loss) * exp(random.gauss(0, scatter)) for _ in range(count)]
    return [[level * exp(random.gauss(0, 0.01)) for _ in range(3)] for level in levels]


def flat(*levels: float) -> list[list[float]]:
    """Nights of three runs each, with hardly a scatter."""
    return [[level * 0.999, level, level * 1.001] for level in levels]


USUAL = flat(*(100.0 + (-1) ** at for at in range(20)))
"""Twenty nights that lie 1 % apart."""

RECOVERY = 2
"""Nights after an episode of 10 % that belong to it: those until the sum is 0 again."""


def standings(all_of_them: Sequence[Sequence[float]], since: int) -> list[RegressionVerdict]:
    return [night_chart(all_of_them[: at + 1]).standing for at in range(since, len(all_of_them))]


def told_after(random: Random, loss: float, before: int) -> int:
    """Nights of a loss until it is told, of machines that were not alarmed before it; 99 for never."""
    while True:
        found = nights(random, before, 0.02)
        if night_chart(found).begun is None:
            break
    chart = night_chart([*found, *nights(random, 30, 0.02, loss)])
    return next((place - before + 1 for place in chart.episodes if place >= before), 99)


@pytest.mark.parametrize(("loss", "most"), [(0.10, 3), (0.05, 7)])
@pytest.mark.parametrize("before", [LEARNING, 30])
def test_a_loss_is_told_soon(loss: float, most: int, before: int) -> None:
    random = Random(3)
    assert median(told_after(random, loss, before) for _ in range(60)) <= most


@pytest.mark.long
def test_a_year_of_unchanged_nights_has_less_than_one_alarm() -> None:
    random = Random(4)
    assert sum(len(night_chart(nights(random, 365, 0.02)).episodes) for _ in range(12)) <= 12


def test_a_loss_of_the_size_that_is_named_is_told_in_time_more_often_than_not() -> None:
    random = Random(5)
    in_time = 0
    for _ in range(60):
        found = nights(random, 25, 0.02)
        seen = night_chart(found).seen_percent
        assert seen is not None
        chart = night_chart([*found, *nights(random, SIGHT, 0.02, seen / 100)])
        in_time += any(place >= 25 for place in chart.episodes)
    assert in_time >= 30


def test_an_episode_is_told_once() -> None:
    said = standings([*USUAL, *flat(*(90.0,) * 12)], len(USUAL))
    assert (said.count(RegressionVerdict.WORSE), said[-1]) == (1, RegressionVerdict.STILL_WORSE)


def test_it_ends_when_the_nights_are_as_before() -> None:
    said = standings([*USUAL, *flat(*(90.0,) * 5, *(100.0,) * 12)], len(USUAL))
    assert (said.count(RegressionVerdict.WORSE), said[-1]) == (1, RegressionVerdict.NOT_WORSE)


def test_the_next_one_is_told_again() -> None:
    chart = night_chart([*USUAL, *flat(*(90.0,) * 5, *(100.0,) * 12, *(90.0,) * 5)])
    assert len(chart.episodes) == 2


def test_alarmed_nights_are_no_reference() -> None:
    assert night_chart([*USUAL, *flat(*(90.0,) * 30)]).reference_size == len(USUAL)


def test_nights_of_a_single_alarm_never_join_the_reference() -> None:
    assert night_chart([*USUAL, *flat(*(90.0,) * 5, *(100.0,) * 40)]).reference_size == len(USUAL) + 40 - RECOVERY


def test_nights_of_both_alarms_join_the_reference_when_the_second_one_ends() -> None:
    values = [*USUAL, *flat(*(90.0,) * 5, *(100.0,) * 12, *(90.0,) * 5, *(100.0,) * 12)]
    chart = night_chart(values)
    assert (len(chart.episodes), chart.reference_size, chart.since) == (2, len(values), None)


def test_an_episode_of_more_than_a_month_never_joins_the_reference() -> None:
    twice = (*(90.0,) * (SHORT + 1), *(100.0,) * 12) * 2
    chart = night_chart([*USUAL, *flat(*twice)])
    assert (len(chart.episodes), chart.reference_size) == (2, len(USUAL) + 2 * (12 - RECOVERY))


WEEKENDS = (100.0, 101.0, 99.0, 100.0, 101.0, 80.0, 81.0)
"""A week whose last two nights are 20 % slower."""


def test_weekends_are_alarmed_once_while_the_chart_learns() -> None:
    assert night_chart(flat(*WEEKENDS * 20)).episodes == (5,)


def test_weekends_that_begin_after_the_chart_has_learned_are_alarmed_twice() -> None:
    assert len(night_chart([*USUAL, *flat(*WEEKENDS * 20)]).episodes) == 2


def test_a_loss_beside_weekends_is_reported_within_two_weeks() -> None:
    chart = night_chart(flat(*WEEKENDS * 20, *(0.9 * level for level in WEEKENDS * 4)))
    assert 140 < (chart.begun or 0) < 140 + 14


def test_a_maintenance_night_of_each_month_is_alarmed_twice() -> None:
    month = flat(*(100.0 + (-1) ** at for at in range(29)), 70.0)
    assert len(night_chart(month * 12).episodes) == 2


def test_a_single_night_at_half_speed_hides_no_later_loss() -> None:
    calm = flat(*(100.0 + (-1) ** at for at in range(20)))
    chart = night_chart([*USUAL, *flat(50.0), *calm, *flat(*(92.0,) * 4)])
    assert len(chart.episodes) == 2


def alternating(run: int) -> list[list[float]]:
    """Return nights that stay on one of two levels for so many nights, then on the other."""
    return flat(*(103.0 if at // run % 2 else 97.0 for at in range(70)))


@pytest.mark.parametrize(("run", "wider"), [(1, False), (5, True)])
def test_correlated_nights_widen_the_size_that_is_named(run: int, wider: bool) -> None:
    seen = night_chart(alternating(run)).seen_percent
    independent = night_chart(alternating(1)).seen_percent
    assert seen is not None
    assert independent is not None
    assert (seen > 1.3 * independent) is wider


def test_a_weekly_rhythm_is_no_correlation() -> None:
    rhythm = night_chart(flat(*WEEKENDS * 10)).seen_percent
    shuffled = [*WEEKENDS * 10]
    Random(1).shuffle(shuffled)
    other = night_chart(flat(*shuffled)).seen_percent
    assert rhythm is not None
    assert other is not None
    assert rhythm == pytest.approx(other, rel=0.15)


def test_one_night_below_decides_nothing() -> None:
    assert night_chart([*USUAL, *flat(92.0)]).standing is RegressionVerdict.NOT_DECIDED


def test_one_at_half_is_told_at_once() -> None:
    assert night_chart([*USUAL, *flat(50.0)]).standing is RegressionVerdict.WORSE


def test_what_is_less_than_half_of_the_threshold_never_adds_up() -> None:
    assert night_chart([*USUAL, *flat(*(98.5,) * 60)]).episodes == ()


def test_of_a_latency_more_is_worse() -> None:
    chart = night_chart([*USUAL, *flat(115.0, 115.0, 115.0)], higher_is_better=False)
    assert chart.begun is not None


def test_faster_is_never_worse() -> None:
    assert night_chart([*USUAL, *flat(*(150.0,) * 20)]).episodes == ()


def test_it_learns_before_the_tenth() -> None:
    learning = [night_chart(USUAL[:count]).learning for count in (1, LEARNING - 1, LEARNING)]
    assert learning == [True, True, False]


def test_while_it_learns_half_is_told_against_the_baseline() -> None:
    assert night_chart(flat(100.0, 101.0, 99.0, 50.0)).standing is RegressionVerdict.WORSE


def test_and_told_once() -> None:
    assert night_chart(flat(100.0, 101.0, 99.0, 50.0, 50.0)).standing is RegressionVerdict.STILL_WORSE


def test_a_series_without_a_baseline_is_not_judged_while_it_learns() -> None:
    assert night_chart(flat(100.0, 101.0, 50.0), judged_early=False).begun is None


def test_nights_that_lie_apart_while_it_learns_are_allowed_for() -> None:
    """By three runs alone 85 is worse; by nights that lay 10 % apart it is not."""
    apart = night_chart(flat(100.0, 110.0, 95.0, 105.0, 85.0))
    assert (apart.standing, apart.judgement.of_sessions) == (RegressionVerdict.NOT_DECIDED, True)


def test_equal_nights_have_no_alarm() -> None:
    assert night_chart([[100.0] * 3] * 30).standing is RegressionVerdict.NOT_WORSE


def test_without_a_night_there_is_no_chart() -> None:
    with pytest.raises(ValueError, match="no nights"):
        night_chart([])


def test_the_interval_is_that_of_all_nights_that_lie_below() -> None:
    chart: ControlChart = night_chart([*USUAL, *flat(*(90.0,) * 4)])
    interval = chart.judgement.interval
    assert interval is not None
    assert (interval.n, round(interval.percent)) == (4, -10)


@given(st.lists(st.floats(-5, 25), min_size=2, max_size=60))
def test_the_scatter_from_sums_is_that_of_the_nights(levels: list[float]) -> None:
    kept = _Reference(levels[0])
    kept.extend(levels[1:])
    scatter = kept.scatter()
    off = [level - fmean(levels) for level in levels]
    squares = fsum(each * each for each in off)
    assert scatter.nights == len(levels)
    assert scatter.mean == pytest.approx(fmean(levels))
    assert scatter.sd == pytest.approx(sqrt(squares / (len(levels) - 1)), rel=1e-6, abs=1e-6)
    if squares > 1e-6:
        apart = {by: fsum(map(mul, off, off[by:])) / squares for by in (1, WEEK)}
        assume(abs(apart[1] - max(1 / sqrt(len(levels)), apart[WEEK])) > 1e-6)
        correlated = apart[1] > max(1 / sqrt(len(levels)), apart[WEEK])
        wanted = sqrt((1 + apart[1]) / (1 - apart[1])) if correlated else 1.0
        assert scatter.inflation == pytest.approx(wanted, rel=1e-4)
