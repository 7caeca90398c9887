"""A cell is measured at the values that it names, before and after its run, and what a sweep moved along comes back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from app.core.session.events import AnyEvent, RunEnded, RunStarted
from app.core.session.state import Session
from app.core.session.sweep_record import SweepRecord
from app.core.session.sweep_steps import Assignment, Step, StepResult, SweepCell, SweepResult
from app.core.workbench import Workbench
from app.features.sweep.engine.cell_settings import apply_settings
from app.features.sweep.engine.cells import runs_of_cell
from app.features.sweep.engine.runner import SweepRunner
from backends.model import Target
from tests.features.sweep.test_runner import Bed

pytestmark = pytest.mark.slow

SDB = Target(backend="block", address="sdb")
AHEAD = '[[axis]]\ntarget="array"\nsetting="read_ahead_kb"\nvalues=["64","512"]\n'
LARGEST = '[[axis]]\ntarget="array"\nsetting="max_sectors_kb"\nvalues=["64","128"]\n'


async def values(bench: Workbench) -> tuple[str | None, str | None]:
    readings = await bench.hardware.read(SDB)
    return readings["read_ahead_kb"].now, readings["max_sectors_kb"].now


def somebody_sets(bed: Bed, **queue: str) -> None:
    with bed.rack().edit() as rack:
        rack.queues.setdefault("sdb", {}).update(queue)


def record_of(bench: Workbench) -> SweepRecord:
    assert bench.session.sweep is not None
    return bench.session.sweep


@pytest.mark.long
async def test_each_cell_is_measured_at_its_values_and_all_come_back(tmp_path: Path) -> None:
    bed = Bed(tmp_path)
    bench = await bed.begun(AHEAD + LARGEST)
    before = await values(bench)
    await SweepRunner(bench).run_all()
    record = record_of(bench)
    assert record.end is not None
    assert (record.end.result, record.end.left) == (SweepResult.FINISHED, ())
    for step, done in zip(record.steps, record.ended, strict=True):
        cell = record.cell(step.cell)
        run = bench.session.run(done.run or "")
        assert run is not None
        assert {one.key: run.start.settings[one.key] for one in cell.settings} == {
            one.key: one.value for one in cell.settings
        }
    assert len(record.ended) == 4
    assert await values(bench) == before


async def test_what_an_axis_moves_along_comes_back_though_it_is_none_itself(tmp_path: Path) -> None:
    bed = Bed(tmp_path)
    somebody_sets(bed, read_ahead_kb="12")
    bench = await bed.begun(LARGEST)
    before = await values(bench)
    await SweepRunner(bench).run_all()
    assert (before[0], await values(bench)) == ("12", before)


async def test_a_value_that_is_there_and_reset_by_another_one_of_the_cell_is_set_again(tmp_path: Path) -> None:
    bed = Bed(tmp_path)
    bench = await bed.begun(AHEAD + LARGEST)
    for largest in ("64", "128", "64"):
        cell = {"read_ahead_kb": "64", "max_sectors_kb": largest}
        wanted = [Assignment(target=SDB, key=key, value=value) for key, value in cell.items()]
        await apply_settings(bench, wanted, asyncio.Event())
        assert await values(bench) == ("64", largest)


@pytest.mark.long
async def test_a_cell_whose_setting_changes_before_its_run_is_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bed = Bed(tmp_path)
    bench = await bed.begun(AHEAD)
    rest = SweepRunner._rest

    async def meddle(runner: SweepRunner, step: Step, cell: SweepCell) -> None:
        await rest(runner, step, cell)
        if not runner.record.ended:
            somebody_sets(bed, read_ahead_kb="12")

    monkeypatch.setattr(SweepRunner, "_rest", meddle)
    await SweepRunner(bench).run_all()
    first, *others = record_of(bench).ended
    assert (first.result, first.run, first.again) == (StepResult.FAILED, None, True)
    assert [(end.step, end.result) for end in others] == [(1, StepResult.DONE), (2, StepResult.DONE)]
    assert "the value was changed before the run" in first.reason


@pytest.mark.long
@pytest.mark.parametrize("moment", [RunStarted, RunEnded])
async def test_a_cell_whose_setting_changed_during_its_run_is_not_measured(
    tmp_path: Path, moment: type[RunStarted] | type[RunEnded]
) -> None:
    bed = Bed(tmp_path)
    bench = await bed.begun(AHEAD)

    def meddle(_session: Session, event: AnyEvent) -> None:
        if isinstance(event, moment) and event.id == "r1":
            somebody_sets(bed, read_ahead_kb="12")

    bench.subscribe(meddle)
    await SweepRunner(bench).run_all()
    record = record_of(bench)
    first, *others = record.ended
    assert (first.result, first.run, first.again) == (StepResult.FAILED, "r1", True)
    assert [(end.step, end.result, end.run) for end in others] == [
        (1, StepResult.DONE, "r2"),
        (2, StepResult.DONE, "r3"),
    ]
    assert "is 12 KiB, not" in first.reason
    assert "the result does not count for the cell" in first.reason
    known = {run.id: run for run in bench.session.runs}
    measured = [len(runs_of_cell(record, known, cell.id)) for cell in record.cells]
    assert measured == [1, 1]
