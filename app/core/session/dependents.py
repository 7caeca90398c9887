"""What stands on a thing of the inventory: volumes, pools, mounts. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from backends.model import Array, Controller, Drive, Inventory, Target
from backends.topology.stacking import HELD

_TELLING = ("mount", "swap", "btrfs", "zfs", "loop", *HELD)
"""Kinds of use that say what stands on a thing whose vendor tells nothing else."""


def above(inventory: Inventory, target: Target) -> tuple[str, ...]:
    """What stands on a target, in words, each once: on all that hangs from a controller, on the array of a member."""
    return tuple(dict.fromkeys(word for thing in _concerned(inventory, target) for word in _words(thing)))


def _concerned(inventory: Inventory, target: Target) -> Iterator[Array | Drive]:
    """The target, what else its block device is, and the array that it is a member of."""
    thing = inventory.find(str(target))
    if isinstance(thing, Controller):
        yield from (array for array in inventory.arrays if array.controller == target)
        yield from (drive for drive in inventory.drives if drive.controller == target)
        return
    if thing is None:
        return
    yield thing
    if isinstance(thing, Array) and thing.device is None:  # a pool, a volume of a card that the kernel does not have
        members = (inventory.find(str(member)) for member in thing.members)
        yield from (member for member in members if isinstance(member, Array | Drive))
    yield from inventory.at(thing.device) if thing.device is not None else ()
    home = inventory.find(str(thing.array)) if isinstance(thing, Drive) and thing.array is not None else None
    if isinstance(home, Array):
        yield home


def _words(thing: Array | Drive) -> tuple[str, ...]:
    return thing.above or tuple(use.detail for use in thing.uses if use.kind in _TELLING)
