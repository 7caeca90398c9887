"""What each member of a real array does: shares against fio's own disk statistics, and members that fail on the way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from app.core.benchmark.device_stats import member_meter
from app.core.benchmark.runner import BenchmarkRequest
from app.core.fio.job import Job
from app.core.session.results import MemberStats, RunStatus
from app.core.session.state import RunRecord
from app.core.workbench import Workbench
from backends.system.local import LocalHost
from tests.lab.disks import Disks
from tests.lab.making import Dm, Made, Md
from tests.lab.results import Results
from tests.lab.running import Outcome, run

READS = {"rw": "randread", "bs": "4k", "iodepth": "8", "runtime": "3", "ramp": "0", "ioengine": "libaio"}
CLOSE = 0.02
"""How far a share may be from fio's."""

pytestmark = [pytest.mark.seconds(240), pytest.mark.vendors("block", "md")]


async def beside_fio(made: Made, *words: str) -> tuple[tuple[MemberStats, ...], dict[str, dict[str, Any]]]:
    """What the meter says of the members while fio runs for three seconds, and fio's own statistics by kernel name.

    Not a run of the product: a device that it measures is held open, and fio, which does not follow the link to it,
    keeps no statistics then.
    """
    meter = await member_meter(LocalHost(), (made.device,))
    target = (f"--filename={made.device}", "--size=32m", "--runtime=3", "--time_based", "--thread")
    argv = (
        "fio",
        "--name=lab",
        *target,
        "--direct=1",
        "--ioengine=libaio",
        "--iodepth=8",
        "--bs=4k",
        "--output-format=json",
        "--eta=never",
    )
    await meter.begin()
    told = json.loads(await asyncio.to_thread(run, *argv, *words))
    await meter.take()
    return await meter.total(), {disk["name"]: disk for disk in told["disk_util"]}


def differs(members: tuple[MemberStats, ...], fio: dict[str, dict[str, Any]], depth: int = 0) -> float:
    """The largest difference between a share and fio's."""
    row = [member for member in members if member.depth == depth]
    distances = []
    for key, share in (("read_ios", "share_of_reads"), ("write_ios", "share_of_writes")):
        total = sum(fio[member.device][key] for member in row)
        if total > 100:  # of a few stray ones no share can be told
            distances += [abs(getattr(member, share) - fio[member.device][key] / total) for member in row]
    assert distances
    return float(max(distances))


@pytest.mark.parametrize(
    ("level", "flag", "expected"),
    [
        ("raid1", False, "some on each"),
        ("raid1", True, "all on the NVMe disk"),
        ("raid10", True, "some on each"),  # md heeds the flag in RAID 1 only
    ],
)
async def test_shares_of_a_mirror_of_nvme_and_sata(
    array: Callable[..., Md], disks: Disks, table: Results, level: str, flag: bool, expected: str
) -> None:
    fast, slow = disks["nvme0"].kernel, disks["sata0"].kernel
    made = array(level, ["nvme0", "sata0"])
    if flag:
        made.write(f"md/dev-{slow}/state", "writemostly")
    members, fio = await beside_fio(made, "--rw=randrw", "--rwmixread=75")
    share = of(members, fast).share_of_reads or 0.0
    reads = share > 0.99 if expected == "all on the NVMe disk" else 0.05 < share < 0.95
    same = differs(members, fio) < CLOSE
    name = f"{level} of NVMe and SATA{', SATA write-mostly' if flag else ''}"
    assert table.add("Members", name, "share of reads, as fio counts it", expected, ok=reads and same)
    assert of(members, slow).role == ("write-mostly" if flag else "")


async def test_parity_is_spread_over_all_members(array: Callable[..., Md], table: Results) -> None:
    members, fio = await beside_fio(
        array("raid5", ["nvme0", "nvme1", "nvme2", "nvme3"], "--chunk=64"), "--rw=randwrite"
    )
    even = len(members) == 4 and all(0.15 < (member.share_of_writes or 0.0) < 0.35 for member in members)
    same = differs(members, fio) < CLOSE
    assert table.add("Members", "raid5 of 4", "share of writes", "a quarter each, as fio counts it", ok=even and same)


async def test_nested_arrays_are_counted_at_both_depths(array: Callable[..., Md], table: Results) -> None:
    lower = [array("raid5", names) for names in (["nvme0", "nvme1", "nvme2"], ["scsi0", "scsi1", "scsi2"])]
    members, fio = await beside_fio(array("raid0", lower, "--chunk=64"), "--rw=randread")
    depths = [member.depth for member in members] == [0, 1, 1, 1, 0, 1, 1, 1]
    same = max(differs(members, fio, depth) for depth in (0, 1)) < CLOSE
    assert table.add("Members", "raid0 over 2 raid5", "shares at both depths", "as fio counts them", ok=same)
    assert depths


