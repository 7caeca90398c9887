"""Arrays, device-mapper targets and pretended disks, made for one test and taken down after it."""

from __future__ import annotations

import errno
import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.lab.disks import BLOCK, Disk, wait_until
from tests.lab.running import ProgramError, run

_names = itertools.count(1)


@dataclass(frozen=True)
class Made:
    """A block device made here."""

    device: str
    """Its node, by the kernel's name."""

    @property
    def kernel(self) -> str:
        """`md127`, `dm-0`, `lab1`."""
        return self.device.removeprefix("/dev/")

    @property
    def sysfs(self) -> Path:
        """`/sys/block/md127`."""
        return BLOCK / self.kernel

    def read(self, attribute: str) -> str:
        """A sysfs attribute."""
        return (self.sysfs / attribute).read_text().strip()

    def write(self, attribute: str, text: str) -> None:
        """Write one."""
        (self.sysfs / attribute).write_text(text)


@dataclass(frozen=True)
class Md(Made):
    """A software array."""

    members: tuple[str, ...]
    """Nodes of what it was made of, spares last."""

    def detail(self) -> dict[str, str]:
        """What `mdadm --detail --export` says."""
        pairs = (line.partition("=") for line in run("mdadm", "--detail", "--export", self.device).splitlines())
        return {key: value for key, _, value in pairs}

    def fail(self, member: str) -> None:
        """Mark a member faulty."""
        run("mdadm", self.device, "--fail", member)

    def settle(self, seconds: float = 120) -> None:
        """Wait for the end of resync, recovery or reshape."""
        wait_until(lambda: self.read("md/sync_action") in ("idle", "frozen"), f"{self.device} is idle", seconds)


@contextmanager
def md_array(level: str, members: Sequence[Disk | Made | str], *options: str, size: str = "32M") -> Iterator[Md]:
    """`mdadm --create`, without a resync. `size`: of each member, `max` for all of it; linear and raid0 take all.

    More `options` go on mdadm's command line: `--chunk=64`, `--layout=f2`, `--spare-devices=1`, `--bitmap=internal`.
    """
    nodes = tuple(member if isinstance(member, str) else member.device for member in members)
    number = next(n for n in itertools.count() if not (BLOCK / f"md{n}").exists())
    made = Md(f"/dev/md{number}", nodes)
    spares = sum(int(option.partition("=")[2]) for option in options if option.startswith("--spare-devices="))
    words = ["mdadm", "--create", made.device, f"--level={level}", f"--raid-devices={len(nodes) - spares}", "--run"]
    words += ["--metadata=1.2", "--homehost=any", f"--name=lab{next(_names)}", *options]
    words += [] if level in ("linear", "raid0", "0") else [f"--size={size}", "--assume-clean"]
    run(*words, *nodes)
    try:
        wait_until(lambda: Path(made.device).is_block_device(), f"{made.device} is there")
        yield made
    finally:
        stop_md(made)


def stop_md(made: Md) -> None:
    """Stop it if it runs, and forget that its members belonged to it."""
    if made.sysfs.exists():
        wait_until(lambda: _stopped(made), f"{made.device} stops", 60)
    for node in made.members:
        if Path(node).is_block_device():
            run("mdadm", "--zero-superblock", node, status=None)


def _stopped(made: Md) -> bool:
    run("mdadm", "--stop", made.device, status=None)
    try:
        return made.read("md/array_state") == "clear"
    except FileNotFoundError:
        return True
    except OSError as error:  # the kernel has deleted the array, but not yet its attributes
        if error.errno in (errno.EBUSY, errno.ENODEV):
            return False
        raise


@dataclass(frozen=True)
class Dm(Made):
    """A device-mapper target."""

    name: str
    """`/dev/mapper/NAME` leads to it."""

    def load(self, table: str) -> None:
        """Another table, in force at once."""
        run("dmsetup", "suspend", "--noflush", "--nolockfs", self.name)
        run("dmsetup", "load", self.name, stdin=table)
        run("dmsetup", "resume", self.name)

    def suspend(self) -> None:
        """Let everything that comes wait."""
        run("dmsetup", "suspend", "--noflush", "--nolockfs", self.name)

    def resume(self) -> None:
        """Go on."""
        run("dmsetup", "resume", self.name)


def dm_node(name: str) -> str:
    """The node, by the kernel's name, of a device-mapper target: below /dev/mapper there are no links without udev."""
    return f"/dev/dm-{run('dmsetup', 'info', '-c', '--noheadings', '-o', 'minor', name).strip()}"


