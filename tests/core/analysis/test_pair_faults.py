"""Hangs, settings that act late, figures in steps and slow runs on one side: what an A/B says of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import pytest

from app.core.analysis import pair_design
from app.core.analysis.comparison import Comparison, compare, compare_experiment, compare_headline
from app.core.analysis.drift import DriftPattern, RunPattern, carry_over
from app.core.analysis.metric_kinds import BOTH, FIGURES, half_step
from app.core.analysis.noise import deciding_look
from app.core.analysis.reasons import Reason, SlowRuns
from app.core.analysis.sample_groups import RunOrder, without_silent_runs
from app.core.analysis.stats import ratio_interval
from app.core.analysis.stored_verdicts import stored_comparison, verdicts_of
from app.core.analysis.verdict import Verdict, judge, slow_runs
from app.core.presentation.comparison_text import comparison_sentence, disturbance_text
from app.core.presentation.verdict_text import reason_text, slow_text
from app.core.session.event_types import InterimAnalysis
from app.core.session.events import ExperimentEnded, ExperimentMark
from app.core.session.results import DirectionStats, LatencyStats, RunResult, RunStatus
from app.core.session.state import RunRecord, replay
from tests.core import sessions
from tests.core.presentation.test_comparison import measured
from tests.method import pair_faults as method
from tests.method.breaks import BREAKS, Break, broken
from tests.method.disturbances import Level
from tests.method.line import slack


def made(what: str) -> Break:
    """The wrong decision of this name."""
    return next(one for one in BREAKS if one.what == what)


# -- a setting that acts late -----------------------------------------------------------------------------------------


def seen(letters: str, values: Sequence[float]) -> list[DriftPattern]:
    """The carry-over in these runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_design, "draw_order", lambda _looks, _random: tuple(letters))
        sides = method.drawn(Random(1), lambda _random, _letters: [*values], pair_design.one_look(len(letters) // 2))
    return list(carry_over(sides, _iops))


def _iops(record: RunRecord) -> float | None:
    return None if record.figures.read is None else record.figures.read.iops


LATE = "ABABBAABABABBABA"
"""Which pairs begin with a change: AB no (A was in force), AB yes, BA no, AB no, AB yes, AB yes, BA no, BA yes."""


def late(kept: float, letters: str = LATE) -> list[float]:
    """Runs of A at 1000, of B at 1200, each with a share of what was set before and a little chance."""
    found, before = [], 1000.0
    for at, letter in enumerate(letters):
        level = 1200.0 if letter == "B" else 1000.0
        found.append((1 - kept) * level + kept * before + at % 3)
        before = level
    return found


def test_pairs_that_begin_with_a_change_and_show_less_are_told_with_both_effects() -> None:
    (one,) = seen(LATE, late(0.3))
    assert one.pattern is RunPattern.CARRY_OVER
    # The others lose 30 % of one run's step, these of both.
    assert (round(one.size), round(one.others)) == (8, 14)
    assert disturbance_text(one).startswith("Pairs in which the setting had just changed show a difference of +7.")
    assert "`--ramp`" in disturbance_text(one)


def test_a_setting_that_acts_at_once_carries_nothing_over() -> None:
    assert seen(LATE, late(0.0)) == []


def test_an_effect_that_is_larger_after_a_change_is_no_carry_over() -> None:
    assert seen(LATE, late(-0.3)) == []


def test_a_loss_is_carried_over_as_a_gain_is() -> None:
    (one,) = seen(LATE, [1e6 / value for value in late(0.3)])
    assert one.others < one.size < 0


@pytest.mark.parametrize("letters", [LATE[:10], "ABBAABBAABBA"])
def test_too_few_pairs_of_a_kind_tell_nothing(letters: str) -> None:
    assert seen(letters, late(0.3, letters)) == []


# -- figures in steps -------------------------------------------------------------------------------------------------

KNOWN = {figure.key: figure for figure in FIGURES}


def figures(total: int, p99: int) -> RunResult:
    """Reads and as many writes."""
    one = DirectionStats(
        iops=total / 10,
        bytes_per_second=total * 409.6,
        total_ios=total,
        total_bytes=total * 4096,
        runtime_s=10.0,
        latency_ns=LatencyStats(mean=1e6, p99=p99),
    )
    return RunResult(status=RunStatus.OK, read=one, write=one)


@pytest.mark.parametrize(
    ("key", "direction", "half"),
    [
        ("latency_p99_ns", "read", 8192 / 1_335_296),  # of 2^20 ns on a bucket is 16384 ns wide
        ("iops", "read", 1 / 80),
        ("bytes_per_second", "read", 1 / 80),
        ("iops", BOTH, 1 / 160),
        ("latency_mean_ns", "read", 0.0),
        ("latency_p50_ns", "read", 0.0),  # there is none
    ],
)
def test_how_far_a_figure_may_be_off_by_its_steps(key: str, direction: str, half: float) -> None:
    assert half_step(figures(40, 1_335_296), direction, KNOWN[key]) == pytest.approx(half)


def test_equal_values_in_steps_have_an_interval_as_wide_as_the_steps() -> None:
    found = judge([100.0] * 6, [105.0] * 6, interleaved=True, step=0.016)
    assert found.interval is not None
    assert (round(found.interval.percent_low, 1), round(found.interval.percent_high, 1)) == (3.3, 6.7)
    assert found.verdict is Verdict.FASTER


def test_an_interval_that_is_wider_than_the_steps_stays() -> None:
    ratios = [0.01, 0.05, 0.03, 0.02]
    assert ratio_interval(ratios).at_least(0.001) == ratio_interval(ratios)


def test_groups_and_what_was_measured_between_have_steps_too() -> None:
    found = judge([100.0] * 3, [105.0] * 3, interleaved=False, step=0.016)
    assert found.interval is not None
    assert found.interval.high - found.interval.low == pytest.approx(0.032)


def test_the_percentile_of_a_held_rate_is_judged_with_its_steps() -> None:
    sides = method.drawn(
        Random(1), lambda _random, letters: [300_032.0] * len(letters), pair_design.one_look(6), held=True
    )
    row = compare_headline(sides)
    assert row is not None
    assert row.judgement is not None
    assert row.judgement.interval is not None
    assert 1.3 < row.judgement.interval.percent_high < 1.4


# -- slow runs on one side --------------------------------------------------------------------------------------------

EVEN = [100.0 + at % 5 / 10 for at in range(50)]


def with_slow(count: int) -> list[float]:
    """The same values in another order, with so many of them ten times slower."""
    return [one / 10 if at % 16 == 3 and at // 16 < count else one for at, one in enumerate(EVEN[2:] + EVEN[:2])]


@pytest.mark.parametrize(("count", "verdict"), [(2, Verdict.NO_DIFFERENCE), (3, Verdict.NOT_DECIDED)])
def test_from_three_slow_runs_on_one_side_on_there_is_no_no_difference(count: int, verdict: Verdict) -> None:
    found = judge(EVEN, with_slow(count), interleaved=True)
    assert (found.verdict, found.slow) == (verdict, SlowRuns(side="B", count=count))
    other = judge(with_slow(count), EVEN, interleaved=True)
    assert (other.verdict, other.slow) == (verdict, SlowRuns(side="A", count=count))


def test_slow_runs_on_both_sides_are_the_machine() -> None:
    found = judge([EVEN[0] / 10, *EVEN[1:]], with_slow(3), interleaved=True)
    assert (found.verdict, found.slow) == (Verdict.NO_DIFFERENCE, None)


def test_a_sweep_does_not_ask_on_which_side_slow_runs_are() -> None:
    found = judge(EVEN, with_slow(3), interleaved=True, sees_slow_runs=False)
    assert (found.verdict, found.slow) == (Verdict.NO_DIFFERENCE, None)


def test_what_three_slow_runs_say() -> None:
    found = judge(EVEN, with_slow(3), interleaved=True)
    assert found.reason is Reason.SLOW_ON_ONE_SIDE
    assert found.slow is not None
    assert reason_text(found) == "the interval is within +-2 %, but several runs are far slower"
    assert slow_text(found.slow) == "all 3 slow runs are on B"


def test_of_a_latency_the_longer_is_the_slower() -> None:
    long = [1e4 / one for one in with_slow(3)]
    assert slow_runs(EVEN, long, higher_is_better=False) == SlowRuns(side="B", count=3)
    assert slow_runs(EVEN, long) is None


def test_a_real_effect_is_no_slow_run() -> None:
    """Half of all runs lie lower."""
    assert slow_runs(EVEN, [one / 2 for one in EVEN]) is None


def test_where_too_much_is_left_open_the_slow_runs_are_named_instead_of_a_bound() -> None:
    found = judge([100.0] * 6, [100.0, 10.0, 101.0, 10.1, 99.0, 10.2], interleaved=True, level=0.0044)
    assert (found.verdict, found.slow) == (Verdict.NOT_DECIDED, SlowRuns(side="B", count=3))
    assert reason_text(found) == ""


# -- how often: 99 of 100 draws keep these bounds, and without the remedy none does -----------------------------------


def _finely_covered(seed: int, draws: int) -> float:
    return method.steps_covered(seed, draws, 0.0005)


Draw = Callable[[int, int], float]

AT_MOST: tuple[tuple[Draw, int, float, str], ...] = (
    (method.false_silence, 200, 0.003, "one run without I/O is a verdict"),
    (method.no_difference_beside_slow_runs, 60, 0.0, "slow runs on one side do not count against no difference"),
    (method.carry_over_told_falsely, 400, 0.01, "a carry-over is reported where chance explains it"),
    (method.called_none, 800, 0.05, "no difference is allowed to be wrong four times as often"),
)

AT_LEAST: tuple[tuple[Draw, int, float, str], ...] = (
    (method.carry_over_told, 300, 0.95, "no carry-over is reported"),
    (_finely_covered, 400, 0.95, "intervals know nothing of the steps of a percentile"),
)


@pytest.mark.parametrize(("draw", "count", "most", "what"), AT_MOST, ids=[row[-1] for row in AT_MOST])
@pytest.mark.exhaustive
def test_what_is_wrong_is_as_rare_as_promised(draw: Draw, count: int, most: float, what: str) -> None:
    assert draw(1, count) <= most + slack(count, most)
    with broken(made(what)):
        assert draw(1, count) > most + slack(count, most)


@pytest.mark.parametrize(("draw", "count", "least", "what"), AT_LEAST, ids=[row[-1] for row in AT_LEAST])
@pytest.mark.exhaustive
def test_what_is_there_is_seen_as_often_as_promised(draw: Draw, count: int, least: float, what: str) -> None:
    assert draw(1, count) >= least - slack(count, least)
    with broken(made(what)):
        assert draw(1, count) < least - slack(count, least)


@pytest.mark.exhaustive
def test_the_usual_plan_keeps_to_its_budget() -> None:
    assert method.false_differences(1, 1000, 0.05) <= 0.05 + slack(1000)
    assert method.rightly_none(1, 600) >= 0.70 - slack(600, 0.70)


@pytest.mark.exhaustive
def test_a_period_of_four_runs_does_not_keep_step_with_the_pairs_between_two_looks() -> None:
    """Where both orders had to occur between looks that are two pairs apart, 10 to 11 % were false."""
    assert method.false_under_period(1, 1000) <= 0.065 + slack(1000, 0.065)


@pytest.mark.parametrize("machine", method.MACHINES.values(), ids=method.MACHINES)
@pytest.mark.exhaustive
def test_machines_that_nobody_has_told_of_make_no_more_false_differences(machine: Level) -> None:
    assert method.false_on(machine, 1, 1000) <= 0.05 + slack(1000)


@pytest.mark.exhaustive
def test_a_change_that_costs_something_is_no_difference_between_the_values() -> None:
    assert method.false_after_changes(1, 200) <= 0.05 + slack(200)


# -- runs without I/O in what was not drawn ---------------------------------------------------------------------------


def by_hand(*values: float, letters: str) -> Comparison:
    """The first runs of two settings, measured in this order, among all runs."""
    events = [
        event
        for at, (value, letter) in enumerate(zip(values, letters, strict=True))
        for event in sessions.run(f"r{at + 1}", iops=value, settings={"a": letter}, at=1000.0 + at)
    ]
    found = replay(events).runs
    made = tuple(
        replace(one, end=replace(one.end, figures=RunResult(status=RunStatus.OK))) if one.end and not value else one
        for one, value in zip(found, values, strict=True)
    )
    return compare(made[0], made[letters.index("B")], made, made)


def verdict_of(found: Comparison) -> Verdict:
    assert found.headline is not None
    assert found.headline.judgement is not None
    return found.headline.judgement.verdict


def test_a_first_side_that_answers_again_afterwards_excludes_a_device_that_died() -> None:
    assert verdict_of(by_hand(*[1000.0] * 3, *[0.0] * 3, *[1000.0] * 3, letters="AAABBBAAA")) is (
        Verdict.STOPPED_ANSWERING
    )


@pytest.mark.parametrize("letters", ["AAAABBBB", "ABBABAAB"])
def test_in_an_order_that_nobody_drew_silent_runs_are_told_and_are_no_verdict(letters: str) -> None:
    found = by_hand(*(0.0 if letter == "B" else 1000.0 for letter in letters), letters=letters)
    assert verdict_of(found) is Verdict.NOT_DECIDED
    assert comparison_sentence(found).startswith("STOPPED ANSWERING in 4 of 4 runs with a B")
    assert "only a randomised order can show the cause" in comparison_sentence(found)


def test_silent_runs_of_the_first_side_leave_their_place_before_and_after() -> None:
    """Of A's runs r1 and r9 are left out: two before and two after B remain."""
    found = by_hand(0, 1000, 1001, 800, 801, 799, 1001, 1000, 0, letters="AAABBBAAA")
    assert (without_silent_runs(found.sides).after, len(without_silent_runs(found.sides).a)) == (2, 4)
    assert verdict_of(found) is Verdict.SLOWER


def test_a_first_side_without_answers_afterwards_is_one_group_against_another() -> None:
    found = by_hand(1000, 1001, 1002, 800, 801, 799, 0, 0, letters="AAABBBAA")
    assert (without_silent_runs(found.sides).after, without_silent_runs(found.sides).order) == (0, RunOrder.GROUPS)
    assert verdict_of(found) is Verdict.NOT_DECIDED


def test_a_slow_run_is_a_tenth_slower_at_least() -> None:
    """Where runs hardly scatter, eight standard deviations are nothing."""
    even = [100.0] * 20
    assert slow_runs(even, [*even[:17], 92.0, 92.0, 92.0]) is None
    assert slow_runs(even, [*even[:17], 90.0, 90.0, 90.0]) == SlowRuns(side="B", count=3)


def test_where_runs_scatter_a_slow_run_is_eight_standard_deviations_slower() -> None:
    spread = [100.0 * 1.1 ** (at % 3 - 1) for at in range(30)]
    assert slow_runs(spread, [*spread[:27], 40.0, 40.0, 40.0]) is None
    assert slow_runs(spread, [*spread[:27], 25.0, 25.0, 25.0]) == SlowRuns(side="B", count=3)


def test_what_slow_runs_showed_is_kept() -> None:
    looks = pair_design.one_look(50)
    session = measured(*zip(EVEN, with_slow(3), strict=True), looks=looks)
    found = compare_experiment(session, "e1")
    assert found is not None
    (kept, *_) = verdicts_of(found)
    assert (kept.slow_side, kept.slow_runs) == ("B", 3)
    end = ExperimentEnded(at=1.0, id="e1", status=RunStatus.OK, restored=True, verdicts=(kept,))
    again = stored_comparison(measured(*zip(EVEN, with_slow(3), strict=True), looks=looks, ended=end), "e1")
    assert again is not None
    assert again.headline is not None
    assert again.headline.judgement is not None
    assert again.headline.judgement.slow == SlowRuns(side="B", count=3)


def test_the_same_against_itself_changes_no_setting_and_carries_nothing_over() -> None:
    session = measured(*[(1000.0, 1000.0)] * 8)
    values = late(0.3)
    runs = tuple(
        replace(
            run,
            start=replace(run.start, mark=ExperimentMark(experiment="e1", letter=letter, pair=at // 2 + 1)),
            end=replace(run.end, figures=replace(run.figures, read=replace(run.figures.read, iops=value))),
        )
        for at, (run, letter, value) in enumerate(zip(session.runs, LATE, values, strict=True))
        if run.end is not None and run.figures.read is not None
    )
    (record,) = session.experiments
    for key, patterns in (("read_ahead_kb", {RunPattern.CARRY_OVER}), ("", set[RunPattern]())):
        start = replace(record.start, key=key)
        found = compare_experiment(replace(session, runs=runs, experiments=(replace(record, start=start),)), "e1")
        assert found is not None
        assert {one.pattern for one in found.disturbances} & {RunPattern.CARRY_OVER} == patterns


def test_a_forecast_of_no_difference_is_made_at_its_own_level() -> None:
    seen = ratio_interval([0.012, -0.012, 0.011, -0.011, 0.013, -0.013])
    strict, loose = (InterimAnalysis(pairs=20, level=0.0001, no_difference=level) for level in (None, 0.06))
    assert (deciding_look(seen, [strict]), deciding_look(seen, [loose])) == (None, loose)
