"""The record of a sweep: nothing lost, nothing counted twice."""

from __future__ import annotations

from dataclasses import replace

from app.core.session.state import Session
from app.core.session.sweep_record import (
    SweepEnded,
    SweepExtended,
    SweepResumed,
    SweepStepEnded,
    SweepStepStarted,
    fold_sweep,
    stop_running,
    with_change,
    with_run,
)
from app.core.session.sweep_steps import Purpose, Step, StepResult, SweepResult
from app.features.report.sweep import sweep_sections
from app.features.sweep.engine.results import results
from tests.features.sweep.making import after, design, measured, started

DEPTH = '[[axis]]\njob="iodepth"\nvalues=[1,8]\n'


def test_what_is_done_is_not_to_be_done() -> None:
    record = started(design(DEPTH))
    record = after(record, record.steps[0], "r1")
    assert record.todo == record.steps[1:]
    assert record.done == 1


def test_what_was_stopped_is_done_again() -> None:
    record = started(design(DEPTH))
    record = after(record, record.steps[0], "r1", StepResult.STOPPED)
    assert record.todo == record.steps


def test_the_first_end_of_a_step_counts() -> None:
    record = started(design(DEPTH))
    record = after(record, record.steps[0], "r1")
    again = fold_sweep(record, SweepStepEnded(at=9.0, step=1, result=StepResult.DONE, run="r2"))
    assert again is not None
    assert [end.run for end in again.ended] == ["r1"]


def test_only_the_step_under_way_takes_time() -> None:
    begun = fold_sweep(started(design(DEPTH)), SweepStepStarted(at=1.0, step=1))
    for step, seconds in ((1, 3.5), (2, 0.0)):
        ended = fold_sweep(begun, SweepStepEnded(at=4.5, step=step, result=StepResult.DONE, run="r1"))
        assert ended is not None
        assert ended.seconds == seconds


def test_a_run_belongs_to_the_step_under_way() -> None:
    record = with_run(fold_sweep(started(design(DEPTH)), SweepStepStarted(at=1.0, step=1)), "r1")
    assert record is not None
    assert record.current is not None
    assert record.current.run == "r1"


def test_a_run_of_somebody_else_is_not_taken_for_the_steps() -> None:
    begun = fold_sweep(started(design(DEPTH)), SweepStepStarted(at=1.0, step=1))
    record = with_run(stop_running(begun), "r1")
    assert record is not None
    assert record.current is not None
    assert record.current.run is None


def test_a_change_of_somebody_else_is_not_the_sweeps_to_take_back() -> None:
    record = with_change(stop_running(with_change(started(design(DEPTH)), "c1")), "c2")
    assert record is not None
    assert record.changes == ("c1",)


def test_an_interrupted_sweep_is_known_until_it_goes_on() -> None:
    record = stop_running(started(design(DEPTH)))
    assert record is not None
    assert (record.end, record.running) == (None, False)
    resumed = fold_sweep(record, SweepResumed(at=1.0, pid=2))
    assert resumed is not None
    assert resumed.running or resumed.end is not None


def test_an_end_ends_it_until_it_goes_on() -> None:
    record = fold_sweep(started(design(DEPTH)), SweepEnded(at=1.0, result=SweepResult.STOPPED))
    assert record is not None
    assert record.end is not None
    assert record.running or record.end is not None
    resumed = fold_sweep(record, SweepResumed(at=2.0))
    assert resumed is not None
    assert resumed.end is None


def test_a_log_that_names_cells_it_does_not_have_tells_all_the_rest() -> None:
    made = design(DEPTH)
    lost, kept = made.cells
    record, runs = measured(replace(made, cells=(kept,)), {})
    assert {step.cell for step in record.steps} == {kept.id}
    found = results(record, runs)
    assert [one.cell.id for one in found.cells] == [kept.id]
    assert any(lost.id in sentence for sentence in record.damage)


def test_the_end_of_a_step_that_is_not_there_changes_no_count() -> None:
    record = started(design(DEPTH))
    again = fold_sweep(record, SweepStepEnded(at=9.0, step=999, result=StepResult.DONE, run="r2"))
    assert again is not None
    assert (again.ended, again.done) == ((), 0)


def test_added_steps_of_unknown_cells_are_left_out_and_said() -> None:
    step = Step(number=99, cell="nowhere", purpose=Purpose.CONFIRM, round=1, block=9)
    added = SweepExtended(at=1.0, purpose=Purpose.CONFIRM, steps=(step,), cells=())
    record = fold_sweep(started(design(DEPTH)), added)
    assert record is not None
    assert step not in record.steps
    assert "nowhere" in record.damage[0]


def test_a_report_of_a_damaged_log_comes_out_and_says_so() -> None:
    made = design(DEPTH)
    record, runs = measured(replace(made, cells=made.cells[1:]), {})
    sections = [*sweep_sections(Session(runs=tuple(runs), sweep=record))]
    assert "The log is damaged" in repr(sections)


def test_a_whole_log_is_not_called_damaged() -> None:
    assert started(design(DEPTH)).damage == ()
