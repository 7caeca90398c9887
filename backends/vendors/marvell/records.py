"""Records of labels and values, as mvcli and mnv_cli print them. No I/O."""

from __future__ import annotations

from collections.abc import Mapping

from backends.text import clean

NAME = "marvell"
"""The prefix of this backend's targets."""

LINES = 4000
"""Lines that are read: more than any card prints."""


def records(text: str, *firsts: str) -> tuple[Mapping[str, str], ...]:
    """Return the records that begin with one of these labels, by labels in small letters; noise before is skipped."""
    found: list[dict[str, str]] = []
    for line in text.splitlines()[:LINES]:
        key, colon, value = line.partition(":")
        label = clean(key).lower()
        if not colon or not 0 < len(label) <= 40:
            continue
        if label in firsts:
            found.append({})
        if found:
            found[-1].setdefault(label, clean(value))
    return tuple(found)
