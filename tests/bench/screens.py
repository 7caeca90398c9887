"""Five hundred drives: how soon a key is answered and a screen changed. What a workbench costs that nobody touches."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from textual.pilot import Pilot

from app.core.session.paths import Paths
from app.core.workbench import Workbench
from app.features.advice.rules import advise
from app.tui.app import WorkbenchApp
from app.tui.devices.device_list import DeviceList
from tests.backends.fakes import FakeHost, machine
from tests.bench.figures import Figure, median
from tests.bench.place import Place
from tests.bench.rack import drives
from tests.bench.terminal import Terminal

DRIVES = 500
_KEYS = (*["down"] * 12, *["pagedown"] * 4, *["up"] * 6, "end", "home", *["down"] * 6)
_SETTLED = 8.0
"""Seconds until the workbench has found what is there."""

_APART = 0.06
"""Seconds between two keys of whoever holds one down slowly."""


def measure(place: Place) -> Iterator[Figure]:
    """Keys and changes of the screen without a terminal, as processor time; idling in a real one."""
    rounds = 2 if place.quick else 7
    keys, switches = asyncio.run(_measure(place.folder, rounds))
    yield median(f"{DRIVES} drives: key answered, 95th percentile", keys, "ms", goal=50.0)
    yield median(f"{DRIVES} drives: screen changed, 95th percentile", switches, "ms", goal=100.0)
    sent = [_sent(place, rows) for rows in ([3] if place.quick else [2, 3, 5, 8])]
    yield median("bytes of an arrow key, one on the other", [keys for keys, _ in sent], "kB", goal=1.2, note="120x40")
    yield median("bytes of the details pane, at rest", [pane for _, pane in sent], "kB", goal=8.0, note="120x40")
    yield median("workbench CPU, idle", list(_idle(place)), "% of a core", goal=0.3)


async def _measure(folder: Path, rounds: int) -> tuple[list[float], list[float]]:
    base = folder / "screens"
    paths = Paths(sessions=base / "s", journal=base / "j", locks=base / "l", config=base / "c")
    keys: list[float] = []
    switches: list[float] = []
    for _ in range(rounds):
        app = WorkbenchApp(Workbench(FakeHost(machine()), paths=paths, advisor=advise))
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.pause()
            app.screen.query_one(DeviceList).show(drives(DRIVES), {}, ())
            await pilot.pause()
            keys.append(_slowest([await _pressed(pilot, key) for key in _KEYS]))
            for key in "23451":  # each is built when it is first seen
                await _pressed(pilot, key)
            switches.append(_slowest([await _pressed(pilot, key) for key in "2345123451"]))
    return keys, switches


async def _pressed(pilot: Pilot[int], key: str) -> float:
    """Milliseconds of processor time until what a key asks for is drawn."""
    start = time.process_time()
    await pilot.press(key)
    await pilot.pause()
    return (time.process_time() - start) * 1000


def _slowest(times: list[float]) -> float:
    return statistics.quantiles(times, n=20, method="inclusive")[-1]


def _sent(place: Place, rows: int) -> tuple[float, float]:
    """Kilobytes for each of as many arrow keys down and up again, and then for the device that is shown at rest."""
    with Terminal(place.raidbench("--demo"), place.environment()) as terminal:
        terminal.first_frame()
        terminal.drain(_SETTLED)
        terminal.press(b"\x1b[B\r\x1b")  # into a device and back: the first steps are done with
        terminal.drain(2.0)
        before = terminal.sent
        for key in [b"\x1b[B"] * rows + [b"\x1b[A"] * (rows - 1):
            terminal.press(key)
            terminal.drain(_APART)
        keys = (terminal.sent - before) / (2 * rows - 1) / 1000
        before = terminal.sent
        terminal.drain(2.0)
        return keys, (terminal.sent - before) / 1000


def _idle(place: Place) -> Iterator[float]:
    """A share of a core for each of some rounds."""
    rounds, seconds = (1, 6) if place.quick else (3, 20)
    for _ in range(rounds):
        with Terminal(place.raidbench(), place.environment()) as terminal:
            terminal.first_frame()
            terminal.drain(_SETTLED)
            clock, cpu = time.monotonic(), terminal.cpu()
            terminal.drain(seconds)
            yield (terminal.cpu() - cpu) / (time.monotonic() - clock) * 100
