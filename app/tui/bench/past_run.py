"""A finished run, opened again: its results, graphs and notes as they were at its end."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.widgets import Static

from app.core.presentation.device import settings_in_force
from app.core.session.state import RunRecord, Session
from app.tui.base import WorkbenchScreen
from app.tui.bench.advice import show_advice
from app.tui.bench.live_view import JOIN, advice_line, job_line, target_line
from app.tui.bench.run_graphs import GraphKeys, RunGraphs
from app.tui.bench.summary import summary_lines
from widgets.text_utils.text import width_of


class RunScreen(GraphKeys, WorkbenchScreen):
    """The graphs of a finished run. `f` shows every result, escape returns to the previous screen."""

    NAME: ClassVar[str] = "run"
    DEFAULT_CSS = """
    RunScreen {
        & .run-line { height: 1; padding: 0 1; }
        & #run-title { text-style: bold; }
        & #run-job { color: $text-muted; }
        & #run-told { height: auto; max-height: 4; padding: 0 1; }
        & #run-advice { color: $text-warning; }
    }
    """

    def __init__(self, run: RunRecord, folder: Path, session: Session) -> None:
        """`session`: the session of the run, in `folder`."""
        super().__init__()
        self._run = run
        self._folder = folder
        self._session = session

    @property
    def graphs(self) -> RunGraphs:
        """The metrics and graphs."""
        return self.query_one(RunGraphs)

    @property
    def place(self) -> str:
        """The state whose keys the footer shows. No widget of this screen takes the focus."""
        return self.NAME

    def body(self) -> ComposeResult:
        """Compose the target, the graphs and the summary."""
        yield Static("", id="run-title", classes="run-line", markup=False)
        yield Static("", id="run-job", classes="run-line", markup=False)
        yield RunGraphs()
        yield Static("", id="run-told", markup=False)
        yield Static("", id="run-advice", classes="run-line", markup=False)

    def on_mount(self) -> None:
        """Show the summary, and read the samples of the run."""
        self.put("#run-told", "\n".join(summary_lines(self._run)))
        self.graphs.show_run(self._run, self._folder, self._session)

    def on_resize(self, event: events.Resize) -> None:
        """Fit the one-line texts to the new width."""
        start, width = self._run.start, event.size.width - 2
        head = f"{self._run.id}{JOIN}"
        target = target_line(
            self._session.inventory, start.all_targets, settings_in_force(start), width - width_of(head)
        )
        self.put("#run-title", f"{head}{target}")
        self.put("#run-job", job_line(start.profile, start.title, start.steady))
        text = advice_line(self._run.figures.advice, width, ascii=self.workbench_app.ascii, past=True)
        self.put("#run-advice", text)
        self.query_one("#run-advice").display = bool(text)

    def action_advice(self) -> None:
        """Show all advice on the run."""
        show_advice(self, self._run.figures.advice, past=True)

    def action_figures(self) -> None:
        """Show every result of the run."""
        from app.tui.runs.figures import FiguresScreen

        self.app.push_screen(FiguresScreen(self._run, self._folder, ascii=self.workbench_app.ascii))

    def action_back(self) -> None:
        """Return to the previous screen."""
        self.dismiss()
