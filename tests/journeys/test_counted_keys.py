"""The first run and the first comparison on the simulated rack: no key more than these."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.tui.bench.screen import BenchScreen
from backends.simulator.state_file import RackFile
from tests.backends.simulator.asking import still_rack
from tests.journeys.rack import bench
from tests.tui.stage import app_of, text_of, until


async def over(pilot: Pilot[int], runs: int) -> None:
    """So many runs have begun and ended."""
    await until(pilot, lambda: not app_of(pilot).workbench.jobs.running and len(app_of(pilot).session.runs) == runs)


@pytest.mark.long
async def test_a_first_run_takes_two_keys_and_a_comparison_with_it_two_more(tmp_path: Path) -> None:
    async with bench(tmp_path, RackFile(None, make=still_rack)) as pilot:  # one key: 2
        screen = pilot.app.screen
        assert isinstance(screen, BenchScreen)
        screen.job = replace(screen.job, ramp=0, runtime=2)
        await pilot.press("r")
        await over(pilot, 1)
        await pilot.press("r")
        await over(pilot, 2)
        await pilot.press("c")
        await until(pilot, lambda: "r2 against r1" in text_of(pilot))
