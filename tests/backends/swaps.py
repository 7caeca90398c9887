"""Swap areas of our own, of which it stays known what the kernel may write to while they are active.

On a machine that is short of memory the kernel moves pages of any program into an active area: what it writes there is
nobody's doing, and all else has to stay as it was.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
from pathlib import Path

from tests.backends.loops import run

_PAGES = 10
"""The least that mkswap makes: the page of its header, and nine that the kernel uses."""
_FIBMAP, _FIGETBSZ = 1, 2  # linux/fs.h


def make_swap(where: str | Path) -> None:
    """A swap area of ten pages at the beginning of a device or of a file, however large that is."""
    run("mkswap", str(where), str(_PAGES * mmap.PAGESIZE // 1024))


def kernels_own(file: Path | None = None) -> tuple[range, ...]:
    """Bytes that the kernel may write to: of the area itself, or of the device on which the file of one lies."""
    own = range(mmap.PAGESIZE, _PAGES * mmap.PAGESIZE)
    if file is None:
        return (own,)
    with file.open("rb") as opened:
        block = struct.unpack("i", fcntl.ioctl(opened, _FIGETBSZ, bytes(4)))[0]
        numbers = range(own.start // block, -(-own.stop // block))
        places = [struct.unpack("i", fcntl.ioctl(opened, _FIBMAP, struct.pack("i", one)))[0] for one in numbers]
    assert all(places), "the file has holes"
    return tuple(range(one * block, (one + 1) * block) for one in places)


def bytes_but(file: Path, own: tuple[range, ...]) -> bytes:
    """What stands in a file, zeros where the kernel may write."""
    os.sync()
    data = bytearray(file.read_bytes())
    for one in own:
        data[one.start : one.stop] = bytes(len(one))
    return bytes(data)
