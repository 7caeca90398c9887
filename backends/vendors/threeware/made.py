"""Units of a card for finding one again that was made here. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from backends.card_arrays import PARTS, CardArray, CardArrays, CardDrive, find_on_card, lasting
from backends.change import Write
from backends.making import ArrayFound, MadeArray
from backends.model import Drive, Level
from backends.sizes import read_size
from backends.text import clean
from backends.topology import Node, Topology
from backends.topology.naming import identity
from backends.vendors.threeware.attributes import UnitTold
from backends.vendors.threeware.inventory import (
    NAME,
    ThreewareCard,
    inventory_drives,
    level_of,
    node_of,
    unit_target,
)
from backends.vendors.threeware.settings import Row


def card_lock(card: ThreewareCard) -> str:
    """What serialises changes of a card between programs."""
    return f"{NAME}-{card.name}"


def there_before(card: ThreewareCard, units: Mapping[str, UnitTold]) -> tuple[str, ...]:
    """What lasts of each unit of a card: its own serial number, else those of its drives."""
    return tuple(sorted(_lasting(card, row, units[row["Unit"]]) for row in card.units))


def find_made(
    array: MadeArray,
    card: ThreewareCard,
    units: Mapping[str, UnitTold],
    picture: Topology,
    *,
    program: str,
    cards: int,
) -> ArrayFound:
    """What is there now of an array; see `BuildsArrays.find_made`.

    `card`, `units`: the card and each unit of it, asked anew; `cards`: how many the host has.
    """
    cut = next((problem.message for problem in card.cut.values()), "")

    def made(row: Row) -> CardArray:
        unit, told = row["Unit"], units[row["Unit"]]
        listed = tuple(port["Place"] for port, _ in inventory_drives(card) if port["Unit"] == unit)
        return CardArray(
            called=f"unit {unit.removeprefix('u')}",
            target=unit_target(card.name, unit),
            drives=told.ports if set(told.ports) == set(listed) else (),
            claimed=listed,
            level=Level.RAID0 if row["UnitType"] == "SINGLE" else level_of(row),
            strip_bytes=read_size(row.get("Stripe")),
            spans=told.groups,
            name=told.name,
            lasting=_lasting(card, row, told),
            added="" if told.volumes == 1 else f"it is divided into {told.volumes or 'an unknown number of'} volumes",
            node=_node(row, told, picture, cards),
            remove=(Write(argv=(program, f"/{card.name}/{unit}", "del")),),
        )

    return find_on_card(
        array,
        CardArrays(
            drives=tuple(_drive(card, port, drive) for port, drive in inventory_drives(card)),
            arrays=tuple(made(row) for row in card.units),
            cut=cut,
            kind="unit",
            lock=card_lock(card),
        ),
    )


def _node(row: Row, told: UnitTold, picture: Topology, cards: int) -> Node | None:
    """The kernel's disk of it: with the unit's own serial number, where the disk tells one or another card may have it.

    The number of a unit is that of one of another card as well, and what lies on the wrong disk says nothing.
    """
    node = node_of(row, picture)
    serial = None if node is None else identity(node).serial
    if serial is None:
        return node if cards == 1 else None
    return node if serial == told.serial else None


def _drive(card: ThreewareCard, port: Row, drive: Drive) -> CardDrive:
    part_of = ""
    if port["Unit"] != "-" and all(row["Unit"] != port["Unit"] for row in card.units):
        part_of = f"is in unit {clean(port['Unit'], 20)}"
    elif drive.state in PARTS:
        part_of = f"is {clean(port['Status'], 40)}"
    return CardDrive(place=port["Place"], serial=drive.serial, size_bytes=drive.size_bytes, part_of=part_of)


def _lasting(card: ThreewareCard, row: Row, told: UnitTold) -> str:
    serials = [port.get("Serial") or port["Place"] for port, _ in inventory_drives(card) if port["Unit"] == row["Unit"]]
    return f"unit {told.serial}" if told.serial else lasting(None, serials, f"number {row['Unit']}")
