"""Sizes as people and fio write them: `4k`, `256M`, `4 KiB`, to bytes and back."""

from __future__ import annotations

import re

from backends.errors import InvalidValueError
from backends.text import clean

_UNITS = {"": 0, "b": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,9})?)\s*([bkmgtp]?)(i?b)?", re.IGNORECASE | re.ASCII)
_LARGEST = 1 << 62
_LETTERS = "kMGTP"


def parse_size(text: str) -> int:
    """Bytes meant by `4k`, `4K`, `4 KiB`, `0.5M` or `4096`; units are powers of 1024, as fio's are by
    default.

    Raises InvalidValueError: not a size, or not a whole number of bytes.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise InvalidValueError(
            f"'{clean(text, 40)}' is not a size", hint="Write a number with k, M, G or T: 4k, 256M, 10G."
        )
    number, letter, _ = match.groups()
    factor = 1 << (10 * _UNITS[letter.lower()])
    whole, _, fraction = number.partition(".")
    size = int(whole) * factor
    if fraction:
        part, rest = divmod(int(fraction) * factor, 10 ** len(fraction))
        if rest:
            raise InvalidValueError(f"{clean(text, 40)} is not a whole number of bytes")
        size += part
    if size > _LARGEST:
        raise InvalidValueError(f"{clean(text, 40)} is larger than any device")
    return size


def format_size(size: int) -> str:
    """The shortest exact spelling fio understands: 4096 -> `4k`, 1048576 -> `1M`, 1000 -> `1000`."""
    letter = ""
    for candidate in _LETTERS:
        if size == 0 or size % 1024:
            break
        size //= 1024
        letter = candidate
    return f"{size}{letter}"
