"""The real program on the simulated rack of RAID controllers, in a terminal that pictures are taken of."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.journeys.terminal import PROGRAM, Terminal

FASTER = 60
"""Simulated seconds in a real one."""


class ShownTerminal(Terminal):
    """Tells somebody of every screen that has changed, and waits as a person reads."""

    changed: Callable[[], None] | None = None

    def take(self, seconds: float = 0.05) -> None:
        """Read what has come."""
        before = len(self.raw)
        super().take(seconds)
        if len(self.raw) != before and self.changed is not None:
            self.changed()

    def rest(self, seconds: float = 1.0) -> None:
        """Go on reading for a while."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.take()

    def step(self, key: str, words: str, seconds: float = 1.0) -> None:
        """A key, what it leads to, and time to read that."""
        self.keys(key)
        self.wait_for(words)
        self.rest(seconds)

    def find(self, words: str) -> None:
        """Put the cursor on what is called so, and show all again."""
        for key in ("/", *words, "\r"):
            self.keys(key)
            self.rest(0.3)
        self.keys("\x1b")
        self.rest(0.7)

    def answer(self, key: str, words: str) -> None:
        """Answer the dialog that shows these words, once it listens."""
        self.rest()
        self.press(key, words)


@contextmanager
def rack(folder: Path, size: tuple[int, int]) -> Iterator[ShownTerminal]:
    """The workbench on the rack, with all cards read."""
    (folder / "state").mkdir(parents=True, exist_ok=True)
    argv = (*PROGRAM, "--demo", "--demo-speed", str(FASTER))
    shown = ShownTerminal(argv, cwd=folder, env={"COLORTERM": "truecolor"}, size=size)
    try:
        shown.wait_for("84016E")
        shown.rest()
        yield shown
    finally:
        shown.close()
