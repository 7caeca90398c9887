"""The run under the cursor below the list: its results, two small graphs, and its facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll

from app.core.presentation.preview import PREVIEWED, preview_facts
from app.core.presentation.run import figures_table
from app.core.presentation.table import with_titles, without_empty_columns
from app.core.session.state import ExperimentRecord, RunRecord
from app.tui.bench.curves import Curves, marks_of
from app.tui.bench.live_view import baseline_references, latency_chart, throughput_chart
from app.tui.bench.run_graphs import read_curves, time_axis_seconds
from app.tui.render import columns, groups, rows
from widgets.chart import LineChart, Reference
from widgets.details import Details
from widgets.pane import Pane
from widgets.static_table import StaticTable
from widgets.text_utils import units
from widgets.thread_work import in_thread

PAUSE = 0.25
"""Seconds that the cursor rests on a run before its curves are read."""

_CACHE_SIZE = 16


class RunPreview(Pane):
    """Shows one run. Its curves are read only while no job is running, because reading would disturb it."""

    DEFAULT_CSS = """
    RunPreview {
        height: 1fr;
        & #preview-figures { height: auto; }
        & #preview-below { height: 1fr; }
        & #preview-graphs { width: 3fr; }
        & #preview-graphs LineChart { height: 1fr; min-height: 4; }
        & #preview-scroll { width: 2fr; padding: 0 0 0 2; scrollbar-size-vertical: 1; }
    }
    """

    def __init__(self, *, ascii: bool, may_read: Callable[[], bool], compare_key: str) -> None:
        """`may_read`: returns False while a job is running, which reading would disturb.

        `compare_key`: key that compares two runs.
        """
        super().__init__("Run", id="runs-preview")
        self._ascii = ascii
        self._may_read = may_read
        self._compare_key = compare_key
        self._shown: tuple[Path, str] | None = None
        self._folder = Path()
        self._is_postponed = False  # reading the curves was postponed because something is measured
        self._baseline: RunRecord | None = None
        self._cache: dict[tuple[Path, str], Curves] = {}

    def compose(self) -> ComposeResult:
        """Compose the results, and below them graphs and facts."""
        yield StaticTable(id="preview-figures")
        with Horizontal(id="preview-below"):
            with Vertical(id="preview-graphs"):
                yield LineChart(title="IOPS", id="preview-iops", ascii=self._ascii)
                yield LineChart(title="Latency", id="preview-latency", log_scale=True, ascii=self._ascii)
            with VerticalScroll(id="preview-scroll"):
                yield Details(id="preview-facts")

    def show_run(
        self,
        run: RunRecord | None,
        name: str,
        folder: Path,
        baseline: RunRecord | None,
        session: Sequence[RunRecord],
        experiments: Sequence[ExperimentRecord] = (),
    ) -> None:
        """Show a run of the session in `folder`; None shows nothing. `session`: all runs of that session."""
        self.display = run is not None
        if run is None:
            self._shown = None
            return
        self.title = f"{name}: {run.start.workload} on {run.start.target}, {units.moment(run.start.at)[:16]}"
        # The column `Run` distinguishes the rows of a run with several targets or sections.
        named = ("Run",) if run.figures.targets or run.figures.sections else ()
        shown = with_titles(without_empty_columns(figures_table((run,))), (*named, *PREVIEWED))
        table = self.query_one(StaticTable)
        table.columns, table.rows = columns(shown), rows(shown)
        facts = preview_facts(run, baseline, session, experiments, self._compare_key)
        self.query_one(Details).groups = groups(facts)
        key = (folder, run.id)
        self._baseline = baseline if baseline is not None and baseline.id != run.id else None
        if key == self._shown:
            if self._is_postponed and self._may_read():
                self._start_reading(run, folder)
            return
        self._shown, self._folder, self._is_postponed = key, folder, False
        self.query_one(VerticalScroll).scroll_home(animate=False)
        curves = self._cache.get(key)
        self._draw(run, curves or Curves())
        if curves is None and run.end is not None:
            self.set_timer(PAUSE, partial(self._start_reading, run, folder))

    def _start_reading(self, run: RunRecord, folder: Path) -> None:
        if self._shown != (folder, run.id):
            return
        self._is_postponed = not self._may_read()
        if not self._is_postponed:
            self.run_worker(in_thread(self._read, run, folder), group="preview", exclusive=True)

    def _read(self, run: RunRecord, folder: Path) -> None:
        self.app.call_from_thread(self._take, run, folder, read_curves(run, folder))

    def _take(self, run: RunRecord, folder: Path, curves: Curves) -> None:
        key = (folder, run.id)
        while len(self._cache) >= _CACHE_SIZE:
            del self._cache[next(iter(self._cache))]
        self._cache[key] = curves
        if key == self._shown and self.is_mounted:
            self._draw(run, curves)

    def _draw(self, run: RunRecord, curves: Curves) -> None:
        has_curves = bool(curves.taken)
        self.query_one("#preview-graphs").display = has_curves
        if not has_curves:
            return
        total, marks = time_axis_seconds(run, curves), marks_of(curves, ascii=self._ascii)
        references: tuple[Reference, ...] = ()
        if self._baseline is not None:
            kept = self._cache.get((self._folder, self._baseline.id), Curves())
            references = baseline_references(self._baseline, kept, rate=False)
        iops = throughput_chart(curves, rate=False, total=total, references=references, marks=marks, over=True)
        self.query_one("#preview-iops", LineChart).data = iops
        self.query_one("#preview-latency", LineChart).data = latency_chart(curves, total=total, marks=marks, over=True)
