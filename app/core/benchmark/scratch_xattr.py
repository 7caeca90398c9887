"""The mark of raidbench's own scratch files. It is bound to the file itself, so a copy is foreign."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from functools import cache
from pathlib import Path

_MARK = "user.raidbench.scratch"
_VERSION = "1"
_BUSY, _LEFT = "busy", "left"

_BOOT_ID = "/proc/sys/kernel/random/boot_id"

_MADE: dict[tuple[int, int], str] = {}
"""Marks of files that this process created on filesystems without user attributes, by device and inode."""


def mark_busy(descriptor: int, path: Path, size: int) -> None:
    """Mark an open file as being written by raidbench, and extend it to its planned size.

    So the file has its planned size even if raidbench is killed before it is complete. If the filesystem cannot store
    the mark, the file is not extended, because such filesystems (FAT) would write zeros. Raises OSError if the file
    cannot be extended.
    """
    if _set(descriptor, _BUSY, size, 0, path) and os.fstat(descriptor).st_size < size:
        os.ftruncate(descriptor, size)


def mark_left(descriptor: int, path: Path) -> None:
    """Mark an open file as kept in its current state. If its size or time changes later, it counts as foreign."""
    info = os.fstat(descriptor)
    _set(descriptor, _LEFT, info.st_size, info.st_mtime_ns, path)


def forget(info: os.stat_result) -> None:
    """Forget the mark of a removed file, because another file may get its inode number."""
    _MADE.pop((info.st_dev, info.st_ino), None)


def is_own(where: int | Path, path: Path) -> bool:
    """Return whether a file is raidbench's own, marked for `path`.

    `where`: an open file, or a path; links are not followed. Even with the mark, a file is foreign after a copy (other
    inode), a move (other path), a change of owner, a later write (other time) or a replacement in place (other size).
    """
    return _state(where, path) is not None


def is_interrupted(where: int | Path, path: Path) -> bool:
    """Return whether the file is marked as being written by raidbench.

    If so, its modification time does not show whether another program has written it.
    """
    return _state(where, path) == _BUSY


def _state(where: int | Path, path: Path) -> str | None:
    """Return the state in the mark of raidbench's own file; None for any other file."""
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
    if boot == _boot_id() and number != str(info.st_dev):  # only within one boot: a reboot may change device numbers
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
    """Mark an open file; return whether the filesystem stored the mark."""
    info = os.fstat(descriptor)
    device = f"{info.st_dev}@{_boot_id()}"
    mark = f"{_VERSION} {state} {info.st_ino} {info.st_uid} {device} {size} {changed} {path}"
    try:
        os.setxattr(descriptor, _MARK, os.fsencode(mark))
    except OSError:  # tmpfs of old kernels has no user attributes
        _MADE[info.st_dev, info.st_ino] = mark
        return False
    return True
