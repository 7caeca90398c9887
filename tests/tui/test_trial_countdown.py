"""The header counts down what is on trial, on every screen."""

from __future__ import annotations

import pytest

from app.core.changes import changes
from app.core.session.events import ChangeEnded, ChangeIntended
from app.core.session.journal import boot_id
from app.core.workbench import Workbench
from app.tui.app import WorkbenchApp
from app.tui.header import HeaderLines
from tests.core.doubles import planned
from tests.tui.stage import NOON, Table, app_of, opened, settled


class Clock:
    """The boot clock, as a test wants it."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(changes, "boot_clock", made)
    return made


def on_trial(bench: Workbench, boot: str) -> None:
    """A change with 42 s left."""
    change = planned("128", "256")
    bench.emit(ChangeIntended(at=NOON, id="c1", change=change, undoes=None, boot=boot, trial_until=1041.2))
    bench.emit(ChangeEnded(at=NOON, id="c1", result="verified", now="256"))


def header(app: WorkbenchApp) -> str:
    """What the right side of the header in front says."""
    return " ".join(piece.text for piece in app.screen.query_one(HeaderLines).content.state)


@pytest.mark.long
async def test_every_screen_says_how_long_a_trial_lasts(table: Table, clock: Clock) -> None:
    async with opened(table) as pilot:
        on_trial(table.bench, boot_id())
        said = {}
        for screen in ("1", "2", "3", "4", "5"):
            await pilot.press(screen)
            await settled(pilot)
            said[screen] = "trial 42 s" in header(app_of(pilot))
        assert said == dict.fromkeys(said, True)


async def test_it_counts_down_and_goes_when_the_time_is_over(table: Table, clock: Clock) -> None:
    async with opened(table) as pilot:
        app = app_of(pilot)
        on_trial(table.bench, boot_id())
        said = []
        for clock.now in (1010.0, 1041.0, 1042.0):
            app._every_second()
            said.append("trial 32 s" in header(app) or "trial 1 s" in header(app))
        assert said == [True, True, False]


async def test_what_is_kept_is_not_counted(table: Table, clock: Clock) -> None:
    on_trial(table.bench, boot_id())
    table.bench.emit(ChangeEnded(at=NOON, id="c1", result="kept", now="256"))
    assert table.bench.changes.trial_sets() == ()


async def test_a_trial_of_before_a_reboot_is_not_counted(table: Table, clock: Clock) -> None:
    on_trial(table.bench, "another boot")
    assert table.bench.changes.trial_sets() == ()
