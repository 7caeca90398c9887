"""A link of 2 KiB/s with 200 ms each way: a running job is drawn as often as the link takes it, keys are answered."""

from __future__ import annotations

import contextlib
import os
import select
import time
from pathlib import Path

import pytest

from app.tui.session_updates import QUESTION
from tests.journeys.terminal import PROGRAM, Terminal

pytestmark = pytest.mark.exhaustive

RATE = 2048
"""Bytes a second."""

DELAY_S = 0.2
"""From one end to the other."""

ANSWER = b"\x1b[?2026;2$y"
"""Of a terminal that knows synchronized output, and has it off (DECRPM)."""


class LinkedTerminal(Terminal):
    """A terminal at the far end of a link, that answers what it is asked; the link is quick until `slow` is set."""

    slow = False
    answered = 0

    def __post(self, data: bytes) -> None:
        self._under_way.append((time.monotonic() + DELAY_S, data))

    def link(self) -> None:
        """Nothing is under way yet."""
        self._under_way: list[tuple[float, bytes]] = []
        self._answers: list[float] = []
        self._credit = 0.0
        self._looked = time.monotonic()
        self._asked = 0

    def take(self, seconds: float = 0.05) -> None:
        """Read as much as the link carries; show what has arrived; answer."""
        ready, _, _ = select.select([self.master], [], [], min(seconds, 0.02))
        now = time.monotonic()
        self._credit = min(RATE / 4, self._credit + (now - self._looked) * RATE)
        self._looked = now
        room = int(self._credit) if self.slow else 1 << 16
        if ready and room:
            with contextlib.suppress(OSError):
                data = os.read(self.master, room)
                self._credit -= len(data) if self.slow else 0
                self.__post(data)
        while self._under_way and (not self.slow or self._under_way[0][0] <= now):
            _, data = self._under_way.pop(0)
            self.raw += data
            self._stream.feed(data)
        asked = self.raw.count(QUESTION.encode())
        self._answers += [now + DELAY_S] * (asked - self._asked)
        self._asked = asked
        while self._answers and self._answers[0] <= now:
            self._answers.pop(0)
            self.answered += 1
            os.write(self.master, ANSWER)


def go_to(far: Terminal, array: str) -> None:
    """Move the cursor onto an array, from wherever the list has put it."""

    def row(sign: str) -> int:
        return next((at for at, line in enumerate(far.text.splitlines()) if sign in line), -1)

    far.wait(lambda: row("│>") > 0 and row(f"▸ {array} ") > 0, "the cursor")
    while (at := row("│>")) != (wanted := row(f"▸ {array} ")):
        far.keys("j" if at < wanted else "k")
        far.wait(lambda left=at: row("│>") != left, "another row")  # type: ignore[misc]


def running_job(folder: Path, *options: str) -> LinkedTerminal:
    """The rack's SSD array being measured, at the far end of a link that is slow from here on."""
    (folder / "state").mkdir(exist_ok=True)
    far = LinkedTerminal([*PROGRAM, "--demo", *options], cwd=folder, size=(80, 24))
    far.link()
    far.wait_for("archive")
    go_to(far, "ssd")
    far.keys("m")
    far.wait_for("r runs the job")
    far.keys("r")
    far.wait_for("ramp")
    far.slow = True
    return far


@pytest.mark.slow
def test_a_screen_comes_before_the_link_has_carried_two(tmp_path: Path) -> None:
    far = running_job(tmp_path)
    try:
        before = far.answered
        far.wait(lambda: far.answered >= before + 5, "five drawings")
        sent = len(far.raw)
        far.keys("1")
        far.wait_for("Write cache")
        assert len(far.raw) - sent < 16 * 1024
    finally:
        far.close()


@pytest.mark.slow
def test_a_key_is_answered_within_two_seconds_of_the_link_by_a_job_that_could_fill_it_twice(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "config.toml").write_text("fps = 16\n")
    far = running_job(tmp_path, "--demo-speed", "4")
    try:
        begun = len(far.raw)
        far.wait(lambda: len(far.raw) - begun > 3 * RATE, "three seconds of the link")
        drawn = far.answered
        far.wait(lambda: far.answered > drawn, "the end of a drawing")
        sent = len(far.raw)
        far.keys(" ")
        far.wait_for("FROZEN")
        assert len(far.raw) - sent < 2 * RATE
    finally:
        far.close()
