"""What a Tab costs: from the shell's question to the whole answer, with a rack looked at before."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator

from tests.bench.figures import Figure, median
from tests.bench.place import Place

GOAL_MS = 150.0
"""What nobody notices between a key and its answer."""

LINES = {
    "a setting": "raidbench --demo set /c0/v1 read_ahead=",
    "a disk's setting": "raidbench --demo set /c0/v1 scheduler=",
    "an address": "raidbench --demo show ",
    "a workload": "raidbench bench /srv --profile rand",
    "an option of bench": "raidbench bench --ra",
}


def measure(place: Place) -> Iterator[Figure]:
    """In a process of its own each, as a shell asks."""
    for words in (("devices",), ("show", "/c0/v1")):
        subprocess.run(place.raidbench("--demo", *words), env=place.environment(), check=True, capture_output=True)
    for name, line in LINES.items():
        asked = {"_RAIDBENCH_COMPLETE": "bash_complete", "_RAIDBENCH_LINE": line, "_RAIDBENCH_BREAKS": " \t\n=:"}
        times = []
        for number in range(4 if place.quick else 12):
            began = time.monotonic()
            done = subprocess.run(
                place.raidbench(), env=place.environment(**asked), check=True, capture_output=True, text=True
            )
            if number:  # the first round compiles
                times.append((time.monotonic() - began) * 1000)
            assert done.stdout, line
        yield median(f"Tab at {name}", times, "ms", goal=None if "option" in name else GOAL_MS)
