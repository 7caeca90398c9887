"""Ways in which one disk is used under another name: through its other path, what lies on it and what lies beneath."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.lab.disks import BLOCK, Disk
from tests.lab.making import Made, bcache_device, dm_node, dm_target, md_array
from tests.lab.running import run
from tests.lab.uses import OPENER, mount, partition, program


@dataclass(frozen=True)
class Tried:
    """A device that must be refused."""

    what: str
    """What it is, for the table."""
    device: str
    """Its node."""
    said: str
    """The sentence with the real reason."""
    hidden: bool = False
    """Whether that is known only when open files or signatures are looked at."""


@dataclass(frozen=True)
class Place:
    """What there is to arrange: a disk with two paths, another disk, a folder in memory."""

    first: Made
    """One path to the disk."""
    second: Made
    """The other one."""
    other: Disk
    """Another disk, blank."""
    folder: Path
    """An empty folder."""

    @property
    def point(self) -> Path:
        """Where to mount."""
        return self.folder / "point"

    @property
    def image(self) -> Path:
        """A file that may be made; its bytes are watched as those of the disk are."""
        return self.folder / "image"

    def by_second(self, rest: str) -> Tried:
        """The second path, of which is said what uses the first."""
        return Tried("the other path", self.second.device, f"{self._same}{rest}.")

    @property
    def _same(self) -> str:
        return f"{self.second.device} is the same disk as {self.first.device}"


Arrangement = Callable[[Place], AbstractContextManager[tuple[Tried, ...]]]
"""Brings the disk into use; what must be refused then, whatever is confirmed."""


def filesystem(device: str | Path) -> None:
    """A small one that writes nothing by itself."""
    run("mkfs.ext4", "-q", "-O", "^has_journal", "-E", "lazy_itable_init=0", str(device), "8M")


@contextmanager
def loop(path: str | Path, *options: str) -> Iterator[str]:
    """A loop device on a file or a device."""
    made = run("losetup", "--find", "--show", *options, str(path)).strip()
    try:
        yield made
    finally:
        run("losetup", "--detach", made)


def linear(device: str) -> AbstractContextManager[Made]:
    """A device-mapper target over the first 4 MiB of a device."""
    return dm_target(f"0 8192 linear {device} 0")


@contextmanager
def mounted(place: Place) -> Iterator[tuple[Tried, ...]]:
    first, second = place.first.device, place.second.device
    filesystem(first)
    with ExitStack() as stack:
        upper = stack.enter_context(loop(first))
        other = stack.enter_context(loop(second, "--offset", "1048576"))
        above = stack.enter_context(linear(upper)).device
        point = stack.enter_context(mount(first, place.point))
        yield (
            place.by_second(f", mounted on {point}"),
            Tried("loop device on it", upper, f"{upper} is set up on {first}, mounted on {point}."),
            Tried(
                "loop device on the other path, with an offset",
                other,
                f"{other} is set up on {second}, the same disk as {first}, mounted on {point}.",
            ),
            Tried(
                "device-mapper target over a loop device on it",
                above,
                f"{shown(above)} is built on {upper}, set up on {first}, mounted on {point}.",
            ),
        )


@contextmanager
def partition_mounted(place: Place) -> Iterator[tuple[Tried, ...]]:
    with partition(place.first) as part:
        filesystem(part)
        run("blockdev", "--rereadpt", place.second.device)
        (twin,) = place.second.sysfs.glob(f"{place.second.kernel}*/partition")
        node = f"/dev/{twin.parent.name}"
        with mount(part, place.point) as point:
            rest = f": {part} is mounted on {point}"
            yield (
                place.by_second(rest),
                Tried("the same partition by the other path", node, place.by_second(rest).said),
            )


@contextmanager
def below_volume_of_partition(place: Place) -> Iterator[tuple[Tried, ...]]:
    with partition(place.first) as part, linear(part) as made:
        words = f"{shown(made.device)} is built on it"
        yield (
            place.by_second(f": {words}"),
            Tried("the disk", place.first.device, f"{part}: {words}."),
        )


def shown(device: str) -> str:
    """The path by which a device-mapper target is told; any other device's node."""
    place = BLOCK / Path(device).name / "dm/name"
    return f"/dev/mapper/{place.read_text().strip()}" if place.exists() else device


