"""All runs, two of them side by side, and all figures of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from app.engine.judge.repeats import Repeats
from app.engine.session.state import RunRecord, Session
from app.engine.session.store import folders, load
from app.engine.view.run import ListedRun, runs_table
from app.engine.view.table import filled
from app.tui.base import WorkbenchScreen
from app.tui.render import columns, rows
from app.tui.screens.bench.ab_lines import ended_line
from app.tui.screens.runs.compare import ComparedRun, CompareScreen
from app.tui.screens.runs.figures import FiguresScreen
from backends.errors import RaidbenchError
from widgets.keyed_table import KeyedTable, TableRow

if TYPE_CHECKING:
    from app.engine.history.past import PastRun

EARLIER_SESSIONS = 50
"""How many earlier sessions are read at most."""


class RunsScreen(WorkbenchScreen):
    """The list of runs."""

    NAME: ClassVar[str] = "runs"

    def __init__(self) -> None:
        super().__init__()
        self._marked: list[str] = []
        self._earlier: dict[str, tuple[Path, RunRecord]] | None = None
        self._shown: object = None

    def body(self) -> ComposeResult:
        """The list and a line of help."""
        yield KeyedTable(
            columns(runs_table((), whole=False)), id="runs", empty="no run yet: go to Bench (2) and press r"
        )
        yield Static("", id="runs-hint", markup=False)

    def on_mount(self) -> None:
        """The table has the keys."""
        self.query_one(KeyedTable).focus()

    def show(self, session: Session) -> None:
        """Rows of this session, and of earlier ones when asked for."""
        signature = (
            session.runs,
            session.experiments,
            session.baseline,
            session.active is None,
            tuple(self._marked),
            self._earlier,
        )
        if signature == self._shown:
            return
        self._shown = signature
        table = self.query_one(KeyedTable)
        shown = filled(runs_table(self._listed(session), whole=False))
        table.columns, table.rows = columns(shown), tuple(self._in_groups(rows(shown)))
        self.put("#runs-hint", self._hint(session))

    def _listed(self, session: Session) -> list[ListedRun]:
        runs = self._all(session)
        known = {folder: Repeats(self._beside(folder, runs)) for folder in {folder for folder, _ in runs.values()}}
        active = None if session.active is None else session.active.start.id
        return [
            ListedRun(
                record=run,
                name=run.id,
                key=key,
                repeats=known[folder],
                baseline=key == session.baseline,
                active=key == active,
            )
            for key, (folder, run) in runs.items()
        ]

    def _in_groups(self, listed: Iterable[TableRow]) -> Iterator[TableRow]:
        """With marks, and where earlier sessions are shown with the name of each above its runs."""
        own = (self.workbench_app.workbench.folder or Path()).name
        group = ""
        for row in listed:
            session = row.key.rpartition("/")[0] or own
            if self._earlier and session != group:
                group = session
                yield TableRow(key=f"group-{group}", cells=(f"session {group}",), separator=True)
            yield replace(row, marked=row.key in self._marked)

    def _hint(self, session: Session) -> str:
        """What the last experiment has shown; how to compare."""
        marked = f"{len(self._marked)} marked" if self._marked else "space marks"
        told = f"{marked}; c shows two side by side"
        last = session.experiments[-1] if session.experiments else None
        if last is not None and last.end is not None:
            return f"{last.id}: {ended_line(session, last)}\n{told}, or the A/B of the run under the cursor."
        return f"{told}. One run against one shows nothing."

    def _beside(self, folder: Path, runs: dict[str, tuple[Path, RunRecord]]) -> tuple[RunRecord, ...]:
        """The runs of one session."""
        return tuple(run for where, run in runs.values() if where == folder)

    def _all(self, session: Session) -> dict[str, tuple[Path, RunRecord]]:
        own = self.workbench_app.workbench.folder or Path()
        runs = dict(self._earlier or {})
        runs.update({run.id: (own, run) for run in session.runs})
        return runs

    def action_mark(self) -> None:
        """Mark the run, or take its mark away; the third mark takes the place of the first."""
        key = self.query_one(KeyedTable).cursor
        if key is None:
            return
        if key in self._marked:
            self._marked.remove(key)
        else:
            self._marked = [*self._marked, key][-2:]
        self.on_screen_resume()

    def action_compare(self) -> None:
        """Show the two marked runs side by side; without marks the A/B that the run under the cursor belongs to."""
        runs = self._all(self.workbench_app.session)
        marked = [key for key in self._marked if key in runs] or self._both_letters(runs)
        if len(marked) != 2:
            self.say("Mark two runs with space, then c.")
            return
        a, b = (ComparedRun(runs[key][1], key, runs[key][0]) for key in marked)
        self.app.push_screen(CompareScreen(a, b, self._beside(a.folder, runs), self._beside(b.folder, runs)))

    def _both_letters(self, runs: dict[str, tuple[Path, RunRecord]]) -> list[str]:
        """A run of each letter of the experiment that the run under the cursor belongs to, A first."""
        folder, run = runs.get(self.query_one(KeyedTable).cursor or "", (None, None))
        mark = None if run is None else run.start.mark
        if mark is None:
            return []
        found: dict[str, str] = {}
        for key, (where, each) in runs.items():
            other = each.start.mark
            if where == folder and other is not None and other.experiment == mark.experiment:
                found.setdefault(other.letter, key)
        return [found[letter] for letter in sorted(found)]

    @on(KeyedTable.RowSelected)
    def _selected(self) -> None:
        self.action_figures()

    def action_figures(self) -> None:
        """All figures of the run under the cursor."""
        key = self.query_one(KeyedTable).cursor
        runs = self._all(self.workbench_app.session)
        if key is not None and key in runs:
            folder, run = runs[key]
            self.app.push_screen(FiguresScreen(run, folder, ascii=self.workbench_app.ascii))

    def action_history(self) -> None:
        """The runs of all sessions that measured the same as the run under the cursor."""
        key = self.query_one(KeyedTable).cursor
        runs = self._all(self.workbench_app.session)
        if key is None or key not in runs:
            self.say("There is no run yet: go to Bench (2) and press r.")
            return
        folder, run = runs[key]
        self.run_worker(partial(self._load_history, folder, run), thread=True, group="history", exclusive=True)

    def _load_history(self, folder: Path, run: RunRecord) -> None:
        from app.engine.history.index import known_runs
        from app.engine.session.store import Loaded

        bench = self.workbench_app.workbench
        own = Loaded(folder=bench.folder or folder, session=bench.session, passed_over=0)
        known = known_runs(bench.paths, also=(own,))
        name = f"{folder.name}/{run.id}"
        found = next((each for each in known.runs if each.name == name), None)
        alike = () if found is None else tuple(each for each in known.runs if each.condition == found.condition)
        self.app.call_from_thread(self._show_history, found, alike, known.notes)

    def _show_history(self, found: PastRun | None, alike: tuple[PastRun, ...], notes: tuple[str, ...]) -> None:
        from app.tui.screens.runs.history import HistoryScreen

        for note in notes:
            self.say(note)
        if found is None:
            self.say("This run is not in the history.")
        elif self.is_current:
            self.app.push_screen(HistoryScreen(found, alike, ascii=self.workbench_app.ascii))

    def action_baseline(self) -> None:
        """Mark the run under the cursor as baseline, or take the mark away."""
        key = self.query_one(KeyedTable).cursor
        if key is None or "/" in key:
            self.say("Only a run of this session can be the baseline.")
            return
        bench = self.workbench_app.workbench
        try:
            bench.mark_baseline(None if bench.session.baseline == key else key)
        except RaidbenchError as error:
            self.workbench_app.tell(error)

    def action_export(self) -> None:
        """Write the report of this session."""
        self.workbench_app.ask_export()

    def action_earlier(self) -> None:
        """Show or hide the runs of earlier sessions."""
        if self._earlier is not None:
            self._earlier = None
            self.on_screen_resume()
            return
        self.run_worker(self._load_earlier, thread=True, group="earlier", exclusive=True)

    def _load_earlier(self) -> None:
        bench = self.workbench_app.workbench
        found: dict[str, tuple[Path, RunRecord]] = {}
        for folder in reversed(folders(bench.paths.sessions)[:EARLIER_SESSIONS]):
            if folder == bench.folder:
                continue
            try:
                session = load(folder).session
            except RaidbenchError:
                continue
            found.update({f"{folder.name}/{run.id}": (folder, run) for run in session.runs})
        self.app.call_from_thread(self._take_earlier, found)

    def _take_earlier(self, found: dict[str, tuple[Path, RunRecord]]) -> None:
        self._earlier = found
        if not found:
            self.say("There are no runs of earlier sessions.")
        self.on_screen_resume()
