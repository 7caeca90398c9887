"""Columns and panes of the Devices screen stay where they are while the focus moves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.geometry import Region
from textual.pilot import Pilot

from app.core.workbench import Workbench
from app.features.advice.rules import advise
from app.tui.app import WorkbenchApp
from app.tui.devices.screen import DevicesScreen
from app.tui.devices.settings_panel import HELP_ROWS
from app.tui.options import ScreenOptions
from backends.model import Array, Drive
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.table import MACHINES
from tests.backends.simulator.asking import FAST
from tests.tui.conftest import read_nothing
from tests.tui.stage import paths_in, settled, text_in
from tests.tui.stage import text_of as screen_text
from widgets.keyed_table import KeyedTable
from widgets.pane import Pane
from widgets.table_layout import plain
from widgets.text_utils.text import ELLIPSIS

SIZES = ((80, 24), (120, 40), (200, 60))


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rates of devices change without any key."""
    monkeypatch.setattr("app.tui.activity_watch.ActivityWatch.read", read_nothing)


@asynccontextmanager
async def opened(folder: Path, name: str) -> AsyncIterator[Pilot[int]]:
    bench = Workbench(SimulatedHost(MACHINES[name](), speed=FAST), paths=paths_in(folder), advisor=advise)
    app = WorkbenchApp(bench, ScreenOptions(session=folder / "session"))
    async with app.run_test(size=SIZES[0]) as pilot:
        await settled(pilot)
        yield pilot


def devices_of(pilot: Pilot[int]) -> DevicesScreen:
    screen = pilot.app.screen
    assert isinstance(screen, DevicesScreen)
    return screen


def columns(table: KeyedTable) -> dict[str, tuple[int, int]]:
    """The visible columns of a table: first cell and width."""
    at, places = 0, {}
    for place in table._place():
        at += place.gap
        places[place.column.key] = (at, place.width)
        at += place.width
    return places


def layout(pilot: Pilot[int]) -> tuple[list[Region], dict[str, tuple[int, int]], dict[str, tuple[int, int]]]:
    """The regions of the visible panes, the columns of the list, and those of the settings."""
    screen = devices_of(pilot)
    return (
        [pane.region for pane in screen.query(Pane) if pane.display],
        columns(screen.devices) if screen.devices.region else {},
        columns(screen.panel.table) if screen.panel.table.region else {},
    )


def body(pilot: Pilot[int]) -> list[str]:
    """The lines of the panes."""
    region = Region.from_union([pane.region for pane in devices_of(pilot).query(Pane) if pane.display])
    return screen_text(pilot).splitlines()[region.y : region.bottom]


def first_row(screen: DevicesScreen, kind: type[Array | Drive]) -> str:
    """The first row of the list with a device of this kind."""
    inventory = screen.workbench_app.session.inventory
    return next(row.key for row in screen.devices.rows if isinstance(inventory.find(row.key), kind))


async def press(pilot: Pilot[int], *keys: str) -> None:
    await pilot.press(*keys)
    await settled(pilot)


async def still_at(pilot: Pilot[int], size: tuple[int, int], *kinds: type[Array | Drive]) -> None:
    """Go into the first device of each kind and back, and compare the screen after every key."""
    await pilot.resize_terminal(*size)
    await settled(pilot)
    screen = devices_of(pilot)
    for kind in kinds:
        screen.devices.go_to(first_row(screen, kind))
        screen._show_row()
        await settled(pilot)
        panes, listed, _ = before = layout(pilot)
        shown = body(pilot)
        await press(pilot, "enter")
        shows_facts = not screen._has_settings()  # then Enter goes to the facts, which may have their own pane
        assert screen.detail.holds_focus or shows_facts
        assert {"setting", "now", "risk"} <= columns(screen.panel.table).keys()
        if screen._shows_one_pane or shows_facts:
            assert layout(pilot)[0] == panes
        else:
            assert (layout(pilot), body(pilot)) == (before, shown)
        for key in ("escape", "right", "left", "enter", "tab", "escape"):
            if key == "right" and screen.devices.cursor_row and "▸" in plain(screen.devices.cursor_row.cells[0]):
                continue  # it expands the row
            if key in ("left", "escape") and not screen.is_inside:
                continue  # it collapses the row
            await press(pilot, key)
            assert layout(pilot)[0] == panes
            if screen.devices.region:
                assert columns(screen.devices) == listed
        await press(pilot, *["escape"] * screen.is_inside)
        assert shows_facts or body(pilot) == shown


