"""Every way in which a disk can be in use, or hold something, that this machine can be brought into."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from tests.lab.disks import Disk, wait_until
from tests.lab.hardware import DISK_BYTES
from tests.lab.machine.zfs_module import ORDER, in_guest
from tests.lab.making import Made, dm_node, dm_target, md_array
from tests.lab.running import run

Use = Callable[[Disk, Disk, Path], AbstractContextManager[str]]
"""Brings a blank disk (and a second one) into a state; gives the node to be tried."""

SECTORS = 65536
"""Of 512 bytes: how much of a disk the device-mapper targets take."""

OPENER = "import os, sys, time; os.open(sys.argv[1], os.O_RDONLY); print('ready', flush=True); time.sleep(600)"


@contextmanager
def blank(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    yield disk.device


@contextmanager
def unmounted(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    run("mkfs.ext4", "-q", disk.device)
    yield disk.device


@contextmanager
def mount(device: str, point: Path) -> Iterator[Path]:
    """A filesystem mounted here."""
    point.mkdir(parents=True, exist_ok=True)
    run("mount", device, str(point))
    try:
        yield point
    finally:
        run("umount", str(point))


@contextmanager
def mounted(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    run("mkfs.ext4", "-q", disk.device)
    with mount(disk.device, folder):
        yield disk.device


@contextmanager
def mounted_by_another_node(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    with mounted(disk, other, folder / "point"):
        alias = folder / "alias"
        os.mknod(alias, 0o600 | 0o060000, os.stat(disk.device).st_rdev)
        yield str(alias)


@contextmanager
def lazily_unmounted(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    run("mkfs.ext4", "-q", disk.device)
    run("mount", disk.device, str(folder))
    with open(folder / "file", "w"):
        run("umount", "--lazy", str(folder))
        yield disk.device


@contextmanager
def mounted_elsewhere(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    run("mkfs.ext4", "-q", disk.device)
    script = 'mount "$1" "$2" && echo ready && exec sleep 600'
    with program("unshare", "--mount", "sh", "-c", script, "sh", disk.device, str(folder)):
        yield disk.device


@contextmanager
def partition(disk: Disk | Made, number: int = 1, sectors: int = SECTORS) -> Iterator[str]:
    """A DOS table with one partition, which the kernel knows."""
    entry = struct.pack("<B3sB3sII", 0, b"\0\2\0", 0x83, b"\xff\xff\xff", 2048, sectors)
    with open(disk.device, "r+b", buffering=0) as file:
        file.write(bytes(446) + entry + bytes(48) + b"\x55\xaa")
    run("blockdev", "--rereadpt", disk.device)
    found = list(disk.sysfs.glob(f"{disk.kernel}*/partition"))
    assert len(found) == number
    yield f"/dev/{found[0].parent.name}"


@contextmanager
def partitioned(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    with partition(disk):
        yield disk.device


@contextmanager
def partition_mounted(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    with partition(disk) as part:
        run("mkfs.ext4", "-q", part)
        with mount(part, folder):
            yield disk.device


@contextmanager
def partition_open(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    with partition(disk) as part, program(sys.executable, "-c", OPENER, part):
        yield disk.device


@contextmanager
def boot(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    run("mkfs.ext4", "-q", disk.device)
    with mount(disk.device, Path("/boot")):
        yield disk.device


@contextmanager
def below_boot(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    with md_array("raid1", [disk, other]) as made:
        run("mkfs.ext4", "-q", made.device)
        with mount(made.device, Path("/boot")):
            yield disk.device


@contextmanager
def swap(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    run("mkswap", disk.device)
    run("swapon", disk.device)
    try:
        yield disk.device
    finally:
        run("swapoff", disk.device)


@contextmanager
def former_swap(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    run("mkswap", disk.device)
    yield disk.device


@contextmanager
def volume_group(*disks: Disk) -> Iterator[str]:
    name = "labgroup"
    nodes = [disk.device for disk in disks]
    run("lvm", "pvcreate", "--yes", *nodes)
    run("lvm", "vgcreate", "--physicalextentsize=1M", name, *nodes)
    try:
        yield name
    finally:
        run("lvm", "vgremove", "--yes", "--force", name)


@contextmanager
def physical_volume(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    with volume_group(disk) as group:
        run("lvm", "lvcreate", "--yes", "--size=32M", "--name=lv", group)
        yield disk.device


@contextmanager
def inactive_physical_volume(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    with physical_volume(disk, other, folder):
        run("lvm", "vgchange", "--activate=n", "labgroup")
        yield disk.device


@contextmanager
def below_raid_volume(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    run("modprobe", "dm-raid")
    with volume_group(disk, other) as group:
        run("lvm", "lvcreate", "--yes", "--type=raid1", "--mirrors=1", "--nosync", "--size=8M", "--name=lv", group)
        yield disk.device


@contextmanager
def image_of_raid_volume(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    with below_raid_volume(disk, other, folder):
        yield dm_node("labgroup-lv_rimage_0")


@contextmanager
def cache_of_volume(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    run("modprobe", "dm-writecache")
    with volume_group(disk, other) as group:
        run("lvm", "lvcreate", "--yes", "--size=16M", "--name=slow", group, other.device)
        run("lvm", "lvcreate", "--yes", "--size=16M", "--name=fast", "--activate=n", group, disk.device)
        run("lvm", "lvconvert", "--yes", "--type=writecache", "--cachevol=fast", f"{group}/slow")
        yield disk.device


@contextmanager
def holder(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    with dm_target(f"0 {SECTORS} linear {disk.device} 0"):
        yield disk.device


@contextmanager
def suspended_holder(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    with dm_target(f"0 {SECTORS} linear {disk.device} 0") as made:
        made.suspend()
        yield disk.device


@contextmanager
def held_target(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    with dm_target(f"0 {SECTORS} linear {disk.device} 0") as lower, dm_target(f"0 {SECTORS} linear {lower.device} 0"):
        yield lower.device


@contextmanager
def multipath(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    run("modprobe", "dm-round-robin")
    with dm_target(f"0 {SECTORS} multipath 0 0 1 1 round-robin 0 1 1 {disk.device} 1000"):
        yield disk.device


@contextmanager
def luks(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    closed_luks(disk)
    run("cryptsetup", "open", "--key-file=-", disk.device, "labluks", stdin="secret")
    try:
        yield disk.device
    finally:
        run("cryptsetup", "close", "labluks")


def closed_luks(disk: Disk) -> None:
    # the weakest key there is: the emulated processor would take minutes for a good one
    words = ("--batch-mode", "--type=luks1", "--pbkdf-force-iterations=1000", "--key-file=-")
    run("cryptsetup", "luksFormat", *words, disk.device, stdin="secret")


@contextmanager
def luks_closed(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    closed_luks(disk)
    yield disk.device


@contextmanager
def bcache_alone(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    run("make-bcache", "--wipe-bcache", "-B", disk.device)
    yield disk.device


BCACHE = Path("/sys/fs/bcache")
"""Where devices are registered, and the sets that are."""


@contextmanager
def bcache_registered(disk: Disk, stop: str) -> Iterator[None]:
    """A device that bcache has; `stop`: what lets it go, below its folder."""
    run("modprobe", "bcache")
    (BCACHE / "register").write_text(disk.device)
    own = disk.sysfs / "bcache"
    wait_until(own.exists, f"{disk.device} is registered")
    try:
        yield
    finally:
        (own / stop).write_text("1")
        wait_until(lambda: not own.exists(), f"{disk.device} is let go")


@contextmanager
def bcache_running(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    with bcache_alone(disk, other, folder), bcache_registered(disk, "stop"):
        yield disk.device


@contextmanager
def bcache_waiting(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    words = ("--wipe-bcache", "--block", "4k", "--bucket", "64k")
    run("make-bcache", *words, "-B", disk.device, "-C", other.device)
    with bcache_registered(other, "set/stop"), bcache_registered(disk, "stop"):
        wait_until((disk.sysfs / "bcache/cache").exists, "the cache serves")  # from here on it does not run without
    with bcache_registered(disk, "stop"):
        yield disk.device


@contextmanager
def bcache_cache(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    run("make-bcache", "--wipe-bcache", "--block", "4k", "--bucket", "64k", "-C", disk.device)
    with bcache_registered(disk, "set/stop"):
        yield disk.device


@contextmanager
def md_member(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    with md_array("raid1", [disk, other]):
        yield disk.device


@contextmanager
def stopped_md_member(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    with md_array("raid1", [disk, other]) as made:
        run("mdadm", "--stop", made.device)
        yield disk.device


@contextmanager
def unstarted_md_member(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    with md_array("raid1", [disk, other]) as made:
        run("mdadm", "--stop", made.device)
        run("mdadm", "--incremental", disk.device)  # waits for the other one
        waiting = Made(f"/dev/{next(disk.sysfs.joinpath('holders').iterdir()).name}")
        try:
            yield disk.device
        finally:
            run("mdadm", "--stop", waiting.device)


@contextmanager
def md_spare(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    with (
        dm_target(f"0 {SECTORS * 2} linear {other.device} 0") as one,
        dm_target(f"0 {SECTORS * 2} linear {other.device} {SECTORS * 2}") as two,
        md_array("raid1", [one, two, disk], "--spare-devices=1"),
    ):
        yield disk.device


@contextmanager
def failed_md_member(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    with md_array("raid1", [disk, other]) as made:
        made.fail(disk.device)
        yield disk.device


@contextmanager
def removed_md_member(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    with md_array("raid1", [disk, other]) as made:
        made.fail(disk.device)
        run("mdadm", made.device, "--remove", disk.device)
        yield disk.device


@contextmanager
def mounted_array(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    with md_array("raid1", [disk, other]) as made:
        run("mkfs.ext4", "-q", made.device)
        with mount(made.device, folder):
            yield made.device


@contextmanager
def blank_array(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    with md_array("raid1", [disk, other]) as made:
        yield made.device


@contextmanager
def second_of_btrfs(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    run("modprobe", "btrfs")  # else nobody remembers which devices belong together
    run("mkfs.btrfs", "-q", "-m", "raid1", "-d", "raid1", other.device, disk.device)
    with mount(other.device, folder):
        yield disk.device


@contextmanager
def second_of_unmounted_btrfs(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    run("mkfs.btrfs", "-q", "-m", "raid1", "-d", "raid1", other.device, disk.device)
    yield disk.device


@contextmanager
def external_journal(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    run("mke2fs", "-q", "-b", "4096", "-O", "journal_dev", disk.device)
    run("mke2fs", "-q", "-b", "4096", "-t", "ext4", "-J", f"device={disk.device}", other.device)
    with mount(other.device, folder):
        yield disk.device


@contextmanager
def loop_on_it(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    made = run("losetup", "--find", "--show", disk.device).strip()
    try:
        yield disk.device
    finally:
        run("losetup", "--detach", made)


@contextmanager
def opened(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    with program(sys.executable, "-c", OPENER, disk.device):
        yield disk.device


@contextmanager
def read_only(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    run("blockdev", "--setro", disk.device)
    try:
        yield disk.device
    finally:
        run("blockdev", "--setrw", disk.device)


@contextmanager
def without_medium(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    run("modprobe", "loop")
    empty = run("losetup", "--find").strip()  # makes the node
    yield empty


@contextmanager
def offline(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    state = disk.sysfs / "device/state"
    state.write_text("offline\n")
    try:
        yield disk.device
    finally:
        state.write_text("running\n")


@contextmanager
def exported_by_nvme(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    run("modprobe", "nvmet")
    subsystem = Path("/sys/kernel/config/nvmet/subsystems/lab")
    namespace = subsystem / "namespaces/1"
    subsystem.mkdir()
    namespace.mkdir()
    try:
        (namespace / "device_path").write_text(disk.device)
        (namespace / "enable").write_text("1")
        yield disk.device
    finally:
        namespace.rmdir()
        subsystem.rmdir()


@contextmanager
def exported_by_scsi(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    run("modprobe", "target_core_iblock")
    core = Path("/sys/kernel/config/target/core/iblock_0")
    backstore = core / "lab"
    backstore.mkdir(parents=True)
    try:
        (backstore / "control").write_text(f"udev_path={disk.device}")
        (backstore / "enable").write_text("1")
        yield disk.device
    finally:
        backstore.rmdir()
        core.rmdir()


@contextmanager
def behind_zram(disk: Disk, other: Disk, folder: Path) -> Iterator[str]:
    run("modprobe", "zram")
    backing = Path("/sys/block/zram0/backing_dev")
    backing.write_text(disk.device)
    try:
        yield disk.device
    finally:
        Path("/sys/block/zram0/reset").write_text("1")
        run("modprobe", "-r", "zram")


REFUSED: Mapping[str, Use] = {
    "mounted": mounted,
    "mounted, asked for by another node": mounted_by_another_node,
    "mounted, then unmounted lazily": lazily_unmounted,
    "mounted in another mount namespace only": mounted_elsewhere,
    "a partition of it is mounted": partition_mounted,
    "a program has a partition of it open": partition_open,
    "mounted on /boot": boot,
    "below the array mounted on /boot": below_boot,
    "external journal of a mounted filesystem": external_journal,
    "second device of a mounted btrfs": second_of_btrfs,
    "active swap": swap,
    "physical volume with an active volume": physical_volume,
    "physical volume, inactive": inactive_physical_volume,
    "physical volume of a RAID volume": below_raid_volume,
    "half of a RAID volume": image_of_raid_volume,
    "cache of a volume": cache_of_volume,
    "bcache, not registered": bcache_alone,
    "backing device of bcache without a cache": bcache_running,
    "backing device that waits for its cache": bcache_waiting,
    "cache device without a backing device": bcache_cache,
    "below a device-mapper target": holder,
    "below a suspended device-mapper target": suspended_holder,
    "target below another target": held_target,
    "path of a multipath device": multipath,
    "below an open LUKS volume": luks,
    "member of a running array": md_member,
    "member of a stopped array": stopped_md_member,
    "member of an array that waits for the others": unstarted_md_member,
    "spare of an array": md_spare,
    "failed member of an array": failed_md_member,
    "member taken out of an array": removed_md_member,
    "array with a mounted filesystem": mounted_array,
    "below a loop device": loop_on_it,
    "backing device of zram": behind_zram,
    "exported by the NVMe target": exported_by_nvme,
    "exported by the SCSI target": exported_by_scsi,
    "a program has it open": opened,
    "read-only": read_only,
    "loop device without a file": without_medium,
    "offline": offline,
}
"""What no word of anybody's may make writable."""

