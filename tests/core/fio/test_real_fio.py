"""The real fio: short runs on a scratch file."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest

from app.core.fio.document import FioDocument
from app.core.fio.job import Arrival, Engine, Job, JobTarget, Pattern, TargetKind
from app.core.fio.load import FioLoad
from app.core.fio.preflight import preflight
from app.core.fio.render import FILL_BLOCK, render
from app.core.fio.summary import FioResult, summarize
from app.core.session.event_types import CpuSampled, LoadEvent, PhaseChanged, SampleTaken, SteadyPlan, WorkloadFinished
from app.core.session.results import DirectionStats, Phase, RunResult, RunStatus, Sample
from backends.fio_buckets import bucket_of
from backends.system.local import LocalHost
from tests.backends import loops
from tests.core.fio import cut_runs
from tests.packages import needs

pytestmark = [pytest.mark.fio, needs("fio")]

MIB = 1 << 20
SIZE = 32 * MIB

HELD = Job(runtime=2, ramp=0, iodepth=8, rate_iops=2000)
"""As fast as it goes a run would only take the processor away from the other tests."""


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> JobTarget:
    """A file laid out with the real fio."""
    folder = tmp_path_factory.mktemp("scratch")
    target = JobTarget(path=str(folder / "a:file.dat"), name="scratch", kind=TargetKind.FILE, size=SIZE)
    events = asyncio.run(collect(FioLoad(LocalHost()).layout(target, folder, asyncio.Event())))
    assert verdict(events).status is RunStatus.OK, verdict(events)
    return target


async def collect(generator: AsyncGenerator[LoadEvent, None], stop: asyncio.Event | None = None) -> list[LoadEvent]:
    """All events; with `stop`, it is set after the second measured sample."""
    found: list[LoadEvent] = []
    async with aclosing(generator) as events:
        async for event in events:
            found.append(event)
            if stop is not None and len(measured(found)) == 2:
                stop.set()
    return found


async def run(job: Job, target: JobTarget, folder: Path, stop: asyncio.Event | None = None) -> list[LoadEvent]:
    return await collect(FioLoad(LocalHost()).run(job, [target], folder, stop or asyncio.Event()), stop)


def verdict(events: list[LoadEvent]) -> RunResult:
    last = events[-1]
    assert isinstance(last, WorkloadFinished)
    return last.figures


def samples(events: list[LoadEvent]) -> list[Sample]:
    return [event.sample for event in events if isinstance(event, SampleTaken)]


def measured(events: list[LoadEvent]) -> list[Sample]:
    return [sample for sample in samples(events) if sample.phase is Phase.MEASURING]


def last_job(folder: Path) -> dict[str, Any]:
    jobs = last_document(folder)["jobs"]
    assert isinstance(jobs, list)
    entry = jobs[0]
    assert isinstance(entry, dict)
    return entry


def last_document(folder: Path) -> dict[str, object]:
    text = (folder / "fio.out").read_text()
    found = json.loads(text[text.rindex("\n{\n") if "\n{\n" in text else 0 :])
    assert isinstance(found, dict)
    return found


def test_a_layout_writes_every_byte(scratch: JobTarget) -> None:
    there = os.stat(scratch.path)
    assert there.st_size == SIZE
    assert there.st_blocks * 512 >= SIZE


@pytest.mark.long
async def test_a_reading_run_agrees_with_fios_own_summary(scratch: JobTarget, tmp_path: Path) -> None:
    events = await run(Job(runtime=3, ramp=0, iodepth=8), scratch, tmp_path)
    figures = verdict(events)
    own = last_document(tmp_path)["jobs"][0]["read"]  # type: ignore[index]
    assert figures.status is RunStatus.OK, figures
    assert figures.read is not None
    assert figures.read.iops == pytest.approx(own["iops"], rel=0.02)
    assert figures.read.total_ios == own["lat_ns"]["N"]
    for name, percent in (("p50", "50.000000"), ("p95", "95.000000"), ("p99", "99.000000"), ("p99_9", "99.900000")):
        ours, theirs = getattr(figures.read.latency_ns, name), own["lat_ns"]["percentile"][percent]
        assert abs(bucket_of(ours) - bucket_of(theirs)) <= 1


@pytest.mark.long
async def test_a_run_is_followed_from_its_first_second(scratch: JobTarget, tmp_path: Path) -> None:
    events = await run(replace(HELD, runtime=3), scratch, tmp_path)
    found = samples(events)
    reads = [sample.read for sample in found if sample.read]
    total = verdict(events).read
    assert total is not None
    assert len(found) >= 3 * 3
    assert found[0].at < 1
    assert all(before.at < after.at for before, after in zip(found, found[1:], strict=False))  # noqa: RUF007
    assert sum(part.ios for part in reads) == pytest.approx(total.total_ios, rel=0.2)
    assert all(part.p50_ns and part.max_ns and part.p50_ns <= part.max_ns * 1.02 for part in reads if part.ios)


@pytest.mark.long
async def test_the_ramp_comes_first_and_does_not_count(scratch: JobTarget, tmp_path: Path) -> None:
    events = await run(replace(HELD, ramp=1, numjobs=2), scratch, tmp_path)
    phases = [event.phase for event in events if isinstance(event, PhaseChanged)]
    assert phases == [Phase.PREPARING, Phase.RAMP, Phase.MEASURING, Phase.DONE]
    assert verdict(events).seconds == pytest.approx(2, abs=0.5)
    assert measured(events)[0].at < 1


@pytest.mark.long
async def test_a_mixed_run_has_both_directions(scratch: JobTarget, tmp_path: Path) -> None:
    events = await run(replace(HELD, rw=Pattern.RANDRW, rwmixread=75), scratch, tmp_path)
    figures = verdict(events)
    assert figures.status is RunStatus.OK, figures
    assert isinstance(figures.read, DirectionStats)
    assert isinstance(figures.write, DirectionStats)
    assert figures.read.total_ios / figures.write.total_ios == pytest.approx(3, rel=0.2)
    assert measured(events)[-1].write is not None


@pytest.mark.long
async def test_several_sequential_streams_run(scratch: JobTarget, tmp_path: Path) -> None:
    events = await run(replace(HELD, rw=Pattern.READ, bs=64 * 1024, numjobs=3, runtime=1), scratch, tmp_path)
    assert verdict(events).status is RunStatus.OK, verdict(events)


@pytest.mark.long
async def test_processor_time_is_seen(scratch: JobTarget, tmp_path: Path) -> None:
    events = await run(Job(runtime=2, ramp=0, iodepth=8), scratch, tmp_path)
    assert any(isinstance(event, CpuSampled) and event.fio_percent_of_core for event in events)
    assert verdict(events).cpu.fio_percent_of_core


async def test_a_stopped_run_keeps_its_summary(scratch: JobTarget, tmp_path: Path) -> None:
    events = await run(replace(HELD, runtime=30), scratch, tmp_path, asyncio.Event())
    figures = verdict(events)
    assert figures.status is RunStatus.STOPPED
    assert figures.read is not None
    assert 0 < figures.seconds < 30
    assert (figures.reason or "").startswith("Stopped after")


@pytest.mark.long
async def test_a_target_held_open_is_measured_through_its_descriptor(tmp_path: Path) -> None:
    path = tmp_path / "held"
    held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        there = f"/proc/{os.getpid()}/fd/{held}"
        target = JobTarget(path=there, name=str(path), kind=TargetKind.FILE, size=SIZE)
        laid_out = await collect(FioLoad(LocalHost()).layout(target, tmp_path, asyncio.Event()))
        written = await run(replace(HELD, rw=Pattern.RANDWRITE, runtime=1), target, tmp_path)
        read = await run(replace(HELD, runtime=1), target, tmp_path)
        assert [verdict(events).status for events in (laid_out, written, read)] == [RunStatus.OK] * 3
        assert os.fstat(held).st_ino == path.stat().st_ino
        assert path.stat().st_size == SIZE
    finally:
        os.close(held)


async def test_a_missing_file_is_a_failure_not_zero_iops(tmp_path: Path) -> None:
    target = JobTarget(path=str(tmp_path / "missing"), name="missing", kind=TargetKind.FILE, size=SIZE)
    figures = verdict(await run(Job(rw=Pattern.RANDWRITE, runtime=1, ramp=0), target, tmp_path))
    assert (figures.status, figures.read, figures.write) == (RunStatus.FAILED, None, None)
    assert not Path(target.path).exists()


@pytest.mark.long
async def test_a_file_smaller_than_said_is_a_failure(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.write_bytes(b"x" * 8192)
    target = JobTarget(path=str(small), name="small", kind=TargetKind.FILE, size=SIZE)
    figures = verdict(await run(Job(runtime=1, ramp=0), target, tmp_path))
    assert figures.status is RunStatus.FAILED
    assert small.stat().st_size == 8192


async def test_the_engines_of_this_fio_are_known() -> None:
    found = await preflight(LocalHost())
    assert "psync" in found.engines
    assert found.substitute(Job(ioengine=Engine.PSYNC))[0].ioengine is Engine.PSYNC


async def test_an_abandoned_run_leaves_no_fio(scratch: JobTarget, tmp_path: Path) -> None:
    job = replace(HELD, runtime=30, numjobs=4)
    fio = psutil.Process()
    async with aclosing(FioLoad(LocalHost()).run(job, [scratch], tmp_path, asyncio.Event())) as events:
        async for event in events:
            if isinstance(event, SampleTaken):
                (fio,) = [child for child in psutil.Process().children() if str(tmp_path) in " ".join(child.cmdline())]
                assert fio.num_threads() > 4  # threads, no forked workers
                assert not fio.children()
                break
    assert not fio.is_running()


@pytest.mark.long
@pytest.mark.parametrize("way", cut_runs.WAYS)
def test_a_workbench_cut_off_leaves_no_fio(tmp_path: Path, way: Callable[[subprocess.Popen[str]], None]) -> None:
    assert cut_runs.cut(tmp_path / "run", way, 0.1, late=30.0) == ""  # of 60, on a busy machine


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A loop device of our own with a small mounted filesystem: its name and where it is mounted."""
    with loops.loop(tmp_path / "image", size=24 * MIB) as made:
        loops.ext4(made.sure())
        with loops.mounted(made.device, tmp_path / "mnt") as where:
            yield made.device, where


