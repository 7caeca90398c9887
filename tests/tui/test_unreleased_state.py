"""The workbench says at its start what a build before the first release left open."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest
from textual.pilot import Pilot

from app.core.session.folders import session_folders
from tests.tui.stage import SIZES, Table, app_of, opened, until, words_in
from tests.unreleased import FOLDER
from widgets.question import QuestionDialog


def asks(pilot: Pilot[int], words: str) -> Callable[[], bool]:
    return lambda: isinstance(pilot.app.screen, QuestionDialog) and words in words_in(pilot, ".dialog")


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
async def test_the_next_step_is_on_the_screen_and_the_workbench_goes_on(table: Table, size: tuple[int, int]) -> None:
    paths = table.bench.paths
    shutil.copytree(FOLDER / "change" / "journal", paths.journal, dirs_exist_ok=True)
    shutil.copytree(FOLDER / "ab" / "sessions", paths.sessions, dirs_exist_ok=True)
    async with opened(table, size) as pilot:
        await until(pilot, asks(pilot, "Changes are disabled."))
        await until(pilot, asks(pilot, "write_cache of megaraid:/c0/v1, write-through before and write-back after"))
        await until(pilot, asks(pilot, "Then remove the file."))
        await pilot.press("escape")
        await until(pilot, asks(pilot, "Settings may still be changed."))
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, QuestionDialog))
        titles = [notice.title for notice in app_of(pilot).notices.messages]
        assert titles[:2] == ["Changes are disabled", "Settings may still be changed"]
    assert table.bench.folder in session_folders(paths)
