"""A pane says what it is and whether the keys go into it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from rich.style import Style
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Input

from tests.widgets.stage import HOSTILE, Stage, screen_text
from widgets.pane import Pane, pane_of


class Two(App[None]):
    """A field in a frame beside a frame without anything in it."""

    CSS = "Screen { layout: horizontal; } Pane { width: 1fr; }"

    def compose(self) -> ComposeResult:
        yield Pane("Left", Input(compact=True), id="left")
        yield Pane("Right", note="3 of 7", focusable=True, id="right")


@pytest.fixture
async def two() -> AsyncIterator[Pilot[None]]:
    async with Two().run_test(size=(40, 6)) as pilot:
        yield pilot


def style_of(app: App[None], word: str) -> Style:
    """How a word is drawn."""
    styles = [seg.style for strip in app.screen._compositor.render_strips() for seg in strip if word in seg.text]
    assert styles[0] is not None
    return styles[0]


def is_bright(app: App[None], word: str) -> bool:
    return bool(style_of(app, word).bold)


async def test_title_and_note_stand_in_the_frame(two: Pilot[None]) -> None:
    lines = screen_text(two.app).splitlines()
    assert ("╭─ Left ─" in lines[0], " 3 of 7 ─╯" in lines[-1]) == (True, True)


async def test_only_the_pane_with_the_focus_is_bright(two: Pilot[None]) -> None:
    two.app.query_one(Input).focus()
    await two.pause()
    assert (is_bright(two.app, "Left"), is_bright(two.app, "Right")) == (True, False)


async def test_tab_goes_on_to_a_pane_that_takes_no_other_keys(two: Pilot[None]) -> None:
    two.app.query_one(Input).focus()
    await two.press("tab")
    assert (is_bright(two.app, "Left"), is_bright(two.app, "Right")) == (False, True)


async def test_what_stands_in_a_pane_knows_it(two: Pilot[None]) -> None:
    assert pane_of(two.app.query_one(Input)) is two.app.query_one("#left")


async def test_what_stands_in_none_knows_that(two: Pilot[None]) -> None:
    assert pane_of(two.app.screen) is None


async def test_another_title_takes_the_place_of_the_first(two: Pilot[None]) -> None:
    two.app.query_one("#left", Pane).title = "ssd"
    await two.pause()
    assert ("ssd" in screen_text(two.app), "Left" in screen_text(two.app)) == (True, False)


@pytest.mark.parametrize("text", HOSTILE)
async def test_a_hostile_title_is_only_text(text: str) -> None:
    app = Stage(Pane(text, note=text))
    async with app.run_test(size=(30, 4)) as pilot:
        await pilot.click(offset=(5, 0))
        assert (screen_text(app).replace("\n", "").isprintable(), app.boomed) == (True, 0)
