"""Input files that may be of any kind. Paths from users and other programs are opened here, except password files."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

MEBIBYTE = 1 << 20

_KINDS = (
    (stat.S_ISDIR, os.strerror(errno.EISDIR)),
    (stat.S_ISFIFO, "Is a named pipe"),
    (stat.S_ISSOCK, "Is a socket"),
    (stat.S_ISCHR, "Is a device"),
    (stat.S_ISBLK, "Is a device"),
)


class NotRegularError(OSError):
    """Error for a path that does not lead to a regular file; `strerror` names the kind."""


def open_input(path: str | Path) -> BinaryIO:
    """Return a regular file opened for reading, links followed. Never blocks.

    Raises OSError if it cannot be opened, NotRegularError if it is not a regular file.
    """
    _require_regular(path, os.stat(path))  # checked before opening, because opening a device can already have effects
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        _require_regular(path, os.fstat(descriptor))
        return open(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_input(path: str | Path, largest: int) -> bytes:
    """Return all bytes of a regular file.

    Raises OSError if it is larger than `largest` bytes, and the errors of `open_input`.
    """
    with open_input(path) as file:
        data = file.read(largest + 1)
    if len(data) > largest:
        size = f"{largest // MEBIBYTE} MiB" if largest >= MEBIBYTE else f"{largest >> 10} KiB"
        raise OSError(errno.EFBIG, f"Is larger than {size}", str(path))
    return data


def _require_regular(path: str | Path, info: os.stat_result) -> None:
    if not stat.S_ISREG(info.st_mode):
        kind = next((text for test, text in _KINDS if test(info.st_mode)), "Is not a file")
        raise NotRegularError(errno.EISDIR if stat.S_ISDIR(info.st_mode) else errno.EINVAL, kind, str(path))
