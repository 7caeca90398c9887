"""What is best of a sweep: nothing that is not shown to be, and ties with whatever cannot be told from it."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping

import pytest

from app.core.session.state import RunRecord
from app.core.session.sweep_record import SweepRecord
from app.features.sweep.engine.results import results
from tests.features.sweep.making import after, design, measured, run, started

AHEAD = '[[axis]]\ntarget="array"\nsetting="ahead"\nvalues=["none","some","all"]\n'
STRIP = """
[[setup]]
name = "64k"
array = { strip = "65536" }
[[setup]]
name = "8k"
array = { strip = "8192" }
[[setup]]
name = "512k"
array = { strip = "524288" }
"""
MANY = '[[axis]]\njob="iodepth"\nvalues=[1,2,4,8,16,32,64,128,256,512]\n'


def tied(plan: str, iops: Mapping[str, float], repeats: int = 4) -> list[str]:
    """The best set-up of the only workload, and what cannot be told from it."""
    record, runs = measured(design(plan, repeats=repeats), iops)
    found = results(record, runs)
    names = {one.cell.id: one.cell.row for one in found.cells}
    return [names[each] for each in found.leaders[0]]


def test_what_is_shown_to_be_ahead_of_all_leads_alone() -> None:
    assert tied(AHEAD, {"ahead=none": 1000, "ahead=some": 1500, "ahead=all": 500}) == ["ahead=some"]


def test_what_is_as_good_shares_the_lead() -> None:
    assert tied(AHEAD, {"ahead=none": 1000, "ahead=some": 1500, "ahead=all": 1500}) == ["ahead=all", "ahead=some"]


def test_a_baseline_that_nothing_beats_leads() -> None:
    assert tied(AHEAD, {"ahead=none": 1000, "ahead=some": 700, "ahead=all": 500}) == ["ahead=none"]


def test_two_runs_each_tell_nothing_apart() -> None:
    assert len(tied(AHEAD, {"ahead=none": 1000, "ahead=some": 2000}, repeats=2)) == 3


def test_arrays_made_anew_are_told_apart_by_the_baseline_they_share() -> None:
    assert tied(STRIP, {"64k": 1000, "8k": 1500, "512k": 700}) == ["8k"]


def test_arrays_made_anew_that_both_beat_the_baseline_are_told_apart_by_their_intervals() -> None:
    assert tied(STRIP, {"64k": 1000, "8k": 1500, "512k": 3000}) == ["512k"]


def chance(seed: int) -> tuple[SweepRecord, list[RunRecord]]:
    """A sweep of ten cells that are all the same; runs scatter by 5 %."""
    drawn = random.Random(seed)
    record, runs = started(design(MANY, repeats=3)), []
    for step in record.steps:
        runs.append(run(f"r{step.number}", 1000.0 * math.exp(drawn.gauss(0.0, 0.05))))
        record = after(record, step, f"r{step.number}")
    return record, runs


@pytest.mark.exhaustive
def test_chance_tells_hardly_any_of_ten_equal_cells_from_the_best() -> None:
    sweeps = [results(*chance(seed)).leaders[0] for seed in range(200)]
    assert sum(len(line) < 10 for line in sweeps) / len(sweeps) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / len(sweeps))
