"""The screen that reads the members of an array one after the other and shows how each differs from the others."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult

from app.core.analysis.slow_member import MemberComparison
from app.core.session.state import Session
from app.features.slowest.engine import (
    MemberPlan,
    MemberRead,
    compare_members,
    hung_members,
    member_reads,
    plan_reading,
)
from app.features.slowest.presentation import members_table, plan_text, slowest_text
from app.tui.base import WorkbenchScreen
from app.tui.feature_hooks import BackgroundWork
from app.tui.render import columns, rows
from backends.errors import RaidbenchError
from backends.model import Target
from widgets.keyed_table import KeyedTable
from widgets.pane import Pane
from widgets.text_panel import TextParagraphs

if TYPE_CHECKING:
    from app.tui.app_interface import AppInterface
    from backends.model import Device

EXPLAINED = (
    "Random reads of 4 KiB, one member at a time; nothing is written. A member is slow if its latency is"
    " significantly higher than that of the others, and by more than 5 %."
)


class MemberReadings(BackgroundWork):
    """Holds the `SlowMemberTest` objects of this session, by array or controller."""

    def __init__(self) -> None:
        self.by_target: dict[Target, SlowMemberTest] = {}


def show_slowest(app: AppInterface, device: Device) -> None:
    """Open the screen that reads the members of an array, or the drives of a controller, and compares them.

    If no plan is possible, show why.
    """
    work = app.background.setdefault(SlowestScreen.NAME, MemberReadings())
    assert isinstance(work, MemberReadings)
    reading = work.by_target.get(device.target)
    if reading is None or not reading.running:
        try:
            plan = plan_reading(app.workbench, device)
        except RaidbenchError as error:
            app.show_error(error)
            return
        if reading is None or reading.plan != plan:
            reading = work.by_target[device.target] = SlowMemberTest(app, plan)
    app.push_screen(SlowestScreen(reading))


class SlowMemberTest:
    """A test that reads the members of one array or controller. It continues while other screens are shown."""

    def __init__(self, app: AppInterface, plan: MemberPlan) -> None:
        self._app = app
        self.plan = plan
        """The plan: which drives to read, and how."""
        self.reads: list[MemberRead] = []
        """The readings so far."""
        self.figures: tuple[MemberComparison, ...] = ()
        """Comparisons of each member with the others; empty until the test is complete."""
        self.running = False
        """Whether the test is in progress."""
        self._stopped = False
        self._result = ""

    @property
    def status_text(self) -> str:
        """A message about the progress of the test, or about its result."""
        if self.running:
            count = f"{len(self.reads)} of {len(self.plan.drives) * self.plan.rounds} reads"
            return f"{plan_text(self.plan)} {'Stopping' if self._stopped else 'Reading'}: {count} are complete."
        return self._result or f"{plan_text(self.plan)} Press <slowest.run> to start."

    def start(self) -> None:
        """Start the test from the beginning."""
        self.reads, self.figures, self._result = [], (), ""
        self.running, self._stopped = True, False
        self._app.run_worker(self._read(), group="bench")

    def stop(self) -> None:
        """Stop the test. The current reading ends at once."""
        self._stopped = True
        self._app.workbench.jobs.stop()

    async def _read(self) -> None:
        try:
            async with aclosing(member_reads(self._app.workbench, self.plan, lambda: self._stopped)) as reads:
                async for read in reads:
                    self.reads.append(read)
                    self._app.refresh_screen()
            is_complete = len(self.reads) == len(self.plan.drives) * self.plan.rounds
            is_complete = is_complete or (bool(hung_members(self.reads)) and not self._stopped)
            self.figures = compare_members(self.plan, self.reads) if is_complete else ()
            text = slowest_text(self.reads, self.figures)
            self._result = text if is_complete else "Stopped before all reads were complete, so there is no result."
            if is_complete:
                self._app.notify(text, title=f"Members of {self.plan.target}")
        except RaidbenchError as error:
            self._result = "The reads did not complete, so there is no result."
            self._app.show_error(error, title=f"Cannot read the members of {self.plan.target}")
        finally:
            self.running = False
            self._app.refresh_screen()


class SlowestScreen(WorkbenchScreen):
    """Shows one row per member. When the test is complete, the slowest member comes first."""

    NAME: ClassVar[str] = "slowest"
    DEFAULT_CSS = """
    SlowestScreen {
        & #slowest-pane { height: 1fr; padding: 0 1; }
        & #slowest-words, & #slowest-help { margin-bottom: 1; }
        & KeyedTable { height: 1fr; min-height: 4; }
    }
    """

    def __init__(self, reading: SlowMemberTest) -> None:
        super().__init__()
        self._reading = reading
        self._shown: tuple[Sequence[MemberRead], tuple[MemberComparison, ...]] | None = None

    def body(self) -> ComposeResult:
        """Compose the progress, the explanation and the table of members."""
        plan = self._reading.plan
        shown = members_table(plan, (), ())
        with Pane(f"Members of {plan.target}, each compared with the others", id="slowest-pane"):
            yield TextParagraphs(self.with_keys(self._reading.status_text), "title", id="slowest-words")
            yield TextParagraphs(EXPLAINED, "muted", id="slowest-help")
            yield KeyedTable(columns(shown), rows(shown), id="slowest-members")

    def on_mount(self) -> None:
        """Focus the table, and show the current state."""
        self.query_one(KeyedTable).focus()
        self.show(self.workbench_app.session)

    def show(self, session: Session) -> None:
        """Show the progress and the readings so far."""
        reading = self._reading
        self.query_one("#slowest-words", TextParagraphs).say(self.with_keys(reading.status_text), "title")
        now = (tuple(reading.reads), reading.figures)
        if now != self._shown:
            self._shown = now
            shown = members_table(reading.plan, reading.reads, reading.figures)
            self.query_one(KeyedTable).rows = rows(shown)

    def action_run(self) -> None:
        """Start the test, unless a job is already running."""
        if self._reading.running or self.workbench_app.workbench.jobs.running:
            self.say("A job is already running. To stop it, press x.")
            return
        self._reading.start()
        self.show(self.workbench_app.session)

    def action_stop(self) -> None:
        """Stop the test."""
        if self._reading.running:
            self._reading.stop()
            self.show(self.workbench_app.session)
        else:
            self.say("Nothing is being read.")

    def action_back(self) -> None:
        """Return to the previous screen."""
        self.dismiss()
