"""Lists the session folders of one machine without reading their content, because shell completion must be fast."""

from __future__ import annotations

import re
import stat
from pathlib import Path

from app.core.session.paths import Paths

LOG = "session.jsonl"
"""Name of the log in a session folder."""


def session_folders(paths: Paths) -> list[Path]:
    """Return the session folders of a machine, the last used first. Never raises."""
    try:
        used = {entry: when for entry in paths.sessions.iterdir() if (when := last_use_time(entry)) is not None}
    except OSError:
        return []
    return sorted(used, key=lambda entry: (used[entry], _numbers_in(entry.name)), reverse=True)


def run_count(folder: Path) -> int:
    """Return the number of runs that a session has on disk, without reading its log. Never raises."""
    try:
        return sum(1 for _ in (folder / "runs").iterdir())
    except OSError:
        return 0


def session_named(paths: Paths, name: Path) -> Path:
    """Return the folder of a session of a machine if `name` is its name. Else return `name`, which is a path."""
    folder = paths.sessions / name
    return folder if name.name == str(name) and last_use_time(folder) is not None else name


def _numbers_in(name: str) -> list[tuple[int, str]]:
    """Return a sort key by which the tenth session of the same second comes after the ninth."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", name)]


def last_use_time(folder: Path) -> float | None:
    """Return the time at which a session was last used, in seconds since the epoch; None if it has no log.

    This is the time stamp of the log, by which sessions are ordered. `store.SessionLog` keeps it later than the time
    stamps of all sessions used before. So after the clock was set back, the time stamp is ahead of the clock for a
    while.
    """
    try:
        info = (folder / LOG).stat()
    except OSError:
        return None
    return info.st_mtime if stat.S_ISREG(info.st_mode) else None
