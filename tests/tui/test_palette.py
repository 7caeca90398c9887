"""The palette finds a command by the beginnings of its words, and shows each in a line."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from textual.command import CommandList
from textual.pilot import Pilot

from app.tui.palette import nearness
from tests.tui.stage import Table, opened, text_of, until


@pytest.fixture
async def palette(table: Table) -> AsyncIterator[Pilot[int]]:
    async with opened(table) as pilot:
        await pilot.press("ctrl+p")
        await until(pilot, lambda: found(pilot))
        yield pilot


def found(pilot: Pilot[int]) -> list[str]:
    """What it offers, from the top."""
    return [str(option.prompt) for option in pilot.app.screen.query_one(CommandList).options]


@pytest.mark.parametrize(
    ("query", "nearer", "farther"),
    [
        ("undo", ("Devices: Undo  (u)", "Take back."), ("Take back", "On Devices, undo does it.")),
        ("open plan", ("Sweep: Open plan", ""), ("Sweep: Plan", "Opens one.")),
        ("dev un", ("Devices: Undo", ""), ("Devices: Filter", "Until it fits.")),
    ],
)
def test_the_name_counts_before_what_it_does(query: str, nearer: tuple[str, str], farther: tuple[str, str]) -> None:
    assert nearness(query, *nearer) > nearness(query, *farther) > 0


@pytest.mark.parametrize("query", ["ndo", "xyz", "", "undo please"])
def test_letters_from_the_middle_find_nothing(query: str) -> None:
    assert nearness(query, "Devices: Undo  (u)", "Take back the last change.") == 0


async def test_no_sign_stands_before_the_field_that_some_terminals_cannot_draw(palette: Pilot[int]) -> None:
    assert "🔎" not in text_of(palette)


async def test_each_command_takes_one_line(palette: Pilot[int]) -> None:
    lines = [line for line in text_of(palette).splitlines() if "  (" in line]
    assert len(lines) > 20


async def test_what_nothing_begins_with_is_not_found(palette: Pilot[int]) -> None:
    await palette.press(*"ndo")
    await until(palette, lambda: not any("Undo" in line for line in found(palette)))
