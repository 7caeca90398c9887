"""Time to the first paint and to the whole screen against a minimal Textual app, alternating."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from tests.bench.figures import Figure, ratio_of_medians
from tests.bench.place import Place
from tests.bench.terminal import Terminal


def measure(place: Place) -> Iterator[Figure]:
    """From the start of the program until header and keys are seen, and until the screen is whole."""
    rounds = 3 if place.quick else 11
    programs = {"minimal": place.python("-m", "tests.bench.minimal"), "ours": place.raidbench()}
    times: dict[str, list[float]] = {}
    for number in range(rounds + 1):
        for name, argv in programs.items() if number % 2 else reversed(programs.items()):
            with Terminal(argv, place.environment()) as terminal:
                found: dict[str, float] = {}
                if name == "ours":
                    found["sight wall"], found["sight"] = terminal.first_sight_of(b"hardware")
                found["frame wall"], found["frame"] = terminal.first_frame()
                terminal.drain(1.0)
                found["rest"], found["memory"] = terminal.cpu(), terminal.rss()
                if number:  # the first round compiles
                    for key, value in found.items():
                        times.setdefault(f"{name} {key}", []).append(value)
    least, least_wall = times["minimal frame"], times["minimal frame wall"]
    for name, ours, theirs, goal in (
        ("first paint / minimal Textual app, CPU", times["ours sight"], least, 1.25),
        ("first paint / minimal Textual app, wall", times["ours sight wall"], least_wall, 1.25),
        ("whole screen / minimal Textual app, CPU", times["ours frame"], least, 1.25),
        ("whole screen / minimal Textual app, wall", times["ours frame wall"], least_wall, 1.25),
        ("all devices found and shown / minimal Textual app, CPU", times["ours rest"], least, 1.75),
    ):
        yield ratio_of_medians(name, ours, theirs, goal=goal, note=_medians(ours, theirs, "s", 3))
    ours, theirs = times["ours memory"], times["minimal memory"]
    yield ratio_of_medians(
        "RSS when open / minimal Textual app", ours, theirs, goal=1.3, note=_medians(ours, theirs, "MiB", 1)
    )


def _medians(ours: Sequence[float], theirs: Sequence[float], unit: str, digits: int) -> str:
    return f"{statistics.median(ours):.{digits}f} {unit} against {statistics.median(theirs):.{digits}f}"
