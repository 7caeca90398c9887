"""The decision of `fit`: how often it says yes about disks whose truth is known."""

from random import Random

import pytest

from app.features.fit.decision import (
    FitAnswer,
    FitReason,
    Quarter,
    RunCounts,
    combined,
    has_slowed,
    judge_latency,
    judge_mean,
    poisson_upper,
)
from tests.features.fit.worlds import (
    LIMIT,
    World,
    collecting,
    episodic,
    filling,
    pausing,
    steady,
    varying,
)

NEVER: dict[str, World] = {
    "p99 = 1.1 T": steady(1.1),
    "p99 = 1.3 T": steady(1.3),
    "p99 = 2 T": steady(2.0),
    "runs differ, p99 = 1.1 T": varying(1.1),
    "runs differ, p99 = 1.3 T": varying(1.3),
    "pauses for 1.2 %": pausing(0.012),
    "pauses for 2 %": pausing(0.02),
    "pauses for 5 %": pausing(0.05),
    "episodes for 1.2 %": episodic(0.012),
    "episodes for 2 %": episodic(0.02),
    "episodes for 5 %": episodic(0.05),
    "a pause each 3000 flushes": collecting(3000),
    "a pause each 1500 flushes": collecting(1500),
    "cache full within 72 s": filling(0, 72),
    "cache full within 72-140 s": filling(72, 140),
}
"""Disks that are not fit."""

ALWAYS: dict[str, World] = {"p99 = 0.3 T": steady(0.3), "p99 = 0.7 T": steady(0.7), "p99 = 0.9 T": steady(0.9)}
"""Disks that are fit, with a margin that the runs can show."""


def _verdicts(world: World, count: int) -> list[FitAnswer]:
    draw = Random(20261129)
    return [judge_latency(world(draw), LIMIT, 1.0).verdict for _ in range(count)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", NEVER)
def test_a_disk_that_is_not_fit_is_called_fit_at_most_4_times_in_400(name: str) -> None:
    assert _verdicts(NEVER[name], 400).count(FitAnswer.YES) <= 4


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ALWAYS)
def test_a_disk_that_is_fit_is_called_fit(name: str) -> None:
    verdicts = _verdicts(ALWAYS[name], 200)
    assert verdicts.count(FitAnswer.YES) >= 190
    assert FitAnswer.NO not in verdicts


def test_the_decision_holds_in_a_few_worlds_of_each_kind() -> None:
    assert FitAnswer.YES not in [verdict for world in NEVER.values() for verdict in _verdicts(world, 3)]
    assert {verdict for world in ALWAYS.values() for verdict in _verdicts(world, 3)} == {FitAnswer.YES}
    assert set(_verdicts(NEVER["p99 = 2 T"], 3)) == {FitAnswer.NO}
    assert set(_verdicts(NEVER["pauses for 5 %"], 3)) == {FitAnswer.NO}


def _runs(flushes: int = 250, over: int = 0, stuck_s: float = 0.0, longest_s: float = 0.004) -> list[RunCounts]:
    return [RunCounts([Quarter(0.25, flushes, over, stuck_s)] * 72, 0.002, longest_s)] * 8


def test_equal_fast_runs_are_fit() -> None:
    judged = judge_latency(_runs(), LIMIT, 1.0)
    assert (judged.verdict, judged.reasons, judged.seconds) == (FitAnswer.YES, (), 144)


def test_a_pause_of_a_second_is_never_fit_for_a_program_that_does_not_tolerate_it() -> None:
    runs = _runs(longest_s=1.0)
    assert judge_latency(runs, LIMIT, 1.0).reasons == (FitReason.PAUSE,)
    assert judge_latency(runs, LIMIT).verdict is FitAnswer.YES


def test_flushes_over_the_limit_and_stuck_time_each_say_no() -> None:
    assert judge_latency(_runs(over=10), LIMIT).reasons == (FitReason.OVER,)
    assert judge_latency(_runs(stuck_s=0.01), LIMIT).reasons == (FitReason.STUCK,)


def test_a_disk_that_slows_down_at_the_end_is_not_decided() -> None:
    *runs, last = _runs()
    slow = RunCounts([*last.quarters[:48], *[Quarter(0.25, 100, 0, 0.0)] * 24], last.p99_s, last.longest_s)
    assert judge_latency([*runs, slow], LIMIT).reasons == (FitReason.SLOWED,)
    assert has_slowed([*runs, slow])
    assert not has_slowed([*runs, last])


def test_too_few_flushes_are_not_decided() -> None:
    nothing = RunCounts([Quarter(0.25, 0, 0, 0.0)] * 72, 0.0, 0.0)
    assert judge_latency([nothing] * 8, LIMIT).reasons == (FitReason.FEW,)
    assert judge_latency(_runs()[:1], LIMIT).verdict is FitAnswer.UNDECIDED
    assert judge_mean([5.0], 1.0, at_least=True).verdict is FitAnswer.UNDECIDED


def test_bursts_are_stuck_quarters_in_a_row_and_end_with_their_run() -> None:
    quiet, stuck = Quarter(0.25, 250, 0, 0.0), Quarter(0.25, 200, 1, 0.001)
    runs = [RunCounts([stuck, stuck, quiet, *[quiet] * 68, stuck], 0.002, 0.011)] * 8
    assert judge_latency(runs, LIMIT).bursts == 16


@pytest.mark.parametrize(
    ("values", "at_least", "verdict"),
    [
        ((1100.0, 1110.0, 1090.0), True, FitAnswer.YES),
        ((900.0, 910.0, 890.0), True, FitAnswer.NO),
        ((900.0, 910.0, 890.0), False, FitAnswer.YES),
        ((1100.0, 1110.0, 1090.0), False, FitAnswer.NO),
        ((900.0, 1100.0, 1000.0), True, FitAnswer.UNDECIDED),
    ],
)
def test_a_mean_needs_its_whole_interval_on_one_side(
    values: tuple[float, ...], at_least: bool, verdict: FitAnswer
) -> None:
    judged = judge_mean(values, 1000.0, at_least=at_least)
    assert judged.verdict is verdict
    assert judged.measured.low < sum(values) / 3 < judged.measured.high


def test_all_conditions_must_hold() -> None:
    yes, no, undecided = FitAnswer.YES, FitAnswer.NO, FitAnswer.UNDECIDED
    assert combined([yes, yes]) is yes
    assert combined([yes, undecided]) is undecided
    assert combined([undecided, no]) is no


def test_the_poisson_bound_is_that_of_the_tables() -> None:
    assert poisson_upper(0) == pytest.approx(4.605, abs=0.001)
    assert poisson_upper(10) == pytest.approx(20.145, abs=0.005)
