"""The verdict: how often it is wrong or missed where the truth is known, and what each of its rules says."""

from __future__ import annotations

from math import exp
from random import Random

import pytest

from app.core.analysis.pair_design import QUICK, STANDARD, draw_order, one_look, switches
from app.core.analysis.verdict import (
    BETTER,
    WORSE,
    Verdict,
    VerdictResult,
    correct_for_multiplicity,
    judge,
    judge_between,
)
from app.core.presentation.verdict_text import outliers_text, reason_text, verdict_word
from tests.method.disturbances import DISTURBANCES, drift
from tests.method.line import slack
from tests.method.marks import draw
from tests.method.matrices import Size, false_signs, whole
from tests.method.simulated import between, experiment, fixed, gauss, shares
from tests.method.tables import TABLES

COUNT = 200
UNSURE = [104.0, 99.0, 105.0, 98.5, 104.0, 103.0]
FAR = [100.0, 100.1, 99.9, 100.05, 99.95, 115.0]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
@pytest.mark.exhaustive
def test_every_table_of_the_method_keeps_its_mark(table) -> None:  # type: ignore[no-untyped-def]
    assert draw(table, max(10 * table.part, 100)).missed == ()


@pytest.mark.exhaustive
def test_equal_settings_are_called_different_in_one_of_twenty_at_most() -> None:
    level = DISTURBANCES["job every 5 min, -30 %"]
    assert shares(COUNT, gauss(0.05), level=level).differences <= 0.05 + slack(COUNT)


@pytest.mark.exhaustive
def test_five_percent_are_found_four_times_of_five_where_runs_scatter_by_as_much() -> None:
    assert shares(COUNT, gauss(0.05), effect=0.05)[Verdict.FASTER] >= 0.78 - slack(COUNT, 0.8)


@pytest.mark.exhaustive
def test_a_verdict_is_never_less_likely_with_more_pairs() -> None:
    found = [shares(COUNT, gauss(0.05), effect=0.05, looks=fixed(pairs))[Verdict.FASTER] for pairs in (6, 12, 20)]
    assert found[0] < found[1] < found[2]  # a fifth, a half, four fifths


@pytest.mark.exhaustive
def test_no_difference_is_shown_where_runs_scatter_little_and_never_because_they_scatter() -> None:
    assert shares(COUNT, gauss(0.01))[Verdict.NO_DIFFERENCE] >= 0.95
    assert shares(COUNT, gauss(0.05))[Verdict.NO_DIFFERENCE] <= 0.01


def test_a_large_effect_ends_the_experiment_early() -> None:
    assert shares(100, gauss(0.01), effect=0.1).pairs < 7


@pytest.mark.exhaustive
def test_no_sweep_of_equal_cells_has_a_sign() -> None:
    random = Random(1)
    found = [whole(random, gauss(0.02), drift(0.1), size=Size(setups=6, workloads=1)) for _ in range(60)]
    assert sum(map(false_signs, found)) / 60 <= 0.05 + slack(60)


def test_twenty_pairs_with_ten_percent_more_are_faster_though_two_point_the_other_way() -> None:
    random = Random(4)
    ratios = [exp(0.087 + random.gauss(0, 0.07)) for _ in range(18)] + [0.99, 0.98]
    judgement = judge([1.0] * 20, ratios, interleaved=True, level=STANDARD[-1].level)
    assert judgement.verdict is Verdict.FASTER


def test_what_is_not_decided_says_how_large_an_effect_may_be() -> None:
    judgement = judge([1.0] * 4, [1.2, 0.9, 1.1, 0.95], interleaved=True, ahead=STANDARD)
    assert judgement.interval is not None
    assert (judgement.verdict, judgement.further_pairs) == (Verdict.NOT_DECIDED, None)
    assert reason_text(judgement) == f"if there is an effect, it is below {judgement.interval.percent_high:.1f} %"


NEARLY = [1.04, 0.99, 1.05, 0.985, 1.04, 1.03]
"""Six pairs that would decide soon."""


def test_a_look_ahead_that_would_decide_is_named() -> None:
    ratios = [1.03, 1.01, 1.05, 1.02, 1.045, 1.03]
    judgement = judge([1.0] * 6, ratios, interleaved=True, level=0.001, ahead=STANDARD)
    assert judgement.further_pairs == 12 - 6
    assert reason_text(judgement) == "about 6 more pairs would decide it"


