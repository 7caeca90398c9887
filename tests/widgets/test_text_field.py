"""What is typed in one go into a field stands there as it was typed."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Input

from widgets.text_field import TextField


class Asking(App[None]):
    def compose(self) -> ComposeResult:
        yield TextField("10")


@pytest.fixture
async def pilot() -> AsyncIterator[Pilot[None]]:
    async with Asking().run_test() as made:
        made.app.query_one(TextField).focus()
        await made.pause()
        yield made


async def typed(pilot: Pilot[None], *keys: str) -> str:
    """The text after keys that came in one go, none of them awaited."""
    for key in keys:
        pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))
    await pilot.pause()
    await pilot.pause()
    return pilot.app.query_one(TextField).value


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (("backspace", "6"), "6"),
        (("end", "backspace", "backspace", "6", "4"), "64"),
        (("home", "5"), "510"),
        (("ctrl+u", "7", "left", "8"), "87"),
        (("end", "5", "backspace", "6"), "106"),
    ],
)
async def test_a_letter_does_not_overtake_the_key_before_it(
    pilot: Pilot[None], keys: tuple[str, ...], text: str
) -> None:
    assert await typed(pilot, *keys) == text


async def test_a_key_that_is_no_key_of_the_field_goes_on_to_the_screen(pilot: Pilot[None]) -> None:
    pressed: list[str] = []
    pilot.app.screen.key_f5 = lambda: pressed.append("f5")  # type: ignore[attr-defined]
    await pilot.press("f5")
    assert pressed == ["f5"]


class Leaving(App[None]):
    """A field that enter leaves, and what has the keys then."""

    def compose(self) -> ComposeResult:
        yield TextField(id="first")
        yield Input(id="then")


async def test_what_follows_an_enter_in_one_go_is_for_what_has_the_keys_then() -> None:
    async with Leaving().run_test() as pilot:
        first, then = pilot.app.query_one("#first", TextField), pilot.app.query_one("#then", Input)
        first.leave = lambda: pilot.app.screen.set_focus(then)
        first.focus()
        await pilot.pause()
        await typed(pilot, "a", "b", "enter", "c", "d")
        assert (first.value, then.value) == ("ab", "cd")
