"""The screens as pictures, on one machine at one moment: what a person sees on the way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Protocol

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from app.tui.app import WorkbenchApp
from tests.features.fleet.fleets import a_fleet
from tests.journeys.bench_walk import start
from tests.journeys.test_settings import apply, risky, stage
from tests.tui.stage import SIZES, Table, heard, settled, text_of, until
from widgets.confirm import ConfirmDialog


class Compare(Protocol):
    """The fixture of pytest-textual-snapshot."""

    def __call__(
        self, app: WorkbenchApp, *, terminal_size: tuple[int, int], run_before: Callable[[Pilot[int]], Awaitable[None]]
    ) -> bool: ...


async def devices(pilot: Pilot[int], table: Table) -> None:
    """What is there."""


async def staged(pilot: Pilot[int], table: Table) -> None:
    """A value is staged."""
    await stage(pilot)


async def review(pilot: Pilot[int], table: Table) -> None:
    """The question before it is applied."""
    await stage(pilot)
    await pilot.press("a")
    await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
    await heard(pilot)


async def careful(pilot: Pilot[int], table: Table) -> None:
    """The question before something that risks data."""
    await risky(pilot)
    pilot.app.clear_notifications()
    await pilot.pause()


async def verified(pilot: Pilot[int], table: Table) -> None:
    """It is applied and read back."""
    await stage(pilot)
    await apply(pilot)
    pilot.app.clear_notifications()
    await pilot.pause()


async def on_sda(pilot: Pilot[int]) -> None:
    """The hard disk is the target: its name is the same everywhere, a scratch folder's is not."""
    await pilot.press("m")
    await pilot.pause()


async def running(pilot: Pilot[int], table: Table) -> None:
    """A job runs."""
    await on_sda(pilot)
    await start(pilot, table, samples=24)


async def runs(pilot: Pilot[int], table: Table) -> None:
    """A finished run in the list."""
    await on_sda(pilot)
    await start(pilot, table, samples=8)
    table.load.finish()
    await until(pilot, lambda: not table.bench.jobs.running)
    await pilot.press("3")
    pilot.app.clear_notifications()
    await pilot.pause()


async def keys(pilot: Pilot[int], table: Table) -> None:
    """The keys of a screen."""
    await pilot.press("question_mark")
    await pilot.pause()


async def form(pilot: Pilot[int], table: Table) -> None:
    """Every field of the job."""
    await on_sda(pilot)
    await pilot.press("e")
    await pilot.pause()


async def log(pilot: Pilot[int], table: Table) -> None:
    """The session as it was."""
    await stage(pilot)
    await apply(pilot)
    pilot.app.clear_notifications()
    await pilot.press("5", "up", "enter")
    await pilot.pause()


async def hosts(pilot: Pilot[int], table: Table) -> None:
    """Many hosts, what is wrong first."""
    await until(pilot, lambda: "4 of 5 hosts answered" in text_of(pilot))
    await pilot.press("down")
    await pilot.pause()


async def host(pilot: Pilot[int], table: Table) -> None:
    """The devices of one of them."""
    await hosts(pilot, table)
    await pilot.press("enter")
    await until(pilot, lambda: "1 drive" in text_of(pilot))


FLEETS = ("hosts", "host")
"""Pictures that have hosts."""


@pytest.fixture(autouse=True)
def steady_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cursor that blinks is there or not as the machine was quick or slow."""
    monkeypatch.setattr(Input.cursor_blink, "_default", False)


PICTURES = (devices, staged, review, careful, verified, running, runs, keys, form, log, hosts, host)


@pytest.mark.long
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("story", PICTURES, ids=lambda story: story.__name__)
def test_picture(
    snap_compare: Compare,
    table: Table,
    story: Callable[[Pilot[int], Table], Awaitable[None]],
    size: str,
) -> None:

    if story.__name__ in FLEETS:
        table.options = replace(table.options, fleet=a_fleet().fleet())

    async def act(pilot: Pilot[int]) -> None:
        await settled(pilot)
        await story(pilot, table)

    assert snap_compare(table.app(), terminal_size=SIZES[size], run_before=act)
