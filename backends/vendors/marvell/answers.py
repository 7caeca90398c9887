"""From the answers of mvcli to records. Pure; what is not understood is left out."""

from __future__ import annotations

from collections.abc import Mapping

from backends.text import clean

LINES = 4000
"""More than any card prints; what follows is not read."""

ADAPTER = ("adapter id", "controller id")
DISK = ("adapter",)
VOLUME = ("id",)
"""Labels that begin a record of each kind."""


def records(text: str, *firsts: str) -> tuple[Mapping[str, str], ...]:
    """Records that begin with one of these labels, by labels in small letters; noise before them is passed over."""
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


def kibibytes(text: str | None) -> int | None:
    """Bytes of `234431064 K` or `228872 M`."""
    number, _, unit = (text or "").partition(" ")
    power = {"K": 10, "M": 20, "G": 30}.get(unit)
    return (
        int(number) << power
        if power is not None and number.isascii() and number.isdigit() and len(number) < 16
        else None
    )
