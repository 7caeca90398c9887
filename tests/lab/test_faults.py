"""Devices that fail under a run: raidbench says what happened, its session is whole, and the next run works.

All of it in one session, as somebody would who goes on working.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from app.core.benchmark.runner import BenchmarkRequest, RunPlan
from app.core.fio.job import Job
from app.core.session.paths import Paths
from app.core.session.results import RunStatus
from app.core.session.state import RunRecord
from app.core.session.store import load
from app.core.workbench import Workbench
from backends.errors import DeviceGoneError, RaidbenchError
from backends.model import Scope, Target
from backends.system.local import LocalHost
from tests.lab.disks import Disk, Disks
from tests.lab.making import Dm, Made, Md, stop_md
from tests.lab.results import Results
from tests.lab.running import ask_only, run

BOTH = {"rw": "randrw", "bs": "4k", "iodepth": "8", "runtime": "5", "ramp": "0", "ioengine": "libaio"}
READS = BOTH | {"rw": "randread"}

Array = Callable[..., Md]
Blank = Callable[..., tuple[Disk, ...]]
Unplug = Callable[[str], None]
Deed = Callable[[Disk, Unplug], object]

pytestmark = [pytest.mark.seconds(240), pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bench(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Workbench]:
    """One session for all faults."""
    base = tmp_path_factory.mktemp("state")
    paths = Paths(sessions=base / "sessions", journal=base / "journal", locks=base / "locks", config=base / "c.toml")
    opened = Workbench(LocalHost(), paths=paths)
    await opened.open()
    with pytest.MonkeyPatch.context() as patch:
        ask_only(patch, "block", "md")
        yield opened
    opened.close()


async def prepared(bench: Workbench, device: str, fields: dict[str, str] = BOTH) -> RunPlan:
    return await bench.jobs.prepare(BenchmarkRequest(where=device, name=device, job=Job.from_fields(fields)))


async def during(bench: Workbench, made: Made, deed: Callable[[], object], fields: dict[str, str] = BOTH) -> RunRecord:
    """A run in the middle of which something happens; its session is whole and no fio is left."""
    running = asyncio.create_task(bench.jobs.measure(await prepared(bench, made.device, fields)))
    while bench.session.active is None or len(bench.session.active.samples) < 3:
        if running.done():
            await running
            raise AssertionError("the run was over before anything could happen")
        await asyncio.sleep(0.1)
    await asyncio.to_thread(deed)
    record = await running
    assert bench.folder is not None
    assert load(bench.folder).session.runs == bench.session.runs
    assert all(run.end is not None for run in bench.session.runs)
    assert processes("fio") == []
    return record


def processes(name: str) -> list[int]:
    """Process ids by program name."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended meanwhile
            if (folder / "comm").read_text().strip() == name:
                found.append(int(folder.name))
    return found


def said(record: RunRecord) -> str:
    """Everything that the person is told of a run."""
    figures = record.figures
    return "\n".join((figures.status, *filter(None, (figures.reason, figures.hint, *figures.warnings))))


def failed(record: RunRecord, words: str) -> bool:
    """Whether it failed, in these words and with something to do next."""
    text = said(record)
    return record.figures.status is RunStatus.FAILED and words in text and bool(record.figures.hint)


async def test_one_of_raid5_fails_and_the_array_is_not_stopped_under_the_run(
    bench: Workbench, array: Array, disks: Disks, table: Results
) -> None:
    made = array("raid5", ["nvme0", "nvme1", "nvme2"])
    name = disks["nvme1"].kernel

    def deed() -> None:
        run("mdadm", "--stop", made.device, status=1)
        made.fail(f"/dev/{name}")

    record = await during(bench, made, deed)
    text = said(record)
    told = f"{name} failed during the run and is marked faulty" in text and "now degraded (1 of 3" in text
    ok = record.figures.status is RunStatus.OK and told
    assert table.add("Faults", "one member of raid5 fails", "what is said", "ok, names it, degraded", ok=ok)


