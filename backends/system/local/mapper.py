"""Device-mapper tables read from the kernel (linux/dm-ioctl.h), because starting `dmsetup` may be slow."""

from __future__ import annotations

import errno
import fcntl
import os
import struct
from collections.abc import Iterator, Sequence

_CONTROL = "/dev/mapper/control"
_HEAD = struct.Struct("=3I2IIiIII Q 128s 129s 7x")
"""struct dm_ioctl: version, size and start of the data, targets, open count, flags, event, padding, device, name, UUID.
"""
_TARGET = struct.Struct("=QQiI16s")
"""struct dm_target_spec: first sector, sectors, status, offset of the next one, type."""
_TABLE_STATUS = 0xC138FD0C
"""DM_TABLE_STATUS: _IOWR(0xfd, 12, struct dm_ioctl)."""
_VERSION = (4, 0, 0)
_TABLE, _FULL, _NO_FLUSH = 1 << 4, 1 << 8, 1 << 11
_SIZES = (16 << 10, 256 << 10, 4 << 20)


def read_tables(numbers: Sequence[str]) -> str:
    """Return the tables of the devices `numbers` (MAJ:MIN) as lines of `dmsetup table`, with MAJ:MIN as the name.

    Devices that do not exist are left out. Raises OSError.
    """
    control = os.open(_CONTROL, os.O_RDWR | os.O_CLOEXEC)
    try:
        return "".join(f"{number}: {line}\n" for number in numbers for line in _lines(control, number))
    finally:
        os.close(control)


def _lines(control: int, number: str) -> Iterator[str]:
    major, _, minor = number.partition(":")
    device = (int(major) << 8) | (int(minor) & 0xFF) | ((int(minor) & ~0xFF) << 12)
    data, start, count = _ask(control, device)
    at = start
    for _ in range(count):
        first, sectors, _, after, kind = _TARGET.unpack_from(data, at)
        parameters = bytes(data[at + _TARGET.size : start + after]).split(b"\0")[0]
        yield f"{first} {sectors} {_text(kind.rstrip(bytes(1)))} {_text(parameters)}".rstrip()
        at = start + after


def _ask(control: int, device: int) -> tuple[bytearray, int, int]:
    """Return the kernel's reply, the offset of the targets in it, and the number of targets (0 for an unknown
    device).
    """
    for size in _SIZES:
        head = _HEAD.pack(*_VERSION, size, _HEAD.size, 0, 0, _TABLE | _NO_FLUSH, 0, 0, device, b"", b"")
        data = bytearray(head + bytes(size - len(head)))
        try:
            fcntl.ioctl(control, _TABLE_STATUS, data)
        except OSError as error:
            if error.errno == errno.ENXIO:
                break
            raise
        _, _, _, _, start, count, _, flags, *_ = _HEAD.unpack_from(data)
        if not flags & _FULL:
            return data, start, count
    return bytearray(), 0, 0


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\n", " ")
