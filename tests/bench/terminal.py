"""A program in a terminal of its own: what it sends, what it costs, when it first paints."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

SIZE = (120, 40)
"""Columns and rows of the terminal."""

_ENOUGH = 1000
"""Bytes that make a frame: what a program asks a terminal at its start is less."""


class Terminal:
    """Runs a program in a new pty; ends it on exit."""

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        self.sent = 0
        """Bytes it sent so far."""
        self.ended = False
        """Whether it has ended."""
        self.started = time.monotonic()
        """When it was started."""
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.execve(argv[0], list(argv), dict(environment))
        columns, rows = SIZE
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *exc: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)
        deadline = time.monotonic() + 10
        while self.read(0.1) is not None and time.monotonic() < deadline:
            pass
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.close(self._fd)
        os.waitpid(self.pid, 0)

    def read(self, wait: float) -> bytes | None:
        """What came within `wait` seconds; None once it has ended."""
        ready, _, _ = select.select([self._fd], [], [], wait)
        if not ready:
            return b""
        try:
            data = os.read(self._fd, 65536)
        except OSError:  # EIO: nobody holds the other end any more
            data = b""
        self.ended = not data
        self.sent += len(data)
        return data or None

    def drain(self, seconds: float) -> bytes:
        """Read for some seconds."""
        end = time.monotonic() + seconds
        collected = b""
        while (left := end - time.monotonic()) > 0:
            data = self.read(left)
            if data is None:
                break
            collected += data
        return collected

    def press(self, keys: bytes) -> None:
        """Type something."""
        os.write(self._fd, keys)

    def first_sight_of(self, word: bytes) -> tuple[float, float]:
        """Wall and CPU seconds until it has sent `word`."""
        seen = b""
        while word not in seen:
            data = self.read(5.0)
            if not data:
                raise RuntimeError(f"the program never showed {word!r}")
            seen += data
        return time.monotonic() - self.started, self.cpu()

    def first_frame(self) -> tuple[float, float]:
        """Wall and CPU seconds until a whole frame is there: more than a thousand bytes, then a breath of nothing."""
        frame = 0
        wall = cpu = 0.0
        while True:
            data = self.read(0.008 if frame > _ENOUGH else 5.0)
            if data is None or (not data and frame <= _ENOUGH):
                raise RuntimeError("the program painted nothing")
            if not data:
                return wall, cpu
            frame += len(data)
            wall, cpu = time.monotonic() - self.started, self.cpu()

    def cpu(self) -> float:
        """CPU seconds of its threads so far."""
        total = 0
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            with contextlib.suppress(OSError):
                total += int((task / "schedstat").read_text().split()[0])
        return total / 1e9

    def rss(self) -> float:
        """Resident memory, MiB."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        return 0.0
