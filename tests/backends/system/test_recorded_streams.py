"""Streams of a recorded machine: played back at their pace, chosen by words and job file, ended in good order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.benchmark.runner import BenchmarkRequest
from app.core.fio.profiles import profile
from app.core.session.event_types import SampleTaken
from app.core.session.events import AnyEvent, LiveEvent
from app.core.session.paths import Paths
from app.core.session.results import RunStatus
from app.core.session.state import Session
from app.core.workbench import Workbench
from app.features.advice.rules import advise
from backends.errors import InvalidValueError, ToolMissingError
from backends.host import Command
from backends.system.recorded import ReplayHost
from backends.system.streams import FOLDER, Recording
from tests.machines.storage_server import FOLDER as SERVER

FIO = ("*fio", "--output-format=json+", "**")


async def at_once(_seconds: float) -> None:
    """No waiting."""


def machine(folder: Path, **recordings: Recording) -> Path:
    """A recorded machine without anything but these streams."""
    (folder / FOLDER).mkdir()
    (folder / "machine.json").write_text('{"format": 1, "name": "toy"}')
    for name, recording in recordings.items():
        recording.save(folder / FOLDER / f"{name}.json.gz")
    return folder


def said(*texts: str, lines: tuple[str, ...] = ()) -> Recording:
    """One piece every quarter of a second."""
    pieces = tuple((0.25 * (number + 1), text) for number, text in enumerate(texts))
    return Recording(argv=FIO, lines=lines, chunks=pieces, seconds=9.0, returncode=3)


async def heard(host: ReplayHost, *argv: str) -> str:
    async with host.stream(Command(argv=argv)) as process:
        return "".join([chunk.decode() async for chunk in process.chunks()])


async def test_pieces_come_at_their_pace_and_with_their_exit_status(tmp_path: Path) -> None:
    waits: list[float] = []

    async def pace(seconds: float) -> None:
        waits.append(round(seconds, 2))

    host = ReplayHost(machine(tmp_path, one=said("a", "b")), pace=pace)
    async with host.stream(Command(argv=("/usr/bin/fio", "--output-format=json+", "job.fio"))) as process:
        pieces = [chunk async for chunk in process.chunks()]
        assert (pieces, await process.wait()) == ([b"a", b"b"], 3)
    assert waits == [0.25, 0.25, 8.5]


async def test_the_job_file_chooses_among_streams_of_equal_words(tmp_path: Path) -> None:
    job = tmp_path / "job.fio"
    job.write_text("[job]\nrw=read\nbs=4K\n")
    folder = machine(tmp_path, one=said("random", lines=("rw=randread",)), two=said("in order", lines=("rw=read",)))
    host = ReplayHost(folder, pace=at_once)
    assert await heard(host, "fio", "--output-format=json+", "--eta=never", str(job)) == "in order"


async def test_the_second_run_of_a_job_gets_the_second_recording_and_so_does_the_third(tmp_path: Path) -> None:
    host = ReplayHost(machine(tmp_path, run1=said("first"), run2=said("second")), pace=at_once)
    runs = [await heard(host, "fio", "--output-format=json+", "job") for _ in range(3)]
    assert runs == ["first", "second", "second"]


async def test_what_was_not_recorded_is_said_with_what_was(tmp_path: Path) -> None:
    host = ReplayHost(machine(tmp_path, sdb=said("x")), pace=at_once)
    with pytest.raises(ToolMissingError) as told:
        await heard(host, "fio", "--minimal", "job")
    assert told.value.hint == "Recorded streams: sdb."


async def test_an_interrupted_stream_ends_as_fio_does(tmp_path: Path) -> None:
    waits = iter((at_once(0), asyncio.Event().wait()))
    host = ReplayHost(machine(tmp_path, one=said("{\n}\n", "never\n")), pace=lambda _: next(waits))
    async with host.stream(Command(argv=("fio", "--output-format=json+", "job"))) as process:
        pieces = process.chunks()
        assert await anext(pieces) == b"{\n}\n"
        process.interrupt()
        assert [piece async for piece in pieces] == [b"fio: terminating on signal 2\n{\n}\n"]
        assert await process.wait() == 128


async def test_a_damaged_stream_is_named(tmp_path: Path) -> None:
    folder = machine(tmp_path)
    (folder / FOLDER / "torn.json.gz").write_bytes(b"\x1f\x8b rest")
    with pytest.raises(InvalidValueError, match=r"torn\.json\.gz is not a recorded stream"):
        await heard(ReplayHost(folder), "fio", "--output-format=json+")


async def test_a_recorded_run_goes_through_the_whole_pipeline(tmp_path: Path) -> None:
    base = Paths(sessions=tmp_path / "s", journal=tmp_path / "j", locks=tmp_path / "l", config=tmp_path / "c.toml")
    bench = Workbench(ReplayHost(SERVER, pace=at_once), paths=base, advisor=advise)
    samples: list[SampleTaken] = []
    bench.subscribe(_keep(samples))
    await bench.open(tmp_path / "session")
    await bench.hardware.probe()
    request = BenchmarkRequest(
        where="/dev/sdb", name="block:sdb", job=profile("randread-4k").job, profile="randread-4k"
    )
    record = await bench.jobs.measure(await bench.jobs.prepare(request))
    bench.close()
    assert record.figures.status is RunStatus.OK, record.figures.reason
    assert record.figures.read is not None
    assert len(samples) > 200
    assert record.figures.read.iops > 1000


def _keep(samples: list[SampleTaken]) -> Callable[[Session, AnyEvent], None]:
    def keep(_session: Session, event: AnyEvent) -> None:
        if isinstance(event, LiveEvent) and isinstance(event.progress, SampleTaken):
            samples.append(event.progress)

    return keep