@contextmanager
def swap(place: Place) -> Iterator[tuple[Tried, ...]]:
    run("mkswap", place.first.device)
    run("swapon", place.first.device)
    try:
        yield (place.by_second(", active swap"),)
    finally:
        run("swapoff", place.first.device)


@contextmanager
def volumes(place: Place) -> Iterator[tuple[Tried, ...]]:
    device, group = place.first.device, "labtwo"

    def lvm(verb: str, *words: str) -> None:
        run("lvm", verb, "--yes", "--devices", device, *words)

    lvm("pvcreate", device)
    lvm("vgcreate", "--physicalextentsize=1M", group, device)
    try:
        lvm("lvcreate", "--size=8M", "--name=data", group)
        filesystem(f"/dev/mapper/{group}-data")
        lvm("lvcreate", "--size=4M", "--snapshot", "--name=snap", f"{group}/data")
        lvm("lvcreate", "--type=thin-pool", "--size=8M", "--poolmetadatasize=2M", "--zero=n", "--name=pool", group)
        lvm("lvcreate", "--thin", "--virtualsize=16M", "--name=thin", f"{group}/pool")
        names = ("data", "data-real", "snap-cow", "pool_tdata", "snap", "pool-tpool", "thin")
        nodes = {name: dm_node(f"{group}-{name}") for name in names}
        thin = f"{group}/pool, {group}/thin"
        both = f"{group}/data, {group}/snap"
        of_group = (
            f"a physical volume of {group} ({thin}, metadata of {thin}, origin of {both}, snapshot of {group}/snap)"
        )
        with mount(nodes["data"], place.point) as point:
            yield (
                place.by_second(f", {of_group}"),
                Tried("the disk", device, f"{device} is {of_group}."),
                Tried("volume, mounted", nodes["data"], f"/dev/{group}/data is mounted on {point}."),
                Tried(
                    "origin of a snapshot",
                    nodes["data-real"],
                    f"/dev/mapper/{group}-data-real is the origin of {group}/data, {group}/snap.",
                ),
                Tried(
                    "copy-on-write area of a snapshot",
                    nodes["snap-cow"],
                    f"/dev/mapper/{group}-snap-cow is the snapshot of {group}/snap.",
                ),
                Tried(
                    "data of a thin pool",
                    nodes["pool_tdata"],
                    f"/dev/mapper/{group}-pool_tdata is a part of {thin}.",
                ),
                Tried(
                    "thin pool",
                    nodes["pool-tpool"],
                    f"/dev/mapper/{group}-pool-tpool is a part of {thin}.",
                ),
            )
    finally:
        lvm("vgremove", "--force", group)


@contextmanager
def encrypted(place: Place) -> Iterator[tuple[Tried, ...]]:
    device = place.first.device
    words = ("--batch-mode", "--type=luks1", "--pbkdf-force-iterations=1000", "--key-file=-")
    run("cryptsetup", "luksFormat", *words, device, stdin="secret")
    run("cryptsetup", "open", "--key-file=-", device, "labtwo", stdin="secret")
    try:
        node = dm_node("labtwo")
        filesystem(node)
        with mount(node, place.point) as point:
            yield (
                place.by_second(f": {shown(node)} is built on it"),
                Tried("the disk", device, f"{device}: {shown(node)} is built on it."),
                Tried("what is open", node, f"{shown(node)} is mounted on {point}."),
            )
    finally:
        run("cryptsetup", "close", "labtwo")


@contextmanager
def overlapping(place: Place) -> Iterator[tuple[Tried, ...]]:
    first = place.first.device
    with ExitStack() as stack:
        one, other = (stack.enter_context(linear(first)).device for _ in range(2))
        half = stack.enter_context(dm_target(f"0 8192 linear {first} 4096")).device
        above = stack.enter_context(linear(other)).device
        run("mkfs.ext4", "-q", "-O", "^has_journal", "-E", "lazy_itable_init=0", one)
        point = stack.enter_context(mount(one, place.point))
        words = f"is on the same part of {first} as {shown(one)}, mounted on {point}."
        yield (
            Tried("another target over the same part", other, f"{shown(other)} {words}"),
            Tried("another target over half of it", half, f"{shown(half)} {words}"),
            Tried("a target over the other one", above, f"{shown(above)} {words}"),
        )


