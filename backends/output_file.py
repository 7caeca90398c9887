"""Files and folders that are written where a user said: never through a link, whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def new_file(path: Path, *, force: bool, mode: int = 0o644) -> Iterator[BinaryIO]:
    """Yield a file to write and read that is at `path` when the block ends; nothing of it is left if the block raises.

    With `force` it replaces a regular file. Raises FileExistsError where something is there without `force`, OSError
    where a link or something else than a file is there.
    """
    if force:
        _require_replaceable(path)
    target = path.with_name(f".{path.name}.{os.getpid()}") if force else path
    descriptor = os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, mode)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
        if force:
            _require_replaceable(path)
            target.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):  # half a file on a full disk would pass for a whole one
            target.unlink()
        raise


def _require_replaceable(path: Path) -> None:
    try:
        kind = path.lstat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISLNK(kind):
        raise OSError(errno.ELOOP, "Is a symbolic link", str(path))
    if not stat.S_ISREG(kind):
        raise OSError(errno.EINVAL, "Is not a regular file", str(path))


def make_folder(folder: Path, *, force: bool) -> int:
    """Return the descriptor of a new folder, or with `force` of one that is there; a link to a folder is none.

    Raises FileExistsError, OSError.
    """
    try:
        folder.mkdir()
    except FileExistsError:
        if not force:
            raise
    try:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        if folder.is_symlink():
            raise OSError(errno.ELOOP, "Is a symbolic link", str(folder)) from error
        raise
