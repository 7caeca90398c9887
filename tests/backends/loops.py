"""Real loop devices made for one test: on its own file, made sure of before any write, detached at the end."""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
import signal
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest

from tests import seeing
from tests.packages import PLACES, absence

_TOOLS = ("losetup", "blkid", "wipefs")
_BLKPG, _ADD = 0x1269, 1  # linux/blkpg.h: what addpart asks for, which Debian 13 has no more
_CONTROL = Path("/dev/loop-control")
_SIZE = 64 << 20
_PATIENCE = 20
"""How often another name is tried where somebody else took this one meanwhile."""

_AT_FIRST = {
    "scheduler": "none",
    "nr_requests": "128",
    "max_sectors_kb": "1280",
    "write_cache": "write back",
    "iostats": "1",
    "add_random": "0",
    "nomerges": "0",
    "rq_affinity": "1",
    "read_ahead_kb": "128",  # last: the others reset it
}
"""How each device begins: the kernel keeps what the test before set on one of the same number."""

_flush = os.fsync
"""The kernel's own, which the tests do without elsewhere: what is written has to reach the device."""

KEEPING = {
    "mkfs.ext4": ("-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"),
    "mkfs.xfs": ("-K",),
    "mkfs.btrfs": ("-K",),
}
"""What a program that makes a file system is told so that the file beneath keeps all of its room.

Else it gives back what it does not use, and so does the kernel when it zeroes later what is lazily initialised: what is
then written takes room from the machine's own disk, and is refused where a tenth of that is not free.
"""

T = TypeVar("T")


_BLINDED = seeing.blinded() if os.geteuid() == 0 else ""
"""The guard's reason to refuse every write here, "" if there is none: a container shares loop devices with its host."""


def why_no_loops() -> str:
    """Why loop devices cannot be made or written to, "" where they can."""
    if os.geteuid() != 0:
        return "needs root"
    return absence(*_TOOLS) or ("" if _CONTROL.exists() else "needs loop devices") or _BLINDED


def needs_loops() -> pytest.MarkDecorator:
    """Skips, with the reason, where loop devices cannot be made."""
    reason = why_no_loops()
    return pytest.mark.skipif(bool(reason), reason=reason or "loop devices can be made")


def needs_sight(*, real: bool = False, root: bool = True) -> pytest.MarkDecorator:
    """Skips, with the guard's reason, where it cannot see what all programs have open, and so lets nothing be written.

    `real`: where nothing of the test can tell it that process 1 has none of its devices. `root`: whether the test is
    skipped for other users, whom the guard shows less.
    """
    reason = "needs root" if root and os.geteuid() != 0 else _BLINDED
    reason = reason or ("process 1 of this machine shows nobody what it has open" if real and seeing.hides() else "")
    return pytest.mark.skipif(bool(reason), reason=reason or "outside of containers")


def run(*argv: str) -> str:
    """Run a program that must succeed. One that makes a file system leaves the file beneath all of its room."""
    argv = (shutil.which(argv[0], path=PLACES) or argv[0], *KEEPING.get(argv[0], ()), *argv[1:])
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def ext4(where: str | Path, *options: str) -> None:
    """An ext4 file system on a device or in a file of our own, into which the kernel writes nothing later by itself."""
    run("mkfs.ext4", "-q", "-F", *options, str(where))


