"""The folders of the sessions of one machine, found without reading what is in them: shell completion waits for it."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

from app.engine.session.own_file import open_regular
from app.engine.session.paths import Paths

LOG = "session.jsonl"
"""The log in the folder of a session."""

_LONGEST_LINE = 65536


def each_folder(paths: Paths) -> Iterator[Path]:
    """Yield the folders of the sessions of the machine that the paths are of, newest first."""
    try:
        used = {entry: when for entry in paths.sessions.iterdir() if (when := last_used(entry)) is not None}
    except OSError:
        return
    newest_first = sorted(used, key=lambda entry: (used[entry], entry.name), reverse=True)
    yield from (folder for folder in newest_first if is_of(paths, folder))


def last_used(folder: Path) -> float | None:
    """Return when the log was written, in seconds since the epoch; None if there is no log, or not any more."""
    try:
        info = (folder / LOG).stat()
    except OSError:
        return None
    return info.st_mtime if stat.S_ISREG(info.st_mode) else None


def is_of(paths: Paths, folder: Path) -> bool:
    """Return whether a session is of the kind of machine that the paths are of.

    Earlier versions kept the sessions of simulated and recorded machines among those of this one.
    """
    return paths.simulated or not _is_marked_simulated(folder)


def _is_marked_simulated(folder: Path) -> bool:
    try:
        begun = json.loads(first_line(folder))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(begun, dict) and begun.get("simulated") is True


def first_line(folder: Path) -> str:
    """Return the line with which the log of a session begins. Raises OSError."""
    with open_regular(folder / LOG) as lines:
        return lines.readline(_LONGEST_LINE).decode("utf-8", "replace")
