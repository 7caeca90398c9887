"""A screen is left once, and nothing of it goes on where its widgets were."""

from __future__ import annotations

import asyncio
from functools import partial

from textual.app import App, ComposeResult
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Button, Static

from widgets.screen_lifecycle import SafeScreen


class Body(Static):
    """A widget that takes its time to go, as a busy machine makes it."""

    async def on_unmount(self) -> None:
        await asyncio.sleep(0.05)


class Asked(SafeScreen[str]):
    """Answers with what is pressed; shows something in a worker and after a refresh."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []

    def compose(self) -> ComposeResult:
        yield Body(id="body")
        yield Button("A", id="a")

    def on_button_pressed(self) -> None:
        self.shown.append("pressed")
        self.dismiss("a")

    def tell(self, word: str) -> None:
        """Raises NoMatches when the body is gone."""
        self.query_one("#body", Static).update(word)
        self.shown.append(word)

    async def tell_always(self) -> None:
        """Shows something whenever it can."""
        while True:
            self.tell("worked")
            await asyncio.sleep(0)


class Twice(App[None]):
    """The screen beneath is left by nobody."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[str | None] = []
        self.asked = Asked()

    def on_mount(self) -> None:
        self.push_screen(SafeScreen())
        self.push_screen(self.asked, self.answers.append)


async def gone(app: Twice, widget: Widget) -> None:
    """Until it is taken apart."""
    async with asyncio.timeout(120):
        while widget.is_attached or widget.is_running:
            await asyncio.sleep(0.01)


async def test_the_second_of_two_answers_takes_nothing_else_away() -> None:
    app = Twice()
    async with app.run_test() as pilot:
        button = app.asked.query_one(Button)
        for _ in range(3):
            button.post_message(Button.Pressed(button))
        await gone(app, app.asked)
        await pilot.pause()
        assert (app.answers, app.asked.shown, len(app.screen_stack)) == (["a"], ["pressed"], 2)


async def test_what_lies_beneath_a_question_is_not_left_in_its_place() -> None:
    app = Twice()
    async with app.run_test() as pilot:
        app.push_screen(over := Screen[None]())
        await pilot.pause()
        app.asked.dismiss("too late")
        await pilot.pause()
        assert (app.answers, app.screen) == ([], over)


async def test_a_worker_ends_before_the_widgets_go_that_it_shows_something_in() -> None:
    app = Twice()
    async with app.run_test() as pilot:
        app.asked.run_worker(app.asked.tell_always())
        await pilot.pause(0.05)
        app.asked.dismiss("")
        await gone(app, app.asked)
        assert "worked" in app.asked.shown  # and no worker has raised: that ends the app, and this test


async def test_nobody_is_called_after_a_refresh_that_is_gone_by_then() -> None:
    app = Twice()
    async with app.run_test() as pilot:
        asked = app.asked
        asked.call_after_refresh(asked.tell, "there")
        await pilot.pause()
        asked.dismiss("")
        await gone(app, asked)
        app.screen._invoke_later(partial(asked.tell, "gone"), asked)  # as Textual does then with what it was asked for
        await pilot.pause()
        assert asked.shown == ["there"]


async def test_its_widgets_are_there_from_the_last_that_is_made_to_the_first_that_goes() -> None:
    app = Twice()
    early = Asked()
    assert not early.has_widgets
    async with app.run_test() as pilot:
        assert app.asked.has_widgets
        app.asked.dismiss("")
        await gone(app, app.asked)
        await pilot.pause()
        assert not app.asked.has_widgets
