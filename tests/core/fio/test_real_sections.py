"""The real fio: sections of one job at the same time and in turn, against fio's own figures of the same file."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from app.core.fio.job import Job, JobTarget, TargetKind
from app.core.fio.jobfile import import_jobfile
from app.core.fio.load import FioLoad
from app.core.fio.sections import groups
from app.core.session.event_types import SampleTaken
from app.core.session.results import DirectionStats, RunStatus, Sample
from backends.system.local import LocalHost
from tests.core.fio.test_real_fio import collect, last_document, verdict
from tests.packages import needs

pytestmark = [pytest.mark.fio, pytest.mark.long, needs("fio")]

SIZE = 8 << 20
GLOBAL = "[global]\nbs=4k\nioengine=psync\ntime_based\nrate_iops=400\n"
BESIDE = GLOBAL + "[reader]\nrw=randread\nruntime=2\n[writer]\nrw=randwrite\nruntime=2\n"
IN_TURN = (
    GLOBAL
    + "[reader]\nrw=randread\nruntime=1\n[writer]\nrw=randwrite\nruntime=2\n"
    + "[check]\nstonewall\nrw=read\nruntime=2\nramp_time=1\n[beside]\nrw=randread\nruntime=1\n"
    + "[own]\nnew_group\nruntime=1\n"
)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> JobTarget:
    path = tmp_path_factory.mktemp("sections") / "scratch.dat"
    path.write_bytes(b"x" * SIZE)
    return JobTarget(path=str(path), name="scratch", kind=TargetKind.FILE, size=SIZE)


async def run(job: Job, target: JobTarget, folder: Path) -> tuple[Any, list[Sample]]:
    events = await collect(FioLoad(LocalHost()).run(job, [target], folder, asyncio.Event()))
    return verdict(events), [event.sample for event in events if isinstance(event, SampleTaken)]


def same(ours: DirectionStats | None, fios: dict[str, Any]) -> None:
    """The figures are those of fio: counts exactly, its rate as far as it is printed."""
    if not fios["total_ios"]:
        assert ours is None
        return
    assert ours is not None
    assert (ours.total_bytes, round(ours.runtime_s * 1000)) == (fios["io_bytes"], fios["runtime"])
    assert ours.total_ios == fios["lat_ns"]["N"]
    assert ours.latency_ns.mean == pytest.approx(fios["lat_ns"]["mean"], rel=1e-6)
    assert ours.iops == pytest.approx(fios["iops"], rel=0.02)


@pytest.mark.parametrize("text", [BESIDE, IN_TURN], ids=["beside", "in-turn"])
async def test_each_section_has_the_figures_that_fio_tells(text: str, scratch: JobTarget, tmp_path: Path) -> None:
    job = import_jobfile(text).combined_job.job
    figures, _ = await run(job, scratch, tmp_path)
    assert figures.status is RunStatus.OK, figures
    entries = last_document(tmp_path)["jobs"]
    assert isinstance(entries, list)
    assert len(entries) == len(job.sections) == len(figures.sections)
    for section, entry in zip(figures.sections, entries, strict=True):
        same(section.read, entry["read"])
        same(section.write, entry["write"])


async def test_a_reader_beside_a_writer_has_live_rows_of_its_own(scratch: JobTarget, tmp_path: Path) -> None:
    figures, samples = await run(import_jobfile(BESIDE).combined_job.job, scratch, tmp_path)
    assert len(samples) >= 4
    reads = sum(row.read.ios for one in samples for row in one.sections if row.read)
    writes = sum(row.write.ios for one in samples for row in one.sections if row.write)
    assert reads == pytest.approx(figures.read.total_ios, rel=0.3)
    assert writes == pytest.approx(figures.write.total_ios, rel=0.3)
    assert all([row.name for row in one.sections] == ["reader", "writer"] for one in samples)


async def test_phases_come_one_after_another(scratch: JobTarget, tmp_path: Path) -> None:
    figures, samples = await run(import_jobfile(IN_TURN).combined_job.job, scratch, tmp_path)
    assert figures.seconds == pytest.approx(2 + 2, abs=0.5)
    running = [{row.name for row in one.sections if row.read or row.write} for one in samples]
    assert not any(one & {"reader", "writer"} and one & {"check", "beside", "own"} for one in running)
    assert {"writer"} in running
    last = max(at for at, one in enumerate(running) if "writer" in one)
    assert last < min(at for at, one in enumerate(running) if "beside" in one)


async def test_the_groups_are_those_of_fio(scratch: JobTarget, tmp_path: Path) -> None:
    """The file as it was, read by fio itself: which sections it adds up, and that sums are made as it makes them."""
    job = import_jobfile(IN_TURN).combined_job.job
    figures, _ = await run(job, scratch, tmp_path)
    own = tmp_path / "own.fio"
    own.write_text(IN_TURN.replace("[global]\n", f"[global]\ngroup_reporting\nfilename={scratch.path}\nsize={SIZE}\n"))
    words = ["fio", "--output-format=json", "--eta=never", str(own)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path)
    entries = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    assert [entry["jobname"] for entry in entries] == [group[0].name for group in groups(job.sections)]
    assert [one.sections for one in figures.groups] == [("reader", "writer"), ("check", "beside"), ("own",)]
    for group, entry in zip(figures.groups, entries, strict=True):
        for name in ("read", "write"):
            side, fios = group.side(name), entry[name]
            assert (side is None) == (fios["total_ios"] == 0)
            if side is not None:
                assert side.runtime_s == pytest.approx(fios["runtime"] / 1000, abs=0.3)
                assert side.iops == pytest.approx(fios["iops"], rel=0.2)