def test_a_look_ahead_that_may_not_decide_is_not() -> None:
    assert judge([1.0] * 6, NEARLY, interleaved=True, ahead=STANDARD).further_pairs is None


def test_without_a_look_ahead_nothing_is_foretold() -> None:
    assert judge([1.0] * 6, NEARLY, interleaved=True).further_pairs is None


def test_an_interval_that_reaches_below_the_threshold_says_how_little_it_may_be() -> None:
    judgement = judge([1.0] * 6, [1.01, 1.05, 1.02, 1.04, 1.03, 1.03], interleaved=True)
    assert judgement.interval is not None
    assert (judgement.verdict, reason_text(judgement)) == (
        Verdict.FASTER,
        f"by as little as {judgement.interval.percent_low:.1f} %",
    )


def test_a_sure_difference_below_the_threshold_is_none_that_matters() -> None:
    judgement = judge([1.0] * 6, [1.010, 1.011, 1.009, 1.010, 1.012, 1.008], interleaved=True)
    assert judgement.interval is not None
    assert judgement.interval.excludes_zero
    assert judgement.verdict is Verdict.NO_DIFFERENCE


FAR_PAIRS = [*(1.05 + step / 1000 for step in range(-9, 9)), 0.1, 0.11]


def test_pairs_far_from_the_others_are_named_and_do_not_hide_a_difference_or_each_other() -> None:
    judgement = judge([1.0] * 20, FAR_PAIRS, interleaved=True)
    assert judgement.verdict is Verdict.FASTER
    assert judgement.interval is not None
    assert 4.7 < judgement.interval.percent < 5.3  # not -17 %, which is their mean
    assert outliers_text(judgement.outliers) == "pairs 19 (-90.0 %) and 20 (-89.0 %) are far from the others"


def test_a_pair_far_from_six_others_widens_their_interval_and_is_named() -> None:
    judgement = judge([1.0] * 7, [1.05, 1.052, 1.049, 1.051, 1.05, 1.048, 0.7], interleaved=True)
    assert judgement.verdict is Verdict.NOT_DECIDED
    assert outliers_text(judgement.outliers) == "pair 7 (-30.0 %) is far from the others"


def test_two_pairs_decide_nothing() -> None:
    judgement = judge([100.0, 100.0], [150.0, 150.1], interleaved=True)
    assert (judgement.verdict, judgement.further_pairs) == (Verdict.NOT_DECIDED, 1)


def test_one_pair_has_not_even_an_interval() -> None:
    judgement = judge([100.0], [150.0], interleaved=True)
    assert (judgement.interval, reason_text(judgement)) == (None, "at least 3 pairs are needed")


@pytest.mark.parametrize(
    "b",
    [[150.0], [150.0, 151.0], [150.0, 151.0, 150.5], [100.0, 100.1, 99.9], [120.0, 90.0, 110.0], UNSURE, FAR],
    ids=["one", "two", "faster", "no difference", "not decided", "pairs to add", "a pair far off"],
)
def test_pairs_are_said_to_be_measured_in_turn_and_groups_not_to_be(b: list[float]) -> None:
    assert judge([100.0] * len(b), b, interleaved=True).interleaved
    assert not judge([100.0] * len(b), b, interleaved=False).interleaved


def test_what_was_not_measured_in_turn_has_no_word_of_faster() -> None:
    judgement = judge([100.0, 101.0, 99.0], [80.0, 81.0, 79.0], interleaved=False)
    assert judgement.verdict is Verdict.NOT_DECIDED
    assert reason_text(judgement) == "not measured in turn, so drift could look like an effect"


def test_two_runs_of_a_side_that_were_not_measured_in_turn_tell_nothing() -> None:
    assert reason_text(judge([100.0, 101.0], [80.0, 81.0], interleaved=False)) == "at least 3 runs of each are needed"


def test_the_first_side_measured_again_makes_a_verdict_possible() -> None:
    judgement = judge_between([100.0, 101.0], [80.0, 81.0, 79.0], [100.5, 99.5])
    assert judgement.verdict is Verdict.SLOWER
    assert reason_text(judgement) == "the runs before and after the second side differ by 0.5 %"


