"""What is said stands above the footer, covers nothing, and goes when it was read."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from textual.pilot import Pilot

from app.tui.notices import MAX_LINES, SHOWN_S, Notice, NoticeLine, Notices
from backends.errors import RaidbenchError
from tests.tui.stage import Table, app_of, notices, opened, text_of
from tests.widgets.stage import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def pilot(table: Table, clock: Clock) -> AsyncIterator[Pilot[int]]:
    async with opened(table, (80, 24)) as made:
        app_of(made).notices = Notices(clock)
        yield made


def above_the_footer(pilot: Pilot[int]) -> str:
    return text_of(pilot).splitlines()[-2].strip()


async def test_a_notice_stands_above_the_footer(pilot: Pilot[int]) -> None:
    pilot.app.notify("Something happened.", title="Run r1")
    await pilot.pause()
    assert above_the_footer(pilot) == "Run r1: Something happened."


async def test_a_long_one_takes_the_lines_that_it_needs_from_the_body_and_no_more(pilot: Pilot[int]) -> None:
    body, line = pilot.app.screen.query_one("#body"), pilot.app.screen.query_one(NoticeLine)
    both = body.size.height + line.size.height
    app_of(pilot).show_error(RaidbenchError("This went wrong. " * 6, hint="Do this next."))
    await pilot.pause()
    assert (line.size.height, body.size.height, "Do this next." in text_of(pilot)) == (2, both - 2, True)


async def test_on_a_tall_terminal_the_line_is_always_there_so_that_nothing_moves(table: Table) -> None:
    async with opened(table, (120, 40)) as pilot:
        before = pilot.app.screen.query_one("#body").size.height
        pilot.app.notify("Something happened.")
        await pilot.pause()
        assert pilot.app.screen.query_one("#body").size.height == before


async def test_the_longest_is_cut_before_it_takes_the_screen(pilot: Pilot[int]) -> None:
    pilot.app.notify("words without end " * 100)
    await pilot.pause()
    assert (pilot.app.screen.query_one(NoticeLine).size.height, "…" in above_the_footer(pilot)) == (MAX_LINES, True)


async def test_the_next_key_takes_away_what_was_read(pilot: Pilot[int], clock: Clock) -> None:
    pilot.app.notify("Read me.")
    clock.advance(SHOWN_S["information"])
    await pilot.press("down")
    await pilot.pause()
    assert "Read me." not in text_of(pilot)


async def test_a_key_that_was_on_its_way_takes_nothing_away(pilot: Pilot[int], clock: Clock) -> None:
    pilot.app.notify("Read me.")
    clock.advance(SHOWN_S["information"] / 2)
    await pilot.press("down")
    await pilot.pause()
    assert above_the_footer(pilot) == "Read me."


async def test_an_error_stays_longer(pilot: Pilot[int], clock: Clock) -> None:
    pilot.app.notify("Bad.", severity="error")
    clock.advance(SHOWN_S["information"])
    await pilot.press("down")
    await pilot.pause()
    assert above_the_footer(pilot) == "Bad."


async def test_two_at_once_are_both_read(pilot: Pilot[int]) -> None:
    pilot.app.notify("One.")
    pilot.app.notify("Two.")
    await pilot.pause()
    assert [line.strip() for line in text_of(pilot).splitlines()[-3:-1]] == ["One.", "Two."]


async def test_the_same_said_twice_stands_once(pilot: Pilot[int]) -> None:
    for _ in range(3):
        pilot.app.notify("Again.")
    await pilot.pause()
    assert text_of(pilot).count("Again.") == 1


async def test_it_is_read_on_every_screen(pilot: Pilot[int]) -> None:
    pilot.app.notify("Wherever.")
    await pilot.press("5")
    await pilot.pause()
    assert above_the_footer(pilot) == "Wherever."


async def test_the_hint_of_a_screen_stands_there_while_nothing_is_said(pilot: Pilot[int], clock: Clock) -> None:
    pilot.app.screen.hint("ssd  /dev/sdb")  # type: ignore[attr-defined]
    await pilot.pause()
    assert above_the_footer(pilot) == "ssd  /dev/sdb"


@pytest.mark.long
async def test_a_key_that_does_nothing_says_so_on_every_screen(pilot: Pilot[int]) -> None:
    for screen in "12345":
        pilot.app.clear_notifications()
        await pilot.press(screen)
        assert "W does nothing" not in text_of(pilot)
        await pilot.press("W")
        await pilot.pause()
        assert above_the_footer(pilot).startswith("W does nothing on "), screen


async def test_what_is_typed_into_a_field_is_no_key_of_the_screen(pilot: Pilot[int]) -> None:
    await pilot.press("slash", *"Wq5?")
    await pilot.pause()
    assert (notices(pilot), pilot.app.current_mode, len(pilot.app.screen_stack)) == ("", "devices", 1)


def test_said_is_all_of_it() -> None:
    said = Notices()
    one, two = Notice(message="One."), Notice(message="Two.", title="T")
    said.add(one)
    said.add(two)
    assert [notice.text for notice in said.messages] == ["One.", "T: Two."]
