"""An app with nothing but the widget under test."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from textual.app import App, ComposeResult
from textual.screen import Screen
from textual.widget import Widget

from widgets.sparse_screen import SparseScreen

HOSTILE = (
    "ST4000[/]",
    "[@click=app.boom]x[/]",
    "[red]",
    "\x1b]52;c;aGk=\x07",
    "\x9b31m",
    "a\u202eb\u200b\ud800",
    "\x00\n\t\r",
    "读写" * 30,
    "e" + "\u0301" * 40,
)
"""What a drive may call itself."""


class Clock:
    """A clock that goes only when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


class Stage(App[None]):
    """Shows one widget and counts clicks that a drive's name has made."""

    def __init__(self, widget: Widget) -> None:
        super().__init__()
        self.widget = widget
        self.boomed = 0

    def get_default_screen(self) -> Screen[object]:
        return SparseScreen()

    def compose(self) -> ComposeResult:
        yield self.widget

    def action_boom(self) -> None:
        self.boomed += 1


class Asking(App[None]):
    """Opens one dialog and keeps its answer."""

    def __init__(self, make: Callable[[], Screen[Any]]) -> None:
        super().__init__()
        self._make = make
        self.answers: list[object] = []

    def on_mount(self) -> None:
        self.push_screen(self._make(), self.answers.append)


async def shown_in_turn(make: Iterable[Callable[[], Screen[Any]]], size: tuple[int, int] = (80, 24)) -> list[str]:
    """Open one dialog after the other in one app; return the text of the screen with each."""
    shown: list[str] = []
    app: App[None] = App()
    async with app.run_test(size=size) as pilot:
        for dialog in make:
            app.push_screen(dialog())
            await pilot.pause()
            shown.append(screen_text(app))
            app.pop_screen()
            await pilot.pause()
    return shown


def screen_text(app: App[None]) -> str:
    """All that is on the screen, line by line."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())
