"""One writer per controller or disk: flock files that die with their process and the programs it gave them to."""

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
"""Looks at an unsigned lock, 2 ms apart."""


LockPlace = Path | HelperClient
"""Where locks are: files in a folder of ours, or those of the machine, which the helper holds."""

_NOT_OURS = -1

_LONGEST = 1024
"""Bytes of what whoever holds a lock tells of itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLock:
    """A lock that is held."""

    descriptor: int
    """The open lock file: a program that inherits it holds the lock as well. -1 where the helper has it."""
    purpose: str
    """What it is held for."""

    def note_inherited_lock(self, pid: int, program: str) -> None:
        """Tell whoever comes second of a program that inherits it."""
        _write_holder(
            self.descriptor, f"{program} pid {pid}, started by raidbench pid {os.getpid()} ({self.purpose})\n"
        )


@contextmanager
def hold_lock(locks: LockPlace, name: str, purpose: str) -> Iterator[HeldLock]:
    """Hold the lock `name` while inside; `purpose` is told to whoever comes second.

    Raises HeldError naming the holder, StorageError when the lock file cannot be made.
    """
    if isinstance(locks, Path):
        with _file_lock(locks, name, purpose) as held:
            yield held
        return
    locks.ask_now("lock", name=lock_name(name), what=clean(purpose, 200))
    try:
        yield HeldLock(descriptor=_NOT_OURS, purpose=purpose)
    finally:
        with contextlib.suppress(RefusedError):  # a helper that has ended holds no lock
            locks.ask_now("unlock", name=lock_name(name))


def lock_name(name: str) -> str:
    """The name of a lock as that of a file."""
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
                f"It is held by {_read_holder(descriptor)}.", hint="Wait until it is done, or end it there."
            ) from None
        except OSError as error:  # a filesystem without locks
            raise _creation_error(folder, name, error) from error
        _write_holder(descriptor, f"raidbench pid {os.getpid()} ({purpose})\n")
        try:
            yield HeldLock(descriptor=descriptor, purpose=purpose)
        finally:
            _write_holder(descriptor, "")  # whoever comes next must not be told of us
            fcntl.flock(descriptor, fcntl.LOCK_UN)  # a program that is just being started still holds a copy
    finally:
        os.close(descriptor)


def _creation_error(folder: Path, name: str, error: OSError) -> StorageError:
    return StorageError(
        f"The lock for {name} could not be made: {error.strerror or error}.",
        hint=next_step(error, folder),
        evidence=str(error),
    )


def _open(file: Path) -> int:
    """The lock file. On a file system that can take nothing any more, one that is there can still be locked."""
    try:
        return open_own(file, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        if error.errno not in (errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise
        return open_own(file, os.O_RDONLY)


def _write_holder(descriptor: int, text: str) -> None:
    """Leave a name for whoever comes second. It is a courtesy: the lock holds without it, on a full disk too."""
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, text.encode(), 0)


def _read_holder(descriptor: int) -> str:
    """Who holds the lock; a moment is given to somebody who has just taken it and not yet signed."""
    for _ in range(_PATIENCE):
        name = os.pread(descriptor, _LONGEST, 0).decode("utf-8", "replace")
        if name.endswith("\n"):
            return clean(name, _LONGEST)
        time.sleep(0.002)
    return "another raidbench"