async def test_two_of_raid5_fail(bench: Workbench, array: Array, disks: Disks, table: Results) -> None:
    made = array("raid5", ["nvme0", "nvme1", "nvme2"])

    def deed() -> None:
        made.fail(disks["nvme1"].device)
        run("mdadm", made.device, "--fail", disks["nvme2"].device, status=None)  # mdadm says that it is busy

    # Long: the array ends the run, and on a slow machine the second drive fails seconds after the first.
    record = await during(bench, made, deed, BOTH | {"runtime": "90"})
    ok = failed(record, f"The array has failed: {made.kernel} (raid5) lacks 2 of its 3 members")
    assert table.add("Faults", "two members of raid5 fail", "what is said", "failed: misses 2 of 3", ok=ok)


async def test_one_of_raid1_is_taken_out(
    bench: Workbench, array: Array, unplug: Unplug, disks: Disks, table: Results
) -> None:
    made = array("raid1", ["nvme3", "sata0"])
    name = disks["nvme3"].kernel
    record = await during(bench, made, lambda: unplug("nvme3"))
    text = said(record)
    told = f"{name} disappeared during the run" in text and "now degraded (1 of 2" in text
    ok = record.figures.status is RunStatus.OK and told
    assert table.add("Faults", "one member of raid1 is taken out", "what is said", "ok, names it, degraded", ok=ok)


@dataclass(frozen=True)
class Leaving:
    """A disk that goes."""

    fault: str
    disk: str
    deed: Deed
    words: str
    back: bool = False
    """Whether it is still there, and comes back by a word."""


def switch(disk: Disk, word: str) -> None:
    (disk.sysfs / "device/state").write_text(f"{word}\n")  # the kernel insists on the line's end


LEAVING = (
    Leaving("NVMe drive is taken out", "nvme3", lambda disk, unplug: unplug(disk.name), "disappeared"),
    Leaving("SCSI disk is taken out", "scsi2", lambda disk, unplug: unplug(disk.name), "disappeared"),
    Leaving("SATA disk is deleted", "sata1", lambda disk, unplug: unplug(disk.name), "disappeared"),
    Leaving("SCSI disk is set offline", "scsi1", lambda disk, _: switch(disk, "offline"), "is offline", back=True),
)


@pytest.mark.parametrize("fault", LEAVING, ids=lambda fault: fault.fault)
async def test_a_disk_leaves(bench: Workbench, blank: Blank, unplug: Unplug, table: Results, fault: Leaving) -> None:
    (disk,) = blank(fault.disk)
    try:
        record = await during(bench, Made(disk.device), lambda: fault.deed(disk, unplug))
        again = await refused_or_failed(bench, disk.device)
    finally:
        if fault.back:
            switch(disk, "running")
    ok = failed(record, fault.words) and disk.kernel in said(record)
    assert table.add("Faults", fault.fault, "what is said", f"failed: {fault.words}", ok=ok)
    no_file = again and (fault.back or not Path(disk.device).exists())
    assert table.add("Faults", fault.fault, "measured again", "not done, no file in its place", ok=no_file)


async def refused_or_failed(bench: Workbench, device: str) -> bool:
    """Whether a run there does not come off, and that is said with what to do next."""
    try:
        record = await bench.jobs.measure(await prepared(bench, device))
    except RaidbenchError as error:
        return bool(error.hint)
    return failed(record, "")


async def test_reads_and_writes_begin_to_fail(
    bench: Workbench, blank: Blank, dm: Callable[[str], Dm], table: Results
) -> None:
    (disk,) = blank("scsi0")
    made = dm(f"0 65536 linear {disk.device} 0")
    record = await during(bench, made, lambda: made.load("0 65536 error"), BOTH | {"runtime": "20"})
    # Another table is looked for every second: whichever comes first is told, fio's error or that.
    ok = (failed(record, "I/O error (EIO)") and "at byte" in said(record)) or "dmsetup table" in said(record)
    assert table.add("Faults", "dm-error under fio", "what is said", "failed: EIO, where", ok=ok), said(record)


