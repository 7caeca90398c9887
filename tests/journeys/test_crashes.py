"""What nobody expected: a sentence, the evidence in a file, the terminal as it was."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.journeys.terminal import PROGRAM, terminal, wait_until

BROKEN = """
import sys
from pathlib import Path
from app.core.workbench import Workbench
from app.tui.app import WorkbenchApp
from app.tui.options import ScreenOptions
from app.tui.runner import run_app
from tests.backends.fakes import FakeHost, disk, machine

class Broken(WorkbenchApp):
    async def action_go(self, screen):
        if screen == "log":
            raise ValueError("in a handler [/]")
        if screen == "runs":
            self.run_worker(self.fail(), group="fail")

    async def fail(self):
        raise KeyError("in a worker [/]")

bench = Workbench(FakeHost(machine(disk("sda"))))
sys.exit(run_app(Broken(bench, ScreenOptions())))
"""

STUCK = """
import asyncio, sys
from pathlib import Path
from app.core.workbench import Workbench
from app.tui.options import ScreenOptions
from app.tui.runner import run
from tests.backends.fakes import FakeHost, disk, machine

class Stuck(FakeHost):
    async def write(self, path, text):
        await super().write(path, text)
        if sys.argv[1] == "stuck":
            Path("in-the-middle").touch()
            await asyncio.sleep(3600)

host = Stuck(machine(disk("sda", device__model="ST4000")))
if sys.argv[1] == "again":
    host.files["/sys/block/sda/queue/read_ahead_kb"] = "256"
sys.exit(run(Workbench(host), ScreenOptions()))
"""


def program(text: str, *words: str) -> tuple[str, ...]:
    return (sys.executable, "-c", text, *words)


@pytest.mark.long
def test_an_exception_in_a_handler_is_a_sentence_and_a_file(tmp_path: Path) -> None:
    with terminal(tmp_path, program(BROKEN)) as made:
        made.wait_for(" REC ")
        made.keys("5")
        status = made.end()
        after = made.raw.rpartition(b"\x1b[?1049l")[2].decode()
        evidence = next(tmp_path.glob("state/sessions/*/crash-*.txt")).read_text()
        assert (status, "stopped: ValueError" in after, "Traceback" in after, "in a handler [/]" in evidence) == (
            1,
            True,
            False,
            True,
        )


@pytest.mark.long
def test_an_exception_in_a_worker_is_a_sentence_and_a_file(tmp_path: Path) -> None:
    with terminal(tmp_path, program(BROKEN)) as made:
        made.wait_for(" REC ")
        made.keys("3")
        status = made.end()
        after = made.raw.rpartition(b"\x1b[?1049l")[2].decode()
        evidence = next(tmp_path.glob("state/sessions/*/crash-*.txt")).read_text()
        assert (status, "stopped: KeyError" in after, "Traceback" in after, "in a worker [/]" in evidence) == (
            1,
            True,
            False,
            True,
        )


@pytest.mark.long
def test_after_an_exception_the_terminal_is_as_it_was(tmp_path: Path) -> None:
    with terminal(tmp_path, program(BROKEN)) as made:
        made.wait_for(" REC ")
        made.keys("5")
        made.end()
        assert made.modes_now() == made.modes


@pytest.mark.long
def test_a_change_cut_off_by_a_kill_is_told_and_restored_at_the_next_start(tmp_path: Path) -> None:
    with terminal(tmp_path, program(STUCK, "stuck")) as made:
        made.wait_for(" REC ")
        made.wait_for(" sda ")
        made.keys("\r")
        made.wait_for("Queue size")
        made.keys("\x1b[B", " ")
        made.wait_for("1 staged")
        made.keys("a")
        made.press("y", "Apply 1 change")
        wait_until((tmp_path / "in-the-middle").exists, "the write")
        made.process.kill()
        made.process.wait()
    with terminal(tmp_path, program(STUCK, "again")) as again:
        again.press("r", "A change was interrupted")
        again.wait_for("128 KiB")


@pytest.mark.long
def test_a_terminal_that_goes_without_a_signal_ends_it(tmp_path: Path) -> None:
    deaf = "import signal, subprocess, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); subprocess.run(sys.argv[1:])"
    with terminal(tmp_path, (sys.executable, "-c", deaf, *PROGRAM)) as made:  # which alone would be told
        made.wait_for(" REC ")
        made.keys("q")
        made.hang_up()
        wait_until(lambda: made.process.poll() is not None, "the end")
        log = next(tmp_path.glob("state/sessions/*/*.jsonl")).read_text()
        assert "SIGHUP" in log.splitlines()[-1] or "left" in log.splitlines()[-1]
