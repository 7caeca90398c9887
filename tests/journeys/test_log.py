"""The Log screen: what happened, without what was only read; searched, and written to a file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.core.session.events import CommandRan
from backends.errors import RaidbenchError
from tests.core import sessions
from tests.tui.conftest import stillness
from tests.tui.stage import answer, app_of, notices, opened, set_table, text_in, text_of, until
from widgets.log_view import LogView


@asynccontextmanager
async def logged(folder: Path) -> AsyncIterator[Pilot[int]]:
    """A change, a run, a note, and commands that only read."""
    table = set_table(folder)
    read = CommandRan(at=1001.0, line="storcli show", mutates=False, seconds=0.1, returncode=0, output="cache on")
    assert table.options.session is not None
    events = (sessions.started(), read, *sessions.change(), *sessions.run(), sessions.note("fan is loud"))
    sessions.written(table.options.session, *events)
    async with opened(table) as pilot:
        await pilot.press("5")
        await until(pilot, lambda: pilot.app.screen.query(LogView))
        await pilot.pause()
        yield pilot


@pytest.fixture
async def log(tmp_path: Path, still: None) -> AsyncIterator[Pilot[int]]:
    """One for a test alone."""
    async with logged(tmp_path) as pilot:
        yield pilot


Seen = list[tuple[str, set[str]]]


async def filters(folder: Path) -> Seen:
    """The screen and the kinds of its entries, after no f, one, two, three and four."""
    seen: Seen = []
    async with logged(folder) as pilot:
        pilot.app.notify("Something happened.")
        await pilot.pause()
        for _ in range(5):
            kinds = {entry.kind for entry in pilot.app.screen.query_one(LogView).entries}
            seen.append((text_of(pilot), kinds - {"devices", "problem"}))
            await pilot.press("f")
            await pilot.pause()
    return seen


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    with stillness():
        return asyncio.run(filters(tmp_path_factory.mktemp("filtered")))


@pytest.mark.long
def test_what_was_only_read_is_left_out_and_counted(filtered: Seen) -> None:
    text, _ = filtered[0]
    assert ("storcli show" in text, " more with f" in text) == (False, True)


@pytest.mark.parametrize(
    ("times", "shown"),
    [(1, {"change"}), (2, {"run"}), (3, {"notice"}), (4, {"session", "command", "change", "run", "note", "notice"})],
)
def test_f_goes_on_to_changes_runs_what_was_said_and_everything(filtered: Seen, times: int, shown: set[str]) -> None:
    assert filtered[times][1] == shown


@pytest.mark.long
async def test_n_goes_to_the_next_match(log: Pilot[int]) -> None:
    await log.press("g", "slash", *"read", "enter")
    view = log.app.screen.query_one(LogView)
    first = view.cursor_entry
    await log.press("n")
    assert (first is not None and view.cursor_entry != first, "n next, N previous" in text_of(log)) == (True, True)


async def test_a_search_without_a_match_says_so(log: Pilot[int]) -> None:
    await log.press("slash", *"zebra")
    await log.pause()
    assert "no matches (events)" in text_of(log)


async def test_n_without_a_search_says_how_to_begin_one(log: Pilot[int]) -> None:
    await log.press("n")
    await log.pause()
    assert "/ starts one" in notices(log)


async def test_the_report_is_written_from_the_log(log: Pilot[int], tmp_path: Path) -> None:
    await log.press("E")
    await until(log, lambda: len(log.app.screen_stack) > 1)
    log.app.screen.query_one("Input").value = str(tmp_path / "found.md")  # type: ignore[attr-defined]
    await answer(log, "enter")
    await log.app.workers.wait_for_complete()
    assert "fan is loud" in (tmp_path / "found.md").read_text()


@pytest.mark.long
async def test_what_was_said_and_is_gone_from_the_footer_stands_in_the_log_at_its_time(log: Pilot[int]) -> None:
    app_of(log).show_error(RaidbenchError("This went wrong.", hint="Do this next."), title="Run r1")
    await log.pause()
    entry = log.app.screen.query_one(LogView).entries[-1]
    assert (entry.head.partition("  ")[2], entry.body) == ("Run r1: This went wrong. Do this next.", ())


async def test_what_was_said_on_another_screen_waits_in_the_log(log: Pilot[int]) -> None:
    await log.press("2")
    log.app.notify("Said elsewhere.")
    await log.press("5")
    await log.pause()
    assert "Said elsewhere." in text_in(log, "#log")


@pytest.mark.long
async def test_the_results_of_a_run_that_ended_on_another_screen_are_said_but_stand_once(tmp_path: Path) -> None:
    table = set_table(tmp_path)
    async with opened(table) as pilot:
        await pilot.press("2", "r")
        await until(pilot, lambda: table.bench.jobs.running)
        await pilot.press("5")
        table.load.finish()
        await until(pilot, lambda: "r1 has ended: done: read 85.4k IOPS" in text_of(pilot))
        await until(pilot, lambda: "r1 done" in text_in(pilot, "#log"))
        assert text_in(pilot, "#log").count("85.4k IOPS") == 1


async def test_what_was_said_before_an_event_stands_before_it(log: Pilot[int]) -> None:
    log.app.notify("Said first.")
    app_of(log).workbench.note("written after")
    await until(log, lambda: "written after" in text_in(log, "#log"))
    heads = [entry.head.partition("  ")[2] for entry in log.app.screen.query_one(LogView).entries]
    assert heads.index("Said first.") < heads.index("written after")


async def test_h_folds_what_is_unfolded_and_then_has_nothing_to_go_back_to(log: Pilot[int]) -> None:
    await log.press("G", "up", "enter", "h")
    view = log.app.screen.query_one(LogView)
    folded = view.cursor_entry is not None and not view.is_unfolded(view.cursor_entry.key)
    quiet = notices(log)
    await log.press("h")
    await log.pause()
    assert (folded, quiet, "There is no previous screen" in notices(log)) == (True, "", True)
