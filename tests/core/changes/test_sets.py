"""Several settings of one array at once, on the simulated rack: planned, applied and taken back as one set."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.workbench import Workbench
from backends.change import Change
from backends.model import Scope, Target
from tests.backends.simulator.asking import still_host
from tests.tui.stage import paths_in

VOLUME = Target(backend="megaraid", address="/c0/v1", scope=Scope.ARRAY)
WANTED = {"strip_size": str(128 << 10), "read_ahead": "read-ahead"}
AS_BEFORE = {"strip_size": str(64 << 10), "read_ahead": "none"}


@pytest.fixture
async def bench(tmp_path: Path) -> Workbench:
    bench = Workbench(still_host(), paths=paths_in(tmp_path))
    await bench.open(fresh=True)
    await bench.hardware.probe()
    return bench


async def now(bench: Workbench) -> dict[str, str | None]:
    readings = await bench.hardware.read(VOLUME)
    return {key: readings[key].now for key in WANTED}


async def applied(bench: Workbench, changes: tuple[Change, ...]) -> list[str]:
    return [ended.result async for _, ended in bench.changes.apply_all(changes)]


async def test_a_strip_size_and_a_policy_are_applied_in_one_go(bench: Workbench) -> None:
    assert await applied(bench, await bench.hardware.plan_all(VOLUME, WANTED)) == ["verified", "verified"]
    assert await now(bench) == WANTED


async def test_taking_back_the_drive_made_anew_keeps_the_rest_of_the_set(bench: Workbench) -> None:
    await applied(bench, await bench.hardware.plan_all(VOLUME, WANTED))
    shown = await bench.changes.plan_undo("c2")
    await bench.changes.undo("c2", confirm=(await bench.hardware.device_label(VOLUME)).token, shown=shown)
    assert await now(bench) == {**WANTED, "strip_size": AS_BEFORE["strip_size"]}
    assert " ra " in f" {' '.join(shown.writes[-1].argv)} "
    assert [record.id for record in bench.changes.undoable()] == ["c1"]


async def test_a_set_of_three_is_taken_back_one_by_one(bench: Workbench) -> None:
    wanted = {**WANTED, "write_cache": "write-back"}
    await applied(bench, await bench.hardware.plan_all(VOLUME, wanted))
    for change in ("c3", "c2", "c1"):
        await bench.changes.undo(change, confirm=(await bench.hardware.device_label(VOLUME)).token)
    assert (await now(bench), bench.changes.undoable()) == (AS_BEFORE, ())


@pytest.mark.parametrize("order", [("c1", "c2"), ("c2", "c1")])
async def test_a_set_is_taken_back_in_either_order(bench: Workbench, order: tuple[str, str]) -> None:
    await applied(bench, await bench.hardware.plan_all(VOLUME, WANTED))
    for change in order:
        await bench.changes.undo(change, confirm=(await bench.hardware.device_label(VOLUME)).token)
    assert (await now(bench), bench.changes.undoable()) == (AS_BEFORE, ())


async def test_a_queue_setting_goes_to_the_disk_and_the_rest_to_the_array(bench: Workbench) -> None:
    changes = await bench.hardware.plan_all(VOLUME, {"scheduler": "mq-deadline", "read_ahead": "read-ahead"})
    assert [str(change.target) for change in changes] == ["block:sdb", str(VOLUME)]


@pytest.mark.parametrize("order", [("c2", "c1"), ("c1", "c2")])
async def test_a_policy_that_was_set_before_the_drive_was_made_anew_is_taken_back(
    bench: Workbench, order: tuple[str, str]
) -> None:
    """One after the other, not as a set: the drive made anew has another WWN."""
    for key in ("read_ahead", "strip_size"):
        ended = await bench.changes.apply(await bench.hardware.plan(VOLUME, key, WANTED[key]))
        assert ended.result == "verified"
        await bench.hardware.probe()
    for change in order:
        ended = await bench.changes.undo(change, confirm=(await bench.hardware.device_label(VOLUME)).token)
        assert ended.result == "verified", ended.message
    assert (await now(bench), bench.changes.undoable()) == (AS_BEFORE, ())
