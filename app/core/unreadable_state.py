"""Collects the state on disk that this program cannot read although something in it is open."""

from __future__ import annotations

import os

from app.core.session.journal import Journal
from app.core.session.paths import ARRAYS, Paths
from backends.errors import RefusedError


def blocking_errors(journal: Journal) -> tuple[RefusedError, ...]:
    """Return an error for each journal with open entries in an unknown form. Until they are closed, nothing is changed.

    Never raises.
    """
    errors = [journal.unreadable_error()]
    folder = journal.file.parent
    if os.path.exists(folder / ARRAYS):  # without the file, or if only the root helper reads it, skip the import
        from app.core.changes.arrays.array_journal import ArrayJournal

        errors.append(ArrayJournal(folder).unreadable_error())
    return tuple(error for error in errors if error is not None)


def interrupted_errors(paths: Paths) -> tuple[RefusedError, ...]:
    """Return an error for each session of a build before the first release with an interrupted sweep or A/B.

    Never raises.
    """
    try:
        if not any(any(paths.sessions.glob(f"*/{name}")) for name in ("sweep.active", "experiment.active")):
            return ()  # without the files, skip the import
    except OSError:  # code that needs the folder reports the error
        return ()
    from app.core.session import unreleased_sessions

    return unreleased_sessions.interrupted_errors(paths)
