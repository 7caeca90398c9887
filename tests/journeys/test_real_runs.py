"""The real program in a real terminal with the real fio: however it ends, nothing is left behind."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journeys.terminal import DEADLINE, Child, Terminal, needs_fio, terminal, wait_until

CONFIG = 'scratch_size = "8M"\nfps = 4\n'
GIVEN_BACK = (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l", b"\x1b[?1003l", b"\x1b[?2004l", b"\x1b[?1004l", b"\x1b[<u")
"""Leaves the alternate screen, shows the cursor; mouse, paste and focus reports off, plain keys."""

pytestmark = [needs_fio, pytest.mark.fio, pytest.mark.slow]


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Terminal]:
    """fio measures a scratch file, started by keys."""
    with terminal(tmp_path, config=CONFIG) as made:
        start(made)
        yield made


def start(made: Terminal, jobfile: str | None = None) -> None:
    made.wait_for(" REC ")
    made.keys("2")
    made.wait_for("r runs the job")
    if jobfile is not None:
        made.keys("o")
        made.wait_for("allow-list")
        made.keys(*jobfile)
        made.wait_for(jobfile)
        made.press("\r", "allow-list")
    made.keys("r")
    made.wait(lambda: made.children(), "fio")
    made.wait(lambda: "ETA" in made.screen.display[0], "the run in the header")


def nothing_left(fio: list[Child]) -> bool:
    return not any(child.alive for child in fio)


def test_q_and_s_leave_no_fio(running: Terminal) -> None:
    fio = running.children()
    running.keys("q")
    running.press("s", "A job is running.")
    assert (running.end(), nothing_left(fio)) == (0, True)


def test_leaving_removes_the_scratch_file(running: Terminal, tmp_path: Path) -> None:
    running.wait(lambda: list(tmp_path.glob("raidbench-scratch*")), "the scratch file")
    running.keys("q")
    running.press("s", "A job is running.")
    running.end()
    assert not list(tmp_path.glob("raidbench-scratch*"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_stops_the_run_and_gives_the_terminal_back(running: Terminal, number: signal.Signals) -> None:
    fio = running.children()
    running.process.send_signal(number)
    assert (running.end(), nothing_left(fio), running.modes_now()) == (128 + number, True, running.modes)


def test_nothing_of_the_screen_stays_in_the_terminal(running: Terminal) -> None:
    running.process.send_signal(signal.SIGTERM)
    running.end()
    after = running.raw[running.raw.rindex(b"\x1b[?1049l") - 400 :]
    assert [sequence for sequence in GIVEN_BACK if sequence not in after] == []


def test_a_lost_connection_ends_program_and_fio(running: Terminal, tmp_path: Path) -> None:
    fio = running.children()
    running.hang_up()
    running.process.wait(DEADLINE)
    assert nothing_left(fio)


def test_a_lost_connection_is_in_the_session(running: Terminal, tmp_path: Path) -> None:
    running.hang_up()
    running.process.wait(DEADLINE)
    assert '"SIGHUP"' in next(tmp_path.glob("state/sessions/*/session.jsonl")).read_text()


def test_ctrl_c_ends_nothing(running: Terminal) -> None:
    running.keys("\x03")
    running.wait_for("quit")
    assert running.process.poll() is None


def test_a_kill_leaves_no_fio(tmp_path: Path) -> None:
    (tmp_path / "four.fio").write_text("[four]\nrw=randread\nbs=4k\nnumjobs=4\nsize=8m\nruntime=60\ntime_based\n")
    with terminal(tmp_path, config=CONFIG) as made:
        start(made, jobfile="four.fio")
        fio = made.children()
        made.process.kill()
        wait_until(lambda: nothing_left(fio), "fio gone", 2.0)


def test_the_scratch_file_a_kill_left_is_named_at_the_next_start_and_removed(tmp_path: Path) -> None:
    with terminal(tmp_path, config=CONFIG) as made:
        start(made)
        made.process.kill()
        made.process.wait()
    with terminal(tmp_path, config=CONFIG) as again:
        again.press("r", "left a scratch file")
        wait_until(lambda: not list(tmp_path.glob("raidbench-scratch*")), "the file removed")
