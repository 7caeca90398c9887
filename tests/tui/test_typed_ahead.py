"""Keys typed while a dialog is being prepared wait for it: none acts on the screen below, and none confirms."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

import app as program
from app.tui.app import WorkbenchApp
from tests.tui.stage import SECTOR, Table, app_of, heard, opened, text_of, until
from tests.tui.test_typed_twice import at_once, layers
from widgets import typed_keys

SCHEDULER = f"{SECTOR}/scheduler"


class Gate:
    """Lets a slow machine answer when the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> None:
        self.asked, self.opened = asyncio.Event(), asyncio.Event()
        slow: Callable[..., Any] = getattr(owner, name)

        async def gated(*given: Any, **named: Any) -> Any:
            self.asked.set()
            await self.opened.wait()
            return await slow(*given, **named)

        monkeypatch.setattr(owner, name, gated)


async def staged(pilot: Pilot[int]) -> None:
    """A scheduler is staged, the cursor is on its row."""
    await pilot.press("enter", "space")
    await until(pilot, lambda: app_of(pilot).staged)


async def held(pilot: Pilot[int]) -> None:
    """No key is under way, but those that wait."""
    app = app_of(pilot)
    await asyncio.sleep(0.05)
    await until(pilot, lambda: app._settling is None or app._is_opening)
    await pilot.pause()


