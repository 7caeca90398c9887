"""Advice on the Bench screen: the list of all advice, and the key to press for following each piece."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from app.core.presentation.run import advice_facts
from app.core.session.results import Advice
from app.tui.commands import COMMANDS, NO_KEYMAP, CommandSpec, shown_key
from app.tui.overlay_screen import OverlayScreen
from app.tui.render import groups
from widgets.details import Details

if TYPE_CHECKING:
    from app.tui.base import WorkbenchScreen

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
"""Keys of the advice that the user follows by changing fields of the job."""

FOLLOWED: Final[Mapping[str, str]] = MappingProxyType(
    {**dict.fromkeys(_JOB, "bench.edit"), "unwritten-flash": "bench.precondition", "not-steady": "bench.steady"}
)
"""Id of the command with which the user follows a piece of advice, by the key of the advice in docs/advice.md."""

_COMMANDS: Final = {command.id: command for command in COMMANDS}


def command_of(advice: Advice) -> CommandSpec | None:
    """Return the command with which the user follows the advice; None if the screens have no such command."""
    return _COMMANDS.get(FOLLOWED.get(advice.key, ""))


def advice_with_keys(advice: tuple[Advice, ...], keymap: Mapping[str, str] = NO_KEYMAP) -> tuple[Advice, ...]:
    """Return the advice. To each piece that a command helps to follow, add the key of the command."""
    return tuple(
        advised
        if (command := command_of(advised)) is None
        else replace(advised, do=f"{advised.do} Press {shown_key(command, keymap)} ({command.label}).".strip())
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
        yield Details(groups(advice_facts(self._advice)))


def show_advice(screen: WorkbenchScreen, advice: tuple[Advice, ...], *, past: bool = False) -> None:
    """Open the list of advice over a screen, or say that there is none. `past`: without the keys of Bench."""
    if advice:
        shown = advice if past else advice_with_keys(advice, screen.workbench_app.custom_keys)
        screen.app.push_screen(AdviceScreen(shown))
    else:
        screen.say("There is no advice for this job.")
