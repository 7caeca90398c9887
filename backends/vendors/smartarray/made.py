"""Logical drives of a card for finding one again that was made here. Pure."""

from __future__ import annotations

from backends.card_arrays import PARTS, CardArray, CardArrays, CardDrive, find_on_card, lasting
from backends.change import Write
from backends.making import ArrayFound, MadeArray
from backends.text import clean
from backends.topology import Topology
from backends.vendors.smartarray.addresses import volume_target
from backends.vendors.smartarray.dialect import ArrayTool
from backends.vendors.smartarray.facts import BayDrive, CardText, LogicalDrive
from backends.vendors.smartarray.matching import volume_node


def there_before(text: CardText) -> tuple[str, ...]:
    """What lasts of each logical drive of a card: its unique identifier, else the serial numbers of its drives."""
    return tuple(sorted(_lasting(text, volume) for volume in text.volumes))


def find_made(
    array: MadeArray, text: CardText, tool: ArrayTool, picture: Topology, *, prefix: str, pci: str | None
) -> ArrayFound:
    """What is there now of an array; see `BuildsArrays.find_made`.

    `text`: the card, asked anew; `prefix` and `pci`: its address, and that on the bus.
    """
    nodes = tuple(picture.tree.nodes.values())

    def made(volume: LogicalDrive) -> CardArray:
        beside = [one for one in text.drives if volume.array is not None and one.array == volume.array]
        added = next((one for one in beside if one.place not in volume.drives), None)
        whole = volume.width in (None, len(volume.drives))
        return CardArray(
            called=f"logical drive {volume.number}",
            target=volume_target(prefix, volume.number),
            drives=volume.drives if whole else (),
            claimed=tuple(drive.place for drive in beside),
            level=volume.level,
            strip_bytes=volume.strip_bytes,
            spans=volume.parity_groups,
            name=volume.name,
            lasting=_lasting(text, volume),
            added="" if added is None else f"{added.place} was added to them as {added.state.value}",
            node=volume_node(volume, text.card.family, pci, nodes),
            remove=tuple(Write(argv=line) for line in tool.delete(text, volume.number)),
        )

    card = CardArrays(
        drives=tuple(_drive(drive) for drive in text.drives),
        arrays=tuple(made(volume) for volume in text.volumes),
        cut=f"{text.cut}." if text.cut else "",
        kind="logical drive",
        lock=tool.lock_name,
    )
    return find_on_card(array, card)


def _drive(drive: BayDrive) -> CardDrive:
    part_of = ""
    if drive.array is not None:
        part_of = f"is in array {clean(drive.array, 40)}"
    elif drive.state in PARTS:
        part_of = f"is {clean(drive.state_raw or drive.state.value, 40)}"
    return CardDrive(place=drive.place, serial=drive.serial, size_bytes=drive.size_bytes, part_of=part_of)


def _lasting(text: CardText, volume: LogicalDrive) -> str:
    serials = {drive.place: drive.serial or "" for drive in text.drives}
    return lasting(volume.wwn, [serials.get(place, "") or place for place in volume.drives], f"number {volume.number}")
