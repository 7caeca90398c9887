"""What processes tell each other of a sweep by files in its session's folder: no process is ever guessed."""

from __future__ import annotations

import contextlib
from pathlib import Path

from app.engine.session import store
from backends.errors import StorageError

STOP = "sweep.stop"
"""Its presence is a request to stop."""

ACTIVE = "sweep.active"
"""Its presence means that settings may have to be put back: found cheaply at the next start."""


def request_stop(folder: Path) -> None:
    """Ask the sweep of a session to stop after putting everything back. Raises StorageError."""
    try:
        (folder / STOP).touch(mode=0o600)
    except OSError as error:
        raise StorageError(f"{folder / STOP} cannot be made: {error.strerror}.", evidence=str(error)) from error


def stop_requested(folder: Path) -> bool:
    """Whether somebody asked."""
    return (folder / STOP).exists()


def forget_request(folder: Path) -> None:
    """A sweep that begins or goes on does not heed an old request."""
    with contextlib.suppress(OSError):
        (folder / STOP).unlink()


def is_written(folder: Path) -> bool:
    """Whether a process is writing the session now."""
    try:
        store.SessionLog(folder).close()
    except BlockingIOError:
        return True
    except StorageError:
        return False
    return False


def mark_active(folder: Path) -> None:
    """From now on settings may have to be put back. Raises StorageError."""
    try:
        (folder / ACTIVE).touch(mode=0o600)
    except OSError as error:
        raise StorageError(f"{folder / ACTIVE} cannot be made: {error.strerror}.", evidence=str(error)) from error


def forget_active(folder: Path) -> None:
    """Everything was put back."""
    with contextlib.suppress(OSError):
        (folder / ACTIVE).unlink()


def cut_short(sessions: Path) -> tuple[Path, ...]:
    """Folders of sweeps that neither run nor came to an end, newest first. Never raises."""
    try:
        marked = [mark.parent for mark in sessions.glob(f"*/{ACTIVE}")]
    except OSError:
        return ()
    return tuple(sorted((folder for folder in marked if not is_written(folder)), reverse=True))
