"""The Bench screen: choose a job, run it, watch it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.notifications import SeverityLevel
from textual.widgets import Static

from app.core.benchmark.conditions.facts import join_texts
from app.core.benchmark.preconditioning import WORKLOAD, precondition_request
from app.core.benchmark.runner import BenchmarkRequest
from app.core.fio.profiles import profile
from app.core.presentation.device import settings_in_force, settings_since_text, values_in_force
from app.core.presentation.members import cache_line
from app.core.presentation.run import cpu_line, result_line, silence_text, stall_text
from app.core.session.events import RunTarget
from app.core.session.results import Advice, MemberStats, Phase, RunStatus
from app.core.session.state import ActiveRun, RunRecord, Session
from app.tui.activity_watch import ActivityWatch
from app.tui.bench.advice import show_advice
from app.tui.bench.current_load import SPAN_S, CurrentLoad
from app.tui.bench.curves import Curves, change_marks, event_marks, ramp_of
from app.tui.bench.job_selection import JobSelectionScreen
from app.tui.bench.live_view import JOIN, advice_line, chart_seconds, job_line, machine_line, progress, target_line
from app.tui.bench.members import NARROW_BAR, WIDE_BAR, member_table
from app.tui.bench.run_graphs import GraphKeys, RunGraphs, past_run_marks, time_axis_seconds
from app.tui.bench.summary import (
    comparison_run,
    ended_line,
    next_step_text,
    progress_line,
    running_experiment,
    summary_lines,
)
from app.tui.bench.write_confirmation import confirm_run
from app.tui.header_text import TALL
from app.tui.notices import join_sentences
from backends.errors import RaidbenchError
from backends.sizes import size_words
from backends.text import clean
from backends.topology import kernel_name
from widgets.bars import ProgressLine
from widgets.chart_data import WAITING
from widgets.static_table import StaticTable
from widgets.text_utils.text import shorten

WIDE = 96
"""Minimum width of the terminal in columns for long bars."""

MEMBER_ROWS = ((50, 16), (30, 8), (0, 4))
"""Terminal heights, and the number of member rows that leave enough room for the graphs."""

MEMBERS_EVERY = 0.95
"""Minimum seconds between two updates of the member table, in time of the run. Faster updates could not be
read, and each update sends all lines of the table to the terminal."""

ADVICE_LINES = 2
"""Number of lines for advice on a tall terminal."""

_PARTS_HINT = "<bench.next-part> shows the graphs of each section or target alone, <bench.previous-part> goes back."

_IDLE = "<bench.run> runs the job; <bench.profile> chooses another, <bench.target> the target."


_SEVERITIES: dict[RunStatus, SeverityLevel] = {
    RunStatus.OK: "information",
    RunStatus.STOPPED: "warning",
    RunStatus.FAILED: "error",
}
"""Severity of the notice about the end of a run. Only other screens show it."""


class BenchScreen(GraphKeys, JobSelectionScreen):
    """The job, its metrics and graphs, progress and messages. A run continues on any screen."""

    NAME: ClassVar[str] = "bench"

    def __init__(self) -> None:
        super().__init__()
        self.pending = False
        """Whether a job was requested and has not ended."""
        self.not_run = ""
        """Message that the requested job did not run; "" if it ran or none was requested."""
        self.shown: str | None = None
        """Id of the run whose results are shown."""
        self._graphs, self._progress_line = RunGraphs(id="graphs"), ProgressLine(id="progress")
        self._curves = Curves()
        self._values: tuple[tuple[RunTarget, ...], dict[str, str]] = ((), {})
        self._members_at = -1.0
        self._job_state: tuple[object, object, int] | None = None
        self._ended: str | None = None
        self._choice_then: tuple[object, ...] = ()
        self._advice: tuple[Advice, ...] = ()
        self._is_advice_of_next = False
        self._advice_state: object = None
        self._why_not = ""
        self._load = CurrentLoad()
        self._activity: ActivityWatch | None = None

    def body(self) -> ComposeResult:
        """Compose the screen from the target down to the message line."""
        yield Static("", id="target", markup=False)
        yield Static("", id="job", markup=False)
        yield Static("", id="since", markup=False)
        yield self._graphs
        yield self._progress_line
        yield StaticTable(id="members")
        yield Static("", id="machine-line", markup=False)
        yield Static("", id="advice", markup=False)
        yield Static("", id="message", markup=False)

    @property
    def graphs(self) -> RunGraphs:
        """The metrics and graphs."""
        return self._graphs

    @property
    def place(self) -> str:
        """The state of the screen, which decides the keys in the footer. No widget of this screen takes the focus."""
        if self.workbench_app.session.active is not None:
            return "bench-running"
        return "bench-idle" if self._ended is None else "bench-ended"

    def on_mount(self) -> None:
        """Select the initial job and target."""
        self._activity = ActivityWatch(self, self._loaded_devices, self._show_load)
        self.begin_with_options()
        self._progress_line.ascii = self.workbench_app.ascii
        wanted = self.workbench_app.wanted_device
        if wanted is not None:
            self.take_device(*wanted)

    def on_resize(self, event: events.Resize) -> None:
        """Fit the one-line texts to the new width."""
        self.show_advice(self._advice, of_next=self._is_advice_of_next)
        self.show_job()

    def show(self, session: Session) -> None:
        """Show graphs and metrics of the running job, or of the last one."""
        self.take_first_array(session)
        active = session.active
        if active is not None:
            self._show_active(active, session)
        elif self.shown is not None and (run := session.run(self.shown)) is not None and run.end is not None:
            self.show_ended(run)
        elif not self.pending:
            self._draw_load()
            self.show_message(self._why_not or self.not_run or _IDLE)
        self.show_job()
        self._show_experiment(session)

    @on(events.ScreenResume)
    def _read_at_once(self) -> None:
        """Read the current load again at once."""
        if self._activity is not None:
            self._activity.restart()

    def _loaded_devices(self) -> tuple[str, ...]:
        """Return the kernel names of the devices below the target; () once there is a run."""
        is_before_run = self.shown is None and not self.pending and self.workbench_app.session.active is None
        return self._load.devices if is_before_run else ()

    def _show_load(self) -> None:
        if self._activity is not None:
            rates = self._activity.meter.rates
            self._load.add([rates[device] for device in self._load.devices if device in rates])
            self._draw_load()

    def _draw_load(self) -> None:
        """Draw the current load of the target before a run."""
        load = self._load
        self.graphs.draw(
            load.curves,
            total=SPAN_S if load.rows else None,
            waiting=self.with_keys("<bench.run> runs the job"),
            load=load.rows,
        )

    def _show_experiment(self, session: Session) -> None:
        """Show the progress and the interim result of an A/B; once it has ended, show its final result."""
        record = session.experiments[-1] if session.experiments else None
        if record is None:
            return
        last = session.run(self.shown) if self.shown is not None else None
        if running_experiment(session) is not None and self.workbench_app.workbench.jobs.running:
            if session.active is None or not session.active.message:
                left = 0.0 if session.active is None else progress(session.active, time.time()).eta or 0.0
                self.show_message(progress_line(session, record, left))
        elif last is not None and last.start.mark is not None and last.start.mark.experiment == record.id:
            self.show_message(ended_line(session, record, brief=self.has_class("-short")))

    def show_message(self, text: str) -> None:
        """Show a message about the run."""
        self.put("#message", text)

    def show_job(self) -> None:
        """Show target, effective settings and job of the run whose figures are shown; without one, the chosen ones."""
        app, session = self.workbench_app, self.workbench_app.session
        app.job_choice = (self.job, self.profile)
        width = self.app.size.width - 2
        run = self._shown_run(session)
        state = None
        if session.active is None:
            self._request_advice(session)
        elif run is not None:
            state = (run.start, session.inventory, width)
            known = self._job_state
            if known is not None and known[0] is state[0] and known[1] is state[1] and known[2] == width:
                return  # Only a new run, inventory or width changes these lines while a job runs.
        self._job_state = state
        if run is not None:
            start = run.start
            target = target_line(session.inventory, start.all_targets, settings_in_force(start), width)
            job = job_line(start.profile, start.title, start.steady)
        else:
            target = target_line(session.inventory, self._targets(), self._values_now, width)
            job = job_line(self.profile, self.job.describe(), self.steady)
        since = self._since_text(session)
        self.query_one("#since").display = bool(since)
        # A line of one row would wrap before a long path, and show only the word before it.
        for name, text in (("#target", target), ("#job", job), ("#since", since)):
            self.put(name, shorten(clean(text), width))

    def _shown_run(self, session: Session) -> RunRecord | None:
        """Return the run whose figures the screen shows: the running one, or the last that ended; None without one."""
        return session.run(session.active.start.id if session.active is not None else self.shown or "")

    def _since_text(self, session: Session) -> str:
        """Return how the next run would differ from the finished run whose figures are shown; "" if it would not."""
        run = self._shown_run(session)
        if run is None or run.running:
            return ""
        same = self._is_target_of(run)
        job = job_line(self.profile, self.job.describe(), self.steady) if self._choice != self._choice_then else ""
        target = "" if same else target_line(session.inventory, self._targets(), {}, 0)
        chosen = JOIN.join(filter(None, (target, job)))
        return join_sentences(
            settings_since_text(run.start, self._values_now) if same else "", f"Next run: {chosen}." if chosen else ""
        )

    @property
    def _values_now(self) -> dict[str, str]:
        """The effective values of the chosen target; empty until they are read."""
        targets, values = self._values
        return values if targets == self._targets() else {}

    @property
    def _choice(self) -> tuple[object, ...]:
        """The chosen job and how it is run, without the target."""
        return self.job, self.profile, self.steady

    def _is_target_of(self, run: RunRecord) -> bool:
        """Return whether the chosen target is the one that a run measured."""
        if self.target_name is None:
            path = os.path.realpath(os.path.expanduser(self.where))
            return run.start.target in (path, os.path.join(path, os.path.basename(run.start.target)))
        return [target.target for target in run.start.all_targets] == [target.target for target in self._targets()]

    def _targets(self) -> tuple[RunTarget, ...]:
        """Return the targets of the chosen job, as a run records them."""
        if self.target_name is None:
            return (RunTarget(target=self._scratch_text()),)
        return tuple(RunTarget(target=target.name, device=target.where) for target in self.request().targets)

    def _scratch_text(self) -> str:
        path = os.path.abspath(os.path.expanduser(self.where))
        return f"a scratch file of {size_words(self.scratch_size)} in {clean(path, 200)}"

    def _baseline(self, session: Session) -> RunRecord | None:
        run = session.run(session.baseline) if session.baseline else None
        return run if run is not None and run.id != self.shown else None

    def _show_active(self, active: ActiveRun, session: Session) -> None:
        if active.start.id != self.shown:
            self.shown, self._choice_then = active.start.id, self._choice
            self._curves = Curves()
            self._members_at = -1.0
            self._show_members(())
            self.graphs.freeze(False)
            self.hint("")
        self._curves.take(active.samples, ramp_of(active.start))
        now = time.time()
        self.graphs.compare_with(self._baseline(session), self.workbench_app.workbench.folder)
        ascii = self.workbench_app.ascii
        changed = change_marks(session, active.start, self._curves.until, now, ascii=ascii)
        happened = (*changed, *event_marks(active.happened, ascii=ascii))
        self.graphs.draw(
            self._curves,
            total=chart_seconds(active),
            samples=active.samples,
            happened=happened,
            waiting=WAITING,
        )
        if self.graphs.parts and self.graphs.part == "":
            self.hint(_PARTS_HINT)
        elif self.graphs.part:
            self.hint("")
        self._progress_line.progress = progress(active, now)
        at = active.samples[-1].at if active.samples else 0.0
        if active.members and not self._members_at < at < self._members_at + MEMBERS_EVERY:
            self._members_at = at
            self._show_members(active.members)
        steady = active.steady if active.phase in (Phase.SETTLING, Phase.MEASURING) else None
        machine = machine_line(steady, active.fio_percent_of_core, active.host_percent)
        self.put("#machine-line", "  ".join(filter(None, (machine, cache_line(active.caches, brief=True)))))
        stalls = silence_text(active) or stall_text(self._curves.still, self._curves.measured_from)
        self.show_message(" ".join(filter(None, (stalls, active.message))))
        if active.advice is not self._advice:
            self.show_advice(active.advice)

    def show_advice(self, advice: tuple[Advice, ...], *, of_next: bool = False) -> None:
        """Show the line of advice; hide it without advice. `of_next`: it is about the next run, not the shown one."""
        self._advice, self._is_advice_of_next = advice, of_next
        self.query_one("#advice").set_class(bool(advice), "-said")
        room = (self.size.width - 2) * (ADVICE_LINES if self.size.height >= TALL else 1)
        start = "Next run: " if of_next and advice else ""
        self.put("#advice", start + advice_line(advice, room - len(start), ascii=self.workbench_app.ascii))

    def _request_advice(self, session: Session) -> None:
        """Read the settings of the target and request advice, unless job, target and device state are unchanged."""
        wanted = (self.job, self.where, self.target_name, self.beside, session.inventory, session.changes)
        if session.probing or session.active is not None or self._advice_state == wanted:
            return
        self._advice_state, self.not_run = wanted, ""
        self.run_worker(self._ask_advice(wanted), group="advice", exclusive=True)

    async def _ask_advice(self, wanted: object) -> None:
        bench = self.workbench_app.workbench
        targets = self._targets()
        readings = [await bench.hardware.readings_of(target.device) for target in targets]
        self._values = (targets, join_texts([values_in_force(of_target) for of_target in readings]))
        locations = await bench.jobs.locate(self.request())
        self._load.select([kernel_name(location.device) for location in locations if location.device is not None])
        if self._activity is not None:
            self._activity.restart()
        advice = await bench.jobs.preview_advice(locations)
        missing = await bench.jobs.readiness_error()
        self._why_not = (
            "" if missing is None else f"The job cannot run: {join_sentences(missing.message, missing.hint)}"
        )
        if self._why_not and bench.session.active is None and self.shown is None and not self.pending:
            self.show_message(self._why_not)
        if self._advice_state == wanted and bench.session.active is None and not self.pending:
            self.show_advice(advice, of_next=self.shown is not None)
            self.show_job()

    def _show_members(self, members: tuple[MemberStats, ...]) -> None:
        """Show the load of as many members of the array as fit next to the graphs."""
        if self.graphs.frozen and members:
            return
        most = next(rows for height, rows in MEMBER_ROWS if self.size.height >= height)
        bar = WIDE_BAR if self.size.width >= WIDE else NARROW_BAR
        table = self.query_one(StaticTable)
        table.columns, table.rows = member_table(members, most=most, bar=bar, ascii=self.workbench_app.ascii)

    def show_ended(self, run: RunRecord) -> None:
        """Show the results of a finished run."""
        if self._ended == run.id:
            return
        if self.shown != run.id:  # The run ended before its first sample was drawn.
            self.shown, self._curves, self._choice_then = run.id, Curves(), self._choice
        self._ended = run.id
        if self._is_target_of(run):  # The values of the run are newer than those that were read for its heading.
            self._values = (self._targets(), settings_in_force(run.start))
        session = self.workbench_app.session
        self._progress_line.progress = None
        self._show_members(run.figures.members)
        self.show_advice(run.figures.advice)
        self.show_message("\n".join(summary_lines(run)))
        self.hint(next_step_text(run, session), stays=True)
        cpu = run.figures.cpu
        self.put("#machine-line", cpu_line(cpu.fio_percent_of_core, cpu.host_percent))
        self.graphs.compare_with(self._baseline(session), self.workbench_app.workbench.folder)
        self.graphs.draw(
            self._curves,
            total=time_axis_seconds(run, self._curves),
            run=run,
            folder=self.workbench_app.workbench.folder,
            happened=past_run_marks(run, session, self._curves, ascii=self.workbench_app.ascii),
            waiting="nothing was measured",
        )

    def action_run(self) -> None:
        """Prepare the job, ask for confirmation if necessary, and run it."""
        self._start(self.request)

    def action_precondition(self) -> None:
        """Write the complete target twice, then run the job until it is steady, after confirmation."""

        def request() -> BenchmarkRequest:
            wanted = self.request()
            job, name = wanted.job, wanted.profile
            # Reading does not precondition a drive, and several sections do not become steady together.
            if not job.writes or job.sections:
                job, name = replace(profile(WORKLOAD).job, size=job.size), WORKLOAD
            plan = self.workbench_app.options.steady
            precondition = precondition_request(wanted.where, wanted.name, job, plan, profile=name)
            return replace(precondition, beside=wanted.beside)

        self._start(request)

    def _start(self, request: Callable[[], BenchmarkRequest]) -> None:
        if self.workbench_app.workbench.jobs.running or self.pending:
            self.say("A job is running already: <bench.jobs.stop> stops it.")
            return
        self.pending, self.not_run = True, ""
        if self.shown is None:
            self._load.clear()
            self._draw_load()
        self.show_message("checking the target ...")
        # The app owns the worker, so that the run continues when another screen is shown.
        self.workbench_app.hold_keys(self.app.run_worker(self._run(request), group="bench", exit_on_error=True))

    async def _run(self, request: Callable[[], BenchmarkRequest]) -> None:
        bench = self.workbench_app.workbench
        try:
            ready = await bench.jobs.prepare(request())
            self.show_advice(ready.advice)
            if not await confirm_run(self.workbench_app, ready):
                self._show_not_run("not started")
                return
            self.workbench_app.release_keys()
            record = await bench.jobs.measure(ready, confirm=ready.confirm_text)
            self.show_ended(record)
            self.show_job()
            if not self.is_current:  # This screen shows a summary anyway.
                text = "\n".join(filter(None, (result_line(record.figures), record.figures.hint)))
                severity = _SEVERITIES[record.figures.status]
                self.workbench_app.notify_recorded(text, title=f"{record.id} has ended", severity=severity)
        except RaidbenchError as error:
            self.workbench_app.show_error(error, title="Not measured")
            self._show_not_run("not measured")  # The notice has the reason.
        except asyncio.CancelledError:
            if self.has_widgets:  # escape has ended the checks before the run; at the end of the app there are none
                self._show_not_run("not started")
            raise
        finally:
            self.pending = False

    def _show_not_run(self, text: str) -> None:
        """Show the message `text` that the job did not run, now and when the screen is shown again."""
        self.not_run = text
        self.show_message(text)

    def action_stop(self) -> None:
        """End the running job."""
        if not self.workbench_app.workbench.jobs.running:
            self.say("No job is running.")
            return
        self.workbench_app.workbench.jobs.stop()
        then = ", then the old value is restored" if running_experiment(self.workbench_app.session) is not None else ""
        self.show_message(f"stopping: fio finishes its I/O and writes its summary{then}")

    def action_baseline(self) -> None:
        """Mark the shown run, or the last one if none is shown, as baseline; unmark it if it is the baseline."""
        session = self.workbench_app.session
        run_id = self.shown or (session.runs[-1].id if session.runs else None)
        if run_id is None:
            self.say("There is no run yet.")
            return
        try:
            self.workbench_app.workbench.mark_baseline(None if session.baseline == run_id else run_id)
        except RaidbenchError as error:
            self.workbench_app.show_error(error)
            return
        self.say(f"{run_id} is {'no longer ' if session.baseline == run_id else ''}the baseline.")

    def action_compare(self) -> None:
        """Compare the run with the baseline, or with the previous run of the same job and target."""
        session, folder = self.workbench_app.session, self.workbench_app.workbench.folder
        run = None if self.shown is None else session.run(self.shown)
        other = None if run is None else comparison_run(run, session)
        if run is None or run.end is None or other is None or folder is None:
            self.say("There is no other run of the same job yet. Press <bench.run> to run it again.")
            return
        from app.tui.runs.compare import ComparedRun, CompareScreen

        a, b = (ComparedRun(record, record.id, folder) for record in (other, run))
        self.app.push_screen(CompareScreen(a, b, session.runs, session.runs, session.experiments))

    def action_advice(self) -> None:
        """Show all advice on the running job or on the shown run."""
        show_advice(self, self._advice)

    def action_freeze(self) -> None:
        """Freeze or unfreeze the graphs."""
        self.graphs.freeze(not self.graphs.frozen)
