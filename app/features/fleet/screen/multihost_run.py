"""Screen of a run on many hosts: a row for each host, a chart of the total IOPS, and the result at the end."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult

from app.core.session.multihost_names import LEASE_S
from app.core.session.state import Session
from app.features.fleet.multihost.coordinator import Coordinator
from app.features.fleet.multihost.presentation import joint_sentences, joint_table, live_table, progress_text, rates_now
from app.features.fleet.multihost.record import JointFolder, JointRecord
from app.features.fleet.multihost.result import keep_record
from app.tui import render
from app.tui.base import WorkbenchScreen
from app.tui.feature_hooks import BackgroundWork
from app.tui.suspension import JOINT
from backends.display_names import is_path
from backends.errors import RaidbenchError
from widgets.chart import LineChart
from widgets.chart_data import ChartData, Series
from widgets.keyed_table import KeyedTable
from widgets.pane import Pane
from widgets.text_panel import TextParagraphs
from widgets.text_utils import units

if TYPE_CHECKING:
    from app.features.fleet.hosts.query import Fleet
    from app.tui.app_interface import AppInterface

LOOK_S = 0.5
"""Seconds between two updates of the screen during a run."""


class MultiHostRunController(BackgroundWork):
    """A run on several hosts at the same time. It continues in the background when its screen is closed."""

    def __init__(self, app: AppInterface, fleet: Fleet, hosts: tuple[str, ...], profile: str, target: str) -> None:
        """`profile`: name of the workload; `target`: target to measure on each host."""
        self._app, self._fleet = app, fleet
        self.hosts, self.profile, self.target = hosts, profile, target
        """Hosts, name of the workload and target of the run."""
        self.coordinator: Coordinator | None = None
        """Coordinator of the run; None until the connections are prepared."""
        self.record: JointRecord | None = None
        """Record of the run; None until the run is over."""
        self.points: tuple[tuple[float, float], ...] = ()
        """Points of the chart: seconds since the planned start, and the total IOPS at that time."""
        self.running = False
        """Whether the run is in progress."""
        self.trouble = ""
        """Why there is no record although the run has ended, as a sentence; "" otherwise."""
        self._last_sentence = ""
        self._stopping = False
        self._over = asyncio.Event()

    @property
    def title(self) -> str:
        """Return the title: workload, target and number of hosts."""
        return f"{self.profile} on {self.target}, {units.plural(len(self.hosts), 'host')}"

    @property
    def status_text(self) -> str:
        """Return a message about the progress of the run, or about its result once it is over."""
        if self.record is not None:
            return " ".join(
                (*joint_sentences(self.record), f"Saved as {self.record.id}. Press <joint.export> to write the report.")
            )
        if self.coordinator is None or self.trouble:
            return self.trouble or "Connecting to the hosts ..."
        stopping = "Stopping: " if self.coordinator.stopped else ""
        return f"{stopping}{progress_text(self.coordinator, time.monotonic())}. {self._last_sentence}".strip()

    def start(self) -> None:
        """Start the run."""
        self.running = True
        self._app.run_worker(self._measure(), group=JOINT)

    def stop(self) -> None:
        """Send all hosts the stop command. Their last messages are still received for a while."""
        self._stopping = True
        if self.coordinator is not None and self.running:
            self.coordinator.stop()
            self._app.refresh_screen()

    async def wait(self) -> None:
        """Wait until the run is over."""
        await self._over.wait()

    async def may_leave(self) -> bool:
        """Ask whether to stop the run and save its results; return whether the TUI may exit."""
        if not self.running:
            return True
        from widgets.question import KeyedAnswer, QuestionDialog

        question = QuestionDialog(
            f"The job is running on {units.plural(len(self.hosts), 'host')}.",
            (
                KeyedAnswer(key="s", label="Stop the run and leave", value="stop"),
                KeyedAnswer(key="escape", label="Stay", value="stay"),
            ),
            "The results so far stay in the session.",
        )
        if await self._app.push_screen_wait(question) != "stop":
            return False
        self.stop()
        await self.wait()
        return True

    async def _measure(self) -> None:
        bench = self._app.workbench
        at = time.time()
        try:
            if bench.folder is None:
                self.trouble = "The run was not started: there is no session on disk for its results."
                return
            parts = (f"--profile={self.profile}", *self._size(), "--", self.target)
            async with self._fleet.reach(self.hosts, parts) as transport:
                folder = JointFolder(bench.folder, self.hosts)
                with contextlib.closing(folder):
                    self.coordinator = Coordinator(transport, folder, self.hosts, say=self._say, lease_s=LEASE_S)
                    if self._stopping:
                        self.coordinator.stop()
                    updates = asyncio.create_task(self._look())
                    try:
                        await self.coordinator.run()
                    finally:
                        updates.cancel()
                    self.record = keep_record(bench, self.coordinator, folder, target=self.target, at=at)
        except RaidbenchError as error:
            self.trouble = f"The run ended without a record: {error.message}"
            self._app.show_error(error, title="The multi-host run failed")
        finally:
            self.running = False
            self._over.set()
            self._app.refresh_screen()

    def _size(self) -> tuple[str, ...]:
        """Return the `--size` option if a size of scratch files is configured and the target is a folder."""
        size = self._app.options.scratch_size
        return (f"--size={size}",) if size is not None and is_path(self.target) else ()

    def _say(self, sentence: str) -> None:
        self._last_sentence = sentence

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            now, coordinator = time.monotonic(), self.coordinator
            if coordinator is not None and coordinator.first_start is not None:
                measuring, iops, _ = rates_now(coordinator.peers, now)
                if measuring:
                    self.points = (*self.points, (max(0.0, now - coordinator.first_start), iops))
            self._app.refresh_screen()


class JointScreen(WorkbenchScreen):
    """Shows a row for each host and a chart of the total IOPS."""

    NAME: ClassVar[str] = "joint"
    AUTO_FOCUS = "#joint-hosts"

    def __init__(self, measuring: MultiHostRunController) -> None:
        super().__init__()
        self._measuring = measuring

    def body(self) -> ComposeResult:
        """Yield the table of hosts, the chart and the status text."""
        with Pane(self._measuring.title, id="joint-pane"):
            yield KeyedTable(id="joint-hosts", empty="connecting to the hosts ...")
        yield LineChart(title="Total IOPS", id="joint-iops", ascii=self.workbench_app.ascii)
        yield TextParagraphs(self.with_keys(self._measuring.status_text), id="joint-words")

    def on_mount(self) -> None:
        """Show the current state."""
        self.show(self.workbench_app.session)

    def show(self, session: Session) -> None:
        """Update the table, the chart and the status text."""
        measuring = self._measuring
        table = self.query_one("#joint-hosts", KeyedTable)
        if measuring.record is not None:
            shown = joint_table(measuring.record)
        elif measuring.coordinator is not None:
            shown = live_table(measuring.coordinator.peers, time.monotonic())
        else:
            shown = None
        if shown is not None:
            columns = render.columns(shown)
            if columns != table.columns:
                table.columns = columns
            table.rows = render.rows(shown)
        else:
            table.empty = self.with_keys(measuring.status_text)
        self.query_one(LineChart).data = ChartData(
            series=(Series(name="together", points=measuring.points, color="$primary"),),
            y_format=units.iops,
            over=not measuring.running,
            waiting="no host is measuring yet" if measuring.running else "no host measured",
        )
        self.query_one("#joint-words", TextParagraphs).say(self.with_keys(measuring.status_text))

    def action_stop(self) -> None:
        """Stop the run on all hosts."""
        if self._measuring.running:
            self._measuring.stop()
        else:
            self.say("The run has already ended.")

    def action_export(self) -> None:
        """Ask where to write the session's report, then write it."""
        if self._measuring.record is None:
            self.say("The report is available when the run has ended.")
        else:
            self.workbench_app.ask_export()

    def action_back(self) -> None:
        """Return to the list of hosts. The run continues."""
        self.dismiss()
