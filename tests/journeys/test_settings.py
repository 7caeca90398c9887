"""Looking at devices, staging a change, seeing what it does, applying it, taking it back: by keys alone."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from app.core.session.events import MachineFacts
from app.tui.devices.device_list import DeviceList
from app.tui.devices.screen import DevicesScreen
from app.tui.status_lines import KeyLine
from backends.model import Drive
from backends.vendors.block.backend import BlockBackend
from tests.backends.fakes import FakeHost
from tests.tui.conftest import stillness
from tests.tui.stage import (
    MACHINE,
    SECTOR,
    BrokenBackend,
    Moment,
    Table,
    answer,
    app_of,
    heard,
    host_of,
    moment,
    notices,
    opened,
    put,
    set_table,
    settled,
    text_in,
    text_of,
    until,
)
from widgets.choice_list import ChoiceDialog
from widgets.confirm import ConfirmDialog
from widgets.keyed_table import KeyedTable

AHEAD = f"{SECTOR}/read_ahead_kb"
SIZES = ((80, 24), (120, 40), (200, 60))
WRITE_CACHE = 7
"""Rows down to the setting that risks data."""


def selected(pilot: Pilot[int]) -> str | None:
    return pilot.app.screen.query_one(DeviceList).selected


def row_of(pilot: Pilot[int], words: str) -> str:
    """The line of the selected device that has these words."""
    return next(line for line in text_in(pilot, "#detail-pane").splitlines() if words in line)


async def stage(pilot: Pilot[int]) -> None:
    """Read-ahead of sda to 256."""
    await pilot.press("enter", "down", "space")
    await pilot.pause()


async def stage_again(pilot: Pilot[int]) -> None:
    """The same, wherever the cursor is."""
    await pilot.press("escape", "enter", "home", "down", "space")
    await pilot.pause()


def at_detail(pilot: Pilot[int], table: Table) -> Moment:
    """As it stands now, of the device alone."""
    shown = text_in(pilot, "#detail-pane")
    return replace(moment(pilot, table), text=shown)


async def apply(pilot: Pilot[int]) -> None:
    """Review what is staged and say yes."""
    await pilot.press("a")
    await answer(pilot, "enter")
    await until(pilot, lambda: not any(worker.group == "write" for worker in pilot.app.workers))
    await settled(pilot)


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Moment]:
    """Moments of one workbench in which nothing is applied, by what was done last."""
    table = set_table(tmp_path_factory.mktemp("looked"))

    async def walk() -> dict[str, Moment]:
        seen: dict[str, Moment] = {}
        async with opened(table) as pilot:
            assert selected(pilot) == "block:sda"
            seen["opened"] = moment(pilot, table)
            await pilot.press("t")
            await pilot.pause()
            seen["facts"] = at_detail(pilot, table)
            await pilot.press("t", "t")
            for key in ("a", "u"):
                await pilot.press(key)
                await pilot.pause()
                seen[key] = moment(pilot, table)
            await stage(pilot)
            seen["header"] = moment(pilot, table)
            seen["staged"] = at_detail(pilot, table)
            await pilot.press("a")
            await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
            seen["review"] = moment(pilot, table)
            await answer(pilot, "escape")
            seen["review left"] = moment(pilot, table)
            await pilot.press("backspace")
            seen["backspace"] = moment(pilot, table)
            await pilot.press("space", "left")
            seen["left"] = moment(pilot, table)
            await pilot.press("down")
            await settled(pilot)
            assert selected(pilot) != "block:sda"
            await pilot.press("up")
            await settled(pilot)
            seen["back"] = at_detail(pilot, table)
            await pilot.press("slash", *"nvme")
            await pilot.pause()
            seen["filtered"] = moment(pilot, table)
            await pilot.press("escape")
            await pilot.pause()
            seen["filter left"] = moment(pilot, table)
            await pilot.press("slash", *"aqu2R")
            seen[f"typed {pilot.app.screen.query_one('#filter', Input).value}"] = moment(pilot, table)
            await pilot.press("escape")
            await pilot.pause()
            await pilot.press("slash", *"nvme", "enter")
            await settled(pilot)
            seen["filter taken"] = moment(pilot, table)
        return seen

    with stillness():
        return asyncio.run(walk())


@pytest.mark.long
def test_all_disks_appear(looked: dict[str, Moment]) -> None:
    assert [name in looked["opened"].text for name in ("sda", "vda", "nvme0n1")] == [True] * 3


@pytest.mark.long
def test_the_first_disk_is_selected_and_its_facts_are_shown(looked: dict[str, Moment]) -> None:
    assert "ST4000NM0035" in looked["facts"].row("Model")


def test_a_filter_narrows_as_it_is_typed(looked: dict[str, Moment]) -> None:
    assert "vda" not in looked["filtered"].text


def test_escape_shows_everything_again(looked: dict[str, Moment]) -> None:
    assert "vda" in looked["filter left"].text


def test_letters_in_the_filter_are_only_letters(looked: dict[str, Moment]) -> None:
    assert "typed aqu2R" in looked


def test_a_filtered_device_can_be_chosen(looked: dict[str, Moment]) -> None:
    assert "─ nvme0n1 · " in looked["filter taken"].text


def test_space_stages_the_next_value(looked: dict[str, Moment]) -> None:
    assert "256 KiB" in looked["staged"].row("Read-ahead")


def test_the_header_counts_what_is_staged(looked: dict[str, Moment]) -> None:
    assert "1 staged" in looked["header"].text


def test_staging_changes_nothing(looked: dict[str, Moment]) -> None:
    assert looked["staged"].written == ()


def test_backspace_unstages(looked: dict[str, Moment]) -> None:
    assert looked["backspace"].staged == {}


def test_left_goes_back_and_stages_nothing(looked: dict[str, Moment]) -> None:
    assert looked["left"].staged == {"block:sda": {"read_ahead_kb": "256"}}


def test_a_staged_value_waits_while_other_devices_are_looked_at(looked: dict[str, Moment]) -> None:
    assert "256 KiB" in looked["back"].row("Read-ahead")


def test_the_review_shows_the_very_command(looked: dict[str, Moment]) -> None:
    assert f"$ echo 256 > {AHEAD}" in looked["review"].text


def test_a_review_of_nothing_says_how_to_stage(looked: dict[str, Moment]) -> None:
    assert "Nothing is staged. On a setting, ] stages the next value and enter lists all." in looked["a"].notices


def test_leaving_the_review_changes_nothing(looked: dict[str, Moment]) -> None:
    left = looked["review left"]
    assert (left.written, left.staged) == ((), {"block:sda": {"read_ahead_kb": "256"}})


@pytest.fixture(scope="module")
def applied(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Moment]:
    """Moments of one workbench in which values are applied and taken back, by what was done last."""
    table = set_table(tmp_path_factory.mktemp("applied"))

    async def walk() -> dict[str, Moment]:
        seen: dict[str, Moment] = {}
        async with opened(table) as pilot:
            await stage(pilot)
            await apply(pilot)
            seen["applied"] = at_detail(pilot, table)
            await pilot.press("u")
            await answer(pilot, "enter")
            await until(pilot, lambda: "undone" in text_in(pilot, "#detail-pane"))
            seen["undone"] = at_detail(pilot, table)
            await stage_again(pilot)
            await pilot.press("down", "space")
            await apply(pilot)
            seen["two"] = at_detail(pilot, table)
            await pilot.press("U")
            await answer(pilot, "enter")
            await until(pilot, lambda: not table.bench.changes.undoable())
            seen["all undone"] = at_detail(pilot, table)
            await stage_again(pilot)
            await apply(pilot)
            table.host.files[AHEAD] = "777"
            await pilot.press("u")
            await answer(pilot, "enter")
            await until(pilot, lambda: "Another program changed it." in notices(pilot))
            seen["somebody else"] = at_detail(pilot, table)
        return seen

    with stillness():
        return asyncio.run(walk())


def test_an_applied_value_is_read_back_and_verified(applied: dict[str, Moment]) -> None:
    shown = applied["applied"]
    assert ("● 256 KiB" in shown.row("Read-ahead"), "verified" in shown.text) == (True, True)


def test_undo_shows_how_and_brings_the_old_value_back(applied: dict[str, Moment]) -> None:
    assert applied["undone"].written == ((AHEAD, "256"), (AHEAD, "128"))


def test_after_undo_the_table_shows_the_old_value(applied: dict[str, Moment]) -> None:
    assert "128 KiB" in applied["undone"].row("Read-ahead")


def test_undo_all_takes_back_every_change_newest_first(applied: dict[str, Moment]) -> None:
    made = applied["two"].written
    undone = applied["all undone"].written[len(made) :]
    assert [path.rsplit("/", 1)[1] for path, _ in undone] == ["nr_requests", "read_ahead_kb"]


def test_what_somebody_else_changed_since_is_left_alone(applied: dict[str, Moment]) -> None:
    before, after = applied["all undone"].written, applied["somebody else"].written
    assert after[len(before) :] == ((AHEAD, "256"),)


@pytest.mark.long
async def test_what_is_being_set_is_told_while_it_is_set(table: Table) -> None:
    during: list[tuple[str, str, str]] = []

    def kernel(host: FakeHost, path: str, text: str) -> None:
        during.append((row_of(pilot, "Read-ahead"), row_of(pilot, "Queue size"), text_of(pilot)))
        host.files[path] = text

    table.host.kernel = kernel
    async with opened(table) as pilot:
        await stage(pilot)
        await pilot.press("down", "space")
        await apply(pilot)
        first, second = during
        assert ["◐ 128 KiB" in first[0], "… 64" in first[1]] == [True, True]
        assert ["● 256 KiB" in second[0], "◐ 64" in second[1]] == [True, True]
        assert "1 of 2: read-ahead of sda (128 KiB → 256 KiB) ..." in first[2]
        assert "◐" not in text_of(pilot)


async def test_a_change_that_is_refused_is_not_told_as_being_made(table: Table) -> None:
    table.host.refusing[AHEAD] = "Invalid argument"
    async with opened(table) as pilot:
        await stage(pilot)
        await pilot.press("down", "space")
        await apply(pilot)
        assert "◐" not in text_of(pilot)


@pytest.mark.long
async def test_an_undo_is_named_by_what_it_takes_back(table: Table) -> None:
    async with opened(table) as pilot:
        await stage(pilot)
        await apply(pilot)
        await pilot.press("u")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
        assert "Undo read-ahead of sda (256 KiB → 128 KiB)" in text_of(pilot)
        await answer(pilot, "enter")
        await until(pilot, lambda: "The change of read-ahead of sda is undone" in notices(pilot))


@pytest.mark.long
async def test_keys_typed_ahead_of_a_risky_review_are_passed_over(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widgets.confirm.GRACE", 3600.0)
    async with opened(table) as pilot:
        await risky(pilot)
        await pilot.press(*["enter", "y", "space"] * 7)
        await pilot.pause()
        assert table.host.written == []


@pytest.mark.parametrize("size", [(60, 15), *(pytest.param(size, marks=pytest.mark.long) for size in SIZES)], ids=str)
async def test_a_value_is_chosen_as_fast_as_it_is_typed(table: Table, size: tuple[int, int]) -> None:
    async with opened(table) as pilot:
        await pilot.press("escape", "enter", "home", *["down"] * WRITE_CACHE)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceDialog))
        await pilot.resize_terminal(*size)
        await pilot.press("down", "enter")
        await pilot.pause()
        assert not isinstance(pilot.app.screen, ChoiceDialog)
        assert app_of(pilot).staged["block:sda"].keys() == {"write_cache"}


@pytest.mark.parametrize(
    "size", [(60, 15), *(pytest.param(size, marks=pytest.mark.long) for size in SIZES[1:])], ids=str
)
async def test_y_applies_once_the_commands_were_on_the_screen(table: Table, size: tuple[int, int]) -> None:
    async with opened(table) as pilot:
        await stage(pilot)
        await pilot.resize_terminal(*size)  # a smaller one shows no settings
        await pilot.press("a")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
        await heard(pilot)
        command, shown = "read_ahead_kb", False
        while isinstance(dialog := pilot.app.screen, ConfirmDialog):
            shown = shown or command in text_of(pilot)
            below = app_of(pilot).screen_stack[-2]
            assert ("y", "More" if dialog.unread else "Apply") in (below.query_one(KeyLine).over or ())
            await pilot.press("y")
            await pilot.pause()
        await until(pilot, lambda: table.host.written)
        assert shown


async def test_a_kernel_that_does_otherwise_is_not_believed(table: Table) -> None:
    table.host.kernel = lambda host, path, text: host.files.update({path: "192"})
    async with opened(table) as pilot:
        await stage(pilot)
        await apply(pilot)
        shown = text_in(pilot, "#detail-pane")
        assert ("192 KiB" in row_of(pilot, "Read-ahead"), "differs" in shown) == (True, True)


async def test_a_kernel_that_refuses_is_quoted(table: Table) -> None:
    table.host.refusing[AHEAD] = "Invalid argument"
    async with opened(table) as pilot:
        await stage(pilot)
        await apply(pilot)
        assert "Invalid argument" in notices(pilot)


def test_there_is_nothing_to_undo_at_first(looked: dict[str, Moment]) -> None:
    assert "nothing to undo" in looked["u"].notices


async def test_without_root_a_setting_and_the_header_say_so(
    tmp_path: Path, still: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def facts(_host: object) -> MachineFacts:
        return replace(MACHINE, root=False)

    monkeypatch.setattr("app.core.session.recorder.machine_facts", facts)
    async with opened(set_table(tmp_path, host_of(root=False))) as pilot:
        assert "read-only" in text_of(pilot).splitlines()[0]
        await pilot.press("enter", "space")
        await pilot.pause()
        assert "needs root" in notices(pilot)


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Moment]:
    """Moments of one workbench in which values are chosen and typed, by what was done last."""
    table = set_table(tmp_path_factory.mktemp("chosen"))

    async def walk() -> dict[str, Moment]:
        seen: dict[str, Moment] = {}
        async with opened(table) as pilot:
            await pilot.press("enter", "enter")
            await answer(pilot, "down", "enter")
            seen["from the list"] = moment(pilot, table)
            await pilot.press("backspace", "down", "enter")
            await answer(pilot, "end", *["backspace"] * 8, *"99999999999", "enter")
            seen["too large"] = moment(pilot, table)
            await pilot.press("escape", "enter")
            await answer(pilot, "end", *["backspace"] * 8, *"512", "enter")
            seen["within range"] = moment(pilot, table)
        return seen

    with stillness():
        return asyncio.run(walk())


@pytest.mark.long
def test_enter_opens_the_choices_and_takes_one(chosen: dict[str, Moment]) -> None:
    assert list(chosen["from the list"].staged["block:sda"]) == ["scheduler"]


@pytest.mark.long
def test_a_number_out_of_range_is_not_taken(chosen: dict[str, Moment]) -> None:
    assert ("Not accepted" in chosen["too large"].text, chosen["too large"].staged) == (True, {})


def test_a_number_within_range_is_staged(chosen: dict[str, Moment]) -> None:
    assert chosen["within range"].staged == {"block:sda": {"read_ahead_kb": "512"}}


async def risky(pilot: Pilot[int]) -> None:
    """sda's write cache is staged and reviewed."""
    await pilot.press("escape", "enter", "home", *["down"] * WRITE_CACHE, "space", "a")
    await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
    await heard(pilot)


