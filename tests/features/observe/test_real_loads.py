"""Real loads of fio on loop devices: what is seen of them is what fio says that it did."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.features.observe.observer import Observation, Observer
from app.features.observe.presentation import observation_lines
from backends.system.local import LocalHost
from tests.backends.loops import Loop, loop, needs_loops, run
from tests.packages import needs

pytestmark = [needs_loops(), pytest.mark.fio]


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Loop]:
    """A loop device of our own."""
    with loop(tmp_path / "disk") as made:
        yield made


async def seen_of(device: Loop, *jobs: str) -> tuple[Observation, dict[str, Any]]:
    """What is seen of jobs of fio from their start to their end, and what fio says of them, by name."""
    observer = Observer(LocalHost(), device.name)
    await observer.open()
    options = ("--direct=1", "--ioengine=libaio", "--output-format=json", f"--filename={device.sure()}")
    words = ("fio", *options, *(word for job in jobs for word in job.split()))
    fio = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    output = asyncio.create_task(fio.communicate())
    seen = await observer.run(60, output.done)
    said = json.loads((await output)[0])
    return seen, {job["jobname"]: job for job in said["jobs"]}


READS = "--name=reads --rw=randread --bs=8k --rate_iops=300 --number_ios=1200 --iodepth=4"
MOST_READ_AT_ONCE = 1 << 20
"""Bytes of the longest request that the kernel makes of a read."""
WRITES = "--name=writes --rw=randwrite --bs=16k --rate_iops=80 --number_ios=320 --fdatasync=1"


@needs("fio")
@pytest.mark.exhaustive
async def test_numbers_and_sizes_of_a_known_load_are_those_of_fio(device: Loop) -> None:
    seen, jobs = await seen_of(device, READS, WRITES)
    assert seen.target.rates is not None
    done = seen.target.rates.done
    reads, writes = jobs["reads"]["read"]["total_ios"], jobs["writes"]["write"]["total_ios"]
    flushes = writes - 1  # none after the last
    assert (reads, writes) == (1200, 320)
    others = done.reads - reads  # Other tests look at every block device meanwhile, loop devices too.
    assert 0 <= others <= reads * 0.02
    assert 0 <= done.sectors_read * 512 - reads * 8192 <= others * MOST_READ_AT_ONCE
    assert done.flushes == pytest.approx(flushes, rel=0.02)
    assert done.writes - done.flushes == pytest.approx(writes, rel=0.02)
    assert done.sectors_written * 512 / writes == pytest.approx(16384, rel=0.02)
    assert seen.target.rates.read_iops == pytest.approx(reads / seen.seconds, rel=0.05)


STEADY = "--name=steady --rw=randread --bs=4k --rate_iops=1000 --iodepth=4"
FAST = "--name=fast --rw=randread --bs=4k --iodepth=8"
PAUSES = "--name=pauses --rw=randwrite --bs=4k --iodepth=32 --thinktime=500000 --thinktime_blocks=300"


@needs("fio")
@pytest.mark.exhaustive
@pytest.mark.parametrize("job", [STEADY, FAST, PAUSES])
async def test_only_a_load_with_pauses_comes_in_bursts(device: Loop, job: str) -> None:
    seen, _ = await seen_of(device, f"{job} --time_based --runtime=12")
    assert seen.target.bursts == ("yes" if job == PAUSES else "no"), observation_lines(seen)


@needs("partx")
async def test_a_partition_that_disappears_is_not_known_from_then_on(device: Loop) -> None:
    (node,) = device.partition((2048, 2048))
    observer = Observer(LocalHost(), Path(node).name)
    await observer.open()
    await observer.run(0.3, lambda: False)
    run("partx", "--delete", "--nr", "1", device.sure())
    seen = await observer.run(0.6, lambda: False)
    assert "not known: it disappeared after 0.3" in observation_lines(seen)[0].replace("300 ms", "0.3")
