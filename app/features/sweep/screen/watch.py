"""View of a sweep: the matrix, the running step and, at the end, the findings."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from app.core.presentation.labels import with_labels
from app.core.presentation.table import Table
from app.core.session.state import ActiveRun, Session
from app.core.session.sweep_record import SweepRecord
from app.doors import action
from app.features.sweep.engine.live_log import Follower
from app.features.sweep.engine.results import Results, results
from app.features.sweep.presentation.findings import finding_facts, short_facts
from app.features.sweep.presentation.load_curve import curve_table
from app.features.sweep.presentation.published_results import published_tables
from app.features.sweep.presentation.sweep import (
    cell_text,
    is_single_cell,
    left_out_text,
    legend,
    matrix,
    names_at,
    ranking,
    scale_text,
)
from app.features.sweep.screen.results_view import grid, state_text, sweep_progress, title_text
from app.tui.bench.curves import Curves, ramp_of
from app.tui.bench.live_view import latency_chart, progress, throughput_chart
from app.tui.plot_worker import PlotWorker
from app.tui.render import columns, groups, rows
from backends.text import clean_lines
from widgets.bars import ProgressLine
from widgets.chart import LineChart
from widgets.details import Detail, Details, FactGroup
from widgets.heat_plot import ShadeScale
from widgets.matrix import Matrix
from widgets.pane import Pane
from widgets.static_table import StaticTable
from widgets.text_panel import TextParagraphs

if TYPE_CHECKING:
    from app.tui.app_interface import AppInterface
    from widgets.plot_render.plot_data import StaticPlot


def _picture(session: Session, folder: Path) -> StaticPlot | None:
    draw = action("plots.sweep")
    return None if draw is None else replace(draw(session, folder), keys="")


LATENCY_FROM = 30
"""Minimum height of the screen, in lines, for a separate graph of latency."""


class SweepWatch(Vertical):
    """Widget that shows a sweep from its log. It changes nothing."""

    def __init__(self) -> None:
        super().__init__(id="sweep-run")
        self._curves = Curves()
        self._run_id: str | None = None
        self._cached_results: tuple[object, Results] | None = None
        self._shown: tuple[Session, SweepRecord] | None = None
        self._published: tuple[Table, ...] = ()

    def compose(self) -> ComposeResult:
        """Compose the matrix with the selected cell, the graphs of the running step, and the findings."""
        with Pane("Sweep", id="sweep-shown"):
            yield Matrix(id="sweep-matrix")
            yield ShadeScale(id="sweep-scale")
            yield Static("", id="sweep-legend", markup=False)
            yield Static("", id="sweep-cell", markup=False)
        with Pane("Running step", id="sweep-live"):
            yield LineChart(title="IOPS", id="sweep-iops")
            yield LineChart(title="Latency", id="sweep-latency", log_scale=True)
            yield ProgressLine(id="sweep-step")
            yield ProgressLine(id="sweep-whole")
        with Pane("Results", id="sweep-findings-pane"), VerticalScroll(id="sweep-found"):
            yield Vertical(id="sweep-published")
            yield Details(id="sweep-short")
            yield PlotWorker(id="sweep-picture", ascii=bool(getattr(self.app, "ascii", False)))
            yield StaticTable(id="sweep-ranking")
            yield Details(id="sweep-findings")
        yield TextParagraphs("", id="sweep-state")

    def on_mount(self) -> None:
        """Use ASCII characters if the app does."""
        ascii = bool(getattr(self.app, "ascii", False))
        for chart in self.query(LineChart):
            chart.ascii = ascii
        for line in self.query(ProgressLine):
            line.ascii = ascii
        self.query_one(Matrix).ascii = ascii

    def on_resize(self, event: events.Resize) -> None:
        """Show the latency graph if there is room, and limit the height of the matrix."""
        self.set_class(event.size.height >= LATENCY_FROM, "-high")
        self.query_one(Matrix).styles.max_height = max(4, event.size.height * 2 // 5)

    @property
    def focus_target(self) -> Widget:
        """The widget that takes the focus."""
        return self.query_one("#sweep-found") if self.has_class("-alone") else self.query_one(Matrix)

    def show(self, follower: Follower, *, stopping: bool, speed: float) -> None:
        """Update the whole view; `speed` is the speed-up of a simulation."""
        session, running = follower.session, follower.running
        if follower.record is None:
            return
        record = with_labels(follower.record)
        self._shown = (session, record)
        outcome = self._results(session, record)
        self.set_class(is_single_cell(record), "-alone")
        self.query_one(Matrix).grid = grid(matrix(record, outcome))
        self._update_static("#sweep-legend", legend(outcome.rank))
        self.query_one(ShadeScale).text = scale_text(outcome)
        title = title_text(session, record)
        self.query_one("#sweep-shown", Pane).title = title
        self.query_one("#sweep-findings-pane", Pane).title = title if is_single_cell(record) else "Results"
        self.query_one("#sweep-live").display = running
        self.query_one("#sweep-findings-pane").display = is_single_cell(record) or not running
        self._show_cell(record, outcome)
        if running:
            self._show_live(session.active, record, speed)
        if is_single_cell(record) or not running:
            self.query_one("#sweep-short", Details).groups = groups((short_facts(record, outcome),))
            self.query_one("#sweep-findings", Details).groups = groups(finding_facts(record, outcome))
            self._show_published(outcome)
        self._show_picture(follower, record, running=running)
        text, tone = state_text(record, running=running, stopping=stopping)
        app = cast("AppInterface", self.app)
        self.query_one("#sweep-state", TextParagraphs).say(app.with_keys(text), tone)

    def _show_published(self, outcome: Results) -> None:
        """Show the published tables above everything else; redraw them only when a result changes."""
        shown = tuple(published_tables(outcome))
        if shown == self._published:
            return
        self._published = shown
        container = self.query_one("#sweep-published", Vertical)
        container.remove_children()
        for table in shown:
            heading = Details(groups=(FactGroup(facts=(Detail(label="", value=table.heading),)),))
            container.mount(heading, StaticTable(columns(table), rows(table)))

    def _update_static(self, selector: str, text: str) -> None:
        line, cleaned = self.query_one(selector, Static), clean_lines(text)
        if line.content != cleaned:
            line.update(cleaned)

    def _results(self, session: Session, record: SweepRecord) -> Results:
        """Return the results so far, computed again only after a step has ended."""
        key = (session.id, len(record.ended), len(record.cells))
        if self._cached_results is None or self._cached_results[0] != key:
            self._cached_results = (key, results(record, session.runs))
        return self._cached_results[1]

    @on(Matrix.Moved)
    def _moved(self) -> None:
        if self._shown is not None:
            session, record = self._shown
            self._show_cell(record, self._results(session, record))

    def _show_cell(self, record: SweepRecord, outcome: Results) -> None:
        """Show the cell under the cursor, and the ranking of its workload."""
        setup, workload = names_at(outcome, *self.query_one(Matrix).cursor)
        cell_result = outcome.at(setup, workload)
        text = (
            cell_text(outcome, record, cell_result)
            if cell_result is not None
            else left_out_text(record, setup, workload)
        )
        self._update_static("#sweep-cell", text)
        table = self.query_one("#sweep-ranking", StaticTable)
        curve = next(iter(outcome.load_curves), None) if is_single_cell(record) else None
        ranked = ranking(outcome, workload) if curve is None else curve_table(curve)
        table.display = curve is not None or not is_single_cell(record)
        table.columns, table.rows = columns(ranked), rows(ranked)

    def _show_picture(self, follower: Follower, record: SweepRecord, *, running: bool) -> None:
        """After the end of the sweep, show the first graph of the Explore screen. During a step, drawing would disturb
        the measurement.
        """
        view = self.query_one(PlotWorker)
        view.display = not running and bool(record.ended)
        if view.display:
            view.make(partial(_picture, follower.session, follower.folder), (record.started, len(record.ended)))

    def _show_live(self, active: ActiveRun | None, record: SweepRecord, speed: float) -> None:
        now = time.time()
        self.query_one("#sweep-whole", ProgressLine).progress = sweep_progress(record, now, speed)
        if active is None:
            self.query_one("#sweep-step", ProgressLine).progress = None
            return
        if active.start.id != self._run_id:
            self._run_id, self._curves = active.start.id, Curves()
        self._curves.take(active.samples, ramp_of(active.start))
        total = active.start.planned_seconds or None
        upper, lower = self.query_one("#sweep-iops", LineChart), self.query_one("#sweep-latency", LineChart)
        upper.data = throughput_chart(self._curves, rate=False, total=total)
        lower.data = latency_chart(self._curves, total=total)
        self.query_one("#sweep-step", ProgressLine).progress = progress(active, now)
