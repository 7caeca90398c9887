"""Who the members are, from the kernel's own tree."""

from __future__ import annotations

import pytest

from app.core.benchmark.device_stats.member_devices import (
    LowerDevices,
    Member,
    find_below,
    find_below_file,
    read_roles,
    role_of,
)
from tests.backends.fakes import MOUNTS, FakeHost, disk, machine
from tests.backends.topology.test_stacking import cached, pools, volumes
from tests.case_loop import loop_over
from tests.core.benchmark.device_stats.machines import QUIET, array, mirror, nested


async def names(host: FakeHost, device: str = "md0") -> list[tuple[int, str]]:
    return [(member.depth, member.device) for member in (await find_below(host, device)).members]


async def one(host: FakeHost, device: str, below: str = "md0") -> Member:
    return next(member for member in (await find_below(host, below)).members if member.device == device)


async def test_a_plain_disk_has_none() -> None:
    assert await find_below(mirror(), "sda") == LowerDevices()


async def test_those_of_an_array_are_its_slaves() -> None:
    assert await names(mirror()) == [(0, "sda"), (0, "nvme0n1")]


async def test_those_of_a_nested_array_follow_it() -> None:
    assert await names(nested()) == [(0, "md1"), (1, "sda"), (1, "sdb"), (0, "md2"), (1, "sdc"), (1, "sdd")]


async def test_a_partition_is_counted_by_itself_and_named_after_its_disk() -> None:
    part = {"/sys/block/sda/sda2/partition": "2", "/sys/block/sda/sda2/dev": "8:2"}
    host = FakeHost(machine(disk("sda", device__model="SM883"), part, array("md0", sda2="in_sync")))
    found = await find_below(host, "md0")
    assert [(member.device, member.label) for member in found.members] == [("sda2", "SM883")]


async def test_below_a_partition_of_an_array_is_the_array() -> None:
    part = {"/sys/block/md1/md1p1/partition": "1", "/sys/block/md1/md1p1/dev": "259:9"}
    host = FakeHost(machine(disk("sda"), array("md1", sda="in_sync"), part, array("md0", "raid0", md1p1="in_sync")))
    assert await names(host) == [(0, "md1p1"), (1, "sda")]


async def test_a_disk_below_twice_is_there_once() -> None:
    volumes = [disk(name) | {f"/sys/block/{name}/slaves/sda": ""} for name in ("dm-1", "dm-2")]
    top = disk("dm-0") | {"/sys/block/dm-0/slaves/dm-1": "", "/sys/block/dm-0/slaves/dm-2": ""}
    assert await names(FakeHost(machine(disk("sda"), *volumes, top)), "dm-0") == [(0, "dm-1"), (1, "sda"), (0, "dm-2")]


async def test_a_ring_has_an_end() -> None:
    ring = [
        disk(name) | {f"/sys/block/{name}/slaves/{other}": ""} for name, other in (("dm-0", "dm-1"), ("dm-1", "dm-0"))
    ]
    assert await names(FakeHost(machine(*ring)), "dm-0") == [(0, "dm-1")]


async def roles(host: FakeHost, device: str) -> dict[str, str]:
    return {member.device: member.role for member in (await find_below(host, device)).members}


async def test_backing_and_cache_device_of_bcache_are_told_apart() -> None:
    assert await roles(cached(), "bcache0") == {"sda": "backing", "sdb": "cache"}


async def test_origin_and_cache_of_a_volume_are_told_apart_down_to_the_disks() -> None:
    found = await roles(volumes(), "dm-5")
    assert found == {
        "dm-1": "origin",
        "sda": "origin",
        "dm-3": "cache",
        "dm-2": "cache",
        "sdb": "cache",
        "dm-4": "cache metadata",
    }


async def test_a_disk_of_an_array_that_is_a_cache_is_a_plain_member_of_it() -> None:
    host = volumes()
    host.add("sdk")
    host.files |= array("md3", sdk="in_sync") | {"/sys/block/dm-2/slaves/md3": ""}
    found = await roles(host, "dm-5")
    assert (found["md3"], found["sdk"]) == ("cache", "")


async def test_the_halves_of_a_raid_volume_are_plain_members() -> None:
    assert await roles(volumes(), "dm-12") == {"dm-10": "", "sda": "", "dm-11": "metadata"}


async def test_the_devices_of_a_pool_are_below_its_volume() -> None:
    found = await roles(pools(), "zd0")
    wanted = {"sda1": "", "sdb": "", "sdc": "special", "sdd": "log", "sde": "cache", "sdf": "spare"}
    assert found == wanted


async def test_the_devices_of_a_pool_are_below_a_file_in_it() -> None:
    host = pools()
    host.files["/proc/self/mountinfo"] = f"{MOUNTS}\n40 25 0:44 / /srv rw - zfs cache/files rw"
    found = await find_below_file(host, "/srv/a/raidbench-scratch.dat")
    assert [member.device for member in found.members] == ["sdg"]
    assert [cache.shown for cache in found.caches] == ["ARC", "L2ARC"]


async def test_what_lies_below_a_device_of_a_pool_comes_after_it() -> None:
    host = pools()
    host.files["/proc/self/mountinfo"] = f"{MOUNTS}\n40 25 0:44 / /srv rw - zfs cache rw"
    host.add("sdx")
    host.files["/sys/block/sdg/slaves/sdx"] = ""
    found = await find_below_file(host, "/srv/f")
    assert [(member.depth, member.device) for member in found.members] == [(0, "sdg"), (1, "sdx")]


async def test_a_file_on_any_other_filesystem_has_none() -> None:
    assert await find_below_file(pools(), "/etc/fstab") == LowerDevices()


