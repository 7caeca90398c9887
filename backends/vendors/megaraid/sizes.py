"""Parsers for strip sizes, and for sizes that storcli and MegaCli report both rounded and in blocks. No I/O."""

from __future__ import annotations

import re

from backends.sizes import read_size

_SECTORS = re.compile(r"\[0x([0-9a-f]{1,14}) sectors\]", re.ASCII | re.IGNORECASE)


def strip(text: str | None) -> int | None:
    """Return a strip size in bytes, or None unless it is a power of two from 512 bytes to 16 MiB."""
    number = read_size(text)
    if number is None or not 512 <= number <= 1 << 24 or number & (number - 1):
        return None
    return number


def exact(text: str | None, sector: int | None) -> int | None:
    """Return a drive's size in bytes, from text such as `1.818 TB [0xe8d00000 Sectors]`.

    It is exact if the number of sectors in brackets matches the rounded size; otherwise it is the rounded size.
    """
    rounded = read_size(text)
    match = _SECTORS.search(text or "")
    if rounded is None or match is None:
        return rounded
    return blocks(int(match[1], 16), rounded, sector)


def blocks(count: int | None, rounded: int | None, block: int | None) -> int | None:
    """Return `count` blocks in bytes if that matches the rounded size, else the rounded size.

    The tools do not always report the block size, so 512 and 4096 are tried too.
    """
    if count is None or rounded is None:
        return rounded
    for length in (block, 512, 4096):
        if length and abs(count * length - rounded) <= rounded / 100:
            return count * length
    return rounded
