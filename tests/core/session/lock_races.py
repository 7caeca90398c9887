"""Processes that go for one lock at the same moment: one wins, the other is told who."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.tally import Tally

ROOT = Path(__file__).parents[3]

_CONTENDER = """
import os, sys
from pathlib import Path
from app.core.session.locks import hold_lock
from backends.errors import RefusedError

for folder in sys.argv[1:]:
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        with hold_lock(Path(folder), "sda", "changing read_ahead_kb"):
            print(f"won {os.getpid()}", flush=True)
            sys.stdin.readline()
    except RefusedError as error:
        print(f"lost: {error}", flush=True)
        sys.stdin.readline()
"""


class Contender:
    """Another process that goes for the lock of each folder when told, and lets go when told."""

    def __init__(self, *folders: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CONTENDER, *map(str, folders)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.hear() == "ready"

    @property
    def pid(self) -> int:
        return self._process.pid

    def tell(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def hear(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        self._process.communicate()


def run(folder: Path, tries: int, seed: int) -> Tally:
    """So many pairs: exactly one of each has the lock, and the other names it."""
    tally = Tally()
    folders = [folder / str(turn) for turn in range(tries)]
    both = [Contender(*folders) for _ in range(2)]
    for turn in range(tries):
        with tally.attempt(f"pair {turn}"):
            if turn:
                assert [contender.hear() for contender in both] == ["ready", "ready"]
            for contender in both:
                contender.tell()
            words = [contender.hear() for contender in both]
            winners = [each for each, word in zip(both, words, strict=True) if word == f"won {each.pid}"]
            for contender in both:
                contender.tell()
            assert len(winners) == 1, words
            (lost,) = [word for word in words if word.startswith("lost")]
            assert lost == f"lost: sda is locked by raidbench (PID {winners[0].pid}: changing read_ahead_kb)."
    for contender in both:
        contender.close()
    return tally
