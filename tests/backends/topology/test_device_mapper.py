"""Two device-mapper targets over one part of a device are in use by each other; volumes beside each other are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends import guard
from backends.guard import Intent, judge_device
from backends.host import Completed, FileStat
from backends.topology import scan_topology
from backends.topology.device_mapper import DeviceRange, parse_mapped
from backends.topology.ranges import Extent, any_overlap
from backends.topology.tree import Node, tree_of
from tests.backends.fakes import MOUNTS, FakeHost, disk, machine
from tests.case_loop import loop_over

SECTORS = (1 << 30) // 512
"""Of every device here."""

KINDS = Path(__file__).parents[1] / "lvm" / "recorded" / "all-kinds.dmsetup"


@pytest.fixture(autouse=True)
def _claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "claim_on", lambda _host: lambda _device, _devno: None)


def beside(first: str, second: str, *, mounted: bool = True) -> FakeHost:
    """dm-0 (a) and dm-1 (b) on /dev/sda by these lines of their tables, dm-1 mounted or nothing."""
    host = FakeHost(machine(disk("sda", devno="8:0", serial="S1")))
    host.stats["/dev/sda"] = FileStat(kind="block", size=0, devno="8:0")
    for number, name in enumerate("ab"):
        host.files |= disk(f"dm-{number}", devno=f"253:{number}", dm__name=name, dm__uuid=f"CRYPT-{name}")
        host.files |= {f"/sys/block/dm-{number}/slaves/sda": "", f"/sys/block/sda/holders/dm-{number}": ""}
        host.stats[f"/dev/dm-{number}"] = FileStat(kind="block", size=0, devno=f"253:{number}")
    if mounted:
        host.files["/proc/self/mountinfo"] = f"{MOUNTS}\n40 25 253:1 / /mnt rw - ext4 /dev/mapper/b rw"
    host.files["/proc/1/task/1/fd/0"] = ""
    tell(host, f"a: {first}\nb: {second}\n")
    return host


def tell(host: FakeHost, text: str, code: int = 0) -> None:
    host.tools["dmsetup"] = Completed(returncode=code, stdout=text, stderr="")


async def refused(host: FakeHost, device: str = "/dev/dm-0") -> tuple[str, ...]:
    return (await judge_device(host, device, Intent.WRITE))[1].refused


WHOLE = f"0 {SECTORS} linear 8:0 0"
AFTER = f"0 {SECTORS} linear 8:0 {SECTORS}"
CRYPT = f"0 {SECTORS} crypt aes-cbc-essiv:sha256 {'0' * 32} 0 8:0 0"
SHARED = ("/dev/mapper/a is on the same part of /dev/sda as /dev/mapper/b, mounted on /mnt.",)


@pytest.mark.parametrize(
    "second",
    [
        WHOLE,
        CRYPT,
        f"0 {SECTORS} linear 8:0 {SECTORS - 1}",
        f"0 8 linear 8:0 {SECTORS}\nb: 8 {SECTORS - 8} linear 8:0 8",
        f"0 {SECTORS} striped 2 128 8:0 0 8:0 {4 * SECTORS}",
        f"0 {SECTORS} delay 8:0 {2 * SECTORS} 5 8:0 0 5",
        f"0 {SECTORS} mirror core 1 1024 2 8:0 {2 * SECTORS} 8:0 0",
        f"0 {SECTORS} multipath 0 0 1 1 service-time 0 1 2 8:0 1 1",
        f"0 {SECTORS} a-new-kind 8:0 {SECTORS}",
    ],
)
async def test_what_lies_on_the_same_part_as_something_mounted_is_refused(second: str) -> None:
    assert await refused(beside(WHOLE, second)) == SHARED


@pytest.mark.parametrize(
    "second",
    [
        AFTER,
        f"0 {SECTORS} crypt aes-cbc-essiv:sha256 {'0' * 32} 0 8:0 {SECTORS}",
        f"0 {SECTORS} striped 2 128 8:0 {SECTORS} 8:0 {2 * SECTORS}",
        f"0 {SECTORS} mirror core 1 1024 1 8:0 {SECTORS}",
    ],
)
async def test_volumes_that_differ_by_their_range_are_free_of_each_other(second: str) -> None:
    assert await refused(beside(WHOLE, second)) == ()


async def test_a_stripe_reaches_as_far_as_its_share_of_the_target() -> None:
    striped = f"0 {SECTORS} striped 2 128 8:0 {SECTORS // 2 + 1} 8:0 {8 * SECTORS}"
    assert await refused(beside(AFTER, striped)) == SHARED
    assert await refused(beside(AFTER, striped.replace(str(SECTORS // 2 + 1), str(SECTORS // 2)))) == ()


async def test_what_is_on_the_same_part_and_not_used_does_not_stand_against_it() -> None:
    assert await refused(beside(WHOLE, WHOLE, mounted=False)) == ()


async def test_a_program_that_has_the_other_one_open_is_named() -> None:
    host = beside(WHOLE, WHOLE, mounted=False)
    host.files |= {"/proc/77/task/77/fd/3": "", "/proc/77/comm": "qemu"}
    host.stats["/proc/77/task/77/fd/3"] = FileStat(kind="block", size=0, devno="253:1")
    assert await refused(host) == (
        "/dev/mapper/a is on the same part of /dev/sda as /dev/mapper/b: qemu (process 77) has it open.",
    )


async def test_what_is_on_the_same_part_is_locked_and_held_with_it() -> None:
    facts, _ = await judge_device(beside(WHOLE, WHOLE, mounted=False), "/dev/dm-0", Intent.WRITE)
    assert [one.name for one in facts.along] == ["dm-1"]


UNTOLD = (
    "/dev/mapper/a cannot be verified as unused:"
    " dmsetup does not report which parts of /dev/sda belong to it and which to /dev/mapper/b.",
)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"a: {WHOLE}\n", 0),
        (f"b: {AFTER}\n", 0),
        (f"a: {WHOLE}\nb: {AFTER}\n", 1),
        (f"a: {WHOLE}\nb: 0 {SECTORS - 8} linear 8:0 {SECTORS}\n", 0),
        (f"a: {WHOLE}\nb: 8 {SECTORS - 8} linear 8:0 {SECTORS}\n", 0),
        (f"a: {WHOLE}\nb: 0 8 linear 8:0 {SECTORS}\nb: 16 {SECTORS - 8} linear 8:0 {SECTORS}\n", 0),
        (f"a: {WHOLE}\nb: 0 {SECTORS} linear 8:0\n", 0),
        (f"a: {WHOLE}\nb: 0 {SECTORS} linear /dev/sda {SECTORS}\n", 0),
        (f"a: {WHOLE}\nb: 0 {SECTORS} linear 8:9 {SECTORS}\n", 0),
        (f"a: {WHOLE}\nb: garbled\nb: {AFTER}\n", 0),
        ("", 0),
    ],
)
async def test_where_a_table_is_not_told_whole_what_lies_beside_it_is_not_known(text: str, code: int) -> None:
    host = beside(WHOLE, AFTER, mounted=False)
    tell(host, text, code)
    assert await refused(host) == UNTOLD


async def test_without_dmsetup_what_lies_beside_it_is_not_known() -> None:
    host = beside(WHOLE, AFTER, mounted=False)
    del host.tools["dmsetup"]
    assert await refused(host) == UNTOLD


async def test_a_target_over_a_target_over_the_same_part_is_seen_from_either_side() -> None:
    host = beside(WHOLE, WHOLE)
    host.files |= disk("dm-2", devno="253:2", dm__name="c", dm__uuid="CRYPT-PLAIN-c")
    host.files |= {"/sys/block/dm-2/slaves/dm-0": "", "/sys/block/dm-0/holders/dm-2": ""}
    host.stats["/dev/dm-2"] = FileStat(kind="block", size=0, devno="253:2")
    assert await refused(host, "/dev/dm-2") == (
        "/dev/mapper/c is on the same part of /dev/sda as /dev/mapper/b, mounted on /mnt.",
    )
    host.files["/proc/self/mountinfo"] = MOUNTS
    assert await refused(host, "/dev/dm-1") == (
        "/dev/mapper/b is on the same part of /dev/sda as /dev/mapper/a: /dev/mapper/c is built on it.",
    )


async def test_what_only_reads_a_part_writes_to_nobody_there_and_is_written_under_by_others() -> None:
    reader = f"0 {SECTORS} thin 8:32 1 8:0"  # its origin outside the pool
    picture = await scan_topology(beside(reader, WHOLE), everywhere=True)
    assert not any("same part" in relation.text for relation in picture.related("dm-0"))
    assert any("same part" in relation.text for relation in picture.related("dm-1"))


def on(words: str, name: str = "a") -> tuple[DeviceRange, ...]:
    own = Node(name="dm-0", devno="253:0", size_bytes=512_000, attributes={"dm/name": name})
    return parse_mapped(f"{name}: 0 1000 {words}\n", tree_of([own]))["dm-0"]


def part(device: str, start: int, sectors: int = 1000) -> DeviceRange:
    """Return a stretch of a device of 1000 sectors, sector for sector where it is as long."""
    return DeviceRange(on=device, start=start, sectors=sectors, at=0 if sectors == 1000 else None)


@loop_over(
    ("words", "lies_on"),
    [
        ("linear 8:0 64", [part("8:0", 64)]),
        ("flakey 8:0 64 5 1", [part("8:0", 64)]),
        ("dust 8:0 64 512", [part("8:0", 64)]),
        ("ebs 8:0 64 1", [part("8:0", 64)]),
        ("crypt aes-xts-plain64 00 0 8:0 64", [part("8:0", 64)]),
        ("delay 8:0 64 5", [part("8:0", 64)]),
        ("delay 8:0 64 5 8:16 7 5", [part("8:0", 64), part("8:16", 7)]),
        ("delay 8:0 64 5 8:16 7 5 8:32 9 5", [part("8:0", 64), part("8:16", 7), part("8:32", 9)]),
        ("striped 3 128 8:0 64 8:16 7 8:32 9", [part("8:0", 64, 334), part("8:16", 7, 334), part("8:32", 9, 334)]),
        ("mirror disk 2 8:48 1024 2 8:0 64 8:16 7", [DeviceRange(on="8:48"), part("8:0", 64), part("8:16", 7)]),
        ("error", []),
        ("zero", []),
        ("a-new-kind 1 8:0 64 8:16", [DeviceRange(on="8:0"), DeviceRange(on="8:16")]),
    ],
)
def test_each_kind_of_target_lies_where_its_table_says(words: str, lies_on: list[DeviceRange]) -> None:
    assert list(on(words)) == lies_on


def extent(stretch: DeviceRange) -> Extent:
    """Return a stretch as the range that is compared."""
    end = None if stretch.sectors is None else stretch.start + stretch.sectors
    return Extent(on=stretch.on, start=stretch.start, end=end, slot=stretch.thin)


def test_a_snapshot_only_reads_its_origin() -> None:
    assert on("snapshot 253:1 253:2 P 8") == (
        DeviceRange(on="253:1", sectors=1000, read=True),
        DeviceRange(on="253:2"),
    )
    assert not on("linear 253:1 0")[0].read


def test_no_two_volumes_of_a_recorded_group_share_anything_but_a_pool_and_its_own_view() -> None:
    text = KINDS.read_text()
    sizes: dict[str, int] = {}
    for line in text.splitlines():
        name, _, length, *_ = line.split()
        sizes[name[:-1]] = sizes.get(name[:-1], 0) + int(length) * 512
    nodes = [
        Node(name=f"dm-{number}", devno=f"254:{number}", size_bytes=size, attributes={"dm/name": name})
        for number, (name, size) in enumerate(sizes.items())
    ]
    found = parse_mapped(text, tree_of(nodes))
    assert set(found) == {node.name for node in nodes}
    given = {node.name: node.attributes["dm/name"] for node in nodes}
    meeting = {
        frozenset((given[one], given[other]))
        for one, mine in found.items()
        for other, its in found.items()
        if one != other and any(a.on == b.on and any_overlap([extent(a)], [extent(b)]) for a in mine for b in its)
    }
    assert meeting == {frozenset(("vg0-pool", "vg0-thin"))}
