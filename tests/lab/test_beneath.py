"""Whoever uses a part of a disk is seen from everything that is built on the same part, and from nothing beside it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.lab.disks import Disk
from tests.lab.exporting import nvme_export
from tests.lab.layers import loop
from tests.lab.making import bcache_device, dm_node, dm_target, md_array
from tests.lab.running import run
from tests.lab.uses import OPENER, mount, program
from tests.lab.writing import Writer

pytestmark = [pytest.mark.vendors("block", "md"), pytest.mark.seconds(400)]

Blank = Callable[..., tuple[Disk, ...]]

START, LENGTH = 16384, 32768
"""Sectors of the partition that is used; what is built covers it."""
FIRST, SECTORS = 2048, 65536
"""Sectors of the disk that a target of device-mapper is built on."""


# -- what is built on the disk, each with the partition below it -------------------------------------------------------


@contextmanager
def linear(disk: Disk, other: Disk) -> Iterator[str]:
    with dm_target(f"0 {SECTORS} linear {disk.device} {FIRST}") as made:
        yield made.device


@contextmanager
def striped(disk: Disk, other: Disk) -> Iterator[str]:
    with dm_target(f"0 {2 * SECTORS} striped 2 128 {other.device} 0 {disk.device} {FIRST}") as made:
        yield made.device


@contextmanager
def target_over_target(disk: Disk, other: Disk) -> Iterator[str]:
    with linear(disk, other) as lower, dm_target(f"0 {SECTORS} linear {lower} 0") as made:
        yield made.device


@contextmanager
def loop_over_target(disk: Disk, other: Disk) -> Iterator[str]:
    with linear(disk, other) as lower, loop(lower) as made:
        yield made


@contextmanager
def multipath(disk: Disk, other: Disk) -> Iterator[str]:
    run("modprobe", "dm-round-robin")
    with dm_target(f"0 {FIRST + SECTORS} multipath 0 0 1 1 round-robin 0 1 1 {disk.device} 1000") as made:
        yield made.device


@contextmanager
def group(name: str, *disks: str) -> Iterator[None]:
    """A volume group of 1 MiB extents; its first extent begins at 1 MiB."""
    devices = ",".join(disks)
    run("lvm", "vgcreate", "--yes", "--devices", devices, "--physicalextentsize=1M", name, *disks)
    try:
        yield
    finally:
        run("lvm", "vgremove", "--force", "--devices", devices, name)
        for one in disks:
            run("lvm", "pvremove", "--yes", "--devices", devices, one)


def volume(name: str, on: str, *words: str) -> str:
    """The node of a new logical volume NAME of the group `labgroup`."""
    run("lvm", "lvcreate", "--yes", "--devices", on, "-Wn", "-Zn", f"--name={name}", *words)
    return dm_node(f"labgroup-{name}")


@contextmanager
def logical_volume(disk: Disk, other: Disk) -> Iterator[str]:
    with group("labgroup", disk.device):
        yield volume("data", disk.device, "--size=32M", "labgroup")


@contextmanager
def array(disk: Disk, other: Disk) -> Iterator[str]:
    with md_array("raid1", [disk, other], size="32M") as made:
        yield made.device


@contextmanager
def volume_on_array(disk: Disk, other: Disk) -> Iterator[str]:
    with array(disk, other) as lower, group("labgroup", lower):
        yield volume("data", lower, "--size=16M", "labgroup")


@contextmanager
def cached(disk: Disk, other: Disk) -> Iterator[str]:
    with bcache_device(disk.device) as made:
        yield made.device


BUILT = {
    "target": linear,
    "striped target": striped,
    "target over a target": target_over_target,
    "loop device over a target": loop_over_target,
    "multipath device": multipath,
    "logical volume": logical_volume,
    "array": array,
    "logical volume on an array": volume_on_array,
    "bcache device": cached,
}


# -- who uses the partition --------------------------------------------------------------------------------------------


@contextmanager
def mounted_loop(disk: Disk, part: str, folder: Path) -> Iterator[str]:
    with loop(part) as made:
        run("mkfs.ext4", "-q", "-O", "^has_journal", "-E", "lazy_itable_init=0", made)
        with mount(made, folder / "point"):
            yield f"mounted on {folder / 'point'}"


@contextmanager
def mounted_loop_on_the_disk(disk: Disk, part: str, folder: Path) -> Iterator[str]:
    with loop(disk.device, f"--offset={START * 512}", f"--sizelimit={LENGTH * 512}") as made:
        run("mkfs.ext4", "-q", "-O", "^has_journal", "-E", "lazy_itable_init=0", made)
        with mount(made, folder / "point"):
            yield f"mounted on {folder / 'point'}"


@contextmanager
def opened(disk: Disk, part: str, folder: Path) -> Iterator[str]:
    with program(sys.executable, "-c", OPENER, part) as holder:
        yield f"(process {holder.pid}) has it open"


@contextmanager
def swap_on_loop(disk: Disk, part: str, folder: Path) -> Iterator[str]:
    with loop(part) as made:
        run("mkswap", made)
        run("swapon", made)
        try:
            yield "active swap"
        finally:
            run("swapoff", made)


@contextmanager
def exported(disk: Disk, part: str, folder: Path) -> Iterator[str]:
    with nvme_export(part) as subsystem:
        yield f"exported by the NVMe target {subsystem.name}"


@contextmanager
def free_loop(disk: Disk, part: str, folder: Path) -> Iterator[str]:
    with loop(part) as made:
        yield f"{made}, which is set up there"


USERS = {
    "loop device, mounted": mounted_loop,
    "loop device on the whole disk, mounted": mounted_loop_on_the_disk,
    "program": opened,
    "loop device, swap": swap_on_loop,
    "NVMe target": exported,
    "loop device": free_loop,
}

PAIRS = [(built, "loop device, mounted") for built in BUILT]
PAIRS += [("target", user) for user in USERS if user != "loop device, mounted"]
PAIRS += [("logical volume", "program"), ("array", "program")]


@contextmanager
def partition_below(disk: Disk, number: int = 1, start: int = START, sectors: int = LENGTH) -> Iterator[str]:
    """The node of a partition that only the kernel knows: no table says that it is there."""
    run("addpart", disk.device, str(number), str(start), str(sectors))
    try:
        yield f"/dev/{disk.kernel}{number}"
    finally:
        run("delpart", disk.device, str(number))


def bytes_of(disk: Disk) -> bytes:
    """Return the used part of a disk. An array below writes its superblock, in front of that, whenever it is idle."""
    run("sync")
    run("blockdev", "--flushbufs", disk.device)
    with open(disk.device, "rb") as file:
        file.seek(START * 512)
        return file.read(LENGTH * 512)


@pytest.mark.parametrize(("built", "user"), PAIRS)
def test_who_uses_a_part_of_the_disk_below_is_named_and_not_written_over(
    writer: Writer, blank: Blank, state: Path, tmp_path: Path, built: str, user: str
) -> None:
    disk, other = blank("scsi0", "scsi1")
    with (
        BUILT[built](disk, other) as device,
        partition_below(disk) as part,  # mdadm would remove one that is there before
        USERS[user](disk, part, tmp_path) as used,
    ):
        before = bytes_of(disk)
        result, said = writer.raw(device, Path(device).name)
        untouched = bytes_of(disk) == before
    assert (result, untouched) == ("refused", True), said
    assert used in said


# -- neighbours, which the kernel's tables prove disjoint --------------------------------------------------------------


@contextmanager
def beside_a_partition(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    with (
        partition_below(disk) as part,
        dm_target(f"0 {SECTORS} linear {disk.device} {START + LENGTH}") as made,
        mounted_loop(disk, part, folder),
    ):
        yield made.device


@contextmanager
def beside_a_volume(disk: Disk, other: Disk, folder: Path, *, on_array: bool = False) -> Iterator[str]:
    with ExitStack() as stack:
        lower = stack.enter_context(array(disk, other)) if on_array else disk.device
        stack.enter_context(group("labgroup", lower))
        used = volume("used", lower, "--size=8M", "labgroup")
        free = volume("free", lower, "--size=8M", "labgroup")
        run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0", used)
        stack.enter_context(mount(used, folder / "point"))
        yield free


@contextmanager
def beside_a_thin_volume(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    run("modprobe", "dm-thin-pool")
    with ExitStack() as stack:
        stack.enter_context(group("labgroup", disk.device))
        lvcreate = ("lvm", "lvcreate", "--yes", "--devices", disk.device)
        run(*lvcreate, "--type=thin-pool", "--size=64M", "--poolmetadatasize=2M", "--zero=n", "--name=pool", "labgroup")
        nodes = []
        for name in ("used", "free"):
            run(*lvcreate, "--thin", "--virtualsize=16M", f"--name={name}", "labgroup/pool")
            nodes.append(dm_node(f"labgroup-{name}"))
        run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0", nodes[0])
        stack.enter_context(mount(nodes[0], folder / "point"))
        yield nodes[1]


@contextmanager
def array_beside_a_mounted_partition(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    with (
        partition_below(disk) as used,
        partition_below(disk, 2, START + LENGTH, 131072) as free,
        md_array("raid1", [free, other], size="32M") as made,
    ):
        run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0", used)
        with mount(used, folder / "point"):
            yield made.device


def beside_a_volume_on_an_array(disk: Disk, other: Disk, folder: Path) -> AbstractContextManager[str]:
    return beside_a_volume(disk, other, folder, on_array=True)


NEIGHBOURS = {
    "target beside a mounted partition": beside_a_partition,
    "logical volume beside a mounted one": beside_a_volume,
    "the same on an array": beside_a_volume_on_an_array,
    "thin volume beside a mounted one": beside_a_thin_volume,
    "array on a partition beside a mounted one": array_beside_a_mounted_partition,
}


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_what_the_tables_of_the_kernel_prove_disjoint_is_written(
    writer: Writer, blank: Blank, state: Path, tmp_path: Path, name: str
) -> None:
    disk, other = blank("scsi0", "scsi1")
    with NEIGHBOURS[name](disk, other, tmp_path) as device:
        result, said = writer.raw(device, Path(device).name, **({"size": "8M"} if "volume" in name else {}))
    assert (result, said) == ("written", "")
