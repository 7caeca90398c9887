"""What happens in the pictures: look, review a change, measure, compare two values, sweep, explore."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from tests.screenshots.stage import ShownTerminal

Shoot = Callable[[str, str], None]
"""Takes a picture of what is shown, by its name and title."""

NAMES = ("devices", "review", "bench", "verdict", "explore", "sweep", "curve")
"""Pictures in the order they are taken."""

UNMEASURED = {"devices", "review"}
"""Those before the first run."""

SIZE = (120, 40)
"""Of a comfortable terminal."""

DEVICE = "ssd"
"""The array that all of it is about: a RAID 5 of three SSDs on a MegaRAID SAS 9280."""

_LONG = 300.0
"""Seconds that an experiment may take; a loaded machine takes its time."""


def tell(shown: ShownTerminal, shoot: Shoot) -> None:
    """All of it, from one start."""
    shown.find(DEVICE)
    shown.step("l", "e245:s3")  # its members
    shown.step("\r", "When a write is acknowledged")
    shown.keys("\x1b")  # back to the list, which is wider then; the settings stay beside it
    shown.rest()
    shoot("devices", "RAID controllers with their arrays and caches, and the settings of one")
    shown.step("\r", "When a write is acknowledged")
    shown.step("]", "1 staged")
    shown.step("a", "wrcache=wb", 2)
    shoot("review", "The review of a change of the write cache")
    shown.keys("\x1b")
    shown.rest()
    shown.keys("\x7f")
    shown.rest()
    measure(shown, shoot)
    compare(shown, shoot)
    sweep(shown, shoot)


def measure(shown: ShownTerminal, shoot: Shoot) -> None:
    """One run, seen when most of it is over."""
    shown.step("m", "Bench")
    shown.keys("r")
    shown.wait(lambda: re.search(r"0:5\d of 1:", shown.text), "most of a run")
    shoot("bench", "A run, live")
    shown.wait_for("r2 done")  # r1 has written the array
    shown.rest()


def compare(shown: ShownTerminal, shoot: Shoot) -> None:
    """Read-ahead against none, in pairs."""
    shown.step("1", "84016E")
    if "When a write is acknowledged" not in shown.text:
        shown.step("\r", "When a write is acknowledged")
    shown.step("j", "Whether the controller reads ahead")
    shown.step("]", "1 staged")
    shown.step("B", "Number of pairs")
    shown.step("j", "quick")
    shown.keys("\r")
    shown.answer("y", "restored to none")
    patiently(shown, lambda: "e1 has ended" in shown.text, "the verdict")
    shown.rest(2)
    if "Explore ·" in shown.text:  # whoever watched to the end is shown the picture at once
        shoot("explore", "The latency of both values by percentile")
        shown.keys("\x1b")
        shown.rest(2)
    shoot("verdict", "The verdict of an A/B")


def sweep(shown: ShownTerminal, shoot: Shoot) -> None:
    """Five queue depths; the end of it is a picture."""
    shown.step("4", "Queue depth")
    for key in ("j", "\r", *"jjj j j j j "):
        shown.keys(key)
        shown.rest(0.3)
    shown.wait_for("4, 8, 16, 32, 64")
    shown.rest()
    shoot("sweep", "A sweep is ticked, and the plan it makes")
    shown.keys("r")
    shown.answer("y", "> Start")
    shown.wait_for("RUNNING")
    patiently(shown, lambda: not re.search(r"RUNNING|sweep \d+/\d+", shown.text), "the end of the sweep")
    shown.rest(3)
    shoot("curve", "The end of a sweep: IOPS against latency by queue depth")


def patiently(shown: ShownTerminal, condition: Callable[[], object], what: str) -> None:
    """Until it is so, for as long as an experiment takes."""
    end = time.monotonic() + _LONG
    while not condition():
        assert time.monotonic() < end, f"{what} never came to be:\n{shown.text}"
        shown.take()
