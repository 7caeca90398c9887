"""What stands on a thing of the inventory: volumes, pools, mounts. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from backends.model import Array, Controller, Drive, Inventory, Target
from backends.topology.stacking import HELD

_TELLING = ("mount", "swap", "btrfs", "zfs", "loop", *HELD)
"""Kinds of use that say what stands on a thing whose vendor tells nothing else."""


def dependents_of(inventory: Inventory, target: Target) -> tuple[str, ...]:
    """What stands on a target, in words, each once: on all that hangs from a controller, on the array of a member."""
    return tuple(dict.fromkeys(word for device in _affected_devices(inventory, target) for word in _use_texts(device)))


def _affected_devices(inventory: Inventory, target: Target) -> Iterator[Array | Drive]:
    """The target, what else its block device is, and the array that it is a member of."""
    device = inventory.find(str(target))
    if isinstance(device, Controller):
        yield from (array for array in inventory.arrays if array.controller == target)
        yield from (drive for drive in inventory.drives if drive.controller == target)
        return
    if device is None:
        return
    yield device
    if isinstance(device, Array) and device.device is None:  # a pool, a volume of a card that the kernel does not have
        members = (inventory.find(str(member)) for member in device.members)
        yield from (member for member in members if isinstance(member, Array | Drive))
    yield from inventory.at(device.device) if device.device is not None else ()
    home = inventory.find(str(device.array)) if isinstance(device, Drive) and device.array is not None else None
    if isinstance(home, Array):
        yield home


def _use_texts(device: Array | Drive) -> tuple[str, ...]:
    return device.above or tuple(use.detail for use in device.uses if use.kind in _TELLING)
