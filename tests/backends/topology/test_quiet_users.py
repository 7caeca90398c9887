"""Journals, logs, bitmaps and images that the kernel uses count, though it shows them in none of its usual lists."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backends.guard import Intent, judge_device
from backends.host import Completed, FileStat
from backends.topology import facts, scan_topology
from backends.topology.facts import gather_facts
from tests.backends.fakes import FakeHost, one_disk
from tests.backends.test_beneath import add, dm_on_disk, part, said

MOUNT = "\n36 1 {devno} / {point} rw - {fstype} {source} rw{more}\n"
NUMBERS = {"sdk1": "8:161", "sdk2": "8:162"}


@pytest.fixture
def host() -> FakeHost:
    return one_disk()


def mount(host: FakeHost, devno: str, fstype: str, source: str, more: str = "", point: str = "/m") -> None:
    line = MOUNT.format(devno=devno, fstype=fstype, source=source, more=more, point=point)
    host.files["/proc/self/mountinfo"] = host.files.get("/proc/self/mountinfo", "") + line


def journal(host: FakeHost, name: str = "sdl", thread: str = "jbd2/sdl") -> None:
    """A mounted ext4 on sdk with its journal on another device."""
    add(host, "sdm", serial="M1")
    host.files |= {
        f"/proc/fs/jbd2/{name}/info": "",
        "/sys/fs/ext4/sdm/journal_task": "77\n",
        "/proc/77/comm": f"{thread}\n",
    }
    mount(host, "8:192", "ext4", "/dev/sdm")


async def test_a_journal_on_a_device_of_its_own_is_a_use_of_that_device(host: FakeHost) -> None:
    part(host, "sdk1")
    journal(host, "sdk1", "jbd2/sdk1")
    assert "/dev/sdk1 is the journal of /dev/sdm, mounted on /m." in await said(host, "/dev/sdk1")
    assert "/dev/sdk1 is the journal of /dev/sdm, mounted on /m." in await said(host, "/dev/sdk")
    assert "Unmount it first" in (await judge_device(host, "/dev/sdk", Intent.WRITE))[1].hint


async def test_it_counts_for_a_target_on_the_same_sectors(host: FakeHost) -> None:
    dm_on_disk(host)
    journal(host, "sdk1", "jbd2/sdk1")
    words = "/dev/mapper/a is on the same part of /dev/sdk as /dev/sdk1, the journal of /dev/sdm, mounted on /m."
    assert words in await said(host, "/dev/dm-0")


async def test_a_journal_inside_its_file_system_is_none(host: FakeHost) -> None:
    journal(host, "sdk-8", "jbd2/sdk-8")
    assert "journal" not in await said(host, "/dev/sdk")


async def test_a_journal_of_which_nobody_says_whose_it_is_counts_all_the_same(host: FakeHost) -> None:
    journal(host, "sdk", "another thread")
    assert "/dev/sdk is the journal of a mounted filesystem." in await said(host, "/dev/sdk")


async def test_the_journal_of_what_was_unmounted_lazily_counts(host: FakeHost) -> None:
    journal(host, "sdk", "jbd2/sdk")
    host.files["/proc/self/mountinfo"] = MOUNT.format(devno="0:1", point="/", fstype="tmpfs", source="none", more="")
    assert "/dev/sdk is the journal of /dev/sdm." in await said(host, "/dev/sdk")


@pytest.mark.parametrize(("option", "words"), [("logdev", "the log"), ("rtdev", "the realtime device")])
async def test_the_other_devices_of_a_mounted_xfs_count(host: FakeHost, option: str, words: str) -> None:
    add(host, "sdm", serial="M1")
    host.stats["/dev/disk/by-id/my log"] = host.stats["/dev/sdk"]
    mount(host, "8:192", "xfs", "/dev/sdm", more=f",noquota,{option}=/dev/disk/by-id/my\\040log")
    assert f"/dev/sdk is {words} of /dev/sdm, mounted on /m." in await said(host, "/dev/sdk")


def image(host: FakeHost, path: str = "/srv/my image") -> None:
    """Two loop devices on files of an ext4: the one in question, and another one."""
    mount(host, "8:1", "ext4", "/dev/sda1", point="/srv")
    for name, inode in (("loop0", 12), ("loop1", 13)):
        file = path if name == "loop0" else "/srv/other"
        host.stats[file] = FileStat(kind="file", size=4096, place=f"8:1:{inode}")
        add(host, name, loop__backing_file=file)


def bitmap(host: FakeHost, path: str, location: str = "file") -> None:
    add(host, "md0")
    host.files["/sys/block/md0/md/bitmap/location"] = f"{location}\n"
    host.files["/proc/mdstat"] = (
        "Personalities : [raid1]\n"
        "md0 : active raid1 sdb[1] sda[0]\n"
        "      16384 blocks super 1.2 [2/2] [UU]\n"
        f"      bitmap: 0/1 pages [0KB], 65536KB chunk, file: {path}\n\nunused devices: <none>\n"
    )


async def test_a_file_with_the_bitmap_of_an_array_is_in_use_beneath_a_loop_device(host: FakeHost) -> None:
    image(host)
    bitmap(host, "/srv/my\\040image")
    assert "/dev/loop0 is set up on /srv/my image, the bitmap of /dev/md0." in await said(host, "/dev/loop0")
    assert "bitmap" not in await said(host, "/dev/loop1")


async def test_a_bitmap_on_the_members_asks_for_no_file(host: FakeHost) -> None:
    image(host)
    bitmap(host, "/srv/my\\040image", location="+8")
    assert "bitmap" not in await said(host, "/dev/loop0")


async def test_a_bitmap_in_a_file_that_is_not_there_makes_every_file_doubtful_and_no_disk(host: FakeHost) -> None:
    image(host)
    bitmap(host, "/old/bitmap")
    words = "/dev/loop1 cannot be verified as unused: /old/bitmap is the bitmap of /dev/md0, and its file is unknown"
    assert words in await said(host, "/dev/loop1")
    assert "bitmap" not in await said(host, "/dev/sdk")


async def test_an_image_that_is_mounted_without_a_loop_device_is_in_use(host: FakeHost) -> None:
    image(host)
    mount(host, "0:44", "erofs", "/srv/my\\040image", point="/image")
    assert "/dev/loop0 is set up on /srv/my image, mounted on /image." in await said(host, "/dev/loop0")
    assert "/image" not in await said(host, "/dev/loop1")


async def test_an_image_that_was_mounted_by_a_name_in_some_folder_makes_every_file_doubtful(host: FakeHost) -> None:
    image(host)
    host.stats["my image"] = FileStat(kind="file", size=4096, place="8:1:12")  # where we stand by chance
    mount(host, "0:44", "erofs", "my\\040image", point="/image")
    words = "my image is mounted on /image, and its file is unknown"
    assert words in await said(host, "/dev/loop0")
    assert words in await said(host, "/dev/loop1")


@pytest.mark.parametrize(
    ("devno", "fstype", "source"),
    [("7:9", "erofs", "/dev/loop9"), ("0:44", "erofs", "none"), ("0:44", "tmpfs", "whatever"), ("0:44", "nfs", "a:/b")],
)
async def test_what_is_mounted_of_a_device_or_of_nothing_is_no_image(
    host: FakeHost, devno: str, fstype: str, source: str
) -> None:
    image(host)
    mount(host, devno, fstype, source, point="/image")
    assert "and its file is unknown" not in await said(host, "/dev/loop1")


async def test_the_list_of_devices_reads_none_of_it(host: FakeHost) -> None:
    journal(host, "sdk", "jbd2/sdk")
    assert (await scan_topology(host)).quiet.devices == {}


# -- what can be claimed ----------------------------------------------------------------------------------------------


async def claimed(host: FakeHost, device: str, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[str]]:
    """Return what the guard tries to claim for a device, and what it holds along with that."""
    tried: list[str] = []

    def claim(path: str, _devno: str) -> str | None:
        tried.append(path)
        return None

    async def nothing(*_words: Any, **_more: Any) -> tuple[dict[str, tuple[Any, ...]], None]:
        return {}, None

    monkeypatch.setattr(facts, "lasting_openers", nothing)
    known = await gather_facts(host, device, claim=claim, probe=False)
    assert known.unknown == ()
    return tried, [identity.name for identity in known.along]


def target_on(host: FakeHost, below: str) -> None:
    """dm-0 over 1000 sectors of a disk or of its first partition; sdk1 and sdk2 overlap."""
    for name, first in (("sdk1", "0"), ("sdk2", "500")):
        part(host, name)
        host.files[f"/sys/block/sdk/{name}/start"] = first
    add(host, "dm-0", on=below, dm__name="a", dm__uuid="CRYPT-a", size=1000 * 512)
    number = NUMBERS.get(below, "8:160")
    host.tools["dmsetup"] = Completed(returncode=0, stdout=f"a: 0 1000 linear {number} 0\n", stderr="")


async def test_an_overlapping_partition_is_claimed_if_only_a_partition_is_taken(
    host: FakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    target_on(host, "sdk1")
    tried, along = await claimed(host, "/dev/dm-0", monkeypatch)
    assert "/dev/sdk2" in tried
    assert "sdk2" in along
    assert "/dev/sdk1" not in tried


async def test_no_partition_of_a_disk_that_is_taken_as_a_whole_is_claimed(
    host: FakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    target_on(host, "sdk")
    tried, along = await claimed(host, "/dev/dm-0", monkeypatch)
    assert [path for path in tried if path.startswith("/dev/sdk")] == []
    assert [name for name in along if name.startswith("sdk")] == []


async def test_the_disk_that_a_zram_has_claimed_is_not_claimed_for_it(
    host: FakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(host, "zram0", backing_dev="/dev/sdl")
    host.stats["/dev/zram0"] = replace(host.stats["/dev/zram0"])
    tried, _ = await claimed(host, "/dev/zram0", monkeypatch)
    assert "/dev/zram0" in tried
    assert "/dev/sdl" not in tried


async def test_the_disk_below_a_loop_device_is_claimed(host: FakeHost, monkeypatch: pytest.MonkeyPatch) -> None:
    add(host, "loop0", loop__backing_file="/dev/sdl")
    host.tools["losetup"] = Completed(returncode=0, stdout="/dev/loop0 0:0 0\n", stderr="")
    monkeypatch.setattr("backends.topology.loop_backing._compare_with_kernel", lambda seen, _stat, _told: seen)
    tried, _ = await claimed(host, "/dev/loop0", monkeypatch)
    assert "/dev/sdl" in tried