async def test_a_device_that_vanished_before_applying_is_refused(table: Table) -> None:
    async with opened(table) as pilot:
        await stage(pilot)
        await pilot.press("a")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
        for path in [path for path in table.host.files if path.startswith("/sys/block/sda/")]:
            del table.host.files[path]
        await answer(pilot, "enter")
        await until(pilot, lambda: "Not applied" in notices(pilot))
        assert table.host.written == []


async def test_a_rescan_finds_what_was_plugged_in(table: Table) -> None:
    async with opened(table) as pilot:
        table.host.files |= {
            path.replace("/sda/", "/sdb/"): "8:16" if path.endswith("/dev") else text
            for path, text in table.host.files.items()
            if path.startswith("/sys/block/sda/")
        }
        await pilot.press("R")
        await until(pilot, lambda: "sdb" in text_of(pilot))
        assert selected(pilot) == "block:sda"


async def test_a_device_that_vanishes_under_the_cursor_leaves_another_selected(table: Table) -> None:
    async with opened(table) as pilot:
        for path in [path for path in table.host.files if path.startswith("/sys/block/sda/")]:
            del table.host.files[path]
        await pilot.press("R")
        await until(pilot, lambda: "sda " not in text_of(pilot))
        await settled(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, DevicesScreen)
        assert (selected(pilot), screen.devices.selected, "I/O scheduler" in text_of(pilot)) == (
            "block:vda",
            "block:vda",
            True,
        )