@pytest.mark.long
async def test_keys_typed_while_changes_are_planned_do_nothing_below_and_apply_nothing(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(table) as pilot:
        await staged(pilot)
        before = dict(app_of(pilot).staged["block:sda"])
        gate = Gate(monkeypatch, table.bench.hardware, "plan_to_show")
        at_once(pilot, "a", "down", "space", "enter", "y", "tab", "enter", "2")
        await until(pilot, gate.asked.is_set)
        await held(pilot)
        assert layers(pilot) == ["DevicesScreen"]
        assert app_of(pilot).staged == {"block:sda": before}
        gate.opened.set()
        await until(pilot, lambda: "ConfirmDialog" in layers(pilot))
        await held(pilot)
        assert layers(pilot) == ["DevicesScreen", "ConfirmDialog"]
        await heard(pilot)
        assert table.host.written == []
        await pilot.press("y")
        await until(pilot, lambda: not app_of(pilot).staged)
        assert table.host.written == [(SCHEDULER, before["scheduler"])]


@pytest.mark.long
async def test_keys_after_a_command_of_the_palette_wait_too(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(table) as pilot:
        await staged(pilot)
        gate = Gate(monkeypatch, table.bench.hardware, "plan_to_show")
        await pilot.press("ctrl+p", *"apply")
        await until(pilot, lambda: "Plan all staged" in text_of(pilot) or "Apply" in text_of(pilot))
        at_once(pilot, "enter", "2", "y")
        await until(pilot, gate.asked.is_set)
        await held(pilot)
        assert layers(pilot) == ["DevicesScreen"]
        gate.opened.set()
        await until(pilot, lambda: layers(pilot) == ["DevicesScreen", "ConfirmDialog"])
        await held(pilot)
        assert (layers(pilot), table.host.written) == (["DevicesScreen", "ConfirmDialog"], [])


@pytest.mark.long
async def test_escape_ends_the_planning(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(table) as pilot:
        await staged(pilot)
        gate = Gate(monkeypatch, table.bench.hardware, "plan_to_show")
        at_once(pilot, "a", "y", "escape", "2")
        await until(pilot, lambda: layers(pilot) == ["BenchScreen"])
        gate.opened.set()
        await held(pilot)
        assert (layers(pilot), table.host.written) == (["BenchScreen"], [])
        assert all(worker.is_finished for worker in pilot.app.workers if worker.group == "review")


@pytest.mark.long
async def test_a_plan_that_takes_long_gives_the_keys_back_and_says_so(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(typed_keys, "MAX_OPENING_SECONDS", 0.1)
    async with opened(table) as pilot:
        await staged(pilot)
        gate = Gate(monkeypatch, table.bench.hardware, "plan_to_show")
        at_once(pilot, "a", "2")
        await until(pilot, lambda: "The keys typed ahead were dropped" in text_of(pilot))
        assert layers(pilot) == ["DevicesScreen"]
        at_once(pilot, "2")
        await until(pilot, lambda: layers(pilot) == ["BenchScreen"])
        gate.opened.set()


@pytest.mark.long
async def test_keys_typed_while_an_undo_is_planned_undo_nothing(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(table) as pilot:
        await staged(pilot)
        await pilot.press("a")
        await until(pilot, lambda: "ConfirmDialog" in layers(pilot))
        await heard(pilot)
        await pilot.press("y")
        await until(pilot, lambda: table.bench.changes.undoable() and not app_of(pilot).staged)
        await held(pilot)
        gate = Gate(monkeypatch, table.bench.changes, "plan_undo")
        written = list(table.host.written)
        at_once(pilot, "u", "y", "enter", "2")
        await until(pilot, gate.asked.is_set)
        await held(pilot)
        assert layers(pilot) == ["DevicesScreen"]
        gate.opened.set()
        await until(pilot, lambda: "ConfirmDialog" in layers(pilot))
        await held(pilot)
        assert (layers(pilot), table.host.written) == (["DevicesScreen", "ConfirmDialog"], written)


@pytest.mark.long
async def test_a_key_after_run_waits_until_it_is_clear_that_nothing_is_asked(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(table) as pilot:
        await pilot.press("2")
        gate = Gate(monkeypatch, table.bench.jobs, "prepare")
        at_once(pilot, "r", "3")
        await until(pilot, gate.asked.is_set)
        await held(pilot)
        assert layers(pilot) == ["BenchScreen"]
        gate.opened.set()
        await until(pilot, lambda: layers(pilot) == ["RunsScreen"])
        await until(pilot, lambda: table.bench.jobs.running)
        await pilot.press("escape")
        assert table.bench.jobs.running
        table.load.finish()
        await until(pilot, lambda: not table.bench.jobs.running)


@pytest.mark.long
async def test_escape_ends_the_checks_before_a_run(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(table) as pilot:
        await pilot.press("2")
        gate = Gate(monkeypatch, table.bench.jobs, "prepare")
        at_once(pilot, "r")
        await until(pilot, gate.asked.is_set)
        at_once(pilot, "escape")
        await until(pilot, lambda: not getattr(pilot.app.screen, "pending", True))
        gate.opened.set()
        await held(pilot)
        assert not table.bench.jobs.running
        assert getattr(pilot.app.screen, "not_run", "") == "not started"


def _callers(word: str) -> set[str]:
    root = Path(program.__file__).parent
    return {str(path.relative_to(root)) for path in root.rglob("*.py") if f".{word}(" in path.read_text()}


STARTED_ELSEWHERE = {
    "tui/exit_dialogs.py": {"tui/app.py"},
    "tui/bench/write_confirmation.py": {"tui/bench/screen.py", "features/ab/screen.py"},
    "tui/devices/staged_changes.py": {"tui/devices/screen.py"},
    "tui/devices/sort_columns.py": {"tui/devices/screen.py"},
    "features/ab/screen.py": {"features/ab/screen.py", "tui/runs/compare.py"},
    "features/sweep/screen/sweep_control.py": {"features/sweep/screen/screen.py"},
    "features/fleet/screen/multihost_run.py": {"tui/app.py"},  # on exit
}
"""Modules whose workers open dialogs, and the modules that start these workers for a key."""


def test_every_worker_that_opens_a_dialog_for_a_key_holds_the_keys_after_it() -> None:
    holding = _callers("hold_keys")
    for module in _callers("push_screen_wait"):
        assert STARTED_ELSEWHERE.get(module, {module}) <= holding, module
    assert {"features/history/screen.py", "tui/bench/job_selection.py"} <= holding  # they open without waiting
    assert issubclass(WorkbenchApp, typed_keys.OrderedKeysApp)
