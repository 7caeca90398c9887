"""Scratch files that were not removed, for example because raidbench crashed."""

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
"""Pattern of an entry in a session log that names a scratch file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleScratchFile:
    """A file that raidbench created for runs and could not remove."""

    path: Path
    """Path of the file."""
    size: int
    """Number of bytes that the file has allocated on the filesystem."""
    session: str
    """Name of the last session that used the file."""
    run: str
    """Id of the last run that used the file."""


def leftover_scratch(paths: Paths) -> tuple[StaleScratchFile, ...]:
    """Return raidbench's own scratch files that were not removed and are not in use. Change nothing.

    A file also remains if a run kept it for the next run of an experiment or sweep, and that run never started.
    """
    files_by_path: dict[Path, StaleScratchFile | None] = {}
    for folder in folders.session_folders(paths):
        try:
            if not _NAMES_ONE.search(read_regular(folder / folders.LOG)):
                continue  # true for most sessions; parsing all of them would delay every start
            runs = store.load(folder).session.runs
        except (OSError, RaidbenchError):
            continue
        files = [(Path(target.scratch), run.id) for run in runs for target in run.start.all_targets if target.scratch]
        in_use = not files or not _is_unlocked(folder)
        for path, run in reversed(files):
            if path not in files_by_path:  # only the last session that used the file may still need it
                files_by_path[path] = None if in_use else _stale_file(path, folder.name, run)
    return tuple(file for file in files_by_path.values() if file is not None)


def _stale_file(path: Path, session: str, run: str) -> StaleScratchFile | None:
    """Return the file as a stale scratch file; None if it does not exist or is no longer raidbench's own."""
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
