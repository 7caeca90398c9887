"""Format values of settings with their units for users, and parse such values from user input. No I/O."""

from __future__ import annotations

import re
from fractions import Fraction

from backends.sizes import exact_text, fraction_of

_TIME_UNITS = {
    "us": Fraction(1, 1_000_000),
    "µs": Fraction(1, 1_000_000),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "min": Fraction(60),
    "h": Fraction(3600),
}
"""Length of each unit of time in seconds."""
_SIZE_UNITS = {"bytes": 1, "KiB": 1024}
"""Number of bytes of each unit of size that a setting may declare."""
_SIZE = re.compile(r"[0-9]{1,19}(\.[0-9]{1,9})? ?([kmgtpe]i?b?|b|bytes?)", re.ASCII | re.IGNORECASE)
_NUMBER = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_AMOUNT = re.compile(r"(-?[0-9]{1,19}(?:\.[0-9]{1,9})?) ?(\S.*)", re.ASCII)


def text_in_unit(value: str, unit: str) -> str:
    """Return a setting's value with its unit, never rounded: `262144` bytes as `256 KiB`, `75000` us as `75 ms`.

    A value that is no number (`unlimited`) is unchanged. Other units are appended: `4096 KiB`, `1024 requests`, `30 %`.
    """
    try:
        number = int(value)
    except ValueError:
        return value
    if unit == "bytes":
        return exact_text(number)
    steps = ("µs", "ms", "s") if unit == "us" else (unit,)
    at = 0
    while at < len(steps) - 1 and number and number % 1000 == 0:
        number //= 1000
        at += 1
    return f"{number} {steps[at]}".rstrip()


def number_in_unit(text: str, unit: str) -> int | None:
    """Return an amount that a user typed as a whole number of `unit`; None if it is no whole number of that unit.

    A bare number counts as a number of `unit`. All results of `text_in_unit` are accepted, and short sizes (`256k`,
    `1M`): with the unit KiB, `1M` is 1024.
    """
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return int(text)
    match = _AMOUNT.fullmatch(text)
    if match is None:
        return None
    name = match[2]
    size_unit, _, per = unit.partition("/")
    if size_unit in _SIZE_UNITS:
        size, _, per_read = text.partition("/")
        bytes_read = fraction_of(size) if per_read == per and _SIZE.fullmatch(size) else None
        amount = None if bytes_read is None else bytes_read / _SIZE_UNITS[size_unit]
    elif unit in _TIME_UNITS:
        seconds = _TIME_UNITS.get(name)
        amount = None if seconds is None else Fraction(match[1]) * seconds / _TIME_UNITS[unit]
    else:
        amount = Fraction(match[1]) if unit and name == unit else None
    return None if amount is None or amount.denominator != 1 else int(amount)
