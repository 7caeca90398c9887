"""Users of a device that the kernel tells little of, and odd devices above and below each other."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.lab.disks import BLOCK, Disk
from tests.lab.layers import loop
from tests.lab.making import bcache_device, dm_target, md_array, two_path_disk
from tests.lab.results import Results
from tests.lab.running import run
from tests.lab.uses import mount
from tests.lab.writing import Writer, told

pytestmark = [pytest.mark.vendors("block", "md"), pytest.mark.seconds(400)]

Blank = Callable[..., tuple[Disk, ...]]

SECTORS = 65536


@dataclass(frozen=True)
class Tried:
    """A device that a run is to write over, and what has to come of it."""

    device: str
    said: str = ""
    """What the refusal has to contain; "" where the device is free."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What to call devices in the table whose names are others at each boot."""


@contextmanager
def overlapping_partitions(disk: Disk, first: tuple[int, int], second: tuple[int, int]) -> Iterator[tuple[str, str]]:
    """Two partitions of a DOS table by first sector and number of sectors; they may share some."""
    entries = [struct.pack("<B3sB3sII", 0, b"\0\2\0", 0x83, b"\xff\xff\xff", *each) for each in (first, second)]
    with open(disk.device, "r+b", buffering=0) as file:
        file.write(bytes(446) + b"".join(entries) + bytes(32) + b"\x55\xaa")
    run("blockdev", "--rereadpt", disk.device)
    found = sorted(path.parent.name for path in disk.sysfs.glob(f"{disk.kernel}*/partition"))
    assert len(found) == 2, found
    yield f"/dev/{found[0]}", f"/dev/{found[1]}"


@contextmanager
def journal_on(device: str, other: str, point: Path) -> Iterator[None]:
    """A mounted ext4 on `other` with its journal on `device`."""
    run("mke2fs", "-q", "-b", "4096", "-O", "journal_dev", device)
    run("mke2fs", "-q", "-b", "4096", "-t", "ext4", "-J", f"device={device}", other)
    with mount(other, point):
        yield


@contextmanager
def journal_on_an_overlapping_partition(disk: Disk, other: Disk, folder: Path) -> Iterator[Tried]:
    with (
        overlapping_partitions(disk, (2048, SECTORS), (4096, SECTORS)) as (one, two),
        dm_target(f"0 {SECTORS} linear {one} 0") as made,
        journal_on(two, other.device, folder / "m"),
    ):
        yield Tried(made.device, f"{two}, the journal of {other.device}, mounted on {folder / 'm'}")


@contextmanager
def free_overlapping_partition(disk: Disk, other: Disk, folder: Path) -> Iterator[Tried]:
    with (
        overlapping_partitions(disk, (2048, SECTORS), (4096, SECTORS)) as (one, _two),
        dm_target(f"0 {SECTORS} linear {one} 0") as made,
    ):
        yield Tried(made.device)


@contextmanager
def bitmap_file(disk: Disk, other: Disk, folder: Path) -> Iterator[Tried]:
    run("mkfs.ext4", "-q", disk.device)
    with ExitStack() as stack:
        bitmap = stack.enter_context(mount(disk.device, folder / "m")) / "bitmap"
        tables = (f"0 {SECTORS} linear {other.device} {start}" for start in (0, 2 * SECTORS))
        members = [stack.enter_context(dm_target(table)) for table in tables]
        made = stack.enter_context(md_array("raid1", members, f"--bitmap={bitmap}", size="16M"))
        os.truncate(bitmap, 8 << 20)  # the bitmap of so small an array is less than a block
        yield Tried(stack.enter_context(loop(bitmap)), f"the bitmap of {made.device}")


@contextmanager
def path_of_a_map(disk: Disk, other: Disk, folder: Path) -> Iterator[Tried]:
    run("modprobe", "dm-round-robin")
    with two_path_disk() as (first, second):
        run("mkfs.ext4", "-q", first.device)
        with (
            mount(first.device, folder / "m") as point,
            dm_target(f"0 {SECTORS} multipath 0 0 1 1 round-robin 0 1 1 {second.device} 1000") as made,
        ):
            yield Tried(made.device, f"mounted on {point}", {first.kernel: "sdX", second.kernel: "sdY"})


