"""Output files and folders that are written completely or not at all, and never through a link."""

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
    """Yield a file that is complete at `path` after the block. If the block raises, no part of the file remains.

    With `force` it replaces an existing regular file. Raises FileExistsError if `path` exists and `force` is not set,
    OSError if it is a link or not a regular file.
    """
    if force:
        _require_replaceable(path)
    target = _beside(path) if force else path
    file = _created(target, mode)
    with _removed_on_failure(target):
        with file:
            yield file
        if force:
            _require_replaceable(path)
            target.replace(path)


def replace_file(path: Path, text: str, *, mode: int = 0o600, exact: bool = False, durable: bool = False) -> None:
    """Replace any file or link at `path` by a file with the content `text`.

    A reader gets either the old file or the new one. After a failure the old one is unchanged. The umask applies to
    `mode` unless `exact` is set. With `durable` the text is on disk before the file gets its name. Raises OSError if it
    cannot be written.
    """
    beside = _beside(path)
    file = _created(beside, mode)
    with _removed_on_failure(beside):
        with file:
            if exact:
                os.fchmod(file.fileno(), mode)
            file.write(text.encode())
            if durable:
                file.flush()
                os.fsync(file.fileno())
        beside.replace(path)


def sync_folder(folder: Path) -> None:
    """Wait until the file names in a folder are on disk. Raises OSError if that fails."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _beside(path: Path) -> Path:
    # Random instead of the PID: in a container an earlier process may have had the same PID and left its file behind.
    return path.with_name(f".{path.name}.{os.urandom(4).hex()}")


def _created(path: Path, mode: int) -> BinaryIO:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    return os.fdopen(os.open(path, flags, mode), "w+b")


@contextmanager
def _removed_on_failure(path: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        # If the disk is full, an incomplete file must not pass for a complete one.
        with contextlib.suppress(OSError):
            path.unlink()
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
    """Create a folder and return an open descriptor of it. With `force` the folder may already exist.

    Raises FileExistsError if it exists and `force` is not set, OSError for a link to a folder and for other failures.
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
