"""Scratch files that a crash left behind."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.engine.session import store
from backends.errors import RaidbenchError


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """A file raidbench made for a run that never came to its end."""

    path: Path
    """Where it lies."""
    size: int
    """Bytes it takes on the filesystem."""
    session: str
    """The session that made it."""
    run: str
    """The run it was made for."""


def leftover_scratch(sessions: Path) -> tuple[Leftover, ...]:
    """Files of runs that began and did not end, whose session nobody writes any more. Changes nothing."""
    found: dict[Path, Leftover] = {}
    for folder in store.folders(sessions):
        try:
            runs = [run for run in store.load(folder).session.runs if run.end is None and run.start.scratch]
        except RaidbenchError:
            continue
        if not runs or not _is_left(folder):
            continue
        for run in runs:
            path = Path(run.start.scratch or "")
            try:
                size = path.lstat().st_blocks * 512
            except (OSError, ValueError):
                continue
            found.setdefault(path, Leftover(path=path, size=size, session=folder.name, run=run.id))
    return tuple(found.values())


def _is_left(folder: Path) -> bool:
    """Whether no program holds the session."""
    try:
        store.SessionLog(folder).close()
    except (BlockingIOError, RaidbenchError):
        return False
    return True
