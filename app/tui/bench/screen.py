"""Choosing a job, running it, watching it."""

from __future__ import annotations

import os
import time
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.widgets import Static

from app.core.benchmark.conditions.facts import in_turn
from app.core.presentation.caches import cache_line
from app.core.presentation.device import in_force, in_force_of
from app.core.presentation.run import cpu_line, silence_text, stall_text
from app.core.session.events import RunTarget
from app.core.session.results import Advice, MemberStats, Phase
from app.core.session.state import ActiveRun, RunRecord, Session
from app.tui.bench.advice import AdviceScreen
from app.tui.bench.curves import Curves, change_marks, event_marks, ramp_of
from app.tui.bench.live_view import advice_line, chart_seconds, job_line, machine_line, progress, target_line
from app.tui.bench.members import NARROW_BAR, WIDE_BAR, member_table
from app.tui.bench.run_control import RunControlScreen
from app.tui.bench.run_graphs import GraphKeys, RunGraphs, length_of, past_run_marks
from app.tui.bench.summary import ended_line, next_step_text, progress_line, running_experiment, summary_lines
from app.tui.header_text import TALL
from app.tui.notices import sentences
from backends.sizes import size_words
from backends.text import clean
from widgets.bars import ProgressLine
from widgets.chart_data import WAITING
from widgets.static_table import StaticTable

WIDE = 96
"""Columns from which settings are named and bars are long."""

MEMBER_ROWS = ((50, 16), (30, 8), (0, 4))
"""Lines of the terminal, and how many rows of members leave the graphs enough of them."""

MEMBERS_EVERY = 0.95
"""Seconds of the run for which the figures of the members stand: nobody reads a table that changes faster, and all of
its lines have to be drawn and sent.
"""

ADVICE_LINES = 2
"""Lines of advice on a tall terminal."""

_PARTS_HINT = "] shows the graphs of each section or target alone, [ goes back."

_IDLE = "r runs the job; p chooses another, T the target."


