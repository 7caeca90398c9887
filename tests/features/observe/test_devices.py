"""Which block device a target means, and what is below partitions and loop devices."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from app.core.workbench import Workbench
from app.features.observe.observer import find_device
from app.features.observe.presentation import next_step, observation_lines
from backends.errors import InvalidValueError, NotFoundError
from backends.host import FileStat
from tests.features.observe.machines import FLUSHER, READER, Moving

MOUNTS = """\
22 1 8:17 / / rw - ext4 /dev/sdb1 rw
23 22 8:16 / /whole rw - xfs /dev/sdb rw
24 22 0:40 / /pool rw - btrfs /dev/sdc rw
25 22 0:41 / /memory rw - tmpfs tmpfs rw"""

FOLDER = FileStat(kind="directory", size=4096)


def parted(file: str = "/images/disk") -> Moving:
    """A disk sdb with one partition, and a loop device whose file is on that, with one partition, too."""
    moving = Moving("sda", "sdb", "loop0", files={"/sys/block/loop0/loop/backing_file": file})
    for disk, number, part in (("sdb", "8:16", "8:17"), ("loop0", "7:0", "259:0")):
        name = f"{disk}1" if disk == "sdb" else f"{disk}p1"
        folder = f"/sys/block/{disk}/{name}"
        moving.host.files |= {f"/sys/block/{disk}/dev": number, f"{folder}/dev": part, f"{folder}/partition": "1"}
        moving.counters[name] = dict.fromkeys(Moving.FIELDS, 1000.0)
    moving.host.files["/proc/self/mountinfo"] = MOUNTS
    moving.show()
    return moving


def bench_of(moving: Moving) -> Workbench:
    """A workbench that lists no device."""

    async def find(address: str) -> None:
        raise NotFoundError(f"{address!r} does not exist.")

    return cast(Workbench, SimpleNamespace(host=moving.host, hardware=SimpleNamespace(find=find)))


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("sdb1", "sdb1"),
        ("block:sdb1", "sdb1"),
        ("/dev/sdb1", "sdb1"),
        ("loop0", "loop0"),
        ("/dev/disk/by-label/data", "sdb1"),
        ("/srv/data", "sdb1"),
        ("/whole", "sdb"),
        ("/srv/link", "sdb"),
    ],
)
async def test_a_target_is_a_device_a_partition_or_what_a_folder_is_on(target: str, name: str) -> None:
    moving = parted()
    moving.host.links |= {"/dev/disk/by-label/data": "/dev/sdb1", "/srv/link": "/whole/data"}
    moving.host.stats |= dict.fromkeys(("/srv/data", "/whole", "/srv/link"), FOLDER)
    moving.host.stats["/dev/disk/by-label/data"] = FileStat(kind="block", size=0, devno="8:17")
    assert await find_device(bench_of(moving), target) == name


@pytest.mark.parametrize(("path", "fstype"), [("/pool", "btrfs"), ("/memory/x", "tmpfs")])
async def test_a_folder_that_is_not_on_one_device_is_a_sentence_with_the_next_step(path: str, fstype: str) -> None:
    moving = parted()
    moving.host.stats[path] = FOLDER
    with pytest.raises(InvalidValueError, match=f"{path} is on {fstype}, which is not on one block device") as raised:
        await find_device(bench_of(moving), path)
    assert "leave out the target to observe all disks" in (raised.value.hint or "")


async def test_what_is_neither_a_device_nor_a_file_does_not_exist() -> None:
    with pytest.raises(NotFoundError, match="'sdb2' does not exist"):
        await find_device(bench_of(parted()), "sdb2")


async def test_a_partition_has_its_own_rates_and_the_flushes_of_its_disk() -> None:
    """The kernel counts flushes for the whole disk only."""
    part = {**FLUSHER, "flushes": 0, "flush_ms": 0}
    seen = await parted().observe("sdb1", {"sdb1": part, "sdb": FLUSHER, "sda": {}}, {"": 0.5})
    text = "\n".join(observation_lines(seen))
    assert text.startswith("sdb1, 10 s: reads 0/s, writes 284/s of 4 KiB (1.41 ms), flushes not known (only disks")
    assert "The disks below it (sdb) can differ." in text
    assert "Below it: sdb reads 0/s, writes 142 to 284/s of 4 KiB to 8 KiB (1.41 ms), 142 flushes/s" in text
    assert next_step(seen)[0] == "flushes"


async def test_a_partition_of_a_disk_that_is_not_counted_is_not_known() -> None:
    moving = parted()
    moving.host.files["/sys/block/sdb/queue/iostats"] = "0"
    seen = await moving.observe("sdb1", {"sdb": READER}, {"": 0.5})
    assert "not known: the kernel does not count its I/O (queue/iostats is 0)." in observation_lines(seen)[0]


@pytest.mark.parametrize("name", ["loop0", "loop0p1"])
async def test_the_disk_of_the_file_of_a_loop_device_is_below_it(name: str) -> None:
    seen = await parted().observe(name, {name: FLUSHER, "sdb": READER}, {"": 0.5})
    text = "\n".join(observation_lines(seen))
    assert ("142 flushes/s" in text, "flushes not known" in text) == (name == "loop0", name != "loop0")
    assert [other.device for other in seen.others] == ["sdb"]
    assert "Below it: sdb reads 820/s of 11.5 KiB" in text
    assert seen.busy_share == 1


@pytest.mark.parametrize("file", ["/memory/disk", "/pool/disk (deleted)"])
async def test_a_loop_device_on_no_disk_that_is_known_shows_its_own_rates(file: str) -> None:
    seen = await parted(file).observe("loop0", {"loop0": FLUSHER, "sdb": READER}, {"": 0.5})
    assert "142 flushes/s" in observation_lines(seen)[0]
    assert (seen.target.is_level, seen.others) == (False, ())
    assert seen.busy_share == pytest.approx(40 / 113, abs=0.01)
