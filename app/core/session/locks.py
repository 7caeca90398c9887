"""One writer per controller or disk: flock files, released when their process and programs that inherited them end."""

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
"""Number of reads of a lock file without a holder's name, 2 ms apart."""


LockPlace = Path | HelperClient
"""Where locks are: our own files in a folder, or those of the machine, which the root helper holds."""

_NOT_OURS = -1

_LONGEST = 1024
"""Most bytes of the holder's description in a lock file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLock:
    """An acquired lock."""

    descriptor: int
    """The open lock file: a program that inherits it holds the lock as well. -1 if the root helper has it."""
    purpose: str
    """Purpose, shown to another process that wants the lock."""

    def note_inherited_lock(self, pid: int, program: str) -> None:
        """Name a program that inherits the lock, for another process that wants it."""
        _write_holder(
            self.descriptor, f"{program} (PID {pid}, started by raidbench PID {os.getpid()}: {self.purpose})\n"
        )


@contextmanager
def hold_lock(locks: LockPlace, name: str, purpose: str) -> Iterator[HeldLock]:
    """Hold the lock `name` inside the block; `purpose` is shown to another process that wants it.

    Raises HeldError, which names the holder, and StorageError if the lock file cannot be created.
    """
    if isinstance(locks, Path):
        with _file_lock(locks, name, purpose) as held:
            yield held
        return
    locks.ask_now("lock", name=lock_name(name), what=clean(purpose, 200))
    try:
        yield HeldLock(descriptor=_NOT_OURS, purpose=purpose)
    finally:
        with contextlib.suppress(RefusedError):  # a helper that has ended has released its locks
            locks.ask_now("unlock", name=lock_name(name))


def lock_name(name: str) -> str:
    """Return the name of a lock as a file name."""
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
                f"{name} is locked by {_read_holder(descriptor)}.", hint="Wait until it has finished, or stop it."
            ) from None
        except OSError as error:  # a filesystem without locks
            raise _creation_error(folder, name, error) from error
        _write_holder(descriptor, f"raidbench (PID {os.getpid()}: {purpose})\n")
        try:
            yield HeldLock(descriptor=descriptor, purpose=purpose)
        finally:
            _write_holder(descriptor, "")  # the next process must not read our name
            fcntl.flock(descriptor, fcntl.LOCK_UN)  # a child between fork and exec still has a copy of the descriptor
    finally:
        os.close(descriptor)


def _creation_error(folder: Path, name: str, error: OSError) -> StorageError:
    return StorageError(
        f"The lock for {name} could not be created: {error.strerror or error}.",
        hint=next_step(error, folder),
        evidence=str(error),
    )


def _open(file: Path) -> int:
    """Return the open lock file. An existing one can also be locked on a filesystem that is full or read-only."""
    try:
        return open_own(file, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        if error.errno not in (errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise
        return open_own(file, os.O_RDONLY)


def _write_holder(descriptor: int, text: str) -> None:
    """Write the holder's name into the file. The lock is valid without it, for example on a full disk."""
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, text.encode(), 0)


def _read_holder(descriptor: int) -> str:
    """Return the holder of the lock; wait a moment for a holder that has not written its name yet."""
    for _ in range(_PATIENCE):
        name = os.pread(descriptor, _LONGEST, 0).decode("utf-8", "replace")
        if name.endswith("\n"):
            return clean(name, _LONGEST)
        time.sleep(0.002)
    return "another raidbench"
