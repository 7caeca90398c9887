"""From a disk and its health to a `Drive`. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from backends.model import Drive, Fact, Health, Media, Scope, State, Target
from backends.text import clean
from backends.topology.device_identity import identity, medium, model, serial, wwn
from backends.topology.tree import number
from backends.vendors.scsi.disks import Disk, Kind
from backends.vendors.scsi.smartctl import SmartAnswer

NAME = "scsi"
"""The prefix of this backend's targets."""

_STATES = {
    "running": State.ONLINE,
    "offline": State.OFFLINE,
    "transport-offline": State.OFFLINE,
    "blocked": State.OFFLINE,
    "deleted": State.MISSING,
}
"""States of a SCSI device (drivers/scsi/scsi_sysfs.c, sdev_states)."""


def drive(disk: Disk, health: SmartAnswer | None) -> Drive:
    """The drive as the inventory shows it; what smartctl adds is left out where it was not asked."""
    own = disk.node.attributes
    said = health or SmartAnswer()
    odd = odd_sector(disk, said)
    on_board = disk.pci is not None and disk.interface not in ("usb", None)
    return Drive(
        target=Target(backend=NAME, address=disk.name, scope=Scope.DRIVE),
        controller=Target(backend="hba", address=disk.pci or "", scope=Scope.CONTROLLER) if on_board else None,
        model=model(disk.node),
        serial=serial(disk.node) or said.serial,
        firmware=said.firmware or clean(own.get("device/rev", "")) or None,
        wwn=wwn(disk.node),
        media=Media.UNKNOWN if disk.kind is Kind.VOLUME else medium(disk.node),
        interface=disk.interface,
        size_bytes=disk.node.size_bytes or said.capacity or disk.node.size_bytes,
        logical_block=odd or number(own.get("queue/logical_block_size")),
        physical_block=number(own.get("queue/physical_block_size")),
        state=_STATES.get(own.get("device/state", ""), State.UNKNOWN),
        health=condition(said),
        device=disk.node.device,
        read_only=disk.node.read_only,
        identity=identity(disk.node),
        facts=tuple(
            Fact(label=label, value=value) for label, value in (*_place(disk), *_format(disk, odd), *_health(said))
        ),
    )


def condition(said: SmartAnswer) -> Health:
    """Return the condition of a drive by smartctl."""
    used = (
        said.used_percent if said.used_percent is not None or said.life_left is None else 100 - said.life_left.percent
    )
    return Health(
        predicts_failure=None if said.passed is None else not said.passed,
        media_errors=said.media_errors,
        other_errors=said.link_errors,
        wear_percent=None if used is None else float(used),
        temperature=None if said.celsius is None else float(said.celsius),
        temperature_limit=None if said.limit is None else float(said.limit),
    )


SECTORS = (512, 1024, 2048, 4096)
"""Bytes of sectors that the kernel takes; a disk with others has the size 0 (drivers/scsi/sd.c, sd_read_capacity)."""


def odd_sector(disk: Disk, said: SmartAnswer) -> int | None:
    """Return the bytes of a sector that the kernel does not take; None where it takes them, or they are not known."""
    sizes = (said.block, number(disk.node.attributes.get("queue/logical_block_size")))
    return next((size for size in sizes if size and size not in SECTORS), None)


def _format(disk: Disk, odd: int | None) -> Iterator[tuple[str, str]]:
    """Yield why the kernel has no block of a disk that is there."""
    if odd is not None:
        yield "Unusable", f"sector size {odd}: must be reformatted to 512 or 4096 bytes (sg_format --format --size=512)"
    elif disk.node.size_bytes == 0 and disk.node.attributes.get("removable") == "0":
        yield "Unusable", "size 0: it is not ready, or has sectors of a size that the kernel does not take (520, 528)"


def _place(disk: Disk) -> Iterator[tuple[str, str]]:
    """Where it hangs and what the kernel thinks of it."""
    if disk.hctl is not None:
        yield "SCSI address", disk.hctl
    if disk.driver is not None:
        yield "Host driver", disk.driver
    if disk.interface == "sata" and not disk.libata:
        yield "Attached to", "a SAS adapter"
    if disk.cache_type is not None:
        yield "Cache (kernel)", disk.cache_type
    if disk.queue_depth is not None:
        yield "Queue depth", str(disk.queue_depth)


def _health(said: SmartAnswer) -> Iterator[tuple[str, str]]:
    """What the drive says of itself."""
    if said.asleep:
        yield "Power", "standby: not asked for its health"
    if said.rpm:
        yield "Rotation", f"{said.rpm} rpm"
    if said.form is not None:
        yield "Form factor", said.form
    if said.speed is not None:
        yield "Link", said.speed
    if said.speed_limit is not None and said.speed_limit != said.speed:
        yield "Link limit", said.speed_limit
    if said.passed is not None:
        yield "SMART health", "passed" if said.passed else "FAILED"
    if said.celsius is not None:
        yield "Temperature", f"{said.celsius} °C"
    if said.hours is not None:
        yield "Powered on", f"{said.hours} h"
    if said.used_percent is not None:
        yield "Endurance used", f"{said.used_percent} %"
    if said.life_left is not None:
        yield "Life left", said.life_left.sentence()
    if said.power_loss is not None:
        yield "Power-loss protection", said.power_loss.sentence()
    if said.is_silent and not said.asleep and said.message is not None:
        yield "SMART health", f"not known: {said.message}"
