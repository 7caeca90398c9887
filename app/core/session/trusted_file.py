"""Files and folders that are believed: regular, under one name, of this user, and written by nobody else.

Whoever can write a log or a journal decides what a way back goes back to; whoever can put another file in its place
decides what is overwritten.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from backends.input_file import NotRegularError, open_input

_NEVER_WAITING = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a FIFO would be waited for until somebody writes


_OTHER_KINDS = {
    errno.ELOOP: "is a symbolic link",
    errno.EISDIR: "is a folder",
    errno.ENXIO: "is not a regular file",  # a socket, or a FIFO that nobody reads
}
"""What cannot even be opened so, and is no question of room or permissions."""

_WITHOUT_PERMISSIONS = (
    "Where the filesystem has no permissions (vfat, exFAT), set RAIDBENCH_STATE_DIR to a folder on another one."
)

_LOOK = "See what it is with `ls -ld {path}`."


_NEXT_STEPS = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "Free space, or files where there are too many, for {path}."),
    errno.EROFS: "Mount the filesystem of {path} for writing, or set RAIDBENCH_STATE_DIR to a folder on another one.",
    errno.EIO: "The filesystem of {path} fails: read the kernel log with `dmesg`.",
    **dict.fromkeys(
        (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL),
        "The filesystem of {path} lacks locks or fsync. Set RAIDBENCH_STATE_DIR to a folder on a local filesystem, such"
        " as ext4 or XFS.",
    ),
    **dict.fromkeys(
        (errno.ESTALE, errno.ENOTCONN, errno.ETIMEDOUT, errno.EHOSTDOWN, errno.ENODEV),
        "The filesystem of {path} does not answer: mount it again, or set RAIDBENCH_STATE_DIR to another folder.",
    ),
    errno.ENAMETOOLONG: "Set RAIDBENCH_STATE_DIR to a folder with a shorter path than {path}.",
}
"""The next step by error number, for errors that are more exact than space or permissions."""


def next_step(error: OSError, path: Path) -> str:
    """Return the sentences that say what to do about a file or folder of the state that cannot be written."""
    if isinstance(error, UntrustedFileError):
        return error.hint
    return _NEXT_STEPS.get(error.errno or 0, "Free space or correct the permissions of {path}.").format(path=path)


class UntrustedFileError(OSError):
    """A file or folder that is another kind of thing, or somebody else's."""

    def __init__(self, path: Path, why: str, hint: str = "") -> None:
        super().__init__(errno.EPERM, f"{path} {why}")
        self.hint = hint


def is_absent(path: Path) -> bool:
    """Return whether it is certain that a file is not there; where its folder cannot be examined, it is not."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


def open_own(path: Path, flags: int) -> int:
    """A descriptor of `path`, made 0600 where `flags` has O_CREAT; nothing is waited for and no link followed.

    Raises OSError: UntrustedFileError for what is not a regular file, has a second name, is not this user's or root's,
    or may be written by others.
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
    """All of a file of this user. Raises as `open_own`."""
    with open(open_own(path, os.O_RDONLY), "rb") as file:
        return file.read()


def open_regular(path: Path) -> BinaryIO:
    """A regular file to be read, whoever wrote it: to be shown, never to be acted on. Raises OSError."""
    try:
        return open_input(path)
    except NotRegularError as error:
        raise UntrustedFileError(path, "is not a regular file") from error


def read_regular(path: Path) -> bytes:
    """All of it. Raises as `open_regular`."""
    with open_regular(path) as file:
        return file.read()


def require_own(path: Path, info: os.stat_result) -> None:
    """Raises UntrustedFileError unless a file is regular, has one name, and only this user and root can write it."""
    if not stat.S_ISREG(info.st_mode):
        raise UntrustedFileError(path, "is not a regular file", _LOOK.format(path=path))
    if info.st_nlink > 1:
        raise UntrustedFileError(
            path, "has a second name, under which it may be anybody's", f"Copy it: `cp -p {path} ...`."
        )
    require_owner(path, info)


def require_owner(path: Path, info: os.stat_result) -> None:
    """Raises UntrustedFileError where a file or folder is not this user's or root's, or others may write it."""
    if info.st_uid not in (os.geteuid(), 0):
        why = f"belongs to the user with the number {info.st_uid}"
        raise UntrustedFileError(path, why, "What another user wrote is not acted on.")
    # A group of one's own is usual among users (umask 002); root is in none.
    others = stat.S_IWOTH | (stat.S_IWGRP if os.geteuid() == 0 else 0)
    if info.st_mode & others and not (stat.S_ISDIR(info.st_mode) and info.st_mode & stat.S_ISVTX):
        hint = f"`chmod go-w {path}`, if nobody has written there. {_WITHOUT_PERMISSIONS}"
        raise UntrustedFileError(path, "may be written by other users", hint)
