"""The Sweep screen: plan, start and watch a sweep, and show its results."""

from __future__ import annotations

import random
from typing import ClassVar

from textual.app import ComposeResult

from app.core.session.state import Session
from app.features.sweep.engine.plan import PlanError
from app.features.sweep.screen.planner import SweepPlanner
from app.features.sweep.screen.sweep_control import SweepController, sweep_controller
from app.features.sweep.screen.watch import SweepWatch
from app.tui.base import WorkbenchScreen


class SweepScreen(WorkbenchScreen):
    """Screen that shows either the planner or the present sweep."""

    NAME: ClassVar[str] = "sweep"

    def __init__(self) -> None:
        super().__init__()
        self.watching: bool | None = None
        """Whether the sweep is visible instead of the planner; None before the first display."""
        self._pending = False

    def body(self) -> ComposeResult:
        """Compose the planner and the sweep."""
        yield SweepPlanner()
        yield SweepWatch()

    @property
    def place(self) -> str:
        """The name that decides which keys are active. It depends on whether a sweep is visible, and whether it is
        running.
        """
        if not self.watching:
            return super().place
        return "sweep-running" if self._controller.running else "sweep-over"

    @property
    def planner(self) -> SweepPlanner:
        """The widget with the planner."""
        return self.query_one(SweepPlanner)

    @property
    def _controller(self) -> SweepController:
        return sweep_controller(self.workbench_app)

    def show(self, session: Session) -> None:
        """Show the planner, or the sweep that the app follows."""
        if self._controller.wanted is not None:
            self.watching = False
        elif self.watching is None or self._controller.follower is None:
            self.watching = self._controller.follower is not None
        self._display_part()
        if self.watching:
            self.show_background()
        else:
            self.planner.show(session)

    def show_background(self) -> None:
        """Update the sweep if it is visible."""
        follower = self._controller.follower
        if self.watching and follower is not None:
            watch = self.query_one(SweepWatch)
            watch.show(follower, stopping=self._controller.stopping, speed=self._controller.speed or 1.0)
        self.show_keys()

    def _display_part(self) -> None:
        """Show the planner or the sweep, and focus it."""
        parts = {True: self.query_one(SweepWatch), False: self.planner}
        for watching, part in parts.items():
            part.display = watching is bool(self.watching)
        if self.focused is None or parts[bool(self.watching)] not in self.focused.ancestors:
            self.set_focus(self.query_one(SweepWatch).focus_target if self.watching else self.planner.table)

    def _show_part(self, *, watching: bool) -> None:
        self.watching = watching
        self.show(self.workbench_app.session)

    def _visible_planner(self) -> SweepPlanner | None:
        """Return the planner if it is visible, else None."""
        return None if self.watching else self.planner

    def action_view(self) -> None:
        """Switch between the planner and the sweep."""
        if self._controller.follower is None:
            self.say("There is no sweep yet. Press <sweep.run> to start one.")
        else:
            self._show_part(watching=not self.watching)

    def action_back(self) -> None:
        """Go back from the sweep to the planner or, in the planner, from the values to their axis."""
        if self.watching:
            self._show_part(watching=False)
        elif not self.planner.close_axis():
            super().action_back()

    def action_tick(self) -> None:
        """Tick the value, or open the axis."""
        if planner := self._visible_planner():
            planner.tick()

    def action_axis(self, opened: bool) -> None:
        """Show or hide the values of the axis."""
        if planner := self._visible_planner():
            planner.show_axis(opened)

    def action_fold(self) -> None:
        """Hide unchosen axes, or show all."""
        if planner := self._visible_planner():
            planner.fold()

    def action_target(self) -> None:
        """Choose the benchmark target."""
        if planner := self._visible_planner():
            planner.choose_target()

    def action_profile(self) -> None:
        """Choose the workload that the axes vary."""
        if planner := self._visible_planner():
            planner.choose_profile()

    def action_edit(self) -> None:
        """Change the fields of the job that the axes vary."""
        if planner := self._visible_planner():
            planner.edit()

    def action_open_plan(self) -> None:
        """Open a built-in plan or a plan file."""
        self._show_part(watching=False)
        self.planner.open_plan()

    def action_new_plan(self) -> None:
        """Close the opened plan and return to the choices."""
        self._show_part(watching=False)
        self.planner.new_plan()

    def action_save_plan(self) -> None:
        """Write the plan to a file for `raidbench sweep`."""
        self._show_part(watching=False)
        self.planner.save_plan()

    def action_run(self) -> None:
        """Ask for confirmation, then start the sweep. Continue the shown sweep if it was stopped or interrupted."""
        follower = self._controller.follower
        if self._controller.running:
            self.say("A sweep is already running. To stop it, press <sweep.stop>.")
        elif self.watching and follower is not None and follower.record is not None and not follower.record.finished:
            self.app.run_worker(self._controller.go_on(follower.folder), group="sweep-begin", exit_on_error=True)
        elif self.watching:
            self._show_part(watching=False)
        elif not self.planner.ready:
            self.say("Select two values of an axis first: press enter to open it and <sweep.tick> to select.")
        elif not self._pending:
            self._pending = True
            self.say("reading the targets and their content ...")
            # The worker belongs to the app, so that it survives a change of screens.
            self.workbench_app.hold_keys(self.app.run_worker(self._begin(), group="sweep-begin", exit_on_error=True))

    async def _begin(self) -> None:
        planner = self.planner
        try:
            if await self._controller.begin(planner.plan(), dict(planner.named), planner.chosen_seed):
                planner.seed = random.SystemRandom().randrange(2**31)
                self.watching = True
                self.workbench_app.refresh_screen()
        except PlanError as error:
            self.workbench_app.show_error(error, title="Cannot start the sweep")
        finally:
            self._pending = False

    def action_stop(self) -> None:
        """Ask the sweep to stop; it restores all settings first."""
        if not self._controller.stop():
            self.say("No sweep is running.")

    def action_explore(self) -> None:
        """Open the graphs of the sweep."""
        follower = self._controller.follower
        if follower is None or follower.record is None:
            self.say("There is no sweep yet. Press <sweep.run> to start one.")
            return
        self.workbench_app.do("plots.explore", session=follower.session, folder=follower.folder, first="sweep")

    def action_export(self) -> None:
        """Write the report of the sweep's session."""
        follower = self._controller.follower
        if follower is None or follower.record is None:
            self.say("There is no sweep to report.")
        else:
            self.workbench_app.ask_export_of(follower.session, follower.folder)
