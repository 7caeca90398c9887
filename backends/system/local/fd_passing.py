"""Opening of devices in a child process, and of descriptors for programs whose user may not open the device."""

from __future__ import annotations

import ctypes
import os
import socket
import stat
import subprocess
import threading

from backends.errors import RefusedError
from backends.self_exec import interpreter
from backends.system.local.child import LIBC, clean_environment

# -- a device opened in a child process -------------------------------------------------------------------------------

# On a disk that does not respond, open(2) may block forever, and no signal ends it. The child sends the descriptor over
# a socket.

SECONDS = 10.0
"""Timeout in seconds for opening a device."""

_CHILD = """
import os, socket, stat, sys
path, flags, give = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "give"
descriptors = []
try:
    descriptors.append(os.open(path, flags))
    info = os.fstat(descriptors[0])
    said = f"0 {info.st_rdev if stat.S_ISBLK(info.st_mode) else 0}"
except OSError as error:
    said = f"{error.errno} 0"
socket.send_fds(socket.socket(fileno=0), [said.encode()], descriptors if give else [])
"""
"""Code of the child process that opens a device. It exits after sending its reply, so it does not keep the
device open.
"""


def open_device(path: str, flags: int) -> int:
    """Return a descriptor of a device. Raises the OSError of open(2), or TimeoutError after `SECONDS`."""
    _, descriptors = _open_in_child(path, flags, "give")
    return descriptors[0]


def probe_open(path: str, flags: int) -> int:
    """Open and close a device; return its number (st_rdev), or 0 if it is no block device.

    Raises OSError, TimeoutError.
    """
    return _open_in_child(path, flags, "close")[0]


def _open_in_child(path: str, flags: int, action: str) -> tuple[int, list[int]]:
    ours, its = socket.socketpair()
    with ours:
        with its:
            process = subprocess.Popen(
                (interpreter(), "-I", "-S", "-B", "-c", _CHILD, path, str(flags), action),
                stdin=its.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=clean_environment({}),
                start_new_session=True,
            )
        ours.settimeout(SECONDS)
        try:
            message, descriptors, _, _ = socket.recv_fds(ours, 64, 1, socket.MSG_CMSG_CLOEXEC)
            for descriptor in descriptors:  # before Python 3.12 MSG_CMSG_CLOEXEC is ignored
                os.set_inheritable(descriptor, False)
            process.wait(SECONDS)
        except (TimeoutError, subprocess.TimeoutExpired):
            process.kill()
            threading.Thread(
                target=process.wait, name="opening", daemon=True
            ).start()  # may last until the disk responds
            raise TimeoutError from None
    numbers = message.split()
    code, number = (int(numbers[0]), int(numbers[1])) if len(numbers) == 2 else (5, 0)
    if code or (action == "give" and not descriptors):
        raise OSError(code or 5, os.strerror(code or 5), path)
    return number, descriptors


# -- a descriptor of a device for a user who may not open it ----------------------------------------------------------

# A program reopens its descriptor as /proc/PID/fd/N, and the kernel then checks the permissions of the file behind
# the descriptor. The permissions of the device's own node must not change. So the device gets a second node in an
# unmounted tmpfs. Only the descriptor leads to this tmpfs, which is removed when the descriptor is closed.


_FSOPEN, _FSCONFIG, _FSMOUNT = 430, 431, 432
"""Numbers of the system calls fsopen, fsconfig and fsmount, the same on all architectures (Linux >= 5.2,
include/uapi/asm-generic/unistd.h).
"""
_CLOEXEC, _CREATE = 1, 6


def open_for(number: int, gid: int, *, write: bool) -> int:
    """Return a descriptor of block device `number` (st_rdev) that members of group `gid` can reopen.

    It is read-only unless `write`. Root owns the node, so that no other user can extend its permissions. Raises
    RefusedError.
    """
    mode = 0o660 if write else 0o440
    folder = -1
    try:
        folder = _unmounted_tmpfs()
        os.mknod("device", stat.S_IFBLK | mode, number, dir_fd=folder)
        os.chown("device", 0, gid, dir_fd=folder)
        os.chmod("device", mode, dir_fd=folder)
        flags = (os.O_RDWR if write else os.O_RDONLY) | os.O_NONBLOCK | os.O_CLOEXEC
        return os.open("device", flags, dir_fd=folder)
    except OSError as error:
        raise RefusedError(
            f"A program without root cannot get access to the device: {error.strerror}.",
            hint="This needs Linux 5.2 and does not work in a container. Log in as root instead.",
            evidence=str(error),
        ) from error
    finally:
        if folder >= 0:
            os.close(folder)


def _unmounted_tmpfs() -> int:
    """Return a descriptor of the root folder of an empty tmpfs that is not mounted. Raises OSError."""
    context = _call(_FSOPEN, b"tmpfs", _CLOEXEC)
    try:
        _call(_FSCONFIG, context, _CREATE, None, None, 0)
        return _call(_FSMOUNT, context, _CLOEXEC, 0)
    finally:
        os.close(context)


def _call(number: int, *arguments: object) -> int:
    result: int = LIBC.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
