"""Exclusive opens of devices: the only complete test whether a device is in use, and the lock during a run.

This module opens devices itself, because an open file cannot be passed through a `Host`. Apart from it, only
backends.system.local opens devices.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import mmap
import os
import stat
import struct
from collections.abc import Sequence
from types import TracebackType

from backends.errors import AnotherDeviceError, DeviceGoneError, RefusedError
from backends.host import Host, shield_to_completion
from backends.identity import Identity
from backends.system.local.fd_passing import open_device, probe_open
from backends.system.local.uninterruptible import run_in_thread
from backends.topology.facts import CLOSED, SILENT, Claim
from backends.topology.leftovers import Place, Reader
from backends.topology.signatures import LENGTH, Marks, uuids_in

_CLOSED = (errno.ENXIO, errno.ENODEV)
"""Errors of open(2) for a disk that the kernel has removed or set offline."""

_BLKGETDISKSEQ = 0x80081280
"""ioctl for the sequence number of the disk behind an open file (linux/fs.h, Linux >= 5.15)."""


def claim(device: str, devno: str) -> str | None:
    """Open a device exclusively and close it again; return None if that worked, else the reason as a clause.

    O_EXCL without O_CREAT on a block device claims the device in the kernel (open(2)). The claim fails if a filesystem
    mounted in any namespace, swap, md, dm or another program has claimed the disk or one of its partitions.
    """
    try:
        number = probe_open(device, os.O_RDONLY | os.O_EXCL | os.O_NONBLOCK | os.O_CLOEXEC)
    except TimeoutError:
        return SILENT
    except OSError as error:
        if error.errno == errno.EBUSY:
            return "the kernel or a program has opened it exclusively"
        if error.errno in _CLOSED:
            return CLOSED
        return f"it cannot be opened exclusively: {error.strerror}"
    value = f"{os.major(number)}:{os.minor(number)}" if number else None
    return None if value == devno else "its name now belongs to a different device"


def claim_on(host: Host) -> Claim | None:
    """Return the function `claim` if this process can open the devices of the host, else None."""
    return claim if host.capabilities.opens_devices else None


def pieces(device: str, devno: str, places: Sequence[Place]) -> tuple[bytes, ...] | None:
    """Return the bytes at `places` of a device, read from the disk and not from the page cache; None if that fails."""
    try:
        descriptor = os.open(device, os.O_RDONLY | os.O_DIRECT | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if _devno(descriptor) != devno:
            return None
        parts = []
        for start, length in places:
            with mmap.mmap(-1, length) as room:  # anonymous memory is page-aligned, as direct I/O requires
                parts.append(room[: os.preadv(descriptor, [room], start)])
        return tuple(parts)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def pieces_on(host: Host) -> Reader | None:
    """Return the function `pieces` if this process can open the devices of the host, else None."""
    return pieces if host.capabilities.opens_devices else None


def marks(device: str, devno: str) -> frozenset[str] | None:
    """Return the UUIDs at the beginning of a device, or None if it cannot be read.

    They are read from the disk and not from the page cache.
    """
    read = pieces(device, devno, ((0, LENGTH),))
    return uuids_in(read[0]) if read is not None and read[0] else None


def marks_on(host: Host) -> Marks | None:
    """Return the function `marks` if this process can open the devices of the host, else None."""
    return marks if host.capabilities.opens_devices else None


class DeviceClaim:
    """A device that stays open from the last check to the end of a run; an asynchronous context manager.

    For writing, the device is opened exclusively, so that mount, mkfs and other raidbench processes cannot use it. For
    reading, it is opened read-only, and exclusively only if `exclusive` is set. Programs get `path`, which leads to
    this device even if another device gets its name meanwhile.
    """

    def __init__(self, device: str, identity: Identity, *, write: bool, exclusive: bool = False) -> None:
        """Store the arguments. The device is opened when the context is entered."""
        self.device = device
        """Device node to open."""
        self.identity = identity
        """Identity that the opened device must have."""
        self._flags = os.O_RDWR if write else os.O_RDONLY
        self._flags |= os.O_EXCL if write or exclusive else 0
        self._descriptor: int | None = None

    @property
    def path(self) -> str:
        """Return `/proc/PID/fd/N` of the open device. Raises ValueError if it is not open."""
        if self._descriptor is None:
            raise ValueError(f"{self.device} is not open")
        return f"/proc/{os.getpid()}/fd/{self._descriptor}"

    def pass_descriptor(self, gid: int) -> int:
        """Return a new descriptor of the open device that programs of group `gid` can open again.

        It is read-only unless the device is open for writing. The caller must close it. Raises RefusedError or
        DeviceGoneError if the device cannot be opened.
        """
        if self._descriptor is None:
            raise ValueError(f"{self.device} is not open")
        from backends.system.local.fd_passing import open_for

        number = os.fstat(self._descriptor).st_rdev
        descriptor = open_for(number, gid, write=self._flags & os.O_ACCMODE == os.O_RDWR)
        try:
            self._verify(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def open(self) -> None:
        """Open and verify the device.

        Raises RefusedError if it is in use, DeviceGoneError if it is not the expected device.
        """
        try:
            descriptor = open_device(self.device, self._flags | os.O_NONBLOCK | os.O_CLOEXEC)
        except TimeoutError:
            raise RefusedError(
                f"{self.device} could not be opened: {SILENT}.", hint="Read the kernel log for the cause."
            ) from None
        except OSError as error:
            if error.errno in (errno.ENOENT, *_CLOSED):
                raise DeviceGoneError(
                    f"{self.device} is offline or removed.",
                    hint="Read the kernel log for the cause.",
                    evidence=str(error),
                ) from error
            why = "it is in use" if error.errno == errno.EBUSY else str(error.strerror)
            hint = (
                "Run raidbench as root."
                if isinstance(error, PermissionError)
                else "Find the process or device that uses it (lsof, lsblk), release the device, and try again."
            )
            raise RefusedError(f"{self.device} could not be opened: {why}.", hint=hint, evidence=str(error)) from error
        try:
            self._verify(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def _verify(self, descriptor: int) -> None:
        matches = {"device number": (self.identity.devno, _devno(descriptor))}
        if self.identity.diskseq is not None:
            matches["disk sequence number"] = (self.identity.diskseq, disk_sequence(descriptor))
        if self.identity.size_bytes is not None:
            matches["size"] = (str(self.identity.size_bytes), str(os.lseek(descriptor, 0, os.SEEK_END)))
        for name, (wanted, now) in matches.items():
            if wanted != now:
                raise AnotherDeviceError(
                    f"{self.device} is now a different device: its {name} was {wanted} and is {now}.",
                    hint="Scan the devices again and plan again.",
                )

    def close(self) -> None:
        """Close the device."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    async def __aenter__(self) -> DeviceClaim:
        try:
            await shield_to_completion(asyncio.ensure_future(run_in_thread("open", self.open)))
        except BaseException:
            self.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()


def _devno(descriptor: int) -> str | None:
    """Return MAJ:MIN of an open block device; None for any other file."""
    info = os.fstat(descriptor)
    if not stat.S_ISBLK(info.st_mode):
        return None
    return f"{os.major(info.st_rdev)}:{os.minor(info.st_rdev)}"


def disk_sequence(descriptor: int) -> str | None:
    """Return the sequence number of the open disk, or of an open partition's disk; None if the kernel has none."""
    answer = bytearray(8)
    try:
        fcntl.ioctl(descriptor, _BLKGETDISKSEQ, answer)
    except OSError:
        return None
    number: int = struct.unpack("=Q", answer)[0]
    return str(number)