@contextmanager
def shared_by_dm_crypt(place: Place) -> Iterator[tuple[Tried, ...]]:
    device = place.first.device
    words = ("--type=plain", "--cipher=aes-cbc-essiv:sha256", "--key-size=256", "--hash=sha256", "--size=16384")
    with ExitStack() as stack:
        for name in ("labone", "labtwo"):
            run("cryptsetup", "open", *words, "--shared", "--key-file=-", device, name, stdin="secret")
            stack.callback(run, "cryptsetup", "close", name)
        one, other = map(dm_node, ("labone", "labtwo"))
        filesystem(one)
        point = stack.enter_context(mount(one, place.point))
        said = f"{shown(other)} is on the same part of {device} as {shown(one)}, mounted on {point}."
        yield (Tried("opened twice, the other one", other, said),)


@contextmanager
def cached(place: Place) -> Iterator[tuple[Tried, ...]]:
    first, cache = place.first.device, place.other.device
    with bcache_device(first, cache) as made:
        filesystem(made.device)
        with mount(made.device, place.point) as point:
            yield (
                place.by_second(", the backing device of bcache0"),
                Tried("what is cached", first, f"{first} is the backing device of bcache0."),
                Tried("the cache", cache, f"{cache} is the cache device of bcache0."),
                Tried("bcache device, mounted", made.device, f"{made.device} is mounted on {point}."),
            )


@contextmanager
def stopped_array(place: Place) -> Iterator[tuple[Tried, ...]]:
    with md_array("raid1", [place.first, "missing"], size="8M") as made:
        run("mdadm", "--stop", made.device)
        words = f"{place.second.device} is a member of a RAID or multipath set (linux_raid_member)."
        yield (Tried("the other path", place.second.device, words, hidden=True),)


@contextmanager
def running_array(place: Place) -> Iterator[tuple[Tried, ...]]:
    with md_array("raid1", [place.first, "missing"], size="8M") as made:
        yield (place.by_second(f": {made.device} is built on it"),)


@contextmanager
def images(place: Place) -> Iterator[tuple[Tried, ...]]:
    place.image.write_bytes(bytes(16 << 20))
    filesystem(place.image)
    with ExitStack() as stack:
        lower = stack.enter_context(loop(place.image))
        second = stack.enter_context(loop(place.image, "--offset", "1048576"))
        above = stack.enter_context(linear(second)).device
        point = stack.enter_context(mount(lower, place.point))
        same = f"set up on the same data as {lower}, mounted on {point}"
        yield (
            Tried("another loop device, with an offset", second, f"{second} is {same}."),
            Tried("device-mapper target over that", above, f"{shown(above)} is built on {second}, {same}."),
        )


@contextmanager
def held_image(place: Place) -> Iterator[tuple[Tried, ...]]:
    place.image.write_bytes(bytes(16 << 20))
    with program(sys.executable, "-c", OPENER, str(place.image)) as holder, loop(place.image) as made:
        words = f"{made} is set up on {place.image}: python (process {holder.pid}) has it open."
        yield (Tried("loop device on it", made, words, hidden=True),)


@contextmanager
def swap_file(place: Place) -> Iterator[tuple[Tried, ...]]:
    filesystem(place.first.device)
    with mount(place.first.device, place.point) as point:
        file = point / "swap"
        file.write_bytes(bytes(4 << 20))
        file.chmod(0o600)
        run("mkswap", str(file))
        run("swapon", str(file))
        try:
            with loop(file) as made:
                yield (
                    Tried("loop device on it", made, f"{made} is set up on {file}, active swap."),
                    place.by_second(f", mounted on {point}"),
                )
        finally:
            run("swapoff", str(file))


@contextmanager
def compressed_memory(place: Place) -> Iterator[tuple[Tried, ...]]:
    run("modprobe", "zram", "num_devices=2")
    swapped, backed = Path("/dev/zram0"), Path("/sys/block/zram1")
    (backed / "backing_dev").write_text(place.first.device)
    (BLOCK / "zram0/disksize").write_text("16M")
    run("mkswap", str(swapped))
    run("swapon", str(swapped))
    try:
        yield (
            place.by_second(": /dev/zram1 is set up on it"),
            Tried("zram with swap", str(swapped), f"{swapped} is active swap."),
        )
    finally:
        run("swapoff", str(swapped))
        (backed / "reset").write_text("1")
        run("modprobe", "-r", "zram")


