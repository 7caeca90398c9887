"""Access to trusted files: regular files with a single name that only this user and root can write to.

A log or journal determines the value to which a change is reverted, so no other user may be able to write to it. A user
who could replace it by a link could choose which file raidbench overwrites.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from backends.input_file import NotRegularError, open_input

_NEVER_WAITING = (
    os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
)  # without O_NONBLOCK, opening a FIFO would block until another process opens it for writing


_OTHER_KINDS = {
    errno.ELOOP: "is a symbolic link",
    errno.EISDIR: "is a folder",
    errno.ENXIO: "is not a regular file",  # a socket, or a FIFO without a reader
}
"""Error numbers of open() which mean that the path is no regular file, each with the reason in words."""

_WITHOUT_PERMISSIONS = (
    "If the filesystem has no permissions (vfat, exFAT), set RAIDBENCH_STATE_DIR to a folder on another one."
)

_LOOK = "Check the owner and the permissions with `ls -ld {path}`."


_NEXT_STEPS = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "Free disk space or inodes on the filesystem of {path}."),
    errno.EROFS: "Mount the filesystem of {path} read-write, or set RAIDBENCH_STATE_DIR to a folder on another one.",
    errno.EIO: "The filesystem of {path} has errors: read the kernel log with `dmesg`.",
    **dict.fromkeys(
        (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL),
        (
            "The filesystem of {path} lacks locks or fsync. Set RAIDBENCH_STATE_DIR to a folder on a local "
            "filesystem, such as ext4 or XFS."
        ),
    ),
    **dict.fromkeys(
        (errno.ESTALE, errno.ENOTCONN, errno.ETIMEDOUT, errno.EHOSTDOWN, errno.ENODEV),
        "The filesystem of {path} does not respond: mount it again, or set RAIDBENCH_STATE_DIR to another folder.",
    ),
    errno.ENAMETOOLONG: "Set RAIDBENCH_STATE_DIR to a folder with a shorter path than {path}.",
}
"""Hint about the next step by error number. Errors that are not listed have a general hint."""


def next_step(error: OSError, path: Path) -> str:
    """Return the hint to show if writing a file or folder in raidbench's state folder failed with `error`."""
    if isinstance(error, UntrustedFileError):
        return error.hint
    return _NEXT_STEPS.get(error.errno or 0, "Free disk space, or correct the permissions of {path}.").format(path=path)


class UntrustedFileError(OSError):
    """Error for a file or folder of the wrong kind, or that belongs to another user."""

    def __init__(self, path: Path, why: str, hint: str = "") -> None:
        super().__init__(errno.EPERM, f"{path} {why}")
        self.hint = hint


def is_absent(path: Path) -> bool:
    """Return whether it is certain that a file does not exist; False if its folder cannot be searched."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


def open_own(path: Path, flags: int) -> int:
    """Open a trusted file and return its descriptor. Never blocks and never follows a link.

    If `flags` has O_CREAT, the file is created with mode 0600. Raises OSError; UntrustedFileError for a file that is
    not regular, has a second name, is owned by another user except root, or is writable by others.
    """
    try:
        descriptor = os.open(path, flags | _NEVER_WAITING, 0o600)
    except OSError as error:
        if (why := _OTHER_KINDS.get(error.errno or 0)) is None:
            raise
        raise UntrustedFileError(path, why, _LOOK.format(path=path)) from error
    try:
        require_own(path, os.fstat(descriptor))
        os.set_blocking(descriptor, True)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read_own(path: Path) -> bytes:
    """Return the content of a file that only this user can write. Raises the errors of `open_own`."""
    with open(open_own(path, os.O_RDONLY), "rb") as file:
        return file.read()


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file of any user for reading. Its content is not trusted and may only be shown. Raises OSError."""
    try:
        return open_input(path)
    except NotRegularError as error:
        raise UntrustedFileError(path, "is not a regular file") from error


def read_regular(path: Path) -> bytes:
    """Return the content of a regular file of any user. Raises the errors of `open_regular`."""
    with open_regular(path) as file:
        return file.read()


def require_own(path: Path, info: os.stat_result) -> None:
    """Raise UntrustedFileError unless a file is regular, has one name, and only this user and root can write to it."""
    if not stat.S_ISREG(info.st_mode):
        raise UntrustedFileError(path, "is not a regular file", _LOOK.format(path=path))
    if info.st_nlink > 1:
        raise UntrustedFileError(
            path,
            "has a second hard link, so another user may own its other name",
            f"Replace it with a copy: `cp -p {path} ...`.",
        )
    require_owner(path, info)


def require_owner(path: Path, info: os.stat_result) -> None:
    """Raise UntrustedFileError if a file or folder belongs to another user except root, or others may write to it."""
    if info.st_uid not in (os.geteuid(), 0):
        why = f"belongs to another user (UID {info.st_uid})"
        raise UntrustedFileError(path, why, "raidbench does not use state files that another user wrote.")
    # Group write permission is accepted for an ordinary user, whose group is usually private (umask 002), not for root.
    others = stat.S_IWOTH | (stat.S_IWGRP if os.geteuid() == 0 else 0)
    if info.st_mode & others and not (stat.S_ISDIR(info.st_mode) and info.st_mode & stat.S_ISVTX):
        hint = f"If no one else has written there, run `chmod go-w {path}`. {_WITHOUT_PERMISSIONS}"
        raise UntrustedFileError(path, "can be written by other users", hint)
