"""An opened run at 80x24 is a screen like the others: its footer leads back, and the keys of other screens work."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from app.tui.bench.past_run import RunScreen
from app.tui.help import HelpScreen
from app.tui.runs.figures import FiguresScreen
from app.tui.runs.screen import RunsScreen
from tests.journeys.bench_walk import run_once
from tests.tui.stage import Table, app_of, opened, text_of, until


async def open_run(pilot: Pilot[int]) -> None:
    """Open the run under the cursor of the list."""
    await pilot.press("3", "enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, RunScreen))


@pytest.mark.long
@pytest.mark.parametrize("size", [(80, 24), (200, 60)], ids=str)
async def test_the_footer_leads_back_and_every_screen_is_a_key_away(table: Table, size: tuple[int, int]) -> None:
    async with opened(table, size=size) as pilot:
        await pilot.press("2")
        await pilot.pause()
        await run_once(pilot, table)
        await open_run(pilot)
        footer = text_of(pilot).splitlines()[-1].rstrip()
        assert (footer.startswith(" esc Back"), footer.endswith("? Keys  q Quit")) == (True, True)
        assert "85.4k" in text_of(pilot)
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        await pilot.press("escape", "f")
        await until(pilot, lambda: isinstance(pilot.app.screen, FiguresScreen))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen))
        for key, mode in {"1": "devices", "2": "bench", "4": "sweep", "5": "log"}.items():
            await open_run(pilot)
            await pilot.press(key)
            await until(pilot, lambda mode=mode: app_of(pilot).current_mode == mode)  # type: ignore[misc]


@pytest.mark.long
@pytest.mark.parametrize("key", ["g", "v", "y", "L", "z", "plus", "minus", "right_square_bracket"])
async def test_the_keys_of_graphs_work_there(table: Table, key: str) -> None:
    async with opened(table, size=(80, 24)) as pilot:
        await pilot.press("2")
        await pilot.pause()
        await run_once(pilot, table)
        await open_run(pilot)
        await pilot.press(key)
        await pilot.pause()
        assert f"{key} does nothing" not in text_of(pilot)
        assert isinstance(pilot.app.screen, RunScreen)
