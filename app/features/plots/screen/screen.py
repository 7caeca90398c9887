"""The Explore screen: pictures of the marked runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from app.core.presentation.raw_data import intervals
from app.core.session.results import Sample
from app.core.session.state import Session
from app.features.plots.builder import default_kind, empty_plots, picture
from app.features.plots.figures import differing_text, figures_table
from app.features.plots.request import NoPlotDataError, PlotOptions
from app.features.plots.screen.plot_choices import (
    ExploreOffer,
    ExploreOrigin,
    all_sessions_key,
    offers,
    single_run_offer,
)
from app.features.plots.selection import PlacedRun, PlotSelection
from app.tui.base import WorkbenchScreen
from app.tui.commands import commands_of
from app.tui.render import columns, rows
from backends.errors import RaidbenchError
from widgets.choice_list import ChoiceDialog, ChoiceItem
from widgets.field_dialog import TextDialog
from widgets.pane import Pane
from widgets.plot_render.plot_data import StaticPlot, StaticPlotKind, Unit
from widgets.plot_render.style import PlotStyle
from widgets.plot_view import StaticPlotView
from widgets.static_table import StaticTable
from widgets.text_utils.text import clean, shorten
from widgets.thread_work import in_thread

if TYPE_CHECKING:
    from app.tui.app_interface import AppInterface
    from app.tui.runs.figures import Place

BESIDE = {
    StaticPlotKind.PERCENTILES: (StaticPlotKind.HISTOGRAM, StaticPlotKind.BOX),
    StaticPlotKind.HISTOGRAM: (StaticPlotKind.PERCENTILES, StaticPlotKind.BOX),
    StaticPlotKind.BOX: (StaticPlotKind.PERCENTILES, StaticPlotKind.SCATTER),
    StaticPlotKind.SCATTER: (StaticPlotKind.BOX, StaticPlotKind.PERCENTILES),
    StaticPlotKind.TIMELINE: (StaticPlotKind.PERCENTILES, StaticPlotKind.HISTOGRAM),
    StaticPlotKind.CURVE: (StaticPlotKind.BOX, StaticPlotKind.PERCENTILES),
    StaticPlotKind.HISTORY: (StaticPlotKind.TIMELINE, StaticPlotKind.PERCENTILES),
}
"""The two kinds of pictures to show next to each kind if there is space: those that a user often needs next."""

WIDE, TALL = 170, 34
"""Minimum width in columns to show two more pictures, and minimum height in rows to show the results table."""

_FILE = (100, 30)
_NO_RUN = "There is no run yet. Press <app.bench> for Bench, then <bench.run> to start one."
_BUSY = "A job is running. To avoid disturbing it, intervals are read after it ends."


def open_explore(
    app: AppInterface,
    *,
    session: Session,
    folder: Path,
    marked: Sequence[Place] = (),
    cursor: Place | None = None,
    first: str = "",
    everywhere: bool = False,
) -> None:
    """Show pictures of the marked runs, else of the selected run with its A/B or sweep.

    `session` and `folder` are those of the runs. `first` is the key of the choice to show first, "" for the default.
    With `everywhere`, all sessions of the selected run's target are shown first.
    """
    if everywhere and cursor is not None:
        first = all_sessions_key(_place_run(cursor))
    origin = ExploreOrigin(
        session=session,
        folder=folder,
        marked=[_place_run(run) for run in marked],
        cursor=None if cursor is None else _place_run(cursor),
        first=first,
    )
    app.push_screen(ExploreScreen(origin))


def _place_run(pair: Place) -> PlacedRun:
    folder, run = pair
    return PlacedRun(run=run, folder=folder)


class ExploreScreen(WorkbenchScreen):
    """Screen with one picture and a description; if there is space, also a results table and two more pictures."""

    NAME: ClassVar[str] = "explore"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "choose", "Object", show=False, id="explore.what")]
    DEFAULT_CSS = """
    ExploreScreen {
        & #explore { height: 1fr; padding: 0; }
        & #explore-kinds { height: 1; }
        & #explore-pictures { height: 1fr; }
        & #explore-main { width: 2fr; height: 1fr; }
        & #explore-side { width: 1fr; height: 1fr; display: none; border-left: solid $border-blurred; padding-left: 1; }
        & #explore-words { height: 1; padding: 0 1; }
        & #explore-figures { height: auto; max-height: 6; margin: 0 1; display: none; }
        &.-beside #explore-side { display: block; }
        &.-figures #explore-figures { display: block; }
    }
    """

    def __init__(self, origin: ExploreOrigin) -> None:
        super().__init__()
        self._origin = origin
        self._offers: tuple[ExploreOffer, ...] = ()
        self._offer: ExploreOffer | None = None
        self._subject: PlotSelection | None = None
        self._kind: StaticPlotKind | None = None
        self._empty: dict[StaticPlotKind, StaticPlot] = {}
        self._choice = PlotOptions()
        self._beneath = True
        self._before: ExploreOffer | None = None
        self._read: dict[tuple[Path, str], tuple[Sample, ...]] = {}

    def body(self) -> ComposeResult:
        """Return the names of the kinds, the pictures, the description and the results table."""
        ascii = self.workbench_app.ascii
        with Pane("Explore", id="explore", focusable=True):
            yield Static("", id="explore-kinds", markup=False)
            with Horizontal(id="explore-pictures"):
                yield StaticPlotView(id="explore-main", ascii=ascii)
                with Vertical(id="explore-side"):
                    yield StaticPlotView(id="explore-second", ascii=ascii)
                    yield StaticPlotView(id="explore-third", ascii=ascii)
            yield Static("", id="explore-words", markup=False)
            yield StaticTable((), (), id="explore-figures")

    def on_mount(self) -> None:
        """Show the first choice."""
        self.query_one("#explore").focus()
        self._offers = offers(self._origin, self.workbench_app.workbench)
        if self._offers:
            self._take_offer(self._offers[0])
        else:
            self._show_nothing(_NO_RUN)

    def on_resize(self, event: events.Resize) -> None:
        """Show two more pictures and the results table if there is space."""
        super().on_resize(event)
        self.set_class(event.size.width >= WIDE, "-beside")
        self.set_class(event.size.height >= TALL, "-figures")
        self._draw()

    # -- selection -----------------------------------------------------------------------------------------------------

    def _take_offer(self, offer: ExploreOffer) -> None:
        self._offer = offer
        self.run_worker(in_thread(self._make, offer, self._beneath), group="subject", exclusive=True)

    def _make(self, offer: ExploreOffer, beneath: bool) -> None:
        try:
            subject = offer.make(beneath)
            empty = {} if subject is None else empty_plots(subject)
        except RaidbenchError as error:
            self.app.call_from_thread(self.workbench_app.show_error, error)
            return
        self.app.call_from_thread(self._take_subject, offer, subject, empty)

    def _take_subject(
        self, offer: ExploreOffer, subject: PlotSelection | None, empty: dict[StaticPlotKind, StaticPlot]
    ) -> None:
        if not self.has_widgets or offer is not self._offer:
            return
        self._subject, self._empty = subject, empty
        if subject is None:
            self._show_nothing(f"No complete run: {offer.label}.")
            return
        if self._kind is None or self._kind in empty:
            self._kind = default_kind(subject)
        self._draw()

    def _show_nothing(self, sentence: str) -> None:
        self.query_one("#explore-main", StaticPlotView).show(StaticPlot(title="", why=self.with_keys(sentence)))
        self.query_one("#explore-words", Static).update("")

    # -- drawing -------------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        """Draw the chosen picture, and those next to it if there is space."""
        subject, kind = self._subject, self._kind
        if subject is None or kind is None:
            return
        pane = self.query_one("#explore", Pane)
        pane.title, pane.note = f"Explore · {subject.heading}", subject.counted
        self.query_one("#explore-kinds", Static).update(self._names(kind))
        kinds = (kind, *(BESIDE[kind] if self.has_class("-beside") else ()))
        wanted = in_thread(self._pictures, subject, kinds, self._choice)
        self.run_worker(wanted, group="pictures", exclusive=True)
        if self.has_class("-figures"):
            shown = figures_table(subject, ascii=self.workbench_app.ascii)
            table = self.query_one("#explore-figures", StaticTable)
            table.columns, table.rows = columns(shown), rows(shown)

    def _names(self, chosen: StaticPlotKind) -> Content:
        """Return the list of kinds: `v [percentiles] histogram ...`. Kinds without data are dim."""
        parts: list[tuple[str, str] | str] = [self.with_keys("<explore.kinds> ")]
        for kind in StaticPlotKind:
            text = f"[{kind.value}]" if kind is chosen else f" {kind.value}"
            style = (
                "bold $text-accent" if kind is chosen else "$text-disabled" if kind in self._empty else "$foreground"
            )
            parts += [(text, style), "" if kind is chosen else " "]
        return Content.assemble(*parts)

    def _pictures(self, subject: PlotSelection, kinds: Sequence[StaticPlotKind], options: PlotOptions) -> None:
        """Build the pictures in a thread, because reading the intervals of an hour takes seconds."""
        plots = [picture(subject, kind, options, self._intervals) for kind in kinds]
        self.app.call_from_thread(self._take_pictures, subject, kinds, plots)

    def _take_pictures(
        self, subject: PlotSelection, kinds: Sequence[StaticPlotKind], plots: Sequence[StaticPlot]
    ) -> None:
        if not self.has_widgets or subject is not self._subject or kinds[0] is not self._kind:
            return
        for view, plot in zip(("#explore-main", "#explore-second", "#explore-third"), plots, strict=False):
            self.query_one(view, StaticPlotView).show(replace(plot, keys=self.with_keys(plot.keys)))
        note = plots[0].why if plots[0].data is not None else ""
        differs = differing_text(subject) if self.has_class("-figures") or not subject.verdict else ""
        text = clean(" ".join(filter(None, (subject.verdict, note, differs))))
        self.query_one("#explore-words", Static).update(shorten(text, max(1, self.size.width - 4)))

    def _intervals(self, placed: PlacedRun) -> Sequence[Sample]:
        """Return the intervals of a run. They are read once, and never during a measurement."""
        key = (placed.folder, placed.run.id)
        if key not in self._read:
            if self.workbench_app.measuring:
                raise NoPlotDataError(_BUSY)
            self._read[key] = intervals(placed.run, placed.folder)
        return self._read[key]

    # -- keys ----------------------------------------------------------------------------------------------------------

    def action_kind(self, name: str) -> None:
        """Show a kind of picture, or the reason if it has no data."""
        self._kind = StaticPlotKind(name)
        self._draw()

    def action_choose_kind(self) -> None:
        """Open the list of the kinds of pictures; those without data have the reason as their help."""
        if self._kind is None:
            self.say(_NO_RUN)
            return
        helps = {command.action: command.help for command in commands_of(self.NAME, shared=False)}
        items = tuple(
            ChoiceItem(
                value=kind.value,
                label=kind.value.capitalize(),
                help=self._empty[kind].why if kind in self._empty else helps[f"kind('{kind.value}')"],
            )
            for kind in StaticPlotKind
        )

        def take(name: str | None) -> None:
            if name is not None:
                self.action_kind(name)

        self.app.push_screen(ChoiceDialog("Chart", items, self._kind.value), take)

    def action_turn(self, steps: int) -> None:
        """Show the next or previous picture that has data."""
        kinds = [kind for kind in StaticPlotKind if kind not in self._empty or kind is self._kind]
        if self._kind is not None and len(kinds) > 1:
            self._kind = kinds[(kinds.index(self._kind) + steps) % len(kinds)]
            self._draw()

    def action_step(self, steps: int) -> None:
        """If a single run is shown, show the previous or next run of the session. Otherwise, show the previous or next
        run of each part in the timeline.
        """
        shown = None if self._offer is None else self._offer.run
        if shown is None or self._subject is None or self._subject.all_sessions:
            self._choice = replace(self._choice, run=max(0, self._choice.run - steps))
            self._draw()
            return
        runs = list(self._origin.session.runs)
        at = next((at for at, run in enumerate(runs) if run.id == shown.run.id), None)
        if at is None or not 0 <= at + steps < len(runs):
            self.say("There are no more runs.")
            return
        other = PlacedRun(run=runs[at + steps], folder=self._origin.folder)
        self._take_offer(single_run_offer(other, self._origin.session, self._origin.folder))

    def action_figure(self) -> None:
        """Switch between IOPS, MiB/s and p99."""
        units = list(Unit)
        self._choice = replace(self._choice, unit=units[(units.index(self._choice.unit) + 1) % len(units)])
        self._draw()

    def action_log(self) -> None:
        """Switch between logarithmic and linear axes."""
        usual = self._kind in (StaticPlotKind.TIMELINE, StaticPlotKind.CURVE)
        now = usual if self._choice.log is None else self._choice.log
        self._choice = replace(self._choice, log=not now)
        self._draw()

    def action_fit(self) -> None:
        """Switch between axes from zero and fitted axes."""
        self._choice = replace(self._choice, zero=not self._choice.zero)
        self._draw()

    def action_baseline(self) -> None:
        """Show or hide the baseline."""
        if self._origin.session.baseline is None:
            self.say("There is no baseline. Press <bench.baseline> on Runs to save one.")
        elif self._offer is not None:
            self._beneath = not self._beneath
            self._take_offer(self._offer)

    def action_earlier(self) -> None:
        """Switch between the selection with all sessions of the target and the selection shown before."""
        if self._before is not None:
            offer, self._before = self._before, None
            self._kind = None
            self._take_offer(offer)
        elif self._subject is not None:
            last = self._subject.runs[-1]
            origin = replace(self._origin, cursor=last, first=all_sessions_key(last))
            self._before = self._offer
            self._take_offer(offers(origin, self.workbench_app.workbench)[0])

    def action_choose(self) -> None:
        """Open the dialog that chooses the runs, A/B, sweep or history to show."""
        if not self._offers:
            self.say(_NO_RUN)
            return
        items = tuple(ChoiceItem(value=offer.key, label=offer.label) for offer in self._offers)
        dialog = ChoiceDialog("Object to explore", items, None if self._offer is None else self._offer.key)
        self.app.push_screen(dialog, self._choose_offer)

    def _choose_offer(self, key: str | None) -> None:
        offer = next((offer for offer in self._offers if offer.key == key), None)
        if offer is not None:
            self._kind = self._before = None
            self._take_offer(offer)

    def action_export(self) -> None:
        """Save the plot and its results as a text file."""
        if self._subject is None or self._kind is None:
            self.say("There is no plot to write.")
            return
        help = "The plot and its values as text. An existing file is not overwritten."
        dialog = TextDialog("Write the plot to", f"raidbench-{self._kind.value}.txt", help=help)
        self.app.push_screen(dialog, self._write)

    def _write(self, name: str | None) -> None:
        if name and self._subject is not None and self._kind is not None:
            work = in_thread(self._write_file, Path(name).expanduser(), self._subject, self._kind, self._choice)
            self.run_worker(work, group="export")

    def _write_file(self, file: Path, subject: PlotSelection, kind: StaticPlotKind, options: PlotOptions) -> None:
        from app.core.session.documents import write_file
        from app.features.plots.figures import picture_text

        ascii = self.workbench_app.ascii
        look = PlotStyle(width=_FILE[0], height=_FILE[1], palette=(), ascii=ascii)
        plot = picture(subject, kind, options, self._intervals)
        try:
            write_file(file, picture_text(subject, plot, look), force=False)
        except RaidbenchError as error:
            self.app.call_from_thread(self.workbench_app.show_error, error, title="Cannot write the plot")
        else:
            self.app.call_from_thread(self.say, f"Plot written to {file.absolute()}.")

    def action_back(self) -> None:
        """Close the screen."""
        self.dismiss()
