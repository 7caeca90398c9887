"""What the advisor says on the Bench screen: before a run, while it goes on, at its end."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from app.core.fio.job import Job
from app.tui.bench.advice import AdviceScreen
from app.tui.bench.screen import BenchScreen
from tests.tui.stage import Table, app_of, notices, opened, text_of, until


@pytest.fixture
async def bench(table: Table) -> AsyncIterator[Pilot[int]]:
    """The Bench screen."""
    async with opened(table) as pilot:
        await pilot.press("2")
        await pilot.pause()
        yield pilot


def line(pilot: Pilot[int]) -> str:
    """The advisor's line."""
    found = pilot.app.screen.query_one("#advice", Static)
    return str(found.content) if found.display else ""


async def choose(pilot: Pilot[int], **fields: str) -> None:
    """Another job."""
    screen = pilot.app.screen
    assert isinstance(screen, BenchScreen)
    screen.job = Job.from_fields({"rw": "randread", **fields})
    screen.on_screen_resume()
    await pilot.pause()


async def test_a_job_is_judged_before_it_runs(bench: Pilot[int]) -> None:
    await choose(bench, direct="no", ioengine="psync")
    await until(bench, lambda: "is buffered" in line(bench))


async def test_there_is_no_line_where_nothing_is_to_be_said(bench: Pilot[int]) -> None:
    await choose(bench, direct="no")
    await until(bench, lambda: line(bench))
    await choose(bench)
    await until(bench, lambda: not line(bench))


async def test_a_key_shows_all_of_it_with_what_to_do(bench: Pilot[int]) -> None:
    await choose(bench, direct="no", iodepth="8", ioengine="psync")
    await until(bench, lambda: line(bench))
    await bench.press("i")
    await until(bench, lambda: isinstance(bench.app.screen, AdviceScreen))
    assert all(words in text_of(bench) for words in ("Set direct to yes.", "sync-depth", "docs/advice.md"))


async def test_the_key_says_so_where_there_is_nothing(bench: Pilot[int]) -> None:
    await bench.press("i")
    await bench.pause()
    assert "no advice for this job" in notices(bench)


async def test_a_full_core_is_said_while_the_job_runs(bench: Pilot[int], table: Table) -> None:
    await bench.press("r")
    await until(bench, lambda: app_of(bench).session.active is not None)
    for _ in range(5):
        table.load.cpu(fio=99.0)
    for number in range(1, 13):
        table.load.take(number * 0.25)
    await until(bench, lambda: "The run measures the CPU" in line(bench))


async def test_the_run_keeps_what_was_said_of_it(bench: Pilot[int], table: Table) -> None:
    await choose(bench, direct="no", ioengine="psync")
    await bench.press("r")
    await until(bench, lambda: app_of(bench).session.active is not None)
    table.load.take(0.25)
    table.load.finish()
    await until(bench, lambda: not table.bench.jobs.running)
    assert [advice.key for advice in app_of(bench).session.runs[-1].figures.advice] == ["page-cache"]
