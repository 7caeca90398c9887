"""A load from its first byte to its verdict, with a scripted fio."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from app.core.fio.job import Job, JobTarget, Pattern, TargetKind
from app.core.fio.load import FioLoad
from app.core.fio.process import Timeouts
from app.core.session.event_types import CpuSampled, LoadEvent, PhaseChanged, SampleTaken, SteadyPlan, WorkloadFinished
from app.core.session.results import Phase, RunResult, RunStatus
from backends.errors import InvalidValueError, StorageError, ToolMissingError
from tests.core.fio.documents import direction, document, printed
from tests.core.fio.hosts import ScriptedHost, ScriptedProcess

TARGET = JobTarget(path="/srv/x", name="/srv/x", kind=TargetKind.FILE, size=1 << 30)
JOB = Job(runtime=1, ramp=0)
QUICK = Timeouts(
    before_signal=0.01, remark=0.01, terminate=0.02, kill=0.03, look=0.01, silence=0.02, overdue=-0.99, give_up=-0.9
)
DOCUMENTS = [printed(document(250 * n, read=direction({99840: 500 * n}, runtime_ms=250 * n))) for n in range(1, 5)]


async def all_of(load: FioLoad, workdir: Path, job: Job = JOB, stop: asyncio.Event | None = None) -> list[LoadEvent]:
    async with aclosing(load.run(job, [TARGET], workdir, stop or asyncio.Event())) as events:
        return [event async for event in events]


def verdict(events: list[LoadEvent]) -> RunResult:
    last = events[-1]
    assert isinstance(last, WorkloadFinished)
    return last.figures


def notes(events: list[LoadEvent]) -> list[str]:
    return [event.message for event in events if isinstance(event, PhaseChanged) and event.message]


async def test_a_run_tells_its_phases_its_samples_and_its_verdict(tmp_path: Path) -> None:
    events = await all_of(FioLoad(ScriptedHost(ScriptedProcess(DOCUMENTS))), tmp_path)
    assert [event.phase for event in events if isinstance(event, PhaseChanged)] == [
        Phase.PREPARING,
        Phase.MEASURING,
        Phase.DONE,
    ]
    assert [event.sample.at for event in events if isinstance(event, SampleTaken)] == [0.25, 0.5, 0.75, 1.0]
    assert verdict(events).status is RunStatus.OK


async def test_what_was_measured_at_the_cap_is_not_steady_and_fio_is_ended(tmp_path: Path) -> None:
    rising = [printed(document(250 * n, read=direction({99840: 2**n}, runtime_ms=250 * n))) for n in range(4, 14)]
    process = ScriptedProcess(rising, ends=False, returncode=128)
    process.heeds = "interrupt"
    plan = SteadyPlan(until=True, cap_s=1, round_s=1, window=3)
    async with aclosing(
        FioLoad(ScriptedHost(process)).run(JOB, [TARGET], tmp_path, asyncio.Event(), steady=plan)
    ) as events:
        figures = verdict([event async for event in events])
    assert (figures.status, process.signals) == (RunStatus.OK, ["interrupt"])
    assert figures.steady is not None
    assert (figures.steady.capped, figures.steady.attained) == (True, False)


async def test_what_fio_got_and_said_is_kept(tmp_path: Path) -> None:
    host = ScriptedHost(ScriptedProcess([b"fio: hm\n", *DOCUMENTS], words="more\n"))
    events = await all_of(FioLoad(host), tmp_path)
    assert (tmp_path / "fio.out").read_bytes() == b"fio: hm\n" + b"".join(DOCUMENTS)
    assert (tmp_path / "stderr").read_text() == "more\n"
    assert "filename=/srv/x" in (tmp_path / "job.fio").read_text()
    assert verdict(events).evidence == "fio: hm\nmore"


async def test_only_writing_jobs_are_called_mutating(tmp_path: Path) -> None:
    for pattern, mutates in ((Pattern.RANDREAD, False), (Pattern.RANDRW, True)):
        host = ScriptedHost(ScriptedProcess(DOCUMENTS))
        await all_of(FioLoad(host), tmp_path, Job(rw=pattern, runtime=1, ramp=0))
        assert host.commands[0].mutates is mutates


async def test_reading_goes_on_while_nobody_looks(tmp_path: Path) -> None:
    process = ScriptedProcess(DOCUMENTS)
    async with aclosing(FioLoad(ScriptedHost(process)).run(JOB, [TARGET], tmp_path, asyncio.Event())) as events:
        await anext(events)
        await process.exhausted.wait()


async def test_a_stopped_run_is_interrupted_once_and_keeps_its_figures(tmp_path: Path) -> None:
    process = ScriptedProcess(DOCUMENTS[:2], ends=False, returncode=128)
    process.heeds = "interrupt"
    stop = asyncio.Event()
    events: list[LoadEvent] = []
    async with aclosing(FioLoad(ScriptedHost(process)).run(JOB, [TARGET], tmp_path, stop)) as found:
        async for event in found:
            events.append(event)
            if isinstance(event, SampleTaken):
                stop.set()
    assert process.signals == ["interrupt"]
    assert verdict(events).status is RunStatus.STOPPED
    assert verdict(events).read is not None


async def test_a_fio_that_does_not_heed_is_asked_harder_and_it_is_said_why(tmp_path: Path) -> None:
    process = ScriptedProcess(DOCUMENTS[:2], ends=False, returncode=-9)
    stop = asyncio.Event()
    load = FioLoad(ScriptedHost(process), patience=QUICK)
    events: list[LoadEvent] = []
    async with aclosing(load.run(Job(), [TARGET], tmp_path, stop)) as found:
        async for event in found:
            events.append(event)
            if isinstance(event, SampleTaken):
                stop.set()
    assert process.signals == ["interrupt", "terminate", "kill"]
    assert "outstanding I/O" in notes(events)[0]
    assert verdict(events).status is RunStatus.STOPPED


async def test_a_run_stopped_before_it_began_starts_nothing(tmp_path: Path) -> None:
    host = ScriptedHost()
    stop = asyncio.Event()
    stop.set()
    events = await all_of(FioLoad(host), tmp_path, stop=stop)
    assert verdict(events).status is RunStatus.STOPPED
    assert not host.commands


async def test_silence_and_lateness_are_said_and_a_run_that_never_ends_is_ended(tmp_path: Path) -> None:
    process = ScriptedProcess(DOCUMENTS[:1], ends=False, returncode=-9)
    events = await all_of(FioLoad(ScriptedHost(process), patience=QUICK), tmp_path)
    said = " ".join(notes(events))
    assert "no output from fio" in said
    assert "should have ended" in said
    assert "stopping it" in said
    assert verdict(events).status is RunStatus.FAILED
    assert any(isinstance(event, CpuSampled) for event in events)


async def test_an_abandoned_run_leaves_no_task(tmp_path: Path) -> None:
    before = asyncio.all_tasks()
    process = ScriptedProcess(DOCUMENTS[:1], ends=False)
    async with aclosing(FioLoad(ScriptedHost(process)).run(JOB, [TARGET], tmp_path, asyncio.Event())) as events:
        await anext(events)
    assert asyncio.all_tasks() == before


async def test_a_broken_document_costs_no_run(tmp_path: Path) -> None:
    events = await all_of(FioLoad(ScriptedHost(ScriptedProcess([b'{\n  "x": \n', *DOCUMENTS]))), tmp_path)
    figures = verdict(events)
    assert figures.status is RunStatus.OK
    assert "could not be read" in figures.warnings[0]


async def test_without_fio_it_is_said_what_to_install(tmp_path: Path) -> None:
    host = ScriptedHost()
    host.there = False
    with pytest.raises(ToolMissingError) as caught:
        await all_of(FioLoad(host), tmp_path)
    assert "apt-get install fio" in caught.value.hint


async def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        await all_of(FioLoad(ScriptedHost(ScriptedProcess())), tmp_path / "nowhere")


async def test_a_layout_that_wrote_less_than_all_is_a_failure(tmp_path: Path) -> None:
    written = printed(document(250, write=direction({99840: 10}, runtime_ms=250, bs=1 << 20)))
    target = JobTarget(path=str(tmp_path / "x"), name="x", kind=TargetKind.FILE, size=20 << 20)
    async with aclosing(
        FioLoad(ScriptedHost(ScriptedProcess([written]))).layout(target, tmp_path, asyncio.Event())
    ) as events:
        figures = verdict([event async for event in events])
    assert figures.status is RunStatus.FAILED
    assert "Only 10485760 of 20971520" in (figures.reason or "")


@pytest.mark.parametrize("path", ["/dev/raidbench-typo", "/nowhere/x", "/proc/x", "/tmp"])
async def test_a_file_is_laid_out_only_where_files_belong(tmp_path: Path, path: str) -> None:
    target = JobTarget(path=path, name=path, kind=TargetKind.FILE, size=1 << 20)
    with pytest.raises(InvalidValueError):
        await anext(FioLoad(ScriptedHost()).layout(target, tmp_path, asyncio.Event()))


async def test_a_device_is_never_laid_out(tmp_path: Path) -> None:
    target = JobTarget(path="/dev/sdb", name="/dev/sdb", kind=TargetKind.BLOCK, size=1 << 20)
    with pytest.raises(InvalidValueError):
        await anext(FioLoad(ScriptedHost()).layout(target, tmp_path, asyncio.Event()))
