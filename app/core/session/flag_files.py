"""Flag files in a session's folder, by which processes inform each other."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from app.core.session import folders as pool
from app.core.session import store
from app.core.session.paths import Paths
from backends.errors import storage_errors
from backends.formats import is_unreleased
from backends.values import dataclass


@dataclass(frozen=True, slots=True)
class SessionFlag:
    """A file in a session's folder whose existence informs other processes; it is empty."""

    name: str
    """Name of the file."""

    def create(self, folder: Path) -> None:
        """Create the file. Raises StorageError if that fails."""
        with storage_errors(f"{folder / self.name} cannot be created"):
            (folder / self.name).touch(mode=0o600)

    def exists_in(self, folder: Path) -> bool:
        """Return whether the file exists in a session's folder."""
        return os.path.lexists(folder / self.name)

    def remove(self, folder: Path) -> None:
        """Remove the file. Never raises."""
        with contextlib.suppress(OSError):
            (folder / self.name).unlink()

    def folders(self, paths: Paths) -> tuple[Path, ...]:
        """Return the folders of the machine's sessions that have this flag, the last used first. Never raises."""
        marked = (folder for folder in pool.session_folders(paths) if self.exists_in(folder))
        return tuple(folder for folder in marked if _is_readable(folder))


def _is_readable(folder: Path) -> bool:
    """Return whether a session has a first event. Sessions of builds before the first release are not read."""
    begun = store.read_start(folder)
    return begun is not None and not is_unreleased(begun.version)


STOP = SessionFlag("sweep.stop")
"""Request to the running sweep to restore all settings and stop."""

SWEEP = SessionFlag("sweep.active")
"""A sweep has begun and has not restored all settings yet."""

EXPERIMENT = SessionFlag("experiment.active")
"""An experiment may have left its value B in force. Only this flag reports that, as the change itself is complete."""


def active_sessions(mark: SessionFlag, paths: Paths) -> tuple[Path, ...]:
    """Return the folders of sessions with this flag that a process is writing now, last used first. Never raises."""
    return tuple(folder for folder in mark.folders(paths) if store.is_being_written(folder))


def abandoned_sessions(mark: SessionFlag, paths: Paths) -> tuple[Path, ...]:
    """Return the folders of sessions with this flag that no process is writing, last used first. Never raises."""
    return tuple(folder for folder in mark.folders(paths) if not store.is_being_written(folder))