class BenchScreen(GraphKeys, RunControlScreen):
    """The job, its figures and graphs, progress and what the run says."""

    NAME: ClassVar[str] = "bench"

    def __init__(self) -> None:
        super().__init__()
        self._curves = Curves()
        self._values: dict[str, str] = {}
        self._members_at = -1.0
        self._ended: str | None = None
        self._advice: tuple[Advice, ...] = ()
        self._foreseen: object = None
        self._why_not = ""

    def body(self) -> ComposeResult:
        """From the target down to the message line."""
        yield Static("", id="target", markup=False)
        yield Static("", id="job", markup=False)
        yield RunGraphs(id="graphs")
        yield ProgressLine(id="progress")
        yield StaticTable(id="members")
        yield Static("", id="machine-line", markup=False)
        yield Static("", id="advice", markup=False)
        yield Static("", id="message", markup=False)

    @property
    def graphs(self) -> RunGraphs:
        """The figures and graphs."""
        return self.query_one(RunGraphs)

    @property
    def place(self) -> str:
        """What goes on here, which decides what the keys are good for: nothing of it takes the focus."""
        if self.workbench_app.session.active is not None:
            return "bench-running"
        return "bench-idle" if self._ended is None else "bench-ended"

    def on_mount(self) -> None:
        """Takes the job and the place to begin with."""
        self.begin_with_options()
        self.query_one(ProgressLine).ascii = self.workbench_app.ascii
        wanted = self.workbench_app.wanted_device
        if wanted is not None:
            self.take_device(*wanted)

    def on_resize(self, event: events.Resize) -> None:
        """What is told in one line has another length."""
        self.show_advice(self._advice)
        self.show_job()

    def show(self, session: Session) -> None:
        """Graphs and figures of the running job, or of the last one."""
        self.take_first_array(session)
        self.show_job()
        active = session.active
        if active is not None:
            self._show_active(active, session)
        elif self.shown is not None and (run := session.run(self.shown)) is not None and run.end is not None:
            self.show_ended(run)
        elif not self.pending:
            self.graphs.draw(Curves(), total=None, waiting="r runs the job")
            self.show_message(self._why_not or self.not_run or _IDLE)
        self._show_experiment(session)

    def _show_experiment(self, session: Session) -> None:
        """Which run of which pair goes on, and what the pairs show so far; at the end, what they have shown."""
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
        """Say something of the run."""
        self.put("#message", text)

    def show_job(self) -> None:
        """Target with its settings in force, and the job: what is measured now, whatever is chosen for later."""
        app, session = self.workbench_app, self.workbench_app.session
        app.job_choice = (self.job, self.profile)
        wide = self.size.width >= WIDE
        active = session.active
        if active is not None:
            start = active.start
            target = target_line(session.inventory, start.each, in_force_of(start), wide=wide)
            job = job_line(start.profile, start.title, start.steady)
        else:
            self._foresee(session)
            target = target_line(session.inventory, self._targets(), self._values, wide=wide)
            job = job_line(self.profile, self.job.describe(), self.steady)
        self.put("#target", target)
        self.put("#job", job)

    def _targets(self) -> tuple[RunTarget, ...]:
        """What would be measured, as a run has it."""
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
            self.shown = active.start.id
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
        self.query_one(ProgressLine).progress = progress(active, now)
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

    def show_advice(self, advice: tuple[Advice, ...]) -> None:
        """The advisor's line; no line where nothing is to be said."""
        self._advice = advice
        self.query_one("#advice").set_class(bool(advice), "-said")
        self.put("#advice", advice_line(advice, self._advice_room, ascii=self.workbench_app.ascii))

    @property
    def _advice_room(self) -> int:
        """Columns of all lines that it may have: where there are rows for it, it is not cut."""
        return (self.size.width - 2) * (ADVICE_LINES if self.size.height >= TALL else 1)

    def _foresee(self, session: Session) -> None:
        """Read the settings of the target and ask the advisor about the job as it stands, once for each job, target
        and state of the devices.
        """
        wanted = (self.job, self.where, self.target_name, self.beside, session.inventory, session.changes)
        if session.probing or session.active is not None or self._foreseen == wanted:
            return
        self._foreseen, self.not_run = wanted, ""
        self.run_worker(self._ask_advice(wanted), group="advice", exclusive=True)

    async def _ask_advice(self, wanted: object) -> None:
        bench = self.workbench_app.workbench
        self._values = in_turn(
            [in_force(await bench.hardware.readings_of(target.device)) for target in self._targets()]
        )
        advice = await bench.jobs.preview_advice(self.request())
        missing = await bench.jobs.why_not()
        self._why_not = "" if missing is None else f"r cannot run it: {sentences(missing.message, missing.hint)}"
        if self._why_not and bench.session.active is None and self.shown is None and not self.pending:
            self.show_message(self._why_not)
        if self._foreseen == wanted and bench.session.active is None and not self.pending:
            self.show_advice(advice)
            self.show_job()

    def _show_members(self, members: tuple[MemberStats, ...]) -> None:
        """What each member of the array does, as far as there is room beside the graphs."""
        if self.graphs.frozen and members:
            return
        most = next(rows for height, rows in MEMBER_ROWS if self.size.height >= height)
        bar = WIDE_BAR if self.size.width >= WIDE else NARROW_BAR
        table = self.query_one(StaticTable)
        table.columns, table.rows = member_table(members, most=most, bar=bar, ascii=self.workbench_app.ascii)

    def show_ended(self, run: RunRecord) -> None:
        """What is left of a run when it is over."""
        if self._ended == run.id:
            return
        if self.shown != run.id:  # over before anything of it was drawn
            self.shown, self._curves = run.id, Curves()
        self._ended = run.id
        session = self.workbench_app.session
        self.query_one(ProgressLine).progress = None
        self._show_members(run.figures.members)
        self.show_advice(run.figures.advice)
        self.show_message("\n".join(summary_lines(run)))
        self.hint(next_step_text(run, session), stays=True)
        cpu = run.figures.cpu
        self.put("#machine-line", cpu_line(cpu.fio_percent_of_core, cpu.host_percent))
        self.graphs.compare_with(self._baseline(session), self.workbench_app.workbench.folder)
        self.graphs.draw(
            self._curves,
            total=length_of(run, self._curves),
            run=run,
            folder=self.workbench_app.workbench.folder,
            happened=past_run_marks(run, session, self._curves, ascii=self.workbench_app.ascii),
            waiting="nothing was measured",
        )

    def action_advice(self) -> None:
        """All that is said of the job, of the running one or of the one whose figures are shown."""
        if not self._advice:
            self.say("There is nothing to be said against this job so far.")
            return
        self.app.push_screen(AdviceScreen("Advice", self._advice))

    def action_freeze(self) -> None:
        """Hold the graphs still, or let them go."""
        self.graphs.freeze(not self.graphs.frozen)
