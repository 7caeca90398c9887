"""Asking a sweep of another process to stop: a file in its session's folder, so that no process is ever guessed."""

from __future__ import annotations

import contextlib
from pathlib import Path

from app.engine import store
from backends.errors import StorageError

STOP = "sweep.stop"
"""The file; its presence is the request."""


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
