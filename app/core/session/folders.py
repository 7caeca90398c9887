"""The folders of the sessions of one machine, found without reading what is in them: shell completion waits for it."""

from __future__ import annotations

import re
import stat
from pathlib import Path

from app.core.session.paths import Paths
from app.core.session.trusted_file import open_regular

LOG = "session.jsonl"
"""The log in the folder of a session."""

_LONGEST_LINE = 65536


def session_folders(paths: Paths) -> list[Path]:
    """Return the folders of the sessions of the machine that the paths are of, newest first. Never raises."""
    try:
        used = {entry: when for entry in paths.sessions.iterdir() if (when := last_use_time(entry)) is not None}
    except OSError:
        return []
    return sorted(used, key=lambda entry: (used[entry], _numbers_in(entry.name)), reverse=True)


def _numbers_in(name: str) -> list[tuple[int, str]]:
    """Return a sort key by which the tenth session of one second comes after the ninth."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", name)]


def last_use_time(folder: Path) -> float | None:
    """Return the place of a session in the order in which sessions were used; None if there is no log any more.

    It is the time of its log in seconds since the epoch. `store.SessionLog` keeps it above that of all sessions that
    were used before, so it is later than the clock for some time after the clock was set back.
    """
    try:
        info = (folder / LOG).stat()
    except OSError:
        return None
    return info.st_mtime if stat.S_ISREG(info.st_mode) else None


def read_first_line(folder: Path) -> str:
    """Return the line with which the log of a session begins. Raises OSError."""
    with open_regular(folder / LOG) as lines:
        return lines.readline(_LONGEST_LINE).decode("utf-8", "replace")
