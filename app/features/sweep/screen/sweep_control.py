"""Control sweeps from the TUI: plan, confirm, start in the background, follow and stop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from app.core.session.flag_files import STOP, SWEEP, abandoned_sessions, active_sessions
from app.tui.feature_hooks import BackgroundWork
from backends.errors import RaidbenchError, RefusedError

if TYPE_CHECKING:  # every screen imports this module, so the engine is imported only when needed
    from app.core.changes.arrays.candidates import WantedArrays
    from app.core.session.sweep_steps import Design
    from app.features.sweep.engine.live_log import Follower
    from app.features.sweep.engine.plan import SweepPlan
    from app.tui.app_interface import AppInterface

EVERY = 0.25
"""Seconds between two reads of the sweep's log."""


def sweep_controller(app: AppInterface) -> SweepController:
    """Return the app's sweep controller."""
    return cast("SweepController", app.background["sweep"])


def compare_levels(app: AppInterface, wanted: WantedArrays) -> None:
    """Open the Sweep screen to compare RAID levels on arrays created from the drives in `wanted`."""
    sweep_controller(app).wanted = wanted
    app.action_go("sweep")


class SweepController(BackgroundWork):
    """Controls the sweep that the app shows. The sweep runs in another process, so that it outlives the terminal."""

    def __init__(self, app: AppInterface) -> None:
        self._app = app
        self.follower: Follower | None = None
        """Object that follows the sweep by its log; None before there is a sweep."""
        self.stopping = False
        """Whether the sweep was asked to stop."""
        self.wanted: WantedArrays | None = None
        """Drives on which the planner should compare RAID levels; None once the planner has taken them over."""

    @property
    def running(self) -> bool:
        """Whether a sweep is running."""
        return self.follower is not None and self.follower.running

    @property
    def measuring(self) -> bool:
        """Whether a sweep is running."""
        return self.running

    def progress_text(self, now: float) -> str:
        """Return the progress and the remaining time of the running sweep; "" if none is running."""
        followed = self.follower
        if followed is None or not followed.running or followed.record is None:
            return ""
        from app.features.sweep.screen.results_view import header_text

        return header_text(followed.record, now, self.speed or 1.0)

    @property
    def speed(self) -> float | None:
        """Speed-up of the simulation; None on a real machine."""
        return self._app.options.sweep_speed if self._app.workbench.simulated else None

    async def begin(self, plan: SweepPlan, named: Mapping[str, str], seed: int) -> bool:
        """Read the targets, ask for confirmation, record the design and start the sweep; return whether it runs.

        Errors are shown to the user.
        """
        from app.features.sweep.engine.plan_expansion import expand
        from app.features.sweep.engine.risk_assessment import assess_risk
        from app.features.sweep.engine.targets import inspect_targets
        from app.features.sweep.screen.plan_view import BY_LIST, question
        from widgets.confirm import ConfirmDialog

        try:
            if self.running:
                raise RefusedError("A sweep is already running.", hint="Press <sweep.stop> to stop it.")
            self._process_starter()
            facts = await inspect_targets(self._app.workbench, plan, named, naming=BY_LIST)
            assessment = await assess_risk(self._app.workbench, expand(plan, facts, seed), facts)
            commands = () if assessment.refused else await self._commands(assessment.design)
            dialog = question(assessment, commands, self.speed)
            if not await self._app.push_screen_wait(ConfirmDialog(dialog)) or assessment.refused:
                return False
            self._app.release_keys()
            folder = await self._create_session(assessment.design)
            self._app.notify("The sweep starts in its own process.", title=folder.name)
            return await self._hand_over(folder)
        except RaidbenchError as error:
            self._app.show_error(error, title="Cannot start the sweep")
            return False

    async def go_on(self, folder: Path) -> bool:
        """Continue a stopped or interrupted sweep; return whether it runs."""
        try:
            STOP.remove(folder)
            return await self._hand_over(folder)
        except RaidbenchError as error:
            self._app.show_error(error, title="Cannot continue the sweep")
            return False

    async def _commands(self, design: Design) -> tuple[tuple[str, ...] | str, ...]:
        """Return the commands that set each value of the design that is not set now. Raises RaidbenchError when one
        cannot be planned.
        """
        from app.core.session.sweep_steps import MADE

        before = {(original.target, original.key): original.value for original in design.originals}
        cells = (setting for cell in design.cells for setting in cell.settings)
        wanted = dict.fromkeys(setting for setting in cells if setting.target.backend != MADE)
        lines: dict[tuple[str, ...] | str, None] = {}
        for assignment in wanted:
            if before[assignment.target, assignment.key] != assignment.value:
                change = await self._app.workbench.hardware.plan(assignment.target, assignment.key, assignment.value)
                lines |= dict.fromkeys(
                    tuple(write.argv) if write.path is None else write.shown()
                    for write in (*change.writes, *change.undo)
                )
        return tuple(lines)

    async def _create_session(self, design: Design) -> Path:
        """Create and close a session with the design. Raises StorageError when it cannot be written."""
        from app.features.sweep.engine.runner import SweepRunner

        bench = self._app.workbench.for_another_session()
        await bench.open()
        try:
            SweepRunner(bench).begin(design)
        finally:
            bench.close("handed over")
        assert bench.folder is not None
        return bench.folder

    def _process_starter(self) -> Callable[[Path], Awaitable[int]]:
        """Return the function that starts a sweep's process. Raises RefusedError in read-only mode."""
        hand_over = self._app.options.hand_over
        if hand_over is None:
            raise RefusedError(
                "A sweep cannot be started in read-only mode.", hint="Start raidbench without --read-only."
            )
        return hand_over

    async def _hand_over(self, folder: Path) -> bool:
        hand_over = self._process_starter()
        try:
            await hand_over(folder)
        finally:
            self.follow(folder)
        return True

    def follow(self, folder: Path) -> None:
        """Show the sweep of the session in `folder` from now on."""
        from app.features.sweep.engine.live_log import Follower

        self.follower = Follower(folder)
        self.stopping = False
        self._app.run_worker(self._follow(self.follower), group="sweep", exclusive=True)

    async def _follow(self, follower: Follower) -> None:
        """Update the display of the sweep until it ends, then notify the user."""
        from app.features.sweep.screen.results_view import state_text

        has_run = False
        while self.follower is follower:
            await asyncio.to_thread(follower.read)
            has_run = has_run or follower.running
            self._app.show_background("sweep")
            if follower.over:
                break
            await asyncio.sleep(EVERY)
        record = follower.record
        if has_run and record is not None and self.follower is follower:
            text, tone = state_text(record, running=False)
            severity = {"good": "information", "warning": "warning"}.get(tone, "error")
            self._app.notify(text, title="The sweep has ended", severity=severity, timeout=15)  # type: ignore[arg-type]

    def stop(self) -> bool:
        """Ask the sweep to stop after restoring all settings; return False if none is running."""
        if self.follower is None or not self.running:
            return False
        try:
            STOP.create(self.follower.folder)
        except RaidbenchError as error:
            self._app.show_error(error, title="Cannot stop the sweep")
            return False
        self.stopping = True
        self._app.show_background("sweep")
        return True

    async def stopped(self) -> None:
        """Wait until the sweep has ended and its settings are restored."""
        while self.running:
            await asyncio.sleep(EVERY)

    async def may_leave(self) -> bool:
        """Ask what to do with a running sweep; return whether to quit."""
        if not self.running:
            return True
        from widgets.question import KeyedAnswer, QuestionDialog

        answer = await self._app.push_screen_wait(
            QuestionDialog(
                "A sweep is running.",
                (
                    KeyedAnswer(key="l", label="Leave it running", value="leave"),
                    KeyedAnswer(key="s", label="Stop it and leave", value="stop"),
                    KeyedAnswer(key="escape", label="Stay", value="stay"),
                ),
                self._app.with_keys(
                    "If you leave it running, it continues in the background; show it with `raidbench attach`, or with"
                    " key <app.sweep> in raidbench. If you stop it, it restores all settings first."
                ),
            )
        )
        if answer == "stop" and self.stop():
            self._app.notify("The sweep restores the settings, then raidbench exits.")
            await self.stopped()
        return answer in ("leave", "stop")

    async def find(self) -> None:
        """Show a running sweep, or offer to resolve an interrupted one."""
        paths = self._app.workbench.paths
        active = await asyncio.to_thread(active_sessions, SWEEP, paths)
        if active:
            self.follow(active[0])
            self._app.notify(f"A sweep is running ({active[0].name}). Press <app.sweep> to show it.")
            return
        for folder in await asyncio.to_thread(abandoned_sessions, SWEEP, paths):
            await self._offer_recovery(folder)

    async def _offer_recovery(self, folder: Path) -> None:
        from widgets.question import KeyedAnswer, QuestionDialog

        answer = await self._app.push_screen_wait(
            QuestionDialog(
                "A sweep was interrupted, and its settings may still be active.",
                (
                    KeyedAnswer(key="c", label="Continue it", value="go on"),
                    KeyedAnswer(key="r", label="Restore settings", value="restore"),
                    KeyedAnswer(key="escape", label="Ask again later", value="later"),
                ),
                f"Session {folder.name}.",
            )
        )
        if answer == "go on":
            await self.go_on(folder)
        elif answer == "restore":
            await self._restore_sweep(folder)

    async def _restore_sweep(self, folder: Path) -> None:
        """Restore the settings of an interrupted sweep. This is done in this process, because it takes only seconds."""
        from app.features.sweep.engine.runner import SweepRunner
        from app.features.sweep.screen.results_view import state_text

        bench = self._app.workbench.for_another_session()
        try:
            await bench.open(folder)
            await bench.hardware.probe()
            record = await SweepRunner(bench).restore_and_stop()
        except RaidbenchError as error:
            self._app.show_error(error, title="Not restored")
            return
        finally:
            bench.close("put back")
        text, tone = state_text(record, running=False)
        self._app.notify(text, title=folder.name, severity="error" if tone == "bad" else "information")
