"""The Runs screen: the list above, the run under the cursor below it."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.tui.runs.compare import CompareScreen
from app.tui.runs.screen import RunsScreen
from tests.core import sessions
from tests.tui.stage import Table, notices, opened, set_table, text_of, until

STREAM = Path(__file__).parents[1] / "core" / "fio" / "streams" / "mixed.stdout"


@pytest.fixture
def table(tmp_path: Path, still: None) -> Table:
    """A session of two runs, of which the first left what fio wrote, and is the baseline."""
    table = set_table(tmp_path)
    folder = table.options.session
    assert folder is not None
    events = (sessions.started(), *sessions.run("r1"), *sessions.run("r2", iops=800, settings={"read_ahead_kb": "4"}))
    sessions.written(folder, *events)
    (folder / "runs" / "r1").mkdir(parents=True)
    shutil.copy(STREAM, folder / "runs" / "r1" / "fio.out")
    return table


@pytest.fixture
async def runs(table: Table) -> AsyncIterator[Pilot[int]]:
    async with opened(table) as pilot:
        await pilot.press("3")
        await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen) and "r2" in text_of(pilot))
        yield pilot


async def test_the_run_under_the_cursor_is_shown_below(runs: Pilot[int]) -> None:
    await runs.press("end")
    await runs.pause()
    assert ["r2: randread-4k on block:sda" in text_of(runs), "In force" in text_of(runs)] == [True, True]


async def test_what_is_other_than_at_the_baseline_is_named(runs: Pilot[int]) -> None:
    await runs.press("home", "b", "end")
    await until(runs, lambda: "Against r1" in text_of(runs))
    shown = " ".join(text_of(runs).split())
    assert ["Kernel read-ahead 4 KiB, was 128 KiB" in shown, "not decided -20.0 %" in shown] == [True, True]


async def test_the_graphs_of_a_run_come_from_what_fio_wrote(runs: Pilot[int]) -> None:
    await runs.press("home")
    await until(runs, lambda: runs.app.screen.query_one("#preview-graphs").display)


async def test_a_run_that_left_nothing_has_no_empty_graph(runs: Pilot[int]) -> None:
    await runs.press("end")
    await until(runs, lambda: not runs.app.screen.query_one("#preview-graphs").display)


async def test_a_row_has_a_spark_of_its_run(runs: Pilot[int]) -> None:
    await until(runs, lambda: "▇" in next(line for line in text_of(runs).splitlines() if " r1 " in line))


async def test_at_80_columns_a_row_shows_the_setting_that_differs_and_its_comparison(table: Table) -> None:
    async with opened(table, size=(80, 24)) as pilot:
        await pilot.press("3")
        await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen) and "r2" in text_of(pilot))
        await pilot.press("home", "b")
        await until(pilot, lambda: "Against r1" in text_of(pilot))
        row = next(line for line in text_of(pilot).splitlines() if " r2 " in line)
        assert ["4 KiB" in row, "-20.0 %" in row] == [True, True]


@pytest.mark.long
async def test_marks_are_counted(runs: Pilot[int]) -> None:
    await runs.press("space")
    await runs.pause()
    assert "1 marked, 2 runs" in text_of(runs)


@pytest.mark.long
async def test_of_runs_that_are_no_ab_plus_says_so(runs: Pilot[int]) -> None:
    await runs.press("home", "space", "down", "space", "c")
    await until(runs, lambda: isinstance(runs.app.screen, CompareScreen))
    await runs.press("plus")
    await until(runs, lambda: "These runs are not an A/B" in notices(runs))