def test_the_drift_of_the_first_side_is_told_and_no_number_of_pairs() -> None:
    judgement = judge_between([100.0], [110.0, 111.0, 109.0], [150.0, 150.0])
    assert (judgement.verdict, judgement.interleaved) == (Verdict.NOT_DECIDED, False)
    assert reason_text(judgement).endswith(
        "too noisy to tell; the runs before and after the second side differ by 50.0 %"
    )


def test_a_drift_between_the_first_side_and_itself_is_no_effect() -> None:
    assert judge_between([100.0, 101.0], [105.0, 106.0, 105.5], [110.0, 111.0]).verdict is Verdict.NOT_DECIDED


@pytest.mark.exhaustive
def test_one_after_the_other_a_drift_would_have_passed_for_an_effect() -> None:
    random = Random(7)
    assert not any(between(random, gauss(0.002), drift(0.1)).differs for _ in range(100))


@pytest.mark.parametrize(("b", "word", "welcome"), [(12.0, "higher", False), (8.0, "lower", True)])
def test_less_latency_is_lower_and_welcome(b: float, word: str, welcome: bool) -> None:
    judgement = judge([10.0, 10.1, 9.9], [b, b + 0.1, b - 0.1], interleaved=True, higher_is_better=False)
    assert (judgement.verdict.value, judgement.verdict in BETTER, judgement.verdict in WORSE) == (
        word,
        welcome,
        not welcome,
    )


def test_the_verdicts_are_said_in_these_words_and_no_others() -> None:
    words = ["faster", "slower", "lower", "higher", "no difference", "not decided", "refused"]
    assert [*map(verdict_word, Verdict)] == [*words, "stopped answering"]


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_what_is_no_figure_never_reaches_an_interval(value: float) -> None:
    with pytest.raises(ValueError, match="positive, finite"):
        judge([value, 1.0], [1.0, 1.0], interleaved=True)


def barely(p_like: float) -> VerdictResult:
    return judge([1.0] * 6, [p_like + step for step in (0.03, -0.03, 0.02, -0.02, 0.01, -0.01)], interleaved=True)


def test_a_difference_that_chance_explains_in_a_family_is_not_decided() -> None:
    one = barely(1.035)
    assert one.differs
    family = correct_for_multiplicity([one, *[barely(1.0)] * 9])
    assert family[0] is not None
    assert (family[0].verdict, reason_text(family[0])) == (
        Verdict.NOT_DECIDED,
        "not significant among all 10 metrics",
    )


def test_a_clear_difference_stays_one_in_a_family() -> None:
    family = correct_for_multiplicity([barely(1.5), *[barely(1.0)] * 9])
    assert family[0] is not None
    assert family[0].verdict is Verdict.FASTER


def test_one_figure_is_no_family() -> None:
    assert correct_for_multiplicity([barely(1.035), None]) == (barely(1.035), None)


@pytest.mark.parametrize("count", [20, 21, 100])
def test_no_number_of_figures_makes_a_difference_easier_to_show(count: int) -> None:
    """As many alike, each of them too weak to be shown after Holm."""
    family = correct_for_multiplicity([barely(1.035)] * count)
    assert not any(one is not None and one.differs for one in family)


def test_both_orders_occur_before_the_first_look() -> None:
    assert all(set(draw_order(STANDARD, Random(seed))[:12:2]) == {"A", "B"} for seed in range(200))


def test_later_pairs_are_drawn_freely() -> None:
    """If both orders had to occur between two looks, two pairs would always be one of each: a period of four runs."""
    between = [draw_order(STANDARD, Random(seed))[12:16:2] for seed in range(400)]
    assert 150 < sum(first == second for first, second in between) < 250


def test_the_order_has_no_period() -> None:
    assert len({draw_order(one_look(6), Random(seed)) for seed in range(500)}) == 2**6 - 2


def test_the_first_letter_is_drawn_fairly() -> None:
    random = Random(5)
    assert 440 < sum(draw_order(QUICK, random)[0] == "A" for _ in range(1000)) < 560


def test_each_pair_has_both_letters() -> None:
    letters = draw_order(STANDARD, Random(1))
    assert all(set(letters[at : at + 2]) == {"A", "B"} for at in range(0, len(letters), 2))


def test_the_way_back_is_a_switch_too() -> None:
    assert switches(("A", "B", "B", "A")) == 2
    assert switches(("A", "B")) == 2


def test_an_experiment_ends_at_its_last_look_whatever_it_shows() -> None:
    assert experiment(Random(1), gauss(0.1)).pairs in {look.pairs for look in STANDARD}
