"""Queries to the firmware of local MegaRAID controllers through the driver's management node.

The node is opened read-only. The driver takes a `struct megasas_iocpacket`: a header, the command frame for the
controller, and a list of result buffers. The frame is little-endian on every architecture. The list has native
pointers and sizes, so the packet has 404 bytes for a 64-bit program and 276 for a 32-bit one. The size is part of the
request number, which therefore differs too (drivers/scsi/megaraid/megaraid_sas.h, include/uapi/asm-generic/ioctl.h).
"""

from __future__ import annotations

import asyncio
import ctypes
import errno
import fcntl
import os
import stat
import struct

from backends.errors import RefusedError, ToolFailedError, ToolMissingError, ToolTimeoutError
from backends.firmware_queries import FirmwareQuery
from backends.system.local.uninterruptible import run_in_thread

NODE = "/dev/megaraid_sas_ioctl_node"
"""Device node of the driver. The vendor's tools create it, not the kernel."""

DRIVER = "megaraid_sas_ioctl"
"""Name of the driver in /proc/devices, where its major number is listed."""

SECONDS = 20.0
"""Timeout in seconds for one reply. The driver itself waits three minutes for a controller that does not respond."""

_DCMD = 5
_FROM_CARD = 0x10
_NOT_DONE = 0xFF
_HEAD = "=HHIIII"
_FRAME = "<BBB4sBIIHHII12s"
_FRAME_BYTES = 128
_SGL_AT = struct.calcsize(_FRAME)
_ENTRIES = 16
_STATUS_AT = struct.calcsize(_HEAD) + 2
_GENERIC_IOCTL = ("x86_64", "i386", "i486", "i586", "i686", "aarch64", "armv7l", "riscv64", "loongarch64")
"""CPU architectures whose ioctl request numbers follow asm-generic; ppc, mips and sparc differ."""


def packet(
    host_number: int, question: FirmwareQuery, subject: int, size: int, address: int, pointer: str = "P"
) -> bytes:
    """Return the packet for the driver. The reply of `size` bytes will be written to memory at `address`. No I/O.

    `pointer`: struct code of a pointer; `I` for 32 bits, `Q` for 64 bits, or `P` for native.
    """
    query = question.value
    mailbox = struct.pack(query.subject, subject) if query.subject else b""
    frame = struct.pack(_FRAME, _DCMD, 0, _NOT_DONE, b"", 1, 0, 0, _FROM_CARD, 0, size, query.opcode, mailbox)
    buffers = struct.pack(f"@{pointer}{pointer}" if pointer == "P" else f"={pointer}{pointer}", address, size)
    head = struct.pack(_HEAD, host_number, 0, _SGL_AT, 1, 0, 0)
    return head + frame.ljust(_FRAME_BYTES, b"\0") + buffers.ljust(_ENTRIES * len(buffers), b"\0")


def request_number(size: int) -> int:
    """Return `_IOWR('M', 1, ...)` for a packet of this size. No I/O."""
    return 3 << 30 | size << 16 | ord("M") << 8 | 1


def reachable() -> str | None:
    """Return None if controllers can be queried, or the reason why not."""
    try:
        os.close(_open())
    except (ToolMissingError, RefusedError) as error:
        return error.message
    return None


async def ask(host_number: int, question: FirmwareQuery, subject: int, size: int | None) -> bytes:
    """Return the controller's reply to a query.

    Raises ToolMissingError, RefusedError, ToolFailedError, ToolTimeoutError.
    """
    length = question.value.size if size is None else size
    if not 0 < length <= question.value.size:
        raise ValueError(f"{question.name} has no answer of {length} bytes")
    asking = run_in_thread(f"firmware of host{host_number}", lambda: _ask(host_number, question, subject, length))
    try:
        return await asyncio.wait_for(asking, SECONDS)
    except TimeoutError:
        raise ToolTimeoutError(
            f"The controller of host{host_number} did not respond within {SECONDS:.0f} s.",
            hint="raidbench does not query it again during this scan. To disable the queries, set `firmware_queries "
            "= false` in the configuration.",
        ) from None


def _ask(host_number: int, question: FirmwareQuery, subject: int, size: int) -> bytes:
    """Send the query and return the reply. The buffer must exist until the call returns."""
    if os.uname().machine not in _GENERIC_IOCTL:
        raise RefusedError(f"Firmware queries are not supported on {os.uname().machine}.")
    buffer = ctypes.create_string_buffer(size)
    request = bytearray(packet(host_number, question, subject, size, ctypes.addressof(buffer)))
    descriptor = _open()
    try:
        fcntl.ioctl(descriptor, request_number(len(request)), request)
    except OSError as error:
        raise ToolFailedError(
            f"The driver of host{host_number} did not forward a firmware query ({question.name.lower()}): "
            f"{error.strerror}.",
            evidence=str(error),
        ) from error
    finally:
        os.close(descriptor)
    status = request[_STATUS_AT]
    if status != 0:
        raise ToolFailedError(
            f"The controller of host{host_number} refused a firmware query ({question.name.lower()}) with status "
            f"{status:#04x}."
        )
    return buffer.raw


def _open() -> int:
    """Return a read-only descriptor of the driver's node. Raises ToolMissingError, RefusedError for other nodes."""
    try:
        descriptor = os.open(NODE, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        raise ToolMissingError(
            f"{NODE} does not exist. raidbench needs it to query the controller.",
            hint=f"The vendor's tools create it. To create it manually: mknod {NODE} c {_major() or 'MAJOR'} 0, with "
            f"the number of {DRIVER} in /proc/devices.",
        ) from None
    except OSError as error:
        root = error.errno in (errno.EACCES, errno.EPERM)
        raise RefusedError(
            f"{NODE} cannot be opened: {error.strerror}.", hint="Run raidbench as root." if root else ""
        ) from error
    info = os.fstat(descriptor)
    if not stat.S_ISCHR(info.st_mode) or os.major(info.st_rdev) != _major():
        os.close(descriptor)
        raise RefusedError(
            f"{NODE} is not the device node of {DRIVER}.", hint="Remove it. The vendor's tools re-create it."
        )
    return descriptor


def _major() -> int | None:
    """Return the driver's major number, or None if the driver is not loaded."""
    try:
        with open("/proc/devices", encoding="ascii", errors="replace") as devices:
            lines = [line.split() for line in devices]
    except OSError:
        return None
    return next((int(line[0]) for line in lines if line[1:] == [DRIVER] and line[0].isdigit()), None)
