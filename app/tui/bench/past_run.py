"""A finished run, opened again: its results, graphs and notes as they were at its end."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Static

from app.core.presentation.device import settings_in_force
from app.core.session.state import RunRecord, Session
from app.tui.base import WorkbenchScreen
from app.tui.bench.live_view import advice_line, job_line, target_line
from app.tui.bench.run_graphs import GRAPH_COMMANDS, GraphKeys, RunGraphs
from app.tui.bench.summary import summary_lines
from app.tui.commands import COMMANDS
from backends.text import clean_lines
from widgets.sparse_screen import BufferedScreen


class RunScreen(GraphKeys, ModalScreen[None], BufferedScreen[None]):
    """The graphs of a finished run over the full terminal. `f` shows every result, escape closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,h,q,enter", "dismiss", "Close", id="run.close"),
        Binding("f", "figures", "All results", id="run.figures"),
        *(
            Binding(key, command.action, command.label)
            for command in COMMANDS
            if command.id in GRAPH_COMMANDS
            for key in command.keys
        ),
    ]
    VERTICAL_BREAKPOINTS = WorkbenchScreen.VERTICAL_BREAKPOINTS
    DEFAULT_CSS = """
    RunScreen {
        background: $background;
        & .run-line { height: 1; padding: 0 1; }
        & #run-title { text-style: bold; }
        & #run-job { color: $text-muted; }
        & #run-told { height: auto; max-height: 4; padding: 0 1; }
        & #run-advice { color: $text-warning; }
        & #run-keys { color: $text-muted; }
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

    def compose(self) -> ComposeResult:
        """Compose the target, the graphs and the summary."""
        yield Static("", id="run-title", classes="run-line", markup=False)
        yield Static("", id="run-job", classes="run-line", markup=False)
        yield RunGraphs()
        yield Static(clean_lines("\n".join(summary_lines(self._run))), id="run-told", markup=False)
        yield Static("", id="run-advice", classes="run-line", markup=False)
        yield Static(_keys(), id="run-keys", classes="run-line", markup=False)

    def on_mount(self) -> None:
        """Read the samples of the run."""
        self.graphs.show_run(self._run, self._folder, self._session)

    def on_resize(self) -> None:
        """Fit the one-line texts to the new width."""
        start, width = self._run.start, self.size.width - 2
        target = target_line(self._session.inventory, start.all_targets, settings_in_force(start), wide=width >= 96)
        self.query_one("#run-title", Static).update(clean_lines(f"{self._run.id} · {target}"))
        self.query_one("#run-job", Static).update(clean_lines(job_line(start.profile, start.title, start.steady)))
        text = advice_line(self._run.figures.advice, width, ascii=bool(getattr(self.app, "ascii", False)))
        self.query_one("#run-advice", Static).update(clean_lines(text))
        self.query_one("#run-advice").display = bool(text)

    def say(self, message: str) -> None:
        """Show a short notice."""
        self.app.notify(message)

    def action_figures(self) -> None:
        """Show every result of the run."""
        from app.tui.runs.figures import FiguresScreen

        self.app.push_screen(FiguresScreen(self._run, self._folder, ascii=bool(getattr(self.app, "ascii", False))))


def _keys() -> str:
    """Return the keys of the screen with their labels."""
    shown = [f"{command.shown_keys.split()[0]} {command.label}" for command in COMMANDS if command.id in GRAPH_COMMANDS]
    return "  ".join((*shown, "f All results", "esc Back"))
