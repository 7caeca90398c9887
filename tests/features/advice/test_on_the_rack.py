"""The advisor through the whole workbench, on the simulated rack."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.benchmark.runner import BenchmarkRequest
from app.core.fio.job import Job
from app.core.session.paths import Paths
from app.core.session.results import Advice
from app.core.workbench import Workbench
from app.features.advice.rules import advise
from backends.errors import NotFoundError
from backends.model import Scope, Target
from backends.protocol import TaskReporter
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from tests.backends.simulator.asking import FAST, still_host


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Workbench]:
    """A workbench that knows the rack."""
    paths = Paths(sessions=tmp_path / "s", journal=tmp_path / "j", locks=tmp_path / "l", config=tmp_path / "c")
    bench = Workbench(still_host(), paths=paths, advisor=advise)
    await bench.open()
    await bench.hardware.probe()
    yield bench
    bench.close()


def wanted(device: str, **fields: str) -> BenchmarkRequest:
    job = Job.from_fields({"rw": "randread", "runtime": "2", "ramp": "0", **fields})
    return BenchmarkRequest(where=device, name=device, job=job)


def keys(advice: tuple[Advice, ...]) -> list[str]:
    return [each.key for each in advice]


async def test_the_battery_and_the_rebuild_of_the_lame_card_are_said_of_a_run(bench: Workbench) -> None:
    record = await bench.jobs.measure(await bench.jobs.prepare(wanted("/dev/sdd")))
    assert keys(record.figures.advice) == ["background-task", "policy-not-in-force", "too-short", "few-ios"]


async def test_without_an_advisor_runs_get_no_advice(bench: Workbench) -> None:
    alone = Workbench(bench.host, paths=bench.paths)
    await alone.open()
    await alone.hardware.probe()
    ready = await alone.jobs.prepare(wanted("/dev/sdb"))
    record = await alone.jobs.measure(ready)
    alone.close()
    assert (ready.advice, record.figures.advice) == ((), ())


async def test_another_session_has_the_advisor_too(bench: Workbench) -> None:
    other = bench.for_another_session()
    await other.open()
    await other.hardware.probe()
    assert "unwritten-flash" in keys((await other.jobs.prepare(wanted("/dev/sdb"))).advice)
    other.close()


async def test_a_volume_on_which_nothing_lies_is_said_before_it_is_read(bench: Workbench) -> None:
    assert "unwritten-flash" in keys((await bench.jobs.prepare(wanted("/dev/sdb"))).advice)


async def test_a_volume_with_a_filesystem_is_not(bench: Workbench) -> None:
    assert keys((await bench.jobs.prepare(wanted("/dev/sdc"))).advice) == ["too-short"]


async def test_what_is_foreseen_is_what_is_said_when_prepared(bench: Workbench) -> None:
    request = wanted("/dev/sdb", iodepth="512", rw="randwrite", bs="4k")
    assert (
        await bench.jobs.preview_advice(await bench.jobs.locate(request)) == (await bench.jobs.prepare(request)).advice
    )


async def test_stripes_of_the_card_are_counted(bench: Workbench) -> None:
    said = await bench.jobs.preview_advice(await bench.jobs.locate(wanted("/dev/sdb", rw="randwrite")))
    assert any("128 KiB (2 x 64 KiB)" in each.message for each in said)


async def test_what_cannot_be_measured_is_not_judged(bench: Workbench) -> None:
    assert await bench.jobs.preview_advice(await bench.jobs.locate(wanted("/nowhere/at/all"))) == ()


async def test_work_on_a_volume_is_told_without_asking_the_card_again(bench: Workbench) -> None:
    backend = bench.hardware.machine.backends["megaraid"]
    assert isinstance(backend, TaskReporter)
    array = next(one for one in bench.session.inventory.arrays if one.device == "/dev/sdd")
    lines = len(bench.session.events)
    tasks = await backend.tasks(array.target)
    assert ([task.kind for task in tasks], len(bench.session.events)) == (["rebuild"], lines)


async def test_a_card_that_is_not_there_has_no_work(bench: Workbench) -> None:
    backend = bench.hardware.machine.backends["megaraid"]
    assert isinstance(backend, TaskReporter)
    with pytest.raises(NotFoundError):
        await backend.tasks(Target(backend="megaraid", address="/c9/v9", scope=Scope.ARRAY))


# -- the third rack: caches of the kernel, ZFS -----------------------------------------------------------------------


@pytest.fixture
async def tiers(tmp_path: Path) -> AsyncIterator[Workbench]:
    """A workbench that knows the rack without controllers."""
    paths = Paths(sessions=tmp_path / "s", journal=tmp_path / "j", locks=tmp_path / "l", config=tmp_path / "c")
    bench = Workbench(SimulatedHost(linux_rack(), speed=FAST, folders=("/tank/files",)), paths=paths, advisor=advise)
    await bench.open()
    await bench.hardware.probe()
    yield bench
    bench.close()


@pytest.mark.parametrize(
    ("device", "words"),
    [("/dev/zd0", "the ZFS cache in memory"), ("/dev/dm-5", "the dm-cache"), ("/dev/bcache0", "the bcache cache")],
)
async def test_a_small_area_of_what_is_cached_is_said_before_it_is_read(
    tiers: Workbench, device: str, words: str
) -> None:
    said = await tiers.jobs.preview_advice(await tiers.jobs.locate(wanted(device, size="4G")))
    assert [words in each.message for each in said if each.key == "cache-larger-than-area"] == [True]


async def test_a_file_of_a_dataset_is_judged_by_its_memory_and_its_records(tiers: Workbench) -> None:
    request = replace(wanted("/tank/files", size="64M"), name="tank/files")
    record = await tiers.jobs.measure(await tiers.jobs.prepare(request))
    assert {"cache-larger-than-area", "zfs-block-size"} <= set(keys(record.figures.advice))
    assert any("recordsize is 128k" in each.message for each in record.figures.advice)


async def test_a_cold_arc_is_said_of_a_run_that_filled_it(tiers: Workbench) -> None:
    record = await tiers.jobs.measure(await tiers.jobs.prepare(wanted("/dev/zd0", size="4G", runtime="10")))
    assert "cache-cold" in keys(record.figures.advice)


async def test_a_warm_cache_is_not(tiers: Workbench) -> None:
    record = await tiers.jobs.measure(await tiers.jobs.prepare(wanted("/dev/dm-5", size="4G", runtime="10")))
    assert "cache-cold" not in keys(record.figures.advice)
    assert "member-imbalance" not in keys(record.figures.advice)
