"""Ticking a sweep, watching it, reading what it found."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Static

from app.engine import units
from app.engine.fio.fields import FIELDS
from app.engine.fio.job import Job
from app.engine.fio.profiles import PROFILES, profile
from app.engine.session import ActiveRun, Session
from app.engine.sweep.expand import expand
from app.engine.sweep.known import Known
from app.engine.sweep.plan import PlanError, SweepPlan
from app.engine.sweep.plan_file import parse_plan
from app.engine.sweep.plans import load_plan, shipped
from app.engine.sweep.record import SweepRecord
from app.engine.sweep.results import Results, results
from app.engine.sweep.words import Design
from app.tui.base import WorkbenchScreen
from app.tui.bench_view import Curves, latency_chart, progress, throughput_chart
from app.tui.screens.job_form import JobForm
from app.tui.sweep_draft import Axis, Draft, axes_of, plan_text
from app.tui.sweep_plan_view import AXIS_COLUMNS, JOINT, OTHER, axis_rows, file_rows, plan_facts
from app.tui.sweep_view import LEGEND, cell_at, cell_words, findings, grid, ranking, state_words, title_words, whole
from app.tui.sweeping import Sweeping
from backends.errors import InvalidValueError, RaidbenchError
from backends.model import Array, Drive, Inventory
from backends.text import clean
from widgets.bars import ProgressLine
from widgets.chart import LineChart
from widgets.choice_list import Choice, ChoiceDialog
from widgets.details import Details, Fact, FactGroup
from widgets.field_dialog import TextDialog
from widgets.keyed_table import KeyedTable
from widgets.lines import Prose
from widgets.matrix import Matrix
from widgets.still_table import StillTable

LATENCY_FROM = 34
"""Lines of the terminal from which the latency has a graph of its own."""

_PARSERS = {field.key: field.parse for field in FIELDS}


class SweepScreen(WorkbenchScreen):
    """Left what may be ticked, right the plan it makes; once it runs the matrix, the graphs and the ranking."""

    NAME: ClassVar[str] = "sweep"

    def __init__(self) -> None:
        super().__init__()
        self.seed = random.SystemRandom().randrange(2**31)
        """Decides the random orders of the next sweep."""
        self._draft: Draft | None = None
        self._file: SweepPlan | None = None
        self._named: dict[str, str] = {}
        self._axes: tuple[Axis, ...] = ()
        self._opened: frozenset[str] = frozenset()
        self._looked: object = None
        self._known: Known | None = None
        self._running_view: bool | None = None
        self._curves = Curves()
        self._run_id: str | None = None
        self._found: tuple[object, Results] | None = None
        self._pending = False

    def body(self) -> ComposeResult:
        """The plan, and the sweep; one of them is seen."""
        with Horizontal(id="sweep-plan"):
            with Vertical(id="sweep-left"):
                yield Static("", id="sweep-job", markup=False)
                yield KeyedTable(AXIS_COLUMNS, id="sweep-axes", empty="looking for hardware ...")
                yield Prose("", "label", id="sweep-help")
            with VerticalScroll(id="sweep-right"):
                yield Details(id="sweep-facts")
        with Vertical(id="sweep-run"):
            yield Static("", id="sweep-title", markup=False)
            yield Matrix(id="sweep-matrix")
            yield Static("", id="sweep-legend", markup=False)
            yield Static("", id="sweep-cell", markup=False)
            with Vertical(id="sweep-live"):
                yield LineChart(title="IOPS", id="sweep-iops")
                yield LineChart(title="Latency", id="sweep-latency", log_scale=True)
                yield ProgressLine(id="sweep-step")
                yield ProgressLine(id="sweep-whole")
            with VerticalScroll(id="sweep-found"):
                yield StillTable(id="sweep-ranking")
                yield Details(id="sweep-findings")
            yield Prose("", id="sweep-state")

    def on_mount(self) -> None:
        """Nothing is looked at before the screen is there."""
        ascii = self.workbench_app.ascii
        for chart in self.query(LineChart):
            chart.ascii = ascii
        for line in self.query(ProgressLine):
            line.ascii = ascii
        self.query_one(Matrix).ascii = ascii
        self.call_after_refresh(self._fit)

    def on_resize(self, event: events.Resize) -> None:
        """The latency has a graph where there is room."""
        self._fit()

    def _fit(self) -> None:
        self.query_one("#sweep-latency").display = self.size.height >= LATENCY_FROM
        self.query_one(Matrix).styles.max_height = max(4, self.size.height * 2 // 5)

    @property
    def _sweeping(self) -> Sweeping:
        return self.workbench_app.sweeping

    def show(self, session: Session) -> None:
        """The plan, or the sweep that is followed."""
        if self._running_view is None or (self._running_view and self._sweeping.follower is None):
            self._running_view = self._sweeping.follower is not None
        if self._draft is None and not session.probing:
            self._first_draft(session)
        self._turn()
        if self._running_view:
            self.show_sweep()
        elif self._draft is not None and self._wanted() != self._looked:  # else nothing that matters here is new
            self._replan()

    def _turn(self) -> None:
        """Bring the plan or the sweep into view."""
        running = bool(self._running_view)
        self.query_one("#sweep-plan").display = not running
        self.query_one("#sweep-run").display = running
        wanted = self.query_one(Matrix) if running else self.query_one(KeyedTable)
        part = self.query_one("#sweep-run" if running else "#sweep-plan")
        if self.focused is None or part not in self.focused.ancestors:
            self.set_focus(wanted)

    def action_view(self) -> None:
        """From the plan to the sweep and back."""
        if self._sweeping.follower is None:
            self.say("There is no sweep yet: r starts one.")
            return
        self._running_view = not self._running_view
        self.show(self.workbench_app.session)

    # The plan

    def _first_draft(self, session: Session) -> None:
        """The device that was taken to the bench, else the first array or drive that is free, else a scratch file."""
        app = self.workbench_app
        named = app.options.profile if app.options.profile in PROFILES else next(iter(PROFILES))
        job, name = app.job_choice or (profile(named).job, named)
        free = [
            str(thing.target)
            for thing in _things(session.inventory)
            if thing.device is not None and not thing.uses and thing.target not in session.inventory.twins
        ]
        scratch = os.path.abspath(os.path.expanduser(app.options.scratch))
        address = app.wanted_device[0] if app.wanted_device is not None else next(iter(free), scratch)
        self._draft = Draft(address=address, job=job, profile=name)

    def _plan(self) -> SweepPlan:
        """The plan as it stands. Raises PlanError."""
        if self._file is not None:
            return self._file
        assert self._draft is not None
        return parse_plan(plan_text(self._draft, self._axes).encode(), "the plan")

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
        session = self.workbench_app.session
        changes = (len(session.changes), sum(change.end is not None for change in session.changes))
        whose = self._file if self._file is not None else self._draft and self._draft.address
        return whose, tuple(sorted(self._named.items())), changes

    async def _look(self) -> None:
        self._say_plan("reading the settings of the target ...")
        try:
            self._known = await self._sweeping.look(self._plan(), self._named)
        except RaidbenchError as error:
            self._say_plan(error.message, error.hint)
        else:
            self._with(self._known)

    def _with(self, known: Known) -> None:
        """Rows and plan, now that the targets are known."""
        if self._draft is not None and self._file is None:
            self._axes = axes_of(next(iter(known.holders.values()), ()), self._draft)
        self._show_left()
        if self._file is None and self._draft is not None and not self._draft.varies:
            self._say_plan(
                "Nothing to compare yet.",
                "enter opens an axis, space ticks values; two of any make a sweep. "
                "o opens a plan from a file, or one that comes with raidbench.",
            )
            return
        try:
            design = expand(self._plan(), known, self._seed())
        except RaidbenchError as error:
            self._say_plan(error.message, error.hint)
            return
        self.run_worker(self._survey(design, known), group="sweep-survey", exclusive=True)

    def _seed(self) -> int:
        return self._file.seed if self._file is not None and self._file.seed is not None else self.seed

    async def _survey(self, design: Design, known: Known) -> None:
        try:
            surveyed = await self._sweeping.survey(design, known)
        except RaidbenchError as error:
            self._say_plan(error.message, error.hint)
            return
        self.query_one("#sweep-facts", Details).groups = plan_facts(surveyed, self._sweeping.speed)

    def _say_plan(self, sentence: str, hint: str = "") -> None:
        facts = [Fact(label="", value=sentence)] + ([Fact(label="", value=hint, tone="muted")] if hint else [])
        self.query_one("#sweep-facts", Details).groups = (FactGroup(heading="Plan", facts=tuple(facts)),)

    def _show_left(self) -> None:
        draft = self._draft
        assert draft is not None
        table = self.query_one(KeyedTable)
        if self._file is not None:
            table.rows = file_rows(self._file, self._named)
            about = f" {self._file.about}" if self._file.about else ""
            self.put("#sweep-job", f"Plan: {self._file.title}\nn ticks a plan of your own{about and '.'}{about}")
        else:
            table.rows = axis_rows(self._axes, draft, self._opened)
            name = f"{draft.profile}: " if draft.profile else ""
            self.put("#sweep-job", f"T {draft.address}\np {name}{draft.job.describe()}")
        self._help()

    @on(KeyedTable.RowHighlighted, "#sweep-axes")
    def _row_highlighted(self) -> None:
        self._help()

    def _help(self) -> None:
        line = self.query_one("#sweep-help", Prose)
        axis = self._axis()
        if self._file is not None or axis is None:
            line.say("")
        elif axis.why_not:
            line.say(f"No sweep can change it: {axis.why_not}. {axis.help}", "warning")
        else:
            line.say(axis.help, "label")

    def _axis(self) -> Axis | None:
        """The axis under the cursor, or whose value is."""
        key = (self.query_one(KeyedTable).cursor or "").partition(JOINT)[0]
        return next((axis for axis in self._axes if axis.key == key), None) if self._file is None else None

    @on(KeyedTable.RowSelected, "#sweep-axes")
    def _row_selected(self, event: KeyedTable.RowSelected) -> None:
        if self._file is not None:
            role = event.key.removeprefix("role:")
            if role != event.key:
                self._choose_target(role)
            return
        self._tick()

    def action_tick(self) -> None:
        """Tick the value, or open the axis."""
        if not self._running_view and self._file is None:
            self._tick()

    def _tick(self) -> None:
        axis, draft = self._axis(), self._draft
        key = self.query_one(KeyedTable).cursor or ""
        if axis is None or draft is None:
            return
        if axis.why_not:
            self.say(f"{axis.label}: {axis.why_not}.", severity="warning")
        elif key.endswith(OTHER):
            self._ask_values(axis)
        elif JOINT in key:
            self._draft = draft.toggled(axis, key.partition(JOINT)[2])
            self._replan()
        else:
            self.action_axis(axis.key not in self._opened)

    def action_axis(self, opened: bool) -> None:
        """Show the values of the axis, or only its name."""
        axis = self._axis()
        if self._running_view or axis is None or axis.why_not:
            return
        self._opened = self._opened | {axis.key} if opened else self._opened - {axis.key}
        if not opened:
            self.query_one(KeyedTable).cursor = axis.key
        self._show_left()

    def _ask_values(self, axis: Axis) -> None:
        unit = f" in {axis.unit}" if axis.unit else ""
        help = f"One or several{unit}, with commas between them. {axis.help}"
        self.app.push_screen(TextDialog(axis.label, help=help), lambda text: self._typed(axis, text))

    def _typed(self, axis: Axis, text: str | None) -> None:
        """Tick what was typed, unless it is no value of the field."""
        for value in (part.strip() for part in (text or "").split(",")):
            if not value or self._draft is None or self._draft.has(axis, value):
                continue
            try:
                if axis.kind == "job":
                    _PARSERS[axis.name](value)
            except InvalidValueError as error:
                self.say(f"{error.message}. {error.hint}".strip(), severity="warning")
                return
            self._draft = self._draft.toggled(axis, value)
        self._replan()

    def action_profile(self) -> None:
        """Choose the workload that the axes vary."""
        if self._running_view or self._file is not None or self._draft is None:
            return
        choices = tuple(
            Choice(value=known.name, label=known.title, help=known.help, risk="writes" if known.job.writes else "")
            for known in PROFILES.values()
        )

        def chosen(name: str | None) -> None:
            if name is not None:
                self._take_job(profile(name).job, name)

        self.app.push_screen(ChoiceDialog("Workload", choices, self._draft.profile), chosen)

    def action_edit(self) -> None:
        """Change the fields of the job that the axes vary."""
        if self._running_view or self._file is not None or self._draft is None:
            return
        before = self._draft.job

        def edited(job: Job | None) -> None:
            if job is not None and job != before:
                self._take_job(job, None)

        self.app.push_screen(JobForm(before), edited)

    def _take_job(self, job: Job, name: str | None) -> None:
        draft = self._draft
        assert draft is not None
        self._draft = Draft(address=draft.address, job=job, profile=name, ticked=draft.ticked)
        self._replan()

    def action_target(self) -> None:
        """Choose what is measured."""
        if self._running_view:
            return
        self._choose_target(self._file.measure if self._file is not None else "")

    def _choose_target(self, role: str) -> None:
        now = self._named.get(role, "") if self._file is not None else (self._draft.address if self._draft else "")
        choices = _targets(self.workbench_app.session.inventory, controllers=bool(role))
        title = f"Target {role}" if role else "What to measure"

        def chosen(address: str | None) -> None:
            if address == "":
                start = self.workbench_app.options.scratch
                help = "A folder, or a file that does not exist yet."
                self.app.push_screen(TextDialog("Scratch file", start, help=help), lambda path: self._take(role, path))
            else:
                self._take(role, address)

        self.app.push_screen(ChoiceDialog(title, choices, now), chosen)

    def _take(self, role: str, address: str | None) -> None:
        if not address or self._draft is None:
            return
        if ":" not in address:
            address = os.path.abspath(os.path.expanduser(address))
        if self._file is not None:
            self._named[role] = address
        else:
            kept = {key: values for key, values in self._draft.ticked.items() if not key.startswith("setting:")}
            self._draft = Draft(address=address, job=self._draft.job, profile=self._draft.profile, ticked=kept)
        self._replan()

    def action_open_plan(self) -> None:
        """Take a plan that comes with raidbench, or one of a file."""
        choices = [Choice(value="", label="a file ...", help="A plan in TOML: docs/sweep.md describes it.")]
        for name, file in shipped().items():
            plan = load_plan(str(file))
            choices.append(Choice(value=name, label=f"{name}: {plan.title}", help=plan.about))

        def chosen(name: str | None) -> None:
            if name == "":
                self.app.push_screen(TextDialog("Plan file", help="A TOML file."), self._open)
            else:
                self._open(name)

        self.app.push_screen(ChoiceDialog("Open a plan", tuple(choices)), chosen)

    def _open(self, name: str | None) -> None:
        if not name:
            return
        try:
            self._file = load_plan(os.path.expanduser(name))
        except RaidbenchError as error:
            self.workbench_app.tell(error, title="Not a plan")
            return
        self._named, self._running_view = {}, False
        self._turn()
        self._replan()

    def action_new_plan(self) -> None:
        """Back to ticking."""
        self._file, self._named, self._running_view = None, {}, False
        self._turn()
        if self._draft is not None:
            self._replan()

    def action_save_plan(self) -> None:
        """Write the plan to a file that `raidbench sweep` takes."""
        if self._draft is None or (self._file is None and not self._draft.varies):
            self.say("Nothing is ticked yet, so there is no plan to save.")
            return
        help = "`raidbench sweep FILE` runs it; an existing file is not overwritten."
        self.app.push_screen(TextDialog("Save the plan as", "sweep.toml", help=help), self._save)

    def _save(self, name: str | None) -> None:
        if not name:
            return
        path = Path(os.path.expanduser(name)).absolute()
        try:
            source = self._plan().source
            with path.open("x", encoding="utf-8") as file:
                file.write(source)
        except PlanError as error:
            self.workbench_app.tell(error, title="Not saved")
        except OSError as error:
            self.say(f"{clean(str(path), 200)}: {error.strerror}.", severity="error", title="Not saved")
        else:
            self.say(f"The plan is in {path}: raidbench sweep {path}")

    def action_run(self) -> None:
        """Ask, then start."""
        if self._sweeping.running:
            self.say("A sweep is running already: x stops it.")
            return
        if self._running_view:
            self.action_view()
            return
        if self._draft is None or self._pending or (self._file is None and not self._draft.varies):
            self.say("Tick two values of an axis first: enter opens it, space ticks.")
            return
        self._pending = True
        self.app.run_worker(self._begin(), group="sweep-begin", exit_on_error=True)

    async def _begin(self) -> None:
        try:
            if await self._sweeping.begin(self._plan(), dict(self._named), self._seed()):
                self.seed = random.SystemRandom().randrange(2**31)
                self._running_view = True
                self.workbench_app.refresh_screen()
        except PlanError as error:
            self.workbench_app.tell(error, title="No sweep")
        finally:
            self._pending = False

    # The sweep

    def action_stop(self) -> None:
        """Ask it to stop; everything is put back first."""
        if not self._sweeping.stop():
            self.say("No sweep is running.")

    def action_go_on(self) -> None:
        """Go on with a sweep that was stopped or cut short."""
        follower = self._sweeping.follower
        record = follower.record if follower is not None else None
        if follower is None or record is None or self._sweeping.running:
            self.say("There is no sweep that could go on.")
        elif record.finished:
            self.say("It is finished: there is nothing left to do.")
        else:
            self.app.run_worker(self._sweeping.go_on(follower.folder), group="sweep-begin", exit_on_error=True)

    def action_export(self) -> None:
        """Write the report of the sweep's session."""
        follower = self._sweeping.follower
        if follower is None or follower.record is None:
            self.say("There is no sweep to report.")
            return
        self.workbench_app.ask_export_of(follower.session, follower.folder)

    def show_sweep(self) -> None:
        """Bring matrix, graphs and findings up to date."""
        follower = self._sweeping.follower
        record = follower.record if follower is not None else None
        if not self._running_view or follower is None or record is None:
            return
        session, running = follower.session, follower.running
        found = self._results(session, record)
        self.query_one(Matrix).grid = grid(record, found)
        self.put("#sweep-title", title_words(session, record))
        self.put("#sweep-legend", LEGEND)
        self.query_one("#sweep-live").display = running
        self.query_one("#sweep-found").display = not running
        self._show_cell(record, found)
        if running:
            self._show_live(session.active, record)
        else:
            self.query_one("#sweep-findings", Details).groups = findings(record, found)
        words, tone = state_words(record, running=running, stopping=self._sweeping.stopping)
        self.query_one("#sweep-state", Prose).say(words, tone)

    def _results(self, session: Session, record: SweepRecord) -> Results:
        """What was found so far; judged anew only when a step ended."""
        key = (session.id, len(record.ended), len(record.cells))
        if self._found is None or self._found[0] != key:
            self._found = (key, results(record, session.runs))
        return self._found[1]

    @on(Matrix.Moved)
    def _moved(self) -> None:
        follower = self._sweeping.follower
        if follower is not None and follower.record is not None:
            self._show_cell(follower.record, self._results(follower.session, follower.record))

    def _show_cell(self, record: SweepRecord, found: Results) -> None:
        """The cell under the cursor, and the ranking of its workload."""
        one = cell_at(found, *self.query_one(Matrix).cursor)
        self.put("#sweep-cell", cell_words(one, record, found.rank))
        table = self.query_one("#sweep-ranking", StillTable)
        table.columns, table.rows = ranking(found, one.cell.column if one is not None else found.columns[0])

    def _show_live(self, active: ActiveRun | None, record: SweepRecord) -> None:
        now = time.time()
        self.query_one("#sweep-whole", ProgressLine).progress = whole(record, now, self._sweeping.speed or 1.0)
        if active is None:
            self.query_one("#sweep-step", ProgressLine).progress = None
            return
        if active.start.id != self._run_id:
            self._run_id, self._curves = active.start.id, Curves()
        ramp = float(active.start.job.get("ramp", "0").rstrip("s") or 0)
        self._curves.take(active.samples, ramp)
        total = active.start.planned_seconds
        self.query_one("#sweep-iops", LineChart).data = throughput_chart(
            self._curves, rate=False, total=total, baseline=None
        )
        self.query_one("#sweep-latency", LineChart).data = latency_chart(self._curves, total=total)
        self.query_one("#sweep-step", ProgressLine).progress = progress(active, now)


def _things(inventory: Inventory) -> tuple[Array | Drive, ...]:
    return (*inventory.arrays, *inventory.drives)


def _targets(inventory: Inventory, *, controllers: bool) -> tuple[Choice, ...]:
    """A scratch file, then everything with a block device; controllers where a plan names them."""
    choices = [Choice(value="", label="scratch file", help="Made for the runs and removed afterwards: safe.")]
    for thing in _things(inventory):
        if thing.device is None or thing.target in inventory.twins:
            continue
        used = f"in use: {thing.uses[0].kind} {thing.uses[0].detail}. " if thing.uses else ""
        name = getattr(thing, "model", None) or getattr(thing, "name", None) or ""
        label = " ".join(filter(None, (str(thing.target), units.size(thing.size_bytes), name)))
        help = f"{used}Reading a raw device is safe, writing to it destroys what is on it."
        choices.append(Choice(value=str(thing.target), label=label, help=help, risk="in use" if thing.uses else ""))
    if controllers:
        choices += [
            Choice(value=str(one.target), label=f"{one.target} {one.model or ''}".rstrip(), help="A controller.")
            for one in inventory.controllers
        ]
    return tuple(choices)
