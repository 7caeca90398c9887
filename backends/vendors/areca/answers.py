"""From the answers of cli64 to rows. Pure; what is not understood is left out."""

from __future__ import annotations

import re
from collections.abc import Mapping

from backends.text import clean
from backends.values import dataclass

LINES = 2000
"""More than any card prints; what follows is not read."""

NOT_THERE = "N.A."
"""Its word for an empty slot."""

_SIZE = re.compile(r"(\d{1,9}\.\d)(GB|TB)", re.ASCII)
_DRIVE = re.compile(
    r"(\d{1,3}) {1,4}(?:(\d{1,3}) {1,4}(?:Slot#(\d{1,3})|SLOT (\d{1,3}))|(\d{1,3})) {1,4}(\S.{0,60}?) {1,40}"
    r"(\d{1,9}\.\d[GT]B) {1,4}(\S.{0,40})",
    re.ASCII,
)
_RAID_SET = re.compile(
    r"(\d{1,3}) {1,4}(\S.{0,40}?) {1,40}(\d{1,3}) {1,12}(\d{1,9}\.\d[GT]B) {1,12}(\d{1,9}\.\d[GT]B) {1,12}"
    r"(\S{1,40}) {1,40}([A-Z][A-Za-z ]{1,30})",
    re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArecaDrive:
    """A row of `disk info`."""

    number: str
    """Number of the row, by which cli64 calls it."""
    place: str
    """Enclosure and slot, or the channel."""
    model: str
    """Model."""
    size: str
    """Capacity in units of 10^9 bytes, as told."""
    usage: str
    """The raid set that it is in, `HotSpare`, `Failed`, `Free`; cut to its column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaidSet:
    """A row of `rsf info`."""

    number: str
    """Number of the row."""
    name: str
    """Its name."""
    disks: str
    """How many drives it has."""
    size: str
    """Total capacity as told."""
    state: str
    """`Normal`, `Rebuilding`, `Degraded`, ..."""


def pairs(text: str) -> Mapping[str, str]:
    """Rows of `key : value`; the first of a key counts."""
    found: dict[str, str] = {}
    for line in text.splitlines()[:LINES]:
        key, colon, value = line.partition(" : ")
        if colon and 0 < len(key.strip()) <= 40 and value.strip() and not key.startswith("["):
            found.setdefault(clean(key), clean(value))
    return found


def drives(text: str) -> tuple[ArecaDrive, ...]:
    """Drives of `disk info`, with enclosures or channels; empty slots left out."""
    found: dict[str, ArecaDrive] = {}
    for line in text.splitlines()[:LINES]:
        row = _DRIVE.fullmatch(line.strip()[:200])
        if row is None or row[6].strip() == NOT_THERE:
            continue
        slot = row[3] or row[4]
        place = row[5] if slot is None else f"{row[2]}:{slot}"
        one = ArecaDrive(number=row[1], place=place, model=clean(row[6]), size=row[7], usage=clean(row[8]))
        found.setdefault(one.number, one)
    return tuple(found.values())


def raid_sets(text: str) -> tuple[RaidSet, ...]:
    """Raid sets of `rsf info`."""
    found: dict[str, RaidSet] = {}
    for line in text.splitlines()[:LINES]:
        if (row := _RAID_SET.fullmatch(line.strip()[:200])) is not None:
            one = RaidSet(number=row[1], name=clean(row[2]), disks=row[3], size=row[4], state=clean(row[7]))
            found.setdefault(one.number, one)
    return tuple(found.values())


def size_of(text: str) -> int | None:
    """Bytes of `750.2GB`, whose units are decimal."""
    found = _SIZE.fullmatch(text)
    return None if found is None else round(float(found[1]) * 10 ** (12 if found[2] == "TB" else 9))
