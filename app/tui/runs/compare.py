"""The Compare screen: two runs, each with its repeats, and the verdict in large letters."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from app.core.analysis.comparison import compare
from app.core.presentation.comparison import comparison_table, differing_table
from app.core.presentation.comparison_text import caveat_texts, comparison_sentence, count_text
from app.core.presentation.raw_data import intervals
from app.core.presentation.run import targets_table
from app.core.presentation.side_by_side import (
    DrawnDifference,
    VerdictWords,
    comparison_title,
    drawing_text,
    drawn_difference,
    side_names,
    verdict_parts,
)
from app.core.presentation.table import without_empty_columns
from app.core.session.results import Sample
from app.core.session.state import ExperimentRecord, RunRecord, Session
from app.doors import action
from app.tui.base import WorkbenchScreen
from app.tui.plot_worker import PlotWorker
from app.tui.render import TONES, columns, rows
from widgets.interval_bar import IntervalBar, IntervalMark
from widgets.pane import Pane
from widgets.plot_render.plot_data import PercentileData, StaticPlot, StaticPlotKind, Unit
from widgets.static_table import StaticTable
from widgets.text_panel import Line, TextPanel, TextParagraphs
from widgets.text_utils.text import clean, width_of, wrap

# -- verdicts ---------------------------------------------------------------------------------------------------------

_GAP = "   "
_BETWEEN = "        "


class VerdictLines(TextPanel):
    """Shows the verdict on the main metric, and next to it (or below it without room) the verdict on tail latency."""

    DEFAULT_CSS = """
    VerdictLines {
        & > .lines--good { text-style: bold; }
        & > .lines--warning { text-style: bold; }
    }
    """

    def __init__(self, verdicts: tuple[VerdictWords, ...], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._verdicts = verdicts

    def lay_out(self, width: int) -> list[Line]:
        """Return one line if everything fits. The reason for an undecided verdict is wrapped below."""
        verdict_lines = [_pieces(verdict, large=at == 0) for at, verdict in enumerate(self._verdicts)]
        together_line = tuple(
            piece for at, line in enumerate(verdict_lines) for piece in ((("value", _BETWEEN),) if at else ()) + line
        )
        lines = (
            [together_line]
            if _width(together_line) <= width
            else [line for line in verdict_lines for line in _break_line(line, width)]
        )
        reasons = [verdict.reason for verdict in self._verdicts[:1] if verdict.reason]
        return lines + [(("muted", text),) for reason in reasons for text in wrap(f"{reason}.", width)]


def _pieces(verdict: VerdictWords, *, large: bool) -> Line:
    tone = TONES[verdict.tone] or "value"
    word = f"{verdict.sign} {verdict.word}".strip()
    figure = ("title" if large else "value", f"{clean(verdict.figure)} ")
    difference = (tone if verdict.sign else "title", verdict.difference)
    between = (("label", _GAP + verdict.between),) if verdict.between else ()
    if large:
        return (("title" if tone == "muted" else tone, word.upper()), ("value", _GAP), figure, difference, *between)
    return (figure, (tone, f"{word} "), difference, *between)


def _width(line: Line) -> int:
    return sum(width_of(text) for _, text in line)


def _break_line(line: Line, width: int) -> list[Line]:
    """Return the line; if it does not fit, two lines, the second with the confidence interval."""
    if _width(line) <= width or len(line) < 2:
        return [line]
    kind, text = line[-1]
    return [line[:-1], ((kind, text.strip()),)]


# -- screen that compares runs ----------------------------------------------------------------------------------------

_UNITS = (Unit.IOPS, Unit.RATE)
"""Units of the plot over time, in the order in which `action_switch` shows them."""


class ComparedRun(NamedTuple):
    """The run on one side of the comparison."""

    run: RunRecord
    name: str
    """Name of the run: `r3`, or `SESSION/r3` for a run of another session."""
    folder: Path
    """Folder of the session to which the run belongs."""


class CompareScreen(WorkbenchScreen):
    """The verdict, its interval, the metrics, the differences, and both runs over time."""

    NAME: ClassVar[str] = "compare"
    DEFAULT_CSS = """
    CompareScreen {
        & #compared { height: 1fr; padding: 0 1; }
        & #compared-scroll { height: 1fr; scrollbar-size-vertical: 1; }
        & IntervalBar { margin-top: 1; }
        & #compared-figures, & #compared-words { margin: 1 0; }
        & #compared-targets { margin-bottom: 1; }
        & #compared-picture { height: 1fr; min-height: 15; }
    }
    """

    def __init__(
        self,
        a: ComparedRun,
        b: ComparedRun,
        a_session: Sequence[RunRecord],
        b_session: Sequence[RunRecord],
        experiments: Sequence[ExperimentRecord] = (),
    ) -> None:
        """`a_session` and `b_session`: all runs in the sessions of `a` and of `b`; the repeats of both are found there.

        `experiments`: the experiments of the session of `a`.
        """
        super().__init__()
        self._sides = (a, b)
        self._comparison = compare(a.run, b.run, a_session, b_session, names=(a.name, b.name), experiments=experiments)
        self._samples: dict[tuple[Path, str], tuple[Sample, ...]] = {}
        self._kind: StaticPlotKind | None = None
        self._unit = 0
        self._is_continued = False

    def body(self) -> ComposeResult:
        """Compose everything in one pane that scrolls."""
        comparison = self._comparison
        a, b = (side.name for side in self._sides)
        headings = side_names(comparison, a, b)
        figures = without_empty_columns(comparison_table(comparison, *headings))
        targets = targets_table(comparison.a, comparison.b, (a, b))
        differing = without_empty_columns(differing_table(comparison, a, b))
        drawn = drawn_difference(comparison)
        ascii = self.workbench_app.ascii
        with (
            Pane(comparison_title(comparison, a, b), note=count_text(comparison.sides), id="compared"),
            VerticalScroll(id="compared-scroll"),
        ):
            yield VerdictLines(verdict_parts(comparison), id="compared-verdict")
            if drawn is not None:
                yield IntervalBar(_mark(drawn), ascii=ascii, id="compared-interval")
                yield TextParagraphs(drawing_text(drawn), "muted")
            yield StaticTable(columns(figures), rows(figures), id="compared-figures")
            yield StaticTable(columns(targets), rows(targets), id="compared-targets")
            yield TextParagraphs("Differences" if differing.rows else "No recorded differences.", "heading")
            yield StaticTable(columns(differing), rows(differing), id="compared-sides")
            paragraphs = (comparison_sentence(comparison), " ".join(caveat_texts(comparison)))
            yield TextParagraphs("\n".join(paragraphs), id="compared-words")
            yield PlotWorker(id="compared-picture", ascii=ascii)

    def on_mount(self) -> None:
        """Focus the pane and request the plot."""
        self.query_one("#compared-scroll").focus()
        self._draw()

    def show(self, session: Session) -> None:
        """Close the screen when more pairs are measured, because it does not show them."""
        if self._is_continued:
            self.call_after_refresh(self.dismiss)

    def action_switch(self) -> None:
        """Show both runs over time, in IOPS or MiB/s."""
        self._unit = (self._unit + 1) % len(_UNITS) if self._kind is StaticPlotKind.TIMELINE else 0
        self._kind = StaticPlotKind.TIMELINE
        self._show_drawn()

    def action_percentiles(self) -> None:
        """Switch between latency percentiles and both runs over time."""
        shown = self.query_one("#compared-picture", PlotWorker).picture
        by_percentile = shown is not None and isinstance(shown.data, PercentileData)
        self._kind = StaticPlotKind.TIMELINE if by_percentile else StaticPlotKind.PERCENTILES
        self._show_drawn()

    def _show_drawn(self) -> None:
        self._draw()
        self.query_one("#compared-picture").scroll_visible(animate=False)

    def action_explore(self) -> None:
        """Open plots of the sides of an A/B, or of the two runs."""
        a, b = self._sides
        mark, other = a.run.start.mark, b.run.start.mark
        same_experiment = mark is not None and other is not None and mark.experiment == other.experiment
        session = self.workbench_app.session
        self.workbench_app.do(
            "plots.explore",
            session=session if a.folder == self.workbench_app.workbench.folder else Session(runs=(a.run,)),
            folder=a.folder,
            marked=[(side.folder, side.run) for side in self._sides],
            cursor=(b.folder, b.run),
            first=mark.experiment if mark is not None and same_experiment else "",
        )

    def action_more(self) -> None:
        """Measure the remaining pairs of the A/B's plan, after confirmation."""
        mark, other = (side.run.start.mark for side in self._sides)
        if mark is None or other is None or mark.experiment != other.experiment:
            self.say("These runs are not an A/B: B on Devices or Bench measures a staged value in pairs.")
        elif self._sides[0].folder != self.workbench_app.workbench.folder:
            self.say(
                f"{mark.experiment} belongs to another session: continue it with `raidbench --session ... ab --more`."
            )
        elif self.workbench_app.workbench.jobs.running:
            self.say("A job is running already: x on the Bench screen stops it.")
        else:
            work = self._go_on(mark.experiment)
            self.workbench_app.hold_keys(self.run_worker(work, group="ab", exclusive=True))

    async def _go_on(self, experiment: str) -> None:
        measuring = self.workbench_app.do("ab.go_on", experiment)
        self._is_continued = measuring is not None and await measuring

    def action_back(self) -> None:
        """Return to the previous screen."""
        self.dismiss()

    def _draw(self) -> None:
        """Request the chosen plot."""
        unit = _UNITS[self._unit]
        view = self.query_one("#compared-picture", PlotWorker)
        view.make(partial(self._picture, self._kind, unit), (self._kind, unit))

    def _picture(self, kind: StaticPlotKind | None, unit: Unit) -> StaticPlot | None:
        """Return the chosen plot, or the most informative one. Runs in a thread, because reading takes seconds."""
        draw = action("plots.sides")
        if draw is None:
            return None
        names, folders = [side.name for side in self._sides], [side.folder for side in self._sides]
        picture: StaticPlot = draw(self._comparison, names, folders, kind=kind, unit=unit, intervals=self._intervals)
        return picture

    def _intervals(self, run: RunRecord, folder: Path) -> tuple[Sample, ...]:
        key = (folder, run.id)
        if key not in self._samples:
            self._samples[key] = tuple(intervals(run, folder))
        return self._samples[key]


def _mark(drawn: DrawnDifference) -> IntervalMark:
    return IntervalMark(
        middle=drawn.middle,
        low=drawn.low,
        high=drawn.high,
        points=drawn.points,
        threshold=drawn.threshold,
        tone=TONES[drawn.tone],
    )
