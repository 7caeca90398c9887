"""All that the advisor says of a job, each with what to do about it."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from app.core.presentation.run import advice_facts
from app.core.session.results import Advice
from app.tui.bench.advice_keys import advice_with_keys
from app.tui.overlay_screen import OverlayScreen
from app.tui.render import groups
from widgets.details import Details


class AdviceScreen(OverlayScreen):
    """A sheet of advice, the worst first."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("i", "dismiss", show=False, id="advice.close")]
    BESIDE: ClassVar[int] = 6

    def __init__(self, title: str, advice: tuple[Advice, ...]) -> None:
        super().__init__()
        self._title = title
        self._advice = advice

    def compose(self) -> ComposeResult:
        """Title, advice, where the reasons stand."""
        with Vertical(classes="sheet"):
            yield Static(f"{self._title} (esc closes)", classes="sheet-title", markup=False)
            with VerticalScroll(classes="sheet-scroll", can_focus=False):
                yield Details(groups(advice_facts(advice_with_keys(self._advice))))
            yield Static("docs/advice.md has the reason and source of each", markup=False)
