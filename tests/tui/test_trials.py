"""A trial stands in no way: a line tells of it on every screen, and two keys decide it from there."""

from __future__ import annotations

import asyncio

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from app.engine.change.changes import Changes
from app.engine.session.events import ChangeEnded
from app.engine.workbench import Workbench
from app.tui import trials
from app.tui.app import WorkbenchApp
from app.tui.lines import TrialLine
from backends.model import Target
from tests.tui.stage import Table, app_of, opened, settled, until
from widgets.guard import GRACE

DISK = Target(backend="block", address="sda")
EVERY = ["1", "2", "3", "4", "5"]


class Clock:
    """The time of keys, as a test wants it."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def no_watchdog(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody takes it back: these tests do, or a key."""

    async def armed(self: Changes, until: float) -> None:
        return None

    monkeypatch.setattr(Changes, "_arm", armed)
    monkeypatch.setattr(trials, "_LOOK_AGAIN", 0.0)


async def read_ahead(bench: Workbench) -> str | None:
    return (await bench.read(DISK))["read_ahead_kb"].now


async def on_trial(pilot: Pilot[int]) -> tuple[WorkbenchApp, Clock]:
    """The app with a value on trial, long enough that keys count; the clock of its keys."""
    app, clock = app_of(pilot), Clock()
    app.trials._clock = clock
    async for _, ended in app.workbench.apply_all((await app.workbench.plan(DISK, "read_ahead_kb", "512"),), trial=60):
        assert ended.result == "verified"
    app.show_header()
    clock.now += GRACE
    await settled(pilot)
    return app, clock


@pytest.mark.parametrize("screen", EVERY)
async def test_every_screen_tells_of_it_while_one_looks_around(table: Table, screen: str) -> None:
    async with opened(table, (80, 24)) as pilot:
        app, _ = await on_trial(pilot)
        await pilot.press(screen)
        await settled(pilot)
        line = app.screen.query_one(TrialLine)
        assert (line.display, "s left: Read-ahead of block:sda" in line.text) == (True, True)


async def test_the_line_names_both_keys_however_narrow_it_is(table: Table) -> None:
    async with opened(table, (80, 24)) as pilot:
        app, _ = await on_trial(pilot)
        assert app.screen.query_one(TrialLine).render_line(0).text.rstrip().endswith(" K Keep trial u Take back")


@pytest.mark.parametrize("screen", EVERY)
async def test_shift_k_keeps_it_from_every_screen(table: Table, screen: str) -> None:
    async with opened(table) as pilot:
        app, _ = await on_trial(pilot)
        await pilot.press(screen, "K")
        await until(pilot, lambda: not app.workbench.trials() and not app.screen.query_one(TrialLine).display)
        assert await read_ahead(app.workbench) == "512"


@pytest.mark.parametrize("screen", EVERY)
async def test_u_takes_it_back_now_from_every_screen(table: Table, screen: str) -> None:
    async with opened(table) as pilot:
        before = await read_ahead(table.bench)
        app, _ = await on_trial(pilot)
        await pilot.press(screen, "u")
        await until(pilot, lambda: not app.workbench.trials() and not app.screen.query_one(TrialLine).display)
        assert await read_ahead(app.workbench) == before


@pytest.mark.parametrize("key", ["k", "u"])
async def test_a_key_that_was_typed_before_it_could_be_seen_decides_nothing(table: Table, key: str) -> None:
    async with opened(table) as pilot:
        app, clock = await on_trial(pilot)
        clock.now -= 0.01
        await pilot.press(key)
        await settled(pilot)
        assert app.workbench.trial_left() is not None


@pytest.mark.parametrize("key", ["k", "u"])
async def test_a_letter_in_a_field_is_a_letter(table: Table, key: str) -> None:
    async with opened(table) as pilot:
        app, _ = await on_trial(pilot)
        await pilot.press("slash", key)
        assert (app.screen.query_one(Input).value, app.workbench.trial_left() is None) == (key, False)


async def test_without_a_trial_the_key_says_so(table: Table) -> None:
    async with opened(table) as pilot:
        await pilot.press("K")
        await pilot.pause()
        assert [notice.message for notice in app_of(pilot).notices.said] == ["Nothing is on trial."]


async def test_what_is_being_kept_is_not_told_to_be_over(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(table) as pilot:
        app, _ = await on_trial(pilot)
        read, may_read = app.workbench.read, asyncio.Event()

        async def slowly(target: Target) -> object:
            await may_read.wait()
            return await read(target)

        monkeypatch.setattr(app.workbench, "read", slowly)
        watching = asyncio.create_task(app.trials.watch())
        keeping = asyncio.create_task(app.trials.kept())
        await until(pilot, lambda: not app.workbench.trials())
        await pilot.pause()
        may_read.set()
        await asyncio.gather(watching, keeping)
        ends = [event.result for event in table.bench.session.events if isinstance(event, ChangeEnded)]
        assert ends == ["verified", "kept"]


async def test_when_its_time_is_over_that_is_told(table: Table) -> None:
    async with opened(table) as pilot:
        app, _ = await on_trial(pilot)
        (trial,) = app.workbench.trials()
        await app.workbench.host.write("/sys/block/sda/queue/read_ahead_kb", trial.change.before or "")
        app.workbench.journal.outcome(trial.id, app.workbench.need_recording(), "restored")
        await app.trials.watch()
        await pilot.pause()
        assert [notice.message for notice in app.notices.said] == ["The trial is over: the old values are back."]
