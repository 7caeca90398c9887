"""Virtual drives of a card for finding one again that was made here. Pure."""

from __future__ import annotations

from backends.card_arrays import PARTS, CardArray, CardArrays, CardDrive, find_on_card, lasting
from backends.change import Write
from backends.making import ArrayFound, MadeArray
from backends.text import clean
from backends.topology import Topology
from backends.vendors.megaraid.addresses import volume_target
from backends.vendors.megaraid.dialect import Contents, Dialect
from backends.vendors.megaraid.facts import PhysicalDrive, VirtualDrive
from backends.vendors.megaraid.presence import volume_node


def there_before(contents: Contents) -> tuple[str, ...]:
    """What lasts of each virtual drive of a card: its world wide name, else the serial numbers of its drives."""
    return tuple(sorted(_lasting(contents, volume) for volume in contents.volumes))


def find_made(
    array: MadeArray, contents: Contents, dialect: Dialect, picture: Topology, *, prefix: str, lock: str
) -> ArrayFound:
    """What is there now of an array; see `BuildsArrays.find_made`.

    `contents`: the card, asked anew; `prefix` and `lock`: its address, and its lock between programs.
    """
    card = CardArrays(
        drives=tuple(_drive(drive) for drive in contents.drives),
        arrays=tuple(_array(volume, contents, dialect, picture, prefix) for volume in contents.volumes),
        cut=contents.cut,
        kind="virtual drive",
        named_at_birth=dialect.names_at_birth,
        lock=lock,
    )
    return find_on_card(array, card)


def _drive(drive: PhysicalDrive) -> CardDrive:
    part_of = ""
    if drive.foreign:
        part_of = "carries a foreign configuration"
    elif drive.group is not None or drive.state in PARTS:
        part_of = f"is {clean(drive.state_raw or drive.state.value, 40)}"
    return CardDrive(place=drive.place, serial=drive.serial, size_bytes=drive.size_bytes, part_of=part_of)


def _array(volume: VirtualDrive, contents: Contents, dialect: Dialect, picture: Topology, prefix: str) -> CardArray:
    beside = [one for one in contents.drives if one.group is not None and one.group == volume.group]
    added = next((one for one in beside if one.place not in volume.drives), None)
    commands = dialect.flatten(dialect.delete(contents.card.number, volume.number))
    return CardArray(
        called=f"virtual drive {volume.number}",
        target=volume_target(prefix, volume.number),
        drives=volume.drives,
        claimed=tuple(drive.place for drive in contents.drives if volume.number in drive.volumes),
        level=volume.level,
        strip_bytes=volume.strip_bytes,
        spans=volume.spans,
        name=volume.name,
        lasting=_lasting(contents, volume),
        added="" if added is None else f"{added.place} was added to them as {added.state.value}",
        node=volume_node(volume, contents.card, picture.tree.nodes.values()),
        remove=tuple(Write(argv=argv) for argv in commands),
    )


def _lasting(contents: Contents, volume: VirtualDrive) -> str:
    serials = {drive.place: drive.serial or "" for drive in contents.drives}
    return lasting(volume.wwn, [serials.get(place, "") or place for place in volume.drives], f"number {volume.number}")
