"""The runs of one condition over all sessions: how it was before, drawn and listed."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from app.engine.history.past import PastRun
from app.engine.history.series import RunSeries, series_of
from app.engine.view.history import change_lines, history_table
from app.engine.view.table import filled
from app.history_plot import history_plot
from app.tui.render import columns, rows
from backends.text import clean, clean_lines
from widgets.keyed_table import KeyedTable
from widgets.plain import units

_LATEST_CHANGES = 2
_COLUMNS = ("when", "run", "headline", "p99", "level", "differs", "status")


class HistoryScreen(ModalScreen[None]):
    """A sheet with the runs that measured the same as one of them, in all sessions."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,h", "dismiss", "Close", id="history.close"),
    ]
    DEFAULT_CSS = """
    HistoryScreen {
        align: center middle;
        & .sheet { height: 96%; width: 98%; max-width: 180; }
        & .sheet-title { height: 1; }
        & #history-plot { height: 1fr; min-height: 8; }
        & KeyedTable { height: auto; max-height: 35%; }
        & #history-changes { height: auto; max-height: 3; }
        & #history-keys { height: 1; color: $text-muted; }
    }
    """

    def __init__(self, run: PastRun, runs: tuple[PastRun, ...], *, ascii: bool = False) -> None:
        """`runs`: all of its condition, oldest first."""
        super().__init__()
        self._run = run
        self._runs = runs
        self._ascii = ascii
        self._series: RunSeries | None = series_of(runs).get(run.condition)

    def compose(self) -> ComposeResult:
        """What it is, the chart, where the level changed, the runs, keys."""
        run, series = self._run, self._series
        changes = () if series is None else series.changes
        shown = filled(history_table(self._runs, changes).only(*_COLUMNS))
        sessions = units.plural(len({each.session for each in self._runs}), "session")
        title = f"{run.workload} on {run.target}: {units.plural(len(self._runs), 'run')} of {sessions}"
        told = [] if series is None else list(change_lines(series, named=False))[: -_LATEST_CHANGES - 1 : -1]
        with Vertical(classes="sheet"):
            yield Static(clean(title, 300), classes="sheet-title", markup=False)
            yield Static("", id="history-plot", markup=False)
            yield Static(clean_lines("\n".join(told)), id="history-changes", markup=False)
            yield KeyedTable(columns(shown), rows(shown))
            yield Static("a line in the chart: the level changed   esc close", id="history-keys", markup=False)

    def on_mount(self) -> None:
        """The chart is drawn once there is a size to draw in."""
        self.query_one(KeyedTable).focus()
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self.query_one(KeyedTable).cursor = self._run.name  # brought into sight, now that there is a size
        self._draw()

    def on_resize(self) -> None:
        """Draws again at the new size."""
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        area = self.query_one("#history-plot", Static)
        width, height = area.size.width, area.size.height
        if self._series is None:
            area.update("No whole run to draw.")
        elif width < 30 or height < 6:
            area.update("no room for the chart")
        else:
            area.update(Text.from_ansi(history_plot(self._series, width, height, ascii_only=self._ascii, titled=False)))
