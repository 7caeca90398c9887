"""Two runs side by side, each with its repeats: what they show first, then the figures, then what else differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from app.engine.judge.comparison import Comparison, compare
from app.engine.report.raw import intervals
from app.engine.session.figures import Sample
from app.engine.session.state import RunRecord, Session
from app.engine.view.comparison import comparison_table, differing_table
from app.engine.view.run import targets_table
from app.engine.view.side_by_side import (
    DrawnDifference,
    comparison_title,
    drawing_words,
    drawn_difference,
    side_names,
    verdicts,
)
from app.engine.view.table import filled
from app.tui.base import WorkbenchScreen
from app.tui.render import TONES, columns, rows
from app.tui.screens.runs.points import measured_points
from app.tui.screens.runs.verdict_lines import VerdictLines
from widgets.chart import ChartData, LineChart, Series
from widgets.interval_bar import IntervalBar, IntervalMark
from widgets.lines import Prose
from widgets.pane import Pane
from widgets.plain import units
from widgets.still_table import StillTable

NO_CURVES = "No intervals of these runs are on disk, so there is nothing to draw over time."


class ComparedRun:
    """A run, what it is called here, and the folder of its session."""

    def __init__(self, run: RunRecord, name: str, folder: Path) -> None:
        self.run = run
        """The run."""
        self.name = name
        """`r3`, or `SESSION/r3` of another session."""
        self.folder = folder
        """Where its session lies."""


class CompareScreen(WorkbenchScreen):
    """The verdict, its interval, the figures, what differs, and both runs over time."""

    NAME: ClassVar[str] = "compare"
    DEFAULT_CSS = """
    CompareScreen {
        & #compared { height: 1fr; padding: 0 1; }
        & #compared-scroll { height: 1fr; scrollbar-size-vertical: 1; }
        & IntervalBar { margin-top: 1; }
        & #compared-figures, & #compared-words { margin: 1 0; }
        & #compared-targets { margin-bottom: 1; }
        & #compared-curves { height: 1fr; min-height: 9; }
        & #compared-empty { height: auto; display: none; color: $text-muted; }
    }
    """

    def __init__(
        self, a: ComparedRun, b: ComparedRun, a_session: Sequence[RunRecord], b_session: Sequence[RunRecord]
    ) -> None:
        """`a_session` and `b_session`: the runs of the session of each, among which their repeats are."""
        super().__init__()
        self._sides = (a, b)
        self._comparison = compare(a.run, b.run, a_session, b_session, names=(a.name, b.name))
        self._samples: tuple[tuple[Sample, ...], ...] = ()
        self._latency = False

    def body(self) -> ComposeResult:
        """All in one pane that scrolls where it is too high."""
        comparison = self._comparison
        a, b = (each.name for each in self._sides)
        headings = side_names(comparison, a, b)
        figures = filled(comparison_table(comparison, *headings))
        targets = targets_table(comparison.a, comparison.b, (a, b))
        differing = filled(differing_table(comparison, a, b))
        drawn = drawn_difference(comparison)
        ascii = self.workbench_app.ascii
        with (
            Pane(comparison_title(comparison, a, b), note=comparison.counted, id="compared"),
            VerticalScroll(id="compared-scroll"),
        ):
            yield VerdictLines(verdicts(comparison), id="compared-verdict")
            if drawn is not None:
                yield IntervalBar(_mark(drawn), ascii=ascii, id="compared-interval")
                yield Prose(drawing_words(drawn), "muted")
            yield StillTable(columns(figures), rows(figures), id="compared-figures")
            yield StillTable(columns(targets), rows(targets), id="compared-targets")
            yield Prose("What differs" if differing.rows else "Nothing that was recorded differs.", "heading")
            yield StillTable(columns(differing), rows(differing), id="compared-sides")
            yield Prose("\n".join(_sentences(comparison)), id="compared-words")
            yield Static(NO_CURVES, id="compared-empty", markup=False)
            yield LineChart(id="compared-curves", ascii=ascii)

    def on_mount(self) -> None:
        """The curves come when they are read: an hour of them takes seconds."""
        self.query_one("#compared-scroll").focus()
        self.run_worker(self._read, thread=True, group="curves", exclusive=True)

    def show(self, session: Session) -> None:
        """What is compared has ended: nothing of it changes."""

    def action_switch(self) -> None:
        """IOPS or p99."""
        self._latency = not self._latency
        self._draw()

    def action_export(self) -> None:
        """Write the report of this session."""
        self.workbench_app.ask_export()

    def action_back(self) -> None:
        """Back to where it was opened."""
        self.dismiss()

    def _read(self) -> None:
        samples = tuple(intervals(each.run, each.folder) for each in self._sides)
        self.app.call_from_thread(self._take, samples)

    def _take(self, samples: tuple[tuple[Sample, ...], ...]) -> None:
        self._samples = samples
        there = any(samples)
        self.query_one("#compared-curves").display = there
        self.query_one("#compared-empty").display = not there
        self._draw()

    def _draw(self) -> None:
        chart = self.query_one("#compared-curves", LineChart)
        chart.title = "p99 over time" if self._latency else "IOPS over time"
        ends = [samples[-1].at for samples in self._samples if samples]
        named = zip(self._sides, self._samples, ("$foreground", "$text-primary"), strict=True)
        chart.data = ChartData(
            series=tuple(
                Series(name=side.name, points=tuple(measured_points(samples, latency=self._latency)), color=color)
                for side, samples, color in named
            ),
            x_max=max(ends, default=None),
            y_format=units.latency if self._latency else units.iops,
        )


def _mark(drawn: DrawnDifference) -> IntervalMark:
    return IntervalMark(
        middle=drawn.middle,
        low=drawn.low,
        high=drawn.high,
        points=drawn.points,
        threshold=drawn.threshold,
        tone=TONES[drawn.tone],
    )


def _sentences(comparison: Comparison) -> Iterator[str]:
    yield comparison.sentence
    yield " ".join(comparison.caveats)
