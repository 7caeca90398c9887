"""Ctrl-Z gives the terminal back to the shell, also below make; fg brings the whole screen back at the present size."""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.journeys.terminal import PROGRAM, ROOT, Terminal, terminal

pytestmark = pytest.mark.long
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
SHELL = ("bash", "--norc", "--noprofile", "-i")
DEMO = (*PROGRAM, "--demo", "linux", "--demo-speed", "1000")
PROMPT = "ready> "
LOADED = "13 arrays · 18 drives"
"""The end of the list as it is once every array is known. Before that, members are rows of their own."""


def lines_before_and_after(made: Terminal, command: Sequence[str], size: tuple[int, int]) -> tuple[list[str], ...]:
    """What stands on the screen before Ctrl-Z, and after fg in a terminal of this size on which nothing was left."""
    made.wait_for(PROMPT)
    made.keys(shlex.join(command), "\n")
    made.wait(lambda: LOADED in made.text and "scanning" not in made.text, "the whole list")
    before = lines_once_still(made)
    made.keys("\x1a")
    made.wait(lambda: "Stopped" in made.text and PROMPT in made.text, "the prompt")
    made.resize(*size)
    made.screen.reset()
    made.keys("fg\n")
    made.wait(
        lambda: LOADED in made.text and any(line.endswith("╯") for line in made.text.splitlines()[-4:]),
        "the whole screen",
    )
    made.wait_for("q Quit")
    listed = names(before)
    made.wait(lambda: names(made.text.splitlines())[: len(listed)] == listed, "every row")
    after = made.text.splitlines()
    made.keys("q")
    made.wait(lambda: "The session is in" in made.text, "the end")
    return before, after


def lines_once_still(made: Terminal) -> list[str]:
    """The screen once its list has stayed for a second: the sum below the list may be drawn before its last rows."""
    lines, since = made.text.splitlines(), time.monotonic()
    while time.monotonic() - since < 1.0:
        made.take()
        if names(now := made.text.splitlines()) != names(lines):
            lines, since = now, time.monotonic()
    return lines


def names(lines: Sequence[str]) -> list[str]:
    """The devices in the list, whose settings may not have been read yet. Columns depend on the size."""
    return [line[:18].strip("│> ▸▾").partition(" ")[0] for line in lines if line.startswith("│") and line.strip("│ ")]


@pytest.mark.parametrize("size", [(80, 24), (120, 30), (200, 60)], ids=str)
def test_the_shell_has_the_terminal_until_fg(tmp_path: Path, size: tuple[int, int]) -> None:
    with terminal(tmp_path, SHELL, env={"PS1": PROMPT}) as made:
        before, after = lines_before_and_after(made, DEMO, size)
    listed = names(before)
    assert (names(after)[: len(listed)], len(listed) > 10) == (listed, True)


@needs_make
def test_make_does_not_keep_the_terminal(tmp_path: Path) -> None:
    make = ("make", "-C", str(ROOT), "--no-print-directory", "demo", "SETUP=@:", "ARGS=linux --demo-speed 1000")
    with terminal(tmp_path, SHELL, env={"PS1": PROMPT}) as made:
        before, after = lines_before_and_after(made, make, (80, 24))
    assert (names(after), after[-1]) == (names(before), before[-1])


def test_without_a_shell_it_says_so_and_goes_on(tmp_path: Path) -> None:
    with terminal(tmp_path, ("sh", "-c", shlex.join(DEMO) + "; exit $?")) as made:  # as in `tmux new raidbench`
        made.wait_for(LOADED)
        made.keys("\x1a")
        made.wait_for("there is no shell to return to")