async def test_a_backend_that_fails_is_a_sentence_and_the_rest_works(table: Table) -> None:
    put(table, "mega", BrokenBackend(error=RuntimeError("no [/] luck")))
    async with opened(table) as pilot:
        assert ("RuntimeError: no [/] luck" in text_of(pilot), "sda" in text_of(pilot)) == (True, True)


async def test_settings_that_cannot_be_read_are_a_sentence(table: Table) -> None:
    put(table, "block", BrokenBackend(BlockBackend(table.host), error=KeyError("strip")))
    async with opened(table) as pilot:
        assert "KeyError" in text_of(pilot)


async def test_a_plan_that_fails_is_a_sentence(table: Table) -> None:
    async with opened(table) as pilot:
        await stage(pilot)
        put(table, "block", BrokenBackend(BlockBackend(table.host), error=KeyError("strip")))
        await pilot.press("a")
        await until(pilot, lambda: "The changes cannot be planned" in notices(pilot))
        assert "KeyError" in notices(pilot)


async def test_nobody_waits_for_a_backend_that_thinks(table: Table) -> None:
    slow = BrokenBackend()
    put(table, "slow", slow)
    app = table.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.opened and "sda" in text_of(pilot) and "Read-ahead" in text_of(pilot))
        await stage(pilot)
        await pilot.press("a")
        await answer(pilot, "enter")
        await until(pilot, lambda: table.host.written)
        assert table.bench.session.probing


