"""H on the Runs screen: how the same went in all sessions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.engine.history.past import past_runs
from app.engine.session.store import load
from app.tui.screens.runs.history import HistoryScreen
from app.tui.screens.runs.screen import RunsScreen
from tests.engine import sessions
from tests.tui.stage import Table, app_of, opened, set_table, text_of, until

WWN = "naa.5000039ff4c0ffee"
DAY = 86_400.0


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Eight days, slower since the fifth; the last session is the one that is open."""
    table = set_table(tmp_path)
    for day, iops in enumerate((1000, 1010, 990, 1005, 800, 810, 790)):
        _session(table.bench.paths.sessions / f"day{day}", day, iops)
    assert table.options.session is not None
    _session(table.options.session, 7, 805)
    return table


def _session(folder: Path, day: int, iops: float) -> None:
    at = 1_700_000_000.0 + day * DAY
    events = (replace(sessions.started(), at=at), sessions.seen(wwn=WWN), *sessions.run(iops=iops, at=at))
    sessions.written(folder, *events)


async def history(pilot: Pilot[int]) -> HistoryScreen:
    await pilot.press("3")
    await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen))
    await pilot.press("H")
    await until(pilot, lambda: isinstance(pilot.app.screen, HistoryScreen))
    await pilot.pause()
    screen = pilot.app.screen
    assert isinstance(screen, HistoryScreen)
    return screen


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_it_shows_all_sessions_and_where_the_level_changed(table: Table, size: tuple[int, int]) -> None:
    async with opened(table, size) as pilot:
        await history(pilot)
        await until(pilot, lambda: "8 runs in their order" in text_of(pilot))
        shown = text_of(pilot)
    assert [word in shown for word in ("8 runs of 8 sessions", "-20.0 %", "from day4/r1 on")] == [True] * 3


@pytest.mark.parametrize("key", ["escape", "h"])
async def test_back_is_one_step(table: Table, key: str) -> None:
    async with opened(table) as pilot:
        await history(pilot)
        await pilot.press(key)
        await pilot.pause()
        assert isinstance(pilot.app.screen, RunsScreen)


async def test_the_cursor_is_on_the_run_that_was_asked_about(table: Table) -> None:
    async with opened(table) as pilot:
        screen = await history(pilot)
        assert table.options.session is not None
        assert screen.query_one("KeyedTable").cursor == f"{table.options.session.name}/r1"  # type: ignore[attr-defined]


async def test_without_a_run_it_says_so(tmp_path: Path) -> None:
    async with opened(set_table(tmp_path)) as pilot:
        await pilot.press("3", "H")
        await until(pilot, lambda: app_of(pilot).notices.said)
        assert "no run yet" in next(iter(app_of(pilot).notices.said)).message


async def test_the_run_of_the_open_session_is_known_as_its_log_has_it(table: Table) -> None:
    assert table.options.session is not None
    (run,) = past_runs(load(table.options.session))
    assert run.thing == f"wwn {WWN}"