@pytest.mark.root
@loops.needs_loops()
async def test_writing_to_a_mounted_device_is_a_failure(mounted: tuple[str, Path], tmp_path: Path) -> None:
    target = JobTarget(path=mounted[0], name=mounted[0], kind=TargetKind.BLOCK, size=24 * MIB)
    figures = verdict(await run(Job(rw=Pattern.RANDWRITE, runtime=1, ramp=0), target, tmp_path))
    assert figures.status is RunStatus.FAILED
    assert "mounted" in (figures.reason or "")


@pytest.mark.root
@loops.needs_loops()
async def test_a_full_filesystem_is_a_failure_in_words(mounted: tuple[str, Path], tmp_path: Path) -> None:
    target = JobTarget(path=str(mounted[1] / "big"), name="big", kind=TargetKind.FILE, size=64 * MIB)
    events = await collect(FioLoad(LocalHost()).layout(target, tmp_path, asyncio.Event()))
    figures = verdict(events)
    assert figures.status is RunStatus.FAILED
    assert "No space is left (ENOSPC)" in (figures.reason or "")


def rounds(**more: object) -> SteadyPlan:
    """Rounds of a second, three of them, however the machine behaves."""
    return replace(SteadyPlan(cap_s=3, round_s=1, window=3), **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def waited(scratch: JobTarget, tmp_path_factory: pytest.TempPathFactory) -> list[LoadEvent]:
    """The events of a run that waits for its steady state before it measures."""
    job = Job(rw=Pattern.RANDREAD, ioengine=Engine.PSYNC, runtime=2, ramp=1, rate_iops=500)
    folder = tmp_path_factory.mktemp("waited")
    run = FioLoad(LocalHost()).run(job, [scratch], folder, asyncio.Event(), steady=rounds(until=True))
    return asyncio.run(collect(run))


@pytest.mark.long
def test_what_is_measured_after_the_wait_is_as_long_as_asked_and_fio_is_ended(waited: list[LoadEvent]) -> None:
    figures = verdict(waited)
    assert (figures.status, figures.steady is not None and figures.steady.waited_s >= 2.5) == (RunStatus.OK, True)
    assert figures.seconds >= 1.96
    phases = [event.phase for event in waited if isinstance(event, PhaseChanged)]
    assert list(dict.fromkeys(phases))[1:4] == [Phase.RAMP, Phase.SETTLING, Phase.MEASURING]


@pytest.mark.long
def test_figures_of_the_window_are_those_of_its_samples(waited: list[LoadEvent]) -> None:
    read = verdict(waited).read
    assert read is not None
    window = measured(waited)
    assert read.total_ios == sum(sample.read.ios for sample in window if sample.read is not None)
    assert sum(count for _, count in read.bins) == pytest.approx(read.total_ios, abs=16)


async def test_a_file_is_filled_as_often_as_asked(scratch: JobTarget, tmp_path: Path) -> None:
    fill = FioLoad(LocalHost()).fill(scratch, tmp_path, asyncio.Event(), loops=2, engine=Engine.PSYNC, block=FILL_BLOCK)
    events = await collect(fill)
    figures = verdict(events)
    assert figures.write is not None
    assert (figures.status, figures.write.total_bytes) == (RunStatus.OK, 2 * SIZE)
    assert PhaseChanged(phase=Phase.FILLING, total_bytes=2 * SIZE) in events


@pytest.mark.parametrize(
    "texts",
    [
        {"rw": "randrw", "rwmixread": "75", "runtime": "2"},
        pytest.param({"bssplit": "4k/50:16k/50"}, marks=pytest.mark.long),
        {"bssplit": "4k/50:16k/50", "arrival": "poisson"},
    ],
)
async def test_a_rate_is_of_all_ios_of_whatever_kind(texts: dict[str, str], scratch: JobTarget, tmp_path: Path) -> None:
    job = Job.from_fields({"rate_iops": "200", "ioengine": "psync", "runtime": "4", "ramp": "0", **texts})
    figures = verdict(await run(job, scratch, tmp_path))
    both = [one.iops for one in (figures.read, figures.write) if one is not None]
    assert sum(both) == pytest.approx(200, rel=0.15), figures
    assert both[0] / sum(both) == pytest.approx(job.rwmixread / 100 if job.mixed else 1, abs=0.03)


@pytest.mark.long
@pytest.mark.parametrize(
    "texts",
    [
        {"rate": "1M"},
        {"rate": "1M", "arrival": "poisson"},
        {"thinktime": "2ms", "thinktime_blocks": "4"},
        {"random_distribution": "zipf:1.1"},
        {"random_distribution": "pareto:0.9"},
        {"random_distribution": "normal:20"},
        {"random_distribution": "zoned:60/10:30/20:10/70", "percentage_random": "70"},
        {"cpus_allowed": "0", "cpus_allowed_policy": "split", "numa_mem_policy": "local"},
        {"numa_cpu_nodes": "all"},
        {"number_ios": "1000"},
        {"number_ios": "20000", "size": "1M"},
        {"io_size": "64M"},
        {"io_size": "64M", "numjobs": "2", "rw": "read"},
        {"rw": "randwrite", "fdatasync": "16"},
    ],
    ids=" ".join,
)
async def test_the_real_fio_takes_every_field(texts: dict[str, str], scratch: JobTarget, tmp_path: Path) -> None:
    base = {"ioengine": "psync", "runtime": "1", "ramp": "0", "direct": "no"}
    if not {"rate", "number_ios", "io_size"} & texts.keys():
        base["rate_iops"] = "2000"
    figures = verdict(await run(Job.from_fields({**base, **texts}), scratch, tmp_path))
    assert figures.status is RunStatus.OK, figures


@pytest.mark.long
async def test_zipf_reaches_the_whole_region(scratch: JobTarget, tmp_path: Path) -> None:
    """A block of a different size than the alignment would leave most of it alone."""
    job = Job(bs=16384, blockalign=16384, random_distribution="zipf:1.1", ioengine=Engine.PSYNC, runtime=1, ramp=0)
    text = render(job, [scratch], jobfile="x").text + f"write_iolog={tmp_path}/log\n"
    (tmp_path / "job.fio").write_text(text)
    subprocess.run(
        ["fio", "--allow_file_create=0", "--readonly", str(tmp_path / "job.fio")], check=True, capture_output=True
    )
    places = [int(row.split()[-2]) for row in (tmp_path / "log").read_text().splitlines() if " read " in row]
    assert max(places) > 0.9 * SIZE


async def test_requests_arrive_as_asked(scratch: JobTarget, tmp_path: Path) -> None:
    job = Job(rate_iops=200, arrival=Arrival.POISSON, ioengine=Engine.PSYNC, runtime=1, ramp=0)
    assert verdict(await run(job, scratch, tmp_path)).status is RunStatus.OK
    assert '"rate_process" : "poisson"' in (tmp_path / "fio.out").read_text()


@pytest.mark.long
@pytest.mark.parametrize("flush", ["fsync", "fdatasync"])
async def test_flushes_are_those_of_fios_own_json(flush: str, scratch: JobTarget, tmp_path: Path) -> None:
    job = Job.from_fields(
        {"rw": "randwrite", flush: "4", "ioengine": "psync", "runtime": "2", "ramp": "1", "rate_iops": "2000"}
    )
    figures = verdict(await run(job, scratch, tmp_path))
    entry = last_job(tmp_path)
    told = entry["sync"]["lat_ns"]
    assert figures.sync is not None
    assert (figures.sync.total_ios, figures.sync.latency_ns.mean) == (told["N"], told["mean"])
    assert figures.sync.latency_ns.p50 == told["percentile"]["50.000000"]
    assert (figures.sync.latency_ns.min, figures.sync.latency_ns.max) == (told["min"], told["max"])


@pytest.mark.long
@pytest.mark.parametrize("engine", [Engine.PSYNC, Engine.LIBAIO])
async def test_at_depth_1_mean_latency_by_iops_is_1(engine: Engine, scratch: JobTarget, tmp_path: Path) -> None:
    """Little's law: what fio spends between two I/Os is the rest, more of it where others want the processor, too."""
    figures = verdict(await run(Job(ioengine=engine, runtime=3, ramp=1, bs=65536), scratch, tmp_path))
    assert figures.read is not None
    assert 0.8 < figures.read.iops * (figures.read.latency_ns.mean or 0) / 1e9 < 1.02


@pytest.mark.long
async def test_a_latency_is_fios_total_with_its_parts_beside_it(scratch: JobTarget, tmp_path: Path) -> None:
    figures = verdict(await run(replace(HELD, ramp=1), scratch, tmp_path))
    entry = last_job(tmp_path)
    read = figures.read
    assert read is not None
    assert read.completion_ns is not None
    assert read.submission_ns is not None
    kinds = {"lat_ns": read.latency_ns, "clat_ns": read.completion_ns, "slat_ns": read.submission_ns}
    for name, kept in kinds.items():
        assert kept.mean == entry["read"][name]["mean"]
    assert read.latency_ns.p99 == entry["read"]["lat_ns"]["percentile"]["99.000000"]
    assert read.completion_ns.p99 == entry["read"]["clat_ns"]["percentile"]["99.000000"]


async def test_a_run_that_fio_ends_at_once_with_status_0_is_a_failed_run(scratch: JobTarget, tmp_path: Path) -> None:
    """Block sizes of reads and writes that differ, zipf and random arrivals: no job of ours, and what if it were."""
    job = Job(rw=Pattern.RANDRW, ioengine=Engine.PSYNC, runtime=2, ramp=0, rate_iops=200, arrival=Arrival.POISSON)
    text = render(job, [scratch], jobfile="x").text.replace("bs=4k\n", "bssplit=4k/50:8k/50,16k/100\n")
    (tmp_path / "job.fio").write_text(text + "random_distribution=zipf:1.1\n")
    words = ("fio", "--output-format=json+", "--allow_file_create=0", str(tmp_path / "job.fio"))
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    figures = summarize(
        FioResult(document=FioDocument(json.loads(done.stdout)), returncode=done.returncode), job, [scratch]
    )
    assert figures.status is RunStatus.FAILED
