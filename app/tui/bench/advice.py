"""Advice on the Bench screen: the key that follows it, and the list of all advice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from app.core.presentation.run import advice_facts
from app.core.session.results import Advice
from app.tui.commands import COMMANDS, CommandSpec
from app.tui.overlay_screen import OverlayScreen
from app.tui.render import groups
from widgets.details import Details

_JOB: Final = (
    "page-cache",
    "sync-depth",
    "too-short",
    "same-seed",
    "same-blocks",
    "random-map",
    "sector-misaligned",
    "fio-cpu-bound",
    "few-ios",
    "depth-not-kept",
    "rate-not-held",
    "cache-larger-than-area",
    "cache-not-full",
    "stripe-read-modify-write",
    "depth-beyond-device",
)
"""Keys of advice that is followed by changing job fields."""

FOLLOWED: Final[Mapping[str, str]] = MappingProxyType(
    {**dict.fromkeys(_JOB, "bench.edit"), "unwritten-flash": "bench.precondition", "not-steady": "bench.steady"}
)
"""Keys of docs/advice.md, and the command that follows each."""

_COMMANDS: Final = {command.id: command for command in COMMANDS}


def command_of(advice: Advice) -> CommandSpec | None:
    """Return the command that follows the advice; None if no command of the screens does."""
    return _COMMANDS.get(FOLLOWED.get(advice.key, ""))


def advice_with_keys(advice: tuple[Advice, ...]) -> tuple[Advice, ...]:
    """Return the advice, each with the key that follows it."""
    return tuple(
        advised
        if (command := command_of(advised)) is None
        else replace(advised, do=f"{advised.do} Press {command.shown_keys.split()[0]} ({command.label}).".strip())
        for advised in advice
    )


class AdviceScreen(OverlayScreen):
    """A list of advice, most important first."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("i", "dismiss", show=False, id="advice.close")]
    TITLE = "Advice (esc closes)"
    LAST_LINE: ClassVar[str] = "reasons: docs/advice.md"

    def __init__(self, advice: tuple[Advice, ...]) -> None:
        super().__init__()
        self._advice = advice

    def body(self) -> ComposeResult:
        """Compose the pieces of advice."""
        yield Details(groups(advice_facts(advice_with_keys(self._advice))))
