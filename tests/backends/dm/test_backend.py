"""Encrypted volumes, disks on several paths and plain targets are listed by name, with what their tables tell."""

from __future__ import annotations

import pytest

from backends.merge_inventory import join_views
from backends.model import Array, Inventory, Level, Scope, State, Target
from backends.vendors.block.backend import BlockBackend
from backends.vendors.dm.backend import Dm
from tests.backends.topology.test_stacking import lvm
from tests.backends.topology.thin_machines import ThinMachine

PATHS = "multipath 0 0 1 1 service-time 0 2 2 {one} 1 1 {other} 1 1"
OF_PATHS = "multipath 2 0 0 0 1 1 A 0 2 2 {one} A 0 0 1 {other} {state} 1 0 1"


def host(state: str = "A") -> ThinMachine:
    """A LUKS volume on a logical volume, a disk on two paths with a plain target on it, and a part of that."""
    made = ThinMachine()
    for name in ("sda", "sdb", "sdc"):
        made.add(name)
    one, other = made.number("sda"), made.number("sdb")
    paths = OF_PATHS.format(one=one, other=other, state=state)
    made.mapped("dm-0", "mpatha", PATHS.format(one=one, other=other), paths, "sda", "sdb", dm__uuid="mpath-3600")
    made.mapped("dm-1", "vg0-db", "linear 8:32 2048", "linear", "sdc", mib=1024, **lvm("vg0-db"))
    crypt = "crypt aes-xts-plain64 :64:logon:cryptsetup:x 0 253:1 32768 2 no_read_workqueue no_write_workqueue"
    made.mapped("dm-2", "crypt1", crypt, "crypt", "dm-1", dm__uuid="CRYPT-LUKS2-1-crypt1")
    made.mapped("dm-3", "plain", "linear 253:0 0", "linear", "dm-0")
    made.mapped("dm-4", "mpatha-part1", "linear 253:0 2048", "linear", "dm-0", dm__uuid="part1-mpath-3600")
    made.mapped("dm-5", "slow", "delay 253:0 0 60", "delay", "dm-0")
    return made


async def listed(made: ThinMachine) -> dict[str, Array]:
    return {one.target.address: one for one in (await Dm(made).inventory()).arrays}


def told(array: Array) -> dict[str, str]:
    return {fact.label: fact.value for fact in array.facts}


async def test_what_lvm_and_kpartx_made_is_left_to_them() -> None:
    assert list(await listed(host())) == ["crypt1", "mpatha", "plain", "slow"]


async def test_an_encrypted_volume_tells_its_cipher_and_what_it_lies_on_but_no_key() -> None:
    crypt = (await listed(host()))["crypt1"]
    assert (crypt.level, crypt.link, crypt.called) == (Level.CRYPT, "/dev/mapper/crypt1", "crypt1")
    assert told(crypt) == {"Cipher": "aes-xts-plain64", "Options": "no_read_workqueue, no_write_workqueue"}
    assert crypt.members == (Target(backend="lvm", address="vg0/db", scope=Scope.ARRAY),)


@pytest.mark.parametrize(("letter", "state"), [("A", State.OPTIMAL), ("F", State.DEGRADED)])
async def test_a_disk_on_several_paths_tells_its_policy_and_which_failed(letter: str, state: State) -> None:
    disk = (await listed(host(letter)))["mpatha"]
    assert (disk.level, disk.state) == (Level.MULTIPATH, state)
    assert disk.why == ("" if letter == "A" else "1 of 2 paths failed")
    word = {"A": "active", "F": "failed"}[letter]
    assert told(disk) == {"Policy": "service-time", "Path 1": "/dev/sda, active", "Path 2": f"/dev/sdb, {word}"}


async def test_a_disk_that_has_lost_all_its_paths_has_failed() -> None:
    made = host()
    made.tables["mpatha"] = "0 2097152 multipath 1 queue_if_no_path 0 0 0"
    made.states["mpatha"] = "0 2097152 multipath 2 0 1 0 0 0"
    disk = (await listed(made))["mpatha"]
    assert (disk.state, disk.why) == (State.FAILED, "no path is left")


