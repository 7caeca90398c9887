"""Two runs side by side, each with its repeats: their curves over each other, their figures, what they show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from app.engine.fio.curves import samples_of
from app.engine.judge.comparison import Comparison, compare
from app.engine.session.state import RunRecord
from app.engine.view.comparison import comparison_table
from app.engine.view.table import filled
from app.tui.render import columns, rows
from app.tui.screens.runs.overlay import overlay
from widgets.keyed_table import KeyedTable
from widgets.plain import units

Pair = tuple[Path, RunRecord]


class CompareScreen(ModalScreen[None]):
    """A sheet with the overlay of two finished runs and their figures."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss", "Close", id="compare.close"),
        Binding("g", "switch", "IOPS or latency", id="compare.switch"),
    ]
    DEFAULT_CSS = """
    CompareScreen {
        align: center middle;
        & .sheet { height: 96%; width: 98%; max-width: 180; }
        & #overlay { height: 1fr; }
        & KeyedTable { height: auto; max-height: 50%; }
        & #runs-compared { height: auto; }
        & #compare-keys { height: 1; color: $foreground 70%; }
    }
    """

    def __init__(self, a: Pair, b: Pair, a_session: Sequence[RunRecord], b_session: Sequence[RunRecord]) -> None:
        """`a_session` and `b_session`: the runs of the session of each, among which their repeats are."""
        super().__init__()
        self._pairs = (a, b)
        self._comparison = compare(a[1], b[1], a_session, b_session)
        self._latency = False

    def compose(self) -> ComposeResult:
        """Names, overlay, figures, keys."""
        comparison = self._comparison
        shown = filled(comparison_table(comparison))
        with Vertical(classes="sheet"):
            yield Static(_names(comparison), id="runs-compared", markup=False)
            yield Static("", id="overlay", markup=False)
            yield KeyedTable(columns(shown), rows(shown))
            yield Static("g IOPS or p99  esc close", id="compare-keys", markup=False)

    def on_mount(self) -> None:
        """The overlay is drawn once there is a size to draw in."""
        self.query_one(KeyedTable).focus()
        self.call_after_refresh(self._draw)

    def on_resize(self) -> None:
        """Draws again at the new size."""
        self.call_after_refresh(self._draw)

    def action_switch(self) -> None:
        """IOPS or p99."""
        self._latency = not self._latency
        self._draw()

    def _draw(self) -> None:
        area = self.query_one("#overlay", Static)
        width, height = area.size.width, area.size.height
        if width < 20 or height < 5:
            area.update("no room for the curves")
            return
        curves = []
        for folder, run in self._pairs:
            if run.end is None:
                continue
            ramp, runtime = (int(run.start.job.get(key, "0").rstrip("s") or 0) for key in ("ramp", "runtime"))
            raw = folder / run.end.folder / "fio.out"
            samples = samples_of(raw, ramp=bool(ramp), planned_s=runtime or None, steady=run.start.steady)
            curves.append((run.id, samples))
        text = overlay(curves, width, height, latency=self._latency, ascii_only=getattr(self.app, "ascii", False))
        area.update(Text.from_ansi(text))


def _names(comparison: Comparison) -> str:
    """What they show, which runs they are, what differs between them, what to mind; in few lines."""
    a, b = (_what(run) for run in (comparison.a, comparison.b))
    if a == b:
        names = [f"A {comparison.a.id}, B {comparison.b.id}: {a}"]
    else:
        names = [f"A {comparison.a.id}  {a}", f"B {comparison.b.id}  {b}"]
    differing = [f"{key}: {a or units.NOTHING} | {b or units.NOTHING}" for key, a, b in comparison.differing]
    lines = [comparison.sentence, *names, "; ".join(differing), " ".join(comparison.caveats)]
    return "\n".join(filter(None, lines))


def _what(run: RunRecord) -> str:
    return f"{run.start.profile or run.start.title} on {run.start.target}"
