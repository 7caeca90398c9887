"""Two names with one serial number and size may be one disk: so they count, unless what lies there proves them two."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from app.core.benchmark.device_access import DeviceAccess
from backends import guard
from backends.change import disk_lock
from backends.exclusive_open import marks
from backends.guard import GuardResult, Intent, judge_device
from backends.identity import Identity
from backends.topology import scan_topology
from backends.topology.signatures import are_two, uuids_in
from tests.backends import loops
from tests.backends.fakes import ON_SDK, WWN, FakeHost, disk, two_paths
from tests.backends.loops import loop, needs_loops, run
from tests.backends.test_twins import attached
from tests.packages import needs

ONE, OTHER = {"serial": "0000", "device__model": "A"}, {"serial": "0000", "device__model": "B"}
BARE = {"serial": "0000"}
WORDS = "/dev/sdl is possibly the same disk as /dev/sdk, with the same serial number (0000) and size"


@pytest.fixture(autouse=True)
def found(monkeypatch: pytest.MonkeyPatch) -> dict[str, frozenset[str]]:
    """By node, the UUIDs that are read there; nothing can be read of any other."""
    marked: dict[str, frozenset[str]] = {}
    monkeypatch.setattr(guard, "claim_on", lambda _host: lambda _device, _devno: None)
    monkeypatch.setattr(guard, "marks_on", lambda _host: lambda device, _devno: marked.get(device))
    return marked


def pair(first: Mapping[str, Any] = ONE, second: Mapping[str, Any] = OTHER, *, mounted: bool = True) -> FakeHost:
    more = {"/proc/self/mountinfo": ON_SDK} if mounted else {}
    return two_paths(first=first, second=second, **more)


async def verdict(host: FakeHost) -> GuardResult:
    return (await judge_device(host, "/dev/sdl", Intent.WRITE))[1]


@pytest.mark.parametrize(
    ("first", "second"),
    [(ONE, OTHER), (BARE, BARE), (ONE, BARE), (ONE | {"device__wwid": WWN}, OTHER)],
    ids=["other products", "no product", "one of them tells no product", "one of them tells its WWN"],
)
async def test_both_are_named_where_the_other_one_is_in_use(first: dict[str, str], second: dict[str, str]) -> None:
    answer = await verdict(pair(first, second))
    assert answer.refused == (f"{WORDS}, mounted on /mnt.",)
    assert "Different UUIDs prove that they are two disks" in answer.hint


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (ONE, OTHER | {"serial": "0001"}),
        ({"device__model": "A"}, {"device__model": "B"}),
        (ONE | {"device__wwid": WWN}, OTHER | {"device__wwid": "naa.5000c500a1b2c3d5"}),
        (ONE | {"size": 4096}, OTHER),
    ],
    ids=["other numbers", "no numbers", "other WWNs", "other sizes"],
)
async def test_what_reports_something_else_is_another_disk(first: dict[str, Any], second: dict[str, Any]) -> None:
    host = pair(first, second)
    assert not (await scan_topology(host, everywhere=True)).likely


async def test_they_are_two_in_the_list() -> None:
    picture = await scan_topology(pair(mounted=False))
    assert (picture.twins, picture.paths("sdl")) == ({}, ("sdl",))


async def test_they_are_locked_and_held_together() -> None:
    host = pair(mounted=False)
    judged = await DeviceAccess(host).judge("/dev/sdl", writes=True)
    assert (judged.refused, judged.along) == ((), ("/dev/sdk",))
    assert await DeviceAccess(host).locks("/dev/sdk") == await DeviceAccess(host).locks("/dev/sdl")
    bare = pair(BARE, BARE, mounted=False)
    assert (
        await DeviceAccess(bare).locks("/dev/sdk")
        == await DeviceAccess(bare).locks("/dev/sdl")
        == ("disk-serial 0000, 1073741824",)
    )


def test_another_number_or_size_is_another_disk_and_none_is_no_number() -> None:
    own = Identity(name="sda", serial="0000", size_bytes=1)
    others = [
        Identity(name="sdb", serial=serial, size_bytes=size)
        for serial, size in (("0000", 1), ("0001", 1), ("0000", 2), (None, 1), ("0000", None))
    ]
    assert [own.perhaps_same_disk(other) for other in others] == [True, False, False, False, False]
    assert not others[3].perhaps_same_disk(others[3])


def test_one_that_comes_while_the_other_one_is_locked_finds_its_lock() -> None:
    first = Identity(name="sdk", serial="0000", size_bytes=1, wwn=WWN)
    second = Identity(name="sdl", serial="0000", size_bytes=1)
    assert set(disk_lock(first).splitlines()) & set(disk_lock(second, first).splitlines())


async def test_the_word_is_the_number_that_both_report_as_long_as_they_may_be_one() -> None:
    first, second = (one | {"serial": "WD-ABC123456"} for one in (ONE, OTHER))
    assert (await verdict(pair(first, second, mounted=False))).confirm_text == "123456"


async def test_two_that_bear_different_uuids_are_two(found: dict[str, frozenset[str]]) -> None:
    found |= {"/dev/sdk": frozenset({"gpt 01"}), "/dev/sdl": frozenset({"gpt 02"})}
    answer = await verdict(pair())
    assert (answer.refused, answer.confirm_text) == ((), "sdl")
    assert answer.label is not None
    assert "serial number 0000, which is not unique" in answer.label.sentence


ONE_WWN = {"serial": "S1", "device__wwid": WWN}, {"serial": "S2", "device__wwid": WWN}


async def test_one_wwn_with_other_serial_numbers_is_two_in_the_list_and_possibly_one_for_writing() -> None:
    host = pair(*ONE_WWN)
    words = f"/dev/sdl is possibly the same disk as /dev/sdk, with the same WWN ({WWN}) but different serial numbers"
    assert not (await scan_topology(host)).twins
    assert (await verdict(host)).refused == (f"{words}, mounted on /mnt.",)
    assert await DeviceAccess(host).locks("/dev/sdk") == await DeviceAccess(host).locks("/dev/sdl")
    assert (await DeviceAccess(pair(*ONE_WWN, mounted=False)).judge("/dev/sdl", writes=True)).along == ("/dev/sdk",)


async def test_one_wwn_with_other_serial_numbers_is_two_where_different_uuids_prove_it(
    found: dict[str, frozenset[str]],
) -> None:
    found |= {"/dev/sdk": frozenset({"gpt 01"}), "/dev/sdl": frozenset({"gpt 02"})}
    assert (await verdict(pair(*ONE_WWN))).refused == ()
    found |= {"/dev/sdl": frozenset({"gpt 01"})}
    assert (await verdict(pair(*ONE_WWN))).refused != ()


@pytest.mark.parametrize(("way", "free"), [("ata{}", True), ("usb1/1-{}", True), ("port-0:0/end_device-{}", False)])
async def test_one_wwn_with_other_serial_numbers_is_two_for_writing_too_where_a_disk_has_one_path(
    way: str, free: bool
) -> None:
    host = pair(*ONE_WWN)
    attached(host, f"{way}/host{{}}")
    answer = await verdict(host)
    assert answer.ok is free
    assert await DeviceAccess(host).locks("/dev/sdk") == await DeviceAccess(host).locks("/dev/sdl")


async def test_one_wwn_at_a_bus_with_one_path_and_at_another_is_possibly_one() -> None:
    host = pair(*ONE_WWN)
    host.links["/sys/block/sdk"] = "/sys/devices/pci0/ata1/host1/1:0:0:0/block/sdk"
    assert not (await verdict(host)).ok


@pytest.mark.parametrize("wwn", [WWN, None])
async def test_what_a_bridge_gives_all_disks_is_two_in_the_list_and_possibly_one_for_writing(wwn: str | None) -> None:
    own = ONE if wwn is None else ONE | {"device__wwid": wwn}
    host = pair(own, own)
    attached(host, "usb1/1-{}/host{}")
    assert not (await scan_topology(host)).twins
    assert (await verdict(host)).refused == (f"{WORDS}, mounted on /mnt.",)


async def test_one_wwn_of_other_sizes_is_possibly_one() -> None:
    refused = (await verdict(pair({"device__wwid": WWN, "size": 4096}, {"device__wwid": WWN}))).refused
    assert refused == (f"/dev/sdl is possibly the same disk as /dev/sdk, with the same WWN ({WWN}), mounted on /mnt.",)


async def test_paths_of_a_multipath_device_stay_one_whatever_is_read(found: dict[str, frozenset[str]]) -> None:
    found |= {"/dev/sdk": frozenset({"gpt 01"}), "/dev/sdl": frozenset({"gpt 02"})}
    host = pair({"serial": "A"}, {"serial": "B"})
    host.files |= disk("dm-0", devno="253:0", dm__name="mpatha", dm__uuid="mpath-3600")
    for name in ("sdk", "sdl"):
        host.files |= {f"/sys/block/dm-0/slaves/{name}": "", f"/sys/block/{name}/holders/dm-0": ""}
    assert "/dev/sdl is the same disk as /dev/sdk, mounted on /mnt." in (await verdict(host)).refused


async def test_what_is_listed_as_one_by_number_and_product_is_two_as_well(found: dict[str, frozenset[str]]) -> None:
    assert (await verdict(pair(ONE, ONE))).refused == ("/dev/sdl is the same disk as /dev/sdk, mounted on /mnt.",)
    found |= {"/dev/sdk": frozenset({"gpt 01"}), "/dev/sdl": frozenset({"gpt 02"})}
    answer = await verdict(pair(ONE, ONE))
    assert (answer.refused, answer.confirm_text) == ((), "sdl")


async def test_one_wwn_is_one_disk_whatever_is_read(found: dict[str, frozenset[str]]) -> None:
    found |= {"/dev/sdk": frozenset({"gpt 01"}), "/dev/sdl": frozenset({"gpt 02"})}
    own = ONE | {"device__wwid": WWN}
    assert (await verdict(pair(own, own))).refused == ("/dev/sdl is the same disk as /dev/sdk, mounted on /mnt.",)


UNPROVEN: Mapping[str, tuple[frozenset[str] | None, frozenset[str] | None]] = {
    "the same": (frozenset({"gpt 01"}), frozenset({"gpt 01"})),
    "one is blank": (frozenset({"gpt 01"}), frozenset()),
    "both are blank": (frozenset(), frozenset()),
    "one cannot be read": (frozenset({"gpt 01"}), None),
}


@pytest.mark.parametrize("case", UNPROVEN)
async def test_anything_else_proves_nothing(found: dict[str, frozenset[str]], case: str) -> None:
    nodes = zip(("/dev/sdk", "/dev/sdl"), UNPROVEN[case], strict=True)
    found |= {node: marked for node, marked in nodes if marked is not None}
    assert (await verdict(pair())).refused == (f"{WORDS}, mounted on /mnt.",)


@pytest.mark.parametrize("at", range(4))
def test_what_somebody_writes_meanwhile_proves_nothing(at: int) -> None:
    told = [frozenset({"gpt 01"})] * 4
    told[at:] = [frozenset({"gpt 02"})] * (4 - at)
    answers = iter(told)
    assert not are_two(lambda _device, _devno: next(answers), ("a", "8:0"), ("b", "8:1"))


def made(at: int, magic: bytes, start: int, own: bytes) -> bytes:
    head = bytearray(128 * 1024)
    head[at : at + len(magic)] = magic
    head[start : start + len(own)] = own
    return bytes(head)


def test_zeros_are_no_uuid() -> None:
    assert uuids_in(made(510, b"\x55\xaa", 440, bytes(4))) == frozenset()
    assert uuids_in(made(510, b"\x55\xaa", 440, b"\x01\x02\x03\x04")) == {"mbr 01020304"}


def test_what_is_cut_before_its_uuid_has_none() -> None:
    assert uuids_in(made(0, b"XFSB", 32, b"x" * 16)[:20]) == frozenset()


FIRST, SECOND = "6f1a3c52-8d0b-4e7f-9a21-000000000001", "6f1a3c52-8d0b-4e7f-9a21-000000000002"
MADE: Mapping[str, tuple[str, ...]] = {
    "ext": ("mkfs.ext4", "-q", "-F", "-U"),
    "xfs": ("mkfs.xfs", "-q", "-f", "-m"),
    "swap": ("mkswap", "-U"),
    "btrfs": ("mkfs.btrfs", "-q", "-f", "-U"),
}


@pytest.mark.root
@needs_loops()
class TestOnLoops:
    """Read past every cache from loop devices of our own."""

    @pytest.mark.parametrize("kind", MADE)
    def test_the_uuid_of_a_real_one_is_read(self, tmp_path: Path, kind: str) -> None:
        program, *options = MADE[kind]
        if not any((Path(folder) / program).exists() for folder in ("/sbin", "/usr/sbin", "/usr/bin")):
            pytest.skip(f"needs {program}")
        image = tmp_path / "disk"
        image.touch()
        os.truncate(image, 512 << 20)  # as much as XFS asks for, of which next to nothing is written
        with loop(image) as one:
            option = f"uuid={FIRST}" if kind == "xfs" else FIRST
            run(program, *options, option, one.sure())
            number = os.stat(one.device).st_rdev
            read = marks(one.device, f"{os.major(number)}:{os.minor(number)}")
            assert read is not None
            assert f"{kind} {FIRST.replace('-', '')}" in read
        image.unlink()

    @needs("mkfs.ext4")
    def test_what_is_read_is_what_lies_on_the_disk(self, tmp_path: Path) -> None:
        with loop(tmp_path / "disk") as one:
            number = os.stat(one.device).st_rdev
            devno = f"{os.major(number)}:{os.minor(number)}"
            assert marks(one.device, devno) == frozenset()
            one.write(0, loops.gpt())
            assert marks(one.device, devno) == frozenset({f"gpt {bytes(range(16)).hex()}"})
            assert marks(one.device, "8:0") is None
            one.write(0, bytes(1024))
            one.write(512, loops.lvm_label())
            (mark,) = marks(one.device, devno) or ("",)
            assert mark.startswith("lvm ")
            one.write(4096, loops.md_superblock())
            assert marks(one.device, devno) == frozenset({mark})  # of an array's own UUID alone no member is told