@dataclass(frozen=True)
class Loop:
    """A loop device of our own."""

    device: str
    backing: Path

    @property
    def name(self) -> str:
        return self.device.removeprefix("/dev/")

    def sure(self) -> str:
        """The device, made sure that our own file is behind it: called before everything that destroys."""
        behind = self._behind()
        assert behind == str(self.backing), f"{self.device} belongs to {behind}"
        return self.device

    def is_ours(self) -> bool:
        """Return whether our file is behind it, even if the test has deleted that, which the kernel marks."""
        return self._behind().removesuffix(" (deleted)") == str(self.backing)

    def _behind(self) -> str:
        """Return the file behind it, as the kernel names it; "" if there is none."""
        try:
            return Path(f"/sys/block/{self.name}/loop/backing_file").read_text().removesuffix("\n")
        except OSError:
            return ""

    def write(self, offset: int, data: bytes) -> None:
        """Bytes on the device."""
        with open(self.sure(), "r+b", buffering=0) as file:
            file.seek(offset)
            file.write(data)
            _flush(file.fileno())

    def partition(self, *starts_and_sizes: tuple[int, int]) -> tuple[str, ...]:
        """A DOS partition table with partitions (first sector, sectors); their nodes."""
        table = bytearray(512)
        for index, (start, sectors) in enumerate(starts_and_sizes):
            entry = struct.pack("<B3sB3sII", 0, b"\0\2\0", 0x83, b"\xff\xff\xff", start, sectors)
            table[446 + 16 * index : 462 + 16 * index] = entry
        table[510:512] = b"\x55\xaa"
        self.write(0, bytes(table))
        nodes = tuple(f"{self.device}p{number}" for number in range(1, len(starts_and_sizes) + 1))
        for number, (start, sectors) in enumerate(starts_and_sizes, 1):
            self.add_partition(number, start, sectors)
        wait_for(lambda: all(Path(node).is_block_device() for node in nodes))
        return nodes

    def add_partition(self, number: int, start: int, sectors: int) -> None:
        """Tell the kernel of one: it may be built without a parser for this kind of table. One that it knows stays."""
        body = ctypes.create_string_buffer(struct.pack("=qqi64s64s4x", start * 512, sectors * 512, number, b"", b""))
        with open(self.sure(), "rb") as device, suppress(OSError):
            fcntl.ioctl(device, _BLKPG, struct.pack("@iiiP", _ADD, 0, len(body.raw) - 1, ctypes.addressof(body)))


@contextmanager
def alone() -> Iterator[None]:
    """No other test makes or detaches a loop device meanwhile: losetup tries what looks free by opening it.

    Whoever comes here where none can be made has not tried anything: that is told as a test that was skipped.
    """
    if reason := why_no_loops():
        pytest.skip(reason)
    with open(_CONTROL, "rb", buffering=0) as control:
        fcntl.flock(control, fcntl.LOCK_EX)  # ends with this process, however that ends
        yield


def attach(backing: Path, *options: str, device: str | None = None) -> Loop:
    """A loop device over a file, the first that is free or this one, which nobody else has open.

    Raises CalledProcessError where it is not free.
    """
    with alone():
        where = run("losetup", "--show", *options, device or "--find", str(backing)).strip()
    made = Loop(where, backing)
    made.sure()
    try:
        wait_for(lambda: not _open_elsewhere(where))
        _begin(Path("/sys/block") / made.name / "queue")
    except AssertionError:
        detach(made)
        raise
    return made


def _begin(queue: Path) -> None:
    """Give a queue the settings with which each test begins."""
    for key, value in _AT_FIRST.items():
        with suppress(OSError):  # another kernel has not all of them, or takes other values
            if value not in ((now := (queue / key).read_text().strip()), now.partition("[")[2].partition("]")[0]):
                (queue / key).write_text(value)


def detach(made: Loop) -> None:
    """The end of a loop device, if it is still ours."""
    with alone():
        if made.is_ours():
            run("losetup", "--detach", made.device)


def _open_elsewhere(device: str) -> bool:
    """Whether a process has the device open."""
    number = os.stat(device).st_rdev
    return any(number in _open_numbers(f"/proc/{name}/fd") for name in os.listdir("/proc") if name.isdigit())


def _open_numbers(folder: str) -> Iterator[int]:
    """Yield the numbers of the devices that a process has open."""
    with suppress(OSError), os.scandir(folder) as links:  # its process may end meanwhile
        for link in links:
            with suppress(OSError):  # closed meanwhile
                yield link.stat().st_rdev


def _filled(backing: Path, size: int) -> bool:
    """Whether the file had to be made: of so many zero bytes, which have all of their room."""
    if backing.exists():
        return False
    with open(backing, "wb") as file:
        if size:
            os.posix_fallocate(file.fileno(), 0, size)
    return True


@contextmanager
def loop(backing: Path, *options: str, size: int = _SIZE) -> Iterator[Loop]:
    """A loop device on a file of `size` zero bytes, which has all of its room. A file made here goes with it."""
    new = _filled(backing, size)
    try:
        made = attach(backing, *options)
        try:
            yield made
        finally:
            detach(made)
    finally:
        if new:
            with suppress(FileNotFoundError):
                os.truncate(backing, 0)  # somebody may have the device open yet: the room is given back all the same
                backing.unlink()


