"""A disk that the machine serves to itself, a copy of a mounted filesystem, and every node that reaches a disk."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.privsep.device_claims import DeviceClaims
from backends.guard import Intent, judge_device
from backends.system.local import LocalHost
from tests.lab.disks import BLOCK, Disk
from tests.lab.exporting import nvme_export, nvme_import, scsi_backstore, scsi_import
from tests.lab.layers import filesystem, loop
from tests.lab.results import Results
from tests.lab.running import run
from tests.lab.uses import OPENER, mount, partition, program
from tests.lab.writing import Writer, told

Blank = Callable[..., tuple[Disk, ...]]

pytestmark = [pytest.mark.vendors("block", "md"), pytest.mark.seconds(400)]

FRONT = 24 << 20
"""Bytes that are compared: all that a test writes."""


def front(path: str) -> bytes:
    """The first bytes of a device or file, past what the kernel remembers of them."""
    run("sync")
    Path("/proc/sys/vm/drop_caches").write_text("3")
    with open(path, "rb") as file:
        return file.read(FRONT)


def word_for(device: str) -> str:
    """What would have to be typed; a word of no meaning where nothing could be."""

    async def ask() -> str | None:
        return (await judge_device(LocalHost(), device, Intent.WRITE))[1].confirm_text

    return asyncio.run(ask()) or "no word"


def is_lent(device: str, folder: Path) -> bool:
    """Whether the helper hands out a descriptor of it for reading."""

    async def ask() -> bool:
        holding = DeviceClaims(LocalHost(), 0, folder / "no configuration")
        try:
            said, descriptors = await holding.hold(device, writing=False, typed=None, meant=None, shown=None)
            for descriptor in descriptors:
                os.close(descriptor)
            return bool(said["lent"] or descriptors)
        finally:
            await holding.close()

    return asyncio.run(ask())


# -- nodes ------------------------------------------------------------------------------------------------------------


def generic(disk: Disk, kind: str) -> str:
    """The node of `scsi_generic` or `bsg` that leads to a SCSI disk."""
    name = next((disk.sysfs / "device" / kind).iterdir()).name
    return f"/dev/bsg/{name}" if kind == "bsg" else f"/dev/{name}"


NODES: Mapping[str, tuple[str, Callable[[Disk], str]]] = {
    "the namespace's character device": ("nvme1", lambda disk: f"/dev/ng{disk.kernel.removeprefix('nvme')}"),
    "the controller's character device": ("nvme1", lambda disk: f"/dev/{disk.kernel.rpartition('n')[0]}"),
    "the SCSI generic device": ("sata0", lambda disk: generic(disk, "scsi_generic")),
    "the block layer's SCSI device": ("sata0", lambda disk: generic(disk, "bsg")),
    "the block layer's SCSI device of another adapter": ("scsi0", lambda disk: generic(disk, "bsg")),
}


@pytest.mark.parametrize("name", NODES)
def test_a_disk_is_in_use_by_whoever_has_any_node_of_it_open(
    writer: Writer, blank: Blank, table: Results, state: Path, tmp_path: Path, name: str
) -> None:
    which, node_of = NODES[name]
    (disk,) = blank(which)
    before = front(disk.device)
    with program(sys.executable, "-c", OPENER, node_of(disk)) as holder:
        result, said = writer.raw(disk.device, disk.word)
        lent = is_lent(disk.device, tmp_path)
    ok = result == "refused" and f"(process {holder.pid}) has it open" in said and front(disk.device) == before
    words = told(said, {disk.kernel: "sdX" if which == "sata0" else which}, tmp_path)
    assert table.add("Guard", f"a program has {name} open", result, "-", "-", words, ok=ok and not lent), said


# -- what is served to oneself ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Served:
    """A device that leads to data in use, by an export of this machine."""

    device: str
    """What is tried."""
    data: str
    """Where the bytes lie."""
    users: tuple[str, ...]
    """What the refusal has to name."""


Arrangement = Callable[[Disk, Path], AbstractContextManager[Served]]


@contextmanager
def mounted_disk_over_tcp(disk: Disk, folder: Path) -> Iterator[Served]:
    filesystem(disk.device)
    with ExitStack() as stack:
        point = stack.enter_context(mount(disk.device, folder / "m"))
        device = stack.enter_context(nvme_import(stack.enter_context(nvme_export(disk.device))))
        yield Served(device, disk.device, (f"mounted on {point}", "the NVMe target lab"))


@contextmanager
def mounted_partition_over_tcp(disk: Disk, folder: Path) -> Iterator[Served]:
    with partition(disk) as part:
        filesystem(part)
        with mount(part, folder / "m") as point, nvme_export(part) as subsystem, nvme_import(subsystem) as device:
            yield Served(device, disk.device, (f"{part} is mounted on {point}", "the NVMe target lab"))


@contextmanager
def mounted_image(disk: Disk, folder: Path) -> Iterator[tuple[Path, str]]:
    """A file on the disk, a filesystem in it, mounted by a loop device; the file and the mount point."""
    run("mkfs.ext4", "-q", disk.device)
    with mount(disk.device, folder / "below") as below:
        image = below / "image"
        image.write_bytes(bytes(16 << 20))
        filesystem(image)
        with loop(image) as device, mount(device, folder / "m") as point:
            yield image, str(point)


@contextmanager
def image_over_tcp(disk: Disk, folder: Path) -> Iterator[Served]:
    with ExitStack() as stack:
        image, point = stack.enter_context(mounted_image(disk, folder))
        device = stack.enter_context(nvme_import(stack.enter_context(nvme_export(str(image)))))
        yield Served(device, str(image), (f"mounted on {point}", "the NVMe target lab"))


@contextmanager
def image_by_scsi(disk: Disk, folder: Path, serial: str = "6001405lab") -> Iterator[Served]:
    with mounted_image(disk, folder) as (image, point):
        control = f"fd_dev_name={image},fd_dev_size={16 << 20}"
        with scsi_backstore("fileio", control, serial=serial) as backstore, scsi_import(backstore) as device:
            yield Served(device, str(image), (f"mounted on {point}", "the SCSI target lab"))


@contextmanager
def image_by_scsi_without_serial(disk: Disk, folder: Path) -> Iterator[Served]:
    with image_by_scsi(disk, folder, "") as served:
        yield served


@contextmanager
def held_image_by_scsi(disk: Disk, folder: Path) -> Iterator[Served]:
    run("mkfs.ext4", "-q", disk.device)
    with ExitStack() as stack:
        image = stack.enter_context(mount(disk.device, folder / "below")) / "image"
        image.write_bytes(bytes(16 << 20))
        control = f"fd_dev_name={image},fd_dev_size={16 << 20}"
        holder = stack.enter_context(program(sys.executable, "-c", OPENER, str(image)))
        backstore = stack.enter_context(scsi_backstore("fileio", control, serial="lab-5"))
        device = stack.enter_context(scsi_import(backstore))
        yield Served(device, str(image), (f"process {holder.pid}) has it open", "the SCSI target lab"))


@contextmanager
def disk_by_scsi(disk: Disk, folder: Path) -> Iterator[Served]:
    control = f"udev_path={disk.device}"
    with scsi_backstore("iblock", control, serial="lab-6") as backstore, scsi_import(backstore) as device:
        yield Served(device, disk.device, (f"set up on {disk.device}, exported by the SCSI target lab",))


@contextmanager
def memory_by_scsi(disk: Disk, folder: Path) -> Iterator[Served]:
    with scsi_backstore("rd_mcp", "rd_pages=4096", serial="lab-7") as backstore, scsi_import(backstore) as device:
        yield Served(device, device, ("the SCSI target lab",))


@contextmanager
def backing_of_mounted_import(disk: Disk, folder: Path) -> Iterator[Served]:
    with nvme_export(disk.device) as subsystem, nvme_import(subsystem) as device:
        filesystem(device)
        with mount(device, folder / "m"):
            yield Served(disk.device, disk.device, (f"{device} is set up on it", "exported by the NVMe target lab"))


@contextmanager
def not_enabled(disk: Disk, folder: Path) -> Iterator[Served]:
    with nvme_export(disk.device, enabled=False):
        yield Served(disk.device, disk.device, ("the NVMe target lab",))


SERVED: Mapping[str, Arrangement] = {
    "mounted disk, imported by NVMe over TCP": mounted_disk_over_tcp,
    "mounted partition, imported by NVMe over TCP": mounted_partition_over_tcp,
    "mounted image, imported by NVMe over TCP": image_over_tcp,
    "mounted image, imported by the SCSI target's loopback": image_by_scsi,
    "the same without a serial number": image_by_scsi_without_serial,
    "image that a program has open, imported by the SCSI target's loopback": held_image_by_scsi,
    "disk, imported by the SCSI target's loopback": disk_by_scsi,
    "memory, imported by the SCSI target's loopback": memory_by_scsi,
    "disk of which the import is mounted": backing_of_mounted_import,
    "disk in a namespace that is not enabled": not_enabled,
}


@pytest.mark.parametrize("name", SERVED)
def test_what_the_machine_serves_to_itself_is_in_use_with_what_it_lies_on(
    writer: Writer, blank: Blank, table: Results, state: Path, tmp_path: Path, name: str
) -> None:
    (disk,) = blank("nvme1")
    there = {path.name for path in BLOCK.iterdir()}
    with SERVED[name](disk, tmp_path) as served:
        before = front(served.data)
        word = word_for(served.device)
        result, said = writer.raw(served.device, word)
        untouched = front(served.data) == before
        lent = is_lent(served.device, tmp_path)
        come = {path.name for path in BLOCK.iterdir()} - there
    named = [user for user in served.users if user not in said]
    known = {disk.kernel: disk.name, **{kernel: "imported" for kernel in come if not kernel.startswith("loop")}}
    words = told(said, known, tmp_path)
    ok = result == "refused" and untouched and not named and not lent
    assert table.add("Guard", name, result, "-", "-", words, ok=ok), (named, lent, said)


# -- copies -----------------------------------------------------------------------------------------------------------


@contextmanager
def copied_disk(first: Disk, second: Disk, folder: Path) -> Iterator[tuple[str, str]]:
    filesystem(first.device)
    run("dd", f"if={first.device}", f"of={second.device}", "bs=1M", "count=16", "conv=fsync")
    with mount(first.device, folder / "m") as point:
        yield second.device, f"the UUID of {first.device}, which is mounted on {point}"


@contextmanager
def copied_image(first: Disk, second: Disk, folder: Path) -> Iterator[tuple[str, str]]:
    run("mkfs.ext4", "-q", first.device)
    with mount(first.device, folder / "below") as below, ExitStack() as stack:
        for name in ("one", "other"):
            (below / name).write_bytes(bytes(16 << 20))
        filesystem(below / "one")
        (below / "other").write_bytes((below / "one").read_bytes())
        one, other = (stack.enter_context(loop(below / name)) for name in ("one", "other"))
        point = stack.enter_context(mount(one, folder / "m"))
        yield other, f"the UUID of {one}, which is mounted on {point}"


@contextmanager
def snapshot(first: Disk, second: Disk, folder: Path) -> Iterator[tuple[str, str]]:
    run("modprobe", "dm-snapshot")
    run("lvm", "pvcreate", "--yes", first.device)
    run("lvm", "vgcreate", "--physicalextentsize=1M", "labcopy", first.device)
    try:
        run("lvm", "lvcreate", "--yes", "--size=32M", "--name=one", "labcopy")
        origin = os.path.realpath("/dev/labcopy/one")
        filesystem(origin)
        run("lvm", "lvcreate", "--yes", "--snapshot", "--size=40M", "--name=snap", "labcopy/one")
        with mount(origin, folder / "m") as point:
            yield os.path.realpath("/dev/labcopy/snap"), f"the UUID of /dev/labcopy/one, which is mounted on {point}"
    finally:
        run("lvm", "vgchange", "--activate=n", "labcopy")
        run("lvm", "vgremove", "--yes", "--force", "labcopy")


COPIES: Mapping[str, Callable[[Disk, Disk, Path], AbstractContextManager[tuple[str, str]]]] = {
    "copy of a mounted disk on another local disk": copied_disk,
    "copy of a mounted image in another file": copied_image,
    "snapshot of a mounted volume": snapshot,
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_that_is_proven_to_be_one_is_named_and_needs_the_word(
    writer: Writer, blank: Blank, table: Results, state: Path, tmp_path: Path, name: str
) -> None:
    first, second = blank("nvme0", "nvme1")
    with COPIES[name](first, second, tmp_path) as (device, original):
        without, asked = writer.raw(device, None, size="4M")
        # all of a snapshot does not fit into its store, so the helper keeps it
        lent = is_lent(device, tmp_path) or name == "snapshot of a mounted volume"
        result, said = writer.raw(device, writer.ready(device, size="4M").confirm_text, size="4M")
    ok = without == "refused" and original in asked and "so it is a copy" in asked and result == "written" and lent
    words = told(asked, {first.kernel: first.name, second.kernel: second.name}, tmp_path)
    came = f"{without} without the name, else {result}"
    assert table.add("Guard", name, came, "-", "-", words, ok=ok), (asked, said, lent)


# -- what stays free --------------------------------------------------------------------------------------------------


def test_a_free_disk_beside_an_exported_one_is_written(
    writer: Writer, blank: Blank, table: Results, state: Path, tmp_path: Path
) -> None:
    exported, free = blank("nvme1", "nvme2")
    with nvme_export(exported.device) as subsystem, nvme_import(subsystem):
        result, said = writer.raw(free.device, None)
        lent = is_lent(free.device, tmp_path)
    assert table.add("Guard", "free disk beside an exported one", result, "-", "-", said, ok=result == "written"), said
    assert lent
