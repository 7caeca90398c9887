"""What is in the virtual machine: its disks and adapters, as QEMU is told and as the tests find them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

Arguments = dict[str, str | int]
"""Properties of a device, as `-device` and QMP's `device_add` take them."""

DISK_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class EmulatedDisk:
    """One disk."""

    name: str
    """Its name in the laboratory, `nvme0`: kernel names change from boot to boot."""
    arguments: Arguments
    """The device."""

    @property
    def serial(self) -> str:
        """Serial number, by which the tests find it."""
        return str(self.arguments["serial"])

    @property
    def image(self) -> str:
        """Its file, below QEMU's working directory."""
        return f"disks/{self.name}.raw"

    def backend(self) -> dict[str, object]:
        """QEMU's side of it: a sparse file of which nothing has to outlive the machine."""
        file = {"driver": "file", "filename": self.image, "discard": "unmap"}
        cache = {"direct": False, "no-flush": True}
        return {"driver": "raw", "node-name": self.name, "file": file, "cache": cache, "discard": "unmap"}

    def create(self, folder: Path) -> None:
        """Its file, all zeros."""
        path = folder / self.image
        path.parent.mkdir(exist_ok=True)
        with open(path, "wb") as image:
            image.truncate(DISK_BYTES)


def _disk(name: str, driver: str, **more: str | int) -> EmulatedDisk:
    common: Arguments = {"driver": driver, "id": name, "drive": name, "serial": f"LAB{name.upper()}"}
    return EmulatedDisk(name, common | more)


def _nvme(number: int) -> EmulatedDisk:
    return _disk(f"nvme{number}", "nvme", bus=f"port{number}", max_ioqpairs=2)


def _sata(number: int, turns: int) -> EmulatedDisk:
    return _disk(f"sata{number}", "ide-hd", bus=f"ide.{number}", model="LAB SATA", rotation_rate=turns)


def _scsi(number: int, turns: int) -> EmulatedDisk:
    words: Arguments = {"bus": "scsi.0", "scsi-id": number, "vendor": "LAB", "product": "SAS", "rotation_rate": turns}
    return _disk(f"scsi{number}", "scsi-hd", **words)


def _mega(number: int) -> EmulatedDisk:
    return _disk(f"mega{number}", "scsi-hd", bus="mega.0", **{"scsi-id": number}, vendor="LAB", product="VOLUME")


SOLID, DISK = 1, 7200
"""Rotation rates: 1 says that nothing turns (SBC, block device characteristics)."""


def _port(number: int) -> Arguments:
    """A drive can only be taken out of a PCIe port of its own."""
    return {"driver": "pcie-root-port", "id": f"port{number}", "chassis": number + 1, "slot": number + 1}


ADAPTERS: tuple[Arguments, ...] = (
    *map(_port, range(4)),
    {"driver": "virtio-scsi-pci", "id": "scsi"},
    {"driver": "megasas-gen2", "id": "mega", "hba_serial": "LABMEGARAID"},
)
"""What the disks hang from; the SATA ports are the machine's own."""

DISKS: tuple[EmulatedDisk, ...] = (
    *map(_nvme, range(4)),
    *(_sata(number, turns) for number, turns in enumerate((SOLID, DISK, SOLID))),
    *(_scsi(number, turns) for number, turns in enumerate((DISK, DISK, SOLID))),
    *map(_mega, range(4)),
)
"""Every disk. A virtual drive of the RAID controller is what a `mega` one is to the kernel."""

BY_NAME = {disk.name: disk for disk in DISKS}
