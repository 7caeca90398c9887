"""A walk through the workbench by keys, on the simulated machine: from the list to the log."""

from __future__ import annotations

import re

from tests.journeys.terminal import Terminal

WORDS = "--demo --demo-speed 8"
"""The options of the program for this walk."""

DOWN, PAGE_DOWN, ENTER, ESCAPE, TAB = "\x1b[B", "\x1b[6~", "\r", "\x1b", "\t"
ARRAY = "ssd"
SETTINGS = {"Write cache": "write-back", "Read-ahead": "read-ahead", "Strip size": "128 KiB"}
"""What is staged: the next value of each."""

BEFORE, AFTER = ("through", "none", "64K"), ("back", "on", "128K")
"""Write cache, read-ahead and strip of the array, as the list has them."""

TOKEN = re.compile(r"tab and type (\S+)")
LIVE = re.compile(r"^ [\d.]+k? +[\d.]+ +[\d.]+ [µm]s +[\d.]+ [µm]s ", re.MULTILINE)
"""The line of IOPS, MiB/s and latencies of a run."""


def walk(terminal: Terminal) -> None:
    """Change three settings of an array, measure it, undo a change, read the log, restore the others and leave.

    Raises AssertionError where the screen does not show what it should.
    """
    terminal.wait(lambda: _listed(terminal) == BEFORE, "the list")
    _go_to(terminal, ARRAY)
    terminal.keys(ENTER)
    terminal.wait(lambda: next(iter(SETTINGS)) in _at_cursor(terminal), "the settings")
    for number, (label, value) in enumerate(SETTINGS.items(), 1):
        _go_to(terminal, label)
        terminal.keys(" ")
        terminal.wait_for(f"{number} staged")
        assert f" {value} " in _at_cursor(terminal), terminal.text
    terminal.keys("a")
    _confirm(terminal, "DESTROYS DATA: Apply 3 changes")
    terminal.wait(lambda: "● verified" in _at_cursor(terminal), "the changes")  # this row is the last one changed
    terminal.keys(ESCAPE)
    terminal.wait(lambda: _listed(terminal) == AFTER, "the changed list")
    terminal.keys("m")
    terminal.wait_for("r runs the job")
    terminal.keys("r")
    terminal.wait(lambda: LIVE.search(terminal.text), "live IOPS and latency")
    terminal.keys("x")
    terminal.wait_for("Stopped after")
    terminal.keys("1")
    terminal.wait(lambda: _listed(terminal) == AFTER, "the list again")
    terminal.keys("u")
    _confirm(terminal, "DESTROYS DATA: Undo strip size")
    terminal.wait(lambda: _listed(terminal)[-1:] == BEFORE[-1:], "the strip size before")
    terminal.keys("5")
    terminal.wait_for("Log: events")
    terminal.wait_for("verified: now 64 KiB")
    terminal.keys("q")
    terminal.press("r", "still in force")
    assert terminal.end() == 0, terminal.text


def _listed(terminal: Terminal) -> tuple[str, ...]:
    """Return write cache, read-ahead and strip of the array in the list."""
    row = next((line for line in terminal.text.splitlines() if f"▸ {ARRAY} " in line), "")
    return tuple(row.rstrip("│ ").split()[-3:])


def _at_cursor(terminal: Terminal) -> str:
    """Return the row with the cursor, "" if there is none yet."""
    return next((line for line in terminal.text.splitlines() if line.startswith("│>")), "")


def _go_to(terminal: Terminal, label: str) -> None:
    """Move the cursor down to a row."""
    terminal.wait(lambda: _at_cursor(terminal), "the cursor")
    while label not in (before := _at_cursor(terminal)):
        terminal.keys(DOWN)
        terminal.wait(lambda before=before: _at_cursor(terminal) not in ("", before), f"the row of {label}")  # type: ignore[misc]


def _confirm(terminal: Terminal, title: str) -> None:
    """Type the token that a question asks for, read the question to its end, and say yes."""

    def dialog() -> str:
        return "\n".join(re.findall("┃(.*)┃", terminal.text))

    terminal.listen(title)
    terminal.wait(lambda: TOKEN.search(dialog()), "the token")
    token = TOKEN.search(dialog())
    assert token is not None
    terminal.keys(TAB)
    terminal.wait(lambda: "> Cancel" not in dialog(), "the field of the token")
    terminal.keys(token[1])
    terminal.wait_for("Enter goes to Apply")
    terminal.keys(ENTER)
    terminal.wait(lambda: re.search("> (Apply|More)", dialog()), "a button")
    while "> Apply" not in (shown := dialog()):
        terminal.keys(PAGE_DOWN)
        terminal.wait(lambda shown=shown: dialog() != shown, "the next part of the question")  # type: ignore[misc]
    terminal.press(ENTER, "┃")