_WITHOUT_FIRST_THREAD = """
import ctypes, os, sys, threading, time
os.open(sys.argv[1], os.O_RDONLY)
first = os.getpid()
def rest():
    while open(f"/proc/{first}/task/{first}/stat").read().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.05)
    print("ready", flush=True)
    time.sleep(600)
threading.Thread(target=rest).start()
ctypes.CDLL(None).pthread_exit(None)
"""
"""Holds a device in a process whose first thread has ended."""


@contextmanager
def held(place: Place) -> Iterator[tuple[Tried, ...]]:
    first, second = place.first.device, place.second.device
    with program(sys.executable, "-c", _WITHOUT_FIRST_THREAD, second) as holder:
        words = f"python (process {holder.pid}) has it open."
        yield (Tried("the other path", first, f"{first} is the same disk as {second}: {words}", hidden=True),)


@contextmanager
def multipath(place: Place) -> Iterator[tuple[Tried, ...]]:
    first, second = place.first.device, place.second.device
    run("modprobe", "dm-round-robin")
    with dm_target(f"0 65536 multipath 0 0 1 1 round-robin 0 2 1 {first} 1000 {second} 1000") as made:
        filesystem(made.device)
        with mount(made.device, place.point) as point:
            words = f": {shown(made.device)} is built on it."
            yield (
                Tried("a path", first, first + words),
                Tried("the other path", second, second + words),
                Tried("what is built of them", made.device, f"{shown(made.device)} is mounted on {point}."),
            )


@contextmanager
def exported(place: Place) -> Iterator[tuple[Tried, ...]]:
    run("modprobe", "nvmet")
    subsystem = Path("/sys/kernel/config/nvmet/subsystems/lab")
    namespace = subsystem / "namespaces/1"
    subsystem.mkdir()
    namespace.mkdir()
    try:
        (namespace / "device_path").write_text(place.first.device)
        (namespace / "enable").write_text("1")
        yield (place.by_second(", exported by the NVMe target lab"),)
    finally:
        namespace.rmdir()
        subsystem.rmdir()


@contextmanager
def exported_as_file(place: Place) -> Iterator[tuple[Tried, ...]]:
    run("modprobe", "target_core_file")
    core = Path("/sys/kernel/config/target/core/fileio_0")
    backstore = core / "lab"
    backstore.mkdir(parents=True)
    try:
        (backstore / "control").write_text(f"fd_dev_name={place.first.device},fd_dev_size=8388608")
        (backstore / "enable").write_text("1")
        words = "exported by the SCSI target lab"
        yield (
            place.by_second(f", {words}"),
            Tried("the disk", place.first.device, f"{place.first.device} is {words}."),
        )
    finally:
        backstore.rmdir()
        core.rmdir()


@contextmanager
def one_of_btrfs(place: Place) -> Iterator[tuple[Tried, ...]]:
    first, other = place.first.device, place.other.device
    run("modprobe", "btrfs")
    run("mkfs.btrfs", "-q", "--mixed", first, other)
    with mount(other, place.point) as point:
        yield (place.by_second(f", mounted on {point}"),)


ARRANGEMENTS: Mapping[str, Arrangement] = {
    "mounted": mounted,
    "a partition of it is mounted": partition_mounted,
    "a device-mapper target on a partition of it": below_volume_of_partition,
    "active swap": swap,
    "volumes, a snapshot and a thin pool on it": volumes,
    "LUKS, open": encrypted,
    "two device-mapper targets over one part": overlapping,
    "opened twice by cryptsetup": shared_by_dm_crypt,
    "bcache": cached,
    "member of a running array": running_array,
    "member of a stopped array": stopped_array,
    "image mounted by a loop device": images,
    "image that a program holds open": held_image,
    "active swap file on it": swap_file,
    "zram": compressed_memory,
    "open in a program whose first thread has ended": held,
    "multipath": multipath,
    "exported by the NVMe target": exported,
    "exported by the SCSI target as a file": exported_as_file,
    "one of two devices of a mounted btrfs": one_of_btrfs,
}
"""By the state that the disk with two paths, or an image, is in."""
