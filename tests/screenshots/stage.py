"""The real program on the simulated rack of RAID controllers, in a terminal that pictures are taken of."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.journeys.terminal import PROGRAM, ROOT, Terminal

FASTER = 60
"""Simulated seconds in a real one."""

FILLED = "/c0/v1"
"""The RAID 5 of three SSDs on the MegaRAID SAS 9280, which the pictures are about."""

TOKEN = "6ef362"
"""Confirms that its data may be lost: the end of its WWN."""

FILL = """[fill]
rw=write
bs=4M
iodepth=16
ioengine=libaio
direct=1
"""
"""A job that writes the whole array: reads of blocks that were never written are too fast."""


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


def fill(folder: Path) -> None:
    """Write the array once, as whoever measures it would have done, in the session that the workbench continues."""
    job = folder / "fill.fio"
    job.write_text(FILL, encoding="utf-8")
    session = ("--session", str(folder / "session"))
    words = ("--demo", "--demo-speed", "1000", *session, "bench", FILLED, "--jobfile", str(job), "--confirm", TOKEN)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "RAIDBENCH_STATE_DIR": str(folder / "state")}
    subprocess.run([*PROGRAM, *words], cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True)


@contextmanager
def rack(folder: Path, size: tuple[int, int]) -> Iterator[ShownTerminal]:
    """The workbench on the rack, with all cards read."""
    (folder / "state").mkdir(parents=True, exist_ok=True)
    argv = (*PROGRAM, "--demo", "--demo-speed", str(FASTER), "--session", str(folder / "session"))
    shown = ShownTerminal(argv, cwd=folder, env={"COLORTERM": "truecolor"}, size=size)
    try:
        shown.wait_for("84016E")
        shown.rest()
        yield shown
    finally:
        shown.close()
