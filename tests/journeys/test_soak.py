"""Memory does not grow while one goes through the screens: what is closed is gone."""

from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import app
import widgets
from tests.journeys.soak import SIZE, Met, hurried, measure_together, walk, workbench
from tests.journeys.terminal import ROOT
from tests.tui.stage import settled
from widgets.choice_list import ChoiceDialog
from widgets.screen_lifecycle import SafeScreen

ROUNDS = 80
KEPT_MB, PEAK_MB = 6.0, 20.0
"""How much memory may grow after the first quarter: what a collection leaves, and what garbage adds at any time.

Eight soaks grew by 0.5 to 3.1 MB. Without a collection, how full the heap is at a given round depends on its moment.
"""


def screens_of_the_program() -> set[type[object]]:
    """Return the classes of all screens and dialogs, without those that are only the base of others."""
    for package in (app, widgets):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    found: set[type[object]] = set()
    rest: list[type[object]] = [SafeScreen]
    while rest:
        kind = rest.pop()
        below = [each for each in kind.__subclasses__() if each.__module__.startswith(("app.", "widgets."))]
        found |= set() if below else {kind}
        rest += below
    return found | {ChoiceDialog}  # the base of two, and a dialog itself


@pytest.mark.long
async def test_every_screen_is_collected_once_it_is_closed(tmp_path: Path, still: None) -> None:
    met = Met()
    with hurried():
        async with workbench(tmp_path).run_test(size=SIZE) as pilot:
            await settled(pilot)
            await measure_together(pilot, met)
            await walk(pilot, met)
            assert await met.left() == []
    assert screens_of_the_program() - met.kinds == set()


@pytest.mark.long
def test_memory_stays_while_one_goes_through_the_screens(tmp_path: Path) -> None:
    words = (sys.executable, "-m", "tests.journeys.soak", str(tmp_path), str(ROUNDS))
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    soaked = json.loads(done.stdout)
    kept = soaked["kept"]
    assert len(kept) == 4
    assert kept[-1] - kept[0] <= KEPT_MB, soaked
    assert max(soaked["memory"]) - kept[0] <= PEAK_MB, soaked
    assert soaked["left"] == []
