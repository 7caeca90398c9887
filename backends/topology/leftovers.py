"""Leftovers of filesystems on a device that blkid and wipefs report as blank. No I/O, except in `Reader`.

They are copies of a superblock, and superblocks at the usual starts of partitions after the partition table was erased.
If the beginning of a disk was erased by mistake, the data can be recovered with them until they are overwritten.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence

from backends.identity import FORMER, Signature
from backends.sizes import size_words

Place = tuple[int, int]
"""Place on a device: its first byte, and the number of bytes."""

Reader = Callable[[str, str, Sequence[Place]], tuple[bytes, ...] | None]
"""Function that reads places of a device (path, MAJ:MIN), each cut off at the end of the device; None on failure."""

_MIB = 1 << 20
_PAGE = 4096
_HEAD = 128 * 1024
"""Bytes read from the beginning of the device."""
_REACH = 72 * 1024
"""Number of bytes that are read where a partition may begin. btrfs' superblock, the farthest one, is within them."""

_STARTS = (34 * 512, 40 * 512, 63 * 512, _MIB, 4 * _MIB)
"""Usual start of the first partition in bytes: GPT unaligned, GPT for 4 KiB sectors, DOS, current tools, memory cards.
"""

_MAGICS = (
    ("xfs", 0, b"XFSB"),
    ("crypto_LUKS", 0, b"LUKS\xba\xbe"),
    ("ntfs", 3, b"NTFS    "),
    ("exfat", 3, b"EXFAT   "),
    ("ReFS", 3, b"ReFS\0\0\0\0"),
    ("BitLocker", 3, b"-FVE-FS-"),
    ("vfat", 54, b"FAT12   "),
    ("vfat", 54, b"FAT16   "),
    ("vfat", 82, b"FAT32   "),
    *(("LVM2_member", at, b"LABELONE") for at in (0, 512, 1024, 1536)),
    ("linux_raid_member", 0, b"\xfc\x4e\x2b\xa9\x01\0\0\0"),
    ("linux_raid_member", 4096, b"\xfc\x4e\x2b\xa9\x01\0\0\0"),
    ("swap", 4086, b"SWAPSPACE2"),
    ("bcache", 4120, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"),
    ("f2fs", 1024, b"\x10\x20\xf5\xf2"),
    ("jfs", 32768, b"JFS1"),
    ("ceph_bluestore", 0, b"bluestore block device"),
    ("btrfs", 65600, b"_BHRfS_M"),
)
"""TYPE of libblkid, offset from the start of the partition, and magic bytes (util-linux: libblkid/src)."""

_EARLY = (
    ("vfat", 6 * 512 + 82, b"FAT32   "),
    ("exfat", 12 * 512 + 3, b"EXFAT   "),
    ("f2fs", 4096 + 1024, b"\x10\x20\xf5\xf2"),
    ("jfs", 61440, b"JFS1"),
)
"""Type, offset and magic bytes of copies near the beginning of a filesystem that fills the whole device."""

_LATE = (
    ("ntfs", -512 + 3, b"NTFS    "),
    ("ReFS", -512 + 3, b"ReFS\0\0\0\0"),
    ("hfsplus", -1024, b"H+\0\x04"),
)
"""Type, offset and magic bytes of copies at the end of the device. The offset counts from the end and is negative."""

_EXT_GROUPS = tuple((8192 * size * size // 1024 + (1024 if size == 1024 else 0), size) for size in (1024, 2048, 4096))
"""Pairs of bytes for ext2 to ext4: start of the second block group, which has a superblock copy, and block size.

A group has eight times as many blocks as a block has bytes. With blocks of 1 KiB, the first block belongs to no group.
"""
_BTRFS_COPIES = (64 * _MIB, 256 << 30)
"""Offsets of the copies of btrfs' superblock: BTRFS_SUPER_MIRROR (fs/btrfs/disk-io.h)."""
_XFS_GROUPS = (2, 4, 8, 16, 32)
"""Numbers of allocation groups that mkfs.xfs creates (calc_default_ag_geometry). Each begins with a superblock."""
_XFS_BLOCK = 4096
_XFS_LARGEST = ((1 << 40) // _XFS_BLOCK - 1) * _XFS_BLOCK
"""Bytes of the largest allocation group, on a device of 4 TiB and more."""


def places(size: int) -> tuple[Place, ...]:
    """Return the places to read on a device of `size` bytes."""
    starts = {at // _PAGE * _PAGE: _PAGE for at, _ in _EXT_GROUPS}
    starts |= dict.fromkeys((*_BTRFS_COPIES, *_xfs_copies(size)), _PAGE)
    starts |= {start: _REACH for start in _STARTS if start >= _HEAD}  # may replace a shorter place with the same start
    pairs = [(start, length) for start, length in starts.items() if start + length <= size]
    return ((0, min(_HEAD, size)), *pairs, (max(0, size - _PAGE), min(_PAGE, size)))


def leftovers(pieces: Mapping[int, bytes], size: int, part: str | None) -> tuple[Signature, ...]:
    """Return the leftovers on a device of `size` bytes.

    `pieces`: the data that was read, by its offset on the device in bytes. `part`: partition name, or None for a disk.
    """
    kinds = [*_copies(pieces, size), *_former_partitions(pieces)]
    return tuple(Signature(kind=text, part=part) for text in dict.fromkeys(kinds))


def _former_partitions(pieces: Mapping[int, bytes]) -> Iterator[str]:
    for start in _STARTS:
        bytes_there = pieces.get(start, b"") if start >= _HEAD else pieces.get(0, b"")[start:]
        kinds = [kind for kind, at, magic in _MAGICS if bytes_there[at : at + len(magic)] == magic]
        ext = _ext(bytes_there[1024:], group=0)
        for kind in (*kinds, *((ext,) if ext else ())):
            yield f"{FORMER}{kind} (in a partition that began at {size_words(start)})"


def _copies(pieces: Mapping[int, bytes], size: int) -> Iterator[str]:
    head, tail = pieces.get(0, b""), pieces.get(max(0, size - _PAGE), b"")
    copies = [(kind, at) for kind, at, magic in _EARLY if head[at : at + len(magic)] == magic]
    copies += [
        (kind, size + at) for kind, at, magic in _LATE if tail[len(tail) + at : len(tail) + at + len(magic)] == magic
    ]
    for at, block in _EXT_GROUPS:
        if kind := _ext(pieces.get(at // _PAGE * _PAGE, b"")[at % _PAGE :], group=1, block=block):
            copies.append((kind, at))
    copies += [("btrfs", at) for at in _BTRFS_COPIES if _is_btrfs(pieces.get(at, b""), at)]
    copies += [("xfs", at) for at in _xfs_copies(size) if _is_xfs(pieces.get(at, b""), at)]
    for kind, at in copies:
        yield f"{FORMER}{kind} (a copy of its superblock at {size_words(at)})"


def _ext(superblock: bytes, *, group: int, block: int | None = None) -> str:
    """Return the type of an ext superblock (`ext4`); "" for other data.

    A superblock of another block group than `group`, or with another block size than `block`, counts as other data.

    Its magic has only two bytes, so other fields are checked as well (struct ext4_super_block in fs/ext4/ext4.h).
    """
    if len(superblock) < 104 or superblock[56:58] != b"\x53\xef":
        return ""
    inodes, blocks, _, _, _, _, shift = struct.unpack_from("<7I", superblock)
    (revision,), (number,) = struct.unpack_from("<I", superblock, 76), struct.unpack_from("<H", superblock, 90)
    if not blocks or shift > 6 or revision > 1 or number != group:
        return ""
    if block is not None and 1024 << shift != block:
        return ""
    compatible, incompatible = struct.unpack_from("<II", superblock, 92)
    if not inodes:  # only a journal device has no inodes
        return "jbd" if incompatible & 0x8 else ""
    return "ext4" if incompatible & 0x40 else "ext3" if compatible & 0x4 else "ext2"


def _is_btrfs(piece: bytes, at: int) -> bool:
    """Return whether the data is a btrfs superblock that records the offset `at` as its own position."""
    return piece[64:72] == b"_BHRfS_M" and int.from_bytes(piece[48:56], "little") == at


def _is_xfs(piece: bytes, at: int) -> bool:
    """Return whether the data is an XFS superblock at the start of an allocation group. `at`: its offset on the
    device.
    """
    if piece[:4] != b"XFSB" or len(piece) < 88:
        return False
    return int.from_bytes(piece[4:8], "big") * int.from_bytes(piece[84:88], "big") == at


def _xfs_copies(size: int) -> tuple[int, ...]:
    blocks = size // _XFS_BLOCK
    return (*(-(-blocks // count) * _XFS_BLOCK for count in _XFS_GROUPS if blocks >= count), _XFS_LARGEST)
