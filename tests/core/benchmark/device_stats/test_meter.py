"""What each member did, from two readings of the counters."""

from __future__ import annotations

import pytest

from app.core.benchmark.device_stats import MemberSampler, member_meter
from app.core.benchmark.device_stats.sampler import ROLES_EVERY
from app.core.session.results import MemberStats
from tests.backends.fakes import FakeHost
from tests.core.benchmark.device_stats.machines import STATS, meter, mirror, nested, stats, uncounted

FAST = {"reads": 300, "busy": 250, "waited": 2000}
SLOW = {"reads": 100, "writes": 40}
READS = stats(nvme0n1=FAST, sda=SLOW)
WITHOUT = stats(nvme0n1=FAST)


async def measured(host: FakeHost, *texts: str, device: str = "/dev/md0") -> MemberSampler:
    """A meter that began, and took a reading of each text, half a second apart."""
    made = await meter(host, device)
    await made.begin()
    for text in texts:
        host.files[STATS] = text
        await made.take()
    return made


def of(members: tuple[MemberStats, ...], device: str) -> MemberStats:
    return next(member for member in members if member.device == device)


async def test_a_first_reading_tells_nothing() -> None:
    assert await (await meter(mirror())).take() == ()


async def test_an_interval_is_the_difference_of_two_readings() -> None:
    made = await measured(mirror())
    made._host.files[STATS] = READS  # type: ignore[attr-defined]
    assert [member.read_iops for member in await made.take()] == [200.0, 600.0]


async def test_every_figure_is_per_second() -> None:
    disk = of(await (await measured(mirror(), READS)).total(), "nvme0n1")
    seen = (disk.read_bytes_per_second, disk.utilisation, disk.queue, disk.write_bytes_per_second)
    assert seen == (600 * 4096, 0.5, 4.0, 0.0)


async def test_writes_are_told_from_reads() -> None:
    disk = of(await (await measured(mirror(), READS)).total(), "sda")
    assert (disk.read_iops, disk.write_iops, disk.write_bytes_per_second) == (200.0, 80.0, 80 * 4096)


async def test_shares_are_of_all_members() -> None:
    members = await (await measured(mirror(), READS)).total()
    assert [(member.share_of_reads, member.share_of_writes) for member in members] == [(0.25, 1.0), (0.75, 0.0)]


async def test_without_reads_there_is_no_share_of_them() -> None:
    members = await (await measured(mirror(), stats(nvme0n1={"writes": 1}, sda={"writes": 1}))).total()
    assert [member.share_of_reads for member in members] == [None, None]


async def test_shares_of_a_nested_array_are_of_its_own_depth() -> None:
    text = stats(md1={"reads": 60}, sda={"reads": 20}, sdb={"reads": 60}, md2={}, sdc={"reads": 20}, sdd={})
    members = await (await measured(nested(), text)).total()
    assert [member.share_of_reads for member in members] == [1.0, 0.2, 0.6, 0.0, 0.2, 0.0]


async def test_no_disk_is_busier_than_all_the_time() -> None:
    text = stats(nvme0n1={"busy": 504}, sda={})
    assert of(await (await measured(mirror(), text)).total(), "nvme0n1").utilisation == 1.0


async def test_what_was_before_the_measuring_does_not_count() -> None:
    made = await measured(mirror(), READS)
    await made.begin()
    await made.take()
    assert [member.read_iops for member in await made.total()] == [0.0, 0.0]


async def test_the_whole_is_the_mean_over_all_readings() -> None:
    twice = stats(nvme0n1=FAST, sda=SLOW | {"reads": 500})
    assert of(await (await measured(mirror(), READS, twice)).total(), "sda").read_iops == 500.0


async def test_a_phase_without_an_interval_is_measured_up_to_its_end() -> None:
    made = await measured(mirror())
    made._host.files[STATS] = READS  # type: ignore[attr-defined]
    assert of(await made.total(), "sda").read_iops == 200.0


