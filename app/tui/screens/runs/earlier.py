"""The runs of earlier sessions of this machine."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from app.engine.session.state import Session
from app.engine.session.store import folders, load
from app.tui.screens.runs.sparks import Place
from backends.errors import RaidbenchError

if TYPE_CHECKING:
    from app.engine.workbench import Workbench

EARLIER_SESSIONS = 50
"""How many earlier sessions are read at most."""


def earlier_sessions(bench: Workbench) -> dict[Path, Session]:
    """By their folders, oldest first; one that cannot be read is passed over. Blocks."""
    found: dict[Path, Session] = {}
    for folder in reversed(folders(bench.paths.sessions)[:EARLIER_SESSIONS]):
        if folder != bench.folder:
            with suppress(RaidbenchError):
                found[folder] = load(folder).session
    return found


def places_of(sessions: Mapping[Path, Session]) -> dict[str, Place]:
    """The runs of sessions by `SESSION/r3`."""
    return {f"{folder.name}/{run.id}": (folder, run) for folder, session in sessions.items() for run in session.runs}


def earlier_with_runs(bench: Workbench) -> int:
    """How many of these sessions have runs on disk."""
    earlier = [folder for folder in folders(bench.paths.sessions)[:EARLIER_SESSIONS] if folder != bench.folder]
    return sum(any((folder / "runs").glob("*")) for folder in earlier)
