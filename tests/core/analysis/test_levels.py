"""How sure a verdict is: the level of the look that is due, and no verdict between two looks."""

from __future__ import annotations

import pytest

from app.core.analysis.comparison import Comparison, compare_experiment, compare_headline
from app.core.analysis.pair_design import STANDARD
from app.core.analysis.verdict import Verdict, VerdictResult
from app.core.presentation.comparison_text import interim_text
from app.core.presentation.percent import covers_text
from app.core.presentation.verdict_text import reason_text
from app.core.session.event_types import InterimAnalysis
from tests.case_loop import loop_over
from tests.core.presentation.test_comparison import measured


def pairs(count: int) -> list[tuple[float, float]]:
    """A fifth less with B, and a little chance."""
    return [(1000 + at % 3, 800 + at % 2) for at in range(count)]


def compared(count: int, looks: tuple[InterimAnalysis, ...] = STANDARD) -> Comparison:
    both = compare_experiment(measured(*pairs(count), looks=looks), "e1")
    assert both is not None
    return both


def judged(count: int, looks: tuple[InterimAnalysis, ...] = STANDARD) -> VerdictResult:
    headline = compared(count, looks).headline
    assert headline is not None
    assert headline.judgement is not None
    return headline.judgement


@loop_over(
    ("count", "covers"),
    [
        *((3, "99.56 %"), (6, "99.56 %"), (7, "99 %"), (8, "99 %"), (9, "98.89 %"), (11, "98.78 %"), (12, "98.78 %")),
        *((13, "98.22 %"), (16, "98.22 %"), (17, "97.34 %"), (20, "97.34 %"), (21, "95 %")),
    ],
)
def test_each_look_is_as_sure_as_its_share_of_the_budget_asks(count: int, covers: str) -> None:
    """Between two looks the interval is that of the look ahead; after the last there is no plan any more."""
    assert covers_text(compared(count).level) == covers


def test_pairs_without_a_plan_are_judged_at_the_usual_level() -> None:
    assert covers_text(compared(6, looks=()).level) == "95 %"


@pytest.mark.parametrize("count", [6, 8, 10, 12, 16, 20, 21])
def test_at_a_look_and_after_the_last_there_is_a_verdict(count: int) -> None:
    assert (judged(count).verdict, judged(count).further_pairs) == (Verdict.SLOWER, None)


@pytest.mark.parametrize(
    ("count", "at", "more"),
    [(3, 6, "3 pairs more"), (5, 6, "1 pair more"), (7, 8, "1 pair more"), (13, 16, "3 pairs more")],
)
def test_between_two_looks_there_is_none_and_how_many_pairs_are_missing_is_said(count: int, at: int, more: str) -> None:
    judgement = judged(count)
    assert (judgement.verdict, judgement.further_pairs) == (Verdict.NOT_DECIDED, at - count)
    assert reason_text(judgement) == f"the verdict is due after {at} pairs, {more}"


def test_every_figure_beside_the_headline_is_judged_at_the_same_look() -> None:
    """What differs is judged at one level of the look, what does not at the other one."""
    levels = {
        row.judgement.verdict: row.judgement.interval.level
        for row in compared(6).rows
        if row.judgement and row.judgement.interval
    }
    assert levels == {Verdict.SLOWER: STANDARD[0].level, Verdict.NO_DIFFERENCE: STANDARD[0].inside_level}


NEARLY_ALIKE = [(1000.0, 1000.0 + off) for off in (11, -11, 9, -9, 10, -10)]
"""Within 2 % at 98.5 %, and not at 99.56 %."""


def test_no_difference_has_a_level_of_its_own() -> None:
    found = compare_experiment(measured(*NEARLY_ALIKE, looks=STANDARD), "e1")
    assert found is not None
    assert found.headline is not None
    assert found.headline.judgement is not None
    assert found.headline.judgement.verdict is Verdict.NO_DIFFERENCE
    assert covers_text(found.level) == "98.5 %"


def test_an_earlier_plan_is_judged_by_the_levels_it_was_made_with() -> None:
    looks = (InterimAnalysis(pairs=6, level=0.0044), InterimAnalysis(pairs=12, level=0.017))
    found = compare_experiment(measured(*NEARLY_ALIKE, looks=looks), "e1")
    assert found is not None
    assert found.headline is not None
    assert found.headline.judgement is not None
    assert found.headline.judgement.verdict is Verdict.NOT_DECIDED
    assert covers_text(found.level) == "99.56 %"


def test_an_experiment_stands_for_its_first_pair() -> None:
    assert (compared(6).a.id, compared(6).b.id) == ("r1", "r2")


def test_what_the_job_is_about_is_the_same_alone_as_among_all_figures() -> None:
    assert compare_headline(compared(6).sides) == compared(6).headline


def test_a_running_experiment_tells_an_interval_and_no_verdict() -> None:
    told = interim_text(measured(*pairs(3), looks=STANDARD), "e1")
    assert told.startswith("read IOPS -20.0 % [-20.9, -19.2]")
    assert told.endswith(", not yet decided")


def test_before_the_second_pair_there_is_nothing_to_tell() -> None:
    assert [interim_text(measured(*pairs(count)), "e1") for count in (0, 1)] == ["", ""]


def test_before_the_first_whole_pair_there_is_no_comparison() -> None:
    assert compare_experiment(measured(), "e1") is None


def test_an_experiment_that_nobody_made_has_no_comparison() -> None:
    assert compare_experiment(measured(*pairs(3)), "e2") is None
