"""The inventory against lsblk, mdadm, nvme and lsscsi: every field that both know is equal."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from backends.model import Array, Drive, Inventory
from backends.registry import MachineBackends
from backends.system.local import LocalHost
from tests.lab.disks import Disks
from tests.lab.making import Md
from tests.lab.results import Results
from tests.lab.running import run


@pytest.fixture(scope="module")
def found() -> Inventory:
    """One look for all tests of this file: none of them changes what is there."""
    return asyncio.run(MachineBackends.of(LocalHost()).probe())


def by_lsblk() -> dict[str, dict[str, Any]]:
    listed = json.loads(run("lsblk", "-J", "-b", "-O", "-d"))["blockdevices"]
    return {one["path"]: one for one in listed}


def drives_at(found: Inventory, device: str) -> list[Drive | Array]:
    return list(found.at(device))


async def test_every_disk_of_lsblk_is_there_and_equal(found: Inventory, table: Results) -> None:
    compared = 0
    for path, row in by_lsblk().items():
        for thing in drives_at(found, path):
            assert thing.size_bytes == row["size"], path
            if isinstance(thing, Drive):
                pairs = (
                    (thing.logical_block, row["log-sec"]),
                    (thing.physical_block, row["phy-sec"]),
                    (thing.scheduler, row["sched"]),
                    (thing.read_only, row["ro"] in (True, "1")),
                    (thing.serial, (row["serial"] or "").strip() or None),
                )
                for ours, theirs in pairs:
                    if ours is not None and theirs is not None:
                        assert ours == theirs, path
                        compared += 1
    assert compared >= 40
    table.add("Machine", "inventory", "fields that lsblk knows too are equal", str(compared), ok=True)


async def test_all_disks_of_the_laboratory_are_there(found: Inventory, disks: Disks) -> None:
    for name in ("nvme0", "nvme3", "sata0", "sata2", "scsi0", "scsi2", "mega0", "mega3"):
        assert drives_at(found, disks[name].device), name


async def test_namespaces_are_as_nvme_lists_them(found: Inventory, table: Results) -> None:
    listed = json.loads(run("nvme", "list", "-o", "json"))["Devices"]
    assert listed
    for row in listed:
        drive = found.find(row["DevicePath"].replace("/dev/", "nvme:"))
        assert isinstance(drive, Drive)
        ours = (drive.serial, drive.model, drive.firmware, drive.size_bytes, drive.logical_block)
        told = (row["SerialNumber"], row["ModelNumber"], row["Firmware"], row["PhysicalSize"], row["SectorSize"])
        assert ours == told
    table.add("Machine", "inventory", "namespaces are equal to nvme list", str(len(listed)), ok=True)


async def test_scsi_disks_are_as_lsscsi_lists_them(found: Inventory, table: Results) -> None:
    lines = re.findall(r"^\[(\d\S+)\] +disk +(\S+) +(.+?) +(\S+) +(/dev/\S+)", run("lsscsi"), re.MULTILINE)
    assert lines
    for _, _, product, revision, device in lines:
        drive = found.find(device.replace("/dev/", "block:"))
        assert isinstance(drive, Drive), device
        assert product in (drive.model or ""), device
        assert drive.firmware == revision, device
    table.add("Machine", "inventory", "SCSI disks are equal to lsscsi", str(len(lines)), ok=True)


async def test_arrays_are_as_mdadm_details_them(array: Callable[..., Md], table: Results) -> None:
    made = array("raid5", ["nvme0", "sata0", "scsi0"], "--chunk=64")
    one = (await MachineBackends.of(LocalHost()).backends["md"].inventory()).find(made.device)
    told = dict(line.split("=", 1) for line in run("mdadm", "-D", "--export", made.device).splitlines() if "=" in line)
    assert isinstance(one, Array)
    assert one.level.value == told["MD_LEVEL"]
    assert len(one.members) == len([key for key in told if key.startswith("MD_DEVICE_") and key.endswith("_DEV")])
    uuid = next(fact.value for fact in one.facts if fact.label == "UUID")
    assert uuid == told["MD_UUID"]
    table.add("Machine", "inventory", "an array is equal to mdadm --detail --export", "level, members, UUID", ok=True)
