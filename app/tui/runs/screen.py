"""The Runs screen: all runs, with a comparison of two and the results of one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from app.core.analysis.sample_groups import Replicates
from app.core.presentation.run import STILL_RUNNING
from app.core.presentation.run_list import ListedRun, against_cell, runs_table, runs_title
from app.core.presentation.table import Cell, without_empty_columns
from app.core.session.state import RunRecord, Session
from app.tui.base import WorkbenchScreen
from app.tui.bench.past_run import RunScreen
from app.tui.bench.summary import ended_line
from app.tui.render import columns, rows
from app.tui.runs.compare import ComparedRun, CompareScreen
from app.tui.runs.figures import Place, Sparks, count_earlier_sessions, earlier_sessions, runs_by_name
from app.tui.runs.preview import RunPreview
from backends.errors import RaidbenchError
from widgets.keyed_table import KeyedTable
from widgets.pane import Pane
from widgets.plot_render.plot_data import MOST_CURVES
from widgets.text_utils import units
from widgets.thread_work import in_thread

_FRAME = 3
"""Number of lines that the list needs in addition to its rows: frame and headings."""

_HINT_LINES = 2


class RunsScreen(WorkbenchScreen):
    """The list of runs, and below it the run under the cursor."""

    NAME: ClassVar[str] = "runs"

    def __init__(self) -> None:
        super().__init__()
        self._marked: list[str] = []
        self._earlier: dict[Path, Session] | None = None
        self._shown: object = None
        self._verdicts: tuple[object, dict[str, Cell | None]] = (None, {})

    def body(self) -> ComposeResult:
        """Compose the list, a hint, and the preview."""
        ascii = self.workbench_app.ascii
        self._sparks = Sparks(ascii_only=ascii)
        with Pane("Runs", id="runs-list"):
            yield KeyedTable(columns(runs_table((), full=False)), id="runs")
            yield Static("", id="runs-hint", markup=False)
        yield RunPreview(ascii=ascii, may_read=self._may_read, compare_key=self.with_keys("<runs.compare>"))

    def on_mount(self) -> None:
        """Focus the table."""
        self.query_one(KeyedTable).focus()

    def show(self, session: Session) -> None:
        """Show the runs of this session, and those of earlier ones if requested."""
        signature = (
            session.runs,
            session.experiments,
            session.baseline,
            session.active is None,
            tuple(self._marked),
            self._earlier,
            len(self._sparks),
        )
        if signature == self._shown:
            return
        self._shown = signature
        runs = self._all_runs(session)
        listed = self._list_runs(session, runs)
        table, pane = self.query_one(KeyedTable), self.query_one("#runs-list", Pane)
        shown = without_empty_columns(runs_table(listed, full=False))
        table.empty = self.with_keys(self._empty_text()) if not listed else ""
        table.columns = columns(shown)
        table.rows = tuple(replace(row, marked=row.key in self._marked) for row in rows(shown))
        pane.title = runs_title(listed)
        pane.note = self._count_text(len(listed))
        hint = self._hint(session)
        self.put("#runs-hint", hint)
        # The list is as high as its rows, and the preview gets the remaining lines. An empty list gets all lines.
        pane.styles.height = len(listed) + _FRAME + (_HINT_LINES if hint else 0) if listed else "1fr"
        pane.set_class(not listed, "-alone")
        self._preview()
        self._read_sparks(runs)

    def _count_text(self, count: int) -> str:
        marked = f"{len(self._marked)} marked, " if self._marked else ""
        return f"{marked}{units.plural(count, 'run')}" if count else ""

    def _empty_text(self) -> str:
        """Return why there are no runs, and the keys that help."""
        earlier = count_earlier_sessions(self.workbench_app.workbench)
        text = "no run yet in this session: <app.bench> goes to Bench, <bench.run> runs its job"
        have = units.plural(earlier, "earlier session has", "earlier sessions have")
        return f"{text}. {have} runs: <runs.earlier> shows them" if earlier else text

    def _list_runs(self, session: Session, runs: dict[str, Place]) -> list[ListedRun]:
        repeats = {
            folder: Replicates(self._runs_of(folder, runs)) for folder in {folder for folder, _ in runs.values()}
        }
        against = self._baseline_cells(session, repeats)
        return [
            ListedRun(
                record=run,
                name=key,
                repeats=repeats[folder],
                baseline=key == session.baseline,
                spark=self._sparks.of(folder, run),
                against=against.get(key),
            )
            for key, (folder, run) in runs.items()
        ]

    def _baseline_cells(self, session: Session, repeats_of: dict[Path, Replicates]) -> dict[str, Cell | None]:
        """Return the comparison of each run of this session with the baseline, by run. Cached until a run is added."""
        baseline = None if session.baseline is None else session.run(session.baseline)
        if baseline is None:
            return {}
        state = (baseline.id, session.runs)
        if self._verdicts[0] != state:
            repeats = repeats_of[self._own_folder]
            experiments = session.experiments
            cells = {run.id: against_cell(baseline, run, repeats, experiments) for run in session.runs}
            self._verdicts = (state, cells)
        return self._verdicts[1]

    @property
    def _own_folder(self) -> Path:
        return self.workbench_app.workbench.folder or Path()

    def _may_read(self) -> bool:
        """Return whether fio's output may be read: no job is running that this would disturb."""
        return not self.workbench_app.measuring

    def _read_sparks(self, runs: dict[str, Place]) -> None:
        missing = self._sparks.missing(runs.values())
        reading = any(worker.group == "sparks" and not worker.is_finished for worker in self.workers)
        if missing and not reading and self._may_read():
            read = in_thread(self._sparks.read, missing, self._may_continue, self._show_spark)
            self.run_worker(read, group="sparks")

    def _may_continue(self) -> bool:
        return self.has_widgets and self.is_current and self.app.is_running and self._may_read()

    def _show_spark(self) -> None:
        self.app.call_from_thread(self.on_screen_resume)

    @on(KeyedTable.RowHighlighted)
    def _highlighted(self) -> None:
        self._preview()

    def _preview(self) -> None:
        """Update the preview of the run under the cursor."""
        session = self.workbench_app.session
        runs, key = self._all_runs(session), self.query_one(KeyedTable).cursor or ""
        folder, run = runs.get(key, (Path(), None))
        baseline = None if session.baseline is None or folder != self._own_folder else session.run(session.baseline)
        beside = self._runs_of(folder, runs)
        self.query_one(RunPreview).show_run(run, key, folder, baseline, beside, session.experiments)

    def _hint(self, session: Session) -> str:
        """Return the result of the last experiment; "" if there is none or it has not ended."""
        last = session.experiments[-1] if session.experiments else None
        return "" if last is None or last.end is None else f"{last.id}: {ended_line(session, last)}"

    def _runs_of(self, folder: Path, runs: dict[str, Place]) -> tuple[RunRecord, ...]:
        """Return the runs of one session."""
        return tuple(run for where, run in runs.values() if where == folder)

    def _all_runs(self, session: Session) -> dict[str, Place]:
        runs = runs_by_name(self._earlier or {})
        runs.update({run.id: (self._own_folder, run) for run in session.runs})
        return runs

    def action_mark(self) -> None:
        """Mark or unmark the run. If there are more marks than distinguishable curves, the oldest is removed."""
        key = self.query_one(KeyedTable).cursor
        if key is None:
            return
        if key in self._marked:
            self._marked.remove(key)
        else:
            self._marked = [*self._marked, key][-MOST_CURVES:]
        self.on_screen_resume()

    def action_compare(self) -> None:
        """Compare the two runs marked last; without marks, the A/B of the run under the cursor."""
        runs = self._all_runs(self.workbench_app.session)
        marked = [key for key in self._marked if key in runs][-2:] or self._experiment_runs(runs)
        if len(marked) != 2:
            self.say("Mark two runs with <runs.mark>, then press <runs.compare>.")
            return
        a, b = (ComparedRun(runs[key][1], key, runs[key][0]) for key in marked)
        session = (self._earlier or {}).get(a.folder, self.workbench_app.session)
        beside = (self._runs_of(a.folder, runs), self._runs_of(b.folder, runs))
        self.app.push_screen(CompareScreen(a, b, *beside, session.experiments))

    def _experiment_runs(self, runs: dict[str, Place]) -> list[str]:
        """Return one run of A and one of B from the experiment of the run under the cursor; empty without one."""
        folder, run = runs.get(self.query_one(KeyedTable).cursor or "", (Path(), None))
        mark = None if run is None else run.start.mark
        if mark is None:
            return []
        key_of: dict[str, str] = {}
        for key, (where, record) in runs.items():
            other = record.start.mark
            if where == folder and other is not None and other.experiment == mark.experiment:
                key_of.setdefault(other.letter, key)
        return [key_of[letter] for letter in sorted(key_of)]

    @on(KeyedTable.RowSelected)
    def _selected(self) -> None:
        if self.is_active:  # Ignore a second Enter before the dialog of the first one is visible.
            self.action_figures()

    def action_figures(self) -> None:
        """Open the graphs of the run under the cursor. From there, a key opens all its results."""
        key = self.query_one(KeyedTable).cursor
        session = self.workbench_app.session
        runs = self._all_runs(session)
        if key is None or key not in runs:
            return
        folder, run = runs[key]
        if run.running:
            place = " Its graphs are on Bench (<app.bench>)." if folder == self._own_folder else ""
            self.say(f"{key} is {STILL_RUNNING}.{place}")
        elif run.end is None:
            self.say(f"{key} has no graphs. {run.figures.reason}")
        else:
            self.app.push_screen(RunScreen(run, folder, (self._earlier or {}).get(folder, session)))

    def action_explore(self) -> None:
        """Open plots of the marked runs, or of the experiment or run under the cursor."""
        session = self.workbench_app.session
        runs = self._all_runs(session)
        folder, run = runs.get(self.query_one(KeyedTable).cursor or "", (self._own_folder, None))
        self.workbench_app.do(
            "plots.explore",
            session=(self._earlier or {}).get(folder, session),
            folder=folder,
            marked=[runs[key] for key in self._marked if key in runs],
            cursor=None if run is None else (folder, run),
        )

    def action_history(self) -> None:
        """Show the runs of all sessions with the same job and target as the run under the cursor."""
        key = self.query_one(KeyedTable).cursor
        runs = self._all_runs(self.workbench_app.session)
        if key is None or key not in runs:
            self.say("There is no run yet. Press <app.bench> for Bench, then <bench.run> to start one.")
            return
        self.workbench_app.do("history.show", *runs[key])

    def action_baseline(self) -> None:
        """Mark or unmark the run under the cursor as baseline."""
        key = self.query_one(KeyedTable).cursor
        if key is None or "/" in key:
            self.say("Only a run of this session can be the baseline.")
            return
        bench = self.workbench_app.workbench
        try:
            bench.mark_baseline(None if bench.session.baseline == key else key)
        except RaidbenchError as error:
            self.workbench_app.show_error(error)

    def action_earlier(self) -> None:
        """Show or hide the runs of earlier sessions."""
        if self._earlier is not None:
            self._earlier = None
            self.on_screen_resume()
            return
        self.run_worker(in_thread(self._load_earlier), group="earlier", exclusive=True)

    def _load_earlier(self) -> None:
        self.app.call_from_thread(self._take_earlier, earlier_sessions(self.workbench_app.workbench))

    def _take_earlier(self, sessions: dict[Path, Session]) -> None:
        self._earlier = sessions
        if not runs_by_name(sessions):
            self.say("There are no runs of earlier sessions.")
        self.on_screen_resume()
