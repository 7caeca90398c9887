"""The Bench screen on the simulated rack."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from app.core.workbench import Workbench
from app.features.advice.rules import advise
from app.tui.app import WorkbenchApp
from app.tui.options import ScreenOptions
from backends.simulator.host import SimulatedHost
from backends.simulator.state_file import RackFile
from tests.backends.simulator.asking import still_rack
from tests.tui.stage import heard, paths_in, settled, until
from widgets.keyed_table import KeyedTable


@asynccontextmanager
async def bench(
    folder: Path, rack: RackFile | None = None, *, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[Pilot[int]]:
    """The Bench screen on the rack, its clock as fast as ours: a run lasts until it is stopped."""
    app = WorkbenchApp(
        Workbench(SimulatedHost(rack or still_rack(), speed=1.0), paths=paths_in(folder), advisor=advise),
        ScreenOptions(session=folder / "session", config=folder / "config.toml"),
    )
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        await pilot.press("2")
        await pilot.pause()
        yield pilot


async def choose(pilot: Pilot[int], *addresses: str) -> None:
    """Mark these in the list of targets, and take them."""
    await pilot.press("T")
    await until(pilot, lambda: len(pilot.app.screen_stack) > 1)
    await heard(pilot)
    for address in addresses:
        pilot.app.screen.query_one(KeyedTable).cursor = address
        await pilot.press("space")
    await pilot.press("enter")
    await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
