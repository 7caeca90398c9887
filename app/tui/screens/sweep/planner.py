"""Ticking a sweep: left what may be ticked, right the plan it makes."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Static

from app.engine.fio.fields import FIELDS
from app.engine.fio.job import Job
from app.engine.fio.profiles import PROFILES, profile
from app.engine.session.state import Session
from app.engine.session.sweep_steps import Design
from app.engine.sweep.expand import expand
from app.engine.sweep.known import Known
from app.engine.sweep.plan import PlanError, SweepPlan
from app.engine.sweep.plan_file import parse_plan
from app.engine.sweep.plans import load_plan
from app.tui.screens.bench.job_form import JobForm
from app.tui.screens.sweep import choices as sweep_choices
from app.tui.screens.sweep.draft import Draft, DraftAxis, axes_of, plan_text
from app.tui.screens.sweep.plan_view import AXIS_COLUMNS, JOINT, OTHER, axis_rows, file_rows, plan_groups
from backends.errors import InvalidValueError, RaidbenchError
from backends.text import clean, clean_lines
from widgets.choice_list import ChoiceDialog
from widgets.details import Detail, Details, FactGroup
from widgets.field_dialog import TextDialog
from widgets.keyed_table import KeyedTable
from widgets.lines import Prose
from widgets.pane import Pane
from widgets.table_layout import plain

if TYPE_CHECKING:
    from app.tui.app import WorkbenchApp

_PARSERS = {field.key: field.parse for field in FIELDS}


class SweepPlanner(Horizontal):
    """What is to be measured. Reads settings, changes none."""

    def __init__(self) -> None:
        super().__init__(id="sweep-plan")
        self.seed = random.SystemRandom().randrange(2**31)
        """Decides the random orders of the next sweep, unless its plan does."""
        self.draft: Draft | None = None
        """What is ticked; None until something that could be measured was found."""
        self.file: SweepPlan | None = None
        """The plan that was opened; None while one is ticked."""
        self.named: dict[str, str] = {}
        """Targets of an opened plan by role, as far as they were named here."""
        self._axes: tuple[DraftAxis, ...] = ()
        self._opened: frozenset[str] = frozenset()
        self._looked: object = None
        self._known: Known | None = None

    def compose(self) -> ComposeResult:
        """Job and axes; the plan."""
        with Pane("What is varied", id="sweep-left"):
            yield Static("", id="sweep-job", markup=False)
            yield KeyedTable(AXIS_COLUMNS, id="sweep-axes", empty="looking for hardware ...")
            yield Prose("", "label", id="sweep-help")
        with Pane("Plan", id="sweep-right"), VerticalScroll():
            yield Details(id="sweep-facts")

    @property
    def table(self) -> KeyedTable:
        """The list of axes."""
        return self.query_one(KeyedTable)

    @property
    def _app(self) -> WorkbenchApp:
        return cast("WorkbenchApp", self.app)

    @property
    def ready(self) -> bool:
        """Whether there is anything to compare."""
        return self.file is not None or (self.draft is not None and self.draft.varies)

    def plan(self) -> SweepPlan:
        """The plan as it stands. Raises PlanError."""
        if self.file is not None:
            return self.file
        assert self.draft is not None
        return parse_plan(plan_text(self.draft, self._axes).encode(), "the plan")

    @property
    def chosen_seed(self) -> int:
        """That of the plan, else one that was drawn."""
        return self.file.seed if self.file is not None and self.file.seed is not None else self.seed

    def show(self, session: Session) -> None:
        """Bring it up to date where something that matters here is new."""
        if self.draft is None and not session.probing:
            self._begin(session)
        if self.draft is not None and self._wanted() != self._looked:
            self._replan()

    def _begin(self, session: Session) -> None:
        """The device that was taken to the bench, else the first array or drive that is free, else a scratch file."""
        app = self._app
        named = app.options.profile if app.options.profile in PROFILES else next(iter(PROFILES))
        job, name = app.job_choice or (profile(named).job, named)
        free = [str(thing.target) for thing in sweep_choices.things(session.inventory) if not thing.uses]
        scratch = os.path.abspath(os.path.expanduser(app.options.scratch))
        address = app.wanted_device[0] if app.wanted_device is not None else next(iter(free), scratch)
        self.draft = Draft(address=address, job=job, profile=name)

    def _replan(self) -> None:
        """Bring both sides up to date; the targets are read when they, or settings, are others than before."""
        wanted = self._wanted()
        if wanted != self._looked:
            self._looked, self._known = wanted, None
            self._show_left()
            self.run_worker(self._look(), group="sweep-look", exclusive=True)
        elif self._known is not None:
            self._with(self._known)

    def _wanted(self) -> object:
        """The targets, and how many changes there were: what is to be read anew when it differs."""
        session = self._app.session
        changes = (len(session.changes), sum(change.end is not None for change in session.changes))
        whose = self.file if self.file is not None else self.draft and self.draft.address
        return whose, tuple(sorted(self.named.items())), changes

    async def _look(self) -> None:
        self._say_plan("reading the settings of the target ...")
        try:
            self._known = await self._app.sweeping.look(self.plan(), self.named)
        except RaidbenchError as error:
            self._say_plan(error.message, error.hint)
        else:
            self._with(self._known)

    def _with(self, known: Known) -> None:
        """Rows and plan, now that the targets are known."""
        if self.draft is not None and self.file is None:
            self._axes = axes_of(next(iter(known.holders.values()), ()), self.draft)
        self._show_left()
        if not self.ready:
            self._say_plan(
                "Nothing to compare yet.",
                "enter opens an axis, space ticks values; two of any make a sweep. "
                "o opens a plan from a file, or one that comes with raidbench.",
            )
            return
        try:
            design = expand(self.plan(), known, self.chosen_seed)
        except RaidbenchError as error:
            self._say_plan(error.message, error.hint)
            return
        self.run_worker(self._survey(design, known), group="sweep-survey", exclusive=True)

    async def _survey(self, design: Design, known: Known) -> None:
        try:
            surveyed = await self._app.sweeping.survey(design, known)
        except RaidbenchError as error:
            self._say_plan(error.message, error.hint)
            return
        self.query_one("#sweep-facts", Details).groups = plan_groups(surveyed, self._app.sweeping.speed)

    def _say_plan(self, sentence: str, hint: str = "") -> None:
        facts = [Detail(label="", value=sentence)] + ([Detail(label="", value=hint, tone="muted")] if hint else [])
        self.query_one("#sweep-facts", Details).groups = (FactGroup(heading="Plan", facts=tuple(facts)),)

    def _show_left(self) -> None:
        draft = self.draft
        assert draft is not None
        table = self.table
        if self.file is not None:
            table.rows = file_rows(self.file, self.named)
            about = f" {self.file.about}" if self.file.about else ""
            self._head(f"Plan: {self.file.title}\nn ticks a plan of your own.{about}")
        else:
            table.rows = axis_rows(self._axes, draft, self._opened)
            name = f"{draft.profile}: " if draft.profile else ""
            self._head(f"T {draft.address}\np {name}{draft.job.describe()}")
        self._help()

    def _head(self, text: str) -> None:
        self.query_one("#sweep-job", Static).update(clean_lines(text))

    def _say(self, message: str, *, severity: str = "information", title: str = "") -> None:
        self._app.notify(message, title=title, severity=severity)  # type: ignore[arg-type]

    @on(KeyedTable.RowHighlighted, "#sweep-axes")
    def _row_highlighted(self) -> None:
        self._help()

    def _help(self) -> None:
        line = self.query_one("#sweep-help", Prose)
        axis = self._axis()
        row = self.table.cursor_row
        if self.file is not None:
            line.say(": ".join(filter(None, map(plain, row.cells))) if row is not None else "", "label")
        elif axis is None:
            line.say("")
        elif axis.why_not:
            line.say(f"No sweep can change it: {axis.why_not}. {axis.help}", "warning")
        else:
            line.say(axis.help, "label")

    def _axis(self) -> DraftAxis | None:
        """The axis under the cursor, or whose value is."""
        key = (self.table.cursor or "").partition(JOINT)[0]
        return next((axis for axis in self._axes if axis.key == key), None) if self.file is None else None

    @on(KeyedTable.RowSelected, "#sweep-axes")
    def _row_selected(self, event: KeyedTable.RowSelected) -> None:
        if self.file is not None:
            role = event.key.removeprefix("role:")
            if role != event.key:
                self._choose_target(role)
            return
        self.tick()

    def tick(self) -> None:
        """Tick the value, or open the axis."""
        axis, draft = self._axis(), self.draft
        key = self.table.cursor or ""
        if axis is None or draft is None:
            return
        if axis.why_not:
            self._say(f"{axis.label}: {axis.why_not}.", severity="warning")
        elif key.endswith(OTHER):
            self._ask_values(axis)
        elif JOINT in key:
            self.draft = draft.toggled(axis, key.partition(JOINT)[2])
            self._replan()
        else:
            self.show_axis(axis.key not in self._opened)

    def show_axis(self, opened: bool) -> None:
        """Show the values of the axis, or only its name."""
        axis = self._axis()
        if axis is None or axis.why_not:
            return
        self._opened = self._opened | {axis.key} if opened else self._opened - {axis.key}
        if not opened:
            self.table.cursor = axis.key
        self._show_left()

    def _ask_values(self, axis: DraftAxis) -> None:
        unit = f" in {axis.unit}" if axis.unit else ""
        help = f"One or several{unit}, with commas between them. {axis.help}"
        self._app.push_screen(TextDialog(axis.label, help=help), lambda text: self._typed(axis, text))

    def _typed(self, axis: DraftAxis, text: str | None) -> None:
        """Tick what was typed, unless it is no value of the field."""
        for value in (part.strip() for part in (text or "").split(",")):
            if not value or self.draft is None or self.draft.has(axis, value):
                continue
            try:
                if axis.kind == "job":
                    _PARSERS[axis.name](value)
            except InvalidValueError as error:
                self._say(f"{error.message}. {error.hint}".strip(), severity="warning")
                return
            self.draft = self.draft.toggled(axis, value)
        self._replan()

    def choose_profile(self) -> None:
        """Choose the workload that the axes vary."""
        if self.file is not None or self.draft is None:
            return

        def chosen(name: str | None) -> None:
            if name is not None:
                self._take_job(profile(name).job, name)

        self._app.push_screen(ChoiceDialog("Workload", sweep_choices.workloads(), self.draft.profile), chosen)

    def edit(self) -> None:
        """Change the fields of the job that the axes vary."""
        if self.file is not None or self.draft is None:
            return
        before = self.draft.job

        def edited(job: Job | None) -> None:
            if job is not None and job != before:
                self._take_job(job, None)

        self._app.push_screen(JobForm(before), edited)

    def _take_job(self, job: Job, name: str | None) -> None:
        draft = self.draft
        assert draft is not None
        self.draft = Draft(address=draft.address, job=job, profile=name, ticked=draft.ticked)
        self._replan()

    def choose_target(self) -> None:
        """Choose what is measured."""
        self._choose_target(self.file.measure if self.file is not None else "")

    def _choose_target(self, role: str) -> None:
        now = self.named.get(role, "") if self.file is not None else (self.draft.address if self.draft else "")
        choices = sweep_choices.targets(self._app.session.inventory, controllers=bool(role))
        title = f"Target {role}" if role else "What to measure"

        def chosen(address: str | None) -> None:
            if address == "":
                start = self._app.options.scratch
                help = "A folder, or a file that does not exist yet."
                self._app.push_screen(TextDialog("Scratch file", start, help=help), lambda path: self._take(role, path))
            else:
                self._take(role, address)

        self._app.push_screen(ChoiceDialog(title, choices, now), chosen)

    def _take(self, role: str, address: str | None) -> None:
        if not address or self.draft is None:
            return
        if ":" not in address:
            address = os.path.abspath(os.path.expanduser(address))
        if self.file is not None:
            self.named[role] = address
        else:
            kept = {key: values for key, values in self.draft.ticked.items() if not key.startswith("setting:")}
            self.draft = Draft(address=address, job=self.draft.job, profile=self.draft.profile, ticked=kept)
        self._replan()

    def open_plan(self) -> None:
        """Take a plan that comes with raidbench, or one of a file."""

        def chosen(name: str | None) -> None:
            if name == "":
                self._app.push_screen(TextDialog("Plan file", help="A TOML file."), self._open)
            else:
                self._open(name)

        self._app.push_screen(ChoiceDialog("Open a plan", sweep_choices.plans()), chosen)

    def _open(self, name: str | None) -> None:
        if not name:
            return
        try:
            self.file = load_plan(os.path.expanduser(name))
        except RaidbenchError as error:
            self._app.tell(error, title="Not a plan")
            return
        self.named = {}
        self._replan()

    def new_plan(self) -> None:
        """Back to ticking."""
        self.file, self.named = None, {}
        if self.draft is not None:
            self._replan()

    def save_plan(self) -> None:
        """Write the plan to a file that `raidbench sweep` takes."""
        if not self.ready:
            self._say("Nothing is ticked yet, so there is no plan to save.")
            return
        help = "`raidbench sweep FILE` runs it; an existing file is not overwritten."
        self._app.push_screen(TextDialog("Save the plan as", "sweep.toml", help=help), self._save)

    def _save(self, name: str | None) -> None:
        if not name:
            return
        path = Path(os.path.expanduser(name)).absolute()
        try:
            source = self.plan().source
            with path.open("x", encoding="utf-8") as file:
                file.write(source)
        except PlanError as error:
            self._app.tell(error, title="Not saved")
        except OSError as error:
            self._say(f"{clean(str(path), 200)}: {error.strerror}.", severity="error", title="Not saved")
        else:
            self._say(f"The plan is in {path}: raidbench sweep {path}")
