"""Choosing a job, running it, watching it."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Static

from app.engine.fio.job import Job
from app.engine.fio.jobfile import import_jobfile
from app.engine.fio.profiles import PROFILES, profile
from app.engine.measure.measurer import Request
from app.engine.measure.preconditioning import WORKLOAD, precondition_request
from app.engine.measure.scratch import DEFAULT_SIZE
from app.engine.session.figures import Advice, MemberFigures, Phase, RunFigures, RunStatus
from app.engine.session.state import ActiveRun, RunRecord, Session
from app.engine.session.steady import SteadyPlan
from app.engine.view.events import after_words
from app.engine.view.run import cpu_line, result_line
from app.tui.base import WorkbenchScreen
from app.tui.screens.bench.ab_lines import ended_line, progress_line, running
from app.tui.screens.bench.advice import AdviceScreen
from app.tui.screens.bench.allowing import allowed
from app.tui.screens.bench.curves import Curves
from app.tui.screens.bench.job_form import JobForm
from app.tui.screens.bench.live_view import (
    advice_line,
    chart_seconds,
    heat_chart,
    latency_chart,
    machine_line,
    progress,
    side_figures,
    side_latency,
    stall_words,
    throughput_chart,
)
from app.tui.screens.bench.members import NARROW_BAR, WIDE_BAR, member_table
from app.tui.screens.bench.steady import place_line, steady_choices, steady_plan, steady_way
from backends.errors import RaidbenchError
from backends.model import Array, Drive
from backends.text import clean
from widgets.bars import ProgressLine
from widgets.chart import LineChart
from widgets.choice_list import ChoiceDialog, ChoiceItem
from widgets.details import Details
from widgets.field_dialog import TextDialog
from widgets.heat_chart import HeatChart
from widgets.plain import units
from widgets.still_table import StillTable

ZOOMS = (0.0, 300.0, 120.0, 60.0, 30.0, 10.0)
"""Seconds shown; 0 is the whole job."""

SIDE_FROM = 96
"""Columns from which the figures stand beside the graphs."""

MEMBER_ROWS = ((50, 16), (30, 8), (0, 4))
"""Lines of the terminal, and how many rows of members leave the graphs enough of them."""

MEMBERS_EVERY = 0.95
"""Seconds of the run for which the figures of the members stand: nobody reads a table that changes faster, and all of
its lines have to be drawn and sent.
"""

_JOBFILE_LIMIT = 1 << 20

_SEVERITIES = {RunStatus.OK: "information", RunStatus.STOPPED: "warning", RunStatus.FAILED: "error"}
"""How the end of a run is told in the corner."""


class BenchScreen(WorkbenchScreen):
    """The job, two live graphs, progress and what the run says."""

    NAME: ClassVar[str] = "bench"

    def __init__(self) -> None:
        super().__init__()
        self.job: Job = profile("randread-4k").job
        """The job to be run."""
        self.profile: str | None = "randread-4k"
        """Its name, None once a field was changed."""
        self.where = "."
        """Device node, or folder or file of a scratch file."""
        self.target_name: str | None = None
        """Address of a device; None for a scratch file."""
        self.steady: SteadyPlan | None = None
        """What to do about the steady state; None measures at once."""
        self._curves = Curves()
        self._run_id: str | None = None
        self._rate = False
        self._zoom = 0
        self._total: float | None = None
        self._members_at = -1.0
        self._pending = False
        self._ended: str | None = None
        self._chosen = False
        self._advice: tuple[Advice, ...] = ()
        self._foreseen: object = None

    def body(self) -> ComposeResult:
        """From the job down to the message line."""
        yield Static("", id="job", markup=False)
        with Horizontal(classes="graph-row"):
            yield LineChart(title="IOPS", id="throughput")
            yield Details(id="side-throughput")
        with Horizontal(classes="graph-row"):
            yield LineChart(title="Latency", id="latency", log_scale=True)
            yield HeatChart(title="Latency", id="heat", log_scale=True)
            yield Details(id="side-latency")
        yield ProgressLine(id="progress")
        yield StillTable(id="members")
        yield Static("", id="machine-line", markup=False)
        yield Static("", id="advice", markup=False)
        yield Static("", id="message", markup=False)

    def on_mount(self) -> None:
        """Takes the job and the place to begin with."""
        options = self.workbench_app.options
        if options.profile in PROFILES:
            self.profile = options.profile
            self.job = profile(options.profile).job
        self.where = options.scratch
        for chart in self.query(LineChart):
            chart.ascii = self.workbench_app.ascii
        self.query_one(ProgressLine).ascii = self.workbench_app.ascii
        self.call_after_refresh(self._widths)
        wanted = self.workbench_app.wanted_device
        if wanted is not None:
            self.take_device(*wanted)

    def on_resize(self, event: events.Resize) -> None:
        """Figures beside the graphs only where the graphs keep their width."""
        self._widths()
        self._show_advice(self._advice)

    def _widths(self) -> None:
        for row in self.query(".graph-row"):
            row.set_class(self.size.width < SIDE_FROM, "-narrow")

    def take_device(self, name: str, device: str) -> None:
        """Measure this device from now on."""
        self.target_name, self.where, self._chosen = name, device, True
        self._show_job()

    def show(self, session: Session) -> None:
        """Graphs and figures of the running job, or of the last one."""
        if session.simulated and not self._chosen:
            self._take_first_array(session)
        self._show_job()
        active = session.active
        if active is not None:
            self._show_active(active, session)
        elif self._run_id is not None and (run := session.run(self._run_id)) is not None and run.end is not None:
            self._show_ended(run)
        elif not self._pending:
            self.put("#message", "r runs the job; p chooses another, T the target.")
        self._show_experiment(session)

    def _show_experiment(self, session: Session) -> None:
        """Which run of which pair goes on, and what the pairs show so far; at the end, what they have shown."""
        record = session.experiments[-1] if session.experiments else None
        if record is None:
            return
        last = session.run(self._run_id) if self._run_id is not None else None
        if running(session) is not None and self.workbench_app.workbench.measuring:
            if session.active is None or not session.active.message:
                self.put("#message", progress_line(session, record))
        elif last is not None and last.start.mark is not None and last.start.mark.experiment == record.id:
            self.put("#message", ended_line(session, record))

    def _take_first_array(self, session: Session) -> None:
        """On a simulated machine a scratch file would tell nothing: begin with the first array that is free."""
        free = [array for array in session.inventory.arrays if array.device is not None and not array.uses]
        free.sort(key=lambda array: array.controller is None)  # those of a card before the kernel's own
        if free and free[0].device is not None:
            self.take_device(str(free[0].target), free[0].device)

    def _show_job(self) -> None:
        self.workbench_app.job_choice = (self.job, self.profile)
        active = self.workbench_app.session.active
        if active is not None:  # what is measured now, whatever is chosen for later
            profile = f"{active.start.profile}: " if active.start.profile else ""
            place = place_line(active.start.target, active.start.steady)
            self.put("#job", f"{profile}{active.start.title}\n{place}")
            return
        self._foresee(self.workbench_app.session)
        target = f"{self.target_name} ({self.where})" if self.target_name else self._scratch_words()
        name = f"{self.profile}: " if self.profile else ""
        self.put("#job", f"{name}{self.job.describe()}\n{place_line(target, self.steady)}")

    def _scratch_words(self) -> str:
        size = self.job.size or self.workbench_app.options.scratch_size or DEFAULT_SIZE
        place = os.path.abspath(os.path.expanduser(self.where))
        return f"a scratch file of {units.size(size)} in {clean(place, 200)}"

    def _baseline(self, session: Session) -> RunFigures | None:
        run = session.run(session.baseline) if session.baseline else None
        return run.figures if run is not None and run.id != self._run_id else None

    def _show_active(self, active: ActiveRun, session: Session) -> None:
        if active.start.id != self._run_id:
            self._run_id = active.start.id
            self._curves = Curves()
            self._members_at = -1.0
            self._show_members(())
            for chart in self.query(LineChart):
                chart.frozen = False
        ramp = float(active.start.job.get("ramp", "0").rstrip("s") or 0)
        self._curves.take(active.samples, ramp)
        self._draw(chart_seconds(active), session)
        self.query_one(ProgressLine).progress = progress(active, time.time())
        at = active.samples[-1].at if active.samples else 0.0
        if active.members and not self._members_at < at < self._members_at + MEMBERS_EVERY:
            self._members_at = at
            self._show_members(active.members)
        steady = active.steady if active.phase in (Phase.SETTLING, Phase.MEASURING) else None
        self.put("#machine-line", machine_line(steady, active.fio_percent_of_core, active.host_percent))
        self.put("#message", " ".join(filter(None, (stall_words(self._curves), active.message))))
        self._show_advice(active.advice)

    def _show_advice(self, advice: tuple[Advice, ...]) -> None:
        """The advisor's line; no line where nothing is to be said."""
        self._advice = advice
        self.query_one("#advice").set_class(bool(advice), "-said")
        self.put("#advice", advice_line(advice, self.size.width - 2, ascii=self.workbench_app.ascii))

    def _foresee(self, session: Session) -> None:
        """Ask the advisor about the job as it stands, once for each job, target and state of the devices."""
        wanted = (self.job, self.where, self.target_name, session.inventory, session.changes)
        if session.probing or session.active is not None or self._foreseen == wanted:
            return
        self._foreseen = wanted
        self.run_worker(self._ask_advice(wanted), group="advice", exclusive=True)

    async def _ask_advice(self, wanted: object) -> None:
        bench = self.workbench_app.workbench
        said = await bench.foresee(self._request())
        if self._foreseen == wanted and bench.session.active is None and not self._pending:
            self._show_advice(said)

    def _request(self) -> Request:
        """What `r` would measure."""
        job = self.job
        if job.size is None and self.target_name is None:
            size = self.workbench_app.options.scratch_size or DEFAULT_SIZE
            job = Job.from_fields({"size": str(size)}, job)
        name = self.target_name or self.where
        return Request(where=self.where, name=name, job=job, profile=self.profile, steady=self.steady)

    def _draw(self, total: float | None, session: Session) -> None:
        self._total = total
        upper = self.query_one("#throughput", LineChart)
        lower = self.query_one("#latency", LineChart)
        upper.title = "MiB/s" if self._rate else "IOPS"
        upper.data = throughput_chart(self._curves, rate=self._rate, total=total, baseline=self._baseline(session))
        lower.data = latency_chart(self._curves, total=total)
        heat = self.query_one(HeatChart)
        if heat.display:
            heat.data = heat_chart(self._curves, total=total)
        if self.size.width >= SIDE_FROM and not upper.frozen:
            self.query_one("#side-throughput", Details).groups = side_figures(self._curves, rate=self._rate)
            self.query_one("#side-latency", Details).groups = side_latency(self._curves)

    def _show_members(self, members: tuple[MemberFigures, ...]) -> None:
        """What each member of the array does, as far as there is room beside the graphs."""
        if self.query_one("#throughput", LineChart).frozen and members:
            return
        most = next(rows for height, rows in MEMBER_ROWS if self.size.height >= height)
        bar = WIDE_BAR if self.size.width >= SIDE_FROM else NARROW_BAR
        table = self.query_one(StillTable)
        table.columns, table.rows = member_table(members, most=most, bar=bar, ascii=self.workbench_app.ascii)

    def _show_ended(self, run: RunRecord) -> None:
        if self._ended == run.id:
            return
        self._ended = run.id
        self.query_one(ProgressLine).progress = None
        self._show_members(run.figures.members)
        self._show_advice(run.figures.advice)
        self.put(
            "#message",
            "\n".join(filter(None, (result_line(run.figures), *after_words(run.figures)))),
        )
        cpu = run.figures.cpu
        self.put("#machine-line", cpu_line(cpu.fio_percent_of_core, cpu.host_percent))
        waited = run.figures.steady.waited_s if run.figures.steady is not None else 0.0
        self._draw(run.start.planned_seconds + waited, self.workbench_app.session)

    def action_run(self) -> None:
        """Prepare the job, ask where that is needed, run it."""
        self._start(self._request)

    def action_precondition(self) -> None:
        """Write all of the target twice, then the job until it is steady; asked for by itself."""

        def request() -> Request:
            wanted = self._request()
            job, name = wanted.job, wanted.profile
            if not job.writes:  # reading changes nothing about a drive
                job, name = replace(profile(WORKLOAD).job, size=job.size), WORKLOAD
            plan = self.workbench_app.options.steady
            return precondition_request(wanted.where, wanted.name, job, plan, profile=name)

        self._start(request)

    def action_steady(self) -> None:
        """Choose what to do about the steady state."""
        base = self.workbench_app.options.steady

        def chosen(value: str | None) -> None:
            if value is not None:
                self.steady = steady_plan(base, value)
                self._show_job()

        self.app.push_screen(ChoiceDialog("Steady state", steady_choices(base), steady_way(self.steady)), chosen)

    def _start(self, request: Callable[[], Request]) -> None:
        if self.workbench_app.workbench.measuring or self._pending:
            self.say("A job is running already: x stops it.")
            return
        self._pending = True
        self.put("#message", "looking at the target ...")
        # On the app, so that looking at another screen does not end the run.
        self.app.run_worker(self._run(request), group="bench", exit_on_error=True)

    async def _run(self, request: Callable[[], Request]) -> None:
        bench = self.workbench_app.workbench
        try:
            ready = await bench.prepare(request())
            self._show_advice(ready.advice)
            if not await allowed(self.workbench_app, ready):
                self.put("#message", "not started")
                return
            record = await bench.measure(ready, confirm=ready.confirm_text)
            if self._run_id != record.id:  # over before anything of it was drawn
                self._run_id, self._curves = record.id, Curves()
            self._show_ended(record)
            self._show_job()
            text = "\n".join(filter(None, (result_line(record.figures), record.figures.hint)))
            self.say(text, severity=_SEVERITIES[record.figures.status], title=f"{record.id} is over")
        except RaidbenchError as error:
            self.workbench_app.tell(error, title="Not measured")
            self.put("#message", " ".join(filter(None, (error.message, error.hint))))
        finally:
            self._pending = False

    def action_stop(self) -> None:
        """End the running job in good order."""
        if not self.workbench_app.workbench.measuring:
            self.say("No job is running.")
            return
        self.workbench_app.workbench.stop()
        then = ", then the old value is put back" if running(self.workbench_app.session) is not None else ""
        self.put("#message", f"stopping: fio brings its I/O to an end and sums up{then}")

    def action_advice(self) -> None:
        """All that is said of the job, of the running one or of the one whose figures are shown."""
        if not self._advice:
            self.say("There is nothing to be said against this job so far.")
            return
        self.app.push_screen(AdviceScreen("Advice", self._advice))

    def action_profile(self) -> None:
        """Choose a workload."""
        choices = tuple(
            ChoiceItem(value=known.name, label=known.title, help=known.help, risk="writes" if known.job.writes else "")
            for known in PROFILES.values()
        )

        def chosen(name: str | None) -> None:
            if name is not None:
                self.profile, self.job = name, profile(name).job
                self._show_job()

        self.app.push_screen(ChoiceDialog("Workload", choices, self.profile), chosen)

    def action_edit(self) -> None:
        """Change the fields of the job."""

        def edited(job: Job | None) -> None:
            if job is not None and job != self.job:
                self.job, self.profile = job, None
                self._show_job()

        self.app.push_screen(JobForm(self.job), edited)

    def action_open(self) -> None:
        """Take the job from a fio job file."""
        help = "Options are taken from an allow-list; what cannot be taken is named."
        self.app.push_screen(TextDialog("fio job file", help=help), self._opened)

    def _opened(self, name: str | None) -> None:
        if not name:
            return
        try:
            imported = import_jobfile(_read_jobfile(os.path.expanduser(name)))
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else None
            self.say(f"{clean(name)} cannot be read: {reason or error}.", severity="error")
            return
        except RaidbenchError as error:
            self.workbench_app.tell(error, title="Not a job for raidbench")
            return
        first = imported.jobs[0]
        self.job, self.profile = first.job, None
        for note in (*imported.notes, *first.notes):
            self.say(note, severity="warning")
        if len(imported.jobs) > 1:
            self.say(f"Job [{clean(first.name)}] of {len(imported.jobs)} was taken.", severity="warning")
        self._show_job()

    def action_target(self) -> None:
        """Choose a scratch file or a device."""
        session = self.workbench_app.session
        choices = [
            ChoiceItem(
                value="", label="scratch file", help="A file that is made for the run and removed afterwards: safe."
            )
        ]
        things: tuple[Array | Drive, ...] = (*session.inventory.arrays, *session.inventory.drives)
        for thing in things:
            if thing.device is None:
                continue
            used = f"in use: {thing.uses[0].kind} {thing.uses[0].detail}. " if thing.uses else ""
            name = getattr(thing, "model", None) or getattr(thing, "name", None) or ""
            choices.append(
                ChoiceItem(
                    value=str(thing.target),
                    label=" ".join(filter(None, (str(thing.target), units.size(thing.size_bytes), name))),
                    help=f"{used}Reading a raw device is safe, writing to it destroys what is on it.",
                    risk="in use" if thing.uses else "",
                )
            )

        def chosen(address: str | None) -> None:
            if address is None:
                return
            if address == "":
                self._ask_scratch()
                return
            found = session.inventory.find(address)
            device = getattr(found, "device", None)
            if device is not None:
                self.take_device(address, device)

        self.app.push_screen(ChoiceDialog("What to measure", tuple(choices), self.target_name or ""), chosen)

    def _ask_scratch(self) -> None:
        def named(place: str | None) -> None:
            if place:
                self.target_name, self.where, self._chosen = None, place, True
                self._show_job()

        start = self.where if self.target_name is None else self.workbench_app.options.scratch
        self.app.push_screen(
            TextDialog("Scratch file", start, help="A folder, or a file that does not exist yet."), named
        )

    def action_baseline(self) -> None:
        """Mark the run shown here as baseline."""
        session = self.workbench_app.session
        run_id = self._run_id or (session.runs[-1].id if session.runs else None)
        if run_id is None:
            self.say("There is no run yet.")
            return
        try:
            self.workbench_app.workbench.mark_baseline(None if session.baseline == run_id else run_id)
        except RaidbenchError as error:
            self.workbench_app.tell(error)
            return
        self.say(f"{run_id} is {'no longer ' if session.baseline == run_id else ''}the baseline.")

    def action_freeze(self) -> None:
        """Hold the graphs still, or let them go."""
        for chart in self.query(LineChart):
            chart.frozen = not chart.frozen

    def action_heat(self) -> None:
        """Latency as percentiles, or how all of it is spread."""
        heat, lines = self.query_one(HeatChart), self.query_one("#latency", LineChart)
        heat.display, lines.display = not heat.display, heat.display
        self._draw(self._total, self.workbench_app.session)

    def action_zoom(self, step: int) -> None:
        """Show less or more time."""
        self._zoom = min(max(self._zoom + step, 0), len(ZOOMS) - 1)
        for chart in self.query(LineChart):
            chart.window = ZOOMS[self._zoom]

    def action_unit(self) -> None:
        """IOPS or MiB/s."""
        self._rate = not self._rate
        self._draw(self._total, self.workbench_app.session)

    def action_scale(self) -> None:
        """Linear or logarithmic latency."""
        chart = self.query_one("#latency", LineChart)
        chart.log_scale = not chart.log_scale


def _read_jobfile(path: str) -> bytes:
    """The first MiB of a regular file: a pipe would be waited for. Raises OSError, ValueError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is not a regular file")
        return file.read(_JOBFILE_LIMIT)
