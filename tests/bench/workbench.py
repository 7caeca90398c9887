"""The real workbench that starts one job by itself, says what came of it, and leaves.

`python -m tests.bench.workbench RESULT SCRATCH QD JOBS RAMP RUNTIME [MEMBERS]`, in a terminal. Written to RESULT when
the measured phase begins: `measuring`; at the end: the folder of the run. MEMBERS: as many busy disks are made up, on
which the scratch file is said to lie.
"""

from __future__ import annotations

import sys
from pathlib import Path

from app.cli.session_context import workbench_on
from app.core.benchmark.niceness import lower_priority
from app.core.fio.job import Job
from app.core.session.event_types import PhaseChanged
from app.core.session.events import AnyEvent, LiveEvent, RunEnded
from app.core.session.results import Phase
from app.core.session.state import Session
from app.core.workbench import Workbench
from app.tui.app import WorkbenchApp
from app.tui.bench.screen import BenchScreen
from app.tui.options import ScreenOptions
from backends.system.local import LocalHost
from tests.bench.busy import make_up_members


class Measured(WorkbenchApp):
    """Goes to Bench and presses run as soon as the session is open."""

    def __init__(self, workbench: Workbench, options: ScreenOptions, job: Job, result: Path) -> None:
        super().__init__(workbench, options)
        self._job = job
        self._result = result
        self._begun = False
        workbench.subscribe(self._watch)

    def _watch(self, session: Session, event: AnyEvent) -> None:
        match event:
            case LiveEvent(progress=PhaseChanged(phase=Phase.MEASURING)):
                self._result.write_text("measuring")
            case RunEnded():
                folder = self.workbench.folder
                self._result.write_text(f"{folder}/{event.folder}")
                self.set_timer(0.3, self.exit)
            case _ if not self._begun and not session.probing and self.opened:
                self._begun = True
                self.set_timer(0.2, self._press_run)

    async def _press_run(self) -> None:
        await self.switch_mode("bench")
        screen = self.screen
        assert isinstance(screen, BenchScreen)
        screen.job, screen.profile = self._job, None
        screen.action_run()


def job(depth: int, jobs: int, ramp: int, runtime: int) -> Job:
    """4k random reads."""
    return Job(iodepth=depth, numjobs=jobs, ramp=ramp, runtime=runtime)


if __name__ == "__main__":
    result, scratch, depth, jobs, ramp, runtime, *members = sys.argv[1:]
    bench = workbench_on(LocalHost(child_nice=lower_priority()))
    if members:
        make_up_members(bench, int(members[0]))
    measured = Measured(
        bench,
        ScreenOptions(scratch=scratch, scratch_size=Path(scratch).stat().st_size),
        job(int(depth), int(jobs), int(ramp), int(runtime)),
        Path(result),
    )
    measured.run()
    bench.close()
    if measured.crash is not None:
        raise measured.crash
