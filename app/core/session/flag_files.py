"""What processes tell each other by files in a session's folder: no process is ever guessed."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from app.core.session import folders as pool
from app.core.session import store
from app.core.session.paths import Paths
from backends.errors import StorageError
from backends.values import dataclass


@dataclass(frozen=True, slots=True)
class SessionFlag:
    """A file whose presence means something."""

    name: str
    """Its name in the session's folder."""

    def create(self, folder: Path) -> None:
        """Make it. Raises StorageError."""
        try:
            (folder / self.name).touch(mode=0o600)
        except OSError as error:
            raise StorageError(
                f"{folder / self.name} cannot be made: {error.strerror}.", evidence=str(error)
            ) from error

    def exists_in(self, folder: Path) -> bool:
        """Whether it is there."""
        return os.path.lexists(folder / self.name)

    def remove(self, folder: Path) -> None:
        """Take it away; never raises."""
        with contextlib.suppress(OSError):
            (folder / self.name).unlink()

    def folders(self, paths: Paths) -> tuple[Path, ...]:
        """Sessions of the machine that carry it, newest first. Never raises."""
        marked = (folder for folder in pool.session_folders(paths) if self.exists_in(folder))
        return tuple(folder for folder in marked if store.read_start(folder))


STOP = SessionFlag("sweep.stop")
"""A request to stop the sweep after putting everything back."""

SWEEP = SessionFlag("sweep.active")
"""Settings of a sweep may have to be put back."""

EXPERIMENT = SessionFlag("experiment.active")
"""An experiment may have left its value in force: its change is complete, so that nothing else calls it a failure."""


def is_being_written(folder: Path) -> bool:
    """Whether a process is writing the session now."""
    try:
        store.SessionLog(folder).close()
    except BlockingIOError:
        return True
    except StorageError:
        return False
    return False


def active_sessions(mark: SessionFlag, paths: Paths) -> tuple[Path, ...]:
    """Sessions with the mark that a process is at now, newest first. Never raises."""
    return tuple(folder for folder in mark.folders(paths) if is_being_written(folder))


def abandoned_sessions(mark: SessionFlag, paths: Paths) -> tuple[Path, ...]:
    """Sessions with the mark that nobody is at, newest first. Never raises."""
    return tuple(folder for folder in mark.folders(paths) if not is_being_written(folder))
