"""A run on what promises more room than there is: refused where it does not fit, ended where others take the room."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.benchmark.abort_conditions import FREE_SPACE, AbortMonitor, ThinCapacityMonitor
from app.core.benchmark.preconditioning import precondition_request
from app.core.benchmark.run_plan import BenchmarkRequest, NamedTarget
from app.core.fio.job import Job
from app.core.session.event_types import SteadyPlan
from app.core.session.results import RunResult, RunStatus
from app.core.session.state import RunRecord
from backends.errors import RefusedError
from backends.topology.thin_capacity_scan import capacities_at
from tests.backends.loops import Loop, ext4, loop, mounted, needs_loops, thin_loop
from tests.backends.topology.thin_machines import pooled
from tests.core.benchmark.test_measurer import bench_at
from tests.packages import needs

MIB = 1 << 20
real = [needs("fio"), pytest.mark.fio, needs_loops(), pytest.mark.root]


@pytest.fixture
def thin(tmp_path: Path) -> Iterator[Loop]:
    """500 MiB on a file system of 64."""
    with thin_loop(tmp_path, size=500 * MIB, on=64 * MIB) as made:
        yield made


def wanted(*targets: Path | str, fills: int = 0, **fields: str) -> BenchmarkRequest:
    job = Job.from_fields({"rw": "randwrite", "runtime": "1", "ramp": "0", "rate_iops": "1000", **fields})
    first, *others = [NamedTarget(where=str(target), name=str(target)) for target in targets]
    return BenchmarkRequest(where=first.where, name=first.name, job=job, beside=tuple(others), fills=fills)


async def refusal(folder: Path, request: BenchmarkRequest) -> str:
    bench = await bench_at(folder / "state")
    with pytest.raises(RefusedError) as caught:
        await bench.jobs.measure(await bench.jobs.prepare(request))
    return caught.value.message


class TestOnSparseFiles:
    pytestmark = real

    @pytest.mark.long
    async def test_a_write_that_does_not_fit_is_refused_and_nothing_written(self, thin: Loop, tmp_path: Path) -> None:
        before = os.stat(thin.backing).st_blocks
        words = await refusal(tmp_path, wanted(thin.sure()))
        assert f"writing all of {thin.device} may need 500 MiB of the filesystem on {tmp_path}/small" in words
        assert os.stat(thin.backing).st_blocks == before

    @pytest.mark.long
    async def test_a_write_of_less_is_done_and_done_again(self, thin: Loop, tmp_path: Path) -> None:
        bench = await bench_at(tmp_path / "state")
        for _ in range(2):
            record = await bench.jobs.measure(
                await bench.jobs.prepare(wanted(thin.sure(), size="40m", rate_iops="20000"))
            )
            assert record.figures.status is RunStatus.OK

    @pytest.mark.long
    async def test_a_fill_counts_all_of_the_device_whatever_the_size_of_the_job(
        self, thin: Loop, tmp_path: Path
    ) -> None:
        assert "may need 500 MiB" in await refusal(tmp_path, wanted(thin.sure(), fills=1, size="8m"))
        job = Job.from_fields({"rw": "randwrite", "size": "8m"})
        request = precondition_request(thin.sure(), thin.device, job, SteadyPlan(), profile=None)
        assert "may need 500 MiB" in await refusal(tmp_path, request)

    @pytest.mark.long
    async def test_reading_asks_for_no_room(self, thin: Loop, tmp_path: Path) -> None:
        bench = await bench_at(tmp_path / "state")
        record = await bench.jobs.measure(await bench.jobs.prepare(wanted(thin.sure(), rw="randread")))
        assert record.figures.status is RunStatus.OK

    @pytest.mark.long
    async def test_two_targets_that_fit_alone_and_not_together_are_refused(self, thin: Loop, tmp_path: Path) -> None:
        other = thin.backing.with_name("other")
        with open(other, "wb") as file:
            file.truncate(500 * MIB)
        with loop(other) as second:
            words = await refusal(tmp_path, wanted(thin.sure(), second.sure(), size="40m"))
        assert f"{thin.device}, {second.device} together may need 80 MiB of the filesystem on" in words

    @pytest.mark.long
    async def test_a_run_is_ended_when_somebody_else_takes_the_room(self, thin: Loop, tmp_path: Path) -> None:
        request = wanted(thin.sure(), size="16m", runtime="300")
        record = await taken_from(tmp_path, request, lambda: fill_up(thin, but=4 * MIB))
        assert record.figures.status is RunStatus.STOPPED
        assert (record.figures.reason or "").startswith("Stopped for lack of free space: the filesystem on")

    @pytest.mark.long
    async def test_a_scratch_file_counts_what_its_file_system_stands_on(self, tmp_path: Path) -> None:
        with thin_loop(tmp_path, size=1024 * MIB, on=96 * MIB) as device:
            ext4(device.sure(), "-m", "0", "-O", "^has_journal")
            with mounted(device.device, tmp_path / "upper") as upper:
                words = await refusal(tmp_path, wanted(upper / "scratch", size="96m"))
                assert not (upper / "scratch").exists()
                bench = await bench_at(tmp_path / "state")
                record = await bench.jobs.measure(await bench.jobs.prepare(wanted(upper / "scratch", size="16m")))
        assert f"scratch may need 96 MiB of the filesystem on {tmp_path}/small" in words
        assert record.figures.status is RunStatus.OK

    async def test_room_that_went_after_the_question_is_missed_before_a_scratch_file_is_made(
        self, tmp_path: Path
    ) -> None:
        with thin_loop(tmp_path, size=1024 * MIB, on=96 * MIB) as device:
            ext4(device.sure(), "-m", "0", "-O", "^has_journal")
            with mounted(device.device, tmp_path / "upper") as upper:
                bench = await bench_at(tmp_path / "state")
                ready = await bench.jobs.prepare(wanted(upper / "scratch", size="16m", rw="randread"))
                fill_up(device, but=12 * MIB)
                with pytest.raises(RefusedError, match="of the filesystem on"):
                    await bench.jobs.measure(ready)
                assert not (upper / "scratch").exists()


def fill_up(device: Loop, *, but: int) -> None:
    """Leave no more than that on the file system that the file of a loop device lies on."""
    space = os.statvfs(device.backing.parent)
    with open(device.backing.with_name("theirs"), "wb") as file:
        os.posix_fallocate(file.fileno(), 0, space.f_bavail * space.f_frsize - but)


async def taken_from(folder: Path, request: BenchmarkRequest, take: Callable[[], None]) -> RunRecord:
    """A run during which somebody else takes room, once it has begun to measure."""
    bench = await bench_at(folder / "state")
    task = asyncio.create_task(bench.jobs.measure(await bench.jobs.prepare(request)))
    while bench.session.active is None or not bench.session.active.samples:
        assert not task.done(), task.result()
        await asyncio.sleep(0.01)
    take()
    return await task


async def test_a_run_is_ended_at_the_margin_of_its_pool() -> None:
    host = pooled(used=10)
    look = ThinCapacityMonitor(host, await capacities_at(host, host.number("dm-3")))
    stop = asyncio.Event()
    async with AbortMonitor(replace(FREE_SPACE, every=0.0), look, stop) as watch:
        host.states["vgA-pool-tpool"] = host.states["vgA-pool-tpool"].replace("160/1600", "1441/1600")
        await stop.wait()
    told = watch.explain(RunResult(status=RunStatus.STOPPED))
    assert told.reason == "Stopped for lack of free space: the thin pool vgA/pool has 9.94 MiB of 100 MiB free."


async def test_one_look_that_tells_nothing_ends_no_run_and_three_do() -> None:
    host = pooled(used=10)
    look = ThinCapacityMonitor(host, await capacities_at(host, host.number("dm-3")))
    host.silent.add("dmsetup")
    assert [await look(), await look()] == [(), ()]
    host.silent.clear()
    assert await look() == ()
    host.silent.add("dmsetup")
    assert [await look(), await look()] == [(), ()]
    assert "is now unknown" in (await look())[0]
    from_the_start = ThinCapacityMonitor(host, look._rooms)
    assert [bool(await from_the_start()) for _ in range(3)] == [False, False, True]


def test_it_is_looked_at_every_second() -> None:
    assert FREE_SPACE.every == 1.0
