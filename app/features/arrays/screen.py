"""Screen that creates an array from ticked drives, and deletes arrays that raidbench created."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult

from app.core.changes.arrays.array_journal import ArrayJournalEntry
from app.core.changes.arrays.builder import created_array_label
from app.core.changes.arrays.candidates import WantedArrays, candidates_of, controller_of, new_array_name, plan_array
from app.features.arrays import presentation as view
from app.tui.base import WorkbenchScreen
from app.tui.render import columns, rows
from backends.array_planning import (
    LEVELS,
    STRIPS,
    ArrayMatch,
    ArrayPlan,
    ArrayRequest,
    Candidate,
    capacity,
    confirm_labels,
    require_alike,
    require_shape,
    spans_that_fit,
)
from backends.device_label import DeviceLabel, confirm_token, labels_title
from backends.errors import RaidbenchError, RefusedError
from backends.model import Level
from backends.sizes import exact_text, size_words
from backends.text import clean
from widgets.confirm import Confirmation, ConfirmDialog
from widgets.keyed_table import KeyedTable, TableRow
from widgets.pane import Pane
from widgets.text_panel import TextParagraphs
from widgets.text_utils.units import plural

if TYPE_CHECKING:
    from app.tui.app_interface import AppInterface

STRIP_CHOICES: tuple[int | None, ...] = (None, *STRIPS)
"""Strip sizes that the user can choose, in bytes; None for the default of the controller or md."""

ASKING = "Reading the content of every drive ..."
TICK = "Press <array.tick> to select free drives, in the order in which the array uses them."


def open_new_array(app: AppInterface) -> None:
    """Open the screen that creates an array from ticked drives."""
    app.push_screen(NewArrayScreen(app))


class NewArrayScreen(WorkbenchScreen):
    """Screen with the arrays that raidbench created, and the drives, which the user ticks for a new array."""

    NAME: ClassVar[str] = "array"
    DEFAULT_CSS = """
    NewArrayScreen {
        & #array-pane { height: 1fr; padding: 0 1; }
        & #array-words, & #array-help { margin-bottom: 1; }
        & KeyedTable { height: 1fr; min-height: 4; }
    }
    """

    def __init__(self, app: AppInterface) -> None:
        super().__init__()
        self._app = app
        self._drives: tuple[Candidate, ...] = ()
        self._made: tuple[ArrayJournalEntry, ...] = ()
        self._ticked: tuple[str, ...] = ()
        self._level = Level.RAID0
        self._strip: int | None = None
        self._spans: int | None = None
        self._busy = ASKING

    def body(self) -> ComposeResult:
        """Compose the summary, the help line and the list of drives."""
        shown = view.drives_table(())
        with Pane("New array", id="array-pane"):
            yield TextParagraphs(self._busy, "title", id="array-words")
            yield TextParagraphs(self.with_keys(TICK), "muted", id="array-help")
            yield KeyedTable(columns(shown), (), id="array-drives")

    def on_mount(self) -> None:
        """Focus the list and scan the drives."""
        self.query_one(KeyedTable).focus()
        self._app.run_worker(self._ask(), group="probe")

    async def _ask(self) -> None:
        """Scan every drive again."""
        bench = self._app.workbench
        self._say_busy(ASKING)
        try:
            with bench.hardware.machine.using_last_scan():
                drives, problems = await candidates_of(bench.hardware.machine, bench.session.inventory)
        except RaidbenchError as error:
            self._app.show_error(error, title="Cannot read the drives")
            drives, problems = (), ()
        for problem in problems:
            self._app.notify(f"{problem.where}: {problem.message}", severity="warning", markup=False)
        self._drives = tuple(sorted(drives, key=lambda drive: not drive.free))
        self._made = bench.arrays.journal.entries()
        free = {str(drive.drive) for drive in drives if drive.free}
        self._ticked = tuple(key for key in self._ticked if key in free)
        self._say_busy("")

    def _say_busy(self, text: str) -> None:
        self._busy = text
        if self.has_widgets:
            self._draw()

    def _draw(self) -> None:
        self.query_one("#array-words", TextParagraphs).say(self.with_keys(self._busy or self._status_text()), "title")
        made = [TableRow(key=entry.array.name, banner=(view.made_here_text(entry),)) for entry in self._made]
        drives = rows(view.drives_table(self._drives))
        self.query_one(KeyedTable).rows = (
            *made,
            *(replace(row, marked=row.key in self._ticked) for row in drives),
        )

    @on(KeyedTable.RowHighlighted)
    def _explain(self) -> None:
        """Show why the drive under the cursor cannot be used, or the data that it would lose."""
        drive = self._drive_under_cursor()
        about = "" if drive is None else " ".join(drive.why_not) or "; ".join((*drive.cautions, *drive.lies))
        self.query_one("#array-help", TextParagraphs).say(clean(about, 400) or self.with_keys(TICK), "muted")

    def _drive_under_cursor(self) -> Candidate | None:
        key = self.query_one(KeyedTable).cursor
        return next((drive for drive in self._drives if str(drive.drive) == key), None)

    def _ticked_drives(self) -> tuple[Candidate, ...]:
        by_address = {str(drive.drive): drive for drive in self._drives}
        return tuple(by_address[key] for key in self._ticked)

    def _offered_spans(self) -> tuple[int | None, ...]:
        """Return the numbers of spans that the user can choose; None for the default."""
        return (None, *spans_that_fit(self._level, len(self._ticked)))

    def _request(self, name: str) -> ArrayRequest:
        spans = self._spans if self._spans in self._offered_spans() else None
        drives = self._ticked_drives()
        return ArrayRequest(level=self._level, drives=drives, strip_bytes=self._strip, spans=spans, name=name)

    def _status_text(self) -> str:
        """Return a description of the array that the ticked drives would form, or why they cannot form it."""
        drives, request = self._ticked_drives(), self._request("new")
        spans = "" if request.spans is None else f", {request.spans} spans"
        strip = "default strip" if self._strip is None else f"strip {exact_text(self._strip)}"
        if not drives:
            total = [drive for drive in self._drives if not drive.shared]
            free = sum(drive.free for drive in total)
            return f"{plural(free, 'drive')} of {len(total)} are free for an array: {self._level.value}, {strip}."
        subject = f"{self._level.value} of {plural(len(drives), 'drive')}{spans}, {strip}"
        try:
            data = require_shape(request)
            controller_of(drives)
            require_alike(drives)
        except RaidbenchError as error:
            return f"{subject}: {error.message}"
        carry = "1 data drive" if data == 1 else f"{data} data drives"
        about = size_words(capacity(request, data))
        return f"{subject}: about {about}, {carry}. Press <array.make> to review the commands."

    # -- actions of keys ----------------------------------------------------------------------------------------------

    def action_tick(self) -> None:
        """Tick or untick the drive under the cursor."""
        drive = self._drive_under_cursor()
        if drive is None:
            self.say("Only drives can be selected.")
        elif not drive.free:
            self.say(f"{drive.place}: {drive.why_not[0]}", severity="warning")
        else:
            key = str(drive.drive)
            ticked = self._ticked
            self._ticked = tuple(name for name in ticked if name != key) if key in ticked else (*ticked, key)
            self._draw()

    def action_level(self, step: int) -> None:
        """Choose the next or previous level."""
        self._level = LEVELS[(LEVELS.index(self._level) + step) % len(LEVELS)]
        self._draw()

    def action_strip(self, step: int) -> None:
        """Choose the next or previous strip size."""
        self._strip = STRIP_CHOICES[(STRIP_CHOICES.index(self._strip) + step) % len(STRIP_CHOICES)]
        self._draw()

    def action_spans(self, step: int) -> None:
        """Choose the next or previous number of spans that fits the drives."""
        offered = self._offered_spans()
        if len(offered) == 1:
            self.say(f"{self._level.value} of {plural(len(self._ticked), 'drive')} has no choice of spans.")
        now = self._spans if self._spans in offered else None
        self._spans = offered[(offered.index(now) + step) % len(offered)]
        self._draw()

    def action_make(self) -> None:
        """Show the commands that create the array, and create it after confirmation."""
        if self._ticked:
            self._app.hold_keys(self._app.run_worker(self._review(), group="review", exclusive=True))
        else:
            self.say("No drive is selected. Press <array.tick> to select a drive.")

    async def action_compare(self) -> None:
        """Pass the ticked drives to the Sweep screen, which compares arrays of several levels."""
        if not self._ticked:
            self.say("No drive is selected. Press <array.tick> to select a drive.")
            return
        spans = self._request("new").spans
        wanted = WantedArrays(drives=self._ticked, level=self._level, strip_bytes=self._strip, spans=spans)
        await self.dismiss()
        self._app.do("sweep.compare_levels", wanted)

    def action_delete(self) -> None:
        """Delete the array under the cursor, if raidbench created it."""
        key = self.query_one(KeyedTable).cursor
        entry = next((entry for entry in self._made if entry.array.name == key), None)
        if entry is None:
            self.say("raidbench only deletes arrays that it created. They are the first rows of the table.")
        else:
            work = self._review_deletion(entry)
            self._app.hold_keys(self._app.run_worker(work, group="review", exclusive=True))

    def action_back(self) -> None:
        """Return to the Devices screen."""
        self.dismiss()

    # -- confirm and execute ------------------------------------------------------------------------------------------

    async def _review(self) -> None:
        bench = self._app.workbench
        try:
            plan = await plan_array(bench.hardware.machine, self._request(new_array_name()))
            if plan.by_hand:
                lines = "; ".join(step.shown() for step in plan.steps)
                raise RefusedError(plan.by_hand, hint=clean(lines, 1500))
            await bench.arrays.require_array_support(plan.request.drives[0].controller)
        except RaidbenchError as error:
            self._app.show_error(error, title="Cannot create the array")
            return
        asked = _creation_dialog(plan)
        if await self._app.push_screen_wait(ConfirmDialog(asked)):
            self._app.run_worker(self._make(plan, asked.required), group="write", exit_on_error=True)

    async def _make(self, plan: ArrayPlan, typed: str) -> None:
        self._say_busy(f"Creating {plan.request.name} ...")
        try:
            made = await self._app.workbench.arrays.create(plan, assume_clean=False, typed=typed)
        except RaidbenchError as error:
            self._app.show_error(error, title=f"{plan.request.name} was not created")
        else:
            self._ticked = ()
            self._app.notify(
                " ".join((f"{plan.request.name} was created: {made.sentence}", *made.differs.values())),
                title="Created",
                severity="warning" if made.differs else "information",
                markup=False,
            )
        await self._refresh()

    async def _review_deletion(self, entry: ArrayJournalEntry) -> None:
        try:
            entry, match = await self._app.workbench.arrays.require_deletable(entry.array.name, note=True)
        except RaidbenchError as error:
            self._app.show_error(error, title=f"{entry.array.name} was not deleted")
            return
        asked = _deletion_dialog(created_array_label(entry, self._app.session.inventory), match)
        if await self._app.push_screen_wait(ConfirmDialog(asked)):
            self._app.run_worker(self._delete(entry), group="write", exit_on_error=True)

    async def _delete(self, entry: ArrayJournalEntry) -> None:
        name = entry.array.name
        self._say_busy(f"Deleting {name} ...")
        try:
            await self._app.workbench.arrays.delete(name, typed=name)
        except RaidbenchError as error:
            self._app.show_error(error, title=f"{name} was not deleted")
        else:
            self._app.notify_transient(f"{name} was deleted.")
        await self._refresh()

    async def _refresh(self) -> None:
        await self._app.look_for_hardware()
        await self._ask()


def _creation_dialog(plan: ArrayPlan) -> Confirmation:
    labels = confirm_labels(plan.request.drives)
    full = plan.full_stripe_bytes
    size = f"About {size_words(plan.size_bytes)}" + ("" if full is None else f", full stripe {exact_text(full)}")
    return Confirmation(
        title=f"Create {plan.request.level.value} {plan.request.name} of {plural(len(plan.request.drives), 'drive')}",
        tier="destructive",
        devices=tuple(sentence for label in labels for sentence in label.sentences),
        devices_title=labels_title(labels),
        summary=f"All data on the drives will be lost. {size}; redundancy takes {plan.cost} of the drives."
        f" {plan.initialising}",
        commands=tuple(step.argv for step in plan.steps),
        risks=tuple(clean(sentence, 1000) for sentence in view.plan_sentences(plan)),
        required=confirm_token(labels),
        apply_label="Create",
    )


def _deletion_dialog(plate: DeviceLabel, match: ArrayMatch) -> Confirmation:
    return Confirmation(
        title=f"Delete {plate.name}",
        tier="destructive",
        devices=plate.sentences,
        devices_title=labels_title((plate,)),
        summary=match.sentence,
        commands=tuple(step.argv for step in match.remove),
        risks=("The array is deleted, and all of its data is lost.",),
        required=plate.token,
        apply_label="Delete",
    )
