"""One disk with several paths is shown once, with all of them, and all of them share its lock."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.benchmark.device_access import DeviceAccess
from app.core.presentation import json_schema
from app.core.presentation.device import count_texts, device_facts
from app.core.presentation.device_table import devices_table
from app.core.presentation.device_tree import build_device_tree
from app.core.presentation.table import text_of
from backends.change import Change
from backends.merge_inventory import join_views
from backends.model import Array, Fact, Inventory, Scope, Target
from backends.vendors.block.backend import BlockBackend
from backends.vendors.scsi.backend import ScsiBackend
from tests.backends.fakes import ON_SDK, WWN, FakeHost, disk, half_told, machine, one_disk, two_paths


async def seen(host: FakeHost) -> Inventory:
    block, scsi = await BlockBackend(host).inventory(), await ScsiBackend(host).inventory()
    return join_views(scsi.merge(block))


LOCK = f"disk-wwn {WWN}"


async def on(name: str, key: str, host: FakeHost) -> Change:
    return await BlockBackend(host).plan(Target(backend="block", address=name), key, "256")


async def on_sdl(key: str, host: FakeHost) -> Change:
    return await on("sdl", key, host)


async def test_the_list_has_one_row_for_it_with_its_paths() -> None:
    rows = devices_table(await seen(one_disk())).only("address", "device").rows
    assert [[text_of(cell) for cell in row.cells] for row in rows] == [["scsi:sdk", "2 paths: sdk, sdl"]]


async def test_the_paths_are_in_the_order_of_their_names() -> None:
    host = one_disk()
    host.files |= {path.replace("/sdl/", "/sdaa/"): text for path, text in host.files.items() if "/sdl/" in path}
    host.files["/sys/block/sdaa/dev"] = "65:160"
    host.links["/sys/block/sdaa"] = "/sys/devices/host4/4:0:0:0/block/sdaa"
    (row,) = devices_table(await seen(host)).only("device").rows
    assert text_of(row.cells[0]) == "3 paths: sdk, sdl, sdaa"


async def test_it_counts_as_one_drive() -> None:
    assert count_texts(await seen(one_disk())) == ("1 drive",)


async def test_disks_of_their_own_have_a_row_each() -> None:
    assert count_texts(await seen(two_paths(first={"serial": "S1"}, second={"serial": "S2"}))) == ("2 drives",)


async def test_the_document_has_it_once_with_the_nodes_of_its_paths() -> None:
    listed = json_schema.devices(await seen(one_disk()), {}, host="h", simulated=False)["drives"]
    assert [(one["address"], one["paths"]) for one in listed] == [("scsi:sdk", ["/dev/sdk", "/dev/sdl"])]
    assert listed[0]["addresses"] == ["scsi:sdk", "block:sdk", "scsi:sdl", "block:sdl"]


@pytest.mark.parametrize("address", ["/dev/sdl", "block:sdl", "scsi:sdl"])
async def test_the_other_path_is_an_address_of_it_and_its_facts_name_both(address: str) -> None:
    found = (await seen(one_disk())).find(address)
    assert found is not None
    assert ("Paths", "sdk, sdl") in [(line.label, line.value) for line in device_facts(found)[0].facts]


async def test_use_of_one_path_is_shown_in_its_only_row() -> None:
    host = one_disk(**{"/proc/self/mountinfo": ON_SDK.replace("8:160", "8:176").replace("sdk", "sdl")})
    (row,) = devices_table(await seen(host)).only("use").rows
    assert text_of(row.cells[0]) == "the same disk as /dev/sdl, mounted on /mnt"


async def test_an_array_over_the_other_path_has_the_disk_as_its_member() -> None:
    member = Target(backend="block", address="sdl")
    array = Array(
        target=Target(backend="md", address="md0", scope=Scope.ARRAY),
        members=(member,),
        facts=(Fact(label="Member", value="/dev/sdl, in sync"),),
    )
    (top,) = build_device_tree(join_views((await seen(one_disk())).merge(Inventory(arrays=(array,)))))
    assert [(str(below.device.target), below.role) for below in top.below] == [("scsi:sdk", "in sync")]


@pytest.mark.parametrize("address", ["sdk", "sdl"])
async def test_changes_on_either_path_take_the_same_lock(address: str) -> None:
    change = await on(address, "read_ahead_kb", one_disk())
    assert change.lock == LOCK


async def test_changes_of_the_drive_itself_take_it_too() -> None:
    host = one_disk()
    host.files["/sys/block/sdl/device/queue_depth"] = "32"
    change = await ScsiBackend(host).plan(Target(backend="scsi", address="sdl"), "queue_depth", "8")
    assert change.lock == LOCK


async def test_a_setting_is_kept_for_all_paths_by_one_rule() -> None:
    rule = await BlockBackend(one_disk()).persist(Target(backend="block", address="sdl"), {"read_ahead_kb": "256"})
    assert f'ATTRS{{wwid}}=="{WWN}"' in rule.text


async def test_disks_of_their_own_have_locks_of_their_own() -> None:
    host = two_paths(first={"serial": "S1"}, second={"serial": "S2"})
    assert (await on_sdl("read_ahead_kb", host)).lock != (await on("sdk", "read_ahead_kb", host)).lock


async def test_a_path_that_vanishes_takes_no_lock_along() -> None:
    host = one_disk()
    host.files = {path: text for path, text in host.files.items() if "/sdk/" not in path}
    assert (await on_sdl("read_ahead_kb", host)).lock == LOCK


async def test_the_lock_goes_with_the_disk_to_another_name() -> None:
    host = FakeHost(machine(disk("sdz", device__wwid=WWN)))
    assert (await on("sdz", "read_ahead_kb", host)).lock == LOCK


async def test_without_a_wwn_the_lock_is_that_of_serial_number_model_and_size() -> None:
    here = FakeHost(machine(disk("sda", serial="S1", device__model="M")))
    later = FakeHost(machine(disk("sdb", serial="S1", device__model="M")))
    assert (await on("sda", "read_ahead_kb", here)).lock == (await on("sdb", "read_ahead_kb", later)).lock


@pytest.mark.parametrize("name", ["sdk", "sdl"])
async def test_paths_of_which_one_alone_tells_the_wwn_take_the_locks_of_both(name: str) -> None:
    change = await on(name, "read_ahead_kb", half_told())
    assert [lock.partition(" ")[0] for lock in change.locks] == ["disk-wwn", "disk-serial"]


async def test_a_disk_that_tells_nothing_of_itself_has_the_lock_of_its_name() -> None:
    host = FakeHost(machine(disk("sda"), disk("sdb")))
    locks = [(await on(name, "read_ahead_kb", host)).lock for name in ("sda", "sdb")]
    assert locks == ["block-sda", "block-sdb"]


async def test_a_run_takes_the_lock_of_the_disk_by_either_path() -> None:
    assert [await DeviceAccess(one_disk()).locks(node) for node in ("/dev/sdk", "/dev/sdl")] == [(LOCK,), (LOCK,)]


async def test_a_run_takes_the_locks_of_all_that_is_the_same_or_beneath_each_once() -> None:
    host = FakeHost(machine(disk("sda", device__wwid=WWN), disk("sdb")))
    assert await DeviceAccess(host).locks("/dev/sdb", "/dev/sda", "/dev/sda") == ("block-sdb", LOCK)


async def test_a_change_of_an_earlier_version_is_under_the_lock_of_its_disk() -> None:
    change = await on("sdk", "read_ahead_kb", one_disk())
    assert replace(change, lock="block-sdk").locks[0] == LOCK
