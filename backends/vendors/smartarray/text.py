"""Parsers for text that both tools print: fields, sizes, counts, states, levels. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from backends.model import Level, State
from backends.text import clean

LINE = 2000
"""Maximum number of characters of a line to parse."""

_NUMBER = re.compile(r"-?\d{1,18}(?:[.,]\d{1,6})*", re.ASCII)
_LINK_SPEED = re.compile(r"\d{1,2}(?:\.\d)? ?G(?:b/s|bps)", re.ASCII | re.IGNORECASE)
_NAA = re.compile(r"[0-9A-Fa-f]{16}(?:[0-9A-Fa-f]{16})?", re.ASCII)
_LEVEL = re.compile(r"(?:RAID)?\s*(\d{1,2}(?:\s?\+\s?\d)?)(?!\d)", re.ASCII | re.IGNORECASE)
_PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,3})?)\s?%", re.ASCII)

LEVELS = {
    "0": Level.RAID0,
    "1": Level.RAID1,
    "1+0": Level.RAID10,
    "10": Level.RAID10,
    "5": Level.RAID5,
    "6": Level.RAID6,
    "50": Level.RAID50,
    "5+0": Level.RAID50,
    "60": Level.RAID60,
    "6+0": Level.RAID60,
}


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield indentation and text of every line, truncated to `LINE` characters; a blank line as (0, "")."""
    for line in text.splitlines():
        line = line[:LINE].expandtabs(4).rstrip()
        bare = line.lstrip(" \ufeff\0")
        yield (len(line) - len(bare) if bare else 0), bare


@lru_cache(1024)  # cached because every read of a controller has the same lines
def field(text: str) -> tuple[str, str] | None:
    """Return key and value of a line, or None.

    They are separated at the first colon outside parentheses that is followed by a blank or the end of the line.
    """
    depth = 0
    for at, char in enumerate(text):
        if char == "(":
            depth += 1
        elif char == ")":
            depth = max(0, depth - 1)
        elif char == ":" and depth == 0 and text[at + 1 : at + 2] in ("", " "):
            key = " ".join(text[:at].split())
            return (key, text[at + 1 :].strip()) if key else None
    return None


def value_or_none(value: str | None, limit: int = 128) -> str | None:
    """Return the cleaned value, or None if it is empty or the tool's text for a missing value."""
    text = clean(value or "", limit)
    return None if text.lower() in ("", "none", "n/a", "not applicable", "not available", "unknown") else text


def number(text: str | None) -> float | None:
    """Return the first number in `text`, or None. A comma followed by only one or two digits is a decimal comma."""
    match = _NUMBER.search((text or "")[:LINE])
    if match is None:
        return None
    word = match[0]
    if "," in word:
        head, _, tail = word.rpartition(",")
        word = f"{head.replace(',', '')}.{tail}" if len(tail) < 3 and "." not in word else word.replace(",", "")
    try:
        return float(word)
    except ValueError:
        return None


def count(text: str | None) -> int | None:
    """Return the first number in `text` if it is an integer, else None."""
    value = number(text)
    return None if value is None or value % 1 else round(value)


def link_speed(text: str | None) -> str | None:
    """Return the link speed of the first port in a list, or None if it is not a speed."""
    first = (text or "").partition(",")[0].strip()
    return first if _LINK_SPEED.fullmatch(first) else None


def naa(text: str | None) -> str | None:
    """Return a world wide name in the kernel's format, without its prefix `naa.`, or None."""
    word = (text or "").strip().removeprefix("0x").removeprefix("naa.")
    return word.lower() if _NAA.fullmatch(word) and set(word) != {"0"} else None


def level(text: str | None) -> Level:
    """Return the RAID level. Levels with three copies count as RAID 1 or 10."""
    match = _LEVEL.match((text or "").strip())
    return LEVELS.get(match[1].replace(" ", ""), Level.UNKNOWN) if match is not None else Level.UNKNOWN


def state(text: str | None, table: Mapping[str, State]) -> State:
    """Return the state for the first key of `table` with which `text` begins.

    Progress may follow, as in `Recovering, 12% complete`.
    """
    status = " ".join((text or "").lower().split())
    return next((state for front, state in table.items() if status.startswith(front)), State.UNKNOWN)


def progress(text: str | None) -> float | None:
    """Return the percentage in `text` as a fraction: 0.12 for `Recovering, 12% complete`; None if there is none."""
    match = _PERCENT.search((text or "")[:LINE])
    return None if match is None else min(float(match[1]), 100.0) / 100
