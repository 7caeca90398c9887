"""The memory over sessions: 10,000 runs in 1,000 of them, listed from the index and without one: processor time."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.bench.figures import Figure, median
from tests.bench.place import Place
from tests.core.many_sessions import write_sessions

SESSIONS, RUNS = 1000, 10


def measure(place: Place) -> Iterator[Figure]:
    """`history` of all of them, of one target, and the first time."""
    state = place.folder / "history"
    write_sessions(state / "sessions", SESSIONS, RUNS)
    rounds = 3 if place.quick else 7
    anew, listed = [], []
    for _ in range(1 if place.quick else 2):
        (state / "runs.sqlite3").unlink(missing_ok=True)
        anew.append(_seconds(place, state))
    for _ in range(rounds):
        listed.append(_seconds(place, state))
    yield median("10,000 runs: history", listed, "s", goal=0.5, note=f"{SESSIONS} sessions, to a file")
    yield median("10,000 runs: history without an index", anew, "s", note="read from the sessions")


def _seconds(place: Place, state: Path) -> float:
    environment = place.environment(RAIDBENCH_STATE_DIR=str(state))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(place.raidbench("history"), env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.stdout.count(b"\n") >= SESSIONS * RUNS
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
