"""A step whose run fails is tried once more: when, how often, and how that is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.fio.error_messages import is_lasting
from app.core.session.results import RunStatus
from app.core.session.sweep_record import SweepStepEnded, SweepStepStarted, fold_sweep
from app.core.session.sweep_steps import StepResult, SweepResult
from app.core.workbench import Workbench
from app.features.sweep.cli.text import step_line
from app.features.sweep.engine.results import results
from app.features.sweep.engine.runner import SweepRunner
from app.features.sweep.presentation.json_schema import sweep_json
from app.features.sweep.presentation.sweep import cell_notes
from tests.case_loop import loop_over
from tests.features.sweep.making import design, started
from tests.features.sweep.test_runner import AHEAD, BEFORE, Bed, after_each, record_of, settings

DEPTH = '[[axis]]\njob="iodepth"\nvalues=[1,8]\n'
EIO = "The device reported an I/O error (EIO)"
ENOSPC = "No space is left (ENOSPC)"


@pytest.fixture
def bed(tmp_path: Path) -> Bed:
    (tmp_path / "bed").mkdir()
    return Bed(tmp_path / "bed")


def failing(bench: Workbench, monkeypatch: pytest.MonkeyPatch, fails: Callable[[int], bool], reason: str = EIO) -> None:
    """Let runs fail by their number, from 1."""
    real, count = bench.jobs.measure, 0

    async def measure(*args: object, **more: object) -> object:
        nonlocal count
        count += 1
        run = await real(*args, **more)  # type: ignore[arg-type]
        if not fails(count):
            return run
        figures = replace(run.figures, status=RunStatus.FAILED, reason=reason)
        return replace(run, end=replace(run.end, figures=figures))  # type: ignore[type-var]

    monkeypatch.setattr(bench.jobs, "measure", measure)


def ends(record: object) -> list[tuple[int, StepResult, bool]]:
    return [(end.step, end.result, end.again) for end in record.ended]  # type: ignore[attr-defined]


def test_a_step_that_is_tried_once_more_is_still_to_be_done() -> None:
    record = started(design(DEPTH))
    first = fold_sweep(record, SweepStepEnded(at=1.0, step=1, result=StepResult.FAILED, run="r1", again=True))
    assert first is not None
    assert (first.todo, first.done, first.was_tried(record.steps[0])) == (record.steps, 0, True)
    begun = fold_sweep(first, SweepStepStarted(at=2.0, step=1))
    second = fold_sweep(begun, SweepStepEnded(at=3.0, step=1, result=StepResult.DONE, run="r2"))
    assert second is not None
    assert second.todo == record.steps[1:]
    assert [run for _, run in second.runs_of(record.steps[0].cell)] == ["r2"]


@loop_over(
    ("reason", "lasting"),
    [
        (EIO, False),
        (ENOSPC, True),
        (f"Laying out the file failed: {ENOSPC}", True),
        ("/dev/sdx: The device disappeared (ENODEV)", True),
        ("This fio does not know an option of the job", True),
        ("libaio is not permitted here (seccomp or a sysctl forbids it)", True),
        ("The target is in use (EBUSY)", False),
        ("fio was ended by SIGKILL, perhaps because memory was short", False),
        ("", False),
    ],
)
def test_what_would_fail_again(reason: str, lasting: bool) -> None:
    assert is_lasting(reason) is lasting


@pytest.mark.slow
async def test_a_run_that_fails_once_is_measured_at_the_second_try(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = await bed.begun(AHEAD)
    failing(bench, monkeypatch, lambda number: number == 1)
    lines: list[str] = []
    after_each(bench, lambda _: lines.append(step_line(record_of(bench), bench.session)))
    record = await SweepRunner(bench).run_all()
    assert ends(record) == [(1, StepResult.FAILED, True), (1, StepResult.DONE, False), (2, StepResult.DONE, False)]
    assert record.end is not None
    assert record.end.result is SweepResult.FINISHED
    assert f"failed, retried once. {EIO}" in lines[0]
    found = results(record, bench.session.runs)
    one = next(one for one in found.cells if one.cell.id == record.steps[0].cell)
    assert (len(one.scores), one.failures) == (1, ())
    assert cell_notes(one)[0] == f"retried, because its first run failed: {EIO}"
    assert [end["again"] for end in sweep_json(record, found, session="s")["ended"]] == [True, False, False]
    assert await settings(bench) == BEFORE


@pytest.mark.slow
async def test_a_run_that_fails_twice_fails_its_step(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = await bed.begun(AHEAD)
    failing(bench, monkeypatch, lambda number: number <= 2)
    record = await SweepRunner(bench).run_all()
    assert ends(record) == [(1, StepResult.FAILED, True), (1, StepResult.FAILED, False), (2, StepResult.DONE, False)]
    failed = next(one for one in results(record, bench.session.runs).cells if one.cell.id == record.steps[0].cell)
    assert (failed.failures, failed.scores) == ((EIO,), ())


@pytest.mark.slow
async def test_a_full_disk_is_not_tried_again(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = await bed.begun(AHEAD)
    failing(bench, monkeypatch, lambda number: number == 1, ENOSPC)
    record = await SweepRunner(bench).run_all()
    assert ends(record) == [(1, StepResult.FAILED, False), (2, StepResult.DONE, False)]


@pytest.mark.slow
async def test_a_run_that_failed_while_it_was_stopped_is_not_tried_again(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = await bed.begun(AHEAD)
    runner = SweepRunner(bench)

    def stop_and_fail(_number: int) -> bool:
        runner.stop()
        return True

    failing(bench, monkeypatch, stop_and_fail)
    record = await runner.run_all()
    assert ends(record) == [(1, StepResult.FAILED, False)]
    assert record.end is not None
    assert record.end.result is SweepResult.STOPPED


@pytest.mark.long
@pytest.mark.slow
async def test_a_sweep_that_was_stopped_between_both_tries_goes_on_with_the_second_and_no_third(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = await bed.begun(AHEAD)
    runner = SweepRunner(bench)
    failing(bench, monkeypatch, lambda _: True)
    after_each(bench, lambda _: runner.stop())
    record = await runner.run_all()
    assert ends(record) == [(1, StepResult.FAILED, True)]
    folder = bench.folder
    assert folder is not None
    bench.close()
    again = bed.bench()
    await again.open(folder)
    await again.hardware.probe()
    failing(again, monkeypatch, lambda number: number == 1)
    resumed = SweepRunner(again)
    await resumed.resume()
    record = await resumed.run_all()
    assert ends(record)[:2] == [(1, StepResult.FAILED, True), (1, StepResult.FAILED, False)]
    assert record.end is not None
    assert record.end.result is SweepResult.FINISHED
