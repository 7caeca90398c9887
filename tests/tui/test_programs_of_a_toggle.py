"""A toggle starts few programs, from its key to the value read back and shown: each costs a card seconds."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.core.session.event_types import with_ratings
from app.core.workbench import Workbench
from app.tui.app import WorkbenchApp
from app.tui.devices.screen import DevicesScreen
from app.tui.options import ScreenOptions
from backends.model import Controller
from backends.registry import MachineBackends
from tests.counting import CountingHost, counting_rack
from tests.tui.stage import answer, paths_in, settled, until

TOGGLES = {
    "lsi": (
        ("megaraid:/c0", "rebuild_rate", "40", 0),
        ("megaraid:/c0/v1", "read_ahead", "read-ahead", 0),
        ("megaraid:/c0/v1", "auto_bgi", "off", 0),
        ("scsi:sdb", "queue_depth", "32", 0),
        ("block:sdb", "scheduler", "mq-deadline", 0),
        ("md:md0", "bitmap", "none", 0),
    ),
    "hpe": (
        ("smartarray:/slot0", "cache_ratio", "50/50", 0),
        ("smartarray:/aac1/ld0", "read_cache", "off", 0),
        ("smartarray:/arc2", "cache_ratio", "50/50", 2),  # an old arcconf shows the old value once more
        ("smcli:DS4700_A/fast", "read_cache", "off", 0),
    ),
    "linux": (
        ("bcache:bcache0", "cache_mode", "write-around", 0),
        ("lvm:vg0/db", "writeback_jobs", "512", 0),
        ("md:md1", "bitmap", "none", 0),
        ("zfs:/module", "zfs_prefetch_disable", "1", 0),
        ("zfs:tank", "compression", "off", 3),  # who inherits it is asked for, and read again: two datasets
        ("zfs:tank/files", "recordsize", "1048576", 0),
    ),
}
"""By rack: target, key, a value that it does not have, and programs besides."""


@pytest.mark.long
@pytest.mark.parametrize("rack", TOGGLES)
async def test_a_toggle_and_its_undo_start_twice_what_one_reading_takes_and_what_sets_it(
    tmp_path: Path, rack: str
) -> None:
    host = counting_rack(rack)
    bench = Workbench(host, paths=paths_in(tmp_path))
    app = WorkbenchApp(bench, ScreenOptions(session=tmp_path / "session"))
    async with app.run_test(size=(140, 45)) as pilot, asyncio.timeout(300):
        await settled(pilot)
        for target, key, value, besides in TOGGLES[rack]:
            await _select(pilot, app, host, target)
            whole = await _reading(bench, host, target)
            for pressed in ("a", "u"):
                if pressed == "a":
                    app.stage(target, key, value)
                host.ran.clear()
                done = len(app.session.changes)
                await pilot.press(pressed)
                await answer(pilot, "enter")
                await until(pilot, partial(_ended, app, done))
                await _quiet(pilot, app, host)
                ended = app.session.changes[-1].end
                assert ended is not None
                assert ended.result == "verified", ended.message
                assert len(host.ran) <= 2 * whole + host.sets + besides, (pressed, host.shown)
                assert _shown(app, target, key) in (ended.now, None), (pressed, target)
            kept = app.session.inventory
            assert kept == with_ratings(await MachineBackends.of(host).probe(), bench.endurance_ratings), target


async def test_read_ahead_asks_no_battery(tmp_path: Path) -> None:
    host = counting_rack("lsi")
    bench = Workbench(host, paths=paths_in(tmp_path))
    await bench.open(tmp_path / "session")
    await bench.hardware.probe()
    target = (await bench.hardware.find("megaraid:/c0/v1")).target
    await bench.hardware.read(target)
    host.ran.clear()
    (change,) = await bench.hardware.plan_to_show(target, {"read_ahead": "read-ahead"})
    ends = [ended.result async for _, ended in bench.changes.apply_all((change,))]
    assert ends == ["verified"]
    assert [line.split(" ", 1)[1] for line in host.shown] == [
        "/c0/v1 show all J nolog",
        "/c0/v1 set rdcache=ra J nolog",
        "/c0/v1 show all J nolog",
    ]


async def _select(pilot: Pilot[int], app: WorkbenchApp, host: CountingHost, target: str) -> None:
    """Put the cursor on the target, or on what the list shows in its place; wait until nothing is asked any more."""
    inventory = app.session.inventory
    thing = inventory.find(target)
    assert thing is not None
    device = None if isinstance(thing, Controller) else thing.device
    rows = {target} | {str(view.target) for view in (inventory.at(device) if device else ())}
    screen = app.screen
    assert isinstance(screen, DevicesScreen)
    screen.devices.cursor = next(row.key for row in screen.devices.rows if row.key in rows)
    await until(pilot, lambda: screen.devices.selected in rows and screen.panel.parts)
    await _quiet(pilot, app, host)


async def _reading(bench: Workbench, host: CountingHost, target: str) -> int:
    """How many programs one whole reading takes."""
    host.ran.clear()
    await bench.hardware.read((await bench.hardware.find(target)).target)
    return len(host.ran)


async def _quiet(pilot: Pilot[int], app: WorkbenchApp, host: CountingHost) -> None:
    """Until nothing has been started for a while, and nothing is under way."""
    still, before = 0, -1
    while still < 6:
        await asyncio.sleep(0.02)
        busy = app.session.probing or any(not worker.is_finished for worker in app.workers if worker.group != "session")
        still = 0 if busy or len(host.ran) != before else still + 1
        before = len(host.ran)


def _ended(app: WorkbenchApp, done: int) -> bool:
    """Whether a change after the first so many is over."""
    return any(one.end is not None for one in app.session.changes[done:])


def _shown(app: WorkbenchApp, target: str, key: str) -> str | None:
    """What the screen says; None where the target's settings are not on it."""
    screen = app.screen
    assert isinstance(screen, DevicesScreen)
    return next((part.readings[key].now for part in screen.panel.parts if part.target == target), None)
