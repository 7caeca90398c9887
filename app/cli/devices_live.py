"""The list of devices while some still answer: the first rows at once, taken away when all of it is there."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys

from app.cli.devices_text import device_lines
from app.cli.options import is_terminal
from backends.joining import joined_parts
from backends.model import Inventory
from widgets.plain.text import shorten

_BELOW = 2
"""Rows of the terminal that stay free: the line about the rest, and the cursor's."""


_PAINTED = re.compile(r"\x1b\[[0-9;]*m")

_AFTER_S = 0.3
"""Seconds in which most machines have told all: until then nothing is drawn that would only flicker."""


class DevicesSoFar:
    """Draws what was found so far on the terminal that standard output goes to; nothing where that is none."""

    def __init__(self) -> None:
        self._parts: dict[str, Inventory] = {}
        self._drawn = 0
        self._waiting: asyncio.TimerHandle | None = None
        self._late = False
        able = os.environ.get("TERM") not in (None, "", "dumb")
        self._draws = able and is_terminal(sys.stdout) and is_terminal(sys.stderr)

    def told(self, part: str, inventory: Inventory) -> None:
        """A backend, or a card of one, has answered."""
        self._parts[part] = inventory
        if self._late:
            self._draw()
        elif self._waiting is None and self._draws:
            self._waiting = asyncio.get_running_loop().call_later(_AFTER_S, self._begin)

    def close(self) -> None:
        """Take it away again."""
        if self._waiting is not None:
            self._waiting.cancel()
        self._write(self._taken_away())
        self._drawn = 0

    def _begin(self) -> None:
        self._late = True
        self._draw()

    def _draw(self) -> None:
        size = shutil.get_terminal_size()
        rows = device_lines(joined_parts(self._parts), {})[: max(1, size.lines - _BELOW)]
        # What wraps could not be taken away again.
        rows = [shorten(_PAINTED.sub("", row), max(1, size.columns - 1), "..") for row in rows]
        self._write(self._taken_away() + "".join(f"{row}\r\n" for row in [*rows, "looking further ..."]))
        self._drawn = len(rows) + 1

    def _taken_away(self) -> str:
        return f"\x1b[{self._drawn}A\x1b[J" if self._drawn else ""

    def _write(self, text: str) -> None:
        if not text:
            return
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            self._draws = False
