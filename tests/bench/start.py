"""Time to the first paint against a minimal Textual app, alternating."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from tests.bench.figures import Figure, ratio_of_medians
from tests.bench.place import Place
from tests.bench.terminal import Terminal


def measure(place: Place) -> Iterator[Figure]:
    """From the start of the program until a whole frame has come out of the pty."""
    rounds = 3 if place.quick else 11
    programs = {"minimal": place.python("-m", "tests.bench.minimal"), "ours": place.raidbench()}
    walls: dict[str, list[float]] = {name: [] for name in programs}
    shares: dict[str, list[float]] = {name: [] for name in programs}
    settled: list[float] = []
    memory: dict[str, list[float]] = {name: [] for name in programs}
    for number in range(rounds + 1):
        for name, argv in programs.items() if number % 2 else reversed(programs.items()):
            with Terminal(argv, place.environment()) as terminal:
                wall, cpu = terminal.first_frame()
                terminal.drain(1.0)
                if number:  # the first round compiles
                    walls[name].append(wall)
                    shares[name].append(cpu)
                    memory[name].append(terminal.rss())
                    if name == "ours":
                        settled.append(terminal.cpu())
    yield ratio_of_medians(
        "first paint / minimal Textual app, CPU",
        shares["ours"],
        shares["minimal"],
        goal=1.25,
        note=_medians(shares["ours"], shares["minimal"]),
    )
    yield ratio_of_medians(
        "first paint / minimal Textual app, wall",
        walls["ours"],
        walls["minimal"],
        goal=1.25,
        note=_medians(walls["ours"], walls["minimal"]),
    )
    yield ratio_of_medians(
        "all devices shown / minimal's first paint, CPU", settled, shares["minimal"], note=_medians(settled)
    )
    yield ratio_of_medians(
        "RSS when open / minimal Textual app",
        memory["ours"],
        memory["minimal"],
        goal=1.5,
        note=f"{statistics.median(memory['ours']):.1f} MiB against {statistics.median(memory['minimal']):.1f}",
    )


def _medians(*values: Sequence[float]) -> str:
    return " against ".join(f"{statistics.median(each):.3f} s" for each in values)
