"""A terminal in the guest: the program in it, keys into it, the screen out of it."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.lab.running import ROOT, run

COLUMNS, LINES = 100, 40
SECONDS = 180.0
"""How long a screen is waited for: the emulated processor takes ten to draw the first, longer on a busy machine."""

_names = itertools.count(1)


class ScreenError(AssertionError):
    """The screen never showed what it should; the last one is in the message."""


class Terminal:
    """A pane of tmux with a shell in it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def type(self, text: str) -> None:
        """Characters as they are, as if typed."""
        self._tmux("send-keys", "-t", "lab", "-l", text)

    def press(self, *keys: str) -> None:
        """Keys by tmux's names: `Enter`, `Down`, `C-u`, `a`."""
        self._tmux("send-keys", "-t", "lab", *keys)

    def screen(self) -> str:
        """What it shows now."""
        return self._tmux("capture-pane", "-t", "lab", "-p")

    def wait(self, what: str, seconds: float = SECONDS) -> str:
        """The screen on which the pattern is found. Raises ScreenError."""
        return self.until(lambda screen: re.search(what, screen) is not None, what, seconds)

    def until(self, condition: Callable[[str], bool], what: str, seconds: float = SECONDS) -> str:
        """The screen that satisfies the condition. Raises ScreenError."""
        end = time.monotonic() + seconds
        while not condition(screen := self.screen()):
            if time.monotonic() > end:
                raise ScreenError(f"not on the screen within {seconds:.0f} s: {what}\n{screen}")
            time.sleep(0.3)  # a look costs the only processor some of its time
        return screen

    def press_until(self, key: str, what: str, seconds: float = SECONDS) -> str:
        """Press a key again and again, a look between, until the pattern is found. Raises ScreenError."""
        end = time.monotonic() + seconds
        while True:
            try:
                return self.wait(what, 5.0)
            except ScreenError:
                if time.monotonic() > end:
                    raise
            self.press(key)

    def type_until(self, text: str, what: str, seconds: float = SECONDS) -> str:
        """Type into a field, whose text is selected, until the pattern is found; again while nothing is taken yet.

        Textual hands every key to what has the focus when it comes in: on a machine this slow a key and those that
        follow it must not come in one go.
        """
        end = time.monotonic() + seconds
        while True:
            self.type(text)
            try:
                return self.wait(what, 4.0)
            except ScreenError:
                if time.monotonic() > end:
                    raise
            self.press("C-u")
            time.sleep(1.0)

    @property
    def modes(self) -> tuple[str, ...]:
        """Alternate screen, visible cursor, mouse reports, keypad: as a program left them, `1` or `0` each."""
        words = "#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_cursor_flag} #{keypad_flag}"
        return tuple(self._tmux("display-message", "-t", "lab", "-p", words).split())

    def _tmux(self, *words: str) -> str:
        return run("tmux", "-L", self._name, *words)


@contextmanager
def terminal(state: Path) -> Iterator[Terminal]:
    """A shell in a terminal of 100 x 30, sessions and journal in `state`; ended with all that runs in it."""
    name = f"lab{next(_names)}"
    words = {"TERM": "xterm-256color", "PYTHONPATH": str(ROOT), "RAIDBENCH_STATE_DIR": str(state), "PS1": "ready> "}
    inside = " ".join(f"{key}={shlex.quote(text)}" for key, text in words.items())
    size = ("-x", str(COLUMNS), "-y", str(LINES))
    shell = f"cd {shlex.quote(str(ROOT))} && exec env {inside} bash --norc --noprofile"
    run("tmux", "-L", name, "-f", os.devnull, "new-session", "-d", *size, "-s", "lab", shell)
    try:
        yield Terminal(name)
    finally:
        run("tmux", "-L", name, "kill-server", status=None)


def raidbench(*words: str) -> str:
    """The line to type."""
    return shlex.join((sys.executable, "-m", "app", *words))
