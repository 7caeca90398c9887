"""Keys typed one on the other: each acts on the row the cursor is on by then, whatever is drawn beside the list."""

from __future__ import annotations

import pytest
from textual import events
from textual.pilot import Pilot

from tests.tui.stage import Table, app_of, opened, settled, text_in, text_of, until


def type_at_once(pilot: Pilot[int], *keys: str) -> None:
    """All of them wait before the first one is looked at."""
    for key in keys:
        pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))


@pytest.mark.long
async def test_measure_takes_the_row_that_the_keys_before_it_went_to(table: Table) -> None:
    async with opened(table) as pilot:
        type_at_once(pilot, "down", "m")
        await until(pilot, lambda: app_of(pilot).wanted_device)
        assert app_of(pilot).wanted_device == ("block:vda", "/dev/vda")


@pytest.mark.long
async def test_a_value_is_never_staged_for_the_row_before(table: Table) -> None:
    async with opened(table) as pilot:
        await pilot.press("enter", "down", "left")  # into sda, to a setting that has a next value, back to the list
        await settled(pilot)
        type_at_once(pilot, "down", "enter", "right_square_bracket", "right_square_bracket")
        await settled(pilot)
        assert set(app_of(pilot).staged) <= {"block:vda"}


async def test_what_is_shown_follows_when_the_cursor_has_come_to_rest(table: Table) -> None:
    async with opened(table) as pilot:
        type_at_once(pilot, "down", "down")
        await until(pilot, lambda: "nvme0n1" in text_in(pilot, "#detail-pane").splitlines()[0])
        await settled(pilot)
        assert "I/O scheduler" in text_of(pilot)


async def test_a_tab_is_of_the_row_that_the_keys_before_it_went_to(table: Table) -> None:
    async with opened(table) as pilot:
        type_at_once(pilot, "down", "t")
        await until(pilot, lambda: pilot.app.screen.query_one("#detail").tab == "facts")  # type: ignore[attr-defined]
        await settled(pilot)
        assert "block:vda" in text_in(pilot, "#detail-pane")
