"""The laboratory's disks as the guest's kernel has them: found by serial number, wiped, taken out, put back."""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from backends.device_label import LENGTH
from backends.topology.leftovers import places
from tests.lab.hardware import BY_NAME, DISK_BYTES, DISKS
from tests.lab.qmp import Qmp, QmpError
from tests.lab.running import run

BLOCK = Path("/sys/block")
_EDGE = 8 << 20
"""Bytes at the front and the end of a disk in which nearly everything lies by which a disk is recognised."""
_COPY = 1 << 20
"""Bytes that are zeroed where a copy of a superblock may lie."""
_BLKZEROOUT = 0x127F
"""ioctl that zeroes a range (linux/fs.h): most drives are told in one command, and no page is copied."""


@dataclass(frozen=True)
class Disk:
    """One disk of the laboratory, present now."""

    name: str
    """Its name in the laboratory, `nvme0`, `sata1`, `scsi2`, `mega3`."""
    kernel: str
    """Its name in this boot, `nvme2n1`, `sdc`."""

    @property
    def device(self) -> str:
        """Its node."""
        return f"/dev/{self.kernel}"

    @property
    def serial(self) -> str:
        """Its serial number."""
        return BY_NAME[self.name].serial

    @property
    def word(self) -> str:
        """What has to be typed to mean it."""
        return self.serial[-LENGTH:]

    @property
    def sysfs(self) -> Path:
        """`/sys/block/sdc`."""
        return BLOCK / self.kernel

    def read(self, attribute: str) -> str:
        """A sysfs attribute, `queue/scheduler`."""
        return (self.sysfs / attribute).read_text().strip()

    def sectors_written(self) -> int:
        """512-byte sectors written since it came (Documentation/block/stat.rst, seventh field)."""
        return int(self.read("stat").split()[6])

    def wipe(self) -> None:
        """Make it blank: no signature, no partition left."""
        with open(self.device, "r+b", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            copies = {start // _COPY * _COPY for start, _ in places(size)}
            for start in (0, size - _EDGE):
                fcntl.ioctl(file, _BLKZEROOUT, struct.pack("QQ", start, _EDGE))
            for start in copies:
                fcntl.ioctl(file, _BLKZEROOUT, struct.pack("QQ", start, min(_COPY, size - start)))
        if any(self.sysfs.glob(f"{self.kernel}*/partition")):
            run("blockdev", "--rereadpt", self.device)


class Disks:
    """All disks by name. Look them up when they are needed: one put back may have another node."""

    def __getitem__(self, name: str) -> Disk:
        """Raises KeyError when it is not there now."""
        wanted = BY_NAME[name].serial
        for folder in BLOCK.iterdir():
            if serial_of(folder) == wanted:
                return Disk(name, folder.name)
        raise KeyError(f"{name} is not there")

    def __iter__(self) -> Iterator[Disk]:
        """Those that are there now."""
        return (self[disk.name] for disk in DISKS if self.has(disk.name))

    def has(self, name: str) -> bool:
        """Whether it is there."""
        return any(serial_of(folder) == BY_NAME[name].serial for folder in BLOCK.iterdir())

    def unplug(self, name: str) -> None:
        """Take it out while the machine runs; it is gone afterwards."""
        disk = self[name]
        if name.startswith(("sata", "mega")):  # QEMU cannot take these out; the kernel is told that it lost them
            (disk.sysfs / "device/delete").write_text("1")
        else:
            with Qmp() as qemu:
                qemu.execute("device_del", {"id": name})
        wait_until(lambda: not disk.sysfs.exists(), f"{name} is gone")

    def replug(self, name: str) -> Disk:
        """Put it back, what was on it still on it."""
        if name.startswith(("sata", "mega")):
            for scan in Path("/sys/class/scsi_host").glob("*/scan"):
                scan.write_text("- - -")
        else:
            wait_until(lambda: _put_in(name), f"QEMU puts {name} in")
        wait_until(lambda: self.has(name) and Path(self[name].device).is_block_device(), f"{name} is back")
        disk = self[name]
        wait_until(lambda: int(disk.read("size")) * 512 == DISK_BYTES, f"{name} has its size")
        return disk


def _put_in(name: str) -> bool:
    """Whether QEMU took it; it refuses for a moment after a disk has gone, until it let go of the image itself."""
    try:
        with Qmp() as qemu:
            qemu.execute("device_add", BY_NAME[name].arguments)
    except QmpError as error:
        if "conflict" in str(error) or "Duplicate" in str(error):
            return False
        raise
    return True


def serial_of(folder: Path) -> str | None:
    """Serial number of the disk at /sys/block/NAME; None if it has none."""
    try:
        if (folder / "device/serial").exists():  # NVMe
            return (folder / "device/serial").read_text().strip()
        return (folder / "device/vpd_pg80").read_bytes()[4:].decode("ascii", "replace").strip()
    except OSError:
        return None


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 120.0) -> None:
    """Look until the kernel has done it. Raises TimeoutError."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {seconds:.0f} s: {what}")
        time.sleep(0.05)