@contextmanager
def dm_target(table: str) -> Iterator[Dm]:
    """A target by its table, `0 SECTORS delay /dev/x 0 20`; the module `dm-KIND` is loaded if need be."""
    for line in table.strip().splitlines():
        kind = line.split()[2]
        run("modprobe", "-q", f"dm-{kind}", status=None)  # error, linear and striped are in dm_mod itself
    name = f"lab{next(_names)}"
    run("dmsetup", "create", name, stdin=table)
    try:
        yield Dm(dm_node(name), name)
    finally:
        run("dmsetup", "resume", name, status=None)
        run("dmsetup", "remove", "--retry", name)


@contextmanager
def bcache_device(backing: str, cache: str | None = None, *, new: bool = True) -> Iterator[Made]:
    """`/dev/bcache0`: a disk, by its node, with a cache on another one before it, or with none.

    Not `new`: as it was made before.
    """
    run("modprobe", "bcache")
    if new:
        words = ["make-bcache", "--wipe-bcache", "--block", "4k", "--bucket", "64k", "-B", backing]
        run(*words, *(("-C", cache) if cache is not None else ()))
    control, made = Path("/sys/fs/bcache"), Made("/dev/bcache0")
    nodes = [node for node in (cache, backing) if node is not None]
    for node in nodes:
        with suppress(OSError):  # udev, where it runs, was faster
            (control / "register").write_text(node)
    wait_until(
        lambda: Path(made.device).is_block_device() and len(list(made.sysfs.glob("slaves/*"))) == len(nodes),
        "the cache serves",
    )
    try:
        yield made
    finally:
        made.write("bcache/stop", "1")
        for kept in control.glob("*-*-*/stop"):
            kept.write_text("1")
        wait_until(lambda: not Path(made.device).exists() and not list(control.glob("*-*-*")), "the cache is gone")


@contextmanager
def null_blk_device(*, size_mb: int = 64, **attributes: int | str) -> Iterator[Made]:
    """A null_blk device, `completion_nsec=1000000, irqmode=2` or `memory_backed=1` (Documentation/block/null_blk.rst).

    The kernel names it after its folder.
    """
    run("modprobe", "null_blk", "nr_devices=0")
    name = f"lab{next(_names)}"
    folder = Path("/sys/kernel/config/nullb") / name
    folder.mkdir()
    try:
        for key, value in {"size": size_mb, **attributes}.items():
            (folder / key).write_text(str(value))
        (folder / "power").write_text("1")
        node = next(path for path in (Path(f"/dev/{name}"), *Path("/dev").glob("nullb*")) if path.exists())
        yield Made(str(node))
    finally:
        (folder / "power").write_text("0")
        folder.rmdir()


@contextmanager
def scsi_debug_disk(**parameters: int | str) -> Iterator[Made]:
    """The disk of the scsi_debug module, `dev_size_mb=64` unless said otherwise. One at a time."""
    with _scsi_debug(1, **parameters) as (made,):
        yield made


@contextmanager
def scsi_debug_disks(count: int) -> Iterator[tuple[Made, ...]]:
    """Disks of scsi_debug, each with a memory and an adapter of its own."""
    with _scsi_debug(count, add_host=count, per_host_store=1) as disks:
        yield disks


@contextmanager
def two_path_disk() -> Iterator[tuple[Made, Made]]:
    """One disk of scsi_debug at two adapters: two nodes of one WWN, as a dual-ported disk without multipathd."""
    with _scsi_debug(2, add_host=2, vpd_use_hostno=0) as (first, second):
        yield first, second


@contextmanager
def _scsi_debug(count: int, **parameters: int | str) -> Iterator[tuple[Made, ...]]:
    before = {path.name for path in BLOCK.iterdir()}
    words = {"dev_size_mb": 64, **parameters}
    run("modprobe", "scsi_debug", *(f"{key}={value}" for key, value in words.items()))
    try:

        def come() -> list[Made]:
            names = sorted(path.name for path in BLOCK.glob("sd*") if path.name not in before)
            return [Made(f"/dev/{name}") for name in names]

        def ready() -> bool:
            found = come()
            return len(found) == count and all(Path(made.device).is_block_device() for made in found)

        wait_until(ready, "the scsi_debug disk is there")
        yield tuple(come())
    finally:
        wait_until(_without_scsi_debug, "scsi_debug is unloaded")


def _without_scsi_debug() -> bool:
    with suppress(ProgramError):
        run("modprobe", "-r", "scsi_debug")
    return not Path("/sys/module/scsi_debug").exists()
