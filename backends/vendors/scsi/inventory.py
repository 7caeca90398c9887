"""Conversion of a disk and its health to a `Drive`. No I/O."""

from __future__ import annotations

from collections.abc import Iterator

from backends.model import Drive, Fact, Health, Media, Scope, State, Target
from backends.text import clean
from backends.topology.device_identity import identity, medium, model, serial, wwn
from backends.topology.tree import number
from backends.vendors.scsi.disks import Disk, Kind
from backends.vendors.scsi.smartctl import SmartAnswer

NAME = "scsi"
"""Prefix of this backend's targets."""

_STATES = {
    "running": State.ONLINE,
    "offline": State.OFFLINE,
    "transport-offline": State.OFFLINE,
    "blocked": State.OFFLINE,
    "deleted": State.MISSING,
}
"""States of a SCSI device (drivers/scsi/scsi_sysfs.c, sdev_states)."""


def drive(disk: Disk, health: SmartAnswer | None) -> Drive:
    """Return the `Drive` for the inventory. `health`: values from smartctl; None if it was not run."""
    attributes = disk.node.attributes
    reading = health or SmartAnswer()
    odd = odd_sector(disk, reading)
    on_board = disk.pci is not None and disk.interface not in ("usb", None)
    return Drive(
        target=Target(backend=NAME, address=disk.name, scope=Scope.DRIVE),
        controller=Target(backend="hba", address=disk.pci or "", scope=Scope.CONTROLLER) if on_board else None,
        model=model(disk.node),
        serial=serial(disk.node) or reading.serial,
        firmware=reading.firmware or clean(attributes.get("device/rev", "")) or None,
        wwn=wwn(disk.node),
        media=Media.UNKNOWN if disk.kind is Kind.VOLUME else medium(disk.node),
        interface=disk.interface,
        size_bytes=disk.node.size_bytes or reading.capacity or disk.node.size_bytes,
        logical_block=odd or number(attributes.get("queue/logical_block_size")),
        physical_block=number(attributes.get("queue/physical_block_size")),
        state=_STATES.get(attributes.get("device/state", ""), State.UNKNOWN),
        health=condition(reading),
        device=disk.node.device,
        read_only=disk.node.read_only,
        identity=identity(disk.node),
        facts=Fact.from_rows((*_place(disk), *_format(disk, odd), *_health(reading))),
    )


def condition(health: SmartAnswer) -> Health:
    """Return the health of a drive from smartctl."""
    used = (
        health.used_percent
        if health.used_percent is not None or health.life_left is None
        else 100 - health.life_left.percent
    )
    return Health(
        predicts_failure=None if health.passed is None else not health.passed,
        media_errors=health.media_errors,
        other_errors=health.link_errors,
        wear_percent=None if used is None else float(used),
        temperature=None if health.celsius is None else float(health.celsius),
        temperature_limit=None if health.limit is None else float(health.limit),
    )


SECTORS = (512, 1024, 2048, 4096)
"""Sector sizes in bytes that the kernel supports.
The kernel reports size 0 for disks with other sector sizes (drivers/scsi/sd.c, sd_read_capacity).
"""


def odd_sector(disk: Disk, health: SmartAnswer) -> int | None:
    """Return the sector size in bytes if the kernel does not support it; None if it does, or if the size is unknown."""
    sizes = (health.block, number(disk.node.attributes.get("queue/logical_block_size")))
    return next((size for size in sizes if size and size not in SECTORS), None)


def _format(disk: Disk, odd: int | None) -> Iterator[tuple[str, str]]:
    """Yield a fact with the reason why the kernel reports no capacity for a disk that is present.

    `odd`: its sector size, or None.
    """
    if odd is not None:
        yield "Unusable", f"sector size {odd}: must be reformatted to 512 or 4096 bytes (sg_format --format --size=512)"
    elif disk.node.size_bytes == 0 and disk.node.attributes.get("removable") == "0":
        yield "Unusable", "size 0: the disk is not ready, or the kernel does not support its sector size (520, 528)"


def _place(disk: Disk) -> Iterator[tuple[str, str | None]]:
    """Yield facts about the connection of the disk, and the values that the kernel uses for it."""
    yield "SCSI address", disk.hctl
    yield "Host driver", disk.driver
    yield "Attached to", "a SAS adapter" if disk.interface == "sata" and not disk.libata else None
    yield "Cache (kernel)", disk.cache_type
    yield "Queue depth", None if disk.queue_depth is None else str(disk.queue_depth)


def _health(health: SmartAnswer) -> Iterator[tuple[str, str | None]]:
    """Yield facts about the drive's health from smartctl."""
    yield "Power", "standby (health was not read)" if health.asleep else None
    yield "Rotation", f"{health.rpm} rpm" if health.rpm else None
    yield "Form factor", health.form
    yield "Link", health.speed
    yield "Link limit", health.speed_limit if health.speed_limit != health.speed else None
    yield "SMART health", None if health.passed is None else "passed" if health.passed else "FAILED"
    yield "Temperature", None if health.celsius is None else f"{health.celsius} °C"
    yield "Powered on", None if health.hours is None else f"{health.hours} h"
    yield "Endurance used", None if health.used_percent is None else f"{health.used_percent} %"
    yield "Life left", None if health.life_left is None else health.life_left.sentence()
    yield "Power-loss protection", None if health.power_loss is None else health.power_loss.sentence()
    if health.is_silent and not health.asleep and health.message is not None:
        yield "SMART health", f"not known: {health.message}"
