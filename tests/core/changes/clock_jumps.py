"""The wall clock jumps by a day while something is on trial: the boot clock decides when it is taken back."""

from __future__ import annotations

import asyncio
import itertools
import time
from pathlib import Path
from unittest.mock import patch

from app.core.changes import watchdog
from app.core.session.journal import boot_clock
from app.core.session.paths import Paths
from tests.core.changes.test_trials import Trial
from tests.core.doubles import planned
from tests.tally import Tally

DAY = 86_400.0
LONG = 3.0
"""Seconds of a trial."""
APART = 0.5
"""Seconds between two of them: each has a program of its own elsewhere, here all are in one."""
LATE = 1.0
"""Seconds after its deadline by which it has to be back."""


def run(folder: Path, tries: int, seed: int) -> Tally:
    """So many trials side by side, under a wall clock that jumps a day there and back at every look at it."""
    tally = Tally()
    jumps = itertools.cycle((DAY, -DAY, 0.0))
    real = time.time
    with patch("time.time", lambda: real() + next(jumps)):
        asyncio.run(_trials(folder, tries, tally))
    return tally


async def _trials(folder: Path, tries: int, tally: Tally) -> None:
    await asyncio.gather(*(_trial(folder / str(number), number * APART, tally) for number in range(tries)))


async def _trial(folder: Path, after: float, tally: Tally) -> None:
    folder.mkdir()
    await asyncio.sleep(after)
    bench = Trial(folder)
    until = boot_clock() + LONG
    await bench.changer.apply(planned("128", "256"), until=until)
    paths = Paths(
        sessions=folder / "sessions", journal=folder / "journal", locks=folder / "locks", config=folder / "config.toml"
    )
    early = asyncio.create_task(_value_until(bench, until))
    waits: list[float] = []
    waiting = asyncio.create_task(_kept_from_its_turn(waits))
    result = await watchdog.watch(paths, str(bench.folder), until, {"fake": bench.backend})
    late = boot_clock() - until
    waiting.cancel()
    kept = await early
    tally.expect(kept, "it was taken back before its deadline")
    tally.expect(
        (result, bench.backend.value, 0 <= late <= LATE + max(waits)) == ("restored", "128", True),
        f"{result}, {bench.backend.value}, {late:.2f} s after the deadline",
    )


async def _value_until(bench: Trial, until: float) -> bool:
    """Whether the value was in force until the deadline."""
    while boot_clock() < until - 0.1:
        if bench.backend.value != "256":
            return False
        await asyncio.sleep(0.05)
    return True


async def _kept_from_its_turn(waits: list[float]) -> None:
    """By how much a busy machine lets this process go on too late: that is nobody's fault."""
    while True:
        due = boot_clock() + 0.05
        await asyncio.sleep(0.05)
        waits.append(max(0.0, boot_clock() - due))
