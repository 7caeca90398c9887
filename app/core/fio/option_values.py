"""Parsers for values in fio job files. They read a value as fio does, and return it in raidbench's form.

fio silently ignores what follows a number that it does not understand. `5 m` is five seconds, `60sec` is 60
microseconds, and `1.5k` is one byte. Such values are refused, because the author means something different from what
fio does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from backends.errors import InvalidValueError
from backends.text import clean

_NUMBER = re.compile(r"(0x[0-9a-f]{1,16}|[0-9]{1,19})(?:([kmgtp])(b|i|ib)?|b)?", re.IGNORECASE | re.ASCII)
_TIME = re.compile(r"([0-9]{1,15})(us|usec|ms|msec|s|m|h|d)?", re.IGNORECASE | re.ASCII)
_MICROSECONDS = {
    "us": 1,
    "usec": 1,
    "ms": 1000,
    "msec": 1000,
    "s": 10**6,
    "m": 60 * 10**6,
    "h": 3600 * 10**6,
    "d": 86400 * 10**6,
}
_FRACTION = re.compile(r"[0-9]*\.[0-9]+[a-z]*", re.IGNORECASE)
_LARGEST = (1 << 63) - 1
SECOND = 10**6
"""Microseconds in a second."""


def read_number(text: str) -> int:
    """Return a number with fio's suffixes: `1k` is 1024, `0x10` is 16. Raises InvalidValueError for any other text."""
    match = _NUMBER.fullmatch(text)
    shown = clean(text, 40)
    if match is None:
        if _FRACTION.fullmatch(text.strip()):
            raise InvalidValueError(f"'{shown}' has a fraction, and fio would ignore both the fraction and the unit")
        raise InvalidValueError(f"'{shown}' is not a whole number that fio understands")
    if (match[3] or "").lower() == "ib":
        raise InvalidValueError(f"fio reads '{shown}' as powers of 1000: use 4k, 1M, 2G")
    number = int(match[1], 0 if match[1].lower().startswith("0x") else 10)
    number <<= 10 * " kmgtp".index((match[2] or " ").lower())
    if number > _LARGEST:
        raise InvalidValueError(f"{shown} is larger than any device")
    return number


def read_size(text: str) -> int:
    """Return a size in bytes. Raises InvalidValueError if fio would not read the text as a size."""
    if not (_NUMBER.fullmatch(text) or _FRACTION.fullmatch(text.strip())):
        raise InvalidValueError(f"'{clean(text, 40)}' is not a size that fio understands: use 4k, 1M, 2G")
    return read_number(text)


def read_microseconds(text: str, *, bare: str) -> int:
    """Return a time in microseconds; `bare`: unit of a number without one. Raises InvalidValueError for other text."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise InvalidValueError(
            f"'{clean(text, 40)}' is not a time that fio understands: its units are us, ms, s, m, h and d"
        )
    return int(match[1]) * _MICROSECONDS[(match[2] or bare).lower()]


def read_percent(text: str) -> int | None:
    """Return the percentage in `50%`, None without a percent sign. Raises InvalidValueError outside of 0 to 100."""
    if not text.endswith("%"):
        return None
    if not re.fullmatch(r"[0-9]{1,3}", text[:-1], re.ASCII) or int(text[:-1]) > 100:
        raise InvalidValueError(f"'{clean(text, 40)}' is not a percentage, 0% to 100%")
    return int(text[:-1])


def split_by_direction(text: str) -> tuple[str, str, str]:
    """Return the parts of a value for reads, writes and trims; an empty part is "".

    The last part applies to all that follow: `a` applies to all three, and in `a,b` the trims have the value of the
    writes. Raises InvalidValueError for more than three parts or no value.
    """
    parts = text.split(",")
    if len(parts) > 3 or not any(parts):
        raise InvalidValueError(f"'{clean(text, 40)}' is not a value for reads, writes and trims")
    parts += parts[-1:] * (3 - len(parts))
    return parts[0], parts[1], parts[2]


def fill_shares(shares: Sequence[int | None]) -> tuple[int, ...]:
    """Return the percentages with missing ones filled up to 100 in equal parts, as fio does."""
    empty = sum(share is None for share in shares)
    if not empty:
        return tuple(share or 0 for share in shares)
    rest = 100 - sum(share for share in shares if share is not None)
    if rest < 0:
        return tuple(share or 0 for share in shares)
    filled: list[int] = []
    for share in shares:
        if share is None:
            share, rest, empty = rest // empty, rest - rest // empty, empty - 1
        filled.append(share)
    return tuple(filled)
