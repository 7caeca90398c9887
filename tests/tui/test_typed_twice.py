"""Keys that come faster than what they open: Enter is held down, or a slow link hands over two at once."""

from __future__ import annotations

import asyncio

import pytest
from textual import events
from textual.pilot import Pilot

from app.features.arrays import screen as new_array
from app.tui.runs.screen import RunsScreen
from tests.core import sessions
from tests.tui.stage import Table, app_of, heard, opened, text_of, until


def at_once(pilot: Pilot[int], *keys: str) -> None:
    """Keys of one reading of the terminal."""
    driver = pilot.app._driver
    assert driver is not None
    for key in keys:
        event = events.Key(key, None)
        event.set_sender(pilot.app)
        driver.send_message(event)


def layers(pilot: Pilot[int]) -> list[str]:
    """What lies upon one another."""
    return [type(screen).__name__ for screen in pilot.app.screen_stack]


async def test_a_choice_is_taken_once_and_nothing_else_is_left(table: Table) -> None:
    async with opened(table) as pilot:
        await pilot.press("enter", "enter")
        await until(pilot, lambda: "ChoiceDialog" in layers(pilot))
        await heard(pilot)
        at_once(pilot, "enter", "enter", "enter")
        await until(pilot, lambda: "ChoiceDialog" not in layers(pilot))
        await pilot.pause()
        assert layers(pilot) == ["DevicesScreen"]


async def test_the_palette_runs_what_was_chosen_once(table: Table) -> None:
    async with opened(table) as pilot:
        await pilot.press("ctrl+p", *"theme")
        await until(pilot, lambda: "Theme" in text_of(pilot))
        at_once(pilot, "enter", "enter", "enter")
        await until(pilot, lambda: "ChoiceDialog" in layers(pilot))
        await pilot.pause()
        assert layers(pilot) == ["DevicesScreen", "ChoiceDialog"]


async def test_a_row_opens_once_what_it_opens(table: Table) -> None:
    folder = table.options.session
    assert folder is not None
    sessions.written(folder, sessions.started(), *sessions.run("r1"))
    async with opened(table) as pilot:
        await pilot.press("enter")
        at_once(pilot, "enter", "enter")
        await until(pilot, lambda: "ChoiceDialog" in layers(pilot))
        await pilot.pause()
        assert layers(pilot) == ["DevicesScreen", "ChoiceDialog"]
        await pilot.press("escape", "3")
        await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen) and "r1" in text_of(pilot))
        at_once(pilot, "enter", "enter")
        await until(pilot, lambda: "RunScreen" in layers(pilot))
        await pilot.pause()
        assert layers(pilot) == ["RunsScreen", "RunScreen"]


async def test_who_leaves_the_sheet_for_arrays_does_not_end_the_workbench(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, answered = asyncio.Event(), asyncio.Event()

    async def slow(*given: object) -> object:
        asked.set()
        await answered.wait()
        return (), ()

    monkeypatch.setattr(new_array, "candidates_of", slow)
    async with opened(table) as pilot:
        await pilot.press("A")
        await until(pilot, asked.is_set)
        sheet = pilot.app.screen
        await pilot.press("escape")
        await until(pilot, lambda: not sheet.is_running)
        answered.set()
        await until(pilot, lambda: all(worker.is_finished for worker in pilot.app.workers if worker.group == "probe"))
        assert layers(pilot) == ["DevicesScreen"]


async def test_keys_typed_ahead_go_to_the_dialog_that_the_first_one_opens(table: Table) -> None:
    async with opened(table) as pilot:
        await pilot.press("enter")
        at_once(pilot, "enter", "down", "enter")
        await until(pilot, lambda: app_of(pilot).staged)
        await heard(pilot)
        assert layers(pilot) == ["DevicesScreen"]
        assert app_of(pilot).staged == {"block:sda": {"scheduler": "kyber"}}


async def test_escape_typed_twice_closes_two_screens(table: Table) -> None:
    async with opened(table) as pilot:
        await pilot.press("2", "e")
        await until(pilot, lambda: "JobForm" in layers(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: "ChoiceDialog" in layers(pilot))
        at_once(pilot, "escape", "escape")
        await until(pilot, lambda: layers(pilot) == ["BenchScreen"])
