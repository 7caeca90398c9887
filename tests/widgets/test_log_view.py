"""A log that folds, follows the newest entry and can be searched."""

from __future__ import annotations

import asyncio

import pytest
from textual import on

from tests.widgets.stage import HOSTILE, Stage, screen_text
from widgets.log_view import LogEntry, LogView


def entry(number: int, head: str = "", body: tuple[str, ...] = ("output",)) -> LogEntry:
    return LogEntry(key=str(number), head=head or f"entry {number}", body=body, kind="command")


def entries(count: int) -> tuple[LogEntry, ...]:
    return tuple(entry(number) for number in range(count))


def top(app: Stage) -> str:
    return screen_text(app).splitlines()[0]


def bottom(app: Stage) -> str:
    return screen_text(app).splitlines()[-1]


async def test_entries_are_folded_at_first() -> None:
    app = Stage(LogView(entries(3)))
    async with app.run_test(size=(80, 24)):
        assert "output" not in screen_text(app)


async def test_enter_unfolds_the_entry() -> None:
    app = Stage(LogView(entries(3)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("enter")
        assert "output" in screen_text(app)


async def test_enter_folds_it_again() -> None:
    app = Stage(LogView(entries(3)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("enter", "enter")
        assert "output" not in screen_text(app)


async def test_a_long_output_is_shown_whole() -> None:
    app = Stage(LogView((entry(0, body=("x" * 200,)),)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("enter")
        assert screen_text(app).count("x") == 200


async def test_it_starts_at_the_newest_entry() -> None:
    app = Stage(LogView(entries(10_000)))
    async with app.run_test(size=(80, 24)) as pilot:
        async with asyncio.timeout(120):  # a busy machine lays out late
            while "entry 9999" not in bottom(app):
                await pilot.pause(0.02)


async def test_it_follows_new_entries() -> None:
    view = LogView(entries(100))
    app = Stage(view)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        view.entries = entries(101)
        await pilot.pause()
        assert "entry 100" in bottom(app)


async def test_it_stays_where_one_reads() -> None:
    view = LogView(entries(100))
    app = Stage(view)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("home")
        view.entries = entries(101)
        await pilot.pause()
        assert "entry 0" in top(app)


async def test_end_goes_back_to_the_newest() -> None:
    app = Stage(LogView(entries(100)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("home", "end")
        assert "entry 99" in bottom(app)


async def test_a_search_finds_heads_and_bodies() -> None:
    view = LogView((entry(0, "Cache on"), entry(1), entry(2, body=("the cache",))))
    app = Stage(view)
    async with app.run_test(size=(80, 24)):
        view.search = "CACHE"
        assert view.matches == ("0", "2")


async def test_a_new_entry_is_searched_as_well() -> None:
    view = LogView(entries(2))
    app = Stage(view)
    async with app.run_test(size=(80, 24)):
        view.search = "entry"
        view.entries = entries(3)
        assert view.matches == ("0", "1", "2")


async def test_the_next_match_is_found_round_the_end() -> None:
    view = LogView((entry(0, "cache"), entry(1), entry(2, "cache"), entry(3)))
    app = Stage(view)
    async with app.run_test(size=(80, 24)) as pilot:
        view.search = "cache"
        await pilot.press("home")
        view.action_match(1)
        view.action_match(1)
        assert view.cursor_entry == view.entries[0]


async def test_the_match_before_is_found() -> None:
    view = LogView((entry(0, "cache"), entry(1), entry(2, "cache"), entry(3)))
    app = Stage(view)
    async with app.run_test(size=(80, 24)):
        view.search = "cache"
        view.action_match(-1)
        assert view.cursor_entry == view.entries[2]


async def test_a_match_inside_is_unfolded() -> None:
    view = LogView((entry(0, body=("the cache",)), entry(1)))
    app = Stage(view)
    async with app.run_test(size=(80, 24)):
        view.search = "cache"
        view.action_match(1)
        assert view.is_unfolded("0")


async def test_a_match_is_reversed() -> None:
    view = LogView((entry(0, "write cache on"), entry(1)))
    app = Stage(view)
    async with app.run_test(size=(80, 24)):
        view.search = "cache"
        marked = [segment.text for segment in view.render_line(0) if segment.style and segment.style.reverse]
        assert marked == ["cache"]


async def test_the_number_of_matches_is_told() -> None:
    counts: list[int] = []

    class Listening(Stage):
        @on(LogView.Searched)
        def _searched(self, event: LogView.Searched) -> None:
            counts.append(event.count)

    view = LogView(entries(12))
    async with Listening(view).run_test(size=(80, 24)) as pilot:
        view.search = "entry 1"
        await pilot.pause()
        assert counts[-1] == 3


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (200, 60)])
async def test_any_terminal_size_is_drawn(size: tuple[int, int]) -> None:
    app = Stage(LogView(entries(30)))
    async with app.run_test(size=size) as pilot:
        await pilot.press("enter", "pageup", "home", "end")
        assert app.is_running


@pytest.mark.parametrize("text", HOSTILE)
async def test_a_hostile_output_is_only_text(text: str) -> None:
    view = LogView((LogEntry(key="a", head=text, body=(text,), kind=text),))
    app = Stage(view)
    async with app.run_test(size=(80, 24)) as pilot:
        view.search = text
        await pilot.press("enter")
        assert (app.boomed, screen_text(app).replace("\n", "").isprintable()) == (0, True)


@pytest.mark.parametrize(("keys", "number"), [("k", 1), ("g", 0), ("gG", 2), ("gj", 1)])
async def test_the_keys_that_hands_know_move_the_cursor(keys: str, number: int) -> None:
    view = LogView(entries(3))
    app = Stage(view)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys)
        assert view.cursor_entry == view.entries[number]


@pytest.mark.parametrize(("keys", "unfolded"), [("l", True), ("ll", True), ("lh", False), ("h", False)])
async def test_l_goes_in_and_h_goes_back(keys: str, unfolded: bool) -> None:
    view = LogView(entries(3))
    app = Stage(view)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys)
        assert view.is_unfolded("2") is unfolded


async def test_the_cursor_goes_to_what_was_before_an_entry_that_is_hidden() -> None:
    view = LogView(entries(5))
    app = Stage(view)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("k")
        view.entries = (entry(0), entry(2), entry(4))
        assert view.cursor_entry == entry(2)


async def test_an_empty_log_says_what_it_is_told_to() -> None:
    view = LogView(())
    app = Stage(view)
    async with app.run_test(size=(80, 24)) as pilot:
        view.empty = "no runs yet"
        await pilot.pause()
        assert "no runs yet" in top(app)
