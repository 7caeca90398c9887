"""Character devices that lead to a disk: who has one open uses the disk, and no other disk."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from backends.host import FileStat
from backends.topology.facts import gather_facts
from backends.topology.tree import read_tree
from tests.backends.fakes import FakeHost, disk, machine

SCSI = disk("sdb", devno="8:16") | {
    "/sys/block/sdb/device/generic/dev": "21:3",
    "/sys/block/sdb/device/bsg/0:0:0:0/dev": "248:3",
}
TWO_NAMESPACES = {
    **disk("nvme1n1", devno="259:1", device__dev="245:1"),
    **disk("nvme1n2", devno="259:2", device__dev="245:1"),
    **{
        f"/sys/block/nvme1n{number}/device/{name}/dev": devno
        for number in (1, 2)
        for name, devno in {"ng1n1": "244:1", "ng1n2": "244:2", "nvme1n1": "259:1", "nvme1n2": "259:2"}.items()
    },
}
"""One controller on PCI Express with two namespaces: both have its folder as their parent."""
MANY_PATHS = {
    **disk("nvme4n1", devno="259:9"),
    **disk("nvme4c4n1", devno="", hidden="1", device__dev="245:4"),
    **disk("nvme4c5n1", devno="", hidden="1", device__dev="245:5"),
    "/sys/block/nvme4n1/device/nvme4/dev": "245:4",
    "/sys/block/nvme4n1/device/nvme5/dev": "245:5",
    "/sys/block/nvme4n1/device/ng4n1/dev": "244:9",
    "/sys/block/nvme4n1/device/nvme4n1/dev": "259:9",
}
"""A namespace that two controllers have: the subsystem is its parent, and links to both."""


@pytest.mark.parametrize(
    ("files", "name", "numbers"),
    [
        (SCSI, "sdb", {"21:3", "248:3"}),
        (TWO_NAMESPACES, "nvme1n1", {"244:1", "245:1"}),
        (TWO_NAMESPACES, "nvme1n2", {"244:2", "245:1"}),
        (MANY_PATHS, "nvme4n1", {"244:9", "245:4", "245:5"}),
    ],
    ids=["SCSI", "first namespace", "second namespace", "several paths"],
)
async def test_every_node_of_a_disk_is_known(files: Mapping[str, str], name: str, numbers: set[str]) -> None:
    tree = await read_tree(FakeHost(machine(files)), guarded=True)
    assert set(tree.nodes[name].characters) == numbers


@pytest.mark.parametrize(
    ("files", "name", "devno", "opened"),
    [
        (SCSI, "sdb", "8:16", "21:3"),
        (SCSI, "sdb", "8:16", "248:3"),
        (TWO_NAMESPACES, "nvme1n1", "259:1", "244:1"),
        (TWO_NAMESPACES, "nvme1n1", "259:1", "245:1"),
        (MANY_PATHS, "nvme4n1", "259:9", "244:9"),
        (MANY_PATHS, "nvme4n1", "259:9", "245:5"),
    ],
)
async def test_whoever_has_a_node_open_uses_the_disk(
    files: Mapping[str, str], name: str, devno: str, opened: str
) -> None:
    assert await uses(files, name, devno, opened) == ["qemu (process 7) has it open"]


async def test_another_namespace_of_the_same_controller_is_another_disk() -> None:
    assert await uses(TWO_NAMESPACES, "nvme1n1", "259:1", "244:2") == []


async def test_a_block_device_with_the_numbers_of_a_node_is_none() -> None:
    assert await uses(SCSI, "sdb", "8:16", "248:3", kind="block") == []


async def test_a_raw_device_may_be_bound_to_any_disk_and_partition() -> None:
    part = {"/sys/block/sdb/sdb1/partition": "1", "/sys/block/sdb/sdb1/dev": "8:17", "/sys/block/sdb/sdb1/size": "8"}
    host = FakeHost(
        machine(SCSI | part, {"/dev/raw/raw1": ""}),
        stats={"/dev/raw/raw1": FileStat(kind="char", size=0, devno="162:1")},
    )
    nodes = (await read_tree(host, guarded=True)).nodes
    assert all("char 162:1" in nodes[name].openings for name in ("sdb", "sdb1"))


async def uses(files: Mapping[str, str], name: str, devno: str, opened: str, *, kind: str = "char") -> list[str]:
    """What uses a disk while a program has the device with these numbers open."""
    host = FakeHost(
        machine(files) | {"/proc/7/task/7/fd/3": "", "/proc/7/comm": "qemu"},
        stats={
            f"/dev/{name}": FileStat(kind="block", size=0, devno=devno),
            "/proc/7/task/7/fd/3": FileStat(kind=kind, size=0, devno=opened),
        },
    )
    facts = await gather_facts(host, f"/dev/{name}", claim=None, probe=False)
    return [use.detail for use in facts.uses]
