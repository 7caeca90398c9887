"""NVMe drives for real: what raidbench sets, the drive tells through the kernel's own door, without nvme-cli."""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.workbench import Workbench
from backends.errors import BlockedError
from backends.model import Drive, Target
from tests.lab.disks import Disk, Disks
from tests.lab.results import Results
from tests.lab.running import run

_ADMIN_COMMAND = 0xC0484E41
"""ioctl that passes an admin command to a drive (linux/nvme_ioctl.h, NVME_IOCTL_ADMIN_CMD)."""
_IDENTIFY, _GET_FEATURES = 0x06, 0x0A

Blank = Callable[..., tuple[Disk, ...]]


pytestmark = pytest.mark.vendors("block", "nvme")


def admin(disk: Disk, opcode: int, *, nsid: int = 0, cdw10: int = 0, length: int = 0) -> tuple[int, bytes]:
    """Result and data of an admin command that only reads."""
    buffer = ctypes.create_string_buffer(max(length, 1))
    address = ctypes.addressof(buffer) if length else 0
    command = bytearray(
        struct.pack("<BBHIIIQQII6III", opcode, 0, 0, nsid, 0, 0, 0, address, 0, length, cdw10, 0, 0, 0, 0, 0, 0, 0)
    )
    descriptor = os.open(disk.device, os.O_RDONLY)
    try:
        assert fcntl.ioctl(descriptor, _ADMIN_COMMAND, command) == 0
    finally:
        os.close(descriptor)
    return struct.unpack("<I", command[-4:])[0], buffer.raw[:length]


def feature(disk: Disk, number: int) -> int:
    """A feature's 32 bits."""
    return admin(disk, _GET_FEATURES, cdw10=number)[0]


def cache(disk: Disk) -> str:
    return "on" if feature(disk, 6) & 1 else "off"


def lba_format(disk: Disk) -> str:
    """The format in use, by the bytes of Identify Namespace: FLBAS at 26, the formats from 128 on."""
    nsid = int(disk.read("nsid"))
    data = admin(disk, _IDENTIFY, nsid=nsid, length=4096)[1]
    at = 128 + 4 * (data[26] & 15)
    metadata, shift = int.from_bytes(data[at : at + 2], "little"), data[at + 2]
    assert disk.read("queue/logical_block_size") == str(1 << shift)
    return f"{1 << shift}+{metadata}" if metadata else str(1 << shift)


def namespace(disk: Disk) -> Target:
    return Target(backend="nvme", address=disk.kernel)


def controller(disk: Disk) -> Target:
    """The controller whose folder the namespace is in: their numbers need not be the same."""
    (folder,) = [path.parent for path in Path("/sys/class/nvme").glob(f"nvme*/{disk.kernel}")]
    return Target(backend="nvme", address=folder.name)


async def changed_and_taken_back(
    bench: Workbench, target: Target, disk: Disk, key: str, value: str, look: Callable[[Disk], str]
) -> tuple[str, str, str]:
    """What an independent look saw before, after the change and after its undo."""
    before = look(disk)
    ended = await bench.changes.apply(await bench.hardware.plan(target, key, value))
    assert ended.result == "verified", ended.message
    after = look(disk)
    undone = await bench.changes.undo(ended.id, confirm=(await bench.hardware.device_label(target)).token)
    assert undone.result == "verified", undone.message
    return before, after, look(disk)


@pytest.mark.parametrize("place", [namespace, controller])
async def test_the_write_cache_is_switched_off_and_on_again(
    workbench: Workbench, disks: Disks, table: Results, place: Callable[[Disk], Target]
) -> None:
    disk = disks["nvme0"]
    await workbench.hardware.machine.backends["nvme"].inventory()
    seen = await changed_and_taken_back(workbench, place(disk), disk, "drive_cache", "off", cache)
    assert table.setting(
        backend="nvme",
        on=f"nvme0, {place.__name__}",
        setting="drive_cache",
        before=seen[0],
        after="off",
        read_back=seen[1],
        undone=seen[2],
    )
    assert seen[0] == "on"