@pytest.mark.parametrize(
    ("table", "status", "state", "why"),
    [
        ("cache 8:0 8:16 8:32 512 0 default 0", "cache Fail", State.FAILED, "its cache has failed"),
        (
            "cache 8:0 8:16 8:32 512 0 default 0",
            "cache 8 1/2 512 1/2 0 0 0 0 0 0 0 1 writeback 2 migration_threshold 2048 mq 0 ro needs_check",
            State.FAILED,
            "its cache is read-only: the metadata is damaged",
        ),
        (
            "cache 8:0 8:16 8:32 512 0 default 0",
            "cache 8 1/2 512 1/2 0 0 0 0 0 0 0 1 writeback 2 migration_threshold 2048 mq 0 rw -",
            State.OPTIMAL,
            "",
        ),
        ("verity 1 8:0 8:16 4096", "verity C", State.FAILED, "its data do not match their checksums"),
        ("verity 1 8:0 8:16 4096", "verity V", State.OPTIMAL, ""),
        ("raid raid1 3 0 region_size 1024 2 - 8:0 - 8:16", "raid raid1 2 AD 1/2 idle 0 0 -", State.DEGRADED, "1 of 2"),
        ("raid raid1 3 0 region_size 1024 2 - 8:0 - 8:16", "raid raid1 2 AA 2/2 idle 0 0 -", State.OPTIMAL, ""),
    ],
)
async def test_a_target_says_how_it_is_in_its_status(table: str, status: str, state: State, why: str) -> None:
    made = host()
    made.tables["slow"], made.states["slow"] = f"0 2097152 {table}", f"0 2097152 {status}"
    found = (await listed(made))["slow"]
    assert (found.state, found.why.startswith(why), bool(found.why)) == (state, True, bool(why))


@pytest.mark.parametrize(
    ("status", "level", "state", "used"),
    [
        ("vdo 8:0 normal - online online 80 100", Level.VDO, State.OPTIMAL, {"Used, data": "80.0 %"}),
        ("vdo 8:0 read-only - online online 100 100", Level.VDO, State.FAILED, {"Used, data": "100.0 %"}),
        ("vdo 8:0 normal -", Level.VDO, State.OPTIMAL, {}),
        (
            "thin-pool 1 10/100 5/20 - rw discard_passdown queue_if_no_space - 1024",
            Level.THIN_POOL,
            State.OPTIMAL,
            {"Used, metadata": "10.0 %", "Used, data": "25.0 %"},
        ),
        ("thin-pool Fail", Level.THIN_POOL, State.FAILED, {}),
    ],
)
async def test_a_pool_that_is_not_lvms_says_how_full_it_is(
    status: str, level: Level, state: State, used: dict[str, str]
) -> None:
    made = host()
    kind = status.partition(" ")[0]
    made.tables["slow"], made.states["slow"] = f"0 2097152 {kind} 8:0 8:16 128 0", f"0 2097152 {status}"
    found = (await listed(made))["slow"]
    assert (found.level, found.state) == (level, state)
    assert {label: value for label, value in told(found).items() if label.startswith("Used")} == used


async def test_a_plain_target_is_what_its_table_says() -> None:
    found = await listed(host())
    assert (found["plain"].level, found["slow"].level) == (Level.CONCAT, Level.MAPPED)
    assert told(found["slow"]) == {"Target": "delay"}
    assert [str(one) for one in found["plain"].members] == ["dm:mpatha"]


async def test_without_dmsetup_names_and_kinds_are_what_their_makers_wrote() -> None:
    made = host()
    made.silent.add("dmsetup")
    found = await listed(made)
    kinds = {name: one.level for name, one in found.items()}
    assert kinds["crypt1"] is Level.CRYPT
    assert kinds["mpatha"] is Level.MULTIPATH
    assert kinds["plain"] is Level.MAPPED


async def test_a_disk_systems_volume_is_one_with_the_disk_on_its_paths() -> None:
    made = host()
    volume = Array(target=Target(backend="smcli", address="A/fast", scope=Scope.ARRAY), name="fast", device="/dev/dm-0")
    disks = await BlockBackend(made).inventory()
    inventory = join_views(Inventory(arrays=(volume,)).merge(await Dm(made).inventory()).merge(disks))
    assert "dm:mpatha" not in {str(one.target) for one in inventory.arrays}
    for word in ("smcli:A/fast", "dm:mpatha", "block:dm-0", "/dev/mapper/mpatha"):
        found = inventory.find(word)
        assert isinstance(found, Array)
        assert (found.name, found.called) == ("fast", "mpatha")
