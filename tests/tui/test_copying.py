"""What is copied is what somebody wants elsewhere: commands, paths, what to do next."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.selection import Selection

from app.tui.notices import commands_in
from backends.errors import RaidbenchError
from tests.tui.stage import Table, answer, app_of, notices, opened, text_of, until
from widgets.command_preview import CommandPreview
from widgets.confirm import ConfirmDialog

AHEAD = "echo 256 > /sys/block/sda/queue/read_ahead_kb"


async def reviewed(pilot: Pilot[int]) -> None:
    """The question before read-ahead of sda is set."""
    await pilot.press("enter", "down", "space", "a")
    await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))


@pytest.mark.long
async def test_a_key_of_the_review_copies_its_commands(table: Table) -> None:
    async with opened(table) as pilot:
        await reviewed(pilot)
        assert "c copies it" in text_of(pilot)
        await answer(pilot, "c")
        assert (pilot.app.clipboard, "copied, if the terminal supports it" in text_of(pilot)) == (AHEAD, True)


async def test_the_mouse_over_a_command_selects_the_command(table: Table) -> None:
    async with opened(table) as pilot:
        await reviewed(pilot)
        screen = pilot.app.screen
        screen.selections = {screen.query_one(CommandPreview): Selection(None, None)}
        assert screen.get_selected_text() == AHEAD


async def test_every_widget_of_its_own_lines_gives_them_when_it_is_selected(table: Table) -> None:
    async with opened(table) as pilot:
        screen = pilot.app.screen
        screen.selections = {screen.query_one("#devices"): Selection(None, None)}
        assert "sda" in (screen.get_selected_text() or "")


@pytest.mark.long
async def test_the_path_of_a_report_is_copied(table: Table, tmp_path: Path) -> None:
    file = tmp_path / "told.md"
    async with opened(table) as pilot:
        await pilot.press("5", "E")
        await answer(pilot, *["backspace"] * 60, *str(file), "enter")
        await until(pilot, lambda: "Report written to" in notices(pilot))
        await pilot.press("Y")
        assert (pilot.app.clipboard, file.exists()) == (str(file), True)


async def test_what_to_do_about_an_error_is_copied(table: Table) -> None:
    async with opened(table) as pilot:
        app_of(pilot).show_error(RaidbenchError("fio is missing.", hint="`apt-get install fio` installs it."))
        await pilot.press("Y")
        assert pilot.app.clipboard == "apt-get install fio"


async def test_where_nothing_was_told_nothing_is_copied(table: Table) -> None:
    async with opened(table) as pilot:
        await pilot.press("Y")
        await until(pilot, lambda: "There is nothing to copy." in text_of(pilot))
        assert pilot.app.clipboard == ""


@pytest.mark.parametrize(
    ("told", "copied"),
    [("`pvs` and `vgs` tell which.", "pvs\nvgs"), ("Plug the drive in again.", "Plug the drive in again."), ("", "")],
)
def test_of_a_sentence_its_commands_are_copied(told: str, copied: str) -> None:
    assert commands_in(told) == copied