async def test_the_caches_are_those_of_the_device_and_of_what_lies_below() -> None:
    assert [cache.shown for cache in (await find_below(volumes(), "dm-5")).caches] == ["vg0/mail"]
    assert [cache.shown for cache in (await find_below(cached(), "bcache0")).caches] == ["bcache0"]
    assert [cache.shown for cache in (await find_below(pools(), "zd0")).caches] == ["ARC", "L2ARC"]
    assert (await find_below(volumes(), "dm-12")).caches == ()
    host = cached()
    host.add("dm-0", "bcache0")
    assert [cache.shown for cache in (await find_below(host, "dm-0")).caches] == ["bcache0"]


@loop_over(
    ("state", "role"),
    [
        ("in_sync", ""),
        ("in_sync,write_mostly", "write-mostly"),
        ("in_sync,failfast", ""),
        ("spare", "spare"),
        ("journal", "journal"),
        ("faulty,write_mostly", "faulty"),
        ("in_sync,replacement", "replacement"),
        ("in_sync,want_replacement", ""),
        ("", ""),
    ],
)
def test_roles_are_in_the_words_of_the_field(state: str, role: str) -> None:
    assert role_of(state) == role


async def test_a_member_has_the_role_that_md_says() -> None:
    assert [member.role for member in (await find_below(mirror(), "md0")).members] == ["write-mostly", ""]


async def test_the_last_disk_of_raid_4_has_the_parity() -> None:
    host = FakeHost(machine(disk("sda"), disk("sdb"), array("md0", "raid4", sda="in_sync", sdb="in_sync")))
    assert [member.role for member in (await find_below(host, "md0")).members] == ["", "parity"]


async def test_raid_5_spreads_it() -> None:
    host = FakeHost(machine(disk("sda"), disk("sdb"), array("md0", "raid5", sda="in_sync", sdb="in_sync")))
    assert [member.role for member in (await find_below(host, "md0")).members] == ["", ""]


async def test_roles_are_read_again() -> None:
    host = mirror()
    members = (await find_below(host, "md0")).members
    host.files["/sys/block/md0/md/dev-sda/state"] = "faulty"
    del host.files["/sys/block/md0/md/dev-nvme0n1/state"]
    assert await read_roles(host, members) == {"sda": "faulty", "nvme0n1": "removed"}


async def test_parity_stays_parity() -> None:
    host = FakeHost(machine(disk("sda"), disk("sdb"), array("md0", "raid4", sda="in_sync", sdb="in_sync")))
    assert (await read_roles(host, (await find_below(host, "md0")).members))["sdb"] == "parity"


async def test_a_volume_is_named_as_its_administrator_named_it() -> None:
    lower = disk("dm-1", dm__name="vg-data")
    top = disk("dm-0") | {"/sys/block/dm-0/slaves/dm-1": ""}
    assert (await one(FakeHost(machine(lower, top)), "dm-1", "dm-0")).label == "vg-data"


async def test_an_array_is_named_after_its_level() -> None:
    assert (await one(nested(), "md1")).label == "raid1"


async def test_a_model_steers_no_terminal() -> None:
    host = FakeHost(machine(disk("sda", device__model="A\x1b[2JB"), array("md0", sda="in_sync")))
    assert "\x1b" not in (await one(host, "sda")).label


async def test_a_disk_without_counters_is_known_as_such() -> None:
    host = FakeHost(machine(disk("sda", queue=QUIET), disk("sdb"), array("md0", sda="in_sync", sdb="in_sync")))
    assert [member.counted for member in (await find_below(host, "md0")).members] == [False, True]


@pytest.mark.parametrize(
    ("stat", "counted"), [("3697 0 29576 90 4 0 32 1 0 8 91", True), ("0 0 0 0 0 0 0 0 0 0 0", False)]
)
async def test_device_mapper_counts_whatever_stands_in_its_queue(stat: str, counted: bool) -> None:
    """Linux 6.1 begins with `iostats` 0 there and counts every request all the same."""
    below = disk("dm-1", queue=QUIET, dm__name="vg0-lv", slaves__sda="") | {"/sys/block/dm-1/stat": stat}
    above = disk("dm-2", dm__name="top") | {"/sys/block/dm-2/slaves/dm-1": ""}
    host = FakeHost(machine(disk("sda"), below, above))
    (first, *_) = (await find_below(host, "dm-2")).members
    assert (first.device, first.counted) == ("dm-1", counted)


async def test_a_disk_that_somebody_stopped_counting_is_not_counted_whatever_it_counted_before() -> None:
    quiet = disk("sda", queue=QUIET) | {"/sys/block/sda/stat": "3697 0 29576 90 4 0 32 1 0 8 91"}
    host = FakeHost(machine(quiet, disk("sdb"), array("md0", sda="in_sync", sdb="in_sync")))
    assert {one.device: one.counted for one in (await find_below(host, "md0")).members} == {"sda": False, "sdb": True}


@pytest.mark.parametrize(("slot", "role"), [("1", "rebuilding"), ("none", "spare"), ("", "spare")])
async def test_a_spare_that_has_a_place_is_being_rebuilt_and_serves_reads(slot: str, role: str) -> None:
    files = machine(disk("sda"), disk("sdb"), array("md0", sda="in_sync", sdb="spare"))
    host = FakeHost(files | {"/sys/block/md0/md/dev-sdb/slot": slot})
    below = (await find_below(host, "md0")).members
    assert {one.device: one.role for one in below} == {"sda": "", "sdb": role}
    assert await read_roles(host, below) == {"sda": "", "sdb": role}
