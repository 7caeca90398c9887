"""Scratch files that a crash left behind."""

from __future__ import annotations

import re
from pathlib import Path

from app.core.benchmark.scratch_xattr import is_own
from app.core.session import folders, store
from app.core.session.paths import Paths
from app.core.session.trusted_file import read_regular
from backends.errors import RaidbenchError
from backends.values import dataclass

_NAMES_ONE = re.compile(rb'"scratch"\s*:\s*"')
"""Pattern of a scratch file's name in a session log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleScratchFile:
    """A file that raidbench created for runs and could not remove."""

    path: Path
    """Path of the file."""
    size: int
    """Bytes allocated on the filesystem."""
    session: str
    """Session that created it."""
    run: str
    """Last run that used it."""


def leftover_scratch(paths: Paths) -> tuple[StaleScratchFile, ...]:
    """Return raidbench's scratch files that their last session did not remove and no process writes. Changes nothing.

    A run may have ended and left its file for the next run of an experiment or sweep, which never started.
    """
    files_by_path: dict[Path, StaleScratchFile | None] = {}
    for folder in folders.session_folders(paths):
        try:
            if not _NAMES_ONE.search(read_regular(folder / folders.LOG)):
                continue  # most sessions: parsing all of them would delay every start
            runs = store.load(folder).session.runs
        except (OSError, RaidbenchError):
            continue
        files = [(Path(target.scratch), run.id) for run in runs for target in run.start.all_targets if target.scratch]
        in_use = not files or not _is_unlocked(folder)
        for path, run in reversed(files):
            if path not in files_by_path:  # only the last session that used it may still need it
                files_by_path[path] = None if in_use else _stale_file(path, folder.name, run)
    return tuple(file for file in files_by_path.values() if file is not None)


def _stale_file(path: Path, session: str, run: str) -> StaleScratchFile | None:
    """Return the file as a leftover; None if it is gone or no longer raidbench's."""
    try:
        if not is_own(path, path):
            return None
        return StaleScratchFile(path=path, size=path.lstat().st_blocks * 512, session=session, run=run)
    except (OSError, ValueError):
        return None


def _is_unlocked(folder: Path) -> bool:
    """Return whether no process has the session locked."""
    try:
        store.SessionLog(folder).close()
    except (BlockingIOError, RaidbenchError):
        return False
    return True
