"""Ten thousand drives: when the list can be used, when a key is answered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

from app.core.session.paths import Paths
from app.core.workbench import Workbench
from app.tui.app import WorkbenchApp
from app.tui.devices.device_list import DeviceList
from backends.model import Drive, Inventory, Media, Scope, State, Target
from tests.backends.fakes import FakeHost, machine
from tests.bench.figures import Figure, median
from tests.bench.place import Place

DRIVES = 10_000


def measure(place: Place) -> Iterator[Figure]:
    """In the real screen, without a terminal."""
    fills, keys = asyncio.run(_measure(place.folder, 3 if place.quick else 9))
    yield median(f"{DRIVES:,} drives: list usable", fills, "s", goal=0.5)
    yield median(f"{DRIVES:,} drives: key answered", keys, "ms", goal=50.0)


async def _measure(folder: Path, rounds: int) -> tuple[list[float], list[float]]:
    base = folder / "rack"
    paths = Paths(sessions=base / "s", journal=base / "j", locks=base / "l", config=base / "c")
    inventory = drives(DRIVES)
    fills: list[float] = []
    keys: list[float] = []
    for _ in range(rounds):
        app = WorkbenchApp(Workbench(FakeHost(machine()), paths=paths))
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.pause()
            devices = app.screen.query_one(DeviceList)
            start = time.process_time()
            devices.show(inventory, {}, ())
            await pilot.pause()
            fills.append(time.process_time() - start)
            for _ in range(3):
                start = time.process_time()
                await pilot.press("down")
                await pilot.pause()
                keys.append((time.process_time() - start) * 1000)
    return fills, keys


def drives(count: int) -> Inventory:
    """So many drives."""
    return Inventory(
        drives=tuple(
            Drive(
                target=Target(backend="block", address=f"sd{at}", scope=Scope.DRIVE),
                model="DISK",
                media=Media.HDD,
                interface="sas",
                size_bytes=8 << 40,
                state=State.ONLINE,
                device=f"/dev/sd{at}",
            )
            for at in range(count)
        )
    )
