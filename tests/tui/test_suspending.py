"""Ctrl-Z goes back to the shell, unless something would be spoilt by standing still; then it says what."""

from __future__ import annotations

import os
import signal
from types import SimpleNamespace
from typing import Any, cast

import pytest

from app.tui.app import WorkbenchApp
from app.tui.runner import SteadyDriver
from tests.journeys.bench_walk import start
from tests.tui.stage import Table, opened, text_of, until


@pytest.fixture
def suspended(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was suspended."""
    found: list[str] = []
    monkeypatch.setattr(WorkbenchApp, "action_suspend_process", lambda _: found.append("suspended"))
    monkeypatch.setattr("textual.drivers.headless_driver.HeadlessDriver.can_suspend", True)
    monkeypatch.setattr("app.tui.app.is_shell_job", lambda: True)
    return found


async def test_ctrl_z_goes_back_to_the_shell(table: Table, suspended: list[str]) -> None:
    async with opened(table) as pilot:
        await pilot.press("ctrl+z")
        assert suspended == ["suspended"]


@pytest.mark.long
async def test_during_a_job_it_is_refused_with_the_reason(table: Table, suspended: list[str]) -> None:
    async with opened(table) as pilot:
        await pilot.press("2")
        await start(pilot, table)
        await pilot.press("ctrl+z")
        await until(pilot, lambda: "Not suspended: a job is running" in text_of(pilot))
        assert suspended == []


async def test_where_no_shell_could_bring_it_back_it_is_refused(
    table: Table, suspended: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.tui.app.is_shell_job", lambda: False)
    async with opened(table) as pilot:
        await pilot.press("ctrl+z")
        await until(pilot, lambda: "there is no shell to return to" in text_of(pilot))
        assert suspended == []


@pytest.mark.parametrize("job", [True, False])
def test_make_stops_with_it_so_that_the_shell_has_the_terminal(monkeypatch: pytest.MonkeyPatch, job: bool) -> None:
    stopped = 0 if job else os.getpid()
    done: list[object] = []
    monkeypatch.setattr("app.tui.runner.is_shell_job", lambda: job)
    monkeypatch.setattr("app.tui.runner.os.kill", lambda *call: done.append(call))
    driver = cast("Any", SimpleNamespace(_auto_restart=True, suspend_application_mode=lambda: done.append("restored")))
    SteadyDriver._sigtstp_application(driver)
    assert (done, driver._must_signal_resume) == (["restored", (stopped, signal.SIGSTOP)], True)


async def test_ctrl_c_says_what_it_does_without_markup(table: Table) -> None:
    async with opened(table) as pilot:
        await pilot.press("ctrl+c")
        await until(pilot, lambda: "Ctrl+C copies the text selected with the mouse; q quits." in text_of(pilot))
        assert "[b]" not in text_of(pilot)
