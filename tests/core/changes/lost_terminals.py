"""A terminal that is taken away while something is on trial: it comes back at its deadline all the same."""

from __future__ import annotations

import fcntl
import os
import pty
import subprocess
import sys
import termios
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from app.core.session.journal import Journal, boot_clock
from tests.backends.loops import Loop, loop
from tests.core.changes.test_trials import PROGRAM
from tests.tally import Tally

ROOT = Path(__file__).parents[3]
SIDE_BY_SIDE = 8
LATE = 1.0
"""Seconds after its deadline by which it has to be back."""


def run(folder: Path, tries: int, seed: int) -> Tally:
    """So many terminals, eight at a time, each with a disk of its own."""
    tally = Tally()
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        lanes = min(SIDE_BY_SIDE, tries)
        for told in pool.map(lambda lane: _lane(folder / str(lane), range(lane, tries, lanes)), range(lanes)):
            for word in told:
                tally.expect(not word, word)
    return tally


def _lane(folder: Path, turns: range) -> list[str]:
    folder.mkdir()
    with loop(folder / "disk", size=1 << 20) as disk:
        return [_one(folder / f"state-{turn}", disk) for turn in turns]


def _one(state: Path, disk: Loop) -> str:
    """What went wrong with one, "" for nothing."""
    setting = Path(f"/sys/block/{disk.name}/queue/read_ahead_kb")
    before = setting.read_text().strip()
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, disk.sure(), "1024" if before != "1024" else "2048"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=ROOT,
        env={**os.environ, "RAIDBENCH_STATE_DIR": str(state), "PYTHONPATH": str(ROOT)},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    said = b""
    while b"verified" not in said and child.poll() is None:
        said += os.read(ours, 4096)
    trials = Journal(state / "journal").trials()
    os.close(ours)  # the terminal is gone, and everybody on it is told so
    if not trials or trials[0].until is None:
        child.kill()
        child.wait()
        return f"nothing was on trial: {said[-200:]!r}"
    until = trials[0].until
    early = setting.read_text().strip() == before
    while setting.read_text().strip() != before and boot_clock() < until + 60:
        time.sleep(0.02)
    late = boot_clock() - until
    child.kill()
    child.wait()
    while Journal(state / "journal").trials() and boot_clock() < until + 60:
        time.sleep(0.05)
    held = not early and 0 <= late <= LATE
    return "" if held else f"back {late:.2f} s after its deadline{' and before' if early else ''}"
