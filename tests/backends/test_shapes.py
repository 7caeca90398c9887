"""Disks of every kind as their sysfs shows them, by hand: what the inventory makes of it."""

from __future__ import annotations

import pytest

from backends.model import Drive, Media, State
from backends.vendors.block.backend import BlockBackend
from tests.backends.fakes import QUEUE, FakeHost, disk, machine

FLASH = QUEUE | {"rotational": "0", "scheduler": "[none] mq-deadline"}

NVME = disk(
    "nvme0n1",
    devno="259:0",
    queue=FLASH,
    wwid="eui.0025385b71b0a1f2",
    device__model="Example SSD 970",
    device__serial="S4EWNX0N123456  ",
    device__firmware_rev="2B2QEXM7",
    device__state="live",
)
SATA = disk(
    "sda",
    device__vendor="ATA     ",
    device__model="EXAMPLE ST4000  ",
    device__rev="SN04",
    device__wwid="naa.5000c500a1b2c3d4",
    device__vpd_pg80="\0�\0\x14            Z1Z2ABCD",
    device__state="running",
)
SAS = disk(
    "sdb",
    devno="8:16",
    device__vendor="EXAMPLE ",
    device__model="MG04SCA40EN     ",
    device__rev="0101",
    device__wwid="naa.500003978812abcd",
    device__vpd_pg80="\0�\0\x0cX5R0A012FWAB",
    device__state="offline",
)
VIRTIO = disk("vda", devno="254:0", serial="scratch-1")
LINKS = {
    "/sys/block/nvme0n1": "/sys/devices/pci0000:00/0000:00:05.0/nvme/nvme0/nvme0n1",
    "/sys/block/sda": "/sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda",
    "/sys/block/sdb": "/sys/devices/pci0000:00/0000:01:00.0/host6/port-6:0/end_device-6:0/6:0:0:0/block/sdb",
    "/sys/block/vda": "/sys/devices/pci0000:00/0000:00:03.0/virtio1/block/vda",
}


async def drives(*disks: dict[str, str], **more: str) -> dict[str, Drive]:
    files = machine(*disks, **more)
    links = {path: target for path, target in LINKS.items() if f"{path}/dev" in files}
    host = FakeHost(files, links=links)
    return {drive.target.address: drive for drive in (await BlockBackend(host).inventory()).drives}


async def test_an_nvme_drive() -> None:
    drive = (await drives(NVME))["nvme0n1"]
    assert (drive.interface, drive.media, drive.state) == ("nvme", Media.NVME, State.ONLINE)
    assert (drive.model, drive.serial, drive.firmware) == ("Example SSD 970", "S4EWNX0N123456", "2B2QEXM7")
    assert (drive.wwn, drive.scheduler) == ("eui.0025385b71b0a1f2", "none")


async def test_a_sata_disk_has_no_vendor_of_its_own() -> None:
    drive = (await drives(SATA))["sda"]
    assert (drive.interface, drive.media, drive.state) == ("sata", Media.HDD, State.ONLINE)
    assert (drive.model, drive.serial, drive.firmware) == ("EXAMPLE ST4000", "Z1Z2ABCD", "SN04")
    assert (drive.logical_block, drive.physical_block) == (512, 4096)


async def test_a_sas_disk_that_is_offline() -> None:
    drive = (await drives(SAS))["sdb"]
    assert (drive.interface, drive.state, drive.wwn) == ("sas", State.OFFLINE, "naa.500003978812abcd")
    assert (drive.model, drive.serial) == ("EXAMPLE MG04SCA40EN", "X5R0A012FWAB")


async def test_a_virtio_disk_under_root() -> None:
    drive = (await drives(VIRTIO))["vda"]
    assert (drive.interface, drive.media, drive.serial) == ("virtio", Media.VIRTUAL, "scratch-1")
    assert [use.kind for use in drive.uses] == ["root", "mount"]


async def test_an_identity_has_all_that_tells_disks_apart() -> None:
    identity = (await drives(SATA))["sda"].identity
    assert identity is not None
    assert (identity.wwn, identity.serial, identity.devno, identity.diskseq, identity.size_bytes) == (
        "naa.5000c500a1b2c3d4",
        "Z1Z2ABCD",
        "8:0",
        "9",
        1 << 30,
    )


async def test_arrays_optical_drives_and_empty_devices_are_no_drives() -> None:
    found = await drives(
        disk("md0", devno="9:0", size=0),
        disk("dm-0", devno="253:0"),
        disk("sr0", devno="11:0"),
        disk("ram0", devno="1:0"),
        disk("bcache0", devno="252:0", size=0),
        disk("loop0", devno="7:0"),
        disk("zram0", devno="250:0", size=0),
        disk("zram1", devno="250:1"),
        disk("loop1", devno="7:1", loop__backing_file="/srv/a disk.img"),
        disk("nvme0c0n1", devno="259:1", hidden="1"),
        disk("mmcblk0", devno="179:0"),
        disk("sdz", devno="65:144", size=0),
    )
    assert set(found) == {"zram1", "loop1", "mmcblk0", "sdz"}
    assert (found["zram1"].media, found["loop1"].backing) == (Media.RAM, "/srv/a disk.img")


@pytest.mark.parametrize(
    ("model", "shown"),
    [
        ("ST4000[/]", "ST4000[/]"),
        ("\x1b]52;c;cm0K\x07MODEL", "�]52;c;cm0K�MODEL"),
        ("A\x9b31mB‮C\nD", "A�31mB�C D"),
        ("\0" * 4096, None),
        ("", None),
    ],
)
async def test_hostile_model_names_are_harmless(model: str, shown: str | None) -> None:
    drive = (await drives(disk("sda", device__model=model)))["sda"]
    assert drive.model == shown


async def test_what_sysfs_does_not_tell_stays_unknown() -> None:
    drive = (await drives({"/sys/block/sdq/dev": "65:0"}))["sdq"]
    assert (drive.model, drive.serial, drive.wwn, drive.size_bytes, drive.scheduler) == (None,) * 5
    assert (drive.media, drive.logical_block, drive.interface) == (Media.UNKNOWN, None, None)


async def test_udev_tells_what_sysfs_does_not() -> None:
    record = (
        "S:disk/by-id/x\nE:ID_SERIAL_SHORT=Q1\nE:ID_WWN=0x5000c500\nE:ID_FS_TYPE=ext4\nE:ID_FS_LABEL_ENC=my\\x20data"
    )
    drive = (await drives(disk("sda"), **{"/run/udev/data/b8:0": record}))["sda"]
    assert (drive.serial, drive.wwn) == ("Q1", "naa.5000c500")
    assert [(found.kind, found.label) for found in drive.signatures] == [("ext4", "my data")]


async def test_a_machine_without_sysfs_is_a_problem_not_a_crash() -> None:
    found = await BlockBackend(FakeHost({})).inventory()
    assert found.drives == ()
    assert found.problems
