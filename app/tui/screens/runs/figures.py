"""Every figure of one run, its settings, and where fio's own words lie."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from app.engine.session.state import RunRecord
from app.engine.view.names import named
from app.engine.view.run import figure_facts
from app.tui.render import groups
from app.tui.screens.bench.members import NARROW_BAR, member_table
from app.tui.sheet import Sheet
from backends.text import clean_lines
from widgets.details import Detail, Details, FactGroup
from widgets.still_table import StillTable, TableColumn, TableRow

RAW_LIMIT = 64 * 1024
"""Bytes of fio's last words shown with `r`."""


class FiguresScreen(Sheet):
    """A sheet with all figures; r shows fio's raw output."""

    BESIDE: ClassVar[int] = 6

    BINDINGS: ClassVar[list[BindingType]] = [Binding("r", "raw", "Raw output", id="figures.raw")]
    DEFAULT_CSS = """
    FiguresScreen {
        & .told { margin-bottom: 1; }
    }
    """

    def __init__(self, run: RunRecord, folder: Path, *, ascii: bool = False) -> None:
        super().__init__()
        self._ascii = ascii
        self._run = run
        self._folder = folder
        self._raw = False

    def compose(self) -> ComposeResult:
        """Title, figures, raw output."""
        start = self._run.start
        with Vertical(classes="sheet"):
            yield Static(f"{self._run.id}  {start.title}  on {start.target}", classes="sheet-title", markup=False)
            with VerticalScroll(classes="sheet-scroll", can_focus=False):
                yield Details(self._figures(), classes="told")
                yield StillTable(*self._members(), classes="told")
                yield Details(self._circumstances(), classes="told")
                yield Static("", id="raw", markup=False)
            yield Static("r raw output  esc close", markup=False)

    def _figures(self) -> tuple[FactGroup, ...]:
        run = self._run
        reason = run.figures.reason
        head = [Detail(label="Status", value=f"{run.figures.status}{f': {reason}' if reason else ''}")]
        return (FactGroup(facts=tuple(head)), *groups(figure_facts(run.figures)))

    def _members(self) -> tuple[tuple[TableColumn, ...], tuple[TableRow, ...]]:
        members = self._run.figures.members
        return member_table(members, most=len(members), bar=NARROW_BAR, ascii=self._ascii)

    def _circumstances(self) -> tuple[FactGroup, ...]:
        run = self._run
        job = tuple(Detail(label=label, value=value) for label, value in named(run.start.job))
        settings = tuple(Detail(label=label, value=value) for label, value in sorted(named(run.start.settings)))
        groups = [FactGroup(heading="Job", facts=job)]
        if settings:
            groups.append(FactGroup(heading=f"Settings of {run.start.device}", facts=settings))
        if run.end is not None:
            where = Detail(label="Folder", value=str(self._folder / run.end.folder))
            groups.append(FactGroup(heading="On disk", facts=(where,)))
        return tuple(groups)

    def action_raw(self) -> None:
        """Show fio's own output, or the figures again."""
        self._raw = not self._raw
        self.query(".told").set(display=not self._raw)
        text = self._read_raw() if self._raw else ""
        self.query_one("#raw", Static).update(text)

    def _read_raw(self) -> str:
        if self._run.end is None:
            return "The run has not ended."
        file = self._folder / self._run.end.folder / "fio.out"
        try:
            data = file.read_bytes()[-RAW_LIMIT:]
        except OSError as error:
            return f"{file}: {error.strerror}"
        text = data.decode("utf-8", "replace")
        last = text.rfind("\n{\n")
        return clean_lines(text[last + 1 :] if last >= 0 else text, lines=2000)
