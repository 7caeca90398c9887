"""fio of the rack on jobs of several sections: at the same time, and one phase after another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.core.fio.job import Job, Pattern
from app.core.fio.sections import JobSection, join_sections
from app.core.session.results import Phase, RunStatus
from tests.backends.simulator.asking import still_host
from tests.backends.simulator.loads import run

READER = Job(rw=Pattern.RANDREAD, runtime=6, ramp=0, iodepth=16)
WRITER = Job(rw=Pattern.WRITE, bs=65536, runtime=6, ramp=0, iodepth=4)


def beside(*jobs: Job, waits: tuple[int, ...] = ()) -> Job:
    return join_sections(
        [JobSection(name=f"s{number}", job=job, waits=number in waits) for number, job in enumerate(jobs)]
    )


async def test_sections_at_the_same_time_have_figures_of_their_own(tmp_path: Path) -> None:
    ran = await run(still_host(), beside(READER, WRITER), tmp_path)
    assert ran.figures.status is RunStatus.OK, ran.figures
    reader, writer = ran.figures.sections
    assert (reader.read is not None, reader.write, writer.read, writer.write is not None) == (True, None, None, True)
    assert ran.figures.seconds == pytest.approx(6)


async def test_sections_share_what_the_device_has(tmp_path: Path) -> None:
    alone = (await run(still_host(), replace(READER, iodepth=32), tmp_path)).figures.read
    both = (await run(still_host(), beside(READER, READER), tmp_path)).figures
    assert alone is not None
    assert both.read is not None
    assert both.read.iops == pytest.approx(alone.iops, rel=0.1)
    assert all(
        one.read is not None and one.read.iops == pytest.approx(alone.iops / 2, rel=0.1) for one in both.sections
    )


async def test_a_section_that_waits_starts_when_all_above_have_ended(tmp_path: Path) -> None:
    job = beside(READER, replace(WRITER, runtime=3), replace(READER, runtime=4, ramp=2), waits=(2,))
    ran = await run(still_host(), job, tmp_path)
    assert ran.figures.status is RunStatus.OK, ran.figures
    assert [round(one.seconds, 1) for one in ran.figures.sections] == [6.0, 3.0, 4.0]
    running = [[row.phase for row in one.sections] for one in ran.samples]
    assert not any(last is not None and first is not None for first, _, last in running)
    assert [Phase.MEASURING, None, None] in running
    assert {last for _, _, last in running} == {None, Phase.RAMP, Phase.MEASURING}


async def test_a_section_that_ends_by_amount_makes_way_for_the_next(tmp_path: Path) -> None:
    job = beside(replace(READER, number_ios=2000, runtime=60), replace(READER, runtime=3), waits=(1,))
    ran = await run(still_host(), job, tmp_path)
    assert ran.figures.status is RunStatus.OK, ran.figures
    first, second = ran.figures.sections
    assert first.read is not None
    assert first.read.total_ios == pytest.approx(2000, abs=32)
    assert second.seconds == pytest.approx(3, abs=0.1)
