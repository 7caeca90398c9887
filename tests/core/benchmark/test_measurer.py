"""Measuring: what is prepared is what is run, and a disk is either changed or measured."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from app.core.benchmark.runner import BenchmarkRequest
from app.core.fio.job import Job
from app.core.session.locks import hold_lock
from app.core.session.paths import Paths
from app.core.session.results import RunStatus
from app.core.session.state import RunRecord
from app.core.workbench import Workbench
from app.features.advice.rules import advise
from backends.change_steps import lock_of
from backends.errors import RefusedError
from backends.system.local import LocalHost
from tests.backends.loops import Loop, loop, needs_loops
from tests.packages import needs

needs_fio = needs("fio")

pytestmark = [needs_fio, pytest.mark.fio]

SHORT = {"runtime": "1", "ramp": "0", "size": "16M", "rate_iops": "1000"}


def paths(folder: Path) -> Paths:
    return Paths(
        sessions=folder / "sessions", journal=folder / "journal", locks=folder / "locks", config=folder / "config.toml"
    )


async def bench_at(folder: Path) -> Workbench:
    bench = Workbench(LocalHost(), paths=paths(folder), advisor=advise)
    await bench.open(None)
    return bench


def request(where: Path | str, *, again: bool = False, keep: bool = False, **fields: str) -> BenchmarkRequest:
    job = Job.from_fields({**SHORT, **fields})
    return BenchmarkRequest(where=str(where), name=str(where), job=job, again=again, keep=keep)


async def measured(bench: Workbench, wanted: BenchmarkRequest, confirm: str | None = None) -> RunRecord:
    return await bench.jobs.measure(await bench.jobs.prepare(wanted), confirm=confirm)


async def test_preparing_touches_nothing(tmp_path: Path) -> None:
    bench = await bench_at(tmp_path / "state")
    await bench.jobs.prepare(request(tmp_path / "scratch"))
    assert not (tmp_path / "scratch").exists()


@pytest.mark.parametrize("rw", ["trim", "randtrim", "trimwrite", "randtrimwrite"])
async def test_a_file_is_never_trimmed(tmp_path: Path, rw: str) -> None:
    bench = await bench_at(tmp_path / "state")
    with pytest.raises(RefusedError, match="block devices only"):
        await bench.jobs.prepare(request(tmp_path / "scratch", rw=rw))
    assert not (tmp_path / "scratch").exists()


async def test_preparing_needs_no_session(tmp_path: Path) -> None:
    bench = Workbench(LocalHost(), paths=paths(tmp_path / "state"), advisor=advise)
    await bench.jobs.prepare(request(tmp_path / "scratch"))
    assert bench.folder is None


@pytest.fixture(scope="module")
def scratched(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunRecord, Path]:
    """A run on a scratch file, and where that was."""
    folder = tmp_path_factory.mktemp("scratched")

    async def made() -> RunRecord:
        return await measured(await bench_at(folder / "state"), request(folder / "scratch"))

    return asyncio.run(made()), folder / "scratch"


@pytest.mark.long
def test_a_run_on_a_scratch_file_is_on_record_with_its_figures(scratched: tuple[RunRecord, Path]) -> None:
    figures = scratched[0].figures
    assert (figures.status, figures.read is not None) == (RunStatus.OK, True)


@pytest.mark.long
def test_a_scratch_file_is_gone_after_the_run(scratched: tuple[RunRecord, Path]) -> None:
    assert not scratched[1].exists()


@pytest.mark.long
async def test_a_scratch_file_stays_when_asked_for(tmp_path: Path) -> None:
    await measured(await bench_at(tmp_path / "state"), request(tmp_path / "scratch", keep=True))
    assert (tmp_path / "scratch").stat().st_size == 16 << 20


@pytest.mark.long
async def test_a_scratch_file_stays_for_the_run_that_follows_and_goes_with_that(tmp_path: Path) -> None:
    bench = await bench_at(tmp_path / "state")
    await measured(bench, request(tmp_path / "scratch", again=True))
    between = (tmp_path / "scratch").exists()
    await measured(bench, request(tmp_path / "scratch"))
    assert (between, (tmp_path / "scratch").exists()) == (True, False)


@pytest.mark.long
async def test_a_stopped_run_keeps_its_figures_and_leaves_no_file(tmp_path: Path) -> None:
    bench = await bench_at(tmp_path / "state")
    ready = await bench.jobs.prepare(request(tmp_path / "scratch", runtime="60"))
    running = asyncio.create_task(bench.jobs.measure(ready))
    while bench.session.active is None or not any(s.read for s in bench.session.active.samples[2:]):
        await asyncio.sleep(0.05)
    bench.jobs.stop()
    run = await running
    assert (run.figures.status, run.figures.read is not None, (tmp_path / "scratch").exists()) == (
        RunStatus.STOPPED,
        True,
        False,
    )


async def test_a_cancelled_run_is_on_record_as_failed(tmp_path: Path) -> None:
    bench = await bench_at(tmp_path / "state")
    ready = await bench.jobs.prepare(request(tmp_path / "scratch", runtime="60"))
    running = asyncio.create_task(bench.jobs.measure(ready))
    while bench.session.active is None:
        await asyncio.sleep(0.05)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert bench.session.runs[0].figures.status is RunStatus.FAILED


async def test_a_second_job_is_refused_while_one_runs(tmp_path: Path) -> None:
    bench = await bench_at(tmp_path / "state")
    ready = await bench.jobs.prepare(request(tmp_path / "scratch", runtime="60"))
    running = asyncio.create_task(bench.jobs.measure(ready))
    while bench.session.active is None:
        await asyncio.sleep(0.05)
    with pytest.raises(RefusedError, match="running already"):
        await bench.jobs.measure(ready)
    bench.jobs.stop()
    await running


@needs_loops()
@pytest.mark.root
class TestDevice:
    async def test_a_disk_that_is_being_changed_is_not_measured(self, tmp_path: Path) -> None:
        with loop(tmp_path / "disk.img") as disk:
            bench = await bench_at(tmp_path / "state")
            ready = await bench.jobs.prepare(request(disk.sure()))
            with (
                hold_lock(bench.paths.locks, await lock_of(LocalHost(), disk.name), "changing read_ahead_kb"),
                pytest.raises(RefusedError, match="changing read_ahead_kb"),
            ):
                await bench.jobs.measure(ready)

    async def test_a_disk_that_is_changed_under_another_name_is_not_measured(self, tmp_path: Path) -> None:
        with loop(tmp_path / "disk.img") as disk, loop(tmp_path / "disk.img") as other:
            bench = await bench_at(tmp_path / "state")
            ready = await bench.jobs.prepare(request(disk.sure()))
            with (
                hold_lock(bench.paths.locks, await lock_of(LocalHost(), other.name), "changing read_ahead_kb"),
                pytest.raises(RefusedError, match="changing read_ahead_kb"),
            ):
                await bench.jobs.measure(ready)

    async def test_a_disk_that_is_measured_is_not_changed(self, tmp_path: Path) -> None:
        with loop(tmp_path / "disk.img") as disk:
            bench = await bench_at(tmp_path / "state")
            target = (await bench.hardware.find(disk.device)).target
            now = (await bench.hardware.read(target))["nomerges"].now
            change = await bench.hardware.plan(target, "nomerges", "1" if now != "1" else "2")
            with (
                hold_lock(bench.paths.locks, await lock_of(LocalHost(), disk.name), "4k random read"),
                pytest.raises(RefusedError, match="4k random read"),
            ):
                await bench.changes.apply(change)

    @pytest.mark.long
    async def test_a_run_knows_the_settings_it_was_made_under(self, tmp_path: Path) -> None:
        with loop(tmp_path / "disk.img") as disk:
            run = await measured(await bench_at(tmp_path / "state"), request(disk.sure()))
            setting = Path(f"/sys/block/{disk.name}/queue/read_ahead_kb").read_text().strip()
            assert run.start.settings["read_ahead_kb"] == setting

    @pytest.mark.long
    async def test_a_blank_disk_of_ones_own_may_be_written_to(self, tmp_path: Path) -> None:
        with loop(tmp_path / "disk.img") as disk:
            run = await measured(await bench_at(tmp_path / "state"), request(disk.sure(), rw="randwrite"))
            assert (run.figures.status, run.start.destructive) == (RunStatus.OK, True)

    async def test_a_disk_that_is_not_blank_is_refused_without_its_name(self, tmp_path: Path) -> None:
        with loop(tmp_path / "disk.img") as disk:
            bench = await self.labelled(tmp_path, disk)
            with pytest.raises(RefusedError, match=f"{disk.device} contains data: .*crypto_LUKS"):
                await measured(bench, request(disk.sure(), rw="randwrite"))

    @pytest.mark.long
    async def test_a_disk_that_is_not_blank_is_written_to_with_its_name(self, tmp_path: Path) -> None:
        with loop(tmp_path / "disk.img") as disk:
            bench = await self.labelled(tmp_path, disk)
            run = await measured(bench, request(disk.sure(), rw="randwrite"), confirm=disk.name)
            assert run.figures.status is RunStatus.OK

    @pytest.mark.parametrize("rw", ["trim", "randtrim", "trimwrite", "randtrimwrite"])
    async def test_a_disk_that_is_not_blank_is_not_trimmed_without_its_name(self, tmp_path: Path, rw: str) -> None:
        with loop(tmp_path / "disk.img") as disk:
            bench = await self.labelled(tmp_path, disk)
            before = disk.backing.read_bytes()
            with pytest.raises(RefusedError, match=f"{disk.device} contains data: .*crypto_LUKS"):
                await measured(bench, request(disk.sure(), rw=rw))
            assert disk.backing.read_bytes() == before

    @pytest.mark.long
    async def test_a_disk_that_is_not_blank_is_trimmed_with_its_name(self, tmp_path: Path) -> None:
        with loop(tmp_path / "disk.img") as disk:
            bench = await self.labelled(tmp_path, disk)
            run = await measured(bench, request(disk.sure(), rw="trim"), confirm=disk.name)
            assert (run.figures.status, run.start.destructive) == (RunStatus.OK, True)
            assert run.figures.trim is not None
            assert not any(disk.backing.read_bytes()[:4096])

    async def labelled(self, folder: Path, disk: Loop) -> Workbench:
        from tests.backends.loops import luks_header

        disk.write(0, luks_header())
        return await bench_at(folder / "state")
