"""The rack's md arrays: what an NVMe and a SATA SSD as each other's copies do, as md, mdadm and article C say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from app.core.benchmark.device_stats.activity import ActivityMeter
from app.core.benchmark.device_stats.diskstats import DeviceRates, DiskCounters, parse
from app.core.benchmark.runner import BenchmarkRequest
from app.core.fio.job import Job, Pattern
from app.core.session.paths import Paths
from app.core.session.results import MemberStats
from app.core.workbench import Workbench
from app.features.advice.rules import advise
from backends.model import Scope, Target
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.lsi import demo_rack
from backends.simulator.queueing_model import IoPattern, predict
from backends.simulator.state_file import RackFile
from backends.testing.conformance import Conformance
from backends.vendors.mdraid.backend import MdRaid
from tests.backends.simulator.asking import FAST, NOW, ask, still_host, still_rack

RAID10, RAID1 = (Target(backend="md", address=name, scope=Scope.ARRAY) for name in ("md0", "md1"))
READS = IoPattern(sizes=((32768, 1.0),), depth=32)
MIX = replace(READS, read_share=0.75)


@pytest.mark.parametrize(
    ("device", "marked", "mix_reads", "mix_writes", "reads"),
    [
        ("sdf", False, 12_000, 4_020, 16_500),
        ("nvme1n1", False, 44_600, 14_900, 73_500),
        ("md0", False, 19_800, 6_610, 34_400),
        ("md0", True, 19_700, 6_595, 34_300),
    ],
)
def test_every_cell_of_article_c_is_met(device: str, marked: bool, mix_reads: int, mix_writes: int, reads: int) -> None:
    rack = still_rack()
    if marked:
        rack.md["md0"].write("dev-sdf/state", "writemostly")
    layout = rack.layout(device)
    assert layout is not None
    mix = predict(layout, MIX)
    assert mix.read is not None
    assert mix.write is not None
    found = (mix.read.iops, mix.write.iops, predict(layout, READS).iops)
    assert found == pytest.approx((mix_reads, mix_writes, reads), rel=0.05)


async def members(tmp_path: Path, array: str, marked: str = "", mix: bool = False) -> tuple[MemberStats, ...]:
    """What the drives of an array did in a run, as raidbench counted it."""
    host = still_host()
    paths = Paths(sessions=tmp_path / "s", journal=tmp_path / "j", locks=tmp_path / "l", config=tmp_path / "c")
    bench = Workbench(host, paths=paths, advisor=advise)
    await bench.open()
    if marked:
        await host.write(f"/sys/block/{array}/md/dev-{marked}/state", "writemostly")
    job = Job(rw=Pattern.RANDRW if mix else Pattern.RANDREAD, rwmixread=75, bs=32768, iodepth=32, runtime=5, ramp=1)
    ready = await bench.jobs.prepare(BenchmarkRequest(where=f"/dev/{array}", name=array, job=job))
    record = await bench.jobs.measure(ready, confirm=array)
    bench.close()
    return record.figures.members


@pytest.mark.parametrize(("mix", "share"), [(False, 0.52), (True, 0.55)])
async def test_raid_10_reads_the_slow_member_whatever_it_is_marked(tmp_path: Path, mix: bool, share: float) -> None:
    slow, fast = await members(tmp_path, "md0", marked="sdf", mix=mix)
    assert (fast.device, slow.device, slow.role) == ("nvme1n1", "sdf", "write-mostly")
    assert fast.share_of_reads == pytest.approx(share, abs=0.005)
    assert slow.share_of_reads == pytest.approx(1 - share, abs=0.005)


async def test_a_mirror_never_reads_its_write_mostly_member(tmp_path: Path) -> None:
    slow, fast = await members(tmp_path, "md1", marked="sdg")
    assert (fast.share_of_reads, slow.share_of_reads, slow.read_iops) == (1.0, 0.0, 0.0)
    assert fast.read_iops == pytest.approx(73_500, rel=0.05)


async def test_every_write_goes_to_both(tmp_path: Path) -> None:
    slow, fast = await members(tmp_path, "md0", mix=True)
    assert fast.write_iops == pytest.approx(slow.write_iops, rel=0.01)
    assert slow.utilisation == pytest.approx(0.98, abs=0.05)


async def counters(host: SimulatedHost, name: str) -> DiskCounters:
    return parse(await host.read("/proc/diskstats") or "", [name])[name]


async def test_the_kernel_counts_on_in_the_next_command(tmp_path: Path) -> None:
    file = tmp_path / "rack.json"
    first = SimulatedHost(RackFile(file, make=still_rack), speed=FAST)
    paths = Paths(sessions=tmp_path / "s", journal=tmp_path / "j", locks=tmp_path / "l", config=tmp_path / "c")
    bench = Workbench(first, paths=paths, advisor=advise)
    await bench.open()
    await bench.jobs.measure(
        await bench.jobs.prepare(BenchmarkRequest(where="/dev/md0", name="x", job=Job(runtime=2, ramp=0)))
    )
    bench.close()
    assert (await counters(first, "md0")).reads > 10_000
    assert await counters(SimulatedHost(RackFile(file), speed=FAST), "md0") == await counters(first, "md0")


async def test_a_mark_stays_over_commands_and_reboots(tmp_path: Path) -> None:
    file = tmp_path / "rack.json"
    host = SimulatedHost(RackFile(file, make=still_rack), speed=FAST)
    await host.write("/sys/block/md0/md/dev-sdf/state", "writemostly")
    await host.restart()
    later = SimulatedHost(RackFile(file), speed=FAST)
    assert await later.read("/sys/block/md0/md/dev-sdf/state") == "in_sync,write_mostly"
    assert "sdf[1](W)" in (await later.read("/proc/mdstat") or "")


async def test_what_the_kernel_does_not_keep_is_gone_after_a_reboot() -> None:
    host = still_host()
    await host.write("/sys/block/md0/md/sync_speed_max", "5000")
    await host.restart()
    assert await host.read("/sys/block/md0/md/sync_speed_max") == "200000 (system)"


async def test_a_reshape_takes_its_time_and_ends() -> None:
    moment = [NOW]
    host = SimulatedHost(demo_rack(lambda: moment[0]), speed=FAST)
    await ask(host, "mdadm", "--grow --chunk=256K /dev/md0", mutates=True)
    assert await host.read("/sys/block/md0/md/chunk_size") == "262144 (524288)"
    moment[0] += 1_000_000
    later = SimulatedHost(host.rack, speed=FAST)
    assert await later.read("/sys/block/md0/md/chunk_size") == "262144"
    assert await later.read("/sys/block/md0/md/sync_action") == "idle"


async def test_an_array_that_was_stopped_is_still_told_by_its_members() -> None:
    host = still_host()
    await ask(host, "mdadm", "--stop /dev/md0", mutates=True)
    assert await host.read("/sys/block/md0/md/level") is None
    assert "Raid Level : raid10" in (await ask(host, "mdadm", "--examine /dev/sdf")).stdout


@pytest.mark.parametrize("array", [RAID10, RAID1], ids=str, indirect=True)
class TestSimulatedMd(Conformance):
    """Time flies here, so that each reshape is over before the next look."""

    @pytest.fixture
    async def backend(self, array: Target) -> MdRaid:
        moments = count(NOW, 1e6)
        found = MdRaid(SimulatedHost(demo_rack(lambda: next(moments)), speed=FAST))
        assert (await found.inventory()).find(str(array)) is not None
        return found

    @pytest.fixture
    def array(self, request: pytest.FixtureRequest) -> Target:
        found: Target = request.param
        return found

    @pytest.fixture
    def targets(self, array: Target) -> tuple[Target, ...]:
        return (array,)


async def test_what_the_disks_do_now_is_shown_while_fio_runs_and_agrees_with_it(tmp_path: Path) -> None:
    host = still_host()
    paths = Paths(sessions=tmp_path / "s", journal=tmp_path / "j", locks=tmp_path / "l", config=tmp_path / "c")
    bench = Workbench(host, paths=paths, advisor=advise)
    seconds = count()
    meter = ActivityMeter(bench.host, clock=lambda: float(next(seconds)))
    seen: list[Mapping[str, DeviceRates]] = []

    async def take() -> None:
        await meter.take(("md1", "sdf", "nvme1n1", "sda"))
        seen.append(meter.rates)

    await bench.open()
    job = Job(rw=Pattern.RANDREAD, bs=32768, iodepth=32, runtime=5, ramp=0)
    await take()
    ready = await bench.jobs.prepare(BenchmarkRequest(where="/dev/md0", name="x", job=job))
    record = await bench.jobs.measure(ready)
    await take()
    await take()
    bench.close()
    busy, idle = seen[-2]["nvme1n1"], seen[-1]["nvme1n1"]
    fast = next(member for member in record.figures.members if member.device == "nvme1n1")
    assert busy.read_iops == pytest.approx(fast.read_iops, rel=0.05)
    assert busy.latency_ns == pytest.approx(busy.queue / busy.read_iops * 1e9, rel=0.01)  # Little's law
    assert (idle.read_iops, idle.utilisation, idle.latency_ns) == (0.0, 0.0, None)
    assert (seen[-2]["sda"].read_iops, "md1" in seen[-1]) == (0.0, True)