NEEDS_SCSI = ("offline",)
"""States that only a SCSI disk knows."""

NAMED: Mapping[str, Use] = {
    "unmounted ext4": unmounted,
    "partition table": partitioned,
    "former swap": former_swap,
    "LUKS, closed": luks_closed,
    "second device of an unmounted btrfs": second_of_unmounted_btrfs,
}
"""What only the typed name makes writable."""


def _array_mounted(array: Made, folder: Path) -> AbstractContextManager[object]:
    run("mkfs.ext4", "-q", array.device)
    return mount(array.device, folder)


def _array_opened(array: Made, folder: Path) -> AbstractContextManager[object]:
    return program(sys.executable, "-c", OPENER, array.device)


def _array_held(array: Made, folder: Path) -> AbstractContextManager[object]:
    return dm_target(f"0 {SECTORS} linear {array.device} 0")


@contextmanager
def _array_in_a_stopped_one(array: Made, folder: Path) -> Iterator[None]:
    with md_array("raid1", [array, "missing"], size="8M") as outer:
        run("mdadm", "--stop", outer.device)
        yield


ON_AN_ARRAY: Mapping[str, Callable[[Made, Path], AbstractContextManager[object]]] = {
    "mounted": _array_mounted,
    "a program has it open": _array_opened,
    "below a device-mapper target": _array_held,
    "member of a stopped array": _array_in_a_stopped_one,
}
"""States of an array in which it must not be taken apart."""

