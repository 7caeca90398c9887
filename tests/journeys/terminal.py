"""A real terminal: a pty with the real program in it, what it shows read by pyte."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyte
import pytest

from tests.packages import needs
from widgets.guarded_dialog import GRACE

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "-P", "-c", "import sys; from app.__main__ import main; sys.exit(main())")
"""What the `raidbench` script does."""

needs_fio = needs("fio")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")

DEADLINE = 120.0
"""Seconds after which what is waited for does not come any more; a loaded machine takes its time."""


@dataclass(frozen=True)
class Child:
    """A process, told from a later one of the same number by its start."""

    pid: int
    parent: int
    name: str
    started: str

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return any(self.started == now.started for now in _processes(str(self.pid)))


class Terminal:
    """A program in a pty of its own."""

    def __init__(
        self,
        argv: Sequence[str] = PROGRAM,
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        size: tuple[int, int] = (80, 24),
    ) -> None:
        self.columns, self.rows = size
        self.screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.modes = termios.tcgetattr(slave)
        unwanted = ("NO_COLOR", "LC_ALL", "LC_CTYPE", "COLUMNS", "LINES")
        base = {key: value for key, value in os.environ.items() if key not in unwanted}
        self.process = subprocess.Popen(
            argv,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=cwd,
            env={
                **base,
                "TERM": "xterm-256color",
                "LANG": "C.UTF-8",
                "PYTHONPATH": str(ROOT),
                "RAIDBENCH_STATE_DIR": str(cwd / "state"),
                **(env or {}),
            },
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)

    def take(self, seconds: float = 0.05) -> None:
        """Read what has come."""
        ready, _, _ = select.select([self.master], [], [], seconds)
        if ready:
            with contextlib.suppress(OSError):
                data = os.read(self.master, 1 << 16)
                self.raw += data
                self._stream.feed(data)

    def wait(self, condition: Callable[[], object], what: str = "") -> None:
        """Until it is so."""
        end = time.monotonic() + DEADLINE
        while not condition():
            assert time.monotonic() < end, f"{what or 'it'} never came to be:\n{self.text}"
            self.take()

    def wait_for(self, words: str) -> None:
        """Until the words are on the screen."""
        self.wait(lambda: words in self.text, repr(words))

    def keys(self, *keys: str) -> None:
        """Type."""
        for key in keys:
            os.write(self.master, key.encode())

    def press(self, key: str, words: str) -> None:
        """Answer a dialog that shows these words: until it listens, what is typed is passed over.

        A key is typed again only after a long while: what comes after the dialog is not to hear it, too.
        """
        self.listen(words)
        end = time.monotonic() + DEADLINE
        while words in self.text:
            assert time.monotonic() < end, f"{words!r} never went away:\n{self.text}"
            self.keys(key)
            self._take_for(10.0, words)

    def listen(self, words: str) -> None:
        """Wait until a dialog that shows these words hears keys."""
        self.wait_for(words)
        self._take_for(GRACE + 0.1, words)

    def _take_for(self, seconds: float, words: str) -> None:
        """For so long, or until the words are gone."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and words in self.text:
            self.take()

    @property
    def text(self) -> str:
        """What is on the screen."""
        return "\n".join(self.screen.display)

    def end(self) -> int:
        """The exit status, once it is over."""
        self.wait(lambda: self.process.poll() is not None, "the end")
        self.drain()
        assert self.process.returncode is not None
        return self.process.returncode

    def drain(self) -> None:
        """Read what is left."""
        while select.select([self.master], [], [], 0.1)[0]:
            before = len(self.raw)
            self.take(0)
            if len(self.raw) == before:
                return

    def modes_now(self) -> list[object]:
        """The terminal's modes."""
        return termios.tcgetattr(self.master)

    def resize(self, columns: int, rows: int) -> None:
        """Another size."""
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def children(self, name: str = "fio") -> list[Child]:
        """Programs of that name that it started, and theirs."""
        processes = {child.pid: child for child in _processes()}
        below = {self.process.pid}
        for _ in range(8):
            below |= {child.pid for child in processes.values() if child.parent in below}
        return [processes[pid] for pid in sorted(below) if pid in processes and processes[pid].name == name]

    def hang_up(self) -> None:
        """The connection is gone."""
        os.close(self.master)
        self.master = -1

    def close(self) -> None:
        """End it, whatever it does."""
        left = self.children()
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for child in left:
            if child.alive:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child.pid, signal.SIGKILL)
        if self.master >= 0:
            os.close(self.master)


def _processes(which: str = "[0-9]*") -> Iterator[Child]:
    for entry in Path("/proc").glob(which):
        with contextlib.suppress(OSError, IndexError):
            name, _, rest = (entry / "stat").read_text(errors="replace").partition("(")[2].rpartition(")")
            words = rest.split()
            if words[0] not in "ZX":
                yield Child(pid=int(entry.name), parent=int(words[1]), name=name, started=words[19])


def wait_until(condition: Callable[[], object], what: str, seconds: float = DEADLINE) -> None:
    """Until it is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.02)


@contextmanager
def terminal(
    cwd: Path,
    argv: Sequence[str] = PROGRAM,
    *,
    config: str = "",
    env: Mapping[str, str] | None = None,
    size: tuple[int, int] = (80, 24),
) -> Iterator[Terminal]:
    """The program in a terminal, ended at the end."""
    state = cwd / "state"
    state.mkdir(exist_ok=True)
    (state / "config.toml").write_text(config)
    made = Terminal(argv, cwd=cwd, env=env, size=size)
    try:
        yield made
    finally:
        made.close()
