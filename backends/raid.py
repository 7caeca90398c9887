"""RAID geometry: data drives and full stripe of each level. No I/O."""

from __future__ import annotations

import re

from backends.model import Level

LAYOUT = re.compile(r"([nfo])([1-9][0-9]?)")
"""Layout of md's RAID 10 in mdadm's spelling: near, far or offset, and the number of copies (`f2`)."""

ARRANGEMENTS = {"n": "near", "f": "far", "o": "offset"}
"""Arrangements of copies by the letter of a layout (md(4))."""

_LAYOUT_WORDS = re.compile(r"(?:(near|far|offset)(?:=?(\d{1,2}))?|([nfo])(\d{1,2}))", re.ASCII)

PARITY = {Level.RAID4: 1, Level.RAID5: 1, Level.RAID50: 1, Level.RAID6: 2, Level.RAID60: 2}
"""Parity strips in a stripe by level; for levels with spans, in each span."""

PARITY_IN_SPANS = (Level.RAID50, Level.RAID60)
"""Levels in which each span has its own parity."""

STRIPLESS = frozenset(Level) - {
    Level.RAID0,
    Level.RAID4,
    Level.RAID5,
    Level.RAID6,
    Level.RAID10,
    Level.RAID50,
    Level.RAID60,
    Level.MAPPED,
    Level.UNKNOWN,
}
"""Levels whose arrays have no strip of a fixed size, unless a controller reports one."""


def data_drives(
    level: Level, members: int | None, *, spans: int | None = None, copies: int | None = None
) -> int | None:
    """Return the number of members that hold data in one stripe, over all spans.

    None if unknown or not a whole number. `members`: their number, with missing ones. `spans`: required for RAID 50
    and 60. `copies`: number of copies of every chunk in RAID 1 and 10; by default one on every member of a RAID 1, and
    two in a RAID 10. Pass it where the default is wrong: MegaRAID stripes a RAID 1 of more than two drives over pairs,
    HPE's ADM has three copies, and md's RAID 10 has any number.
    """
    if not members:
        return None
    match level:
        case Level.RAID0:
            return members
        case Level.RAID1 | Level.RAID10:
            copy_count = copies or (members if level is Level.RAID1 else 2)
            return members // copy_count if members % copy_count == 0 else None
        case Level.RAID4 | Level.RAID5 | Level.RAID6:
            carrying = members - PARITY[level]
        case Level.RAID50 | Level.RAID60 if spans:
            carrying = members - PARITY[level] * spans
        case _:
            return None
    return carrying if carrying > 0 else None


def layout_of(text: str) -> str:
    """Return the RAID 10 layout that a text names, in mdadm's spelling: `f2` for `far`, `far=2` and `f2`.

    Raises ValueError for any other text.
    """
    match = _LAYOUT_WORDS.fullmatch(text.strip().lower())
    letter, copies = ("", 0) if match is None else ((match[1] or match[3])[0], int(match[2] or match[4] or 2))
    if copies < 2:
        raise ValueError("must be near, far or offset with a number of copies, at least 2: n2, f2, o2, far=3")
    return f"{letter}{copies}"


def copies_of(layout: str | None) -> int:
    """Return the number of copies of a RAID 10 layout; two without a layout."""
    match = LAYOUT.fullmatch(layout or "")
    return 2 if match is None else int(match[2])


def full_stripe(strip_bytes: int | None, drives: int | None) -> int | None:
    """Return the bytes of data in a full stripe; None if unknown."""
    return strip_bytes * drives if strip_bytes and drives else None
