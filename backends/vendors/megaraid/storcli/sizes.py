"""Sizes as the tools write them. All units are binary, whatever they are called. Pure."""

from __future__ import annotations

import re

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50}
_SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,6})?) ?(?:([kmgtp])i?b|b|bytes)", re.IGNORECASE | re.ASCII)
_SECTORS = re.compile(r"\[(0x[0-9a-f]{1,14}) sectors\]", re.IGNORECASE)


def size(text: str | None) -> int | None:
    """Bytes of `64 KB`, `64kB`, `512Bytes`, `1.000 MB`, `256 KiB`, `16.370 TB`; None for anything else.

    Of `2.729 TB [0x15d50a3b0 Sectors]` the part before the bracket: see `sectors`.
    """
    if text is None:
        return None
    found = _SIZE.fullmatch(text.partition("[")[0].strip())
    if found is None:
        return None
    return round(float(found[1]) * _UNITS[(found[2] or "").lower()])


def strip(text: str | None) -> int | None:
    """Bytes of a strip size; None unless it is a power of two from 512 bytes to 16 MiB, as every strip is."""
    found = size(text)
    if found is None or not 512 <= found <= 1 << 24 or found & (found - 1):
        return None
    return found


def exact(text: str | None, sector: int | None) -> int | None:
    """Bytes of a drive: the sectors in brackets where they agree with the rounded size, else the rounded size."""
    rounded = size(text)
    found = _SECTORS.search(text or "")
    if rounded is None or found is None:
        return rounded
    return blocks(int(found[1], 16), rounded, sector)


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
