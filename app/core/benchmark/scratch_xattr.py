"""The mark by which raidbench knows a scratch file of its own: bound to this very file, so that no copy carries it."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from functools import cache
from pathlib import Path

_MARK = "user.raidbench.scratch"
_VERSION = "3"
_BUSY, _LEFT = "busy", "left"

_BOOT_ID = "/proc/sys/kernel/random/boot_id"

_MADE: dict[tuple[int, int], str] = {}
"""Marks by device and inode of files this process made where the filesystem cannot carry them."""


def mark_busy(descriptor: int, path: Path, size: int) -> None:
    """Mark this open file as one that raidbench writes, and give it its planned size.

    The file has that size from the beginning, so a file that a kill left half written still has it. Where the
    filesystem cannot carry the mark the size is left alone: such filesystems (FAT) would write zeros.
    Raises OSError.
    """
    if _set(descriptor, _BUSY, size, 0, path) and os.fstat(descriptor).st_size < size:
        os.ftruncate(descriptor, size)


def mark_left(descriptor: int, path: Path) -> None:
    """Mark this open file as kept as it is now: if its size or time changes, it is no longer raidbench's."""
    info = os.fstat(descriptor)
    _set(descriptor, _LEFT, info.st_size, info.st_mtime_ns, path)


def forget(info: os.stat_result) -> None:
    """Drop what this process knows of a removed file: its inode number will be another file's."""
    _MADE.pop((info.st_dev, info.st_ino), None)


def is_own(where: int | Path, path: Path) -> bool:
    """Return whether a file is raidbench's own and known as `path`.

    `where`: an open file, or the path of one; links are not followed. A copy has another inode, a moved file another
    path, a file that was given away another owner, one that was written to since it was kept another time, and one
    that was replaced in place another size: all of these are somebody's, whatever attributes they carry.
    """
    return _state(where, path) is not None


def is_interrupted(where: int | Path, path: Path) -> bool:
    """Return whether a file of raidbench's was being written when it was last marked, so that its time says nothing."""
    return _state(where, path) == _BUSY


def _state(where: int | Path, path: Path) -> str | None:
    """Return the state of a file of raidbench's; None for any other file."""
    try:
        info = os.fstat(where) if isinstance(where, int) else os.lstat(where)
        if not stat.S_ISREG(info.st_mode) or info.st_uid != os.geteuid() or info.st_nlink != 1:
            return None
        in_memory = (info.st_dev, info.st_ino) in _MADE
        mark = _MADE[info.st_dev, info.st_ino] if in_memory else _read(where)
    except OSError:
        return None
    version, _, field_text = mark.partition(" ")
    fields = field_text.split(" ", 6)
    if version != _VERSION or len(fields) != 7:
        return None
    state, inode, owner, device, size, changed, known_path = fields
    if (inode, owner, known_path) != (str(info.st_ino), str(info.st_uid), str(path)):
        return None
    number, _, boot = device.partition("@")
    if boot == _boot_id() and number != str(info.st_dev):  # after a reboot a device may have another number
        return None
    if state == _BUSY:
        return _BUSY if size == str(info.st_size) or in_memory else None
    return _LEFT if state == _LEFT and (size, changed) == (str(info.st_size), str(info.st_mtime_ns)) else None


def _read(where: int | Path) -> str:
    mark = os.getxattr(where, _MARK) if isinstance(where, int) else os.getxattr(where, _MARK, follow_symlinks=False)
    return mark.decode("utf-8", "surrogateescape")


@cache
def _boot_id() -> str:
    with suppress(OSError):
        return Path(_BOOT_ID).read_text().strip()
    return ""


def _set(descriptor: int, state: str, size: int, changed: int, path: Path) -> bool:
    """Mark an open file; return whether the filesystem carries the mark."""
    info = os.fstat(descriptor)
    device = f"{info.st_dev}@{_boot_id()}"
    mark = f"{_VERSION} {state} {info.st_ino} {info.st_uid} {device} {size} {changed} {path}"
    try:
        os.setxattr(descriptor, _MARK, os.fsencode(mark))
    except OSError:  # tmpfs of old kernels has no user attributes
        _MADE[info.st_dev, info.st_ino] = mark
        return False
    return True
