"""All results of one run, a sparkline of its IOPS over time, its settings, and fio's raw output."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from app.core.presentation.labels import headed_values
from app.core.presentation.preview import in_force_facts
from app.core.presentation.raw_data import intervals
from app.core.presentation.run import figure_facts
from app.core.session.folders import run_count, session_folders
from app.core.session.results import Phase
from app.core.session.state import RunRecord, Session
from app.core.session.store import load
from app.tui.bench.members import NARROW_BAR, member_table
from app.tui.overlay_screen import OverlayScreen
from app.tui.render import groups
from backends.errors import RaidbenchError
from backends.input_file import open_input
from backends.text import clean_lines
from widgets.details import Detail, Details, FactGroup
from widgets.static_table import StaticTable, TableColumn, TableRow
from widgets.text_utils.sparkline import spark

if TYPE_CHECKING:
    from app.core.workbench import Workbench

# -- sparklines from fio's output, read one run at a time -------------------------------------------------------------

WIDTH = 10
"""Cells of a sparkline."""

MAX_SPARKS = 40
"""Maximum number of runs whose sparklines are read for the list, newest first. Each takes up to a second."""

Place = tuple[Path, RunRecord]
"""A run and the folder of its session."""


class Sparks:
    """Cache of the sparklines of finished runs."""

    def __init__(self, *, ascii_only: bool) -> None:
        self._ascii = ascii_only
        self._cache: dict[tuple[Path, str], str] = {}

    def __len__(self) -> int:
        """Return the number of cached sparklines."""
        return len(self._cache)

    def of(self, folder: Path, run: RunRecord) -> str:
        """Return the sparkline of a run; "" if it was not read."""
        return self._cache.get((folder, run.id), "")

    def missing(self, runs: Iterable[Place]) -> list[Place]:
        """Return those of the `MAX_SPARKS` newest runs that have ended and have no sparkline yet, newest first."""
        newest = sorted(runs, key=lambda run: run[1].start.at, reverse=True)[:MAX_SPARKS]
        return [(where, run) for where, run in newest if run.end is not None and (where, run.id) not in self._cache]

    def read(self, runs: Iterable[Place], may_continue: Callable[[], bool], report: Callable[[], None]) -> None:
        """Read sparklines as long as `may_continue()` is true; call `report` after each. Blocks, so use a thread."""
        for where, run in runs:
            if not may_continue():
                return
            measured = [sample for sample in intervals(run, where) if sample.phase is Phase.MEASURING]
            values = [sum(side.iops for side in sample.transfers) if sample.transfers else None for sample in measured]
            self._cache[where, run.id] = spark(values, WIDTH, ascii_only=self._ascii)
            report()


# -- all results of one run -------------------------------------------------------------------------------------------

RAW_LIMIT = 64 * 1024
"""Maximum bytes of fio's output that `v` shows, from its end."""


class FiguresScreen(OverlayScreen):
    """A sheet with all results; `v` shows fio's raw output."""

    LAST_LINE: ClassVar[str] = "v raw output  esc close"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("v", "raw", "Raw output", id="figures.raw")]
    DEFAULT_CSS = """
    FiguresScreen {
        & .told { margin-bottom: 1; }
    }
    """

    def __init__(self, run: RunRecord, folder: Path, *, ascii: bool = False) -> None:
        super().__init__()
        self.title = f"{run.id}  {run.start.title}  on {run.start.target}"
        self._ascii = ascii
        self._run = run
        self._folder = folder
        self._raw = False

    def body(self) -> ComposeResult:
        """Compose results, members, conditions and raw output."""
        yield Details(self._figures(), classes="told")
        yield StaticTable(*self._members(), classes="told")
        yield Details(self._circumstances(), classes="told")
        yield Static("", id="raw", markup=False)

    def _figures(self) -> tuple[FactGroup, ...]:
        run = self._run
        reason = run.figures.reason
        head = [Detail(label="Status", value=f"{run.figures.status}{f': {reason}' if reason else ''}")]
        return (FactGroup(facts=tuple(head)), *groups(figure_facts(run.figures)))

    def _members(self) -> tuple[tuple[TableColumn, ...], tuple[TableRow, ...]]:
        members = self._run.figures.members
        return member_table(members, most=len(members), bar=NARROW_BAR, ascii=self._ascii)

    def _circumstances(self) -> tuple[FactGroup, ...]:
        run = self._run
        job = tuple(Detail(label=label, value=value) for label, value in headed_values(run.start.job))
        sections = [FactGroup(heading="Job", facts=job)]
        if run.start.settings:
            facts = replace(in_force_facts(run), heading=f"In force on {run.start.device}")
            sections += groups((facts,))
        if run.end is not None:
            where = Detail(label="Folder", value=str(self._folder / run.end.folder))
            sections.append(FactGroup(heading="On disk", facts=(where,)))
        return tuple(sections)

    def action_raw(self) -> None:
        """Show fio's raw output, or the results again."""
        self._raw = not self._raw
        self.query(".told").set(display=not self._raw)
        text = self._read_raw() if self._raw else ""
        self.query_one("#raw", Static).update(text)

    def _read_raw(self) -> str:
        if self._run.end is None:
            return "The run has not ended."
        file = self._folder / self._run.end.folder / "fio.out"
        try:
            with open_input(file) as raw:
                raw.seek(max(0, raw.seek(0, os.SEEK_END) - RAW_LIMIT))
                data = raw.read(RAW_LIMIT)
        except OSError as error:
            return f"{file}: {error.strerror}"
        text = data.decode("utf-8", "replace")
        last = text.rfind("\n{\n")
        return clean_lines(text[last + 1 :] if last >= 0 else text, lines=2000)


# -- earlier sessions -------------------------------------------------------------------------------------------------

MAX_EARLIER_SESSIONS = 50
"""Maximum number of earlier sessions that are read."""


def earlier_sessions(bench: Workbench) -> dict[Path, Session]:
    """Return earlier sessions by folder, oldest first. An unreadable session is skipped. Blocks."""
    sessions: dict[Path, Session] = {}
    for folder in reversed(session_folders(bench.paths)[:MAX_EARLIER_SESSIONS]):
        if folder != bench.folder:
            with suppress(RaidbenchError):
                sessions[folder] = load(folder).session
    return sessions


def runs_by_name(sessions: Mapping[Path, Session]) -> dict[str, Place]:
    """Return all runs of these sessions, keyed by names such as `SESSION/r3`."""
    return {f"{folder.name}/{run.id}": (folder, run) for folder, session in sessions.items() for run in session.runs}


def count_earlier_sessions(bench: Workbench) -> int:
    """Return how many earlier sessions have runs on disk."""
    earlier = [folder for folder in session_folders(bench.paths)[:MAX_EARLIER_SESSIONS] if folder != bench.folder]
    return sum(run_count(folder) > 0 for folder in earlier)
