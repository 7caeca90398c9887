"""One inventory of a machine, joined from several views of the same devices. No I/O.

A disk can be seen both as a block device of the kernel and as a vendor's drive or array. A controller can be seen both
as a function on the PCI bus and as an entry of the vendor's tool. The vendor's device is the primary one; the kernel's
is its twin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from backends.model import (
    KERNEL,
    MAPPER,
    Array,
    Controller,
    Device,
    Drive,
    Inventory,
    Media,
    State,
    Target,
)

BUS = "hba"
"""Backend that reports the controllers found on the PCI bus.

If another vendor reports the same PCI function, that vendor's controller is the primary one.
"""

_Device = TypeVar("_Device", Controller, Array, Drive)
_Placed = TypeVar("_Placed", Array, Drive)

_UNKNOWN = (None, "", (), Media.UNKNOWN, State.UNKNOWN)
_OF_A_DISK = (
    *("controller", "array", "model", "serial", "firmware", "wwn", "media", "interface", "size_bytes"),
    *("logical_block", "physical_block", "state", "scheduler", "identity", "uses", "signatures", "above"),
    *("partitions", "paths", "backing"),
)
"""Fields of `Drive` that, if missing in one view of a disk, are filled in from another view of the same disk."""


def join_views(inventory: Inventory) -> Inventory:
    """Return the inventory with the entries of one device merged or connected.

    - Missing facts of a vendor's drive or array come from the kernel's disk at the same node, and vice versa.
    - Members that an array lists as kernel disks become the vendor's drives or arrays, and refer to their array.
    - A device-mapper array at the node of a vendor's array is merged into that array, with its lasting path.
    - A bus controller at the PCI address of a vendor's controller is merged into it. All other entries stay.

    Joining a joined inventory again changes nothing, so that parts can be joined as they arrive.
    """
    return _members(_disks(_mapped(_controllers(inventory))))


def join_parts(parts: Mapping[str, Inventory]) -> Inventory:
    """Return one joined inventory of the parts that backends or single controllers have reported.

    `parts`: their inventories by the name of the backend or controller.
    """
    together = Inventory()
    for name in sorted(parts):
        together = together.merge(parts[name])
    return join_views(together)


def _controllers(inventory: Inventory) -> Inventory:
    managed = {
        controller.pci: controller
        for controller in inventory.controllers
        if controller.pci is not None and controller.target.backend != BUS
    }
    on_bus = {
        controller.pci: controller
        for controller in inventory.controllers
        if controller.target.backend == BUS and controller.pci in managed
    }
    moved = {bus.target: managed[pci].target for pci, bus in on_bus.items()}
    controllers = tuple(
        _managed(controller, on_bus.get(controller.pci or ""))
        for controller in inventory.controllers
        if controller.target not in moved
    )
    return replace(
        inventory,
        controllers=controllers,
        arrays=tuple(_behind(array, moved) for array in inventory.arrays),
        drives=tuple(_behind(drive, moved) for drive in inventory.drives),
    )


def _mapped(inventory: Inventory) -> Inventory:
    """Return the inventory with device-mapper's multipath devices merged into the storage system's volumes.

    A multipath device belongs to the volume at the same node.

    Only device-mapper reports the lasting path and the uses of the volume.
    """
    others = {array.device for array in inventory.arrays if array.device is not None and array.target.backend != MAPPER}
    mapped = {
        array.device: array for array in inventory.arrays if array.target.backend == MAPPER and array.device in others
    }
    if not mapped:
        return inventory

    def filled(array: Array) -> Array:
        lower = mapped.get(array.device or "")
        names = ("link", "uses", "above", "identity", "size_bytes")
        return array if lower is None else _filled(array, lower, *names)

    return replace(inventory, arrays=tuple(filled(array) for array in inventory.arrays if array not in mapped.values()))


def _managed(primary: Controller, bus: Controller | None) -> Controller:
    """Return a vendor's controller with the facts of the bus added."""
    if bus is None or primary.target.backend == BUS:
        return primary
    return _filled(primary, bus, "model", "serial", "firmware", "driver", "cache_bytes", "protection")