@contextmanager
def partition_of_a_path(disk: Disk, other: Disk, folder: Path) -> Iterator[Tried]:
    run("modprobe", "dm-round-robin")
    with two_path_disk() as (first, second):
        run("addpart", first.device, "1", "2048", "65536")
        part = f"{first.device}1"
        run("mkfs.ext4", "-q", part)
        with (
            mount(part, folder / "m") as point,
            dm_target(f"0 {SECTORS} multipath 0 0 1 1 round-robin 0 1 1 {second.device} 1000") as made,
        ):
            names = {first.kernel: "sdX", second.kernel: "sdY"}
            yield Tried(made.device, f"{part} is mounted on {point}", names)


@contextmanager
def zram(*settings: tuple[str, str]) -> Iterator[str]:
    run("modprobe", "zram")
    try:
        for name, text in settings:
            (BLOCK / "zram0" / name).write_text(text)
        yield "/dev/zram0"
    finally:
        (BLOCK / "zram0/reset").write_text("1")
        run("modprobe", "-r", "zram")


@contextmanager
def target_over_zram(disk: Disk, other: Disk, folder: Path) -> Iterator[Tried]:
    with zram(("disksize", "64M")) as lower, dm_target(f"0 {SECTORS} linear {lower} 0") as made:
        yield Tried(made.device)


@contextmanager
def target_over_zram_that_writes_back(disk: Disk, other: Disk, folder: Path) -> Iterator[Tried]:
    with (
        zram(("backing_dev", disk.device), ("disksize", "64M")) as lower,
        dm_target(f"0 {SECTORS} linear {lower} 0") as made,
    ):
        yield Tried(made.device)


@contextmanager
def target_below_zram(disk: Disk, other: Disk, folder: Path) -> Iterator[Tried]:
    with (
        dm_target(f"0 {SECTORS} linear {disk.device} 0") as lower,
        dm_target(f"0 {SECTORS} linear {disk.device} 2048") as made,
        zram(("backing_dev", lower.device)),
    ):
        yield Tried(made.device, "zram0")


@contextmanager
def target_beside_a_cached_one(disk: Disk, other: Disk, folder: Path) -> Iterator[Tried]:
    with (
        dm_target(f"0 {SECTORS} linear {disk.device} 0") as lower,
        dm_target(f"0 {SECTORS} linear {disk.device} 2048") as made,
        bcache_device(lower.device),
    ):
        yield Tried(made.device, "bcache0")


@contextmanager
def target_beside_a_second_btrfs_device(disk: Disk, other: Disk, folder: Path) -> Iterator[Tried]:
    run("modprobe", "btrfs")
    with (
        dm_target(f"0 {4 * SECTORS} linear {disk.device} 0") as lower,
        dm_target(f"0 {SECTORS} linear {disk.device} 2048") as made,
    ):
        run("mkfs.btrfs", "-q", "-m", "raid1", "-d", "raid1", other.device, lower.device)
        with mount(other.device, folder / "m") as point:
            yield Tried(made.device, f"mounted on {point}")


CASES = {
    "external journal on an overlapping partition": journal_on_an_overlapping_partition,
    "free overlapping partition": free_overlapping_partition,
    "file with the bitmap of an array": bitmap_file,
    "multipath map of the other path of a mounted disk": path_of_a_map,
    "multipath map of the other path of a mounted partition": partition_of_a_path,
    "target over zram": target_over_zram,
    "target over zram that writes back": target_over_zram_that_writes_back,
    "target beside a backing device of zram": target_below_zram,
    "target beside a backing device of bcache": target_beside_a_cached_one,
    "target beside the second device of a mounted btrfs": target_beside_a_second_btrfs_device,
}


@pytest.mark.parametrize("name", CASES)
def test_a_device_with_an_odd_user_is_refused_and_a_free_one_is_written(
    writer: Writer, blank: Blank, table: Results, state: Path, tmp_path: Path, name: str
) -> None:
    disk, other = blank("nvme0", "nvme1")
    with CASES[name](disk, other, tmp_path) as tried:
        result, said = writer.raw(tried.device, Path(tried.device).name, size="4M")
    ok = result == ("refused" if tried.said else "written") and tried.said in said
    words = told(said, {**tried.names, disk.kernel: "nvme0", other.kernel: "nvme1"}, tmp_path)
    assert table.add("Guard", name, result, "-", "-", words, ok=ok), said
