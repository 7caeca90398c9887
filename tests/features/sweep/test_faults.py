"""What befalls a sweep in the middle: a set that is refused, a device that goes, a state folder that takes nothing."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.session.results import RunStatus
from app.core.session.sweep_record import SweepStepEnded
from app.core.session.sweep_steps import StepResult, SweepResult
from app.features.sweep.engine.runner import SweepRunner
from backends.errors import StorageError
from backends.simulator import firmware_rules
from backends.simulator.controller import SimulatedCard
from backends.simulator.volume import Volume
from tests.core.broken_disk import taking_nothing
from tests.features.sweep.test_runner import AHEAD, BEFORE, Bed, after_each, settings

pytestmark = pytest.mark.slow

THREE = '[[axis]]\ntarget="array"\nsetting="read_ahead"\nvalues=["none","read-ahead","adaptive"]\n'


@pytest.fixture
def bed(tmp_path: Path) -> Bed:
    (tmp_path / "bed").mkdir()
    return Bed(tmp_path / "bed")


@contextmanager
def refusing(monkeypatch: pytest.MonkeyPatch, value: str) -> Iterator[None]:
    """The card takes this value no more."""
    real = firmware_rules.set_volume

    def set_volume(card: SimulatedCard, volume: Volume, key: str, wanted: str) -> None:
        if wanted == value:
            raise firmware_rules.RefusalError(
                firmware_rules.WRONG_STATE, "device state doesn't support requested command"
            )
        real(card, volume, key, wanted)

    with monkeypatch.context() as patched:
        patched.setattr(firmware_rules, "set_volume", set_volume)
        yield


async def test_a_value_that_the_card_refuses_fails_its_steps_and_the_rest_is_measured_and_put_back(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = await bed.begun(THREE)
    with refusing(monkeypatch, "read-ahead"):
        record = await SweepRunner(bench).run_all()
    assert record.end is not None
    results = [step.result for step in record.ended]
    assert (results.count(StepResult.FAILED), results.count(StepResult.DONE)) == (1, 2)
    failed = next(step for step in record.ended if step.result is StepResult.FAILED)
    assert "doesn't support requested command" in failed.reason
    assert await settings(bench) == BEFORE


async def test_a_way_back_that_the_card_refuses_is_told_with_the_setting_and_its_value(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = await bed.begun(AHEAD)
    runner = SweepRunner(bench)
    with refusing(monkeypatch, "none"):
        record = await runner.run_all()
    assert record.end is not None
    assert record.end.result is SweepResult.FAILED
    assert len(record.end.left) == 1
    assert record.end.left[0].startswith("Read-ahead of megaraid:/c0/v1 was not restored to none: ")


async def test_a_volume_that_goes_ends_the_sweep_and_names_what_is_not_back(bed: Bed) -> None:
    bench = await bed.begun(THREE)

    def take_away(_ended: SweepStepEnded) -> None:
        with bed.rack().edit() as rack:
            rack.cards[0].volumes[:] = [one for one in rack.cards[0].volumes if one.number != 1]

    after_each(bench, take_away)
    record = await SweepRunner(bench).run_all()
    assert record.end is not None
    assert record.end.result is SweepResult.FAILED
    assert "megaraid:/c0/v1" in record.end.reason
    assert record.done <= 1


@pytest.mark.long
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS])
async def test_a_state_folder_that_takes_nothing_ends_the_sweep_and_says_what_is_not_back(
    bed: Bed, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    bench = await bed.begun(AHEAD)
    with ExitStack() as broken:
        after_each(bench, lambda _ended: broken.enter_context(taking_nothing(monkeypatch, bed.folder, code)))
        with pytest.raises(StorageError) as caught:
            await SweepRunner(bench).run_all()
    is_back = (await settings(bench))["read_ahead"] == "none"
    assert is_back or "Read-ahead of megaraid:/c0/v1 was not restored to none" in caught.value.message
    assert is_back or "run `raidbench recover` to restore the values" in caught.value.hint
    folder = bench.folder
    assert folder is not None
    bench.close()
    again = bed.bench()
    await again.open(folder)
    await again.hardware.probe()
    await SweepRunner(again).restore_and_stop()
    assert await settings(again) == BEFORE


async def test_a_run_that_ends_itself_ends_the_sweep_with_its_own_reason(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = await bed.begun(AHEAD)
    real = bench.jobs.measure

    async def measure(*args: object, **more: object) -> object:
        run = await real(*args, **more)  # type: ignore[arg-type]
        figures = replace(run.figures, status=RunStatus.STOPPED, reason="Stopped for room: the pool has 1 MiB left.")
        return replace(run, end=replace(run.end, figures=figures))  # type: ignore[type-var]

    monkeypatch.setattr(bench.jobs, "measure", measure)
    record = await SweepRunner(bench).run_all()
    assert record.end is not None
    assert record.end.result is SweepResult.STOPPED
    assert "the pool has 1 MiB left" in record.end.reason
    assert await settings(bench) == BEFORE
