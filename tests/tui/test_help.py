"""The help: the keys of the screen by task without scrolling, and a search that follows each letter."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.containers import VerticalScroll
from textual.pilot import Pilot

from app.tui.commands import SCREENS, SHEETS, commands_of, shown_key
from app.tui.help import HelpEntry, HelpScreen, matching
from app.tui.tasks import KeyTask
from tests.tui.stage import Table, opened, set_table, text_of, until

ALL = (*SCREENS, *SHEETS)
ENTRIES = (
    HelpEntry("Bench", "x", "Stop", "Stop the job; fio's summary is kept."),
    HelpEntry("Runs", "X", "Explore", "Show charts of the marked runs."),
    HelpEntry("Log", "/", "Search", "Search the listed events for a text."),
    HelpEntry("Terms", "strip", "", "The part of a stripe on one drive."),
)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("x", ["Stop", "Explore"]),
        ("X", ["Explore", "Stop"]),
        ("sto", ["Stop"]),
        ("fio", ["Stop"]),
        ("chart runs", ["Explore"]),
        ("str", [""]),
        ("s", ["Stop", "Search", ""]),
        ("bench", ["Stop"]),
        ("log summary", []),
    ],
)
def test_a_word_is_a_key_or_begins_a_word(query: str, found: list[str]) -> None:
    assert sorted(entry.label for entry in matching(query, ENTRIES)) == sorted(found)


def test_a_key_that_is_typed_comes_first() -> None:
    assert next(entry.label for entry in matching("X", ENTRIES)) == "Explore"


async def shown(pilot: Pilot[int], name: str) -> list[str]:
    """Open the help of a screen, and return the lines of its body that are visible."""
    await pilot.app.push_screen(HelpScreen(name))
    await pilot.pause()
    region = pilot.app.screen.query_one(VerticalScroll).region
    return [line[region.x : region.right] for line in text_of(pilot).splitlines()[region.y : region.bottom]]


@pytest.mark.long
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=str)
async def test_all_keys_of_every_screen_are_visible_without_scrolling(table: Table, size: tuple[int, int]) -> None:
    missing = []
    async with opened(table, size) as pilot:
        for name in ALL:
            lines = await shown(pilot, name)
            missing += [
                (name, command.id)
                for command in commands_of(name)
                if command.keys
                and not any(
                    f" {shown_key(command)} " in f" {line}" and (command.label in line or command.help in line)
                    for line in lines
                )
            ]
            await pilot.press("escape")
    assert missing == []


async def test_the_keys_are_grouped_by_task(table: Table) -> None:
    async with opened(table, (80, 24)) as pilot:
        lines = "\n".join(await shown(pilot, "devices"))
        assert [task for task in KeyTask if task not in lines] == []


async def test_every_letter_narrows_the_list_and_esc_shows_all_again(table: Table) -> None:
    async with opened(table, (80, 24)) as pilot:
        await pilot.press("2", "question_mark")
        await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen) and "Measure" in text_of(pilot))
        await pilot.press("h", "i", "s")
        await until(pilot, lambda: "History: Show the results of this job" in text_of(pilot))
        assert "Steady state" not in text_of(pilot)
        await pilot.press("z")
        await until(pilot, lambda: "Nothing matches hisz. Backspace deletes a letter" in text_of(pilot))
        await pilot.press("backspace")
        await until(pilot, lambda: "History: Show the results of this job" in text_of(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: "Steady state" in text_of(pilot))
        assert isinstance(pilot.app.screen, HelpScreen)
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, HelpScreen))


@pytest.mark.long
@pytest.mark.parametrize("key", ["enter", "question_mark"])
async def test_the_key_that_opened_it_closes_it_during_a_search_too(table: Table, key: str) -> None:
    async with opened(table, (80, 24)) as pilot:
        await pilot.press("question_mark", "q", "u", key)
        await until(pilot, lambda: not isinstance(pilot.app.screen, HelpScreen))


@pytest.mark.long
async def test_keys_of_other_screens_are_found_under_their_name(table: Table) -> None:
    async with opened(table, (80, 24)) as pilot:
        await pilot.press("question_mark", *"precondition")
        await until(pilot, lambda: "Precondition: Overwrite the target twice" in text_of(pilot))
        lines = text_of(pilot).splitlines()
        at = next(row for row, line in enumerate(lines) if "Precondition: " in line)
        assert "Bench" in lines[at - 1]


@pytest.mark.long
async def test_a_key_of_the_keymap_is_shown_and_found(tmp_path: Path) -> None:
    async with opened(set_table(tmp_path, keymap={"bench.run": "f5", "explore.box": "f6"}), (80, 24)) as pilot:
        assert any(" f5 " in line and "Run" in line for line in await shown(pilot, "bench"))
        await pilot.press("f5")  # no letter
        await pilot.press(*"f6")
        await until(pilot, lambda: "Box: Show the spread" in text_of(pilot))
