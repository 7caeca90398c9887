"""What is left of a former file system is named before it is written over, though blkid and wipefs find nothing."""

from __future__ import annotations

import asyncio
import os
import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.errors import RefusedError
from backends.exclusive_open import pieces
from backends.guard import Intent, claim_device, judge_device
from backends.identity import Signature, new_content
from backends.system.local import LocalHost
from backends.topology.leftovers import leftovers, places
from tests.backends.loops import Loop, ext4, loop, needs_loops, needs_sight, run
from tests.case_loop import loop_over
from tests.packages import needs

MIB = 1 << 20
SIZE = 200 * MIB


def found_in(file: Path, size: int = SIZE) -> list[str]:
    """Return what is left in an image."""
    with open(file, "rb") as image:
        read = {}
        for start, length in places(size):
            image.seek(start)
            read[start] = image.read(length)
    return [signature.kind for signature in leftovers(read, size, None)]


def image(folder: Path, size: int = SIZE) -> Path:
    """Return a file of zeros, without any room of its own."""
    file = folder / "image"
    with open(file, "wb") as made:
        made.truncate(size)
    return file


def erase(file: Path, start: int, length: int) -> None:
    """Write zeros."""
    with open(file, "r+b") as opened:
        opened.seek(start)
        opened.write(bytes(length))


@needs("mkfs.ext4")
@pytest.mark.parametrize(("block", "where"), [(1024, "8.00 MiB"), (2048, "32 MiB"), (4096, "128 MiB")])
def test_the_copy_of_an_ext4_superblock_is_found(tmp_path: Path, block: int, where: str) -> None:
    file = image(tmp_path)
    ext4(file, "-b", str(block))
    erase(file, 0, MIB)
    assert found_in(file) == [f"former ext4 (a copy of its superblock at {where})"]


@pytest.mark.long
@needs("mkfs.ext4")
@pytest.mark.parametrize(
    ("options", "kind"),
    [(("-t", "ext2"), "ext2"), (("-t", "ext3"), "ext3"), (("-b", "4096", "-O", "journal_dev"), "jbd")],
)
def test_each_kind_of_ext_has_its_name(tmp_path: Path, options: tuple[str, ...], kind: str) -> None:
    inner = image(tmp_path, 64 * MIB)
    run("mke2fs", "-q", "-F", *options, str(inner))
    outer = tmp_path / "outer"
    outer.write_bytes(bytes(MIB) + inner.read_bytes())
    assert f"former {kind} (in a partition that began at 1 MiB)" in found_in(outer, 65 * MIB)


def make_btrfs(file: Path) -> None:
    """For a user, mkfs.btrfs refuses as long as any loop device is mounted, which may be another test's."""
    for _ in range(60):
        try:
            run("mkfs.btrfs", "-q", str(file))
        except subprocess.CalledProcessError as error:
            if "cannot check mount status" not in error.stderr:
                raise
            time.sleep(1.0)
        else:
            return
    pytest.skip("a loop device is mounted that mkfs.btrfs may not look at")


@needs("mkfs.btrfs")
def test_the_copy_of_a_btrfs_superblock_is_found(tmp_path: Path) -> None:
    file = image(tmp_path)
    make_btrfs(file)
    erase(file, 64 * 1024, 4096)
    assert found_in(file) == ["former btrfs (a copy of its superblock at 64 MiB)"]


SECOND_XFS_SUPERBLOCK = bytes.fromhex(
    "5846534200001000000000000001900000000000000000000000000000000000fd491cecbc2d4ed8b5fa1c0826957bee"
    "00000000000100060000000000000080ffffffffffffffffffffffffffffffff00000001000064000000000400000000"
    "00004000b4a50200"
)
"""The beginning of the superblock of the second allocation group of 400 MiB, as mkfs.xfs 6.1 wrote it."""


def test_the_copy_of_an_xfs_superblock_is_found(tmp_path: Path) -> None:
    file = image(tmp_path, 400 * MIB)
    with open(file, "r+b") as opened:
        opened.seek(100 * MIB)
        opened.write(SECOND_XFS_SUPERBLOCK)
    assert found_in(file, 400 * MIB) == ["former xfs (a copy of its superblock at 100 MiB)"]


