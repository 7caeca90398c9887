"""A sweep: ticked, started, watched, read."""

from __future__ import annotations

import random
from typing import ClassVar

from textual.app import ComposeResult

from app.core.session.state import Session
from app.features.sweep.engine.plan import PlanError
from app.features.sweep.screen.planner import SweepPlanner
from app.features.sweep.screen.sweep_control import SweepController, sweeping
from app.features.sweep.screen.watch import SweepWatch
from app.tui.base import WorkbenchScreen


class SweepScreen(WorkbenchScreen):
    """The plan, or the sweep that runs or ran; one of them is seen."""

    NAME: ClassVar[str] = "sweep"

    def __init__(self) -> None:
        super().__init__()
        self.watching: bool | None = None
        """Whether the sweep is seen, not the plan; None before the screen was first shown."""
        self._pending = False

    def body(self) -> ComposeResult:
        """The plan and the sweep."""
        yield SweepPlanner()
        yield SweepWatch()

    @property
    def place(self) -> str:
        """Of a sweep, whether it runs decides what the keys are good for."""
        if not self.watching:
            return super().place
        return "sweep-running" if self._sweeping.running else "sweep-over"

    @property
    def planner(self) -> SweepPlanner:
        """What is to be measured."""
        return self.query_one(SweepPlanner)

    @property
    def _sweeping(self) -> SweepController:
        return sweeping(self.workbench_app)

    def show(self, session: Session) -> None:
        """The plan, or the sweep that is followed."""
        if self._sweeping.wanted is not None:
            self.watching = False
        elif self.watching is None or self._sweeping.follower is None:
            self.watching = self._sweeping.follower is not None
        self._turn()
        if self.watching:
            self.show_background()
        else:
            self.planner.show(session)

    def show_background(self) -> None:
        """Bring the sweep up to date, if it is seen."""
        follower = self._sweeping.follower
        if self.watching and follower is not None:
            watch = self.query_one(SweepWatch)
            watch.show(follower, stopping=self._sweeping.stopping, speed=self._sweeping.speed or 1.0)
        self.show_keys()

    def _turn(self) -> None:
        """Bring the plan or the sweep into view, and its part that takes keys."""
        parts = {True: self.query_one(SweepWatch), False: self.planner}
        for watching, part in parts.items():
            part.display = watching is bool(self.watching)
        if self.focused is None or parts[bool(self.watching)] not in self.focused.ancestors:
            self.set_focus(self.query_one(SweepWatch).keyed if self.watching else self.planner.table)

    def _look(self, *, watching: bool) -> None:
        self.watching = watching
        self.show(self.workbench_app.session)

    def _planning(self) -> SweepPlanner | None:
        """The planner, if it is what one sees."""
        return None if self.watching else self.planner

    def action_view(self) -> None:
        """From the plan to the sweep and back."""
        if self._sweeping.follower is None:
            self.say("There is no sweep yet: r starts one.")
        else:
            self._look(watching=not self.watching)

    def action_back(self) -> None:
        """From the sweep to the plan; in the plan from the values to their axis."""
        if self.watching:
            self._look(watching=False)
        elif not self.planner.close_axis():
            super().action_back()

    def action_tick(self) -> None:
        """Tick the value, or open the axis."""
        if planner := self._planning():
            planner.tick()

    def action_axis(self, opened: bool) -> None:
        """Show the values of the axis, or only its name."""
        if planner := self._planning():
            planner.show_axis(opened)

    def action_fold(self) -> None:
        """List only what was chosen, or everything."""
        if planner := self._planning():
            planner.fold()

    def action_target(self) -> None:
        """Choose what is measured."""
        if planner := self._planning():
            planner.choose_target()

    def action_profile(self) -> None:
        """Choose the workload that the axes vary."""
        if planner := self._planning():
            planner.choose_profile()

    def action_edit(self) -> None:
        """Change the fields of the job that the axes vary."""
        if planner := self._planning():
            planner.edit()

    def action_open_plan(self) -> None:
        """Take a plan that comes with raidbench, or one of a file."""
        self._look(watching=False)
        self.planner.open_plan()

    def action_new_plan(self) -> None:
        """Back to ticking."""
        self._look(watching=False)
        self.planner.new_plan()

    def action_save_plan(self) -> None:
        """Write the plan to a file that `raidbench sweep` takes."""
        self._look(watching=False)
        self.planner.save_plan()

    def action_run(self) -> None:
        """Ask, then start."""
        if self._sweeping.running:
            self.say("A sweep is running already: x stops it.")
        elif self.watching:
            self._look(watching=False)
        elif not self.planner.ready:
            self.say("Tick two values of an axis first: enter opens it, space ticks.")
        elif not self._pending:
            self._pending = True
            self.say("looking at the targets, and at what lies on them ...")
            # On the app, so that looking at another screen does not end it.
            self.app.run_worker(self._begin(), group="sweep-begin", exit_on_error=True)

    async def _begin(self) -> None:
        planner = self.planner
        try:
            if await self._sweeping.begin(planner.plan(), dict(planner.named), planner.chosen_seed):
                planner.seed = random.SystemRandom().randrange(2**31)
                self.watching = True
                self.workbench_app.refresh_screen()
        except PlanError as error:
            self.workbench_app.show_error(error, title="No sweep")
        finally:
            self._pending = False

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

    def action_explore(self) -> None:
        """Pictures of the sweep."""
        follower = self._sweeping.follower
        if follower is None or follower.record is None:
            self.say("There is no sweep yet: r starts one.")
            return
        self.workbench_app.do("plots.explore", session=follower.session, folder=follower.folder, first="sweep")

    def action_export(self) -> None:
        """Write the report of the sweep's session."""
        follower = self._sweeping.follower
        if follower is None or follower.record is None:
            self.say("There is no sweep to report.")
        else:
            self.workbench_app.ask_export_of(follower.session, follower.folder)
