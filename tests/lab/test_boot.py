"""The laboratory is what it says: every driver is there, every disk, and the real fio reads and writes each kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.workbench import Workbench
from tests.lab.disks import Disk, Disks
from tests.lab.hardware import DISK_BYTES, DISKS
from tests.lab.making import Dm, Made, Md
from tests.lab.results import Results
from tests.lab.running import run

DRIVERS = {"nvme0": "nvme", "sata0": "ahci", "scsi0": "virtio-pci", "mega0": "megaraid_sas"}
"""PCI driver beneath one disk of each kind."""


def fio(device: str, *words: str) -> int:
    """Operations that a short run of fio did."""
    argv = ("fio", "--name=lab", f"--filename={device}", "--runtime=1", "--time_based", "--size=16m", "--thread")
    found = json.loads(run(*argv, "--output-format=json", "--eta=never", *words))
    job = found["jobs"][0]
    assert job["error"] == 0
    return int(job["read"]["total_ios"] + job["write"]["total_ios"])


def test_every_disk_is_there_with_its_size(disks: Disks, table: Results) -> None:
    there = {disk.name: int(disk.read("size")) * 512 for disk in disks}
    assert table.add("Machine", "disks", "found", " ".join(there), ok=there == {d.name: DISK_BYTES for d in DISKS})


@pytest.mark.parametrize("name", DRIVERS)
def test_each_kind_of_disk_has_its_driver(disks: Disks, table: Results, name: str) -> None:
    folders = [folder for folder in disks[name].sysfs.resolve().parents if (folder / "driver").is_symlink()]
    drivers = [folder.joinpath("driver").resolve().name for folder in folders]
    assert table.add("Machine", name, "driver", DRIVERS[name], ok=DRIVERS[name] in drivers)


@pytest.mark.parametrize("name", DRIVERS)
def test_fio_reads_and_writes_each_kind_of_disk(
    blank: Callable[..., tuple[Disk, ...]], table: Results, name: str
) -> None:
    (disk,) = blank(name)
    done = fio(disk.device, "--rw=randrw", "--bs=4k", "--direct=1", "--ioengine=libaio", "--iodepth=32")
    assert table.add("Machine", name, "fio, direct, queue depth 32", "runs without an error", ok=done > 0)


def test_no_disk_has_stood_still() -> None:
    told = run("dmesg").splitlines()
    assert [line for line in told if "timeout, aborting" in line or "reset controller" in line] == []


def test_an_array_is_made_and_taken_down(array: Callable[..., Md], table: Results) -> None:
    made = array("raid5", ["nvme0", "nvme1", "nvme2", "nvme3"], "--chunk=64")
    seen = (made.detail()["MD_LEVEL"], made.read("md/chunk_size"), made.read("md/array_state"))
    assert table.add("Machine", "md", "raid5, chunk 64 KiB", " ".join(seen[:2]), ok=seen[:2] == ("raid5", "65536"))


def test_no_array_is_left_behind() -> None:
    assert not list(Path("/sys/block").glob("md*"))


def test_a_delay_target_delays(dm: Callable[[str], Dm], blank: Callable[..., tuple[Disk, ...]], table: Results) -> None:
    (disk,) = blank("scsi0")
    made = dm(f"0 65536 delay {disk.device} 0 20")
    words = ("--rw=randread", "--bs=4k", "--direct=1", "--ioengine=psync")
    assert table.add(
        "Machine", "dm", "delay of 20 ms", "at most 50 reads a second", ok=0 < fio(made.device, *words) <= 50
    )


def test_a_null_block_device_answers(null_blk: Callable[..., Made], table: Results) -> None:
    made = null_blk(completion_nsec=1000000, irqmode=2)
    done = fio(made.device, "--rw=randread", "--bs=4k", "--direct=1", "--ioengine=psync")
    assert table.add("Machine", "null_blk", "1 ms", "at most 1000 reads a second", ok=0 < done <= 1000)


def test_a_pretended_scsi_disk_answers(scsi_debug: Callable[..., Made], table: Results) -> None:
    made = scsi_debug(ndelay=5000000)
    done = fio(made.device, "--rw=randread", "--bs=4k", "--direct=1", "--ioengine=psync")
    assert table.add("Machine", "scsi_debug", "5 ms", "at most 200 reads a second", ok=0 < done <= 200)


@pytest.mark.parametrize("name", ["nvme3", "scsi2", "sata2"])
def test_a_disk_is_taken_out_and_put_back(
    disks: Disks, unplug: Callable[[str], None], table: Results, name: str
) -> None:
    unplug(name)
    gone = not disks.has(name)
    back = disks.replug(name)
    assert table.add(
        "Machine", name, "taken out, put back", "gone, then there", ok=gone and back.serial == disks[name].serial
    )


async def test_the_workbench_sees_every_disk(workbench: Workbench, table: Results) -> None:
    inventory = await workbench.hardware.probe()
    seen = {drive.serial for drive in inventory.drives}
    assert table.add(
        "Machine", "raidbench", "disks found by serial number", f"{len(DISKS)}", ok={d.serial for d in DISKS} <= seen
    )
