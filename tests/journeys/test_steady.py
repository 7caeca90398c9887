"""Steady state and preconditioning from the keyboard."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from textual.pilot import Pilot

from app.core.session.event_types import SteadyPlan
from app.core.session.results import Phase, RunStatus
from app.tui.bench.screen import BenchScreen
from tests.tui.stage import Table, answer, app_of, heard, opened, text_of, until
from widgets.choice_list import ChoiceDialog
from widgets.confirm import ConfirmDialog


@pytest.fixture
async def bench(table: Table) -> AsyncIterator[Pilot[int]]:
    """The Bench screen with a disk as target."""
    async with opened(table) as pilot:
        await pilot.press("2")
        await pilot.pause()
        screen_of(pilot).take_device("block:sda", "/dev/sda")
        await pilot.pause()
        yield pilot


def screen_of(pilot: Pilot[int]) -> BenchScreen:
    screen = pilot.app.screen
    assert isinstance(screen, BenchScreen)
    return screen


async def ask_to_precondition(pilot: Pilot[int]) -> str:
    """The question before it."""
    await pilot.press("P")
    await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
    await heard(pilot)
    return text_of(pilot)


@pytest.mark.long
async def test_a_run_is_told_to_wait_and_says_so(bench: Pilot[int]) -> None:
    await bench.press("M")
    await until(bench, lambda: isinstance(bench.app.screen, ChoiceDialog))
    await answer(bench, "down", "enter")
    assert "direct · once steady, or after 30 min" in text_of(bench)
    await bench.press("r")
    await until(bench, lambda: app_of(bench).session.active is not None)
    assert app_of(bench).session.runs[0].start.steady == SteadyPlan(until=True)
    app_of(bench).workbench.jobs.stop()


@pytest.mark.long
async def test_preconditioning_says_how_much_is_written_and_wants_the_name(bench: Pilot[int]) -> None:
    asked = await ask_to_precondition(bench)
    assert "DESTROYS DATA: preconditioning /dev/sda" in asked
    assert "overwrites all 4 TiB 2 times sequentially, 8 TiB in total" in asked
    assert "fill.fio" in asked
    await bench.press("escape")
    await until(bench, lambda: not screen_of(bench).pending)
    assert app_of(bench).session.runs == ()


@pytest.mark.long
async def test_the_fill_is_seen_as_it_goes_on_and_can_be_stopped(bench: Pilot[int], table: Table) -> None:
    await ask_to_precondition(bench)
    await bench.press("tab", *"sda", "enter")
    await bench.pause()
    if isinstance(bench.app.screen, ConfirmDialog):
        await bench.press("enter")

    def filling() -> bool:
        active = app_of(bench).session.active
        return active is not None and active.phase is Phase.FILLING

    await until(bench, filling)
    table.load.take(0.25)
    await until(bench, lambda: "filling" in text_of(bench))
    await bench.press("x")
    await until(bench, lambda: not table.bench.jobs.running)
    (run,) = table.bench.session.runs
    assert (run.figures.status, run.figures.filled_bytes) == (RunStatus.STOPPED, 4 << 40)


@pytest.mark.long
async def test_to_its_end_it_is_written_twice(table: Table) -> None:
    async with opened(table) as pilot:
        table.load.finish()
        table.load.finish()
        await pilot.press("2")
        await pilot.pause()
        screen_of(pilot).take_device("block:sda", "/dev/sda")
        await ask_to_precondition(pilot)
        await pilot.press("tab", *"sda", "enter")
        await pilot.pause()
        if isinstance(pilot.app.screen, ConfirmDialog):
            await pilot.press("enter")
        await until(pilot, lambda: table.bench.session.runs and not table.bench.jobs.running)
        assert table.bench.session.runs[0].figures.filled_bytes == 8 << 40
