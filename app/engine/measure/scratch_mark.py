"""The mark by which raidbench knows a scratch file of its own: bound to this very file, so that no copy carries it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_MARK = "user.raidbench.scratch"
_VERSION = "2"
_BUSY, _LEFT = "busy", "left"

_MADE: set[tuple[int, int]] = set()
"""Device and inode of files this process made where the filesystem cannot carry the mark."""


def mark_busy(descriptor: int, path: Path) -> None:
    """This open file is ours and being written: its size and time are not yet what they will be."""
    info = os.fstat(descriptor)
    _set(descriptor, f"{_VERSION} {_BUSY} {info.st_ino} 0 0 {path}")


def mark_left(descriptor: int, path: Path) -> None:
    """This open file is ours and stays as it is now: whoever writes to it, or moves it, makes it his."""
    info = os.fstat(descriptor)
    _set(descriptor, f"{_VERSION} {_LEFT} {info.st_ino} {info.st_size} {info.st_mtime_ns} {path}")


def forget(info: os.stat_result) -> None:
    """The file is removed: its inode number will be another file's."""
    _MADE.discard((info.st_dev, info.st_ino))


def is_own(where: int | Path, path: Path) -> bool:
    """Whether the file (an open one, or that at a path; links are not followed) is ours and known as `path`.

    A copy has another inode, a moved file another path, a file that was written to since another time: all of these
    are somebody's, whatever attributes came along.
    """
    try:
        info = os.fstat(where) if isinstance(where, int) else os.lstat(where)
        if not stat.S_ISREG(info.st_mode) or info.st_uid != os.geteuid() or info.st_nlink != 1:
            return False
        if (info.st_dev, info.st_ino) in _MADE:
            return True
        if isinstance(where, int):
            mark = os.getxattr(where, _MARK)
        else:
            mark = os.getxattr(where, _MARK, follow_symlinks=False)
    except OSError:
        return False
    version, *rest = mark.decode("utf-8", "surrogateescape").split(" ", 5)
    if version != _VERSION or len(rest) != 5:
        return False
    state, inode, size, changed, known = rest
    if (inode, known) != (str(info.st_ino), str(path)):
        return False
    return state == _BUSY or (state == _LEFT and (size, changed) == (str(info.st_size), str(info.st_mtime_ns)))


def _set(descriptor: int, mark: str) -> None:
    try:
        os.setxattr(descriptor, _MARK, os.fsencode(mark))
    except OSError:  # tmpfs of old kernels has no user attributes
        info = os.fstat(descriptor)
        _MADE.add((info.st_dev, info.st_ino))
