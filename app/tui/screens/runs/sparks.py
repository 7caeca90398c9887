"""How runs went over time, as high as a line: read once from what fio wrote, one run after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from app.engine.report.raw import intervals
from app.engine.session.state import RunRecord
from app.tui.screens.runs.points import measured_points
from widgets.plain.spark import spark

WIDTH = 10
"""Cells of a spark."""

MOST = 40
"""Runs that are read for their sparks when the list is shown, the newest: each takes up to a second."""

Place = tuple[Path, RunRecord]
"""A run and the folder of its session."""


class Sparks:
    """The sparks of runs that are over. What was read is kept for as long as the program runs."""

    def __init__(self, *, ascii_only: bool) -> None:
        self._ascii = ascii_only
        self._known: dict[tuple[Path, str], str] = {}

    def __len__(self) -> int:
        """How many are known."""
        return len(self._known)

    def of(self, folder: Path, run: RunRecord) -> str:
        """The spark of a run; "" where it is not known."""
        return self._known.get((folder, run.id), "")

    def missing(self, runs: Iterable[Place]) -> list[Place]:
        """Those of these runs that are over and were not read, the newest first."""
        newest = sorted(runs, key=lambda one: one[1].start.at, reverse=True)[:MOST]
        return [(where, run) for where, run in newest if run.end is not None and (where, run.id) not in self._known]

    def read(self, runs: Iterable[Place], goes_on: Callable[[], bool], told: Callable[[], None]) -> None:
        """Read these, as long as it may go on; after each it is told. Blocks: for a thread of its own."""
        for where, run in runs:
            if not goes_on():
                return
            values = [value for _, value in measured_points(intervals(run, where), latency=False)]
            self._known[where, run.id] = spark(values, WIDTH, ascii_only=self._ascii)
            told()
