"""Open scratch files: raidbench checks, writes, measures and removes the same file even if its name is reused."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from pathlib import Path

from app.core.benchmark.preallocation import preallocate
from app.core.benchmark.scratch import ScratchPlan
from app.core.benchmark.scratch_use import end_lease, require_unused
from app.core.benchmark.scratch_xattr import forget, is_own, mark_busy, mark_left
from backends.errors import RefusedError, StorageError
from backends.text import clean

_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""Flags for opening a folder. O_PATH needs no read permission, so a folder with mode 711 (not listable) works too."""
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class ScratchFile:
    """A scratch file, opened once and passed to fio as a descriptor. Call `open`, then `close` in a `finally`."""

    def __init__(self, plan: ScratchPlan) -> None:
        """Store the plan; `open` opens or creates the file."""
        self._plan = plan
        self._shown = clean(str(plan.path))
        self._folder = -1
        self._file = -1

    @property
    def path(self) -> str:
        """Return the path for fio, `/proc/PID/fd/N`. It leads to this file even if another file gets its name."""
        return f"/proc/{os.getpid()}/fd/{self._file}"

    async def open(self) -> None:
        """Create an empty file (mode 0600, marked as raidbench's own), or open the existing file of the plan.

        Raises StorageError if the file cannot be opened. Raises RefusedError if it is not the planned file, is in use,
        has foreign content, or is locked by another raidbench process.
        """
        try:
            self._folder = open_folder(self._plan.path.parent)
            if self._plan.exists:
                access = os.O_RDWR if self._plan.own else os.O_RDONLY
                self._file = os.open(self._plan.path.name, access | _FILE, dir_fd=self._folder)
            else:
                flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | _FILE
                self._file = os.open(self._plan.path.name, flags, 0o600, dir_fd=self._folder)
            await self._check()
        except BaseException as error:
            self._release()
            if isinstance(error, FileExistsError):
                raise RefusedError(f"Another program has just created {self._shown}.") from None
            if not isinstance(error, OSError):
                raise
            action = "opened" if self._plan.exists else "created"
            raise StorageError(
                f"The scratch file {self._shown} cannot be {action}: {error.strerror}.", evidence=str(error)
            ) from error

    async def _check(self) -> None:
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            raise RefusedError(f"Another program has just replaced {self._shown}.")
        if not self._plan.own:
            return
        if self._plan.exists and not is_own(self._file, self._plan.path):
            raise RefusedError(f"Another program has just replaced {self._shown}.")
        if not is_locked(self._file):
            raise RefusedError(
                f"Another raidbench is measuring {self._shown}.",
                hint="Wait until it has finished, or use another file.",
            )
        if self._plan.exists:
            await require_unused(self._file, self._plan.path)
            if not is_own(self._file, self._plan.path):  # it may have changed during the check
                raise RefusedError(f"Another program has just replaced {self._shown}.")
        mark_busy(self._file, self._plan.path, max(self._plan.size, os.fstat(self._file).st_size))
        if self._plan.preallocated:
            preallocate(self._file, self._plan.size, has_content=self._plan.exists)
        end_lease(self._file)  # fio opens the file itself, and would wait for the lease

    def moved(self) -> str:
        """Return a sentence if the file's name no longer leads to this file; "" otherwise."""
        if _leads_to(self._folder, self._plan.path.name, os.fstat(self._file)):
            return ""
        return f"{self._shown} was moved or replaced during the run. The file that now has this name was left unchanged"

    async def close(self, *, keep: bool) -> str:
        """Close the file and remove it if it is raidbench's own; return why it was not removed, or "".

        The file is not removed if `keep` is set or something uses it. A foreign file is never removed, and neither is
        another file that now has the same name.
        """
        try:
            if not self._plan.own:
                return ""
            info = os.fstat(self._file)
            if keep:
                mark_left(self._file, self._plan.path)
            elif _leads_to(self._folder, self._plan.path.name, info):
                try:
                    await require_unused(self._file, self._plan.path, probe=False)
                except RefusedError as refusal:
                    mark_left(self._file, self._plan.path)
                    return refusal.message
                with contextlib.suppress(OSError):
                    os.unlink(self._plan.path.name, dir_fd=self._folder)
                    forget(info)
            return ""
        finally:
            self._release()

    def _release(self) -> None:
        if self._file >= 0:
            with contextlib.suppress(OSError):
                fcntl.flock(self._file, fcntl.LOCK_UN)  # a program that is just being started still has the descriptor
        for descriptor in (self._file, self._folder):
            if descriptor >= 0:
                os.close(descriptor)
        self._file = self._folder = -1


def open_folder(path: Path) -> int:
    """Open a folder without following any link, and return its descriptor. Raises OSError if that fails."""
    # Open one part at a time: O_NOFOLLOW protects only the last part of a path, but any part may have been replaced.
    descriptor = os.open("/", _FOLDER)
    try:
        for part in path.parts[1:]:
            below = os.open(part, _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def is_locked(file: int) -> bool:
    """Lock an open scratch file for this process and return True; return False if another process has the lock."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


async def remove_scratch(path: Path) -> RefusedError | None:
    """Remove raidbench's own scratch file at `path`, unless something uses it; return the error if it is in use.

    Any other file stays, and so does one that another raidbench has locked; then return None.
    """
    return await _with_leftover(path, remove=True)


async def leftover_in_use(path: Path) -> RefusedError | None:
    """Return the error that `remove_scratch` would return for the file at `path`, but do not remove the file."""
    return await _with_leftover(path, remove=False)


async def _with_leftover(path: Path, *, remove: bool) -> RefusedError | None:
    try:
        folder = open_folder(path.parent)
    except OSError:
        return None
    try:
        file = os.open(path.name, os.O_RDONLY | _FILE, dir_fd=folder)
        try:
            info = os.fstat(file)
            if not is_own(file, path) or not is_locked(file):
                return None
            await require_unused(file, path)
            if remove and is_own(file, path) and _leads_to(folder, path.name, info):
                os.unlink(path.name, dir_fd=folder)
                forget(info)
        finally:
            os.close(file)
    except RefusedError as refusal:
        return refusal
    except FileNotFoundError:
        return None
    except OSError as error:
        return RefusedError(f"The scratch file {clean(str(path))} cannot be removed: {error.strerror}.")
    finally:
        os.close(folder)
    return None


def _leads_to(folder: int, name: str, info: os.stat_result) -> bool:
    """Return whether `name` in the open folder is the file with the status `info` itself, not a symbolic link to it."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == (info.st_dev, info.st_ino)
