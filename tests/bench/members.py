"""What it costs to count the members of an array and to show them: the workbench with them against without."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from app.core.benchmark.device_stats.diskstats import parse
from tests.bench.busy import lines, name
from tests.bench.figures import Figure, median, ratio_of_medians
from tests.bench.place import Place
from tests.bench.terminal import Terminal

_WARM = 3
_DISKS = 8


def measure(place: Place) -> Iterator[Figure]:
    """The live workbench in pairs, with 8 busy members and without; and one reading of 24 members among 500 disks."""
    pairs, seconds = (2, 8) if place.quick else (4, 12)
    scratch = place.memory / "members.dat"
    scratch.write_bytes(os.urandom(64 << 20))
    shares: dict[bool, list[float]] = {True: [], False: []}
    rates: dict[bool, list[float]] = {True: [], False: []}
    for number in range(pairs):
        for which in ((True, False), (False, True))[number % 2]:
            share, rate = _live(place, str(scratch), seconds, str(_DISKS) if which else None)
            shares[which].append(share)
            rates[which].append(rate)
    middle = [sorted(shares[which])[pairs // 2] for which in (True, False)]
    note = f"{middle[0]:.2f} % of a core against {middle[1]:.2f} %"
    yield ratio_of_medians(f"workbench CPU with {_DISKS} members / without", shares[True], shares[False], note=note)
    yield median(f"workbench CPU, two live graphs and {_DISKS} members", shares[True], "% of a core", goal=2.0)
    yield median(f"bytes to the terminal with {_DISKS} members", rates[True], "KiB/s", goal=16.0, note="stretch 4")
    yield median("a reading of 24 members among 500 disks taken apart", _parsing(pairs), "ms")


def _live(place: Place, scratch: str, seconds: int, members: str | None) -> tuple[float, float]:
    """Percent of a core and KiB a second of the measured phase."""
    result = place.folder / "members"
    result.unlink(missing_ok=True)
    words = (str(result), scratch, "64", "1", "0", "60", *([members] if members else []))
    with Terminal(place.workbench(*words), place.environment()) as terminal:
        deadline = time.monotonic() + 30
        while not result.exists() and time.monotonic() < deadline:
            terminal.read(0.1)
        terminal.drain(_WARM)
        if terminal.ended or not result.exists():
            raise RuntimeError("the workbench measured nothing")
        clock, cpu, sent = time.monotonic(), terminal.cpu(), terminal.sent
        terminal.drain(seconds)
        passed = time.monotonic() - clock
        return (terminal.cpu() - cpu) / passed * 100, (terminal.sent - sent) / passed / 1024


def _parsing(rounds: int) -> list[float]:
    """Milliseconds of processor time of each reading."""
    text = lines(500, 1e6)
    wanted = [name(number * 20) for number in range(24)]
    found = []
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(100):
            parse(text, wanted)
        found.append((time.process_time() - start) * 10)
    return found