async def test_a_very_long_model_name_leaves_the_settings_their_room(tmp_path: Path, still: None) -> None:
    host = host_of(more={"/sys/block/sda/device/model": "X" * 4000})
    async with opened(set_table(tmp_path, host), (80, 24)) as pilot:
        await pilot.press("enter")
        await pilot.pause()
        assert "I/O scheduler" in text_of(pilot)


KEYS_OF_SCREENS = ("1", "2", "3", "5", "q")


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Moment]:
    """Moments of one workbench in which questions are answered, by what was pressed last."""
    table = set_table(tmp_path_factory.mktemp("asked"))

    async def walk() -> dict[str, Moment]:
        seen: dict[str, Moment] = {}
        async with opened(table) as pilot:
            seen[f"sda {type(app_of(pilot).session.inventory.find('block:sda')).__name__}"] = moment(pilot, table)
            await stage(pilot)
            await pilot.press("a")
            await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
            await heard(pilot)
            for key in KEYS_OF_SCREENS:
                await pilot.press(key)
                await pilot.pause()
                seen[key] = moment(pilot, table)
            await answer(pilot, "escape")
            seen[f"focus {type(pilot.app.focused).__name__}"] = moment(pilot, table)
            await pilot.press("backspace")
            await risky(pilot)
            await pilot.press("enter")
            await pilot.pause()
            seen["risk and enter"] = moment(pilot, table)
            await pilot.press("escape", "enter", "backspace")
            await risky(pilot)
            await pilot.press("y")
            await until(pilot, lambda: table.host.written)
            seen["risk and y"] = moment(pilot, table)
        return seen

    with stillness():
        return asyncio.run(walk())


@pytest.mark.long
def test_the_tree_knows_every_drive_by_its_target(asked: dict[str, Moment]) -> None:
    assert f"sda {Drive.__name__}" in asked


@pytest.mark.long
@pytest.mark.parametrize("key", KEYS_OF_SCREENS)
def test_a_dialog_keeps_the_keys_of_the_screens_to_itself(asked: dict[str, Moment], key: str) -> None:
    assert asked[key].screen is ConfirmDialog


def test_focus_returns_to_the_settings_after_a_dialog(asked: dict[str, Moment]) -> None:
    assert f"focus {KeyedTable.__name__}" in asked


def test_what_risks_data_is_not_applied_by_enter(asked: dict[str, Moment]) -> None:
    assert asked["risk and enter"].written == ()


def test_what_risks_data_is_applied_by_its_own_key(asked: dict[str, Moment]) -> None:
    assert asked["risk and y"].written == ((f"{SECTOR}/write_cache", "write through"),)
