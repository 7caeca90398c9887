"""Locks that let one process at a time write to a controller or disk.

A lock is a file with flock(2). It is released when the process and all programs that inherited it have ended.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.core.session.paths import private_folder
from app.core.session.trusted_file import next_step, open_own
from backends.errors import HeldError, RefusedError, StorageError
from backends.helper_interface import HelperClient
from backends.text import clean
from backends.values import dataclass

_PATIENCE = 50
"""Maximum number of reads of a lock file, 2 ms apart, until it contains the name of the holder."""


LockPlace = Path | HelperClient
"""Where locks are: in a folder that this process can write to, or with the root helper, which acquires them."""

_NOT_OURS = -1

_LONGEST = 1024
"""Maximum length in bytes of the description of the holder in a lock file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLock:
    """An acquired lock."""

    descriptor: int
    """Descriptor of the lock file.

    A program that inherits it holds the lock, too. -1: the root helper holds the lock.
    """
    purpose: str
    """Purpose of the lock, which is shown to another process that needs the lock."""

    def note_inherited_lock(self, pid: int, program: str) -> None:
        """Write to the lock file which program inherits the lock. Another process that needs the lock shows this."""
        _write_holder(
            self.descriptor, f"{program} (PID {pid}, started by raidbench PID {os.getpid()}: {self.purpose})\n"
        )


@contextmanager
def hold_lock(locks: LockPlace, name: str, purpose: str) -> Iterator[HeldLock]:
    """Hold the lock `name` inside the block. `purpose` is shown to another process that needs the lock.

    Raises HeldError, which names the holder, if another process holds it; StorageError if it cannot be created.
    """
    if isinstance(locks, Path):
        with _file_lock(locks, name, purpose) as held:
            yield held
        return
    locks.ask_now("lock", name=lock_name(name), what=clean(purpose, 200))
    try:
        yield HeldLock(descriptor=_NOT_OURS, purpose=purpose)
    finally:
        with contextlib.suppress(RefusedError):  # if the helper has ended, its locks are released already
            locks.ask_now("unlock", name=lock_name(name))


def lock_name(name: str) -> str:
    """Return the name of a lock in a form that is legal as a file name."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)[:200] or "lock"


@contextmanager
def _file_lock(folder: Path, name: str, purpose: str) -> Iterator[HeldLock]:
    try:
        private_folder(folder)
        descriptor = _open(folder / f"{lock_name(name)}.lock")
    except OSError as error:
        raise _creation_error(folder, name, error) from error
    purpose = clean(purpose, 200)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise HeldError(
                f"{name} is locked by {_read_holder(descriptor)}.",
                hint="Wait until that process has finished, or stop it.",
            ) from None
        except OSError as error:  # the filesystem does not support locks
            raise _creation_error(folder, name, error) from error
        _write_holder(descriptor, f"raidbench (PID {os.getpid()}: {purpose})\n")
        try:
            yield HeldLock(descriptor=descriptor, purpose=purpose)
        finally:
            _write_holder(descriptor, "")  # our name must not be shown as that of the next holder
            fcntl.flock(descriptor, fcntl.LOCK_UN)  # close() would not release it: a child before exec has a copy
    finally:
        os.close(descriptor)


def _creation_error(folder: Path, name: str, error: OSError) -> StorageError:
    return StorageError(
        f"The lock for {name} could not be created: {error.strerror or error}.",
        hint=next_step(error, folder),
        evidence=str(error),
    )


def _open(file: Path) -> int:
    """Open a lock file.

    On a full or read-only filesystem, an existing file is opened only for reading, which suffices.
    """
    try:
        return open_own(file, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        if error.errno not in (errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise
        return open_own(file, os.O_RDONLY)


def _write_holder(descriptor: int, text: str) -> None:
    """Write the name of the holder to the file. If that fails, as on a full disk, the lock is still valid."""
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, text.encode(), 0)


def _read_holder(descriptor: int) -> str:
    """Return the name of the holder. Wait a moment if the holder has not written it yet."""
    for _ in range(_PATIENCE):
        name = os.pread(descriptor, _LONGEST, 0).decode("utf-8", "replace")
        if name.endswith("\n"):
            return clean(name, _LONGEST)
        time.sleep(0.002)
    return "another raidbench"
