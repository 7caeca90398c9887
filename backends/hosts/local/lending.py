"""A descriptor of a device for a program of somebody who may not open the device.

A program opens what it is given once more, by /proc/PID/fd/N, and the kernel then asks the rights of the file behind
the descriptor. Those of the device's node are the system's. So the device gets a second node, in a file system in
memory that has no place in the tree of folders, which only the descriptor leads to and which ends with it.
"""

from __future__ import annotations

import ctypes
import os
import stat

from backends.errors import RefusedError

_LIBC = ctypes.CDLL(None, use_errno=True)
_FSOPEN, _FSCONFIG, _FSMOUNT = 430, 431, 432
"""Numbers of the calls, the same on every machine (Linux >= 5.2, include/uapi/asm-generic/unistd.h)."""
_CLOEXEC, _CREATE = 1, 6


def open_for(number: int, gid: int, *, write: bool) -> int:
    """A descriptor of the block device `number` (st_rdev), which members of the group `gid` can open again.

    Read-only unless `write`; root owns the node, so that nobody else can widen that. Raises RefusedError.
    """
    mode = 0o660 if write else 0o440
    folder = -1
    try:
        folder = _nowhere()
        os.mknod("device", stat.S_IFBLK | mode, number, dir_fd=folder)
        os.chown("device", 0, gid, dir_fd=folder)
        os.chmod("device", mode, dir_fd=folder)
        flags = (os.O_RDWR if write else os.O_RDONLY) | os.O_NONBLOCK | os.O_CLOEXEC
        return os.open("device", flags, dir_fd=folder)
    except OSError as error:
        raise RefusedError(
            f"The device cannot be handed to a program without root: {error.strerror}.",
            hint="That takes Linux 5.2 and no container around it. Log in as root instead.",
            evidence=str(error),
        ) from error
    finally:
        if folder >= 0:
            os.close(folder)


def _nowhere() -> int:
    """A descriptor of the top folder of an empty file system in memory that is mounted nowhere. Raises OSError."""
    context = _call(_FSOPEN, b"tmpfs", _CLOEXEC)
    try:
        _call(_FSCONFIG, context, _CREATE, None, None, 0)
        return _call(_FSMOUNT, context, _CLOEXEC, 0)
    finally:
        os.close(context)


def _call(number: int, *words: object) -> int:
    result: int = _LIBC.syscall(ctypes.c_long(number), *words)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