async def test_a_device_works_only_now_and_then(
    bench: Workbench, blank: Blank, dm: Callable[[str], Dm], table: Results
) -> None:
    (disk,) = blank("scsi0")
    made = dm(f"0 65536 linear {disk.device} 0")
    long = BOTH | {"runtime": "20"}  # the first failure ends it; a second may be long gone on a busy machine
    record = await during(bench, made, lambda: made.load(f"0 65536 flakey {disk.device} 0 1 4"), long)
    assert table.add("Faults", "dm-flakey under fio", "what is said", "failed: EIO", ok=failed(record, "EIO"))


async def test_a_medium_error(bench: Workbench, scsi_debug: Callable[..., Made], table: Results) -> None:
    made = scsi_debug(opts=2)  # ten unreadable sectors at 0x1234
    record = await bench.jobs.measure(await prepared(bench, made.device, READS | {"rw": "read", "bs": "64k"}))
    ok = failed(record, "could not read the data (ENODATA): read at byte 2359296")
    assert table.add("Faults", "medium error of scsi_debug", "what is said", "failed: ENODATA, where", ok=ok)


async def test_bad_blocks(bench: Workbench, null_blk: Callable[..., Made], table: Results) -> None:
    made = null_blk(memory_backed=1)
    bad = Path("/sys/kernel/config/nullb") / made.kernel / "badblocks"
    record = await during(bench, made, lambda: bad.write_text("+65536-66536"), READS)
    assert table.add("Faults", "bad blocks of null_blk", "what is said", "failed: EIO", ok=failed(record, "EIO"))


async def test_a_device_stands_still_for_six_seconds(
    bench: Workbench, blank: Blank, dm: Callable[[str], Dm], table: Results
) -> None:
    (disk,) = blank("scsi0")
    made = dm(f"0 65536 linear {disk.device} 0")

    def deed() -> None:
        made.suspend()
        time.sleep(6)
        made.resume()

    record = await during(bench, made, deed, BOTH | {"runtime": "9"})
    read = record.figures.read
    slowest = 0 if read is None or read.latency_ns.max is None else read.latency_ns.max
    ok = record.figures.status is RunStatus.FAILED and slowest > 5e9 and "No I/O completed for" in said(record)
    assert table.add("Faults", "dm suspended for 6 s", "what is said", "failed: it stood still", ok=ok), said(record)


async def test_an_array_is_stopped_before_the_run_and_before_the_change(
    bench: Workbench, array: Array, table: Results
) -> None:
    made = array("raid5", ["nvme0", "nvme1", "nvme2"])
    ready = await prepared(bench, made.device)
    md = Target(backend="md", address=made.kernel, scope=Scope.ARRAY)
    change = await bench.hardware.plan(md, "stripe_cache_size", "1024")
    stop_md(made)
    for what, deed in (("run", lambda: bench.jobs.measure(ready)), ("change", lambda: bench.changes.apply(change))):
        with pytest.raises(DeviceGoneError):
            await deed()
        assert table.add("Faults", "array stopped meanwhile", what, "refused: it is gone", ok=True)
    other = array("raid5", ["nvme0", "nvme1", "nvme2"])
    assert other.device == made.device
    for what, deed in (("run", lambda: bench.jobs.measure(ready)), ("change", lambda: bench.changes.apply(change))):
        with pytest.raises(DeviceGoneError, match="is now a different device"):
            await deed()
        assert table.add("Faults", "another array under its name", what, "refused: it is another", ok=True)
    assert other.read("md/stripe_cache_size") == "256"


async def test_after_all_of_that_the_next_run_works(bench: Workbench, disks: Disks, table: Results) -> None:
    record = await bench.jobs.measure(await prepared(bench, disks["sata2"].device, READS | {"runtime": "1"}))
    ok = record.figures.status is RunStatus.OK and not record.figures.warnings
    assert table.add("Faults", "after all of these", "the next run", "ok, nothing to be said", ok=ok)
