"""Sizes of strips, and those that MegaCli and storcli tell in blocks as well. Pure."""

from __future__ import annotations

import re

from backends.sizes import read_size

_SECTORS = re.compile(r"\[0x([0-9a-f]{1,14}) sectors\]", re.ASCII | re.IGNORECASE)


def strip(text: str | None) -> int | None:
    """Bytes of a strip size; None unless it is a power of two from 512 bytes to 16 MiB, as every strip is."""
    number = read_size(text)
    if number is None or not 512 <= number <= 1 << 24 or number & (number - 1):
        return None
    return number


def exact(text: str | None, sector: int | None) -> int | None:
    """Bytes of a drive: the sectors in brackets where they agree with the rounded size, else the rounded size."""
    rounded = read_size(text)
    match = _SECTORS.search(text or "")
    if rounded is None or match is None:
        return rounded
    return blocks(int(match[1], 16), rounded, sector)


def blocks(count: int | None, rounded: int | None, block: int | None) -> int | None:
    """`count` blocks in bytes if that is what the rounded size says, else the rounded size.

    The tools do not always say how long a block is: 512 and 4096 are tried.
    """
    if count is None or rounded is None:
        return rounded
    for length in (block, 512, 4096):
        if length and abs(count * length - rounded) <= rounded / 100:
            return count * length
    return rounded
