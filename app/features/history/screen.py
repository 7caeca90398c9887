"""Screen with the runs of one condition (job, target) in all sessions of this machine."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult

from app.core.analysis.past_runs.earlier_runs import PastRun
from app.core.analysis.past_runs.series import series_of
from app.core.presentation.preview import PREVIEWED
from app.core.presentation.run import STILL_RUNNING, figures_table
from app.core.presentation.table import with_titles, without_empty_columns
from app.core.session.state import Session
from app.core.session.store import LoadedSession, load
from app.doors import action
from app.features.history.presentation import change_lines, headline_text, history_table
from app.tui.base import WorkbenchScreen
from app.tui.bench.past_run import RunScreen
from app.tui.render import columns, rows
from backends.errors import RaidbenchError
from widgets.keyed_table import KeyedTable
from widgets.pane import Pane
from widgets.plot_view import StaticPlotView
from widgets.static_table import StaticTable
from widgets.text_panel import TextParagraphs
from widgets.text_utils import units
from widgets.thread_work import in_thread

if TYPE_CHECKING:
    from textual.screen import Screen

    from app.core.session.state import RunRecord
    from app.tui.app_interface import AppInterface

_LATEST_CHANGES = 2
_COLUMNS = ("when", "run", "headline", "p99", "level", "differs", "status")


def show_history(app: AppInterface, folder: Path, run: RunRecord) -> None:
    """Show the runs of all sessions with the same condition as `run`, which is in the session in `folder`."""
    app.hold_keys(app.run_worker(_find_and_show(app, app.front, folder, run), group="history", exclusive=True))


async def _find_and_show(app: AppInterface, opener: Screen[Any] | None, folder: Path, run: RunRecord) -> None:
    """Show the history of `run` on top of `opener`, the screen from which it was opened."""
    _show(app, opener, *await asyncio.to_thread(_load, app, folder, run))


def _load(
    app: AppInterface, folder: Path, run: RunRecord
) -> tuple[PastRun | None, tuple[PastRun, ...], PastRun | None, tuple[str, ...]]:
    """Find `run` in the index of all runs; return it, all runs with its condition, the baseline and notes."""
    from app.core.analysis.past_runs.index import load_past_runs

    bench = app.workbench
    loaded = LoadedSession(folder=bench.folder or folder, session=bench.session, passed_over=0)
    index = load_past_runs(bench.paths, extra_sessions=(loaded,))
    name = f"{folder.name}/{run.id}"
    past_run = next((other for other in index.runs if other.name == name), None)
    peers = () if past_run is None else tuple(other for other in index.runs if other.condition == past_run.condition)
    baseline_name = f"{loaded.folder.name}/{bench.session.baseline}"
    baseline = next((other for other in peers if other.name == baseline_name), None)
    return past_run, peers, baseline, index.notes


def _show(
    app: AppInterface,
    opener: Screen[Any] | None,
    run: PastRun | None,
    peers: tuple[PastRun, ...],
    baseline: PastRun | None,
    notes: tuple[str, ...],
) -> None:
    for note in notes:
        app.notify(note)
    if run is None:
        app.notify("This run is not in the history.")
    elif opener is not None and opener.is_active:
        app.push_screen(HistoryScreen(run, peers, baseline))


class HistoryScreen(WorkbenchScreen):
    """The runs of all sessions with the same condition as one run: graph, list, and results of the selected run."""

    NAME: ClassVar[str] = "history"
    DEFAULT_CSS = """
    HistoryScreen {
        & #history-drawn { height: 1fr; min-height: 8; padding: 0 1; }
        & #history-listed { max-height: 50%; min-height: 8; }
        &.-short #history-listed { max-height: 9; }
        &.-short #history-changes { max-height: 1; }
        & KeyedTable { height: 1fr; min-height: 2; }
        & #history-figures { height: 2; }
    }
    """

    def __init__(self, run: PastRun, runs: tuple[PastRun, ...], baseline: PastRun | None = None) -> None:
        """`runs`: all runs with the condition of `run`, oldest first; `baseline`: the baseline run of the session, if
        any.
        """
        super().__init__()
        self._run = run
        self._runs = {past_run.name: past_run for past_run in runs}
        self._series = series_of(runs).get(run.condition)
        self._baseline = baseline
        self._sessions: dict[str, Session] = {}

    def body(self) -> ComposeResult:
        """Compose the graph with the level changes, the list of runs, and the results of one run."""
        series, run = self._series, self._run
        shown = without_empty_columns(
            history_table(tuple(self._runs.values()), () if series is None else series.changes).only(*_COLUMNS)
        )
        sessions = units.plural(len({past_run.session for past_run in self._runs.values()}), "session")
        count = f"{units.plural(len(self._runs), 'run')} of {sessions}"
        lines = [] if series is None else list(change_lines(series, named=False))[: -_LATEST_CHANGES - 1 : -1]
        with Pane(f"History: {run.workload} on {run.target}", note=count, id="history-drawn"):
            yield StaticPlotView(id="history-graph", ascii=self.workbench_app.ascii)
            yield TextParagraphs("\n".join(lines), "muted", id="history-changes")
        with Pane("Runs", id="history-listed"):
            yield KeyedTable(columns(shown), rows(shown))
            yield StaticTable(id="history-figures")

    def on_mount(self) -> None:
        """Draw the graph, and focus the list with its cursor on the requested run."""
        draw = action("plots.history")
        shown = None if draw is None else draw(self._run, tuple(self._runs.values()), self._baseline)
        self.query_one(StaticPlotView).show(shown)
        self.query_one(KeyedTable).focus()
        self.call_after_refresh(self._begin)
        # The list is just high enough for its rows, the result lines and its frame. The graph gets the other lines.
        self.query_one("#history-listed", Pane).styles.height = len(self._runs) + 5

    def _begin(self) -> None:
        """Show the results of the requested run. The list may send no event if its cursor is already on this run."""
        self.query_one(KeyedTable).cursor = self._run.name
        self._choose()

    @on(KeyedTable.RowHighlighted)
    def _choose(self) -> None:
        """Show the results of the run under the cursor."""
        run = self._chosen()
        if run is None:
            return
        self.query_one("#history-listed", Pane).title = " · ".join(
            filter(None, (run.name, units.moment(run.at)[:16], headline_text(run)))
        )
        self.query_one(StaticTable).rows = ()
        if run.session in self._sessions:
            self._show_figures(run)
        else:
            self.run_worker(in_thread(self._read, run), group="figures", exclusive=True)

    def _chosen(self) -> PastRun | None:
        return self._runs.get(self.query_one(KeyedTable).cursor or "")

    def _chosen_record(self) -> tuple[PastRun, Session, RunRecord] | None:
        """Return the run under the cursor, its session and its record.

        Until the session has been read, show a message and return None.
        """
        run = self._chosen()
        session = None if run is None else self._sessions.get(run.session)
        record = None if run is None or session is None else session.run(run.id)
        if run is None or session is None or record is None:
            self.say("The session of this run is still being read.")
            return None
        return run, session, record

    def _folder(self, run: PastRun) -> Path:
        bench = self.workbench_app.workbench
        folder = bench.folder
        return folder if folder is not None and folder.name == run.session else bench.paths.sessions / run.session

    def _read(self, run: PastRun) -> None:
        bench = self.workbench_app.workbench
        try:
            session = bench.session if self._folder(run) == bench.folder else load(self._folder(run)).session
        except RaidbenchError as error:
            self.app.call_from_thread(self.say, error.message)
            return
        self.app.call_from_thread(self._take, run, session)

    def _take(self, run: PastRun, session: Session) -> None:
        self._sessions[run.session] = session
        if self.has_widgets and self._chosen() == run:
            self._show_figures(run)

    def _show_figures(self, run: PastRun) -> None:
        """Show all results of a run whose session is loaded."""
        record = self._sessions[run.session].run(run.id)
        if record is None:
            return
        shown = with_titles(without_empty_columns(figures_table((record,))), PREVIEWED)
        table = self.query_one(StaticTable)
        table.columns, table.rows = columns(shown), rows(shown)

    @on(KeyedTable.RowSelected)
    def _selected(self) -> None:
        if self.is_active:  # ignore a second Enter before the opened screen is shown
            self.action_open()

    def action_open(self) -> None:
        """Open the graphs of the run under the cursor."""
        if (chosen := self._chosen_record()) is None:
            return
        run, session, record = chosen
        if record.running:
            self.say(f"{run.name} is {STILL_RUNNING}.")
        elif record.end is None:
            self.say(f"{run.name} has no graphs. {record.figures.reason}")
        else:
            self.app.push_screen(RunScreen(record, self._folder(run), session))

    def action_explore(self) -> None:
        """Explore all sessions with the condition of the run under the cursor."""
        if (chosen := self._chosen_record()) is None:
            return
        run, session, record = chosen
        folder = self._folder(run)
        self.workbench_app.do("plots.explore", session=session, folder=folder, cursor=(folder, record), everywhere=True)

    def action_step(self, rows: int) -> None:
        """Move the cursor to the previous or next run."""
        self.query_one(KeyedTable).action_cursor(rows)

    def action_back(self) -> None:
        """Close the screen."""
        self.dismiss()
