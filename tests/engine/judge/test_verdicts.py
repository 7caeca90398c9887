"""Verdicts on experiments whose truth is known, because they are drawn: how often is one wrong, or missed?"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from app.engine.judge.order import Letter, order, switches
from app.engine.judge.verdict import BETTER, WORSE, Judgement, Verdict, judge

DECIDED = (Verdict.FASTER, Verdict.SLOWER)


def experiment(
    random: Random, *, effect: float = 0.0, noise: float = 0.01, drift: float = 0.0, pairs: int = 6
) -> Judgement:
    """Runs of 100k IOPS in the order of an experiment; `effect`, `noise` and `drift` as shares."""
    letters = order(pairs, random)
    sides: dict[Letter, list[float]] = {"A": [], "B": []}
    for at, letter in enumerate(letters):
        level = 1e5 * (1 + drift * at / (len(letters) - 1)) * (1 + (effect if letter == "B" else 0.0))
        sides[letter].append(level * random.lognormvariate(0, noise))
    return judge(sides["A"], sides["B"], interleaved=True)


def shares(count: int, **truth: float) -> dict[Verdict, float]:
    random = Random(20_200)
    seen = Counter(experiment(random, **truth).verdict for _ in range(count))  # type: ignore[arg-type]
    return {verdict: seen[verdict] / count for verdict in Verdict}


SCATTER = 3 * (0.05 * 0.95 / 1000) ** 0.5
"""How far the share of a thousand draws may lie beyond one of twenty."""


@pytest.mark.parametrize(("noise", "most"), [(0.005, 0.0), (0.01, 0.005), (0.02, 0.05), (0.05, 0.05 + SCATTER)])
def test_identical_settings_are_called_different_in_one_of_twenty_at_most(noise: float, most: float) -> None:
    found = shares(1000, noise=noise)
    assert sum(found[verdict] for verdict in DECIDED) <= most


def test_two_hundred_comparisons_of_the_same_give_ten_false_verdicts_at_most() -> None:
    random = Random(1)
    assert sum(experiment(random, noise=0.01).verdict in DECIDED for _ in range(200)) <= 10


@pytest.mark.parametrize(("noise", "most"), [(0.005, 0.0), (0.01, 0.005), (0.02, 0.06), (0.05, 0.05 + SCATTER)])
def test_a_drift_of_three_percent_makes_no_difference(noise: float, most: float) -> None:
    found = shares(1000, noise=noise, drift=0.03)
    assert sum(found[verdict] for verdict in DECIDED) <= most


def test_five_percent_are_found_in_six_pairs_where_runs_scatter_by_one() -> None:
    assert shares(1000, effect=0.05)[Verdict.FASTER] >= 0.95


def test_five_percent_less_are_found_as_well() -> None:
    assert shares(1000, effect=-0.05)[Verdict.SLOWER] >= 0.95


def test_no_difference_is_shown_where_runs_scatter_little() -> None:
    assert shares(500, noise=0.005)[Verdict.NO_DIFFERENCE] >= 0.95


def test_no_difference_is_never_said_because_the_runs_scatter() -> None:
    assert shares(500, noise=0.05)[Verdict.NO_DIFFERENCE] <= 0.02


def test_a_difference_is_hardly_ever_called_none() -> None:
    assert shares(1000, effect=0.03)[Verdict.NO_DIFFERENCE] <= 0.01


def test_a_before_b_would_have_been_fooled_by_the_drift() -> None:
    """What the order is for: one after the other, the same drift passes for a difference."""
    random = Random(7)
    fooled = 0
    for _ in range(200):
        runs = [1e5 * (1 + 0.03 * at / 11) * random.lognormvariate(0, 0.002) for at in range(12)]
        interval = judge(runs[:6], runs[6:], interleaved=False).interval
        fooled += interval is not None and interval.excludes_zero
    assert fooled > 100


def test_what_was_not_measured_in_turn_is_held_to_five_percent() -> None:
    a, b = [100.0, 100.5, 99.5], [104.0, 104.5, 103.5]
    assert judge(a, b, interleaved=True).verdict is Verdict.FASTER
    apart = judge(a, b, interleaved=False)
    assert (apart.verdict, apart.interleaved) == (Verdict.NOT_DECIDED, False)
    assert "below 5 %" in apart.reason


def test_what_was_not_measured_in_turn_is_never_without_difference() -> None:
    assert judge([100.0] * 6, [100.01] * 6, interleaved=False).verdict is Verdict.NOT_DECIDED


def test_a_large_difference_is_told_though_not_measured_in_turn() -> None:
    judgement = judge([100.0, 101.0, 99.0], [80.0, 81.0, 79.0], interleaved=False)
    assert (judgement.word, str(judgement.interval)) == ("slower", "-20.0 % [-22.1, -17.9]")


def test_more_latency_is_higher_and_not_welcome() -> None:
    judgement = judge([10.0, 10.1, 9.9], [12.0, 12.1, 11.9], interleaved=True, higher_is_better=False)
    assert (judgement.word, judgement.verdict in WORSE) == ("higher", True)


def test_less_latency_is_lower_and_welcome() -> None:
    judgement = judge([12.0, 12.1, 11.9], [10.0, 10.1, 9.9], interleaved=True, higher_is_better=False)
    assert (judgement.word, judgement.verdict in BETTER) == ("lower", True)


def test_two_pairs_decide_nothing() -> None:
    judgement = judge([100.0, 100.0], [150.0, 150.1], interleaved=True)
    assert (judgement.verdict, judgement.further_pairs) == (Verdict.NOT_DECIDED, 1)


def test_single_runs_decide_nothing_and_have_no_interval() -> None:
    judgement = judge([100.0], [200.0], interleaved=False)
    assert (judgement.verdict, judgement.interval) == (Verdict.NOT_DECIDED, None)


def test_two_pairs_of_the_other_sign_stand_against_a_verdict() -> None:
    ratios = [0.998, 0.999, *[1.06] * 10]
    judgement = judge([1.0] * 12, ratios, interleaved=True)
    assert judgement.interval is not None
    assert judgement.interval.excludes_zero
    assert (judgement.verdict, "2 of 12 pairs" in judgement.reason) == (Verdict.NOT_DECIDED, True)


def test_one_pair_of_the_other_sign_does_not() -> None:
    assert judge([1.0] * 12, [0.999, *[1.06] * 11], interleaved=True).verdict is Verdict.FASTER


def test_a_sure_difference_below_the_threshold_is_none_that_matters() -> None:
    judgement = judge([1.0] * 6, [1.010, 1.011, 1.009, 1.010, 1.012, 1.008], interleaved=True)
    assert judgement.interval is not None
    assert judgement.interval.excludes_zero
    assert judgement.verdict is Verdict.NO_DIFFERENCE


def test_further_pairs_are_named_where_the_runs_scatter() -> None:
    judgement = judge([1.0] * 6, [1.10, 0.95, 1.08, 0.97, 1.12, 1.01], interleaved=True)
    assert judgement.further_pairs is not None
    assert f"about {judgement.further_pairs} pairs more would decide it" in judgement.reason


def test_the_further_pairs_do_find_it_four_times_of_five() -> None:
    random = Random(3)
    needed = 6 + (judge([1.0] * 6, [1.08, 0.99, 1.09, 0.98, 1.06, 1.04], interleaved=True).further_pairs or 0)
    noise = 0.047 / 2**0.5
    drawn = [experiment(random, effect=0.04, noise=noise, pairs=needed).interval for _ in range(300)]
    assert sum(one is not None and one.excludes_zero for one in drawn) > 0.7 * 300


def test_the_verdicts_are_said_in_these_words_and_no_others() -> None:
    words = ["faster", "slower", "lower", "higher", "no difference", "not decided", "refused"]
    assert [verdict.word for verdict in Verdict] == words


def test_a_verdict_is_either_welcome_or_not_or_neither() -> None:
    assert Verdict.FASTER in BETTER
    assert Verdict.SLOWER in WORSE
    assert not BETTER & WORSE


def test_nothing_has_no_ratio() -> None:
    with pytest.raises(ValueError, match="positive"):
        judge([0.0, 1.0], [1.0, 1.0], interleaved=True)


def test_the_order_is_abba_from_either_letter() -> None:
    orders = {order(4, Random(seed)) for seed in range(20)}
    assert {"".join(letters) for letters in orders} == {"ABBAABBA", "BAABBAAB"}


def test_the_first_letter_is_drawn_fairly() -> None:
    random = Random(5)
    assert 440 < sum(order(3, random)[0] == "A" for _ in range(1000)) < 560


def test_abba_needs_half_the_switches_of_abab() -> None:
    assert (switches(tuple("ABBAABBAABBA")), switches(tuple("ABABABABABAB"))) == (6, 12)  # type: ignore[arg-type]


def test_a_linear_drift_falls_on_both_letters_alike() -> None:
    letters = order(6, Random(1))
    places = {letter: sum(at for at, each in enumerate(letters) if each == letter) for letter in "AB"}
    assert places["A"] == places["B"]
