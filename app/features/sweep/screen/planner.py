"""Planner of the Sweep screen: axes on the left, the resulting plan on the right."""

from __future__ import annotations

import os

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from app.core.fio.fields import FIELDS
from app.core.fio.profiles import PROFILES, profile
from app.core.session.state import Session
from app.core.session.sweep_steps import Design
from app.features.sweep.engine.plan_expansion import expand
from app.features.sweep.engine.risk_assessment import assess_risk
from app.features.sweep.engine.targets import TargetFacts, inspect_targets
from app.features.sweep.screen.draft import LEVEL_AXIS, Draft, DraftAxis, axes_of
from app.features.sweep.screen.plan_choices import PlanChoices
from app.features.sweep.screen.plan_view import (
    AXIS_COLUMNS,
    BY_LIST,
    JOINT,
    OTHER,
    axis_rows,
    file_rows,
    fold_text,
    plan_groups,
)
from app.features.sweep.screen.sweep_control import sweep_controller
from app.tui import target_choices
from app.tui.header_text import SCANNING_TEXT
from backends.errors import InvalidValueError, RaidbenchError
from backends.text import clean_lines
from widgets.details import Detail, Details, FactGroup
from widgets.field_dialog import TextDialog
from widgets.keyed_table import KeyedTable
from widgets.pane import Pane
from widgets.table_layout import plain
from widgets.text_panel import TextParagraphs

_PARSERS = {field.key: field.parse for field in FIELDS}


