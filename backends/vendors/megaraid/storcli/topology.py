"""The `TOPOLOGY` table: which drives make up which group, in which order, and whether there is room left. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from backends.values import dataclass
from backends.vendors.megaraid.storcli.fields import Fields, tables
from backends.vendors.megaraid.storcli.places import place, shown


@dataclass(frozen=True, slots=True)
class Group:
    """A drive group."""

    spans: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """Its drives as `enclosure:slot` in the order of their rows, by span."""
    free_space: bool | None = None
    """Room that no virtual drive takes; None if not told."""
    missing: bool = False
    """A drive of it is missing."""
    drive_cache: str | None = None
    """The column `PDC`: `enbl`, `dsbl`, `dflt`."""

    @property
    def drives(self) -> tuple[str, ...]:
        """All drives, span by span."""
        return tuple(drive for span in sorted(self.spans) for drive in self.spans[span])


def groups(data: Mapping[str, object]) -> Mapping[int, Group]:
    """Groups by their number."""
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
            at = place(row.raw("eid:slot"))
            if at is None:
                missing.add(number)
                continue
            rows = members.setdefault(number, {}).setdefault(span, [])
            if all(shown(at) != known for _, known in rows):
                rows.append((row.whole("row") or 0, shown(at)))
        else:
            _note(row, number, free, caches)
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


def _note(row: Fields, number: int, free: dict[int, bool], caches: dict[int, str]) -> None:
    """What the rows of the group and its spans say."""
    space = row.flag("fspace")
    if space is not None:
        free[number] = free.get(number, False) or space
    cache = row.text("pdc")
    if cache is not None:
        caches.setdefault(number, cache)
