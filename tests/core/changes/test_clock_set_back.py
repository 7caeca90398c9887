"""Somebody sets the clock back in the middle of a trial: the time since the machine began decides, and nothing else."""

from __future__ import annotations

import ast
import time
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from app.cli.simulated_watchdog import simulated_machine
from app.core.changes import changes, watchdog
from app.core.session.journal import boot_clock
from app.core.session.paths import Paths
from app.core.workbench import Workbench
from backends.model import Target
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles import STATE_FILE
from backends.simulator.profiles.lsi import demo_rack
from backends.simulator.state_file import RackFile
from tests.case_loop import loop_over
from tests.core.changes.test_trials import Trial, paths
from tests.core.doubles import planned

YEAR = 365 * 86_400.0
APP = Path(__file__).parents[3] / "app"
DECIDING = (
    *sorted((APP / "core/changes").glob("*.py")),
    APP / "core/session/journal.py",
    APP / "privsep/change_verbs.py",
)


@pytest.fixture
def shift(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that the wall clock is wrong by."""
    real, by = time.time, [0.0]
    monkeypatch.setattr(time, "time", lambda: real() + by[0])
    return by


@pytest.mark.parametrize("by", [-YEAR, YEAR], ids=["back", "forward"])
async def test_a_trial_ends_at_its_time_whatever_the_clock_is_set_to(
    tmp_path: Path, shift: list[float], by: float
) -> None:
    bench = Trial(tmp_path)
    until = boot_clock() + 0.2
    await bench.changer.apply(planned("128", "256"), until=until)
    shift[0] = by
    result = await watchdog.watch(paths(tmp_path), str(bench.folder), until, {"fake": bench.backend})
    assert (result, bench.backend.value) == ("restored", "128")
    assert boot_clock() >= until


async def test_a_trial_that_was_kept_under_an_earlier_clock_is_kept(tmp_path: Path, shift: list[float]) -> None:
    bench = Trial(tmp_path)
    until = boot_clock() + 3600
    await bench.changer.apply(planned("128", "256"), until=until)
    shift[0] = -YEAR
    (trial,) = bench.journal.trials_of(bench.folder, until)
    bench.journal.write_outcome(trial.id, bench.folder, "kept")
    result = await watchdog.watch(paths(tmp_path), str(bench.folder), until, {"fake": bench.backend})
    assert (result, bench.backend.value) == ("kept", "256")


def asks(file: Path) -> Iterator[tuple[int, bool]]:
    """Lines in which a module asks for the wall clock, and whether it only notes it as `at`."""
    tree = ast.parse(file.read_text())
    noted = {
        id(value)
        for node in ast.walk(tree)
        for name, value in (
            *((one.arg, one.value) for one in getattr(node, "keywords", ())),
            *(zip(map(_word, node.keys), node.values, strict=True) if isinstance(node, ast.Dict) else ()),
        )
        if name == "at"
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("time.time", "time.time_ns", "datetime.now"):
            yield node.lineno, id(node) in noted


def _word(key: ast.expr | None) -> object:
    return key.value if isinstance(key, ast.Constant) else None


@loop_over("file", DECIDING, ids=lambda file: file.name)
def test_the_wall_clock_is_noted_and_decides_nothing(file: Path) -> None:
    assert [line for line, noted in asks(file) if not noted] == []


def test_where_the_wall_clock_is_noted_that_is_seen() -> None:
    assert any(noted for file in DECIDING for _, noted in asks(file))


@pytest.mark.parametrize("by", [-YEAR, YEAR], ids=["back", "forward"])
async def test_a_trial_of_a_simulated_machine_ends_at_its_time_whatever_the_clock_is_set_to(
    tmp_path: Path, shift: list[float], by: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def arm(*_: object) -> None:
        """Start no process: its clock would be its own."""

    monkeypatch.setattr(changes, "arm", arm)
    monkeypatch.setattr(changes, "check_seconds", lambda seconds: seconds)
    own = Paths.below(tmp_path, "lsi")
    file = RackFile(own.state / STATE_FILE, make=demo_rack)
    bench = Workbench(SimulatedHost(file, apart="lsi", shares_watchdog=True), paths=own)
    await bench.open()
    await bench.hardware.probe()
    change = await bench.hardware.plan(Target(backend="block", address="sda"), "read_ahead_kb", "2048")
    async with aclosing(bench.changes.apply_all([change], trial=2)) as outcomes:
        assert [ended.result async for _, ended in outcomes] == ["verified"]
    shift[0] = by
    (trial,) = bench.changes.trials()
    assert trial.until is not None
    found = await watchdog.rehearse(own, str(bench.folder), trial.until, simulated_machine)
    assert await watchdog.watch(own, str(bench.folder), trial.until, found) == "restored"
    assert boot_clock() >= trial.until
    assert file.rack.queues == {} or file.rack.queues["sda"]["read_ahead_kb"] == "128"
    bench.close()
