"""Parsers for places and paths of the tools (`/c0/e252/s1`, `252:1`, ` :25`, `0/239`) and for the `TOPOLOGY` table.

No I/O.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache

from backends.values import dataclass
from backends.vendors.megaraid.storcli.fields import BLANK, Fields, tables

Place = tuple[int | None, int | None]
"""Enclosure and slot; the enclosure is None for directly attached drives."""

_PATH = re.compile(r"/c(\d{1,4})(?:/e(\d{1,6}))?(?:/s(\d{1,6}))?(?:/v(\d{1,6}))?", re.ASCII)
_VOLUME = re.compile(r"(\d{1,6}|-)/(\d{1,6})", re.ASCII)


def parse_place(text: object) -> Place | None:
    """Return the place of `252:1`, ` :25`, `-:3`, `N/A:3` or `7`; None for other text, such as `x24:3`."""
    return _place(str(text)) if isinstance(text, str | int) else None


@lru_cache(maxsize=4096)
def _place(text: str) -> Place | None:
    enclosure, _, slot = text.strip().rpartition(":")
    number, seat = _number(slot), _number(enclosure)
    if number is None or (seat is None and enclosure.strip().lower() not in BLANK):
        return None
    return seat, number


def drive_path(text: str) -> Place | None:
    """Return the place in `Drive /c0/e252/s1 - Detailed Information`, or None for other headings."""
    match = _PATH.search(text)
    return None if match is None or match[3] is None else (_number(match[2]), int(match[3]))


def volume_path(text: str) -> int | None:
    """Return the number of the virtual drive in `/c0/v5`, or None."""
    match = _PATH.search(text)
    return None if match is None or match[4] is None else int(match[4])


def volume(row: Fields) -> tuple[int | None, int] | None:
    """Return group and number of a row with a `DG/VD` column, or None if it has no number."""
    match = _VOLUME.fullmatch((row.text("dg/vd") or "").replace(" ", ""))
    return None if match is None else (None if match[1] == "-" else int(match[1]), int(match[2]))


def place_text(at: Place) -> str:
    """Return the place as `252:1`, or `:25` without an enclosure."""
    return f"{'' if at[0] is None else at[0]}:{'' if at[1] is None else at[1]}"


def _number(text: str | None) -> int | None:
    plain = (text or "").strip()
    return int(plain) if plain.isascii() and plain.isdigit() and len(plain) < 7 else None


@dataclass(frozen=True, slots=True)
class Group:
    """A drive group."""

    spans: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """Its drives as `enclosure:slot`, by span, in the order of the rows."""
    free_space: bool | None = None
    """Whether it has space that no virtual drive uses; None if not reported."""
    missing: bool = False
    """Whether one of its drives is missing."""
    drive_cache: str | None = None
    """Value of the column `PDC`: `enbl`, `dsbl`, `dflt`."""

    @property
    def drives(self) -> tuple[str, ...]:
        """Return all drives, span by span."""
        return tuple(drive for span in sorted(self.spans) for drive in self.spans[span])


def groups(data: Mapping[str, object]) -> Mapping[int, Group]:
    """Return the drive groups by number."""
    members: dict[int, dict[int, list[tuple[int, str]]]] = {}
    free: dict[int, bool] = {}
    missing: set[int] = set()
    caches: dict[int, str] = {}
    for _, row in tables(data, "eid:slot"):
        number = row.whole("dg")
        if number is None:
            continue
        if (row.text("type") or "").upper() == "DRIVE":
            span = row.whole("span", "arr") or 0
            at = parse_place(row.raw("eid:slot"))
            if at is None:
                missing.add(number)
                continue
            rows = members.setdefault(number, {}).setdefault(span, [])
            if all(place_text(at) != listed_drive for _, listed_drive in rows):
                rows.append((row.whole("row") or 0, place_text(at)))
        else:
            _record_group(row, number, free, caches)
    return {
        number: Group(
            spans={
                span: tuple(drive for _, drive in sorted(rows, key=lambda entry: entry[0]))
                for span, rows in members.get(number, {}).items()
            },
            free_space=free.get(number),
            missing=number in missing,
            drive_cache=caches.get(number),
        )
        for number in members.keys() | free.keys() | missing
    }


def _record_group(row: Fields, number: int, free: dict[int, bool], caches: dict[int, str]) -> None:
    """Record free space and drive cache from the rows of the group and its spans."""
    space = row.flag("fspace")
    if space is not None:
        free[number] = free.get(number, False) or space
    cache = row.text("pdc")
    if cache is not None:
        caches.setdefault(number, cache)