def xfs_superblock(at: int) -> bytes:
    """Return the head of the superblock of an allocation group of so many bytes."""
    return b"XFSB" + struct.pack(">I", 4096) + bytes(76) + struct.pack(">I", at // 4096)


AT = {
    "NTFS's second boot sector": (SIZE - 512, b"\xeb\x52\x90NTFS    ", "ntfs"),
    "ReFS's second boot sector": (SIZE - 512, b"\0\0\0ReFS\0\0\0\0", "ReFS"),
    "FAT's second boot sector": (6 * 512 + 82, b"FAT32   ", "vfat"),
    "exFAT's second boot sector": (12 * 512 + 3, b"EXFAT   ", "exfat"),
    "F2FS's second superblock": (4096 + 1024, b"\x10\x20\xf5\xf2", "f2fs"),
    "JFS's second superblock": (61440, b"JFS1", "jfs"),
    "HFS+'s second volume header": (SIZE - 1024, b"H+\0\x04", "hfsplus"),
    "XFS's second allocation group": (SIZE // 4, xfs_superblock(SIZE // 4), "xfs"),
    "LUKS in a partition": (MIB, b"LUKS\xba\xbe", "crypto_LUKS"),
    "a physical volume in a partition": (MIB + 512, b"LABELONE", "LVM2_member"),
    "an md member in a partition": (MIB + 4096, b"\xfc\x4e\x2b\xa9\x01\0\0\0", "linux_raid_member"),
    "NTFS in a partition": (MIB + 3, b"NTFS    ", "ntfs"),
    "BitLocker in a partition": (MIB + 3, b"-FVE-FS-", "BitLocker"),
    "swap in a partition": (MIB + 4086, b"SWAPSPACE2", "swap"),
    "btrfs in a partition": (MIB + 65600, b"_BHRfS_M", "btrfs"),
    "FAT in a partition of a memory card": (4 * MIB + 82, b"FAT32   ", "vfat"),
    "XFS in a partition of a DOS table": (63 * 512, b"XFSB", "xfs"),
    "XFS in the first sectors of a GPT": (34 * 512, b"XFSB", "xfs"),
    "bluestore in a partition": (MIB, b"bluestore block device", "ceph_bluestore"),
}


@pytest.mark.parametrize("name", AT)
def test_what_is_left_is_found_where_it_lies(tmp_path: Path, name: str) -> None:
    at, data, kind = AT[name]
    file = image(tmp_path)
    with open(file, "r+b") as opened:
        opened.seek(at)
        opened.write(data)
    (found,) = found_in(file)
    assert found.startswith(f"former {kind} (")


@pytest.mark.parametrize(
    ("at", "data"),
    [
        (SIZE // 4, xfs_superblock(SIZE // 2)),  # of another group
        (64 * MIB + 64, b"_BHRfS_M"),  # which does not say that it lies there
        (8193 * 1024 + 56, b"\x53\xef"),  # two bytes alone
        (2 * MIB + 3, b"NTFS    "),
    ],
)
def test_what_only_looks_like_it_is_not_taken_for_it(tmp_path: Path, at: int, data: bytes) -> None:
    file = image(tmp_path)
    with open(file, "r+b") as opened:
        opened.seek(at)
        opened.write(data)
    assert found_in(file) == []


@given(size=st.integers(min_value=0, max_value=1 << 50), data=st.binary(max_size=5000))
def test_any_bytes_of_any_device_are_read_without_an_error(size: int, data: bytes) -> None:
    wanted = places(size)
    assert all(start >= 0 and start + length <= max(size, 0) for start, length in wanted)
    leftovers({start: data[:length] for start, length in wanted}, size, None)


@pytest.mark.root
@needs_loops()
@needs_sight()
class TestOnLoops:
    """Real devices."""

    @staticmethod
    async def seen(device: str) -> tuple[tuple[Signature, ...], tuple[str, ...], bool]:
        facts, answer = await judge_device(LocalHost(), device, Intent.WRITE)
        return facts.signatures, answer.content, answer.needs_confirmation

    @pytest.mark.long
    @needs("mkfs.ext4")
    async def test_it_is_named_in_the_question_and_needs_the_word(self, tmp_path: Path) -> None:
        with loop(tmp_path / "disk") as made:
            ext4(made.sure(), "-b", "1024")
            made.write(0, bytes(MIB))
            signatures, found, asked = await self.seen(made.device)
            words = f"{made.device}: former ext4 (a copy of its superblock at 8.00 MiB)"
            assert ([one.former for one in signatures], found, asked) == ([True], (words,), True)
            with pytest.raises(RefusedError, match="former ext4"):
                async with claim_device(LocalHost(), made.device, Intent.WRITE, None):
                    pass
            async with claim_device(LocalHost(), made.device, Intent.WRITE, made.name, shown=found):
                pass

    @needs("mkfs.ext4")
    async def test_a_disk_with_content_is_not_searched_for_more(self, tmp_path: Path) -> None:
        with loop(tmp_path / "disk") as made:
            ext4(made.sure())
            assert [signature.kind for signature in (await self.seen(made.device))[0]] == ["ext4"]

    async def test_a_blank_partition_is_searched_and_a_partition_table_is_not(self, tmp_path: Path) -> None:
        with loop(tmp_path / "disk", "--partscan") as made:
            (part,) = made.partition((2048, 65536))
            made.write(2 * MIB + 3, b"NTFS    ")  # 1 MiB from the beginning of the partition
            signatures, _, _ = await self.seen(part)
            assert [(one.kind, one.part) for one in signatures] == [
                ("former ntfs (in a partition that began at 1 MiB)", part.removeprefix("/dev/"))
            ]
            known = (await self.seen(made.device))[0]
            assert [one.kind for one in known if one.part is None] == ["dos"]
            assert signatures[0] in known

    async def test_a_device_that_cannot_be_read_there_counts_as_one_with_something_on_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("backends.guard.pieces_on", lambda _host: lambda *_words: None)
        with loop(tmp_path / "disk") as made:
            signatures, _, asked = await self.seen(made.device)
        assert ({one.kind for one in signatures}, asked) == ({"unknown"}, True)

    def test_places_of_another_device_are_not_read(self, tmp_path: Path) -> None:
        with loop(tmp_path / "disk") as made:
            number = os.stat(made.device).st_rdev
            devno = f"{os.major(number)}:{os.minor(number)}"
            assert pieces(made.device, devno, ((0, 4096),)) == (bytes(4096),)
            assert pieces(made.device, "7:9999", ((0, 4096),)) is None
            assert pieces(str(tmp_path / "none"), devno, ((0, 4096),)) is None


# -- signatures of others: each is named, or refused with what it is a part of -----------------------------------------


def _at(offset: int, data: bytes) -> Callable[[Loop], None]:
    return lambda made: made.write(offset, data)


DISK = 64 * MIB


def _luks2_second_header(made: Loop) -> None:
    words = ("--batch-mode", "--type=luks2", "--pbkdf=pbkdf2", "--pbkdf-force-iterations=1000", "--key-file=-")
    subprocess.run(("cryptsetup", "luksFormat", *words, made.sure()), input=b"secret", check=True)
    made.write(0, bytes(4096))


def _backup_gpt(made: Loop) -> None:
    import zlib

    sectors, entries = DISK // 512, bytes(128 * 128)
    numbers = (1, 34, sectors - 34, bytes(range(16)), sectors - 33, 128, 128, zlib.crc32(entries))
    head = struct.pack("<8sIIIIQQQQ16sQIII", b"EFI PART", 0x10000, 92, 0, 0, sectors - 1, *numbers)
    head = head[:16] + struct.pack("<I", zlib.crc32(head)) + head[20:]
    made.write(DISK - 33 * 512, entries + head)


def _hybrid_table(made: Loop) -> None:
    _backup_gpt(made)
    entries = [struct.pack("<B3sB3sII", 0, b"\0\2\0", kind, b"\xff\xff\xff", 1, 2047) for kind in (0xEE, 0x83)]
    made.write(446, b"".join(entries) + bytes(32) + b"\x55\xaa")


def _bitlocker(made: Loop) -> None:
    made.write(0, (b"\xeb\x58\x90-FVE-FS-".ljust(176, b"\0") + struct.pack("<Q", MIB)).ljust(512, b"\0"))
    made.write(MIB, b"-FVE-FS-" + struct.pack("<HH", 64, 2) + bytes(100))


FOREIGN: dict[str, tuple[Callable[[Loop], None], str]] = {
    "Intel's RAID": (_at(DISK - 1024, b"Intel Raid ISM Cfg Sig. 1.3.00\0\0"), "isw_raid_member"),
    "DDF": (_at(DISK - 512, b"\xde\x11\xde\x11" + bytes(20) + b"LSI     0123456789ab" + b"01.00.00"), "ddf"),
    "a backup GPT alone": (_backup_gpt, "gpt"),
    "a hybrid table": (_hybrid_table, ""),
    "the second header of LUKS2": (_luks2_second_header, "crypto_LUKS"),
    "bluestore": (_at(0, b"bluestore block device\n0123456789-0123456789-0123456789-01234\n"), "ceph_bluestore"),
    "VMFS": (_at(MIB, b"\x0d\xd0\x01\xc0" + bytes(4) + b"\x05" + bytes(200)), "VMFS_volume_member"),
    "BitLocker": (_bitlocker, "BitLocker"),
    "ReFS": (_at(0, b"\0\0\0ReFS\0" + bytes(500)), "ReFS"),
}


@pytest.mark.root
@needs_loops()
@needs("cryptsetup")
@pytest.mark.parametrize("name", FOREIGN)
def test_a_signature_of_somebody_else_is_refused_or_named_in_the_question(tmp_path: Path, name: str) -> None:
    make, kind = FOREIGN[name]
    with loop(tmp_path / "disk", size=DISK) as made:
        make(made)
        facts, answer = asyncio.run(judge_device(LocalHost(), made.device, Intent.WRITE))
    told = " ".join((*(one.kind for one in facts.signatures), *answer.refused, *answer.content))
    assert facts.signatures
    assert kind in told
    assert not answer.confirmed_by(None)


# -- what is left of what was agreed to lose is not new ---------------------------------------------------------------

REST = "former ext4 (a copy of its superblock at 8.00 MiB)"


@loop_over(
    ("found", "shown", "new"),
    [
        ([f"/dev/sdc: {REST}"], ["/dev/sdc: ext4, 64 MiB"], 0),
        ([f"/dev/sdc: {REST}"], ["/dev/sdc1: ext4, 64 MiB"], 0),
        ([f"/dev/sdc1: {REST}"], ["/dev/sdc: dos"], 0),
        ([f"/dev/sdc: {REST}"], [], 1),
        ([f"/dev/sdc: {REST}"], ["/dev/sdd: ext4, 64 MiB"], 1),
        (["/dev/sdc: xfs, 64 MiB"], ["/dev/sdc: ext4, 64 MiB"], 1),
        (["/dev/sdc: ext4, 64 MiB"], ["/dev/sdc: ext4, 64 MiB"], 0),
        (["/dev/sdc: ext4 'former x', 64 MiB"], ["/dev/sdc: xfs"], 1),
    ],
)
def test_only_what_was_not_there_before_is_new(found: list[str], shown: list[str], new: int) -> None:
    assert len(new_content(found, shown)) == new


@pytest.mark.long
@pytest.mark.root
@needs_loops()
@needs_sight()
@needs("mkfs.ext4")
async def test_a_second_run_over_what_was_confirmed_is_not_stopped_by_what_the_first_one_left(tmp_path: Path) -> None:
    with loop(tmp_path / "disk") as made:
        ext4(made.sure(), "-b", "1024")
        shown = (await judge_device(LocalHost(), made.device, Intent.WRITE))[1].content
        for _ in range(2):
            async with claim_device(LocalHost(), made.device, Intent.WRITE, made.name, shown=shown):
                pass
            made.write(0, bytes(MIB))
