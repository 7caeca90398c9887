"""A run of before, opened again: its figures, its graphs and what was said of it, as they stood at its end."""

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
    """The graphs of a finished run over the whole terminal; f has every figure, esc goes back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,h,q,enter", "dismiss", "Close", id="run.close"),
        Binding("f", "figures", "All figures", id="run.figures"),
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
        """`session`: the one that the run is of, which lies in `folder`."""
        super().__init__()
        self._run = run
        self._folder = folder
        self._session = session

    @property
    def graphs(self) -> RunGraphs:
        """The figures and graphs."""
        return self.query_one(RunGraphs)

    def compose(self) -> ComposeResult:
        """What was measured, its graphs, what was said of it."""
        yield Static("", id="run-title", classes="run-line", markup=False)
        yield Static("", id="run-job", classes="run-line", markup=False)
        yield RunGraphs()
        yield Static(clean_lines("\n".join(summary_lines(self._run))), id="run-told", markup=False)
        yield Static("", id="run-advice", classes="run-line", markup=False)
        yield Static(_keys(), id="run-keys", classes="run-line", markup=False)

    def on_mount(self) -> None:
        """Reads its samples."""
        self.graphs.show_run(self._run, self._folder, self._session)

    def on_resize(self) -> None:
        """What stands in one line has another length."""
        start, width = self._run.start, self.size.width - 2
        target = target_line(self._session.inventory, start.all_targets, settings_in_force(start), wide=width >= 96)
        self.query_one("#run-title", Static).update(clean_lines(f"{self._run.id} · {target}"))
        self.query_one("#run-job", Static).update(clean_lines(job_line(start.profile, start.title, start.steady)))
        text = advice_line(self._run.figures.advice, width, ascii=bool(getattr(self.app, "ascii", False)))
        self.query_one("#run-advice", Static).update(clean_lines(text))
        self.query_one("#run-advice").display = bool(text)

    def say(self, message: str) -> None:
        """A short notice."""
        self.app.notify(message)

    def action_figures(self) -> None:
        """Every figure of it."""
        from app.tui.runs.figures import FiguresScreen

        self.app.push_screen(FiguresScreen(self._run, self._folder, ascii=bool(getattr(self.app, "ascii", False))))


def _keys() -> str:
    """The keys and what they are for."""
    shown = [f"{command.shown_keys.split()[0]} {command.label}" for command in COMMANDS if command.id in GRAPH_COMMANDS]
    return "  ".join((*shown, "f All figures", "esc Back"))
