"""The sheet of the Bench screen that fills in run by run, and shows the answer after the last one."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.widgets import Static

from app.features.fit.demands import Demands
from app.features.fit.engine import busy_share, judge_fit, measure_fit, plan_fit
from app.features.fit.presentation import plan_lines, result_lines, run_line
from app.features.fit.profiles import FIT_PROFILES, FitProfile
from app.features.fit.runs import FitRun
from app.tui.feature_hooks import BackgroundWork
from app.tui.overlay_screen import OverlayScreen
from backends.errors import RaidbenchError
from widgets.choice_list import ChoiceItem

if TYPE_CHECKING:
    from app.tui.app_interface import AppInterface

_PREFIX = "fit:"
_NAME = "fit"


def fit_choices() -> tuple[ChoiceItem, ...]:
    """Return a choice for each program. The values differ from those of all workloads."""
    return tuple(
        ChoiceItem(
            value=f"{_PREFIX}{profile.name}",
            label=f"Is it fit for {profile.title}?",
            help="Eight runs in a scratch file, about three minutes. Then it answers yes, no or not decided."
            if profile.workload
            else "Checks the filesystem of the folder. Nothing is measured.",
        )
        for profile in FIT_PROFILES.values()
    )


def show_fit(app: AppInterface, choice: str, folder: str) -> None:
    """Open the sheet of a program, and start to measure the folder unless a job is running."""
    test = app.background.get(_NAME)
    if not isinstance(test, FitTest) or not test.measuring:
        if app.workbench.jobs.running:
            app.notify("A job is running already.", severity="warning")
            return
        profile = FIT_PROFILES[choice.removeprefix(_PREFIX)]
        app.background[_NAME] = test = FitTest(app, profile, os.path.abspath(os.path.expanduser(folder)))
        test.start()
    app.push_screen(FitSheet(test))


class FitTest(BackgroundWork):
    """One question about one folder, which continues while its sheet is closed: its runs, and at the end the answer."""

    def __init__(self, app: AppInterface, profile: FitProfile, folder: str) -> None:
        self._app, self._profile, self._folder = app, profile, folder
        self.title = f"Is {folder} fit for {profile.title}?"
        """The question."""
        self.rows: list[str] = ["Checking the folder ..."]
        """Lines of the sheet: the plan, one line per finished run, and the answer after the last."""
        self._running = False
        self.changed: Callable[[], None] = lambda: None
        """Called after a change of the lines."""

    @property
    def measuring(self) -> bool:
        """Whether the test is in progress."""
        return self._running

    def start(self) -> None:
        """Measure in a worker of the app, which continues when the sheet is closed."""
        self._running = True
        self._app.run_worker(self._measure(), group="bench")

    def _say(self, *rows: str) -> None:
        self.rows += rows
        self.changed()

    async def _measure(self) -> None:
        bench = self._app.workbench
        runs: list[FitRun] = []
        try:
            plan = await plan_fit(bench, self._profile, self._folder, Demands())
            self.rows = []
            self._say(*plan_lines(plan))
            busy = None
            if plan.ready is not None:
                busy = await busy_share(bench, plan.disk)

                def ended(run: FitRun) -> None:
                    runs.append(run)
                    self._say(run_line(len(runs), run))

                await measure_fit(bench, plan, ended=ended)
                if len(runs) < plan.runs:
                    self._say("Stopped before all runs were complete, so there is no answer.")
                    return
            head, *evidence = result_lines(plan, await judge_fit(bench, plan, runs, busy))
            self._say("", head, *evidence)
            self._app.notify(head, title=self.title)
        except RaidbenchError as error:
            self._say("There is no answer.")
            self._app.show_error(error, title=self.title)
        finally:
            self._running = False


class FitSheet(OverlayScreen):
    """Shows the lines of a test as they are added."""

    LAST_LINE = "The runs continue while this sheet is closed. Stop a run on the Bench screen."

    def __init__(self, test: FitTest) -> None:
        super().__init__()
        self.title = test.title
        self._test = test

    def body(self) -> ComposeResult:
        """Compose the lines."""
        yield Static("", id="fit-rows", markup=False)

    def on_mount(self) -> None:
        """Show the lines now, and whenever one is added."""
        self._test.changed = self._show
        self._show()

    def on_unmount(self) -> None:
        """Stop to follow the test."""
        self._test.changed = lambda: None

    def _show(self) -> None:
        self.query_one("#fit-rows", Static).update("\n".join(self._test.rows))
