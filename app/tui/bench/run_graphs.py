"""The graphs of a run, and the actions of the screens that show them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from app.core.presentation.raw_data import intervals
from app.core.presentation.run import measured_directions
from app.core.session.results import RunResult, RunStatus, Sample
from app.core.session.state import RunRecord, Session
from app.doors import action
from app.tui.bench.current_load import CURRENT_LOAD, LOAD_COLUMNS
from app.tui.bench.curves import Curves, change_marks, event_marks, marks_of, ramp_of
from app.tui.bench.large_figures import directions_of, ended_figures, figure_columns, parts_of_run, running_figures
from app.tui.bench.live_view import baseline_references, heat_chart, latency_chart, throughput_chart
from app.tui.plot_worker import PlotWorker
from widgets.chart import LineChart, TimeMark
from widgets.figure_rows import FigureRow, FigureRows
from widgets.heat_plot import HeatChart
from widgets.plot_render.plot_data import StaticPlot
from widgets.scale import time_end
from widgets.text_utils.text import clean, shorten
from widgets.thread_work import in_thread

ZOOMS = (300.0, 120.0, 60.0, 30.0, 10.0)
"""Window lengths in seconds that the graphs can show instead of the complete run."""

WIDE, HIGH = 110, 14
"""Minimum columns and rows for the percentile plot to fit next to the graphs."""

FIGURES_EVERY = 0.45
"""Seconds of the run between two updates of the large metrics; faster ones could not be read."""

_LEAST_GRAPHS = 10
"""Lines reserved for two graphs, the heading of the metrics, and the row with the sum of all targets."""

_PART = 24
"""Maximum number of cells for the name of a target or section in the title of a graph."""

_Recorded = tuple[Path, str, str]
"""Identifies recorded curves: session folder, run id, and part of the run ("" for the complete run)."""

_CACHE_SIZE = 8
"""Number of runs whose curves are cached, because reading the curves of a run of an hour takes seconds."""


class RunGraphs(Vertical):
    """Draws the samples of a running job, or the recorded samples of a finished run.

    `draw` shows curves that the caller updates; `show_run` reads and shows the curves of a finished run.
    """

    DEFAULT_CSS = """
    RunGraphs {
        height: 1fr;
        & LineChart { height: 1fr; min-height: 4; }
        & #heat, & #percentiles { display: none; }
        &.-over.-wide #percentiles { display: block; width: 42%; margin-left: 1; }
        &.-heat #heat { display: block; }
        &.-heat #latency { display: none; }
        &.-percentiles #over-time { display: none; }
        &.-percentiles #percentiles { display: block; width: 1fr; margin: 0; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._curves = Curves()
        self._total: float | None = None
        self._baseline: RunRecord | None = None
        self._baseline_curves = Curves()
        self._happened: tuple[TimeMark, ...] = ()
        self._figures: RunResult | None = None
        self._run: RunRecord | None = None
        self._run_curves = Curves()
        self.part = ""
        """The target or section whose graphs are drawn; "" for the complete run."""
        self._samples: tuple[Sample, ...] = ()
        self._folder: Path | None = None
        self._waiting = ""
        self._load: tuple[FigureRow, ...] = ()
        self._figures_at = -1.0
        self._rate = False
        self._tight_axis = False
        self._fitted = False
        self._requested: _Recorded | None = None
        self._cache: dict[_Recorded, Curves] = {}

    def compose(self) -> ComposeResult:
        """Compose the metrics, the throughput graph, the latency graph or heat map, and the percentile plot."""
        yield FigureRows(id="figures")
        with Horizontal():
            with Vertical(id="over-time"):
                yield LineChart(title="IOPS", id="throughput")
                yield LineChart(title="Latency", id="latency", log_scale=True)
                yield HeatChart(title="Latency heat map", id="heat", log_scale=True)
            yield PlotWorker(id="percentiles", ascii=self._ascii)

    def on_mount(self) -> None:
        """Cache the widgets and set the ASCII mode of the charts."""
        # Querying widgets by name takes longer than drawing a sample.
        self._throughput = self.query_one("#throughput", LineChart)
        self._latency = self.query_one("#latency", LineChart)
        self._heat = self.query_one(HeatChart)
        self._figure_rows = self.query_one(FigureRows)
        for chart in self.charts:
            chart.ascii = self._ascii

    @property
    def _ascii(self) -> bool:
        return bool(getattr(self.app, "ascii", False))

    def on_resize(self, event: events.Resize) -> None:
        """Show the percentile plot next to the graphs only if both can be read."""
        self.set_class(event.size.width >= WIDE and event.size.height >= HIGH, "-wide")
        if len(self._figure_rows.rows) > 1:  # There are rows of targets, and the height decides their number.
            self._figures_at = -1.0
            self._show_figures()

    @property
    def charts(self) -> tuple[LineChart, ...]:
        """The graphs over time."""
        return self._throughput, self._latency, self._heat

    @property
    def frozen(self) -> bool:
        """Whether the graphs are frozen."""
        return any(chart.frozen for chart in self.charts)

    def draw(
        self,
        curves: Curves,
        *,
        total: float | None,
        run: RunRecord | None = None,
        folder: Path | None = None,
        samples: tuple[Sample, ...] = (),
        happened: tuple[TimeMark, ...] = (),
        waiting: str = "",
        load: tuple[FigureRow, ...] = (),
    ) -> None:
        """Show `curves`.

        `total`: seconds of the time axis; None to follow the samples. `run`: the finished run, whose totals are shown
        instead of the last interval; None for a running job. `folder`: folder of its session. `samples`: intervals of a
        running job, from which the curves of its parts are drawn. `happened`: further marks. `waiting`: text while
        there is nothing to draw. `load`: the row of numbers if the curves are those of the current load before a run.
        """
        self._requested = None
        self._run_curves, self._total, self._run = curves, total, run
        self._samples, self._folder = samples, folder
        self._figures = None if run is None else run.figures
        self._happened, self._waiting, self._load = happened, waiting, load
        self._choose_curves()
        self._redraw()

    @property
    def parts(self) -> tuple[str, ...]:
        """The targets or sections of the job with their own results; empty if there is only one."""
        parts = self._run_curves.parts if self._figures is None else parts_of_run(self._figures)
        return tuple(name for name, _ in parts)

    def switch_part(self, step: int) -> bool:
        """Draw the next part of the run (`step` 1) or the previous one (-1); return whether the run has parts."""
        names = ("", *self.parts)
        at = names.index(self.part) if self.part in names else 0
        self.part = names[(at + step) % len(names)]
        self._choose_curves()
        self._redraw()
        return len(names) > 1

    def _choose_curves(self) -> None:
        """Select the curves of the shown part. Start reading them if they are only on disk."""
        if self.part not in self.parts:
            self.part = ""
        if not self.part:
            self._curves = self._run_curves
            if self._requested is not None:  # Ignore the curves of a part that arrive later.
                self._requested = (*self._requested[:2], "")
        elif self._run is None:
            if self._curves.part != self.part:
                self._curves = Curves(part=self.part)
            self._curves.take(self._samples, self._run_curves.ramp)
        elif self._folder is not None:
            self._requested = (self._folder, self._run.id, self.part)
            self._curves = self._cache.get(self._requested) or Curves(part=self.part)
            if self._requested not in self._cache:
                self._waiting = _READING
                self._start_reading(self._requested, self._run)

    def compare_with(self, baseline: RunRecord | None, folder: Path | None) -> None:
        """Draw `baseline` as a reference: its means at once, their deviations once its samples in `folder` are read."""
        if baseline is not self._baseline:
            self._baseline, self._baseline_curves = baseline, Curves()
            if baseline is not None and folder is not None:
                self.run_worker(in_thread(self._read_baseline, baseline, folder), group="beneath")

    def _read_baseline(self, run: RunRecord, folder: Path) -> None:
        self.app.call_from_thread(self._take_baseline, run, read_curves(run, folder))

    def _take_baseline(self, run: RunRecord, curves: Curves) -> None:
        if run is self._baseline and self.is_mounted:
            self._baseline_curves = curves
            self._redraw()

    def show_run(self, run: RunRecord, folder: Path, session: Session) -> None:
        """Show a finished run of a session in `folder`. Its curves appear once they are read."""
        wanted = (folder, run.id, "")
        if self._requested is not None and self._requested[:2] == wanted[:2]:
            return
        self.part = ""
        curves = self._cache.get(wanted)
        shown = curves or Curves()
        waiting = _READING if curves is None else _NOTHING
        baseline = None if session.baseline in (None, run.id) else session.run(session.baseline or "")
        self.compare_with(baseline, folder)
        happened = past_run_marks(run, session, shown, ascii=self._ascii)
        self.draw(
            shown, total=time_axis_seconds(run, shown), run=run, folder=folder, happened=happened, waiting=waiting
        )
        self._requested = wanted
        if curves is None:
            self._start_reading(wanted, run, session)

    def _start_reading(self, wanted: _Recorded, run: RunRecord, session: Session | None = None) -> None:
        """Read the curves of a run in a thread. `session`: with the events to mark; None for a part of the run."""
        self.run_worker(in_thread(self._read_run, wanted, run, session), group="recorded", exclusive=True)

    def _read_run(self, wanted: _Recorded, run: RunRecord, session: Session | None) -> None:
        folder, _, part = wanted
        self.app.call_from_thread(self._take_run, wanted, run, session, read_curves(run, folder, part))

    def _take_run(self, wanted: _Recorded, run: RunRecord, session: Session | None, curves: Curves) -> None:
        while len(self._cache) >= _CACHE_SIZE:
            del self._cache[next(iter(self._cache))]
        self._cache[wanted] = curves
        if self._requested is None or self._requested[:2] != wanted[:2] or not self.is_mounted:
            return
        if session is not None:  # The complete run; its parts use the same time axis.
            self._run_curves, self._total = curves, time_axis_seconds(run, curves)
            self._happened = past_run_marks(run, session, curves, ascii=self._ascii)
        if self._requested == wanted:
            self._curves, self._waiting = curves, _NOTHING
        self._redraw()

    def _redraw(self) -> None:
        curves, total, over = self._curves, self._total, self._figures
        if self._fitted:
            total = time_end(curves.until)
        if not self.frozen:
            self._show_figures()
        throughput, latency, heat = self.charts
        of = f" of {shorten(clean(self.part), _PART)}" if self.part else f" · {CURRENT_LOAD}" if self._load else ""
        throughput.title = ("MiB/s" if self._rate else "IOPS") + of
        latency.title, heat.title = f"Latency{of}", f"Latency heat map{of}"
        baseline, rate, waiting = self._baseline, self._rate, self._waiting
        # The baseline is read only as a whole, so parts have no reference.
        references = (
            () if baseline is None or self.part else baseline_references(baseline, self._baseline_curves, rate=rate)
        )
        marks = (*marks_of(curves, ascii=self._ascii), *self._happened)
        ended = over is not None
        throughput.data = throughput_chart(
            curves,
            rate=rate,
            total=total,
            references=references,
            marks=marks,
            waiting=waiting,
            over=ended,
            close=self._tight_axis,
        )
        marks = tuple(replace(mark, text="") for mark in marks)  # only the upper graph shows the texts
        latency.data = latency_chart(curves, total=total, marks=marks, waiting=waiting, over=ended)
        if heat.display:
            heat.data = heat_chart(curves, total=total, marks=marks, waiting=waiting)
        run = self._run if over is not None else None
        if run is not None and self.part:
            run = _run_with_part(run, self.part)
        drawn = run is not None and any(side.bins for _, side in measured_directions(run.figures))
        self.set_class(drawn, "-over")
        if run is not None and drawn:
            below = None if self.part else self._baseline
            state = (run.id, run.start.at, self.part, None if below is None else below.id)
            self.query_one(PlotWorker).make(partial(_latency_plot, run, below), state)
        else:
            self.remove_class("-percentiles")

    def _show_figures(self) -> None:
        shown, until = self._figure_rows, self._run_curves.until
        if self._load:
            shown.columns, shown.rows = LOAD_COLUMNS, self._load
            self._figures_at = -1.0  # the metrics of a run replace them at once
            return
        if self._figures is None and shown.rows and self._figures_at <= until < self._figures_at + FIGURES_EVERY:
            return
        self._figures_at = until
        most = max(1, self.size.height - _LEAST_GRAPHS)
        if self._figures is None:
            names, rows = directions_of(self._run_curves), running_figures(self._run_curves, most)
        else:
            names, rows = ended_figures(self._figures, most)
        shown.columns = figure_columns(running=self._figures is None, names=names)
        shown.rows = rows

    def switch_unit(self) -> None:
        """Switch between IOPS and MiB/s."""
        self._rate = not self._rate
        self._redraw()

    def switch_range(self) -> None:
        """Start the axis at zero, or show only the range of the values, where small differences are visible."""
        self._tight_axis = not self._tight_axis
        self._redraw()

    def switch_lower(self) -> None:
        """Switch the lower graph between percentiles over time and heat map.

        At the end of a run, its percentile plot is the third view if it has no room next to the graphs.
        """
        ways = ["", "-heat"]
        if self.has_class("-over") and not self.has_class("-wide"):
            ways.append("-percentiles")
        now = next((at for at, way in enumerate(ways) if way and self.has_class(way)), 0)
        self.remove_class("-heat", "-percentiles")
        if way := ways[(now + 1) % len(ways)]:
            self.add_class(way)
        self._redraw()

    def switch_scale(self) -> None:
        """Switch between linear and logarithmic latency."""
        chart = self._latency
        chart.log_scale = not chart.log_scale

    def switch_fit(self) -> bool:
        """Switch between the planned time of the job and the time measured so far; return True for the latter."""
        self._fitted = not self._fitted
        for chart in self.charts:
            chart.window = 0.0
        self._redraw()
        return self._fitted

    def freeze(self, still: bool) -> None:
        """Freeze the graphs if `still`, otherwise unfreeze them."""
        for chart in self.charts:
            chart.frozen = still

    def zoom(self, step: int) -> str:
        """Show a shorter window (`step` 1) or a longer one (-1); return why that is impossible, or ""."""
        window, total = self.charts[0].window, self._total or self._curves.until
        closer = [seconds for seconds in ZOOMS if seconds < (window or total)]
        wider = [seconds for seconds in reversed(ZOOMS) if window < seconds < total]
        if step > 0 and not closer:
            return f"{ZOOMS[-1]:.0f} s is the shortest period." if window else "There is no data to zoom in on yet."
        if step < 0 and not window:
            return "The graphs already show the whole time."
        window_s = closer[0] if step > 0 else next(iter(wider), 0.0)
        for chart in self.charts:
            chart.window = window_s
        return ""


_READING = "reading fio's logs ..."
_NOTHING = "no samples were saved for this run"
"""Text in the graphs of a run without raw output, or of one that ended before its first interval."""


def _latency_plot(run: RunRecord, baseline: RunRecord | None) -> StaticPlot | None:
    """Return a plot of latency by percentile for a run and the baseline; None without the feature `plots`."""
    draw = action("plots.run")
    return None if draw is None else draw(run, baseline)


def _run_with_part(run: RunRecord, part: str) -> RunRecord:
    """Return the run with the results of the target or section `part` in place of its own."""
    result = dict(parts_of_run(run.figures)).get(part)
    if run.end is None or result is None:
        return run
    figures = replace(run.figures, read=result.read, write=result.write, trim=result.trim, sync=result.sync)
    return replace(run, end=replace(run.end, figures=figures))


def read_curves(run: RunRecord, folder: Path, part: str = "") -> Curves:
    """Return the curves of a run, or of one of its parts, from fio's output."""
    curves = Curves(part=part)
    curves.take(intervals(run, folder), ramp_of(run.start))
    return curves


def past_run_marks(run: RunRecord, session: Session, curves: Curves, *, ascii: bool) -> tuple[TimeMark, ...]:
    """Return the marks for events during a finished run."""
    if run.end is None:
        return ()
    changed = change_marks(session, run.start, curves.until, run.end.at, ascii=ascii)
    return (*changed, *event_marks(run.figures.happened, ascii=ascii))


def time_axis_seconds(run: RunRecord, curves: Curves) -> float | None:
    """Return the seconds of a finished run's time axis: the planned time, or the measured time if it ended early."""
    if run.figures.status is not RunStatus.OK:
        return curves.until or None
    waited = run.figures.steady.waited_s if run.figures.steady is not None else 0.0
    return max(run.start.planned_seconds + waited, curves.until)


# -- actions of the screens with graphs: Bench, and a finished run ----------------------------------------------------


class _GraphScreen(Protocol):
    @property
    def graphs(self) -> RunGraphs: ...

    def say(self, message: str) -> None: ...


class GraphKeys:
    """Actions on the graphs, for a screen with `graphs` and `say`."""

    def action_heat(self: _GraphScreen) -> None:
        """Switch between latency percentiles and heat map."""
        self.graphs.switch_lower()

    def action_zoom(self: _GraphScreen, step: int) -> None:
        """Show a shorter or longer window."""
        if message := self.graphs.zoom(step):
            self.say(message)

    def action_fit(self: _GraphScreen) -> None:
        """Show the measured time, or the planned time of the job."""
        self.graphs.switch_fit()

    def action_part(self: _GraphScreen, step: int) -> None:
        """Draw the graphs of the next section or target, or of the complete run again."""
        if not self.graphs.switch_part(step):
            self.say("The job has one section on one target, so these graphs show all of it.")

    def action_unit(self: _GraphScreen) -> None:
        """Switch between IOPS and MiB/s."""
        self.graphs.switch_unit()

    def action_range(self: _GraphScreen) -> None:
        """Start the upper graph at zero, or show only the range of its values."""
        self.graphs.switch_range()

    def action_scale(self: _GraphScreen) -> None:
        """Switch between linear and logarithmic latency."""
        self.graphs.switch_scale()
