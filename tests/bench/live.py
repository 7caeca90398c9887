"""What the workbench costs while two graphs are live: CPU, bytes to the terminal, memory."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from tests.bench.figures import Figure, median, ratio_of_medians
from tests.bench.place import Place
from tests.bench.terminal import Terminal

_WARM = 3


def measure(place: Place) -> Iterator[Figure]:
    """Random reads at queue depth 64 from memory, reports every 250 ms, 120x40; a minimal app beside it.

    First with the percentiles as lines, then with the heat map in their place, in the same run.
    """
    rounds, seconds = (1, 8) if place.quick else (4, 16)
    scratch = place.memory / "live.dat"
    scratch.write_bytes(os.urandom(64 << 20))
    shares: dict[str, list[float]] = {"two live graphs": [], "with the heat map": []}
    rates: dict[str, list[float]] = {name: [] for name in shares}
    memory: list[float] = []
    least: list[float] = []
    for _ in range(rounds):
        with Terminal(place.python("-m", "tests.bench.minimal"), place.environment()) as terminal:
            terminal.first_frame()
            terminal.drain(1.0)
            least.append(terminal.rss())
        result = place.folder / "live"
        result.unlink(missing_ok=True)
        words = (str(result), str(scratch), "64", "1", "0", "60")
        with Terminal(place.workbench(*words), place.environment()) as terminal:
            deadline = time.monotonic() + 30
            while not result.exists() and time.monotonic() < deadline:
                terminal.read(0.1)
            terminal.drain(_WARM)
            if terminal.ended or not result.exists():
                raise RuntimeError("the workbench measured nothing")
            for name in shares:
                clock, cpu, sent = time.monotonic(), terminal.cpu(), terminal.sent
                terminal.drain(seconds)
                passed = time.monotonic() - clock
                shares[name].append((terminal.cpu() - cpu) / passed * 100)
                rates[name].append((terminal.sent - sent) / passed / 1024)
                terminal.press(b"v")
                terminal.drain(1.0)
            memory.append(terminal.rss())
    for name in shares:
        yield median(f"workbench CPU, {name} at 4 Hz", shares[name], "% of a core", goal=2.0)
    for name in shares:
        yield median(f"bytes to the terminal, {name}", rates[name], "KiB/s", goal=16.0, note="stretch 4")
    note = f"{sorted(memory)[rounds // 2]:.1f} MiB"
    yield ratio_of_medians("RSS in a run / minimal Textual app", memory, least, goal=1.4, note=note)
