"""The real program in a real terminal with the real fio: however it ends, nothing is left behind."""

from __future__ import annotations

import functools
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.journeys.terminal import DEADLINE, Child, Terminal, needs_fio, terminal, wait_until

CONFIG = 'scratch_size = "8M"\nfps = 4\n'
GIVEN_BACK = (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l", b"\x1b[?1003l", b"\x1b[?2004l", b"\x1b[?1004l", b"\x1b[<u")
"""Leaves the alternate screen, shows the cursor; mouse, paste and focus reports off, plain keys."""

pytestmark = [needs_fio, pytest.mark.fio, pytest.mark.slow]


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


@dataclass(frozen=True)
class Over:
    """A run that was ended, and what there was of it afterwards."""

    status: int
    """Of the program."""
    fio_left: bool
    modes: tuple[object, object]
    """Of the terminal, before and after."""
    raw: bytes
    """All that was sent to the terminal."""
    files: frozenset[str]
    """In the folder where the program was started."""
    log: str
    """Of its session."""
    said: object
    """What whoever ended it noticed."""


def over(folder: Path, end: Callable[[Terminal], object]) -> Over:
    """fio measures a scratch file, started by keys, until the program is ended."""
    with terminal(folder, config=CONFIG) as made:
        start(made)
        made.wait(lambda: list(folder.glob("raidbench-scratch*")), "the scratch file")
        fio = made.children()
        said = end(made)
        connected = made.master >= 0
        status = made.end() if connected else made.process.wait(DEADLINE)
        return Over(
            status=status,
            fio_left=not nothing_left(fio),
            modes=(made.modes, made.modes_now() if connected else None),
            raw=made.raw,
            files=frozenset(path.name for path in folder.iterdir()),
            log=next(folder.glob("state/sessions/*/session.jsonl")).read_text(),
            said=said,
        )


def by_keys(made: Terminal) -> int | None:
    """With q and s; the status of the program after Ctrl+C, twice, before that."""
    made.keys("\x03")
    made.keys("\x03")
    made.wait_for("q quits")
    interrupted = made.process.poll()
    made.keys("q")
    made.press("s", "A job is running.")
    return interrupted


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Over:
    """Left by q and s."""
    return over(tmp_path_factory.mktemp("left"), by_keys)


@pytest.fixture(scope="module")
def lost(tmp_path_factory: pytest.TempPathFactory) -> Over:
    """Its connection was lost."""
    return over(tmp_path_factory.mktemp("lost"), Terminal.hang_up)


@pytest.fixture(scope="module")
def signalled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[signal.Signals], Over]:
    """Ended by a signal; one run for each."""

    @functools.cache
    def run(number: signal.Signals) -> Over:
        return over(tmp_path_factory.mktemp(number.name), lambda made: made.process.send_signal(number))

    return run


@pytest.mark.long
def test_q_and_s_leave_no_fio(left: Over) -> None:
    assert (left.status, left.fio_left) == (0, False)


@pytest.mark.long
def test_leaving_removes_the_scratch_file(left: Over) -> None:
    assert left.files == {"state"}


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_stops_the_run_and_gives_the_terminal_back(
    signalled: Callable[[signal.Signals], Over], number: signal.Signals
) -> None:
    run = signalled(number)
    assert (run.status, run.fio_left, run.modes[1]) == (128 + number, False, run.modes[0])


@pytest.mark.long
def test_nothing_of_the_screen_stays_in_the_terminal(signalled: Callable[[signal.Signals], Over]) -> None:
    raw = signalled(signal.SIGTERM).raw
    after = raw[raw.rindex(b"\x1b[?1049l") - 400 :]
    assert [sequence for sequence in GIVEN_BACK if sequence not in after] == []


@pytest.mark.long
def test_a_lost_connection_ends_program_and_fio(lost: Over) -> None:
    assert not lost.fio_left


@pytest.mark.long
def test_a_lost_connection_is_in_the_session(lost: Over) -> None:
    assert '"SIGHUP"' in lost.log


@pytest.mark.long
def test_ctrl_c_ends_nothing(left: Over) -> None:
    assert left.said is None


@pytest.mark.long
def test_a_kill_leaves_no_fio_and_the_next_start_names_and_removes_the_scratch_file(tmp_path: Path) -> None:
    (tmp_path / "four.fio").write_text("[four]\nrw=randread\nbs=4k\nnumjobs=4\nsize=8m\nruntime=60\ntime_based\n")
    with terminal(tmp_path, config=CONFIG) as made:
        start(made, jobfile="four.fio")
        fio = made.children()
        made.process.kill()
        made.process.wait()
        wait_until(lambda: nothing_left(fio), "fio gone")
    with terminal(tmp_path, config=CONFIG) as again:
        again.press("r", "left a scratch file")
        wait_until(lambda: not list(tmp_path.glob("raidbench-scratch*")), "the file removed")
