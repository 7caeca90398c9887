"""Parsers for cli64. No I/O; rows that are not understood are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from backends.model import Health
from backends.text import clean
from backends.values import dataclass

LINES = 2000
"""Maximum number of lines to parse, more than any controller prints."""

NOT_THERE = "N.A."
"""Model of an empty slot."""

_PLACES = {
    "Ch#": r"(\d{1,3})",
    "Enc#": r"(\d{1,3} {1,4}[A-Za-z]{1,10}(?:#| {1,2})\d{1,3})",
}
"""Patterns of the second column, by its title.

The column has a channel, or an enclosure with `Slot#1`, `SLOT 01`, `Slot 01` or `EXTP 01`.
"""

_DRIVES = {
    title: re.compile(
        r"(\d{1,3}) {1,4}" + place + r" {1,4}(\S.{0,60}?) {1,40}(\d{1,9}\.\d[GT]B) {1,4}(\S.{0,40})", re.ASCII
    )
    for title, place in _PLACES.items()
}
_RAID_SET = re.compile(
    r"(\d{1,3}) {1,4}(\S.{0,40}?) {1,40}(\d{1,3}) {1,12}(\d{1,9}\.\d[GT]B) {1,12}(\d{1,9}\.\d[GT]B) {1,12}"
    r"(\S{1,40}) {1,40}([A-Z][A-Za-z ]{1,30})",
    re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArecaDrive:
    """A row of `disk info`."""

    number: str
    """Number of the row, which is the number of the drive in commands of cli64."""
    place: str
    """Enclosure and slot, or the channel."""
    model: str
    """Model."""
    size: str
    """Capacity in units of 10^9 bytes, as printed."""
    usage: str
    """RAID set, `HotSpare`, `HotSpare[Global]`, `Failed`, `Free` or `JBOD`, cut to the width of the column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaidSet:
    """A row of `rsf info`."""

    number: str
    """Number of the row."""
    name: str
    """Name."""
    disks: str
    """Number of drives."""
    size: str
    """Total capacity, as printed."""
    state: str
    """State: `Normal`, `Rebuilding`, `Degraded`, ..."""


def pairs(text: str) -> Mapping[str, str]:
    """Return the rows `key : value`. If a key occurs twice, its first row is used."""
    by_key: dict[str, str] = {}
    for line in text.splitlines()[:LINES]:
        key, colon, value = line.partition(" : ")
        if colon and 0 < len(key.strip()) <= 40 and value.strip() and not key.startswith("["):
            by_key.setdefault(clean(key), clean(value))
    return by_key


_ATTRIBUTE = re.compile(r"(\d{1,3})\((\d{1,3})\)", re.ASCII)
"""Value and threshold of a S.M.A.R.T. attribute."""
_DEGREES = re.compile(r"(\d{1,3}) C", re.ASCII)


def drive_health(text: str) -> Health:
    """Return the health of a drive from `disk info drv=N`. An attribute at its threshold predicts a failure."""
    fields = pairs(text)
    matches = [_ATTRIBUTE.fullmatch(value) for key, value in fields.items() if key.startswith("SMART ")]
    margins = [int(match[1]) - int(match[2]) for match in matches if match is not None]
    degrees = _DEGREES.fullmatch(fields.get("Device Temperature", ""))
    return Health(
        predicts_failure=min(margins) <= 0 if margins else None,
        media_errors=_count(fields.get("Media Error Count")),
        other_errors=_count(fields.get("Timeout Count")),
        temperature=(float(degrees[1]) or None) if degrees is not None else None,
    )


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 16 else None


def drives(text: str) -> tuple[ArecaDrive, ...]:
    """Return the drives of `disk info` without empty slots.

    The title row determines whether a drive's place is an enclosure and slot, or a channel.
    """
    by_number: dict[str, ArecaDrive] = {}
    for _, row in _drive_rows(text):
        if row is not None and row[3].strip() != NOT_THERE:
            slot = ":".join(re.findall(r"\d{1,3}", row[2], re.ASCII))
            drive = ArecaDrive(number=row[1], place=slot, model=clean(row[3]), size=row[4], usage=clean(row[5]))
            by_number.setdefault(drive.number, drive)
    return tuple(by_number.values())


def count_strange_rows(text: str) -> int:
    """Return the number of rows of `disk info` that do not fit the columns of its title."""
    return sum(row is None and re.match(r"\d{1,3} ", line, re.ASCII) is not None for line, row in _drive_rows(text))


def _drive_rows(text: str) -> Iterator[tuple[str, re.Match[str] | None]]:
    """Yield all lines except title rows, each with its match, or None if it is no valid row below a title."""
    shape: re.Pattern[str] | None = None
    for raw in text.splitlines()[:LINES]:
        line = raw.strip()[:200]
        tokens = line.split(None, 2)
        if tokens[:1] == ["#"]:
            shape = _DRIVES.get(tokens[1]) if len(tokens) > 1 else None
        else:
            yield line, shape.fullmatch(line) if shape is not None else None


def raid_sets(text: str) -> tuple[RaidSet, ...]:
    """Return the RAID sets of `rsf info`."""
    by_name: dict[str, RaidSet] = {}
    for line in text.splitlines()[:LINES]:
        if (row := _RAID_SET.fullmatch(line.strip()[:200])) is not None:
            raid_set = RaidSet(number=row[1], name=clean(row[2]), disks=row[3], size=row[4], state=clean(row[7]))
            by_name.setdefault(raid_set.number, raid_set)
    return tuple(by_name.values())