class SweepPlanner(PlanChoices):
    """Widget with the choices and the plan of the next sweep. It reads settings without changing any."""

    def __init__(self) -> None:
        super().__init__(id="sweep-plan")
        self.folded = False
        """Whether axes without a chosen value are hidden."""
        self._opened: frozenset[str] = frozenset()
        self._read_state: object = None
        self._facts: TargetFacts | None = None

    def compose(self) -> ComposeResult:
        """Compose the axes and the plan."""
        with Pane("Axes", id="sweep-left"):
            yield Static("", id="sweep-job", markup=False)
            yield KeyedTable(AXIS_COLUMNS, id="sweep-axes", empty=SCANNING_TEXT)
            yield TextParagraphs("", "label", id="sweep-help")
        with Pane("Estimate and order", id="sweep-right"), VerticalScroll():
            yield Details(id="sweep-facts")

    @property
    def table(self) -> KeyedTable:
        """The widget that lists the axes."""
        return self.query_one(KeyedTable)

    def show(self, session: Session) -> None:
        """Choose the first target after the scan, take over requested arrays, and update the plan if needed."""
        if self.draft is None and not session.probing:
            self._begin(session)
        work = sweep_controller(self.workbench_app)
        if work.wanted is not None and self.draft is not None:
            wanted, work.wanted = work.wanted, None
            self.file, self.named = None, {}
            self.draft = self.draft.over_arrays(wanted)
            self._opened = frozenset((LEVEL_AXIS,))
        if self.draft is not None and self._target_state() != self._read_state:
            self.replan()

    def _begin(self, session: Session) -> None:
        """Choose the first target: the device of the Bench screen, else a free array or drive, else a scratch file."""
        app = self.workbench_app
        named = app.options.profile if app.options.profile in PROFILES else next(iter(PROFILES))
        job, name = app.job_choice or (profile(named).job, named)
        if job.sections:  # a sweep supports only one section
            job, name = profile(named).job, named
        free = [
            str(device.target) for device in target_choices.measurable_devices(session.inventory) if not device.uses
        ]
        scratch = os.path.abspath(os.path.expanduser(app.options.scratch))
        address = app.wanted_device[0] if app.wanted_device is not None else next(iter(free), scratch)
        self.draft = Draft(address=address, job=job, profile=name)

    def replan(self) -> None:
        """Update the axes and the plan. The targets are read again if they or their settings have changed."""
        wanted = self._target_state()
        if wanted != self._read_state:
            self._read_state, self._facts = wanted, None
            self._show_left()
            self.workers.cancel_group(self, "sweep-survey")
            self.run_worker(self._read_targets(), group="sweep-look", exclusive=True)
        elif self._facts is not None:
            self._show_facts(self._facts)

    def _target_state(self) -> object:
        """Return a value that changes whenever the targets must be read again. It contains the targets and the number
        of changes.
        """
        session = self.workbench_app.session
        changes = (len(session.changes), sum(change.end is not None for change in session.changes))
        whose = self.file if self.file is not None else self.draft and (self.draft.address, self.draft.arrays)
        return whose, tuple(sorted(self.named.items())), changes

    async def _read_targets(self) -> None:
        if self.file is None and self.draft is not None and self.draft.drives:
            self.axes = axes_of((), self.draft)
            if not self.ready:
                self._show_facts(TargetFacts(addresses={}))
                return
        self._say_plan("reading the settings of the target ...")
        try:
            self._facts = await inspect_targets(self.workbench_app.workbench, self.plan(), self.named, naming=BY_LIST)
        except RaidbenchError as error:
            self._say_plan(error.message, error.hint)
        else:
            self._show_facts(self._facts)

    def _show_facts(self, facts: TargetFacts) -> None:
        """Show axes and plan after the targets were read."""
        if self.draft is not None and self.file is None:
            self.axes = axes_of(next(iter(facts.holders.values()), ()), self.draft)
        self._show_left()
        self.workers.cancel_group(self, "sweep-survey")  # that worker assesses an outdated plan
        if not self.ready:
            self._say_plan(
                "Nothing to compare yet.",
                "Press enter to open an axis and <sweep.tick> to select values. A sweep needs at least two values of"
                " one axis. Press <sweep.open> to open a plan file or a built-in plan.",
            )
            return
        try:
            design = expand(self.plan(), facts, self.chosen_seed)
        except RaidbenchError as error:
            self._say_plan(error.message, error.hint)
            return
        self.run_worker(self._assess(design, facts), group="sweep-survey", exclusive=True)

    async def _assess(self, design: Design, facts: TargetFacts) -> None:
        try:
            assessment = await assess_risk(self.workbench_app.workbench, design, facts)
        except RaidbenchError as error:
            self._say_plan(error.message, error.hint)
            return
        self.query_one("#sweep-facts", Details).groups = plan_groups(
            assessment, sweep_controller(self.workbench_app).speed
        )

    def _say_plan(self, sentence: str, hint: str = "") -> None:
        facts = [Detail(label="", value=sentence)]
        if hint:
            facts.append(Detail(label="", value=self.workbench_app.with_keys(hint), tone="muted"))
        self.query_one("#sweep-facts", Details).groups = (FactGroup(heading="Plan", facts=tuple(facts)),)

    def _show_left(self) -> None:
        draft = self.draft
        assert draft is not None
        table = self.table
        if self.file is not None:
            table.rows, note = file_rows(self.file, self.named), ""
            about = f" {self.file.about}" if self.file.about else ""
            self._set_heading(f"Plan: {self.file.title}\nPress <sweep.new> to select your own values.{about}")
        else:
            table.rows = axis_rows(self.axes, draft, self._opened, folded=self.folded)
            note = fold_text(self.axes, draft, folded=self.folded)
            name = f"{draft.profile}: " if draft.profile else ""
            self._set_heading(f"<sweep.target> {draft.measured}\n<sweep.profile> {name}{draft.job.describe()}")
        self.query_one("#sweep-left", Pane).note = self.workbench_app.with_keys(note)
        self._help()

    def _set_heading(self, text: str) -> None:
        self.query_one("#sweep-job", Static).update(clean_lines(self.workbench_app.with_keys(text)))

    @on(KeyedTable.RowHighlighted, "#sweep-axes")
    def _help(self) -> None:
        line = self.query_one("#sweep-help", TextParagraphs)
        axis = self._axis()
        row = self.table.cursor_row
        if self.file is not None:
            line.say(": ".join(filter(None, map(plain, row.cells))) if row is not None else "", "label")
        elif axis is None:
            line.say("")
        elif axis.why_not:
            line.say(f"A sweep cannot change this setting: {axis.why_not}. {axis.help}", "warning")
        else:
            line.say(axis.help, "label")

    def _axis(self) -> DraftAxis | None:
        """Return the axis of the row under the cursor; None without one."""
        key = (self.table.cursor or "").partition(JOINT)[0]
        return next((axis for axis in self.axes if axis.key == key), None) if self.file is None else None

    @on(KeyedTable.RowSelected, "#sweep-axes")
    def _row_selected(self, event: KeyedTable.RowSelected) -> None:
        if self.file is not None:
            role = event.key.removeprefix("role:")
            if role != event.key:
                self.choose_target_of(role)
            return
        self.tick()

    def tick(self) -> None:
        """Tick the value, or open the axis, under the cursor."""
        axis, draft = self._axis(), self.draft
        key = self.table.cursor or ""
        if axis is None or draft is None:
            return
        if axis.why_not:
            self.say(f"{axis.label}: {axis.why_not}.", severity="warning")
        elif key.endswith(OTHER):
            self._ask_values(axis)
        elif JOINT in key:
            self.draft = draft.toggle(axis, key.partition(JOINT)[2])
            self.replan()
        else:
            self.show_axis(axis.key not in self._opened)

    def show_axis(self, opened: bool) -> None:
        """Show or hide the values of the axis under the cursor."""
        axis = self._axis()
        if axis is None or axis.why_not:
            return
        self._opened = self._opened | {axis.key} if opened else self._opened - {axis.key}
        if not opened:
            self.table.cursor = axis.key
        self._show_left()

    def close_axis(self) -> bool:
        """Hide the values of the axis under the cursor; return False if they are hidden already."""
        axis = self._axis()
        if axis is None or axis.key not in self._opened:
            return False
        self.show_axis(False)
        return True

    def _ask_values(self, axis: DraftAxis) -> None:
        unit = f" in {axis.unit}" if axis.unit else ""
        help = f"One or more{unit}, separated by commas. {axis.help}"
        self.workbench_app.push_screen(TextDialog(axis.label, help=help), lambda text: self._tick_typed(axis, text))

    def _tick_typed(self, axis: DraftAxis, text: str | None) -> None:
        """Tick the values that the user typed; show a message for a value that is not valid."""
        for value in (part.strip() for part in (text or "").split(",")):
            if not value or self.draft is None or self.draft.has(axis, value):
                continue
            try:
                if axis.kind == "job":
                    _PARSERS[axis.name](value)
            except InvalidValueError as error:
                self.say(f"{error.message}. {error.hint}".strip(), severity="warning")
                return
            self.draft = self.draft.toggle(axis, value)
        self.replan()

    def fold(self) -> None:
        """Hide unchosen axes, or show all."""
        if self.file is not None or self.draft is None:
            return
        if not self.folded and not self.draft.ticked:
            self.say("Select values first; there is nothing to hide yet.")
            return
        self.folded = not self.folded
        self._show_left()
