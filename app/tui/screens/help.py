"""The keys of one screen and the words on it, with a sentence each."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from app.commands import SCREENS, SHEETS, commands_of
from app.glossary import terms_of
from widgets.details import Detail, Details, FactGroup

_MOVING = FactGroup(
    heading="Moving",
    facts=(
        Detail(label="up down", value="Row by row; page up, page down, home and end go further."),
        Detail(label="tab", value="To the next part of the screen."),
        Detail(label="enter", value="Open, choose, unfold: whatever the row offers."),
        Detail(label="esc", value="Leave a dialog or a filter; nothing is changed by it."),
    ),
)


class HelpScreen(ModalScreen[None]):
    """Keys and words of a screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter", "dismiss", "Close", id="help.close"),
        Binding("up", "scroll(-1)", show=False),
        Binding("down", "scroll(1)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
        Binding("pagedown", "scroll(10)", show=False),
    ]
    DEFAULT_CSS = "HelpScreen { align: center middle; }"

    def __init__(self, screen: str) -> None:
        super().__init__()
        self._screen = screen

    def compose(self) -> ComposeResult:
        """A sheet of keys."""
        own = commands_of(self._screen, shared=False)
        shared = tuple(command for command in commands_of(self._screen) if command not in own)
        groups = (
            FactGroup(
                heading=(SCREENS | SHEETS)[self._screen],
                facts=tuple(Detail(label=command.shown_keys, value=command.help) for command in own),
            ),
            FactGroup(
                heading="Everywhere",
                facts=tuple(Detail(label=command.shown_keys, value=command.help) for command in shared),
            ),
            _MOVING,
            FactGroup(
                heading="Words",
                facts=tuple(Detail(label=term.word, value=term.meaning) for term in terms_of(self._screen)),
            ),
        )
        with Vertical(classes="sheet"):
            yield Static("Keys (esc closes)", classes="sheet-title", markup=False)
            with VerticalScroll(classes="sheet-scroll", can_focus=False):
                yield Details(groups)

    def on_resize(self) -> None:
        """Leaves room for the border."""
        self.query_one(VerticalScroll).styles.max_height = max(3, self.size.height - 5)

    def action_scroll(self, lines: int) -> None:
        """Move the sheet."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)
