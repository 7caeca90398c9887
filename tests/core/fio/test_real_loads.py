"""Trims, synchronous writes, kinds of data and options of io_uring, by the real fio."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.fio.job import Engine, Job, JobTarget, Pattern, TargetKind
from app.core.fio.job_values import DedupeMode, SyncMode
from app.core.fio.load import FioLoad
from app.core.fio.preflight import preflight
from app.core.session.event_types import SampleTaken, WorkloadFinished
from app.core.session.results import RunResult, RunStatus, Sample
from backends.system.local import LocalHost
from tests.backends import loops
from tests.packages import needs

pytestmark = [pytest.mark.fio, needs("fio")]

MIB = 1 << 20
SIZE = 8 * MIB
WRITE = Job(rw=Pattern.WRITE, bs=65536, runtime=60, ramp=0, io_size=SIZE)
"""Ends once all of the target is written."""


@pytest.fixture
def device(tmp_path: Path) -> Iterator[JobTarget]:
    """A loop device of our own whose file is full of ones."""
    with loops.loop(tmp_path / "image", size=SIZE) as made:
        (tmp_path / "image").write_bytes(b"\x01" * SIZE)
        yield JobTarget(path=made.sure(), name="loop", kind=TargetKind.BLOCK, size=SIZE)


@pytest.fixture
def scratch(tmp_path: Path) -> JobTarget:
    """A file of zeros."""
    path = tmp_path / "scratch.dat"
    path.write_bytes(bytes(SIZE))
    return JobTarget(path=str(path), name="scratch", kind=TargetKind.FILE, size=SIZE)


async def run(job: Job, target: JobTarget, folder: Path) -> tuple[RunResult, list[Sample]]:
    samples: list[Sample] = []
    async with aclosing(FioLoad(LocalHost()).run(job, [target], folder, asyncio.Event())) as events:
        async for event in events:
            match event:
                case SampleTaken(sample=sample):
                    samples.append(sample)
                case WorkloadFinished(figures=figures):
                    return figures, samples
                case _:
                    pass
    raise AssertionError("fio never finished")


# -- trims ------------------------------------------------------------------------------------------------------------


@pytest.mark.root
@loops.needs_loops()
async def test_a_trim_is_measured_and_the_data_are_gone(device: JobTarget, tmp_path: Path) -> None:
    job = Job(rw=Pattern.TRIM, bs=65536, iodepth=4, runtime=60, ramp=0, io_size=SIZE)
    figures, _ = await run(job, device, tmp_path)
    assert figures.status is RunStatus.OK, figures
    assert figures.trim is not None
    assert (figures.trim.total_bytes, figures.trim.total_ios) == (SIZE, SIZE // 65536)
    assert (figures.read, figures.write) == (None, None)
    assert figures.trim.latency_ns.p50
    assert not any((tmp_path / "image").read_bytes())


@pytest.mark.root
@loops.needs_loops()
async def test_trims_are_sampled_while_they_run(device: JobTarget, tmp_path: Path) -> None:
    job = Job(rw=Pattern.RANDTRIM, runtime=2, ramp=0, rate_iops=100)
    figures, samples = await run(job, device, tmp_path)
    assert figures.status is RunStatus.OK, figures
    assert figures.trim is not None
    assert figures.trim.iops <= 105
    seen = [sample.trim for sample in samples if sample.trim is not None]
    assert seen
    assert sum(part.ios for part in seen) <= figures.trim.total_ios


@pytest.mark.root
@loops.needs_loops()
async def test_trims_alternate_with_writes(device: JobTarget, tmp_path: Path) -> None:
    job = Job(rw=Pattern.RANDTRIMWRITE, runtime=60, ramp=0, number_ios=50)
    figures, _ = await run(job, device, tmp_path)
    assert figures.status is RunStatus.OK, figures
    assert figures.trim is not None
    assert figures.write is not None
    assert (figures.trim.total_ios, figures.write.total_ios) == (50, 50)


async def test_fio_trims_no_files(scratch: JobTarget, tmp_path: Path) -> None:
    """The reason why a file is refused before fio is asked."""
    figures, _ = await run(Job(rw=Pattern.TRIM, runtime=2, ramp=0), scratch, tmp_path)
    assert figures.status is RunStatus.FAILED
    assert "ENOTTY" in (figures.reason or "")
    assert "fio cannot trim files" in figures.hint


# -- synchronous writes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", SyncMode)
async def test_the_installed_fio_takes_both_modes(mode: SyncMode, scratch: JobTarget, tmp_path: Path) -> None:
    job = replace(WRITE, io_size=MIB, sync=mode, ioengine=Engine.PSYNC)
    await preflight(LocalHost(), job)
    figures, _ = await run(job, scratch, tmp_path)
    assert figures.status is RunStatus.OK, figures
    assert figures.write is not None
    assert figures.write.latency_ns.mean
    assert figures.sync is None


# -- data -------------------------------------------------------------------------------------------------------------


async def written(job: Job, scratch: JobTarget, folder: Path) -> bytes:
    figures, _ = await run(job, scratch, folder)
    assert figures.status is RunStatus.OK, figures
    return Path(scratch.path).read_bytes()


@pytest.mark.long
async def test_random_data_stay_as_large_and_compressible_data_do_not(scratch: JobTarget, tmp_path: Path) -> None:
    plain = len(zlib.compress(await written(WRITE, scratch, tmp_path), 1))
    half = len(zlib.compress(await written(replace(WRITE, buffer_compress_percentage=80), scratch, tmp_path), 1))
    assert plain > 0.8 * SIZE
    assert half < 0.5 * SIZE


@pytest.mark.long
async def test_duplicates_are_written(scratch: JobTarget, tmp_path: Path) -> None:
    def unique(data: bytes) -> int:
        return len({data[at : at + 4096] for at in range(0, SIZE, 4096)})

    blocks = SIZE // 4096
    small = replace(WRITE, bs=4096, refill_buffers=True)
    assert unique(await written(small, scratch, tmp_path)) == blocks
    copied = replace(WRITE, bs=4096, dedupe_percentage=80)
    assert unique(await written(copied, scratch, tmp_path)) < 0.4 * blocks
    among = replace(copied, dedupe_mode=DedupeMode.WORKING_SET, dedupe_working_set_percentage=5)
    assert unique(await written(among, scratch, tmp_path)) < 0.4 * blocks


@pytest.mark.long
@pytest.mark.parametrize(
    ("pattern", "block"), [("0xdeadbeef", b"\xde\xad\xbe\xef"), ('"abcd"', b"abcd"), ('0xff"abc"', b"\xffabc")]
)
async def test_a_pattern_is_written(pattern: str, block: bytes, scratch: JobTarget, tmp_path: Path) -> None:
    data = await written(replace(WRITE, buffer_pattern=pattern), scratch, tmp_path)
    assert data == block * (SIZE // 4)


@pytest.mark.long
async def test_zeros_and_unscrambled_data_are_written(scratch: JobTarget, tmp_path: Path) -> None:
    ones = replace(WRITE, buffer_pattern="0x01")
    assert await written(ones, scratch, tmp_path) == b"\x01" * SIZE
    assert not any(await written(replace(WRITE, zero_buffers=True), scratch, tmp_path))
    same = await written(replace(WRITE, scramble_buffers=False, ioengine=Engine.PSYNC), scratch, tmp_path)
    assert len({same[at : at + WRITE.bs] for at in range(0, SIZE, WRITE.bs)}) == 1


# -- io_uring ---------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [{"sqthread_poll": True}, {"fixedbufs": True}, {"registerfiles": True}, {"nonvectored": False}],
    ids=lambda options: next(iter(options)),
)
async def test_options_of_the_ring_work(options: dict[str, bool], scratch: JobTarget, tmp_path: Path) -> None:
    job = Job(ioengine=Engine.IO_URING, iodepth=4, runtime=60, ramp=0, number_ios=100, **options)  # type: ignore[arg-type]
    if (await preflight(LocalHost(), replace(job, **dict.fromkeys(options)))).refused:  # type: ignore[arg-type]
        pytest.skip("the kernel refuses io_uring")
    figures, _ = await run(job, scratch, tmp_path)
    assert figures.status is RunStatus.OK, figures
    assert figures.read is not None
    assert figures.read.total_ios == 100