async def test_the_kernel_goes_on_flushing_a_drive_whose_cache_is_off(workbench: Workbench, disks: Disks) -> None:
    disk = disks["nvme1"]
    await workbench.hardware.machine.backends["nvme"].inventory()
    ended = await workbench.changes.apply(await workbench.hardware.plan(namespace(disk), "drive_cache", "off"))
    reading = (await workbench.hardware.read(namespace(disk)))["drive_cache"]
    kernel = disk.read("queue/write_cache")
    await workbench.changes.undo(ended.id)
    assert (kernel, reading.effective) == ("write back", "off, still flushed")


@pytest.mark.seconds(300)
@pytest.mark.parametrize("value", ["512+8"])
async def test_a_namespace_is_formatted_and_formatted_back(
    workbench: Workbench, blank: Blank, table: Results, value: str
) -> None:
    (disk,) = blank("nvme0")
    await workbench.hardware.machine.backends["nvme"].inventory()
    seen = await changed_and_taken_back(workbench, namespace(disk), disk, "lba_format", value, lba_format)
    assert table.setting(
        backend="nvme", on="nvme0", setting="lba_format", before=seen[0], after=value, read_back=seen[1], undone=seen[2]
    )


@pytest.mark.seconds(120)
async def test_a_format_destroys_what_it_says_it_destroys(workbench: Workbench, blank: Blank) -> None:
    (disk,) = blank("nvme0")
    run("mkfs.ext4", "-q", "-L", "precious", disk.device)
    await workbench.hardware.machine.backends["nvme"].inventory()
    change = await workbench.hardware.plan(namespace(disk), "lba_format", "4096")
    ended = await workbench.changes.apply(change)
    left = run("blkid", "-p", disk.device, status=None)
    await workbench.changes.undo(ended.id, confirm=(await workbench.hardware.device_label(namespace(disk))).token)
    assert "ext4 'precious'" in change.risk_text
    assert left == ""


FIXED = {
    "power_state": (2, "0"),
    "irq_coalescing_threshold": (8, "1"),
    "irq_coalescing_time": (8, "0"),
    "arbitration_burst": (1, "unlimited"),
}
"""Settings that QEMU's drive reads out and does not let be changed: feature and value."""


@pytest.mark.parametrize("key", FIXED)
async def test_what_the_drive_does_not_let_be_changed_is_read_and_blocked(
    workbench: Workbench, disks: Disks, table: Results, key: str
) -> None:
    disk, (number, value) = disks["nvme0"], FIXED[key]
    before = feature(disk, number)
    reading = (await workbench.hardware.read(controller(disk)))[key]
    with pytest.raises(BlockedError, match="does not allow changing it"):
        await workbench.hardware.plan(controller(disk), key, value)
    refused = run("nvme", "set-feature", f"/dev/{controller(disk).address}", "-f", str(number), "-v", "1", status=None)
    assert table.setting(
        backend="nvme",
        on="nvme0",
        setting=key,
        before=reading.now,
        after="blocked: the drive refuses",
        read_back=reading.now,
        undone=reading.now,
        ok=reading.now == value and reading.raw == f"0x{before:08x}" and "value:" not in refused,
    )
    assert feature(disk, number) == before


def listed() -> dict[str, dict[str, object]]:
    """`nvme list -o json` by node, of both shapes: flat, and by subsystem, controller and namespace (2.11)."""
    found: dict[str, dict[str, object]] = {}
    for device in json.loads(run("nvme", "list", "-o", "json"))["Devices"]:
        for subsystem in device.get("Subsystems", []):
            for owner in subsystem["Controllers"]:
                for space in owner["Namespaces"]:
                    found[f"/dev/{space['NameSpace']}"] = owner | space
        if "DevicePath" in device:
            found[device["DevicePath"]] = device
    return found


async def test_every_field_that_nvme_list_knows_too_is_equal(workbench: Workbench, table: Results) -> None:
    inventory = await workbench.hardware.machine.backends["nvme"].inventory()
    drives: dict[str | None, Drive] = {one.device: one for one in inventory.drives if one.target.backend == "nvme"}
    theirs = {
        node: (row["ModelNumber"], row["SerialNumber"], row["Firmware"], row["PhysicalSize"], row["SectorSize"])
        for node, row in listed().items()
    }
    ours = {
        node: (one.model, one.serial, one.firmware, one.size_bytes, one.logical_block) for node, one in drives.items()
    }
    fields = "model, serial, firmware, size, sector"
    assert table.add("Machine", "NVMe", f"`nvme list` of {len(theirs)} drives", f"{fields} equal", ok=ours == theirs)
    assert theirs
