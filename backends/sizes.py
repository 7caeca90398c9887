"""Sizes: parsing of tool output and user input, and text for users. No I/O."""

from __future__ import annotations

import re
from fractions import Fraction

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_LETTERS = "kmgtpe"
_SIZE = re.compile(
    r"\s*(\d{1,3}(?:,\d{3}){1,5}|\d{1,19})(?:[.,](\d{1,9}))?\s{0,4}"
    r"(?:([kmgtpe])(i)?\s?(?:b|bytes?)?|(b|bytes?))?(?![\w%]|[.,]\d)",
    re.ASCII | re.IGNORECASE,
)
"""Pattern of a number, with or without commas between thousands, and its unit. Text may follow them."""


def fraction_of(text: str | None, *, base: int = 1024, bare: str = "") -> Fraction | None:
    """Return the exact bytes of a size with a unit; None for other text.

    Examples: `64 KB`, `64K`, `512Bytes`, `1,234.5 GB`, `1,5 TB`, `4 KiB`. `base`: 1000 if the tool's units are decimal,
    else 1024 even for `KB`; `KiB` is always binary. `bare`: unit of a number without a unit, `b` for bytes; "" if such
    a number is no size. Text after the unit is ignored, as in `2.729 TB [0x15d50a3b0 Sectors]`.
    """
    match = _SIZE.match(text or "")
    if match is None:
        return None
    digits, decimals, letter, binary, plain = match.groups()
    letter = (letter or plain or bare).lower()[:1]
    if not letter:
        return None
    factor: int = (1024 if binary else base) ** (_LETTERS.find(letter) + 1)
    decimals = decimals or ""
    return Fraction(int(digits.replace(",", "") + decimals) * factor, 10 ** len(decimals))


def read_size(text: str | None, *, base: int = 1024, bare: str = "") -> int | None:
    """Return the size in whole bytes, rounded, by the rules of `fraction_of`. The sizes of tools are rounded anyway."""
    fraction = fraction_of(text, base=base, bare=bare)
    return None if fraction is None else round(fraction)


def size_words(count: int | None) -> str:
    """Return a size rounded to three digits, without decimals if it is exact: `64 KiB`, `1.82 TiB`; `-` if unknown."""
    if count is None:
        return "-"
    for power in range(len(_UNITS) - 1, 0, -1):
        number, rest = divmod(count, 1 << 10 * power)
        if rest == 0 and 1 <= number < 1024:
            return f"{number} {_UNITS[power]}"
    value, at = float(count), 0
    while at < len(_UNITS) - 1 and abs(value) >= 1023.5:
        value, at = value / 1024, at + 1
    if at == 0:
        return f"{count} B"
    decimals = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    return f"{value:.{decimals}f} {_UNITS[at]}"


def exact_text(count: int) -> str:
    """Return a size without rounding, for values that are set: `1408 KiB`, `4 TiB`, `1000 B`."""
    at = 0
    while at < len(_UNITS) - 1 and count and count % 1024 == 0:
        count, at = count // 1024, at + 1
    return f"{count} {_UNITS[at]}"


def brief_text(count: int) -> str:
    """Return a size without rounding and without blanks, for a column of a list: `64K`, `4M`, `1408K`."""
    return exact_text(count).removesuffix("iB").replace(" ", "")


def percent_text(share: float, digits: int = 0) -> str:
    """Return a share from 0 to 1 as a percentage, such as `12 %`, or `12.5 %` with one digit after the point."""
    return f"{100 * share:.{digits}f} %"
