"""The simulated rack at 80x24, by somebody who has never seen it: every key is counted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.engine.workbench import Workbench
from app.tui.app import WorkbenchApp
from app.tui.options import ScreenOptions
from app.tui.screens.devices.device_list import DeviceList
from tests.backends.simulated.asking import still_host
from tests.tui.stage import answer, app_of, paths_in, settled, text_in, text_of, until

SSD = "megaraid:/c0/v1"
TO_READ_AHEAD = ("down", "down", "enter", "down")
"""From the start to the setting."""


@pytest.fixture
async def rack(tmp_path: Path) -> AsyncIterator[Pilot[int]]:
    """The workbench as `make demo` opens it, all found."""
    app = WorkbenchApp(
        Workbench(still_host(), paths=paths_in(tmp_path)),
        ScreenOptions(session=tmp_path / "session", trial_seconds=10.0, config=tmp_path / "config.toml"),
    )
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        yield pilot


def devices(pilot: Pilot[int]) -> DeviceList:
    return pilot.app.screen.query_one(DeviceList)


async def press(pilot: Pilot[int], *keys: str) -> int:
    """Key by key, as a person does who looks; how many that were."""
    for key in keys:
        await pilot.press(key)
        await settled(pilot)
    return len(keys)


async def apply(pilot: Pilot[int], key: str) -> int:
    """The review and its answer."""
    await pilot.press("a")
    await answer(pilot, key)
    await until(pilot, lambda: not any(worker.group == "write" for worker in pilot.app.workers))
    await settled(pilot)
    return 2


def in_force(pilot: Pilot[int]) -> str | None:
    """What the last change of the session left."""
    end = app_of(pilot).session.changes[-1].end
    return None if end is None else end.now


async def test_the_whole_rack_is_on_one_screen(rack: Pilot[int]) -> None:
    shown = text_in(rack, "#devices")
    assert [name in shown for name in ("system", "ssd", "flash", "vmstore", "archive", "md0", "nvme0n1")] == [True] * 7


async def test_one_key_finds_the_degraded_array(rack: Pilot[int]) -> None:
    await press(rack, "exclamation_mark")
    assert devices(rack).selected == "megaraid:/c2/v0"


async def test_read_ahead_is_changed_with_eight_keys_at_most_and_taken_back_with_two(rack: Pilot[int]) -> None:
    changed = await press(rack, *TO_READ_AHEAD, "space") + await apply(rack, "enter")
    assert (in_force(rack), changed <= 8) == ("read-ahead", True)
    await rack.press("u")
    await answer(rack, "enter")
    await until(rack, lambda: len(app_of(rack).session.changes) == 2 and in_force(rack) == "none")


async def test_the_review_says_in_words_what_of_which_array_moves_where(rack: Pilot[int]) -> None:
    await press(rack, *TO_READ_AHEAD, "space", "a")
    await until(rack, lambda: len(rack.app.screen_stack) > 1)
    assert "Read-ahead of ssd: none → read-ahead" in text_of(rack)


async def test_the_review_unfolds_how_it_is_taken_back(rack: Pilot[int]) -> None:
    await press(rack, *TO_READ_AHEAD, "space", "a")
    await until(rack, lambda: len(rack.app.screen_stack) > 1)
    folded = "undo: " in text_of(rack)
    await rack.press("u")
    await rack.pause()
    assert (folded, "undo: " in text_of(rack)) == (False, True)


async def test_the_list_shows_the_new_value_after_a_change(rack: Pilot[int]) -> None:
    await press(rack, *TO_READ_AHEAD, "space")
    await apply(rack, "enter")
    await press(rack, "escape")
    rows = {row.key: row for row in devices(rack).rows}
    at = devices(rack).shown.index("read-ahead")
    assert rows[SSD].cells[at].text == "read-ahead"  # type: ignore[union-attr]


async def test_a_trial_of_the_rack_takes_itself_back(rack: Pilot[int]) -> None:
    await press(rack, *TO_READ_AHEAD, "space")
    await rack.press("a")
    await answer(rack, "t")
    await until(rack, lambda: app_of(rack).workbench.trial_left() is not None)
    await until(rack, lambda: app_of(rack).session.changes[0].end and not app_of(rack).workbench.undoable())
    assert in_force(rack) == "none"


async def test_columns_and_order_are_kept_for_the_next_time(rack: Pilot[int]) -> None:
    await rack.press("s")
    await answer(rack, "down", "down", "enter")
    await rack.press("C")
    await answer(rack, "down", "enter")
    await answer(rack, "escape")
    kept = app_of(rack).options.config
    assert kept is not None
    await until(rack, lambda: kept.exists() and "devices_columns" in kept.read_text())
    assert ('devices_order = "size"' in kept.read_text(), '"kind"' in kept.read_text()) == (True, False)
