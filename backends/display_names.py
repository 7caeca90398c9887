"""What a thing is called where it stands, by whoever looks after the machine. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from backends.model import KERNEL, MAPPER, Array, Controller, Drive, Inventory

_MAPPED = "/dev/mapper/"
_ON_A_CARD = re.compile(r"/c\d+(?:/[a-z]\d+)+|/(?:slot|arc|aac)\d+[a-zA-Z]?/ld\d+")


def name_of(thing: Controller | Array | Drive) -> str:
    """`c0`, `ssd`, `e245:s10`, `sda`, `md0`, `vg0/db`: never a number that another boot gives to something else."""
    address = thing.target.address
    match thing:
        case Array() if thing.device != f"/dev/{address}" and thing.name:
            return thing.name  # of md arrays the kernel's name is the one that everybody uses
        case Drive() | Array() if thing.controller is not None:
            address = address.removeprefix(f"{thing.controller.address.rstrip('/')}/")
        case _:
            pass
    return address.strip("/").replace("/", ":")


def named(inventory: Inventory, name: str) -> tuple[Controller | Array | Drive, ...]:
    """All that is called so, each device once."""
    twins = inventory.twins
    things: tuple[Controller | Array | Drive, ...] = (*inventory.controllers, *inventory.arrays, *inventory.drives)
    return tuple(thing for thing in things if name_of(thing) == name and thing.target not in twins)


def addresses(inventory: Inventory, thing: Controller | Array | Drive) -> tuple[str, ...]:
    """Every address that means this very device, its own first: the kernel's disk and a vendor's, each of its paths."""
    return tuple(dict.fromkeys((str(thing.target), *_others(inventory, thing))))


def _others(inventory: Inventory, thing: Controller | Array | Drive) -> Iterator[str]:
    if isinstance(thing, Controller) or thing.device is None:
        return
    nodes = {thing.device, *(thing.paths if isinstance(thing, Drive) else ())}
    yield from (str(view.target) for node in sorted(nodes) for view in inventory.at(node))
    if isinstance(thing, Array) and thing.link is not None:
        yield from (f"{MAPPER}:{thing.called}",) if thing.link.startswith(_MAPPED) else ()
        yield f"{KERNEL}:{thing.device.removeprefix('/dev/')}"


def is_on_a_card(text: str) -> bool:
    """Whether it is written as `devices` writes what hangs from a card: `/c0/v1`, `/slot0/ld1`."""
    return _ON_A_CARD.fullmatch(text) is not None


def is_path(text: str) -> bool:
    """Whether what is to be measured is written as a folder or file: neither a node nor what hangs from a card."""
    return text.startswith(("/", "./", "../", "~/")) and not (text.startswith("/dev/") or is_on_a_card(text))
