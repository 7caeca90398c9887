"""The workbench on the simulated rack."""

from __future__ import annotations

from pathlib import Path

from app.engine.workbench import Workbench
from app.tui.app import Options, WorkbenchApp
from app.tui.screens.bench.screen import BenchScreen
from tests.backends.simulated.asking import still_host
from tests.tui.stage import paths_in, settled


async def test_the_bench_begins_with_the_first_free_array(tmp_path: Path) -> None:
    bench = Workbench(still_host(), paths=paths_in(tmp_path))
    app = WorkbenchApp(bench, Options(session=tmp_path / "session"))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("2")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, BenchScreen)
        assert (screen.target_name, screen.where) == ("megaraid:/c0/v1", "/dev/sdb")
