"""Verdicts of a matrix: one family with what is measured again, and what a plan can show at all."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from app.core.analysis.pair_design import LEVEL
from app.core.analysis.verdict import Verdict
from app.features.sweep.engine.adaptive_steps import next_steps
from app.features.sweep.engine.results import results
from app.features.sweep.engine.verdicts import SCREENING, alpha_budget, judge_cells, underpowered_setups
from app.features.sweep.presentation.json_schema import design_json
from app.features.sweep.presentation.plan import _plan
from tests.features.sweep.making import design, measured
from tests.method.disturbances import nothing
from tests.method.matrices import Size, differs, planned, screened, whole
from tests.method.simulated import gauss

FEW = '[[axis]]\ntarget="array"\nsetting="ahead"\nvalues=["none","some","all"]\n'
TWO = '[[axis]]\ntarget="array"\nsetting="cache"\nvalues=["off","on"]\n'
SIX = FEW + TWO


def test_orders_are_drawn_anew_in_each_round() -> None:
    made = design(SIX, repeats=4)
    rounds = [tuple(step.cell for step in made.steps if step.round == turn) for turn in (1, 2, 3, 4)]
    assert len({*rounds}) == 4
    assert rounds[1] != rounds[0][::-1]


def test_twenty_percent_are_found_in_three_rounds_of_twelve_set_ups() -> None:
    record, runs = screened(Random(1), gauss(0.02), nothing, size=Size(), effects={(5, 0): 0.2})
    verdicts = judge_cells(record, {run.id: run for run in runs})
    assert {cell for cell, one in verdicts.items() if one.differs} == {"5/0"}
    assert verdicts["5/0"].verdict is Verdict.FASTER


def test_the_matrix_and_what_confirms_it_share_one_budget() -> None:
    both, alone = planned(Size(), 1), planned(Size(pairs=0), 1)
    assert alpha_budget(both).each * 22 == pytest.approx(SCREENING)
    assert alpha_budget(both).confirmation == pytest.approx(LEVEL - SCREENING)
    assert alpha_budget(alone).each * 22 == pytest.approx(LEVEL)
    assert alpha_budget(alone).confirmation == 0.0


def test_what_cannot_show_anything_leaves_all_to_the_pairs() -> None:
    made = alpha_budget(design(FEW, repeats=3))
    assert (made.each, made.confirmation) == (0.0, LEVEL)


def test_three_rounds_of_two_set_ups_are_three_pairs_and_show_what_those_do() -> None:
    made = design(TWO, repeats=3)
    assert underpowered_setups(made) == ()
    found = results(*measured(made, {"cache=off": 1000, "cache=on": 800}))
    assert [one.judgement.verdict for one in found.cells if one.judgement] == [Verdict.SLOWER]


def test_a_plan_that_cannot_show_anything_says_so_and_names_the_rounds_that_can() -> None:
    made = design(FEW, repeats=3)
    (one,) = underpowered_setups(made)
    assert (one.setups, one.rounds, one.enough) == (3, 3, 4)
    said = next(fact.value for fact in _plan(made, None) if fact.label == "Verdicts")
    assert said.startswith("3 runs of each of 3 configurations cannot show a difference: 4 can (repeats = 4)")
    assert design_json(made)["blind"] == [{"setups": 3, "rounds": 3, "enough": 4}]


@pytest.mark.parametrize("text", [TWO, FEW, SIX])
def test_with_as_many_rounds_as_it_names_a_large_difference_is_shown(text: str) -> None:
    enough = underpowered_setups(design(text, repeats=2))[0].enough
    made = design(text, repeats=enough)
    assert underpowered_setups(made) == ()
    rows = {cell.row for cell in made.cells}
    best = sorted(rows)[-1]
    record, runs = measured(made, {row: 2000 if row == best else 1000 for row in rows})
    assert {one.cell.row: one.judgement is not None and one.judgement.differs for one in results(record, runs).cells}[
        best
    ]


def test_before_all_rounds_are_there_nothing_is_told_to_differ() -> None:
    record, runs = measured(design(SIX, repeats=4), {"ahead=some, cache=on": 2000})
    over = [end for end in record.ended if end.step <= len(record.steps) - 6]
    verdicts = judge_cells(replace(record, ended=tuple(over)), {run.id: run for run in runs})
    assert not any(one.differs for one in verdicts.values())
    assert any(one.interval is not None for one in verdicts.values())


def test_a_set_up_without_one_of_its_rounds_is_not_judged_and_hides_no_other() -> None:
    record, runs = screened(Random(1), gauss(0.02), nothing, size=Size(), effects={(5, 0): 0.2})
    gone = next(step.number for step in record.steps if step.cell == "7/0" and step.round == 2)
    left = [run for run in runs if run.id != f"r{gone}"]
    verdicts = judge_cells(record, {run.id: run for run in left})
    assert (verdicts["5/0"].verdict, verdicts["7/0"].verdict) == (Verdict.FASTER, Verdict.NOT_DECIDED)


def test_a_winner_is_judged_when_all_its_pairs_are_there() -> None:
    record, runs = measured(design(FEW), {"ahead=none": 1000, "ahead=some": 800, "ahead=all": 1200})
    assert next_steps(record, runs) is not None
    found = whole(Random(1), gauss(0.02), nothing, size=Size(setups=3, workloads=1), effects={(1, 0): 0.2})
    assert [(one.pairs, differs(one.judgement)) for one in found.winners] == [(6, True)]
    assert not any(map(differs, found.cells.values()))
