"""The simulated rack at 80x24, by somebody who has never seen it: every key is counted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.core.workbench import Workbench
from app.features.advice.rules import advise
from app.tui.app import WorkbenchApp
from app.tui.devices.device_list import DeviceList
from app.tui.options import ScreenOptions
from tests.backends.simulator.asking import still_host
from tests.tui.stage import answer, app_of, paths_in, settled, text_in, text_of, until

SSD = "megaraid:/c0/v1"
TO_READ_AHEAD = ("down", "down", "enter", "down")
"""From the start to the setting."""


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Pilot[int]]:
    """The workbench as `make demo` opens it, all found."""
    app = WorkbenchApp(
        Workbench(still_host(), paths=paths_in(folder), advisor=advise),
        ScreenOptions(session=folder / "session", trial_seconds=10.0, config=folder / "config.toml"),
    )
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        yield pilot


@pytest.fixture
async def rack(tmp_path: Path) -> AsyncIterator[Pilot[int]]:
    """One for a test alone."""
    async with opened(tmp_path) as pilot:
        yield pilot


def devices(pilot: Pilot[int]) -> DeviceList:
    return pilot.app.screen.query_one(DeviceList)


async def press(pilot: Pilot[int], *keys: str) -> int:
    """Key by key, as a person does who looks; how many that were."""
    for key in keys:
        await pilot.press(key)
        await settled(pilot)
    return len(keys)


async def answered(pilot: Pilot[int], key: str) -> int:
    """The answer to the review; how many keys that were."""
    await answer(pilot, key)
    await until(pilot, lambda: not any(worker.group == "write" for worker in pilot.app.workers))
    await settled(pilot)
    return 1


def in_force(pilot: Pilot[int]) -> str | None:
    """What the last change of the session left."""
    end = app_of(pilot).session.changes[-1].end
    return None if end is None else end.now


@dataclass(frozen=True)
class Walk:
    """To a setting, through its review, back to the list, and the change taken back."""

    list: str
    """The devices at the start."""
    review: str
    """The question, folded and unfolded."""
    unfolded: str
    keys: int
    """Pressed from the start until the value was in force."""
    changed: str | None
    in_the_list: str
    """The value as the list has it then."""
    undone: str | None
    """In force after two more keys."""
    degraded: str | None
    """Where two more keys lead."""


async def walk(folder: Path) -> Walk:
    async with opened(folder) as pilot:
        first = text_in(pilot, "#devices")
        keys = await press(pilot, *TO_READ_AHEAD, "space", "a")
        await until(pilot, lambda: len(pilot.app.screen_stack) > 1)
        review = text_of(pilot)
        await pilot.press("u")
        await pilot.pause()
        unfolded = text_of(pilot)
        keys += await answered(pilot, "enter")
        changed = in_force(pilot)
        await press(pilot, "escape")
        at = devices(pilot).shown.index("read-ahead")
        row = next(row for row in devices(pilot).rows if row.key == SSD)
        in_the_list = row.cells[at].text  # type: ignore[union-attr]
        await pilot.press("u")
        await answer(pilot, "enter")
        await until(pilot, lambda: len(app_of(pilot).session.changes) == 2 and in_force(pilot) is not None)
        undone = in_force(pilot)
        await press(pilot, "exclamation_mark", "enter")
        return Walk(first, review, unfolded, keys, changed, in_the_list, undone, devices(pilot).selected)


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    return asyncio.run(walk(tmp_path_factory.mktemp("rack")))


@pytest.mark.long
def test_the_whole_rack_is_on_one_screen(walked: Walk) -> None:
    names = ("system", "ssd", "flash", "vmstore", "archive", "md0", "nvme0n1")
    assert [name in walked.list for name in names] == [True] * 7


@pytest.mark.long
@pytest.mark.feature("check")
def test_two_keys_go_to_the_degraded_array(walked: Walk) -> None:
    assert walked.degraded == "megaraid:/c2/v0"


@pytest.mark.long
def test_read_ahead_is_changed_with_eight_keys_at_most_and_taken_back_with_two(walked: Walk) -> None:
    assert (walked.changed, walked.keys <= 8, walked.undone) == ("read-ahead", True, "none")


def test_the_review_says_in_words_what_of_which_array_moves_where(walked: Walk) -> None:
    assert "Read-ahead of ssd: none → read-ahead" in walked.review


def test_the_review_unfolds_how_it_is_taken_back(walked: Walk) -> None:
    assert ("undo: " in walked.review, "undo: " in walked.unfolded) == (False, True)


def test_the_list_shows_the_new_value_after_a_change(walked: Walk) -> None:
    assert walked.in_the_list == "on"


@pytest.mark.long
async def test_a_trial_of_the_rack_takes_itself_back(rack: Pilot[int]) -> None:
    await press(rack, *TO_READ_AHEAD, "space")
    await rack.press("a")
    await answer(rack, "t")
    await until(rack, lambda: app_of(rack).workbench.changes.trial_sets())
    await until(rack, lambda: app_of(rack).session.changes[0].end and not app_of(rack).workbench.changes.undoable())
    assert in_force(rack) == "none"


@pytest.mark.long
async def test_columns_and_order_are_kept_for_the_next_time(rack: Pilot[int]) -> None:
    await rack.press("s")
    await answer(rack, "down", "down", "enter")
    await rack.press("C")
    await answer(rack, *["down"] * 7, "enter")
    await answer(rack, "escape")
    kept = app_of(rack).options.config
    assert kept is not None
    await until(rack, lambda: kept.exists() and "devices_columns" in kept.read_text())
    assert ('devices_order = "size"' in kept.read_text(), '"kind"' in kept.read_text()) == (True, False)
