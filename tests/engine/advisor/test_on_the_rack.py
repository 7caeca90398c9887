"""The advisor through the whole workbench, on the simulated rack."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.engine.fio.job import Job
from app.engine.measure.measurer import Request
from app.engine.session.figures import Advice
from app.engine.session.paths import Paths
from app.engine.workbench import Workbench
from backends.errors import NotFoundError
from backends.model import Scope, Target
from backends.protocol import TellsTasks
from tests.backends.simulated.asking import still_host


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Workbench]:
    """A workbench that knows the rack."""
    paths = Paths(sessions=tmp_path / "s", journal=tmp_path / "j", locks=tmp_path / "l", config=tmp_path / "c")
    bench = Workbench(still_host(), paths=paths)
    await bench.open()
    await bench.probe()
    yield bench
    bench.close()


def wanted(device: str, **fields: str) -> Request:
    job = Job.from_fields({"rw": "randread", "runtime": "2", "ramp": "0", **fields})
    return Request(where=device, name=device, job=job)


def keys(advice: tuple[Advice, ...]) -> list[str]:
    return [each.key for each in advice]


async def test_the_battery_and_the_rebuild_of_the_lame_card_are_said_of_a_run(bench: Workbench) -> None:
    record = await bench.measure(await bench.prepare(wanted("/dev/sdd")))
    assert keys(record.figures.advice) == ["background-task", "policy-not-in-force", "too-short"]


async def test_a_volume_on_which_nothing_lies_is_said_before_it_is_read(bench: Workbench) -> None:
    assert "unwritten-flash" in keys((await bench.prepare(wanted("/dev/sdb"))).advice)


async def test_a_volume_with_a_filesystem_is_not(bench: Workbench) -> None:
    assert keys((await bench.prepare(wanted("/dev/sdc"))).advice) == ["too-short"]


async def test_what_is_foreseen_is_what_is_said_when_prepared(bench: Workbench) -> None:
    request = wanted("/dev/sdb", iodepth="512", rw="randwrite", bs="4k")
    assert await bench.foresee(request) == (await bench.prepare(request)).advice


async def test_stripes_of_the_card_are_counted(bench: Workbench) -> None:
    said = await bench.foresee(wanted("/dev/sdb", rw="randwrite"))
    assert any("128 KiB (2 x 64 KiB)" in each.message for each in said)


async def test_what_cannot_be_measured_is_not_judged(bench: Workbench) -> None:
    assert await bench.foresee(wanted("/nowhere/at/all")) == ()


async def test_work_on_a_volume_is_told_without_asking_the_card_again(bench: Workbench) -> None:
    backend = bench.machine.backends["megaraid"]
    assert isinstance(backend, TellsTasks)
    array = next(one for one in bench.session.inventory.arrays if one.device == "/dev/sdd")
    lines = len(bench.session.events)
    tasks = await backend.tasks(array.target)
    assert ([task.kind for task in tasks], len(bench.session.events)) == (["rebuild"], lines)


async def test_a_card_that_is_not_there_has_no_work(bench: Workbench) -> None:
    backend = bench.machine.backends["megaraid"]
    assert isinstance(backend, TellsTasks)
    with pytest.raises(NotFoundError):
        await backend.tasks(Target(backend="megaraid", address="/c9/v9", scope=Scope.ARRAY))
