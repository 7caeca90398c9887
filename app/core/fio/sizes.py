"""Sizes as users and fio write them (`4k`, `256M`, `4 KiB`), to bytes and back."""

from __future__ import annotations

import re

from backends.errors import InvalidValueError
from backends.sizes import fraction_of
from backends.text import clean

_SPELLED = re.compile(r"[0-9.]+\s*[a-z]*", re.ASCII | re.IGNORECASE)
"""Pattern of exactly one size. It contains no comma, because a comma separates two sizes."""
_LARGEST = 1 << 62
_LETTERS = "kMGTP"


def parse_size(text: str) -> int:
    """Return the bytes in `4k`, `4K`, `4 KiB`, `0.5M` or `4096`; units are powers of 1024, as in fio by default.

    Raises InvalidValueError for a text that is not a size, or not a whole number of bytes.
    """
    size = fraction_of(text, bare="b") if _SPELLED.fullmatch(text.strip()) else None
    if size is None:
        raise InvalidValueError(
            f"'{clean(text, 40)}' is not a size", hint="Write a number with k, M, G or T: 4k, 256M, 10G."
        )
    if size.denominator != 1:
        raise InvalidValueError(f"{clean(text, 40)} is not a whole number of bytes")
    if size > _LARGEST:
        raise InvalidValueError(f"{clean(text, 40)} is larger than any device")
    return int(size)


def format_size(size: int) -> str:
    """Return the shortest exact spelling that fio understands: 4096 -> `4k`, 1048576 -> `1M`, 1000 -> `1000`."""
    letter = ""
    for candidate in _LETTERS:
        if size == 0 or size % 1024:
            break
        size //= 1024
        letter = candidate
    return f"{size}{letter}"
