"""The end of the workbench, however it comes: what only the program itself watches over is taken back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing

import pytest

from app.core.workbench import Workbench
from app.tui.app import WorkbenchApp
from app.tui.runner import run_app
from tests.tui.stage import SECTOR, Table
from tests.tui.test_trials import DISK

AHEAD = f"{SECTOR}/read_ahead_kb"


async def on_trial(bench: Workbench) -> None:
    """A value on trial."""
    await bench.open()
    changes = (await bench.hardware.plan(DISK, "read_ahead_kb", "512"),)
    async with aclosing(bench.changes.apply_all(changes, trial=60)) as steps:
        async for _, ended in steps:
            assert ended.result == "verified"


class DuringATrial(WorkbenchApp):
    """It ends while a value is on trial."""

    then: Callable[[], None] = staticmethod(lambda: None)
    """What happens meanwhile."""

    def run(self, **_: object) -> int:
        asyncio.run(on_trial(self.workbench))
        self.then()
        return 129


@pytest.fixture
def ending(table: Table) -> DuringATrial:
    """A workbench on a machine that is made up."""
    table.host.made_up = table.bench.simulated = True
    return DuringATrial(table.bench, table.options)


def fails() -> None:
    """The workbench, for a reason that nobody expected."""
    raise KeyError("in a worker")


@pytest.mark.parametrize("then", [lambda: None, fails])
def test_a_trial_of_a_simulated_machine_is_taken_back_with_the_end(
    ending: DuringATrial, table: Table, then: Callable[[], None]
) -> None:
    before, ending.then = table.host.files[AHEAD], then
    run_app(ending)
    assert table.host.written == [(AHEAD, "512"), (AHEAD, before)]


def test_nothing_is_left_to_be_asked_about_at_the_next_start(ending: DuringATrial, table: Table) -> None:
    run_app(ending)
    assert (table.bench.session.changes[0].is_on_trial, table.bench.changes.journal.unresolved()) == (False, ())


def test_a_trial_that_a_watchdog_takes_back_is_left_to_it(ending: DuringATrial, table: Table) -> None:
    ending.then = lambda: setattr(table.bench.changes, "watches_itself", False)
    run_app(ending)
    assert table.host.files[AHEAD] == "512"


def test_what_could_not_be_taken_back_is_told(
    ending: DuringATrial, table: Table, capsys: pytest.CaptureFixture[str]
) -> None:
    ending.then = lambda: table.host.files.update({AHEAD: "64"})
    run_app(ending)
    assert "The trial was not reverted: " in capsys.readouterr().err
