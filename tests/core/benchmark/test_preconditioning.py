"""Preconditioning: filled in full, put under the workload, and remembered."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.benchmark.preconditioning import PreconditionHistory, precondition_request
from app.core.fio.job import Engine, Job, Pattern
from app.core.session.event_types import PreconditionWritten, SteadyPlan, written_ago
from app.core.session.events import PreconditionEnded
from app.core.session.results import Phase, RunStatus
from app.core.session.state import RunRecord
from app.core.workbench import Workbench
from app.features.advice.rules import advise
from backends.errors import InvalidValueError, RefusedError, StorageError
from backends.identity import Identity
from backends.model import Drive, Target
from backends.system.local import LocalHost
from tests.backends.loops import loop, needs_loops
from tests.packages import needs
from tests.tui.stage import Table, paths_in, set_table

DISK = Identity(name="sda", wwn="naa.5000", serial="S1", size_bytes=100)
WRITTEN = PreconditionWritten(at=1000.0, device="/dev/sda", size_bytes=100, filled_bytes=200)
WORKLOAD = Job(rw=Pattern.RANDWRITE)
PLAN = SteadyPlan(cap_s=600)

needs_fio = needs("fio")


def test_what_was_written_is_known_to_the_next_program(tmp_path: Path) -> None:
    assert PreconditionHistory(tmp_path).remember(DISK, WRITTEN)
    assert PreconditionHistory(tmp_path).last_written(DISK) == WRITTEN


def test_a_device_is_known_under_another_name_and_after_a_reboot(tmp_path: Path) -> None:
    PreconditionHistory(tmp_path).remember(DISK, WRITTEN)
    later = replace(DISK, name="sdb", devno="8:16", diskseq="99")
    assert PreconditionHistory(tmp_path).last_written(later) == WRITTEN


def test_another_device_of_its_kind_is_not_taken_for_it(tmp_path: Path) -> None:
    PreconditionHistory(tmp_path).remember(DISK, WRITTEN)
    assert PreconditionHistory(tmp_path).last_written(replace(DISK, serial="S2", wwn="naa.5001")) is None


def test_a_partition_is_not_its_disk(tmp_path: Path) -> None:
    PreconditionHistory(tmp_path).remember(replace(DISK, size_bytes=50), WRITTEN)
    assert PreconditionHistory(tmp_path).last_written(DISK) is None


def test_a_device_without_a_name_of_its_own_is_not_remembered(tmp_path: Path) -> None:
    nameless = Identity(name="vda", size_bytes=100, devno="254:0", diskseq="1")
    assert not PreconditionHistory(tmp_path).remember(nameless, WRITTEN)
    assert PreconditionHistory(tmp_path).last_written(nameless) is None


def test_the_last_time_counts_and_a_torn_line_does_not(tmp_path: Path) -> None:
    memory = PreconditionHistory(tmp_path)
    memory.remember(DISK, replace(WRITTEN, at=1.0))
    memory.remember(DISK, WRITTEN)
    (file,) = tmp_path.iterdir()
    file.write_text(file.read_text() + '{"at": 5')
    assert memory.last_written(DISK) == WRITTEN


def test_what_cannot_be_kept_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be recorded"):
        PreconditionHistory(tmp_path / "file").remember(DISK, WRITTEN)


def test_it_is_told_how_often_and_how_long_ago() -> None:
    assert written_ago(replace(WRITTEN, filled_bytes=70), 1000.0 + 3 * 3600) == "0.7x, 3 h ago"


def test_a_cap_within_which_nothing_can_be_steady_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="too short"):
        precondition_request("/dev/sda", "sda", WORKLOAD, SteadyPlan(cap_s=20), profile=None)


@pytest.fixture
async def table(tmp_path: Path) -> Table:
    table = set_table(tmp_path)
    await table.bench.open(tmp_path / "sessions" / "s1")
    await table.bench.hardware.probe()
    return table


async def begun(table: Table) -> asyncio.Task[RunRecord]:
    """Preconditioning of a disk, under way."""
    request = precondition_request("/dev/sda", "block:sda", WORKLOAD, PLAN, profile="randwrite-4k")
    return asyncio.create_task(table.bench.jobs.measure(await table.bench.jobs.prepare(request)))


async def told(table: Table) -> PreconditionWritten:
    """What the session has of it at the end."""
    (event,) = [event for event in table.bench.session.events if isinstance(event, PreconditionEnded)]
    return event.written


async def test_it_is_filled_twice_and_then_put_under_the_workload(table: Table) -> None:
    table.load.finish()
    table.load.finish()
    record = await (await begun(table))
    assert (record.figures.status, record.figures.filled_bytes) == (RunStatus.OK, 2 * (4 << 40))
    assert (await told(table)).workload == "randwrite-4k"


async def test_how_far_the_fill_is_can_be_seen(table: Table) -> None:
    running = await begun(table)
    while table.bench.session.active is None or table.bench.session.active.phase is not Phase.FILLING:
        await asyncio.sleep(0)
    table.load.take(0.25)
    while not table.bench.session.active.moved_bytes:
        await asyncio.sleep(0)
    active = table.bench.session.active
    assert active.total_bytes == 2 * (4 << 40)
    assert active.moved_bytes == pytest.approx(85_400 * 4096 / 4)
    table.bench.jobs.stop()
    await running


async def test_a_fill_that_was_stopped_is_remembered_as_far_as_it_came(table: Table) -> None:
    running = await begun(table)
    while table.bench.session.active is None or table.bench.session.active.phase is not Phase.FILLING:
        await asyncio.sleep(0)
    table.bench.jobs.stop()
    record = await running
    assert (record.figures.status, record.figures.reason) == (
        RunStatus.STOPPED,
        "Preconditioning was stopped; written 1.0x",
    )
    assert (await told(table)).workload == ""


async def test_the_next_session_knows(table: Table, tmp_path: Path) -> None:
    table.load.finish()
    table.load.finish()
    await (await begun(table))
    later = set_table(tmp_path).bench.jobs.memory.last_written(Identity(name="sdz", serial="S1"))
    assert later is not None
    assert later.times == 2.0


async def test_a_device_shows_among_its_facts_since_when_it_is_written(table: Table) -> None:
    drive = Drive(target=Target(backend="block", address="sda"), identity=DISK)
    assert table.bench.jobs.with_history(drive) == drive
    table.bench.jobs.memory.remember(DISK, replace(WRITTEN, at=time.time() - 7200, steady=True))
    shown = table.bench.jobs.with_history(drive)
    assert [(fact.label, fact.value) for fact in shown.facts] == [("Written", "2.0x, steady, 2 h ago")]


async def test_nothing_is_filled_before_the_name_was_typed(table: Table) -> None:
    table.gate.found = ("ext4 filesystem",)
    with pytest.raises(RefusedError, match="/dev/sda contains data: ext4 filesystem"):
        await (await begun(table))
    assert table.bench.session.runs == ()


async def test_a_reading_workload_does_not_make_it_harmless(table: Table) -> None:
    request = precondition_request("/dev/sda", "block:sda", Job(), PLAN, profile=None)
    ready = await table.bench.jobs.prepare(request)
    assert (ready.destructive, "fill.fio" in ready.fill_command) == (True, True)


QUICK = SteadyPlan(cap_s=6, round_s=1, window=3)


def quick(where: str) -> Job:
    return Job(rw=Pattern.RANDWRITE, size=None if where.startswith("/dev") else 8 << 20, ioengine=Engine.PSYNC)


@pytest.mark.long
@needs_fio
@pytest.mark.fio
async def test_a_real_file_is_written_twice_from_start_to_end_and_stays(tmp_path: Path) -> None:
    bench = Workbench(LocalHost(), paths=paths_in(tmp_path / "state"), advisor=advise)
    await bench.open(None)
    where = str(tmp_path / "scratch")
    record = await bench.jobs.measure(
        await bench.jobs.prepare(precondition_request(where, where, quick(where), QUICK, profile=None))
    )
    assert (record.figures.filled_bytes, (tmp_path / "scratch").stat().st_size) == (16 << 20, 8 << 20)
    assert record.figures.steady is not None


@pytest.mark.long
@needs_fio
@needs_loops()
@pytest.mark.root
@pytest.mark.fio
async def test_a_real_disk_is_written_twice_from_start_to_end_and_remembered(tmp_path: Path) -> None:
    bench = Workbench(LocalHost(), paths=paths_in(tmp_path / "state"), advisor=advise)
    await bench.open(None)
    with loop(tmp_path / "disk.img", size=16 << 20) as disk:
        ready = await bench.jobs.prepare(
            precondition_request(disk.sure(), disk.device, quick("/dev"), QUICK, profile=None)
        )
        record = await bench.jobs.measure(ready)
        assert ready.only.judgement is not None
        assert ready.only.judgement.identity is not None
        known = bench.jobs.memory.last_written(ready.only.judgement.identity)
        assert (record.figures.filled_bytes, known and known.times) == (32 << 20, 2.0)
        with open(disk.backing, "rb") as file:
            assert all(any(file.read(4096)) for _ in range((16 << 20) // 4096))
