"""The palette finds a command by a few of its letters, the best first, and shows each in a line."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.command import CommandList
from textual.content import Content
from textual.pilot import Pilot

from app.tui.palette import PaletteEntry, fit, match_entry
from tests.tui.stage import Table, opened, text_of, until
from widgets.guarded_dialog import GuardedDialog


@pytest.fixture
async def palette(table: Table) -> AsyncIterator[Pilot[int]]:
    async with opened(table) as pilot:
        await pilot.press("ctrl+p")
        await until(pilot, lambda: found(pilot))
        yield pilot


def found(pilot: Pilot[int]) -> list[str]:
    """What it offers, from the top."""
    return [str(option.prompt) for option in pilot.app.screen.query_one(CommandList).options]


def first(pilot: Pilot[int]) -> str:
    return next(iter(found(pilot)), "")


@pytest.mark.long
@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("ra", "Setting: Read-ahead"),
        ("cmp", "Runs: Compare"),
        ("undo", "Devices: Undo"),
        ("dev un", "Devices: Undo"),
        ("heat", "Bench and Run: Heat map"),
        ("hm", "Bench and Run: Heat map"),
        ("opl", "Sweep: Open plan"),
    ],
)
async def test_a_few_letters_find_first_what_somebody_means_by_them(
    palette: Pilot[int], query: str, wanted: str
) -> None:
    await palette.press(*query)
    await until(palette, lambda: first(palette).startswith(wanted))


async def test_what_is_found_shows_the_letters_it_was_found_by(palette: Pilot[int]) -> None:
    await palette.press(*"undo")
    await until(palette, lambda: first(palette).startswith("Devices: Undo"))
    prompt = palette.app.screen.query_one(CommandList).options[0].prompt
    assert isinstance(prompt, Content)
    shown = sorted(prompt.plain[span.start : span.end] for span in prompt.spans if span.end - span.start == 1)
    assert shown == [*"Udno"]


@pytest.mark.long
async def test_a_setting_of_the_selected_device_opens_its_values(palette: Pilot[int]) -> None:
    await palette.press(*"ra")
    await until(palette, lambda: first(palette).startswith("Setting: Read-ahead"))
    await palette.press("enter")
    await until(palette, lambda: isinstance(palette.app.screen, GuardedDialog))
    assert "Read-ahead" in text_of(palette)


@pytest.mark.parametrize("query", ["ndo", "xyz", "", "undo please"])
def test_letters_from_the_middle_find_nothing(query: str) -> None:
    assert fit(query, "Devices: Undo").nearness == 0


@pytest.mark.parametrize(
    ("query", "nearer", "farther"),
    [
        ("undo", "Devices: Undo", "Devices: Undo all"),
        ("ra", "Setting: Read-ahead", "Bench: Random"),
        ("run", "Bench: Run", "Runs: Mark"),
        ("un", "Devices: Unstage", "Devices: Usual line"),
    ],
)
def test_beginnings_of_words_and_the_name_itself_count_most(query: str, nearer: str, farther: str) -> None:
    assert nearness(query, nearer) > nearness(query, farther) > 0


def nearness(query: str, title: str) -> float:
    place, _, name = title.partition(": ")
    return match_entry(query, PaletteEntry(place, name, "", "", nothing)).nearness


async def nothing() -> None:
    """Of no use here."""


def test_what_a_command_only_says_is_found_after_every_name() -> None:
    said = match_entry("exact", PaletteEntry("Devices", "Apply", "a", "Review the exact commands.", nothing)).nearness
    assert 0 < said < nearness("exct", "Exact")


@given(st.text(alphabet="ab- ", max_size=12), st.text(alphabet="ab-: ", max_size=30))
def test_the_letters_stand_in_the_text_in_their_order(letters: str, text: str) -> None:
    places = fit(letters, text).places
    assert list(places) == sorted(places)
    assert not places or "".join(text[at] for at in places) == "".join(letters.split())


async def test_no_sign_stands_before_the_field_that_some_terminals_cannot_draw(palette: Pilot[int]) -> None:
    assert "🔎" not in text_of(palette)


@pytest.mark.long
async def test_each_command_takes_one_line(palette: Pilot[int]) -> None:
    lines = [line for line in text_of(palette).splitlines() if "  (" in line]
    assert len(lines) > 20


async def test_what_nothing_begins_with_is_not_found(palette: Pilot[int]) -> None:
    await palette.press(*"ndo")
    await until(palette, lambda: not any("Undo" in line for line in found(palette)))
