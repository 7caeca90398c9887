"""What is missing on a machine with SATA or SAS disks, and what is lost without it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from backends.model import Problem
from backends.vendors.scsi.disks import Disk, Kind
from backends.vendors.scsi.inventory import NAME


def missing_tools(disks: Iterable[Disk], has: Callable[[str], bool]) -> tuple[Problem, ...]:
    """One problem for each program that is not installed and would have something to do."""
    kinds = {disk.kind for disk in disks}
    found: list[Problem] = []
    if Kind.ATA in kinds and not has("hdparm"):
        message = (
            "Without hdparm, look-ahead, power and acoustic management of SATA disks can be neither read nor set; "
            "their write cache is set through the kernel's cache_type, and read as the kernel believes it."
        )
        found.append(Problem(where=NAME, message=message, hint="Install hdparm."))
    if Kind.SCSI in kinds and not has("sdparm"):
        message = (
            "Without sdparm, read cache and look-ahead of SAS disks can be neither read nor set; "
            "their write cache is set through the kernel's cache_type, and read as the kernel believes it."
        )
        found.append(Problem(where=NAME, message=message, hint="Install sdparm."))
    if kinds - {Kind.VOLUME} and not has("smartctl"):
        message = (
            "Without smartctl there is no health, temperature, wear or speed of rotation of SATA and SAS disks, "
            "and no sign of power-loss protection: a write cache that is switched on always counts as a risk."
        )
        found.append(Problem(where=NAME, message=message, hint="Install smartmontools."))
    return tuple(found)
