"""Sweeps whose runs do not all scatter alike: no false sign, and a reason where there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

import pytest

from app.core.analysis.reasons import Reason
from app.core.analysis.verdict import Verdict
from app.core.presentation.verdict_text import reason_text
from app.core.session.sweep_record import SweepRecord
from app.core.session.sweep_steps import StepResult
from app.features.sweep.engine.results import results
from app.features.sweep.engine.verdicts import judge_cells, pairs_needed
from app.features.sweep.presentation.findings import finding_facts
from app.features.sweep.presentation.json_schema import sweep_json
from app.features.sweep.presentation.sweep import cell_notes, cell_text
from tests.features.sweep.making import design, measured
from tests.method.line import slack
from tests.method.uneven import (
    UNEVEN,
    Uneven,
    behind_rate,
    by_row,
    false_rate,
    found_rate,
    many_figures_rates,
    screened_cells,
)

FASTER: Mapping[tuple[int, int], float] = {(4, 0): 0.20, (5, 0): 0.20}
WIDE_SETUP, WIDE_BASELINE = Uneven(noise=by_row(0.02, row_5=0.15)), Uneven(noise=by_row(0.02, row_0=0.15))
SETUP_WORDS = "its runs are noisier than the others, so it has no verdict"
BASELINE_WORDS = "the runs of its baseline are noisier than the others, so it has no verdict"


def test_a_set_up_that_scatters_more_has_no_sign_and_hides_no_other() -> None:
    record, runs = screened_cells(Random(1), WIDE_SETUP, FASTER)
    verdicts = judge_cells(record, {run.id: run for run in runs})
    assert verdicts["4/0"].verdict is Verdict.FASTER
    for cell in ("5/0", "5/1"):
        one = verdicts[cell]
        assert (one.verdict, one.reason, reason_text(one)) == (
            Verdict.NOT_DECIDED,
            Reason.WIDER_SCATTER,
            SETUP_WORDS,
        )
        assert one.interval is not None
    assert [cell for cell, one in verdicts.items() if one.reason is Reason.WIDER_SCATTER] == ["5/0", "5/1"]


def test_of_a_baseline_that_scatters_more_nothing_is_shown_to_differ() -> None:
    record, runs = screened_cells(Random(1), WIDE_BASELINE, FASTER)
    verdicts = judge_cells(record, {run.id: run for run in runs})
    assert len(verdicts) == 22
    assert {reason_text(one) for one in verdicts.values()} == {BASELINE_WORDS}


def test_a_baseline_that_lies_apart_by_its_own_scatter_makes_no_signs() -> None:
    """Its runs scatter twice as much as the others, too little for a test of three rounds to notice."""
    record, runs = screened_cells(Random(3), UNEVEN["baseline 4 %"])
    known = {run.id: run for run in runs}
    assert {one.reason for one in judge_cells(record, known).values()} == {Reason.NOT_SHOWN}


def test_text_json_and_screen_say_why_a_cell_has_no_sign() -> None:
    record, runs = screened_cells(Random(1), WIDE_SETUP, FASTER)
    found = results(record, runs)
    one = found.at("5", "0")
    assert one is not None
    assert cell_notes(one) == (SETUP_WORDS,)
    assert SETUP_WORDS in cell_text(found, record, one)
    assert f"5: {SETUP_WORDS}" in {fact.value for group in finding_facts(record, found) for fact in group.facts}
    cell = next(each for each in sweep_json(record, found, session="s")["cells"] if each["id"] == "5/0")
    assert (cell["judgement"]["reason"], cell["notes"]) == (SETUP_WORDS, [SETUP_WORDS])


def without_a_round(cell: str) -> SweepRecord:
    """A sweep of equal set-ups of which one cell failed in one round."""
    record, _ = screened_cells(Random(1), Uneven(noise=by_row(0.02)))
    lost = next(step.number for step in record.steps if step.cell == cell and step.round == 2)
    ends = (
        replace(end, result=StepResult.FAILED, run=None, reason="fio failed") if end.step == lost else end
        for end in record.ended
    )
    return replace(record, ended=tuple(ends))


def reasons_of(record: SweepRecord) -> dict[str, str]:
    _, runs = screened_cells(Random(1), Uneven(noise=by_row(0.02)))
    return {cell: reason_text(one) for cell, one in judge_cells(record, {run.id: run for run in runs}).items()}


def test_a_round_that_the_baseline_lost_is_named_when_all_steps_are_over() -> None:
    reasons = reasons_of(without_a_round("0/0"))
    assert {reasons[f"{row}/0"] for row in range(1, 12)} == {
        "one of the rounds of its baseline failed, so it has no verdict"
    }
    assert not any("failed" in reasons[f"{row}/1"] for row in range(1, 12))


def test_a_round_that_a_cell_lost_is_named_when_all_steps_are_over() -> None:
    reasons = reasons_of(without_a_round("7/0"))
    assert reasons["7/0"] == "one of its rounds failed, so it has no verdict"
    assert not any("failed" in words for cell, words in reasons.items() if cell != "7/0")


def test_a_round_that_is_still_to_be_done_is_waited_for() -> None:
    record = without_a_round("0/0")
    waiting = replace(record, ended=tuple(end for end in record.ended if end.result is not StepResult.FAILED))
    reasons = reasons_of(waiting)
    assert {reasons[f"{row}/0"] for row in range(1, 12)} == {"the verdict is due after 3 rounds"}


@pytest.mark.parametrize(("level", "pairs"), [(0.05, 3), (0.03, 4), (0.00076, 6), (2 / 4**5, 5)])
def test_the_fewest_pairs_that_two_speeds_do_not_pass_for_a_difference(level: float, pairs: int) -> None:
    assert pairs_needed(level) == pairs
    assert pairs == 3 or 2 / 4 ** (pairs - 1) > level
    assert 2 / 4**pairs <= level or pairs == 3


DEPTHS = '[[axis]]\njob="iodepth"\nvalues=[1,2,4,8,16,32,64,128,256,512]\n'


@pytest.mark.parametrize(("repeats", "alone"), [(3, False), (6, True)])
def test_only_so_many_rounds_tell_anything_from_the_best(repeats: int, alone: bool) -> None:
    record, runs = measured(design(DEPTHS, repeats=repeats), {"iodepth=512": 5000})
    (line,) = results(record, runs).leaders
    assert (len(line) == 1) is alone


DRAWS = 150


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", UNEVEN)
def test_hardly_any_sweep_of_equal_set_ups_has_a_sign(name: str) -> None:
    assert false_rate(name, 17, DRAWS) <= 0.05 + slack(DRAWS)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["now fast, now 12 % slower", "all set-ups 2 %", "one set-up 10 %"])
def test_hardly_any_equal_set_up_is_said_to_be_behind_the_best(name: str) -> None:
    assert behind_rate(name, 17, DRAWS) <= 0.05 + slack(DRAWS)


@pytest.mark.exhaustive
def test_a_hundred_figures_at_once_have_no_more_false_signs_than_one() -> None:
    false, shown = many_figures_rates(17, 60)
    assert false <= 0.05 + slack(60)
    assert shown >= 0.95


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("scatter", "wide", "missing", "least"),
    [(0.02, 0.02, 0.0, 0.95), (0.05, 0.05, 0.0, 0.55), (0.05, 0.25, 0.0, 0.42), (0.02, 0.02, 0.10, 0.87)],
)
def test_an_effect_of_20_percent_is_found(scatter: float, wide: float, missing: float, least: float) -> None:
    found = found_rate(by_row(scatter, row_3=wide), 17, DRAWS, missing=missing)
    assert found >= least - slack(DRAWS, least)
