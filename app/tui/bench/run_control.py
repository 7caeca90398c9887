"""Starting and stopping what is measured, and what one may do with the run that is over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from app.core.benchmark.preconditioning import WORKLOAD, precondition_request
from app.core.benchmark.runner import BenchmarkRequest
from app.core.fio.profiles import profile
from app.core.presentation.run import result_line
from app.core.session.results import Advice, RunStatus
from app.core.session.state import RunRecord
from app.tui.bench.job_selection import JobSelectionScreen
from app.tui.bench.summary import comparison_run, running_experiment
from app.tui.bench.write_confirmation import confirm_run
from backends.errors import RaidbenchError

_SEVERITIES = {RunStatus.OK: "information", RunStatus.STOPPED: "warning", RunStatus.FAILED: "error"}
"""How the end of a run is told on another screen."""


class RunControlScreen(JobSelectionScreen):
    """Runs the chosen job. A run goes on whichever screen is in front."""

    def __init__(self) -> None:
        super().__init__()
        self.pending = False
        """Whether a job was asked for and is not over."""
        self.not_run = ""
        """Whether the job as it stands was asked for and did not begin, in words."""
        self.shown: str | None = None
        """The run whose figures are shown."""

    def show_message(self, text: str) -> None:
        """Say something of the run."""
        raise NotImplementedError

    def show_advice(self, advice: tuple[Advice, ...]) -> None:
        """Say what makes its figures doubtful."""
        raise NotImplementedError

    def show_ended(self, run: RunRecord) -> None:
        """Show a run that is over."""
        raise NotImplementedError

    def action_run(self) -> None:
        """Prepare the job, ask where that is needed, run it."""
        self._start(self.request)

    def action_precondition(self) -> None:
        """Write all of the target twice, then the job until it is steady; asked for by itself."""

        def request() -> BenchmarkRequest:
            wanted = self.request()
            job, name = wanted.job, wanted.profile
            if not job.writes or job.sections:  # reading changes nothing about a drive, and sections do not settle
                job, name = replace(profile(WORKLOAD).job, size=job.size), WORKLOAD
            plan = self.workbench_app.options.steady
            asked = precondition_request(wanted.where, wanted.name, job, plan, profile=name)
            return replace(asked, beside=wanted.beside)

        self._start(request)

    def _start(self, request: Callable[[], BenchmarkRequest]) -> None:
        if self.workbench_app.workbench.jobs.running or self.pending:
            self.say("A job is running already: x stops it.")
            return
        self.pending, self.not_run = True, ""
        self.show_message("looking at the target ...")
        # On the app, so that looking at another screen does not end the run.
        self.app.run_worker(self._run(request), group="bench", exit_on_error=True)

    async def _run(self, request: Callable[[], BenchmarkRequest]) -> None:
        bench = self.workbench_app.workbench
        try:
            ready = await bench.jobs.prepare(request())
            self.show_advice(ready.advice)
            if not await confirm_run(self.workbench_app, ready):
                self._say_not_run("not started")
                return
            record = await bench.jobs.measure(ready, confirm=ready.confirm_text)
            self.show_ended(record)
            self.show_job()
            if not self.is_current:  # in front, the summary tells it
                text = "\n".join(filter(None, (result_line(record.figures), record.figures.hint)))
                self.say(text, severity=_SEVERITIES[record.figures.status], title=f"{record.id} is over")
        except RaidbenchError as error:
            self.workbench_app.tell(error, title="Not measured")
            self._say_not_run("not measured")  # the notice says why, once
        finally:
            self.pending = False

    def _say_not_run(self, text: str) -> None:
        """Say it, and again whenever the screen is shown anew."""
        self.not_run = text
        self.show_message(text)

    def action_stop(self) -> None:
        """End the running job in good order."""
        if not self.workbench_app.workbench.jobs.running:
            self.say("No job is running.")
            return
        self.workbench_app.workbench.jobs.stop()
        then = ", then the old value is put back" if running_experiment(self.workbench_app.session) is not None else ""
        self.show_message(f"stopping: fio brings its I/O to an end and sums up{then}")

    def action_baseline(self) -> None:
        """Mark the run shown here as baseline."""
        session = self.workbench_app.session
        run_id = self.shown or (session.runs[-1].id if session.runs else None)
        if run_id is None:
            self.say("There is no run yet.")
            return
        try:
            self.workbench_app.workbench.mark_baseline(None if session.baseline == run_id else run_id)
        except RaidbenchError as error:
            self.workbench_app.tell(error)
            return
        self.say(f"{run_id} is {'no longer ' if session.baseline == run_id else ''}the baseline.")

    def action_ab(self) -> None:
        """Measure the staged value against the one in force."""
        self.workbench_app.do("ab.measure_staged", self.say)

    def action_compare(self) -> None:
        """Show the run beside the baseline, or the run before it that measured the same."""
        session, folder = self.workbench_app.session, self.workbench_app.workbench.folder
        run = None if self.shown is None else session.run(self.shown)
        other = None if run is None else comparison_run(run, session)
        if run is None or run.end is None or other is None or folder is None:
            self.say("There is no other run of the same job to compare with yet: r measures again.")
            return
        from app.tui.runs.compare import ComparedRun, CompareScreen

        a, b = (ComparedRun(record, record.id, folder) for record in (other, run))
        self.app.push_screen(CompareScreen(a, b, session.runs, session.runs, session.experiments))

    def action_export(self) -> None:
        """Write the report of this session."""
        self.workbench_app.ask_export()
