"""The keys of a screen and the terms on it, each with a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from app.core.presentation.glossary import terms_of
from app.tui.commands import MOVING, SCREENS, SHEETS, commands_of
from app.tui.overlay_screen import OverlayScreen
from widgets.details import Detail, Details, FactGroup
from widgets.text_utils.symbols import SIGNS


class HelpScreen(OverlayScreen):
    """Keys and terms of a screen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("question_mark", "dismiss", show=False, id="help.close")]
    TITLE = "Keys (esc closes)"

    def __init__(self, screen: str) -> None:
        super().__init__()
        self._screen = screen

    def body(self) -> ComposeResult:
        """Compose the lists of keys and terms."""
        screen_commands = commands_of(self._screen, shared=False)
        shared = tuple(command for command in commands_of(self._screen) if command not in screen_commands)
        lists: tuple[tuple[str, Iterable[tuple[str, str]]], ...] = (
            ((SCREENS | SHEETS)[self._screen], [(command.shown_keys, command.help) for command in screen_commands]),
            ("Everywhere", [(command.shown_keys, command.help) for command in shared]),
            ("Moving", MOVING),
            ("Symbols", [(sign.char, sign.meaning) for sign in SIGNS]),
            ("Terms", [(term.word, term.meaning) for term in terms_of(self._screen)]),
        )
        groups = tuple(
            FactGroup(heading=heading, facts=tuple(Detail(label=label, value=text) for label, text in rows))
            for heading, rows in lists
        )
        yield Details(groups)