ALLOWED: Mapping[str, Use] = {"blank": blank, "blank array": blank_array}
"""What may be written."""


@contextmanager
def program(*argv: str) -> Iterator[subprocess.Popen[str]]:
    """A program that says `ready` and is then ended."""
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "ready"
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


@contextmanager
def zfs_pool(module: Path, one: Disk, other: Disk) -> Iterator[str]:
    """A mirror `lab` with a filesystem that has a value of its own, and a volume, which is `zd0`.

    `module`: the folder of what `python -m tests.lab --zfs` built.
    """
    in_guest(module)
    with ExitStack() as made:
        made.callback(run, "rmmod", *reversed(ORDER), status=None)  # the tests after this are on a machine without it
        parts = []
        for disk in (one, other):
            disk.wipe()
            made.callback(disk.wipe)
            parts.append(made.enter_context(partition(disk, sectors=DISK_BYTES // 512 - 2048)))
        run("zpool", "create", "-o", "ashift=12", "-O", "compression=lz4", "lab", "mirror", *parts)
        made.callback(run, "zpool", "destroy", "lab")
        run("zfs", "create", "-o", "atime=off", "lab/files")
        run("zfs", "create", "-s", "-V", "32M", "lab/vm")
        wait_until(Path("/dev/zd0").exists, "the volume's node")
        link = Path("/dev/zvol/lab/vm")  # made by udev elsewhere
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to("/dev/zd0")
        made.callback(link.unlink)
        yield "lab"
