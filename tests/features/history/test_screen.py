"""H on the Runs screen: how the same went in all sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.core.analysis.past_runs.earlier_runs import past_runs
from app.core.session.results import RunStatus
from app.core.session.store import load
from app.features.history.screen import HistoryScreen
from app.tui.bench.past_run import RunScreen
from app.tui.runs.screen import RunsScreen
from tests.core import sessions
from tests.tui.conftest import stillness
from tests.tui.stage import Table, app_of, opened, set_table, text_in, text_of, until
from widgets.keyed_table import KeyedTable

WWN = "naa.5000039ff4c0ffee"
DAY = 86_400.0
SIZES = {"small": (80, 24), "large": (120, 40)}


def eight_days(folder: Path) -> Table:
    """Eight days, slower since the fifth, with another read-ahead since the third; the last session is open."""
    table = set_table(folder)
    for day, iops in enumerate((1000, 1010, 990, 1005, 800, 810, 790)):
        _session(table.bench.paths.sessions / f"day{day}", day, iops)
    assert table.options.session is not None
    _session(table.options.session, 7, 805)
    return table


def _session(folder: Path, day: int, iops: float) -> None:
    at = 1_700_000_000.0 + day * DAY
    settings = {"read_ahead_kb": "128" if day < 2 else "4096"}
    events = (
        *(replace(sessions.started(), at=at), sessions.seen(wwn=WWN)),
        *sessions.run(iops=iops, at=at, settings=settings),
        *sessions.run("r2", iops=iops + 40, at=at + 100, settings=settings),
    )
    sessions.written(folder, *events)


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return eight_days(tmp_path)


async def history(pilot: Pilot[int], *keys: str) -> HistoryScreen:
    """From the first screen on, as far as its figures are read."""
    await pilot.press("3")
    await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen))
    await pilot.press(*keys, "H")
    await until(pilot, lambda: isinstance(pilot.app.screen, HistoryScreen))
    await until(pilot, lambda: "MiB/s" in text_of(pilot))
    screen = pilot.app.screen
    assert isinstance(screen, HistoryScreen)
    return screen


def cursor(pilot: Pilot[int]) -> str:
    """The run that is chosen."""
    return pilot.app.screen.query_one(KeyedTable).cursor or ""


@pytest.fixture(scope="module", params=["small", pytest.param("large", marks=pytest.mark.long)])
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """What stood on the screen: all of it, and the list, before and after a step back."""

    async def walk() -> dict[str, str]:
        async with opened(eight_days(tmp_path_factory.mktemp("history")), SIZES[request.param]) as pilot:
            await history(pilot, "b")
            shown = {"all": text_of(pilot), "graph": text_in(pilot, "#history-graph")}
            await pilot.press("left")
            await until(pilot, lambda: cursor(pilot) == "day6/r2" and "MiB/s" in text_of(pilot))
            return {**shown, "before": text_in(pilot, "#history-listed")}

    with stillness():
        return asyncio.run(walk())


@pytest.mark.parametrize(
    "words", ["16 runs of 8 sessions", "randread-4k on block:sda", "-19.", "from day4/r1 on", "3 Runs"]
)
def test_it_says_what_it_shows_and_where_the_level_changed(seen: Mapping[str, str], words: str) -> None:
    assert words in seen["all"]


@pytest.mark.feature("plots")
@pytest.mark.parametrize("words", ["128 KiB", "4096 KiB", "┤", "by date"])
def test_the_picture_has_axes_and_what_was_changed(seen: Mapping[str, str], words: str) -> None:
    assert words in seen["graph"]


def test_an_arrow_goes_to_the_run_before_and_tells_its_figures(seen: Mapping[str, str]) -> None:
    assert "day6/r2 · 2023-11-20 22:15 · 830 IOPS" in seen["before"]


@pytest.mark.long
@pytest.mark.parametrize("key", ["escape", "h"])
async def test_back_is_one_step(table: Table, key: str) -> None:
    async with opened(table) as pilot:
        await history(pilot)
        await pilot.press(key)
        await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen))


@pytest.mark.long
async def test_the_cursor_is_on_the_run_that_was_asked_about(table: Table) -> None:
    async with opened(table) as pilot:
        await history(pilot, "end")
        await until(pilot, lambda: cursor(pilot) == "2026-11-21-120000/r2")


@pytest.mark.long
async def test_enter_opens_the_graphs_of_a_run_of_another_session_and_esc_comes_back(table: Table) -> None:
    async with opened(table) as pilot:
        await history(pilot)
        await pilot.press("home")
        await until(pilot, lambda: cursor(pilot) == "day0/r1" and "MiB/s" in text_of(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, RunScreen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, HistoryScreen))


@pytest.mark.feature("plots")
async def test_of_runs_that_all_failed_it_says_that_there_is_nothing_to_draw(tmp_path: Path) -> None:
    table = set_table(tmp_path)
    assert table.options.session is not None
    sessions.written(table.options.session, sessions.started(), *sessions.run(status=RunStatus.FAILED))
    async with opened(table, SIZES["small"]) as pilot:
        await history(pilot)
        assert "Nothing to draw" in text_of(pilot)


async def test_without_a_run_it_says_so(tmp_path: Path) -> None:
    async with opened(set_table(tmp_path)) as pilot:
        await pilot.press("3", "H")
        await until(pilot, lambda: app_of(pilot).notices.messages)
        assert "no run yet" in next(iter(app_of(pilot).notices.messages)).message


async def test_the_run_of_the_open_session_is_known_as_its_log_has_it(table: Table) -> None:
    assert table.options.session is not None
    run, _ = past_runs(load(table.options.session))
    assert run.thing == f"wwn {WWN}"
