"""The README on the simulated host that `make demo` opens: its commands, and an A/B by keys that nobody waits for."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.cli.options import Options
from app.cli.session_context import host_of
from app.core.fio.profiles import profile
from app.core.workbench import Workbench
from app.features.ab.plan import AbPlan, with_speed
from app.features.ab.screen import ExperimentDialog
from app.features.advice.rules import advise
from app.tui.app import WorkbenchApp
from app.tui.options import ScreenOptions
from backends.host import Host
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles import FIRST
from backends.simulator.state_file import RackFile
from tests.backends.simulator.asking import still_rack
from tests.cli.conftest import run_here
from tests.tui.stage import answer, app_of, heard, paths_in, settled, text_of, until, words_in
from widgets.confirm import ConfirmDialog

README = Path(__file__).parents[2] / "README.md"

MINUTE = 60.0

TO_READ_AHEAD = ("down", "down", "enter", "down")
"""From the start to the read-ahead of the array of flash."""


def commands() -> list[str]:
    """Return the command lines of the README, in their order."""
    return re.findall(r"^\$ raidbench (.+)$", README.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_readme_has_the_five_commands_and_starts_the_first_host() -> None:
    assert [line.split()[0] for line in commands()] == ["devices", "check", "set", "ab", "undo"]
    assert "--demo" not in "".join(commands())
    assert re.search(r"^\t@\S+raidbench --demo \$\(ARGS\)$", (README.parent / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.long
def test_its_commands_work_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(tmp_path))
    worked = {"check": 5}  # there are findings
    for line in commands():
        verb, *words = shlex.split(line)
        sure = ("--yes",) if verb in ("set", "ab") else ()
        shorter = ("--pairs=3",) if verb == "ab" else ()
        done = run_here("--demo", "--demo-speed=1000", verb, *words, *sure, *shorter)
        assert done.status == worked.get(verb, 0), (line, done.err)
        if verb == "set":
            assert run_here("--demo", "undo", "--yes").status == 0  # what the end of the trial does


def test_the_program_may_choose_the_speed_of_the_demo_unless_the_user_did() -> None:
    chosen = [host_of(Options(demo=FIRST, demo_speed=speed)).capabilities.time for speed in (None, 4.0)]
    assert [time and time.chosen_speed for time in chosen] == [None, 4.0]


@pytest.fixture
def rack() -> RackFile:
    """The state of the host."""
    return RackFile(None, make=still_rack)


@pytest.fixture
async def demo(tmp_path: Path, rack: RackFile) -> AsyncIterator[Pilot[int]]:
    """The workbench as `make demo` opens it, with read-ahead staged for the array of flash."""
    host = SimulatedHost(rack)
    app = WorkbenchApp(
        Workbench(host, paths=paths_in(tmp_path), advisor=advise),
        ScreenOptions(session=tmp_path / "session", config=tmp_path / "config.toml"),
    )
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        for key in (*TO_READ_AHEAD, "space"):
            await pilot.press(key)
            await settled(pilot)
        yield pilot


@pytest.mark.long
async def test_every_plan_of_an_ab_ends_within_a_minute_and_says_why(demo: Pilot[int]) -> None:
    plans: list[AbPlan] = []

    def kept(plan: AbPlan, host: Host) -> AbPlan:
        plans.append(with_speed(plan, host))
        return plans[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.features.ab.screen.with_speed", kept)
        await demo.press("B")
        await until(demo, lambda: isinstance(demo.app.screen, ExperimentDialog))
    waits = [plan.seconds / (plan.speed or 1.0) for plan in plans]
    assert len(waits) == 3
    assert max(waits) <= MINUTE < max(plan.seconds for plan in plans)
    assert "min" not in re.sub(r"esc .*|\bmin\w+", "", text_of(demo)).partition("standard:")[2].partition("No diff")[0]
    await heard(demo)
    await demo.press("enter")
    await until(demo, lambda: isinstance(demo.app.screen, ConfirmDialog))
    assert f"simulated {plans[0].speed:g} times as fast" in words_in(demo, ".dialog")


@pytest.mark.long
async def test_an_ab_by_keys_takes_the_time_of_the_simulation(demo: Pilot[int], rack: RackFile) -> None:
    app = app_of(demo)
    app.job_choice = (replace(profile("randread-4k").job, runtime=10, ramp=0), "randread-4k")
    await demo.press("B")
    await until(demo, lambda: isinstance(demo.app.screen, ExperimentDialog))
    await heard(demo)
    await demo.press("down", "enter")
    await until(demo, lambda: isinstance(demo.app.screen, ConfirmDialog))
    await answer(demo, "y")
    await until(demo, lambda: any(record.end for record in app.session.experiments))
    (record,) = app.session.experiments
    assert record.end is not None
    assert (record.end.status.value, record.end.restored, len(app.session.runs)) == ("ok", True, 6)
    assert rack.rack.now() - time.time() >= 6 * 10 * 0.9