@contextmanager
def thin_loop(folder: Path, *, size: int, on: int) -> Iterator[Loop]:
    """A loop device of `size` bytes on a file without any of them, on a file system of its own of `on` bytes."""
    with loop(folder / "beneath", size=on) as lower:
        ext4(lower.sure(), "-m", "0", "-O", "^has_journal")
        point = folder / "small"
        point.mkdir()
        run("mount", lower.device, str(point))
        try:
            with open(point / "image", "wb") as file:
                file.truncate(size)
            with loop(point / "image") as made:
                yield made
        finally:
            run("umount", "--lazy", str(point))  # another test's mount namespace may still have what lay on it


@contextmanager
def exchanged(first: Path, second: Path, look: Callable[[Loop], T]) -> Iterator[tuple[Loop, T]]:
    """A device over the second file under the name of one over the first, and what was seen of that one."""
    for file in (first, second):  # they stay: it may be one file
        _filled(file, _SIZE)
    for _ in range(_PATIENCE):
        with loop(first) as made:
            seen = look(made)
        with suppress(subprocess.CalledProcessError):  # somebody else took the name meanwhile
            other = attach(second, device=made.device)
            break
    else:
        raise AssertionError("the name was always taken by somebody else")
    try:
        yield other, seen
    finally:
        detach(other)


@contextmanager
def mounted(device: str, point: Path) -> Iterator[Path]:
    """A filesystem mounted here."""
    point.mkdir(exist_ok=True)
    run("mount", device, str(point))
    try:
        yield point
    finally:
        run("umount", str(point))


@contextmanager
def program(*argv: str) -> Iterator[subprocess.Popen[str]]:
    """A program that says `ready` and then waits to be ended."""
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


def wait_for(condition: object, seconds: float = 120.0, *, pause: float = 0.01) -> None:
    """Wait until the kernel has done it. `pause`: seconds between two questions, more for one that starts a program."""
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the kernel did not do it in time"
        time.sleep(pause)


def gpt() -> bytes:
    """The first 34 sectors of an empty GPT disk of 64 MiB, checksums right."""
    import zlib

    sectors = (64 << 20) // 512
    entries = bytes(128 * 128)
    head = struct.pack(
        "<8sIIIIQQQQ16sQIII",
        b"EFI PART",
        0x10000,
        92,
        0,
        0,
        1,
        sectors - 1,
        34,
        sectors - 34,
        bytes(range(16)),
        2,
        128,
        128,
        zlib.crc32(entries),
    )
    head = head[:16] + struct.pack("<I", zlib.crc32(head)) + head[20:]
    protective = bytearray(512)
    protective[446:462] = struct.pack("<B3sB3sII", 0, b"\0\2\0", 0xEE, b"\xff\xff\xff", 1, sectors - 1)
    protective[510:512] = b"\x55\xaa"
    return bytes(protective) + head.ljust(512, b"\0") + entries


def lvm_label() -> bytes:
    """Sector 1 of an LVM2 physical volume: label header with its checksum, then the start of the PV header."""
    import zlib

    body = struct.pack("<I8s", 32, b"LVM2 001") + b"abcdefghijklmnopqrstuvwxyz012345" + struct.pack("<Q", 64 << 20)
    body = body.ljust(512 - 20, b"\0")
    crc = zlib.crc32(body, 0xF597A6CF ^ 0xFFFFFFFF) ^ 0xFFFFFFFF
    return b"LABELONE" + struct.pack("<QI", 1, crc) + body


def md_superblock() -> bytes:
    """The head of a version 1.2 md superblock, to lie at 4096, checksum right."""
    block = bytearray(256)
    struct.pack_into("<IIII", block, 0, 0xA92B4EFC, 1, 0, 0)
    block[16:32] = bytes(range(16))
    block[32:64] = b"tea:0".ljust(32, b"\0")
    struct.pack_into("<IIQII", block, 72, 1, 0, 2048, 0, 2)  # level, layout, size, chunk, disks
    struct.pack_into("<QQQ", block, 128, 2048, 1024, 8)  # data offset, data size, superblock offset
    total = sum(struct.unpack_from("<I", block, at)[0] for at in range(0, 256, 4))
    struct.pack_into("<I", block, 216, ((total & 0xFFFFFFFF) + (total >> 32)) & 0xFFFFFFFF)
    return bytes(block)


def luks_header() -> bytes:
    """The head of a LUKS1 volume."""
    head = b"LUKS\xba\xbe" + struct.pack(">H", 1)
    head += b"aes".ljust(32, b"\0") + b"xts-plain64".ljust(32, b"\0") + b"sha256".ljust(32, b"\0")
    return head.ljust(168, b"\0") + b"01234567-89ab-cdef-0123-456789abcdef".ljust(40, b"\0")
