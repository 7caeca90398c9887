"""Keys typed before a dialog is there that a worker opens: they wait for it, and none confirms what nobody has read."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import pytest
from textual.app import ComposeResult
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input

from tests.tui.test_typed_twice import at_once, layers
from widgets import typed_keys
from widgets.choice_list import ChoiceDialog, ChoiceItem
from widgets.confirm import Confirmation, ConfirmDialog
from widgets.guarded_dialog import GRACE, GuardedDialog
from widgets.typed_keys import OrderedKeysApp

HARMLESS = Confirmation(title="Set it", tier="harmless", commands=(("set", "it"),))
RISKY = Confirmation(title="Set it", tier="risky", commands=(("set", "it"),))
DESTRUCTIVE = Confirmation(title="Erase it", tier="destructive", commands=(("erase", "it"),), required="s1")
LONG = Confirmation(title="Set all", tier="harmless", commands=tuple(("set", str(number)) for number in range(99)))


class Below(Screen[None]):
    """A screen that keeps what was typed on it."""

    AUTO_FOCUS = "Input"

    def compose(self) -> ComposeResult:
        yield Input(id="below")


class Slow(OrderedKeysApp[int]):
    """F2 opens dialogs one after the other, each as soon as the test lets it."""

    BINDINGS: ClassVar = [("f2", "ask")]

    def __init__(self, *dialogs: GuardedDialog[Any]) -> None:
        super().__init__()
        self.dialogs = dialogs
        self.ready = asyncio.Semaphore(0)
        self.answers: list[object] = []
        self.cancelled = self.dropped = 0

    def get_default_screen(self) -> Screen[None]:
        return Below()

    @property
    def typed(self) -> str:
        return self.screen_stack[0].query_one(Input).value

    def action_ask(self) -> None:
        self.hold_keys(self.run_worker(self.ask()))

    async def ask(self) -> None:
        try:
            for dialog in self.dialogs:
                await self.ready.acquire()
                self.answers.append(await self.push_screen_wait(dialog))
            await self.ready.acquire()
        except asyncio.CancelledError:
            self.cancelled += 1

    def report_dropped_keys(self) -> None:
        self.dropped += 1


def choices() -> ChoiceDialog:
    return ChoiceDialog("Which", tuple(ChoiceItem(value=name, label=name) for name in "abc"), "a")


async def until(pilot: Pilot[int], condition: object) -> None:
    assert callable(condition)
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)
    await pilot.pause()


async def handled(pilot: Pilot[int]) -> None:
    """All keys that wait for nothing are handled."""
    app = pilot.app
    assert isinstance(app, Slow)
    await asyncio.sleep(0.05)
    await until(pilot, lambda: app._settling is None or app._is_opening)
    await pilot.pause()


async def test_keys_wait_for_a_dialog_that_is_being_prepared_and_for_the_one_after_it() -> None:
    app = Slow(choices(), choices())
    async with app.run_test() as pilot:
        at_once(pilot, "f2", "down", "enter", "down", "down", "enter", "x")
        await handled(pilot)
        assert (layers(pilot), app.typed) == (["Below"], "")
        app.ready.release()
        await until(pilot, lambda: app.answers)
        await handled(pilot)
        assert (app.answers, layers(pilot), app.typed) == (["b"], ["Below"], "")
        app.ready.release()
        await until(pilot, lambda: len(app.answers) == 2)
        app.ready.release()
        await until(pilot, lambda: app.typed == "x")
        assert app.answers == ["b", "c"]


@pytest.mark.parametrize("shown", [HARMLESS, RISKY, DESTRUCTIVE, LONG], ids=lambda shown: f"{shown.tier} {shown.title}")
async def test_nothing_typed_before_a_confirmation_is_there_confirms_it(shown: Confirmation) -> None:
    app = Slow(ConfirmDialog(shown))
    async with app.run_test() as pilot:
        at_once(pilot, "f2", "enter", "y", "t", "tab", "s", "1", "enter", "enter", "enter", "y")
        app.ready.release()
        await until(pilot, lambda: "ConfirmDialog" in layers(pilot))
        await handled(pilot)
        assert (layers(pilot), app.answers, app.typed) == (["Below", "ConfirmDialog"], [], "")
        at_once(pilot, "escape")
        await until(pilot, lambda: app.answers)
        assert app.answers == [False]


async def test_commands_that_were_not_on_the_screen_yet_are_not_confirmed() -> None:
    app = Slow(dialog := ConfirmDialog(LONG))
    async with app.run_test() as pilot:
        at_once(pilot, "f2")
        app.ready.release()
        await until(pilot, lambda: dialog._opened is not None and dialog.unread)
        at_once(pilot, "y", "y")
        await handled(pilot)
        assert (app.answers, bool(dialog.unread)) == ([], True)


async def test_escape_ends_the_preparation_and_what_was_typed_before_it() -> None:
    app = Slow(choices())
    async with app.run_test() as pilot:
        at_once(pilot, "f2", "down", "x", "escape", "z")
        await until(pilot, lambda: app.typed == "z")
        assert (app.cancelled, layers(pilot), app.dropped) == (1, ["Below"], 0)


async def test_control_c_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Slow(choices())
    done: list[bool] = []
    monkeypatch.setattr(app, "action_help_quit", lambda: done.append(app._is_opening))
    async with app.run_test() as pilot:
        app.screen.set_focus(None)  # a field copies with this key
        at_once(pilot, "f2", "down", "ctrl+c")
        await until(pilot, lambda: done)
        assert done == [True]
        at_once(pilot, "escape")
        await until(pilot, lambda: app.cancelled)


async def test_a_long_preparation_makes_no_key_wait_and_its_dialog_takes_no_answer_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(typed_keys, "MAX_OPENING_SECONDS", 0.1)
    app = Slow(dialog := ConfirmDialog(HARMLESS))
    async with app.run_test() as pilot:
        at_once(pilot, "f2", "x")
        await until(pilot, lambda: app.dropped)
        at_once(pilot, "z")
        await until(pilot, lambda: app.typed == "z")
        monkeypatch.setattr(dialog, "_clock", lambda: 0.0)
        app.ready.release()
        await until(pilot, lambda: dialog._opened is not None)
        at_once(pilot, "enter", "y")
        await handled(pilot)
        assert (app.answers, layers(pilot)) == ([], ["Below", "ConfirmDialog"])
        monkeypatch.setattr(dialog, "_clock", lambda: GRACE)
        at_once(pilot, "y")
        await until(pilot, lambda: app.answers == [True])


async def test_a_preparation_that_was_started_with_the_mouse_holds_keys_too() -> None:
    app = Slow(choices())
    async with app.run_test() as pilot:
        app.action_ask()
        at_once(pilot, "down", "enter")
        await handled(pilot)
        app.ready.release()
        await until(pilot, lambda: app.answers == ["b"])


async def test_what_is_released_holds_no_key_and_is_not_cancelled() -> None:
    class Released(Slow):
        async def ask(self) -> None:
            await self.ready.acquire()
            self.release_keys()
            await super().ask()

    app = Released()
    async with app.run_test() as pilot:
        at_once(pilot, "f2", "x")
        await handled(pilot)
        assert app.typed == ""
        app.ready.release()
        await until(pilot, lambda: app.typed == "x")
        at_once(pilot, "escape")
        await handled(pilot)
        assert app.cancelled == 0
        app.ready.release()
