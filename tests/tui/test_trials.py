"""A trial stands in no way: a line tells of it on every screen, and two keys decide it from there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from app.core.changes.changes import SessionChanges
from app.core.session.events import ChangeEnded
from app.core.workbench import Workbench
from app.tui import trials
from app.tui.app import WorkbenchApp
from app.tui.status_lines import TrialLine
from backends.model import Target
from tests.tui.conftest import stillness
from tests.tui.stage import Table, app_of, opened, set_table, settled, until
from widgets.guarded_dialog import GRACE

DISK = Target(backend="block", address="sda")
EVERY = ["1", "2", "3", "4", "5"]


class Clock:
    """The time of keys, as a test wants it."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@contextmanager
def unwatched() -> Iterator[None]:
    """Nobody takes it back: these tests do, or a key."""

    async def armed(self: SessionChanges, until: float) -> None:
        return None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SessionChanges, "_arm", armed)
        patch.setattr(trials, "_POLL_S", 0.0)
        yield


@pytest.fixture(autouse=True)
def no_watchdog() -> Iterator[None]:
    with unwatched():
        yield


async def read_ahead(bench: Workbench) -> str | None:
    return (await bench.hardware.read(DISK))["read_ahead_kb"].now


async def on_trial(pilot: Pilot[int], value: str = "512") -> tuple[WorkbenchApp, Clock]:
    """The app with a value on trial, long enough that keys count; the clock of its keys."""
    app, clock = app_of(pilot), Clock()
    app.trials._clock = clock
    async for _, ended in app.workbench.changes.apply_all(
        (await app.workbench.hardware.plan(DISK, "read_ahead_kb", value),), trial=60
    ):
        assert ended.result == "verified"
    app.show_header()
    clock.now += GRACE
    await settled(pilot)
    return app, clock


@dataclass(frozen=True)
class Decided:
    """A trial that a key decided on one of the screens."""

    shown: bool
    text: str
    """The line that tells of it."""
    before: str | None
    tried: str
    after: str | None
    """The value once it was decided."""


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> Mapping[tuple[str, str], Decided]:
    """One trial after another in one workbench, by screen and key."""
    table = set_table(tmp_path_factory.mktemp("decided"))

    async def decide(pilot: Pilot[int], screen: str, key: str) -> Decided:
        before = await read_ahead(table.bench)
        tried = "256" if before == "512" else "512"
        app, _ = await on_trial(pilot, tried)
        await pilot.press(screen)
        await settled(pilot)
        line = app.screen.query_one(TrialLine)
        shown, text = line.display, line.text
        await pilot.press(key)
        await until(pilot, lambda: not app.workbench.changes.trials() and not app.screen.query_one(TrialLine).display)
        return Decided(shown, text, before, tried, await read_ahead(table.bench))

    async def walk() -> Mapping[tuple[str, str], Decided]:
        async with opened(table, (80, 24)) as pilot:
            return {(screen, key): await decide(pilot, screen, key) for screen in EVERY for key in ("K", "u")}

    with stillness(), unwatched():
        return asyncio.run(walk())


@pytest.mark.parametrize("screen", EVERY)
def test_every_screen_tells_of_it_while_one_looks_around(
    decided: Mapping[tuple[str, str], Decided], screen: str
) -> None:
    trial = decided[screen, "K"]
    assert (trial.shown, "s left: Read-ahead of block:sda" in trial.text) == (True, True)


@pytest.mark.parametrize("screen", EVERY)
def test_shift_k_keeps_it_from_every_screen(decided: Mapping[tuple[str, str], Decided], screen: str) -> None:
    trial = decided[screen, "K"]
    assert trial.after == trial.tried


@pytest.mark.parametrize("screen", EVERY)
def test_u_takes_it_back_now_from_every_screen(decided: Mapping[tuple[str, str], Decided], screen: str) -> None:
    trial = decided[screen, "u"]
    assert trial.after == trial.before != trial.tried


@pytest.mark.long
async def test_the_line_names_both_keys_however_narrow_it_is(table: Table) -> None:
    async with opened(table, (80, 24)) as pilot:
        app, _ = await on_trial(pilot)
        assert app.screen.query_one(TrialLine).render_line(0).text.rstrip().endswith(" K Keep trial u Revert trial")


@pytest.mark.parametrize("key", ["k", "u"])
async def test_a_key_that_was_typed_before_it_could_be_seen_decides_nothing(table: Table, key: str) -> None:
    async with opened(table) as pilot:
        app, clock = await on_trial(pilot)
        clock.now -= 0.01
        await pilot.press(key)
        await settled(pilot)
        assert app.workbench.changes.trial_sets()


@pytest.mark.parametrize("key", ["k", "u"])
async def test_a_letter_in_a_field_is_a_letter(table: Table, key: str) -> None:
    async with opened(table) as pilot:
        app, _ = await on_trial(pilot)
        await pilot.press("slash", key)
        assert (app.screen.query_one(Input).value, app.workbench.changes.trial_sets() == ()) == (key, False)


async def test_without_a_trial_the_key_says_so(table: Table) -> None:
    async with opened(table) as pilot:
        await pilot.press("K")
        await pilot.pause()
        assert [notice.message for notice in app_of(pilot).notices.messages] == ["There is no trial."]


@pytest.mark.long
async def test_what_is_being_kept_is_not_told_to_be_over(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(table) as pilot:
        app, _ = await on_trial(pilot)
        read, may_read = app.workbench.hardware.read, asyncio.Event()

        async def slowly(target: Target) -> object:
            await may_read.wait()
            return await read(target)

        monkeypatch.setattr(app.workbench.hardware, "read", slowly)
        watching = asyncio.create_task(app.trials.wait_until_decided())
        keeping = asyncio.create_task(app.trials.keep_values())
        await until(pilot, lambda: not app.workbench.changes.trials())
        await pilot.pause()
        may_read.set()
        await asyncio.gather(watching, keeping)
        ends = [event.result for event in table.bench.session.events if isinstance(event, ChangeEnded)]
        assert ends == ["verified", "kept"]


async def test_when_its_time_is_over_that_is_told(table: Table) -> None:
    async with opened(table) as pilot:
        app, _ = await on_trial(pilot)
        (trial,) = app.workbench.changes.trials()
        await app.workbench.host.write("/sys/block/sda/queue/read_ahead_kb", trial.change.before or "")
        app.workbench.changes.journal.write_outcome(trial.id, app.workbench.require_recording(), "restored")
        await app.trials.wait_until_decided()
        await pilot.pause()
        assert [notice.message for notice in app.notices.messages] == [
            "The trial is over: the old values were restored."
        ]
