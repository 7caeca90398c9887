"""A trial that another session began is in the header of every screen, with the keys that decide it."""

from __future__ import annotations

import os
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.core.changes.changes import SessionChanges
from app.core.changes.pending_trials import Undecided
from app.core.session.journal import Journal, UnresolvedChange
from app.core.workbench import Workbench
from app.tui.header import HeaderLines
from app.tui.status_lines import TrialLine
from backends.model import Target
from tests.core.doubles import planned
from tests.tui.stage import SIZES, Table, answer, app_of, opened, settled, text_of, until
from widgets.guarded_dialog import GRACE

SDA, NVME = (Target(backend="block", address=name) for name in ("sda", "nvme0n1"))
KEY = "read_ahead_kb"


@pytest.fixture(autouse=True)
def no_watchdog(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody restores it but these tests."""

    async def armed(self: SessionChanges, until: float) -> None:
        return None

    monkeypatch.setattr(SessionChanges, "_arm", armed)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


async def begin(table: Table, name: str, target: Target = SDA, value: str = "512") -> Path:
    """Begin a trial in a session of another raidbench, which ends then; return the folder of the session."""
    earlier = Workbench(table.host, paths=table.bench.paths)
    earlier.hardware.machine = table.bench.hardware.machine
    folder = table.bench.paths.sessions / name
    await earlier.open(folder)
    await earlier.hardware.probe()
    change = await earlier.hardware.plan(target, KEY, value)
    async with aclosing(earlier.changes.apply_all((change,), trial=300)) as steps:
        assert [ended.result async for _, ended in steps] == ["verified"]
    earlier.close("killed")
    return folder


async def followed(pilot: Pilot[int]) -> Clock:
    """Let the workbench see what is on trial, long enough that keys count; return the clock of its keys."""
    app, clock = app_of(pilot), Clock()
    app.trials._clock = clock
    app.trials._since.clear()
    await app.trials.follow()
    app.show_header()
    clock.now += GRACE
    await settled(pilot)
    return clock


def line(pilot: Pilot[int]) -> str:
    shown = pilot.app.screen.query_one(TrialLine)
    return shown.render_line(0).text if shown.display else ""


def row_of(pilot: Pilot[int], name: str) -> str:
    """Return the row of a device on the screen of devices."""
    return next(row for row in text_of(pilot).split("\n") if f" {name} " in row)


async def value(table: Table, target: Target = SDA) -> str | None:
    return (await table.bench.hardware.read(target))[KEY].now


@pytest.mark.parametrize("size", [SIZES["small"], pytest.param(SIZES["large"], marks=pytest.mark.long)], ids=SIZES)
async def test_a_restart_shows_trial_deadline_and_keys_on_every_screen(table: Table, size: tuple[int, int]) -> None:
    await begin(table, "earlier")
    async with opened(table, size) as pilot:
        await followed(pilot)
        for screen in ("1", "2", "3", "4", "5"):
            await pilot.press(screen)
            await settled(pilot)
            header = " ".join(piece.text for piece in pilot.app.screen.query_one(HeaderLines).content.state)
            said = line(pilot)
            assert ("trial 300 s" in header or "trial 29" in header, "s left: Read-ahead" in said) == (True, True)
            assert said.rstrip().endswith("K Keep trial u Revert trial")


async def test_shift_k_keeps_it(table: Table) -> None:
    await begin(table, "earlier")
    async with opened(table) as pilot:
        await followed(pilot)
        await pilot.press("K")
        await until(pilot, lambda: not table.bench.changes.journal.trials() and not line(pilot))
        assert await value(table) == "512"


async def test_u_takes_it_back_now(table: Table) -> None:
    """The table of devices shows it, also of a device that is not in focus."""
    before = await value(table, NVME)
    await begin(table, "earlier", NVME)
    async with opened(table, (80, 24)) as pilot:
        await followed(pilot)
        row = row_of(pilot, "nvme0n1")
        assert "512K" in row
        await pilot.press("u")
        await until(pilot, lambda: not table.bench.changes.journal.trials() and not line(pilot))
        assert await value(table, NVME) == before != "512"
        await until(pilot, lambda: row_of(pilot, "nvme0n1") == row.replace("512K", "128K"))


async def test_u_leaves_alone_what_somebody_set_since(table: Table) -> None:
    await begin(table, "earlier")
    await table.bench.host.write("/sys/block/sda/queue/read_ahead_kb", "64")
    async with opened(table) as pilot:
        await followed(pilot)
        await pilot.press("u")
        await until(pilot, lambda: any("was not reverted" in one.text for one in app_of(pilot).notices.messages))
        assert await value(table) == "64"


@pytest.mark.parametrize(
    ("result", "told"), [("kept", "the new value was kept"), ("restored", "the old value was restored")]
)
async def test_the_header_follows_what_is_decided_elsewhere(table: Table, result: str, told: str) -> None:
    before = await value(table)
    session = await begin(table, "earlier")
    async with opened(table) as pilot:
        await followed(pilot)
        if result == "restored":
            await table.bench.host.write("/sys/block/sda/queue/read_ahead_kb", before or "")
        table.bench.changes.journal.write_outcome("c1", session, result)
        app_of(pilot)._every_second()
        await until(pilot, lambda: not line(pilot))
        assert any(told in one.message for one in app_of(pilot).notices.messages)


async def test_one_that_begins_elsewhere_meanwhile_comes_into_the_header(table: Table) -> None:
    async with opened(table) as pilot:
        await begin(table, "later")
        assert not line(pilot)
        app_of(pilot)._every_second()
        await until(pilot, lambda: "Read-ahead" in line(pilot))


@pytest.mark.long
@pytest.mark.parametrize(("choice", "left"), [(("enter",), ["nvme0n1"]), (("end", "enter"), [])])
async def test_of_several_each_can_be_decided(table: Table, choice: tuple[str, ...], left: list[str]) -> None:
    await begin(table, "one")
    await begin(table, "two", NVME, "1024")
    async with opened(table) as pilot:
        await followed(pilot)
        assert "2 trials" in line(pilot)
        await pilot.press("K")
        await answer(pilot, *choice)
        trials = table.bench.changes.journal.trials
        await until(pilot, lambda: sorted(one.change.target.address for one in trials()) == left)


async def test_anothers_is_shown_with_who_decides_it_and_without_keys(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials = Journal.trials
    monkeypatch.setattr(Journal, "trials", lambda self: tuple(replace(one, uid=4321) for one in trials(self)))
    await begin(table, "earlier")
    monkeypatch.setattr(Undecided, "is_decidable", False)
    async with opened(table) as pilot:
        await followed(pilot)
        said = line(pilot)
        assert ("user 4321 or root can confirm or revert it" in said, "Keep trial" in said) == (True, False)
        await pilot.press("K")
        await pilot.pause()
        assert "user 4321 or root can confirm or revert it" in app_of(pilot).notices.messages[-1].message
        assert table.bench.changes.journal.trials()


async def test_a_key_that_was_typed_before_it_could_be_seen_decides_nothing(table: Table) -> None:
    await begin(table, "earlier")
    async with opened(table) as pilot:
        clock = await followed(pilot)
        clock.now -= 0.01
        await pilot.press("K", "u")
        await settled(pilot)
        assert table.bench.changes.journal.trials()


def test_root_and_its_owner_decide(monkeypatch: pytest.MonkeyPatch, trial: UnresolvedChange) -> None:
    one = Undecided(trial, Journal(Path("/nonexistent")), 4321)
    allowed = []
    for uid in (0, 4321, 4322):
        monkeypatch.setattr("app.core.changes.pending_trials.os.geteuid", lambda uid=uid: uid)
        allowed.append(one.is_decidable)
    assert allowed == [True, True, False]


@pytest.fixture
def trial() -> UnresolvedChange:
    return UnresolvedChange(
        id="c1", session="/s", change=planned("1", "2"), at=0, pid=os.getpid(), boot="", start="", until=1.0
    )