async def test_a_phase_heard_of_when_it_was_over_is_counted_from_before_the_job() -> None:
    made = await meter(mirror())
    await made.open()
    made._host.files[STATS] = READS  # type: ignore[attr-defined]
    await made.begin()
    members = await made.total(seconds=60)
    assert [(member.share_of_reads, member.share_of_writes) for member in members] == [(0.25, 1.0), (0.75, 0.0)]


async def test_a_phase_heard_of_in_time_is_counted_from_its_beginning() -> None:
    made = await meter(mirror())
    await made.open()
    made._host.files[STATS] = READS  # type: ignore[attr-defined]
    await made.begin()
    assert {member.read_iops for member in await made.total(seconds=0.5)} == {0.0}


async def test_what_never_began_has_no_figures() -> None:
    made = await meter(mirror())
    await made.take()
    assert await made.total() == ()


async def test_a_member_that_is_not_counted_has_no_figures_and_its_fellows_no_shares() -> None:
    members = await (await measured(uncounted(mirror(), "sda"), READS)).total()
    seen = [(member.read_iops, member.share_of_reads) for member in members]
    assert seen == [(None, None), (600.0, None)]


async def test_a_member_that_is_not_counted_is_not_gone() -> None:
    members = await (await measured(uncounted(mirror(), "sda"), READS)).total()
    assert of(members, "sda").role == "write-mostly"


async def test_a_member_that_vanishes_is_gone_and_keeps_what_it_did() -> None:
    disk = of(await (await measured(mirror(), READS, WITHOUT)).total(), "sda")
    assert (disk.role, disk.read_iops, disk.share_of_reads) == ("gone", 100.0, 0.25)


async def test_a_member_that_vanished_does_nothing_now() -> None:
    made = await measured(mirror(), READS)
    made._host.files[STATS] = WITHOUT  # type: ignore[attr-defined]
    disk = of(await made.take(), "sda")
    assert (disk.role, disk.read_iops) == ("gone", None)


async def test_a_member_that_comes_back_counts_on_from_nothing() -> None:
    back, more = (stats(nvme0n1=FAST, sda={"reads": reads}) for reads in (7, 27))
    disk = of(await (await measured(mirror(), READS, WITHOUT, back, more)).total(), "sda")
    assert (disk.role, disk.read_iops) == ("write-mostly", 60.0)


async def test_a_member_that_failed_in_the_run_says_so_at_the_end() -> None:
    host = mirror()
    made = await measured(host, READS)
    host.files["/sys/block/md0/md/dev-sda/state"] = "faulty"
    assert of(await made.total(), "sda").role == "faulty"


async def test_a_member_that_fails_is_seen_while_the_run_goes_on() -> None:
    host = mirror()
    made = await measured(host, *[READS] * (ROLES_EVERY - 1))
    host.files["/sys/block/md0/md/dev-nvme0n1/state"] = "faulty"
    assert of(await made.take(), "nvme0n1").role == "faulty"


async def test_counters_that_cannot_be_read_for_once_are_passed_over() -> None:
    host = mirror()
    made = await measured(host, READS)
    del host.files[STATS]
    nothing = await made.take()
    host.files[STATS] = stats(nvme0n1=FAST, sda=SLOW | {"reads": 200})
    await made.take()
    assert (nothing, of(await made.total(), "sda").read_iops) == ((), 200.0)


@pytest.mark.parametrize("devices", [(), ("/dev/sda",), ("/dev/none",)])
async def test_where_nothing_is_below_nothing_is_read(devices: tuple[str, ...]) -> None:
    host = mirror()
    made = await member_meter(host, devices)
    host.files.clear()
    await made.begin()
    assert (made.members, await made.take(), await made.total()) == ((), (), ())


async def test_a_kernel_without_counters_has_no_members() -> None:
    host = mirror()
    del host.files[STATS]
    assert (await member_meter(host, ("/dev/md0",))).members == ()


async def test_a_simulated_host_has_no_members() -> None:
    host = mirror()
    host.made_up = True
    assert (await member_meter(host, ("/dev/md0",))).members == ()
