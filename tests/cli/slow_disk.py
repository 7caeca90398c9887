"""raidbench as a program on a machine with a slow disk, killed and asked again."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.cli.conftest import ROOT, Outcome
from tests.cli.slow_vendor import SDPARM

PATIENCE = 60.0
"""Seconds after which a test gives up on what has to come."""


class SlowDisk:
    """The disk `slow:d0`, whose setter goes on only when it is let."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        (folder / "value").write_text("off\n")
        os.mkfifo(folder / "go")
        tool = folder / "sdparm"
        tool.write_text(SDPARM.format(folder=folder))
        tool.chmod(0o755)
        (folder / "slow_here.py").write_text(
            f"from tests.cli.slow_vendor import vendor\n\nVENDOR = vendor({str(folder)!r})\n"
        )
        offered = folder / "slow-1.dist-info"
        offered.mkdir()
        (offered / "METADATA").write_text("Metadata-Version: 2.1\nName: slow\nVersion: 1\n")
        (offered / "entry_points.txt").write_text("[raidbench.vendors]\nslow = slow_here:VENDOR\n")
        # The open end keeps whoever writes the fifo first from waiting for whoever reads it.
        self._go = os.open(folder / "go", os.O_RDWR | os.O_CLOEXEC)

    @property
    def value(self) -> str:
        """What the disk is set to."""
        return (self.folder / "value").read_text().strip()

    def environment(self) -> dict[str, str]:
        """That of a raidbench which has this disk."""
        state = str(self.folder.parent / "state")
        return {**os.environ, "PYTHONPATH": f"{self.folder}:{ROOT}", "RAIDBENCH_STATE_DIR": state}

    def start(self, *words: str) -> subprocess.Popen[str]:
        """raidbench, running."""
        return subprocess.Popen(
            [sys.executable, "-m", "app", *words],
            cwd=ROOT,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str) -> Outcome:
        """raidbench, run to its end."""
        process = self.start(*words)
        out, err = process.communicate(timeout=PATIENCE)
        return Outcome(process.returncode, out, err)

    def until_begun(self) -> int:
        """Wait until the setter has begun; its process id."""
        until(lambda: (self.folder / "begun").exists())
        (self.folder / "begun").unlink()
        return self.setter()[0]

    def setter(self) -> list[int]:
        """The setters that run now."""
        return [
            int(entry.name)
            for entry in Path("/proc").iterdir()
            if entry.name.isdigit() and str(self.folder / "sdparm") in words_of(entry)
        ]

    def let_go(self) -> None:
        """Let one setter continue, and wait until it has ended. Another may begin meanwhile, and wait in its turn."""
        running = set(self.setter())
        os.write(self._go, b"\n")
        until(lambda: not running.intersection(self.setter()))

    def close(self) -> None:
        """End what still waits."""
        for pid in self.setter():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        os.close(self._go)


def words_of(entry: Path) -> list[str]:
    """The command line of a process; none for one that is gone."""
    try:
        return (entry / "cmdline").read_text().split("\0")
    except OSError:
        return []


def until(condition: object) -> None:
    """Wait for what another process does."""
    assert callable(condition)
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not come"
        select.select([], [], [], 0.01)


@contextmanager
def slow_disk(folder: Path) -> Iterator[SlowDisk]:
    """A slow disk, left in order."""
    disk = SlowDisk(folder)
    try:
        yield disk
    finally:
        disk.close()


def killed_in_the_setter(disk: SlowDisk, *words: str) -> int:
    """Set the disk, kill raidbench while the setter runs; the setter's process id."""
    process = disk.start("set", "slow:d0", "wce=on", "--yes", *words)
    pid = disk.until_begun()
    process.kill()
    process.communicate()
    return pid
