"""Several targets in one job, on loop devices of our own: each is guarded as one alone is, and has its own row."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.core.benchmark.run_plan import BenchmarkRequest, NamedTarget
from app.core.benchmark.stale_scratch import leftover_scratch
from app.core.fio.job import Job
from app.core.session.locks import hold_lock
from app.core.session.results import RunStatus
from app.core.session.state import RunRecord
from backends.change_steps import locks_of
from backends.device_label import DeviceLabel, confirm_token
from backends.errors import InvalidValueError, RefusedError
from tests.backends.loops import Loop, loop, luks_header, needs_loops
from tests.core.benchmark.test_measurer import bench_at
from tests.packages import needs

pytestmark = [needs("fio"), pytest.mark.fio, needs_loops(), pytest.mark.root]

Pair = tuple[Loop, Loop]


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    with loop(tmp_path / "one.img") as one, loop(tmp_path / "two.img") as two:
        yield one, two


def request(*targets: Path | str, fills: int = 0, **fields: str) -> BenchmarkRequest:
    job = Job.from_fields({"runtime": "1", "ramp": "0", "rate_iops": "1000", **fields})
    first, *others = [NamedTarget(where=str(target), name=str(target)) for target in targets]
    return BenchmarkRequest(where=first.where, name=first.name, job=job, beside=tuple(others), fills=fills)


def nodes(pair: Pair) -> list[str]:
    return [one.sure() for one in pair]


async def measured(folder: Path, wanted: BenchmarkRequest, confirm: str | None = None) -> RunRecord:
    bench = await bench_at(folder / "state")
    return await bench.jobs.measure(await bench.jobs.prepare(wanted), confirm=confirm)


async def refused(folder: Path, wanted: BenchmarkRequest, confirm: str | None = None) -> str:
    with pytest.raises(RefusedError) as caught:
        await measured(folder, wanted, confirm)
    return caught.value.message


def totals(folder: Path) -> dict[str, Any]:
    """What fio itself said last, by section."""
    text = next(folder.glob("state/sessions/*/runs/r1/fio.out")).read_text()
    decoder, at = json.JSONDecoder(), 0
    last: dict[str, Any] = {}
    while (at := text.find("{", at)) >= 0:
        last, at = decoder.raw_decode(text, at)
    return {job["jobname"]: job["read"] for job in last["jobs"]}


def is_free(node: str) -> bool:
    """Whether nobody has a device for themselves."""
    try:
        os.close(os.open(node, os.O_RDONLY | os.O_EXCL))
    except OSError:
        return False
    return True


class TestReading:
    @pytest.fixture(scope="class")
    def made(self, tmp_path_factory: pytest.TempPathFactory) -> tuple[RunRecord, dict[str, Any], list[str]]:
        """A run on two disks, what fio said of it, and the disks."""
        folder = tmp_path_factory.mktemp("several")
        with loop(folder / "one.img") as one, loop(folder / "two.img") as two:
            names = nodes((one, two))
            return asyncio.run(measured(folder, request(*names, iodepth="4"))), totals(folder), names

    @pytest.mark.long
    def test_each_row_is_what_fio_counted_there(self, made: tuple[RunRecord, dict[str, Any], list[str]]) -> None:
        run, own, _ = made
        rows = [row.read.total_ios for row in run.figures.targets if row.read]
        assert rows == [own["raidbench-1"]["lat_ns"]["N"], own["raidbench-2"]["lat_ns"]["N"]]

    @pytest.mark.long
    def test_the_rows_add_up_to_the_whole(self, made: tuple[RunRecord, dict[str, Any], list[str]]) -> None:
        figures = made[0].figures
        assert figures.read is not None
        assert sum(row.read.iops for row in figures.targets if row.read) == pytest.approx(figures.read.iops, rel=1e-12)

    @pytest.mark.long
    def test_the_whole_is_what_fio_counted(self, made: tuple[RunRecord, dict[str, Any], list[str]]) -> None:
        assert made[0].figures.read is not None
        counted = sum(read["lat_ns"]["N"] for read in made[1].values())
        seconds = max(read["runtime"] for read in made[1].values()) / 1000
        assert made[0].figures.read.iops == pytest.approx(counted / seconds, rel=1e-12)

    def test_the_session_has_each_with_its_device(self, made: tuple[RunRecord, dict[str, Any], list[str]]) -> None:
        run, _, names = made
        assert [(each.target, each.device) for each in run.start.all_targets] == [(name, name) for name in names]

    def test_a_setting_that_both_have_is_told_once(self, made: tuple[RunRecord, dict[str, Any], list[str]]) -> None:
        assert made[0].start.settings["scheduler"].count("none") == 1


@pytest.mark.long
async def test_a_setting_that_differs_is_told_of_each(tmp_path: Path, pair: Pair) -> None:
    values = []
    for one, text in zip(pair, ("64", "256"), strict=True):
        Path(f"/sys/block/{one.name}/queue/read_ahead_kb").write_text(text)
        values.append(text)
    run = await measured(tmp_path, request(*nodes(pair)))
    assert run.start.settings["read_ahead_kb"] == ", ".join(values)


async def test_a_disk_named_twice_is_refused(tmp_path: Path, pair: Pair) -> None:
    one = pair[0].sure()
    assert await refused(tmp_path, request(one, one)) == f"{one} is named twice."


async def test_a_disk_under_another_name_is_refused(tmp_path: Path, pair: Pair) -> None:
    one = pair[0].sure()
    (tmp_path / "link").symlink_to(one)
    assert f"share {one}," in await refused(tmp_path, request(one, tmp_path / "link"))


async def test_a_partition_is_not_measured_beside_its_disk(tmp_path: Path, pair: Pair) -> None:
    (part,) = pair[0].partition((2048, 8192))
    assert f"share {pair[0].device}," in await refused(tmp_path, request(pair[0].sure(), part))


async def test_another_device_on_the_same_file_is_refused(tmp_path: Path, pair: Pair) -> None:
    with loop(pair[0].backing) as twin:
        assert str(pair[0].backing) in await refused(tmp_path, request(pair[0].sure(), twin.sure()))


async def test_the_file_behind_a_disk_is_not_measured_beside_it(tmp_path: Path, pair: Pair) -> None:
    said = await refused(tmp_path, request(pair[0].sure(), pair[0].backing))
    assert f"share {pair[0].backing}: " in said


async def test_files_of_one_file_system_are_refused(tmp_path: Path) -> None:
    assert "the filesystem" in await refused(tmp_path, request(tmp_path / "a", tmp_path / "b", size="16M"))


@pytest.mark.long
async def test_a_file_is_measured_beside_a_disk_and_gone_afterwards(tmp_path: Path, pair: Pair) -> None:
    run = await measured(tmp_path, request(pair[0].sure(), tmp_path / "scratch", size="16M"))
    assert (run.figures.status, len(run.figures.targets), (tmp_path / "scratch").exists()) == (RunStatus.OK, 2, False)


@pytest.mark.long
async def test_a_file_that_a_crash_left_beside_a_disk_is_found(tmp_path: Path, pair: Pair) -> None:
    bench = await bench_at(tmp_path / "state")
    ready = await bench.jobs.prepare(request(pair[0].sure(), tmp_path / "scratch", size="16M", runtime="60"))
    running = asyncio.create_task(bench.jobs.measure(ready))
    while bench.session.active is None or not bench.session.active.samples:
        await asyncio.sleep(0.05)
    named = bench.session.runs[0].start.all_targets
    bench.jobs.stop()
    await running
    assert [each.scratch for each in named] == [None, str(tmp_path / "scratch")]
    bench.close()
    assert leftover_scratch(bench.paths) == ()


async def test_a_job_that_ends_by_amount_is_refused(tmp_path: Path, pair: Pair) -> None:
    with pytest.raises(InvalidValueError, match="ends at a different time on each target"):
        await measured(tmp_path, request(*nodes(pair), io_size="1M"))


async def test_targets_are_not_filled_together(tmp_path: Path, pair: Pair) -> None:
    with pytest.raises(InvalidValueError, match="Only one target can be preconditioned at a time"):
        await measured(tmp_path, request(*nodes(pair), fills=1, rw="randwrite"))


@pytest.mark.parametrize("which", [0, 1])
async def test_none_is_measured_while_one_is_changed(tmp_path: Path, pair: Pair, which: int) -> None:
    bench = await bench_at(tmp_path / "state")
    ready = await bench.jobs.prepare(request(*nodes(pair)))
    (name,) = await locks_of(bench.host, [pair[which].name])
    with (
        hold_lock(bench.paths.locks, name, "changing read_ahead_kb"),
        pytest.raises(RefusedError, match="changing read_ahead_kb"),
    ):
        await bench.jobs.measure(ready)


async def test_after_a_refusal_nothing_is_locked(tmp_path: Path, pair: Pair) -> None:
    bench = await bench_at(tmp_path / "state")
    ready = await bench.jobs.prepare(request(*nodes(pair)))
    first, second = ready.locks
    with hold_lock(bench.paths.locks, second, "changing"), pytest.raises(RefusedError):
        await bench.jobs.measure(ready)
    with hold_lock(bench.paths.locks, first, "free"):
        pass


class TestWriting:
    @pytest.mark.long
    async def test_blank_disks_are_written_to(self, tmp_path: Path, pair: Pair) -> None:
        run = await measured(tmp_path, request(*nodes(pair), rw="randwrite"))
        assert (run.figures.status, run.start.destructive, len(run.figures.targets)) == (RunStatus.OK, True, 2)

    @pytest.mark.long
    @pytest.mark.parametrize("which", [0, 1])
    async def test_one_that_is_not_blank_stops_both(self, tmp_path: Path, pair: Pair, which: int) -> None:
        pair[which].write(0, luks_header())
        assert f"{pair[which].device} contains data: " in await refused(tmp_path, request(*nodes(pair), rw="randwrite"))

    @pytest.mark.long
    async def test_the_word_of_one_does_not_mean_the_other(self, tmp_path: Path, pair: Pair) -> None:
        for one in pair:
            one.write(0, luks_header())
        bench = await bench_at(tmp_path / "state")
        ready = await bench.jobs.prepare(request(*nodes(pair), rw="randwrite"))
        with pytest.raises(RefusedError, match=f"{pair[0].device} contains data: ") as caught:
            await bench.jobs.measure(ready, confirm=pair[0].name)
        assert caught.value.hint == f"To overwrite all targets, give the confirmation token {ready.confirm_text}."

    @pytest.mark.long
    async def test_the_words_of_both_mean_both(self, tmp_path: Path, pair: Pair) -> None:
        for one in pair:
            one.write(0, luks_header())
        words = confirm_token(DeviceLabel(name=one.name, description="", token=one.name) for one in pair)
        assert (await measured(tmp_path, request(*nodes(pair), rw="randwrite"), words)).figures.status is RunStatus.OK

    @pytest.mark.long
    @pytest.mark.parametrize("which", [0, 1])
    async def test_what_came_after_the_question_stops_both(self, tmp_path: Path, pair: Pair, which: int) -> None:
        bench = await bench_at(tmp_path / "state")
        for one in pair:
            one.write(0, luks_header())
        ready = await bench.jobs.prepare(request(*nodes(pair), rw="randwrite"))
        pair[which].partition((2048, 8192))
        with pytest.raises(RefusedError, match="changed after you confirmed it"):
            await bench.jobs.measure(ready, confirm=ready.confirm_text)

    @pytest.mark.long
    @pytest.mark.parametrize("which", [0, 1])
    async def test_one_that_is_in_use_stops_both(self, tmp_path: Path, pair: Pair, which: int) -> None:
        names = nodes(pair)
        claimed = os.open(names[which], os.O_RDONLY | os.O_EXCL)
        try:
            said = await refused(tmp_path, request(*names, rw="randwrite"))
        finally:
            os.close(claimed)
        assert is_free(names[1 - which]), said

    @pytest.mark.long
    async def test_both_are_held_while_they_are_written_to(self, tmp_path: Path, pair: Pair) -> None:
        bench = await bench_at(tmp_path / "state")
        ready = await bench.jobs.prepare(request(*nodes(pair), rw="randwrite", runtime="60"))
        running = asyncio.create_task(bench.jobs.measure(ready))
        while bench.session.active is None or not bench.session.active.samples:
            await asyncio.sleep(0.05)
        during = [is_free(node) for node in nodes(pair)]
        bench.jobs.stop()
        await running
        assert (during, [is_free(node) for node in nodes(pair)]) == ([False, False], [True, True])


@pytest.mark.long
async def test_one_that_fails_ends_the_others_and_is_named(tmp_path: Path, pair: Pair) -> None:
    bench = await bench_at(tmp_path / "state")
    ready = await bench.jobs.prepare(request(*nodes(pair), runtime="60"))
    running = asyncio.create_task(bench.jobs.measure(ready))
    while bench.session.active is None or not bench.session.active.samples:
        await asyncio.sleep(0.05)
    os.truncate(pair[1].backing, 0)
    figures = (await asyncio.wait_for(running, 120)).figures
    assert (figures.status, (figures.reason or "").split(":")[0]) == (RunStatus.FAILED, pair[1].device)