def cut_names(screen: DevicesScreen) -> list[str]:
    """The names of usual length that are cut in the list."""
    inventory = screen.workbench_app.session.inventory
    _, width = columns(screen.devices)["name"]
    rows = [row for row in screen.devices.rows if not row.banner and inventory.find(row.key) is not None]
    return [name for row in rows if width < len(name := plain(row.cells[0])) <= 18]


@pytest.mark.long
async def test_enter_moves_the_focus_and_nothing_else(tmp_path: Path) -> None:
    async with opened(tmp_path, "lsi") as pilot:
        await still_at(pilot, (120, 40), Array)


@pytest.mark.long
@pytest.mark.parametrize("name", MACHINES)
async def test_at_every_size_keys_that_move_the_focus_leave_columns_and_panes_in_place(
    name: str, tmp_path: Path
) -> None:
    async with opened(tmp_path, name) as pilot:
        for size in SIZES:
            await still_at(pilot, size, Array, Drive)
            assert {"name", "level", "state", "write-cache"} <= columns(devices_of(pilot).devices).keys()
            assert not cut_names(devices_of(pilot))


@pytest.mark.long
async def test_who_looks_at_the_present_io_finds_the_columns_again_where_they_were(tmp_path: Path) -> None:
    async with opened(tmp_path, "lsi") as pilot:
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await settled(pilot)
            before = layout(pilot)
            await press(pilot, "v")
            assert "iops" in columns(devices_of(pilot).devices)
            await press(pilot, "v")
            assert layout(pilot) == before


def help_lines(pilot: Pilot[int]) -> list[str]:
    return text_in(pilot, "#setting-help").splitlines()


async def open_device(pilot: Pilot[int], row: str) -> DevicesScreen:
    screen = devices_of(pilot)
    screen.devices.go_to(row)
    await press(pilot, "enter")
    return screen


async def test_a_staged_value_its_risk_and_the_present_value_are_whole_and_move_no_column_at_80_columns(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path, "lsi") as pilot:
        screen = await open_device(pilot, "megaraid:/c0/v1")
        before, height = columns(screen.panel.table), screen.panel.table.size.height
        hint = screen_text(pilot).splitlines()[-2]
        await press(pilot, "]")
        line = next(line for line in screen_text(pilot).splitlines() if "> Write cache" in line)
        assert line.split()[1:6] == ["Write", "cache", "write-through", "write-back", "-"]
        assert (columns(screen.panel.table), screen.panel.table.size.height) == (before, height)
        assert screen_text(pilot).splitlines()[-2] == hint


@pytest.mark.long
async def test_the_help_has_all_rows_that_the_settings_leave_free(tmp_path: Path) -> None:
    async with opened(tmp_path, "lsi") as pilot:
        await pilot.resize_terminal(200, 60)
        screen = await open_device(pilot, "megaraid:/c0/v0")
        table = screen.panel.table
        assert not any(line.rstrip().endswith(ELLIPSIS) for line in help_lines(pilot))
        free = screen.panel.size.height - len(table.rows) - 2  # without the heading and the line above the help
        assert (table.size.height, len(help_lines(pilot))) == (len(table.rows) + 1, free)
        assert free > HELP_ROWS["-tall"]


async def test_where_no_row_is_free_the_help_explains_a_setting_in_several_lines(tmp_path: Path) -> None:
    async with opened(tmp_path, "linux") as pilot:
        screen = await open_device(pilot, "md:md1")
        position = screen.panel._position()
        assert position is not None
        assert position.setting.key == "resync_speed"
        assert position.setting.explained[:300] in " ".join(" ".join(help_lines(pilot)).split())
