"""What it costs to show what a hundred disks do: the list with it against the list without."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator

from tests.bench.figures import Figure, median, ratio_of_medians
from tests.bench.many_disks import DISKS
from tests.bench.place import Place
from tests.bench.terminal import Terminal

_SETTLED = 6.0
"""Seconds until the workbench has found what is there."""
_MINUTE = 65.0
"""Seconds until the sparklines are whole."""


def measure(place: Place) -> Iterator[Figure]:
    """In pairs, in a pty: the list of settings without any reading, and the list with rates, idle and at work.

    Every second each row in view has other rates. At 120x40 the pane of the device is beside the list.
    """
    pairs, seconds, filled = (1, 10, 12.0) if place.quick else (4, 20, _MINUTE)
    shares: dict[str, list[float]] = {name: [] for name in ("plain", "idle", "busy")}
    rates: dict[str, list[float]] = {name: [] for name in shares}
    for number in range(pairs):
        for which in (("plain", "live"), ("live", "plain"))[number % 2]:
            for name, share, rate in _rounds(place, which, seconds, filled):
                shares[name].append(share)
                rates[name].append(rate)
    for name, text in (("idle", "idle"), ("busy", "every row in view at work")):
        more = [share - plain for share, plain in zip(shares[name], shares["plain"], strict=True)]
        yield median(f"CPU of the I/O of {DISKS} disks, {text}", more, "% of a core", goal=0.5)
        middle = [sorted(shares[which])[pairs // 2] for which in (name, "plain")]
        note = f"{middle[0]:.2f} % of a core against {middle[1]:.2f} %"
        yield ratio_of_medians(
            f"workbench CPU with the I/O of {DISKS} disks, {text} / without", shares[name], shares["plain"], note=note
        )
    yield median(f"bytes to the terminal, I/O of {DISKS} disks, idle", rates["idle"], "B/s", goal=200.0)
    yield median(f"bytes to the terminal, I/O of {DISKS} disks, every row in view", rates["busy"], "B/s", goal=4000.0)


def _rounds(place: Place, which: str, seconds: int, filled: float) -> Iterator[tuple[str, float, float]]:
    """Name, percent of a core and bytes a second of each state of a workbench."""
    folder = place.folder / "activity"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    words = ("-m", "tests.bench.many_disks", str(folder), which)
    with Terminal(place.python(*words), place.environment()) as terminal:
        terminal.first_frame()
        terminal.drain(_SETTLED)
        terminal.press(b"\x1b[B\r\x1b")  # into a device and back: the first steps are done with
        terminal.drain(1.0)  # or escape and the next key would be one
        if which == "live":
            terminal.press(b"v")
        terminal.drain(filled if which == "live" else 3.0)
        yield ("idle" if which == "live" else "plain", *_measured(terminal, seconds))
        if which == "live":
            (folder / "busy").touch()
            terminal.drain(filled)
            yield ("busy", *_measured(terminal, seconds))


def _measured(terminal: Terminal, seconds: int) -> tuple[float, float]:
    clock, cpu, sent = time.monotonic(), terminal.cpu(), terminal.sent
    terminal.drain(seconds)
    if terminal.ended:
        raise RuntimeError("the workbench has ended")
    passed = time.monotonic() - clock
    return (terminal.cpu() - cpu) / passed * 100, (terminal.sent - sent) / passed