def _behind(device: _Placed, moved: Mapping[Target, Target]) -> _Placed:
    """Return an array or a drive that refers to its controller by the controller's primary target."""
    where = device.controller
    return device if where is None or where not in moved else replace(device, controller=moved[where])


def _disks(inventory: Inventory) -> Inventory:
    """Return the inventory with missing facts of each device filled in from its twin."""
    kernel_disks = {
        drive.device: drive for drive in inventory.drives if drive.target.backend == KERNEL and drive.device
    }
    vendors = {drive.device: drive for drive in reversed(inventory.drives) if drive.target.backend != KERNEL}
    arrays = {array.device: array for array in reversed(inventory.arrays)}

    def joined_drive(drive: Drive) -> Drive:
        if drive.device is None:
            return drive
        is_kernels = drive.target.backend == KERNEL
        if is_kernels and (array := arrays.get(drive.device)) is not None:
            return drive if drive.controller is not None else replace(drive, controller=array.controller)
        other = (vendors if is_kernels else kernel_disks).get(drive.device)
        return drive if other is None else _filled_drive(drive, other)

    def joined_array(array: Array) -> Array:
        twin = kernel_disks.get(array.device) if array.device else None
        return array if twin is None else _filled(array, twin, "size_bytes", "identity", "uses", "above")

    return replace(
        inventory,
        arrays=tuple(map(joined_array, inventory.arrays)),
        drives=tuple(map(joined_drive, inventory.drives)),
    )


def _filled_drive(drive: Drive, other: Drive) -> Drive:
    """Return a drive with missing fields filled in from another view of the same disk."""
    filled = _filled(drive, other, *_OF_A_DISK)
    # If any view reports the disk as read-only, the disk counts as read-only.
    return replace(filled, read_only=True) if other.read_only and not drive.read_only else filled


def _filled(device: _Device, other: Device, *names: str) -> _Device:
    """Return a device with missing facts and missing fields filled in from another view of it.

    `names`: the fields that may be filled in.
    """
    missing: dict[str, Any] = {name: getattr(other, name) for name in names if getattr(device, name) in _UNKNOWN}
    labels = {fact.label for fact in device.facts}
    added = tuple(fact for fact in other.facts if fact.label not in labels)
    return replace(device, **missing, facts=device.facts + added) if missing or added else device


def _members(inventory: Inventory) -> Inventory:
    """Return the inventory in which arrays list members by primary target, and member drives refer to their array."""
    primary = _primaries(inventory)

    def of_primaries(array: Array) -> Array:
        members = tuple(dict.fromkeys(primary.get(member, member) for member in array.members))
        return array if members == array.members else replace(array, members=members)

    arrays = tuple(map(of_primaries, inventory.arrays))
    array_of: dict[Target, Target] = {}
    for array in arrays:
        for member in array.members:
            array_of.setdefault(member, array.target)

    def placed(drive: Drive) -> Drive:
        array = drive.array or array_of.get(primary.get(drive.target, drive.target))
        return drive if array == drive.array else replace(drive, array=array)

    return replace(inventory, arrays=arrays, drives=tuple(placed(drive) for drive in inventory.drives))


def _primaries(inventory: Inventory) -> Mapping[Target, Target]:
    """Return the primary target of each kernel disk: the array at its node, else the vendor's drive, else itself.

    For a multipath disk it is the target at the first path, whichever path was named.
    """
    targets: dict[str, Target] = {}
    vendors = (drive for drive in inventory.drives if drive.target.backend != KERNEL)
    kernels = tuple(drive for drive in inventory.drives if drive.target.backend == KERNEL)
    nodes: tuple[Array | Drive, ...] = (*inventory.arrays, *vendors, *kernels)
    for node in nodes:
        if node.device is not None:
            targets.setdefault(node.device, node.target)
    firsts = {drive.target: drive.paths[0] if drive.paths else drive.device for drive in kernels}
    return {target: targets[first] for target, first in firsts.items() if first is not None and first in targets}
