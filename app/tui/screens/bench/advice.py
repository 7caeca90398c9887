"""All that the advisor says of a job, each with what to do about it."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from app.engine.session.figures import Advice
from app.engine.view.run import advice_facts
from app.tui.render import groups
from widgets.details import Details


class AdviceScreen(ModalScreen[None]):
    """A sheet of advice, the worst first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,i", "dismiss", "Close", id="advice.close"),
        Binding("up", "scroll(-1)", show=False),
        Binding("down", "scroll(1)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
        Binding("pagedown", "scroll(10)", show=False),
    ]
    DEFAULT_CSS = "AdviceScreen { align: center middle; }"

    def __init__(self, title: str, advice: tuple[Advice, ...]) -> None:
        super().__init__()
        self._title = title
        self._advice = advice

    def compose(self) -> ComposeResult:
        """Title, advice, where the reasons stand."""
        with Vertical(classes="sheet"):
            yield Static(f"{self._title} (esc closes)", classes="sheet-title", markup=False)
            with VerticalScroll(classes="sheet-scroll", can_focus=False):
                yield Details(groups(advice_facts(self._advice)))
            yield Static("docs/advice.md has the reason and source of each", markup=False)

    def on_resize(self) -> None:
        """Leaves room for title, last line and border."""
        self.query_one(VerticalScroll).styles.max_height = max(3, self.size.height - 6)

    def action_scroll(self, lines: int) -> None:
        """Move the sheet."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)
