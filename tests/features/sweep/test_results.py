"""What a sweep found: matrix, verdicts, ranking, front, confirmation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.analysis.verdict import Verdict
from app.core.presentation.verdict_text import reason_text
from app.core.session.results import Advice, RunStatus
from app.core.session.state import RunRecord
from app.core.session.sweep_steps import Purpose, Rank, StepResult
from app.features.sweep.engine.adaptive_steps import next_steps
from app.features.sweep.engine.results import results
from app.features.sweep.presentation.sweep import cell_notes
from tests.features.sweep.making import after, design, measured, run, started

AHEAD = '[[axis]]\ntarget="array"\nsetting="ahead"\nvalues=["none","some","all"]\n'
STRIP = '[[axis]]\ntarget="array"\nsetting="strip"\nvalues=["64k","8k"]\n'
PATTERNS = '[[axis]]\njob="rw"\nvalues=["randread","read"]\n'
DEPTH = '[[axis]]\njob="iodepth"\nvalues=[1,8]\n'


def test_worse_is_shown_with_its_interval() -> None:
    record, runs = measured(design(AHEAD, seed=3), {"ahead=none": 1000, "ahead=some": 800, "ahead=all": 1000})
    made = design(AHEAD, seed=3)
    assert made.repeats == 2  # two pairs carry no verdict, however far they lie apart
    found = results(record, runs).at("ahead=some", "randread")
    assert found is not None
    assert found.judgement is not None
    assert found.judgement.interval is not None
    assert found.judgement.verdict is Verdict.NOT_DECIDED
    assert found.judgement.interval.percent == pytest.approx(-20, abs=0.5)


def test_runs_of_one_block_are_compared_in_pairs() -> None:
    record, runs = measured(design(AHEAD), {"ahead=none": 1000, "ahead=some": 800, "ahead=all": 1000})
    found = results(record, runs).at("ahead=some", "randread")
    assert found is not None
    assert found.judgement is not None
    assert found.judgement.interleaved


def test_arrays_made_anew_are_compared_as_groups_and_say_so() -> None:
    record, runs = measured(design(STRIP, repeats=3), {"strip=64k": 1000, "strip=8k": 1001})
    found = results(record, runs).at("strip=8k", "randread")
    assert found is not None
    assert found.judgement is not None
    assert not found.judgement.interleaved
    assert found.judgement.verdict is Verdict.NO_DIFFERENCE
    assert "the runs before and after the second side differ by" in reason_text(found.judgement)


def test_two_runs_of_an_array_made_anew_tell_nothing() -> None:
    record, runs = measured(design(STRIP), {"strip=64k": 1000, "strip=8k": 2000})
    found = results(record, runs).at("strip=8k", "randread")
    assert found is not None
    assert found.judgement is not None
    assert found.judgement.verdict is Verdict.NOT_DECIDED


def test_a_small_difference_between_arrays_made_anew_is_never_one() -> None:
    record, runs = measured(design(STRIP), {"strip=64k": 1000, "strip=8k": 1045})
    found = results(record, runs).at("strip=8k", "randread")
    assert found is not None
    assert found.judgement is not None
    assert found.judgement.verdict not in (Verdict.FASTER, Verdict.SLOWER)


@pytest.mark.parametrize(("threshold", "verdict"), [(None, Verdict.FASTER), (6.0, Verdict.NO_DIFFERENCE)])
def test_what_makes_no_difference_is_up_to_the_plan(threshold: float | None, verdict: Verdict) -> None:
    made = replace(design(AHEAD, repeats=6), threshold_percent=threshold)
    found = results(*measured(made, {"ahead=none": 1000, "ahead=some": 1000, "ahead=all": 1040}))
    one = found.at("ahead=all", "randread")
    assert one is not None
    assert one.judgement is not None
    assert one.judgement.verdict is verdict


@pytest.mark.parametrize(("threshold", "confirmed"), [(2.0, True), (6.0, True), (9.0, False)])
def test_a_lead_of_half_the_threshold_is_confirmed(threshold: float, confirmed: bool) -> None:
    made = replace(design(AHEAD, repeats=2), threshold_percent=threshold)
    more = next_steps(*measured(made, {"ahead=none": 1000, "ahead=some": 800, "ahead=all": 1040}))
    assert more is not None
    assert bool(more.steps) is confirmed


def test_the_baseline_measured_again_counts_with_the_first() -> None:
    record, runs = measured(design(STRIP), {"strip=64k": 1000, "strip=8k": 1000})
    found = results(record, runs).at("strip=64k", "randread")
    assert found is not None
    assert len(found.scores) == 4


def test_the_best_comes_first() -> None:
    record, runs = measured(design(AHEAD), {"ahead=none": 1000, "ahead=some": 800, "ahead=all": 1200})
    assert [one.cell.row for one in results(record, runs).ranking("randread")] == [
        "ahead=all",
        "ahead=none",
        "ahead=some",
    ]


def test_by_latency_the_lowest_comes_first() -> None:
    made = replace(design(AHEAD), rank=Rank.P99)
    record, runs = measured(made, {}, {"ahead=none": 900, "ahead=some": 700, "ahead=all": 800})
    assert next(one.cell.row for one in results(record, runs).ranking("randread")) == "ahead=some"


def test_the_front_holds_what_nothing_beats_in_both() -> None:
    record, runs = measured(
        design(AHEAD), {"ahead=none": 1000, "ahead=some": 800, "ahead=all": 700}, {"ahead=none": 900, "ahead=some": 500}
    )
    found = results(record, runs)
    names = {one.cell.id: one.cell.row for one in found.cells}
    assert [[names[each] for each in front] for front in found.fronts] == [["ahead=some", "ahead=none"]]


def test_different_workloads_have_no_front_together() -> None:
    record, runs = measured(design(AHEAD + PATTERNS), {}, {"ahead=some": 500})
    found = results(record, runs)
    columns = {one.cell.id: one.cell.column for one in found.cells}
    assert found.fronts
    assert all(len({columns[each] for each in front}) == 1 for front in found.fronts)


def test_the_depths_of_one_workload_have_a_front() -> None:
    record, runs = measured(design(DEPTH), {"iodepth=1": 100.0, "iodepth=8": 500.0})
    tails = {"iodepth=1": 100_000}
    cells = {step.number: record.cell(step.cell).column for step in record.steps}
    read = [run(one.id, one.figures.read.iops, p99=tails.get(cells[int(one.id[1:])], 900_000)) for one in runs
            if one.figures.read is not None]  # fmt: skip
    assert [len(front) for front in results(record, read).fronts] == [2]


def test_a_failed_step_leaves_its_reason_and_no_figure() -> None:
    record = started(design(DEPTH))
    record = after(record, record.steps[0], None, StepResult.FAILED)
    found = results(record, [])
    assert all(one.value is None for one in found.cells)


def test_a_failed_run_is_no_figure() -> None:
    record = started(design(DEPTH))
    record = after(record, record.steps[0], "r1")
    assert all(not one.scores for one in results(record, [run("r1", 5.0, status=RunStatus.FAILED)]).cells)


def test_the_winner_is_confirmed_in_fresh_pairs() -> None:
    record, runs = measured(design(AHEAD), {"ahead=none": 1000, "ahead=some": 800, "ahead=all": 1200})
    more = next_steps(record, runs)
    assert more is not None
    assert more.purpose is Purpose.CONFIRM
    rows = [record.cell(step.cell).row for step in more.steps]
    assert sorted(rows) == ["ahead=all"] * 6 + ["ahead=none"] * 6
    pairs = [set(rows[at : at + 2]) for at in range(0, 12, 2)]
    assert all(pair == {"ahead=all", "ahead=none"} for pair in pairs)


def test_whoever_goes_on_decides_the_same() -> None:
    record, runs = measured(design(AHEAD), {"ahead=none": 1000, "ahead=some": 800, "ahead=all": 1200})
    one, other = next_steps(record, runs), next_steps(record, runs)
    assert one is not None
    assert other is not None
    assert one.steps == other.steps


def test_nothing_is_confirmed_when_nothing_beats_the_baseline() -> None:
    record, runs = measured(design(AHEAD), {"ahead=none": 1000, "ahead=some": 800, "ahead=all": 900})
    more = next_steps(record, runs)
    assert more is not None
    assert more.steps == ()


def test_a_lead_too_small_for_any_verdict_is_not_confirmed() -> None:
    record, runs = measured(design(AHEAD), {"ahead=none": 1000, "ahead=some": 800, "ahead=all": 1008})
    more = next_steps(record, runs)
    assert more is not None
    assert more.steps == ()


def test_what_cannot_be_flipped_in_place_is_not_confirmed() -> None:
    record, runs = measured(design(STRIP), {"strip=64k": 1000, "strip=8k": 1500})
    more = next_steps(record, runs)
    assert more is not None
    assert more.steps == ()


def test_nothing_more_is_asked_while_steps_are_left() -> None:
    assert next_steps(started(design(DEPTH)), []) is None


def advised(one: RunRecord, advice: Advice) -> RunRecord:
    """The run, with what was said of it."""
    assert one.end is not None
    return replace(one, end=replace(one.end, figures=replace(one.figures, advice=(advice,))))


def test_a_rebuild_during_a_run_of_the_baseline_leaves_no_verdict_on_what_is_held_against_it() -> None:
    record, runs = measured(design(STRIP), {"strip=64k": 1000, "strip=8k": 1001})
    rebuild = Advice(key="background-task", message="Something.", about=("rebuild",))
    baseline = next(end.run for end in record.ended if record.steps[end.step - 1].cell == record.cells[0].id)
    found = results(record, [advised(one, rebuild) if one.id == baseline else one for one in runs])
    other = found.at("strip=8k", "randread")
    assert other is not None
    assert other.judgement is not None
    assert other.judgement.verdict is Verdict.REFUSED
    assert f"verdict refused: a rebuild was running in {baseline}" in cell_notes(other)


def test_what_weakens_a_run_of_a_sweep_is_a_note_of_its_cell() -> None:
    record, runs = measured(design(STRIP, repeats=3), {"strip=64k": 1000, "strip=8k": 1001})
    governor = Advice(key="governor", message="The frequency governor is powersave.")
    found = results(record, [advised(one, governor) for one in runs]).at("strip=8k", "randread")
    assert found is not None
    assert found.judgement is not None
    assert found.judgement.verdict is Verdict.NO_DIFFERENCE
    assert cell_notes(found)[0].startswith("caveats: frequency governor in ")
