"""What promises more room than there is may be written to as far as there is room: on machines made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.guard import Intent, judge
from backends.host import FilesystemSpace
from backends.identity import Use
from backends.topology.facts import gather_facts
from backends.topology.thin_capacity import WHOLE, AllocatedRange, ThinCapacity, WriteRange, low_capacity_reasons
from backends.topology.thin_capacity_scan import capacities_at, refresh_capacities
from tests.backends.topology.test_stacking import said
from tests.backends.topology.thin_machines import (
    MIB,
    ThinMachine,
    counted,
    deduplicating,
    on_a_file,
    pooled,
    snapshotted,
    zfs_says,
    zvol,
)

REFUSED = "is the origin of the active snapshot vgA/snap."


async def judged(host: ThinMachine, name: str, mib: int | None = None) -> str:
    """Why so many MiB of it must not be written, all of it where none are named."""
    facts = await gather_facts(host, f"/dev/{name}", claim=lambda device, devno: None)
    return " ".join(judge(facts, Intent.WRITE, WriteRange(size=None if mib is None else mib * MIB)).refused)


@pytest.mark.parametrize("told", [True, False], ids=["by its table", "by LVM's marks"])
async def test_what_a_snapshot_was_taken_of_is_refused_and_the_snapshot_named(told: bool) -> None:
    assert f"/dev/vgA/linear {REFUSED}" in await judged(snapshotted(told=told), "dm-2", 1)


async def test_what_is_built_on_the_origin_of_a_snapshot_is_refused_too() -> None:
    host = snapshotted()
    host.mapped("dm-9", "crypt1", "crypt aes 0 253:2 0", "crypt", "dm-2", mib=64, dm__uuid="CRYPT-LUKS2-1-crypt1")
    assert (
        "/dev/mapper/crypt1 is built on /dev/mapper/vgA-linear, the origin of the active snapshot vgA/snap."
        in await judged(host, "dm-9", 1)
    )


async def test_a_snapshot_made_without_lvm_makes_its_origin_refused() -> None:
    host = snapshotted()
    for name in ("dm-0", "dm-1", "dm-2", "dm-3"):
        host.files[f"/sys/block/{name}/dm/uuid"] = ""
    assert "the origin of the active snapshot vgA-snap" in await judged(host, "dm-2", 1)


async def test_a_volume_whose_snapshot_is_gone_is_free() -> None:
    host = snapshotted()
    del host.files["/sys/block/dm-0/holders/dm-3"], host.files["/sys/block/dm-1/holders/dm-3"]
    host.tables["vgA-linear"] = f"0 131072 linear {host.number('dm-0')} 0"
    assert await said(host, "dm-2") == ""


@pytest.mark.parametrize("name", ["dm-0", "dm-1"])
async def test_the_hidden_parts_of_a_snapshot_are_refused(name: str) -> None:
    assert "vgA" in await judged(snapshotted(), name, 1)


async def test_a_snapshot_is_written_as_far_as_its_store_reaches() -> None:
    host = snapshotted()
    assert await judged(host, "dm-3", 14) == ""
    assert await judged(host, "dm-3", 15) == (
        "Not enough free space: writing 15 MiB of /dev/vgA/snap may need 15.1 MiB of the store of the snapshot "
        "vgA/snap, where 16 MiB of 16 MiB are free and 10 % must stay free."
    )


async def test_each_piece_that_a_snapshot_keeps_takes_an_entry_of_its_table_besides() -> None:
    host = snapshotted()
    [room] = await capacities_at(host, host.number("dm-3"))
    assert (room.unit, room.takes) == (4096, 4096 + 16)


async def test_what_a_snapshot_keeps_already_takes_no_room_twice() -> None:
    everything = snapshotted(64 * 2048 + 16, mib=66)
    assert await judged(everything, "dm-3") == ""
    assert await judged(snapshotted(32 * 2048 + 16, mib=66), "dm-3") != ""


async def test_a_snapshot_that_has_died_is_refused() -> None:
    host = snapshotted()
    host.states["vgA-snap"] = "0 131072 snapshot Invalid"
    assert "the free space there is unknown: it reports Invalid." in await judged(host, "dm-3", 1)


async def test_a_thin_volume_is_written_as_far_as_its_pool_reaches() -> None:
    assert await judged(pooled(used=10), "dm-3", 80) == ""
    assert await judged(pooled(used=10), "dm-3", 81) == (
        "Not enough free space: writing 81 MiB of /dev/vgA/thin may need 81 MiB of the thin pool vgA/pool, where 90 "
        "MiB of 100 MiB are free and 10 % must stay free. If it runs full, writes to vgA/mail fail as well."
    )
    assert await judged(pooled(total=560), "dm-3") == ""
    assert "writing all of /dev/vgA/thin may need 500 MiB" in await judged(pooled(total=550), "dm-3")


async def test_where_it_does_not_fit_more_room_is_advised_and_where_it_is_in_use_what_ends_that() -> None:
    facts = await gather_facts(pooled(used=90), "/dev/dm-3", claim=lambda device, devno: None)
    assert judge(facts, Intent.WRITE).hint == "Add free space first, or write less with a smaller --size."
    mounted = replace(facts, uses=(Use(kind="mount", detail="mounted on /srv"),))
    assert judge(mounted, Intent.WRITE).hint == "Unmount it first, or measure a scratch file on it."


async def test_the_metadata_of_the_pool_have_to_suffice_as_well() -> None:
    assert "of the metadata of the thin pool vgA/pool" in await judged(pooled(metadata="899/1000"), "dm-3", 80)
    assert await judged(pooled(metadata="800/1000"), "dm-3", 80) == ""


async def test_what_lies_in_the_pool_already_takes_no_room_twice() -> None:
    assert await judged(pooled(used=95, mapped=95, thins=1), "dm-3", 500) != ""
    assert await judged(pooled(used=500, mapped=500, total=505, thins=1), "dm-3") == ""


@pytest.mark.parametrize("why", ["an inactive volume", "common blocks", "lvs gives no answer"])
async def test_blocks_that_snapshots_may_have_in_common_take_room_again(why: str) -> None:
    host = pooled(used=500, mapped=500, total=505, thins=1)
    if why == "an inactive volume":
        counted(host, 2)
    elif why == "common blocks":
        host = pooled(used=500, mapped=500, total=505, thins=2)
        host.states["vgA-mail"] = host.states["vgA-thin"]
    else:
        host.silent.add("lvs")
    assert "may need 500 MiB of the thin pool vgA/pool" in await judged(host, "dm-3")


@pytest.mark.parametrize(
    ("pool", "why"),
    [
        (pooled(mode="out_of_data_space"), "the pool reports a fault (out_of_data_space)"),
        (pooled(mode="ro"), "the pool reports a fault (ro)"),
        (pooled(metadata="?/?"), "no source reports it"),
    ],
)
async def test_a_pool_in_trouble_is_written_to_by_nobody(pool: ThinMachine, why: str) -> None:
    assert f"the free space there is unknown: {why}." in await judged(pool, "dm-3", 1)


async def test_a_pool_that_has_failed_is_written_to_by_nobody() -> None:
    host = pooled()
    host.states["vgA-pool-tpool"] = "0 204800 thin-pool Fail"
    assert "the free space there is unknown: it reports Fail." in await judged(host, "dm-3", 1)


@pytest.mark.parametrize("silent", ["dmsetup", "dmsetup status", "dmsetup table"])
async def test_where_dmsetup_does_not_tell_nothing_thin_is_written(silent: str) -> None:
    host = pooled()
    host.silent.add(silent)
    assert "is thin-provisioned on the thin pool" in await judged(host, "dm-3", 1)


async def test_what_device_mapper_made_and_nothing_tells_of_is_not_written() -> None:
    host = pooled()
    host.add("sdb")
    host.mapped("dm-9", "strange", f"linear {host.number('sdb')} 0", "linear", "sdb", dm__uuid="odd")
    assert await judged(host, "dm-9", 1) == ""
    del host.tables["strange"]
    assert "dmsetup does not report its devices" in await judged(host, "dm-9", 1)


@pytest.mark.parametrize("uuid", ["CRYPT-LUKS2-1-x", "mpath-3600", "LVM-" + "g" * 64])
async def test_what_says_that_it_has_all_its_room_is_believed_without_dmsetup(uuid: str) -> None:
    host = ThinMachine()
    host.add("sda")
    host.mapped("dm-9", "vgA-plain", "linear 8:0 0", "linear", "sda", dm__uuid=uuid)
    host.silent.add("dmsetup")
    assert await capacities_at(host, host.number("dm-9")) == ()


async def test_what_is_built_on_a_thin_volume_takes_its_room() -> None:
    host = pooled(used=10)
    host.mapped("dm-9", "crypt1", "crypt aes 0 253:3 0", "crypt", "dm-3", dm__uuid="CRYPT-LUKS2-1-crypt1")
    assert await judged(host, "dm-9", 80) == ""
    assert "of the thin pool vgA/pool" in await judged(host, "dm-9", 81)


async def test_two_volumes_of_one_pool_beneath_one_device_take_room_twice() -> None:
    host = pooled(used=10)
    host.add("md0", "dm-3", "dm-4", size=str(500 * 2048))
    assert await judged(host, "md0", 40) == ""
    assert "writing 41 MiB of /dev/md0 may need 82 MiB of the thin pool vgA/pool" in await judged(host, "md0", 41)


async def test_a_vdo_volume_is_written_as_far_as_its_pool_reaches() -> None:
    assert await judged(deduplicating(used=0), "dm-1", 90) == ""
    assert "may need 91 MiB of the VDO volume vgA/vp" in await judged(deduplicating(used=0), "dm-1", 91)
    assert "unknown: it is read-only" in await judged(deduplicating(mode="read-only"), "dm-1", 1)


async def test_a_sparse_volume_of_zfs_is_written_as_far_as_its_pool_reaches() -> None:
    assert await judged(zvol(), "zd0", 200) == ""
    assert await judged(zvol(), "zd0", 201) == (
        "Not enough free space: writing 201 MiB of /dev/zvol/tank/a/vm may need 201 MiB of the ZFS pool tank, where "
        "300 MiB of 1000 MiB are free and 10 % must stay free. If it runs full, writes to the filesystems of tank "
        "fail as well."
    )


async def test_a_volume_of_zfs_with_all_its_room_set_aside_is_written() -> None:
    assert await judged(zvol(reserved=500, free=0), "zd0") == ""
    assert await judged(zvol(reserved=499, free=0), "zd0") != ""


async def test_what_lies_in_a_volume_of_zfs_and_in_no_snapshot_takes_no_room_twice() -> None:
    assert await judged(zvol(written=300), "zd0") == ""
    assert await judged(zvol(written=299), "zd0") != ""


async def test_where_zfs_does_not_tell_no_volume_is_written() -> None:
    host = zvol(reserved=500)
    host.silent.add("zfs")
    assert "unknown: zfs does not report it" in await judged(host, "zd0", 1)


async def test_a_loop_device_is_written_as_far_as_its_file_system_reaches() -> None:
    assert await judged(on_a_file(), "loop0", 80) == ""
    assert await judged(on_a_file(), "loop0", 81) == (
        "Not enough free space: writing 81 MiB of /dev/loop0 may need 81 MiB of the filesystem on /srv below "
        "/srv/image, where 90 MiB of 100 MiB are free and 10 % must stay free."
    )


async def test_what_lies_in_the_file_already_takes_no_room_twice() -> None:
    assert await judged(on_a_file(allocated=420), "loop0") == ""
    assert await judged(on_a_file(allocated=419), "loop0") != ""
    assert await judged(on_a_file(allocated=500, free=0), "loop0") == ""


@pytest.mark.parametrize("fstype", ["btrfs", "zfs", "bcachefs", "whatever"])
async def test_a_file_system_that_writes_elsewhere_takes_room_for_a_whole_file_too(fstype: str) -> None:
    assert "may need 81 MiB" in await judged(on_a_file(allocated=500, fstype=fstype), "loop0", 81)


async def test_a_file_that_cannot_be_looked_at_has_no_room() -> None:
    host = on_a_file(allocated=500)
    host.spaces.clear()
    assert "unknown: the file cannot be read" in await judged(host, "loop0", 1)


async def test_a_loop_device_on_a_file_of_a_thin_volume_takes_room_of_both() -> None:
    host = pooled(used=10)
    other = on_a_file()
    devno = host.number("dm-3")
    host.add("loop0", size=str(500 * 2048), loop__backing_file="/srv/image", loop__offset="0")
    image = other.stats["/srv/image"]
    host.stats["/srv/image"] = replace(image, place=f"{devno}:12")
    host.files["/proc/self/mountinfo"] += f"\n40 25 {devno} / /srv rw - ext4 /dev/dm-3 rw"
    host.spaces = {"/srv/image": FilesystemSpace(size=500 * MIB, free=500 * MIB)}
    assert "of the thin pool vgA/pool" in await judged(host, "loop0", 81)


async def test_a_partition_takes_the_room_of_its_disk() -> None:
    host = on_a_file()
    base, devno = "/sys/block/loop0/loop0p1", "250:99"
    host.files |= {f"{base}/partition": "1", f"{base}/dev": devno, f"{base}/size": "204800"}
    assert [room.place for room in await capacities_at(host, devno)] == ["the filesystem on /srv below /srv/image"]


async def test_reading_takes_no_room() -> None:
    host = pooled(used=100)
    facts = await gather_facts(host, "/dev/dm-3", claim=lambda device, devno: None, probe=False)
    assert judge(facts, Intent.READ).ok


async def test_what_is_left_is_asked_again() -> None:
    host = pooled(used=10)
    before = await capacities_at(host, host.number("dm-3"))
    assert low_capacity_reasons(await refresh_capacities(host, before)) == ()
    host.states["vgA-pool-tpool"] = host.states["vgA-pool-tpool"].replace("160/1600", "1440/1600")
    assert low_capacity_reasons(await refresh_capacities(host, before)) == (
        "the thin pool vgA/pool has 10 MiB of 100 MiB free",
    )
    del host.states["vgA-pool-tpool"]
    assert (
        "the free space of the thin pool vgA/pool is now unknown"
        in low_capacity_reasons(await refresh_capacities(host, before))[0]
    )


async def test_what_is_left_of_a_file_system_and_of_a_zfs_pool_is_asked_again() -> None:
    files = on_a_file()
    before = await capacities_at(files, files.number("loop0"))
    files.spaces["/srv"] = FilesystemSpace(size=100 * MIB, free=10 * MIB)
    told = low_capacity_reasons(await refresh_capacities(files, before))
    assert told == ("the filesystem on /srv below /srv/image has 10 MiB of 100 MiB free",)
    files.spaces.clear()
    assert "now unknown" in low_capacity_reasons(await refresh_capacities(files, before))[0]
    pool = zvol()
    before = await capacities_at(pool, pool.number("zd0"))
    zfs_says(pool, free=100)
    assert low_capacity_reasons(await refresh_capacities(pool, before)) == (
        "the ZFS pool tank has 100 MiB of 1000 MiB free",
    )
    pool.silent.add("zfs")
    assert "now unknown" in low_capacity_reasons(await refresh_capacities(pool, before))[0]


async def test_a_file_system_on_the_origin_of_a_snapshot_takes_room_of_the_store() -> None:
    host = snapshotted()
    assert [room.place for room in await capacities_at(host, host.number("dm-2"))] == [
        "the store of the snapshot vgA/snap"
    ]


async def test_no_room_is_looked_for_where_nothing_is_thin() -> None:
    host = ThinMachine()
    host.add("sda")
    assert await capacities_at(host, host.number("sda")) == ()
    assert not [argv for argv in host.asked if "dmsetup" in argv[0]]


# -- what earlier runs left there -----------------------------------------------------------------------------------


def store(held: int) -> ThinCapacity:
    """Of a layer of 100 MiB, of which so many MiB have their room already."""
    return ThinCapacity(kind="thin", place="the pool", key="pool", layer="dm-3", capacity=100 * MIB, held=held * MIB)


def left(within: int, held: int) -> AllocatedRange:
    """20 MiB that a run wrote within the first so many MiB, when the layer had `held` MiB in all."""
    return AllocatedRange(
        layer="dm-3", place="the pool", part="", within=within * MIB, written=20 * MIB, held=held * MIB
    )


@pytest.mark.parametrize(
    ("within", "then", "now", "need"),
    [
        (30, 25, 25, 10),
        (30, 25, 26, 10),
        (30, 25, 24, 30),  # something was given back since, or is shared with a snapshot
        (31, 25, 25, 30),  # it may lie beyond
        (30, 0, 25, 30),  # nothing tells what the layer had
    ],
)
def test_what_a_run_left_takes_no_room_again_while_the_layer_has_all_it_had(
    within: int, then: int, now: int, need: int
) -> None:
    area = WriteRange(size=30 * MIB, allocated=(left(within, then),))
    assert store(now).need(area) == need * MIB


def test_a_byte_that_the_layer_had_suffices_for_what_a_run_left() -> None:
    one = replace(left(30, 0), held=1)
    assert replace(store(0), held=1).need(WriteRange(size=30 * MIB, allocated=(one,))) == 10 * MIB


@pytest.mark.parametrize("other", [{"layer": "dm-4"}, {"place": "another pool"}, {"part": "metadata"}], ids=str)
def test_what_a_run_left_elsewhere_takes_room_here(other: dict[str, str]) -> None:
    area = WriteRange(size=30 * MIB, allocated=(replace(left(30, 25), **other),))  # type: ignore[arg-type]
    assert store(25).need(area) == 30 * MIB


@pytest.mark.parametrize(
    ("size", "before", "now", "known", "written"),
    [
        (30, 10, 25, 0, 15),
        (30, 25, 25, 0, 0),
        (30, 25, 10, 0, 0),  # a discard gave it back
        (30, 10, 90, 0, 30),  # others wrote beside it
        (None, 10, 90, 0, 80),
        (30, 25, 30, 20, 25),
    ],
)
def test_what_a_run_leaves_is_what_the_layer_has_more_and_no_more_than_it_wrote_to(
    size: int | None, before: int, now: int, known: int, written: int
) -> None:
    area = WriteRange(size=None if size is None else size * MIB, allocated=(left(30, 25),) if known else ())
    after = store(now).allocated_since(store(before), area)
    assert (after.written, after.within, after.held) == (written * MIB, (size or 100) * MIB, now * MIB)
    assert (after.layer, after.place, after.part) == ("dm-3", "the pool", "")


def test_a_layer_that_has_more_than_lies_in_it_needs_nothing_and_one_that_tells_nothing_needs_all() -> None:
    assert store(101).need(WriteRange(size=30 * MIB)) == 0
    assert ThinCapacity(kind="vdo", place="the pool", key="pool", capacity=100).need(WHOLE) == 100


async def test_a_file_that_another_one_was_put_in_the_place_of_has_no_room() -> None:
    host = on_a_file(allocated=400)
    host.stats["/srv/image"] = replace(host.stats["/srv/image"], place=f"{host.number('sda')}:13", allocated=500 * MIB)
    assert "the free space there is unknown: the file cannot be read." in await judged(host, "loop0", 1)
