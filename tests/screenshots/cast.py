"""The loop as an animation: the real program on the simulated rack in a pty, kept as an asciicast of version 2.

python -m tests.screenshots.cast            writes screenshots/loop.cast; `asciinema play` shows it
"""

from __future__ import annotations

import codecs
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.journeys.terminal import PROGRAM, Terminal

SIZE = (112, 30)
CAST = Path(__file__).parents[2] / "screenshots" / "loop.cast"

PAUSE_S = 1.2
"""Time to read a screen, and the longest time in which nothing happens."""

WORKBENCH = (*PROGRAM, "--demo", "--demo-speed", "24")


class RecordedTerminal(Terminal):
    """Keeps what came, and when."""

    def __init__(self, argv: Sequence[str], *, cwd: Path) -> None:
        self.events: list[tuple[float, str]] = []
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._began = time.monotonic()
        super().__init__(argv, cwd=cwd, size=SIZE)

    def take(self, seconds: float = 0.05) -> None:
        """Read what has come."""
        before = len(self.raw)
        super().take(seconds)
        if text := self._decoder.decode(self.raw[before:]):
            self.events.append((time.monotonic() - self._began, text))

    def rest(self, seconds: float = PAUSE_S) -> None:
        """Go on reading for a while."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.take()

    def step(self, key: str, words: str) -> None:
        """A key, what it leads to, and time to read that."""
        self.rest()
        self.keys(key)
        self.wait_for(words)


def play(shown: RecordedTerminal) -> None:
    """Look, measure, change, measure again, compare, undo."""
    shown.wait_for("archive")  # of the slow card
    for key in ("/", *"ssd", "\r"):
        shown.rest(0.4)
        shown.keys(key)
    shown.step("m", "Bench")
    shown.step("r", "r1 done")
    shown.step("1", "archive")
    shown.step("\r", "Read-ahead")
    shown.step("j", "Read-ahead")
    shown.step("]", "1 staged")
    shown.step("a", "rdcache=ra")
    shown.rest()
    shown.press("y", "rdcache=ra")
    shown.wait_for("verified")
    shown.step("2", "r1")
    shown.step("r", "r2 done")
    shown.step("c", "r2")
    shown.rest(2 * PAUSE_S)
    shown.keys("\x1b")
    shown.step("1", "archive")
    shown.step("u", "rdcache=nora")
    shown.rest()
    shown.press("y", "rdcache=nora")
    shown.wait_for("verified")
    shown.rest()


def cast(events: Sequence[tuple[float, str]]) -> str:
    """The text of the file: a line about the terminal, then a line for each piece; long waits are shortened."""
    header = {
        "version": 2,
        "width": SIZE[0],
        "height": SIZE[1],
        "title": "raidbench: measure, change one setting, measure again, compare, undo",
        "env": {"TERM": "xterm-256color"},
    }
    rows = [json.dumps(header)]
    at, last = 0.0, 0.0
    for when, text in events:
        at += min(when - last, PAUSE_S)
        last = when
        rows.append(json.dumps([round(at, 3), "o", text], ensure_ascii=False))
    return "\n".join(rows) + "\n"


def main() -> int:
    """Write it anew."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "state").mkdir()
        (Path(folder) / "state" / "config.toml").write_text("fps = 2\n")  # a smaller file
        shown = RecordedTerminal(WORKBENCH, cwd=Path(folder))
        try:
            play(shown)
        finally:
            shown.close()
    CAST.write_text(cast(shown.events), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
