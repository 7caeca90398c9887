"""Findings about everything beneath one filesystem: its mount, its devices at all levels, and their controllers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from app.core.session.events import RecordedFinding
from app.features.check.collector import gather
from app.features.check.runner import evaluate, places_of, recorded
from app.features.check.snapshot import SystemSnapshot
from backends.model import Array, Controller, Drive, Inventory
from backends.registry import MachineBackends
from backends.topology import kernel_name
from backends.topology.mounts import Mount
from backends.values import dataclass

T = TypeVar("T", Array, Drive, Controller, Array | Drive)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedFoundation:
    """What is beneath a filesystem, and what the check finds there."""

    findings: tuple[RecordedFinding, ...]
    """Findings, faults first."""
    drives: tuple[Drive, ...]
    """Drives that hold data of the filesystem."""
    controllers: tuple[Controller, ...]
    """Controllers of these drives and of the arrays above them."""


async def check_beneath(
    machine: MachineBackends, inventory: Inventory, device: str | None, mount: Mount | None
) -> CheckedFoundation:
    """Return what is beneath a mounted filesystem. `device`: node of the block device below it; None if unknown."""
    readings, _ = await machine.read_devices(inventory)
    return beneath(await gather(machine.host, inventory, readings), device, mount)


def beneath(snapshot: SystemSnapshot, device: str | None, mount: Mount | None) -> CheckedFoundation:
    """Return what is beneath a mounted filesystem in a snapshot. No I/O."""
    devices = _devices(snapshot, device, mount)
    places = {place for owner in devices for place in places_of(snapshot, owner)}
    # Other filesystems on the same drives are no part of this one.
    places -= {other.where() for other in snapshot.mounts}
    places |= set() if mount is None else {mount.where()}
    members = [drive for owner in devices if isinstance(owner, Array) for drive in snapshot.members(owner)]
    drives = _once([*(owner for owner in devices if isinstance(owner, Drive)), *members])
    cards = [snapshot.controller(owner) for owner in (*devices, *drives)]
    return CheckedFoundation(
        findings=tuple(recorded(ruling) for ruling in evaluate(snapshot).findings if ruling.outcome.where in places),
        drives=drives,
        controllers=_once([card for card in cards if card is not None]),
    )


def _devices(snapshot: SystemSnapshot, device: str | None, mount: Mount | None) -> list[Array | Drive]:
    """Return the arrays and drives at all levels beneath a mount."""
    source = "" if mount is None else mount.source
    owners: list[Array | Drive] = [array for array in snapshot.inventory.arrays if array.target.address == source]
    for owner in tuple(owners):  # ZFS: the pool of a dataset
        pool = source.partition("/")[0]
        owners += [array for array in snapshot.inventory.arrays if array.target.address == pool and array != owner]
    names = [kernel_name(node) for node in (device, source if source.startswith("/dev/") else None) if node]
    for name in names:  # grows while it is read
        block = snapshot.find_block(name)
        if block is not None:
            owners += snapshot.inventory.at(f"/dev/{block.name.replace('!', '/')}")
            names += [other for other in block.below if other not in names]
    return list(_once(owners))


def _once(devices: Sequence[T]) -> tuple[T, ...]:
    """Return each device once, in order."""
    return tuple({device.target: device for device in devices}.values())