def test_one_run_tells_where_the_reads_of_a_mirror_go(
    raidbench: Callable[..., Outcome], array: Callable[..., Md], disks: Disks, table: Results
) -> None:
    made = array("raid1", ["nvme0", "sata0"])
    made.write(f"md/dev-{disks['sata0'].kernel}/state", "writemostly")
    words = [f"--{key}={value}" for key, value in READS.items()]
    told = raidbench("bench", made.device, *words, "--json").json["run"]["members"]
    seen = {member["device"]: (member["role"], round(member["share_of_reads"], 2)) for member in told}
    ok = seen == {disks["nvme0"].kernel: (None, 1.0), disks["sata0"].kernel: ("write-mostly", 0.0)}
    assert table.add("Members", "raid1, SATA write-mostly", "bench --json", "role and shares of both", ok=ok)


async def bench(workbench: Workbench, made: Made, fields: dict[str, str]) -> RunRecord:
    """A run on an array."""
    request = BenchmarkRequest(where=made.device, name=made.device, job=Job.from_fields(fields))
    return await workbench.jobs.measure(await workbench.jobs.prepare(request))


def of(members: tuple[MemberStats, ...], kernel: str) -> MemberStats:
    return next(member for member in members if member.device == kernel)


async def test_below_a_volume_is_the_array_and_below_that_its_disks(
    workbench: Workbench, array: Callable[..., Md], dm: Callable[[str], Dm]
) -> None:
    lower = array("raid1", ["nvme0", "sata0"])
    record = await bench(workbench, dm(f"0 32768 linear {lower.device} 0"), READS)
    assert [(member.device, member.depth) for member in record.figures.members][:1] == [(lower.kernel, 0)]
    assert sorted(member.depth for member in record.figures.members) == [0, 1, 1]


async def test_a_plain_disk_has_no_members(workbench: Workbench, disks: Disks) -> None:
    record = await bench(workbench, Made(disks["nvme0"].device), READS | {"runtime": "1"})
    assert record.figures.members == ()


async def test_a_disk_without_counters_says_so(workbench: Workbench, array: Callable[..., Md], disks: Disks) -> None:
    slow = disks["sata0"]
    made = array("raid1", ["nvme0", "sata0"])
    (slow.sysfs / "queue/iostats").write_text("0")
    try:
        record = await bench(workbench, made, READS | {"runtime": "1"})
    finally:
        (slow.sysfs / "queue/iostats").write_text("1")
    assert (
        of(record.figures.members, slow.kernel).read_iops,
        [member.share_of_reads for member in record.figures.members],
    ) == (
        None,
        [None, None],
    )


def all_read(members: tuple[MemberStats, ...]) -> bool:
    return bool(members) and all(member.read_iops for member in members)


async def during(workbench: Workbench, made: Made, deed: Callable[[], object]) -> RunRecord:
    """A run of six seconds in the middle of which something happens."""
    running = asyncio.create_task(bench(workbench, made, READS | {"runtime": "6"}))
    while workbench.session.active is None or not all_read(workbench.session.active.members):
        assert not running.done()
        await asyncio.sleep(0.1)
    await asyncio.to_thread(deed)
    return await running


async def test_a_member_that_fails_is_faulty_at_the_end(
    workbench: Workbench, array: Callable[..., Md], disks: Disks, table: Results
) -> None:
    made = array("raid5", ["nvme0", "nvme1", "nvme2"])
    failing = disks["nvme1"]
    record = await during(workbench, made, lambda: made.fail(failing.device))
    told = (record.figures.status, of(record.figures.members, failing.kernel).role) == (RunStatus.OK, "faulty")
    assert table.add("Members", "one of raid5 fails in a run", "its role", "faulty", ok=told)


async def test_a_member_that_is_taken_out_is_gone_and_what_it_did_is_kept(
    workbench: Workbench, array: Callable[..., Md], disks: Disks, unplug: Callable[[str], None], table: Results
) -> None:
    made = array("raid1", ["nvme3", "sata0"])
    taken = disks["nvme3"].kernel
    record = await during(workbench, made, lambda: unplug("nvme3"))
    told = (record.figures.status, of(record.figures.members, taken).role) == (RunStatus.OK, "gone")
    kept = (of(record.figures.members, taken).read_iops or 0) > 0
    assert table.add("Members", "one of raid1 is taken out in a run", "its role", "gone", ok=told and kept)
