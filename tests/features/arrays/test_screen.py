"""Ticked drives become an array after their word, and what was made here goes again; by the keys, on the rack."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.core.changes.arrays.builder import ArrayBuilder
from app.core.workbench import Workbench
from app.features.arrays.screen import NewArrayScreen
from app.tui.app import WorkbenchApp
from app.tui.options import ScreenOptions
from backends.errors import ToolFailedError
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.table import MACHINES
from backends.system.wrapped import ReadOnlyHost
from tests.backends.simulator.asking import FAST
from tests.tui.stage import answer, heard, notices, paths_in, settled, text_in, text_of, until
from widgets.confirm import ConfirmDialog

TYPED = ("2", "minus", *"6f509a")


@asynccontextmanager
async def sheet(folder: Path, *, read_only: bool = False) -> AsyncIterator[Pilot[int]]:
    """The sheet over the rack with free drives, the cursor on the first of its disks."""
    host = SimulatedHost(MACHINES["arrays"](), speed=FAST)
    bench = Workbench(ReadOnlyHost(host) if read_only else host, paths=paths_in(folder))
    app = WorkbenchApp(bench, ScreenOptions(session=folder / "session"))
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("A")
        await until(pilot, lambda: isinstance(app.screen, NewArrayScreen) and "53 drives of 69" in text_of(pilot))
        while "scsi:sdb" not in (app.screen.query_one("#array-drives").cursor or ""):  # type: ignore[attr-defined]
            await pilot.press("down")
        yield pilot


def words(pilot: Pilot[int]) -> str:
    return " ".join(text_in(pilot, "#array-words").split())


@pytest.mark.long
async def test_what_would_be_made_is_told_as_drives_are_ticked(tmp_path: Path) -> None:
    async with sheet(tmp_path) as pilot:
        await pilot.press("space", "down", "space")
        assert words(pilot).startswith("raid0 of 2 drives, default strip: about 1.7")
        await pilot.press("plus", "plus")
        assert "RAID5 needs at least 3 drives, 2 were given." in words(pilot)
        await pilot.press("minus", "right_square_bracket", "right_square_bracket", "left_square_bracket")
        assert words(pilot).startswith("raid1 of 2 drives, strip 16 KiB: about 894 GiB")
        await pilot.press("space", "up", "space")
        assert words(pilot).startswith("53 drives of 69 are free for an array:")


@pytest.mark.long
async def test_a_blank_drive_shows_how_to_tick_and_its_model_where_there_is_room(tmp_path: Path) -> None:
    async with sheet(tmp_path) as pilot:
        await until(pilot, lambda: "Press space to select free drives" in text_in(pilot, "#array-help"))
        await pilot.resize_terminal(200, 60)
        await settled(pilot)
        assert "Model" in text_of(pilot)
        assert "hidden" not in text_of(pilot)


@pytest.mark.long
async def test_spans_are_chosen_among_those_that_the_drives_leave(tmp_path: Path) -> None:
    async with sheet(tmp_path) as pilot:
        await pilot.press("space", *["down", "space"] * 7)
        await pilot.press("greater_than_sign")
        assert "raid0 of 8 drives has no choice of spans." in notices(pilot)
        await pilot.press(*["plus"] * 4, *["greater_than_sign"] * 2)
        assert words(pilot).startswith("raid10 of 8 drives, 4 spans, default strip: about 3.49 TiB")
        await pilot.press("less_than_sign")
        assert words(pilot).startswith("raid10 of 8 drives, 2 spans, default strip")
        await pilot.press("a")
        await until(pilot, lambda: "md always creates a RAID10 without spans." in notices(pilot))
        await pilot.press("plus")
        assert words(pilot).startswith("raid50 of 8 drives, 2 spans, default strip: about 5.2")
        await pilot.press("a")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
        assert text_of(pilot).count("--level=raid5") == 2
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, NewArrayScreen))
        await pilot.press("space", "greater_than_sign")
        assert words(pilot).startswith(
            "raid50 of 7 drives, default strip: RAID50 of 7 drives cannot be divided into 2 spans."
        )


@pytest.mark.long
async def test_a_drive_that_is_not_free_says_why_and_is_not_ticked(tmp_path: Path) -> None:
    async with sheet(tmp_path) as pilot:
        table = pilot.app.screen.query_one("#array-drives")
        while table.cursor != "megaraid:/c0/e252/s6":  # type: ignore[attr-defined]
            await pilot.press("down")
        await pilot.pause()
        assert "it is a hot spare (GHS)" in text_in(pilot, "#array-help")
        await pilot.press("space", "a")
        assert "it is a hot spare" in notices(pilot)
        assert not isinstance(pilot.app.screen, ConfirmDialog)


async def ask(pilot: Pilot[int]) -> str:
    """Tick two drives as a mirror, and ask."""
    await pilot.press("space", "down", "space", "plus", "a")
    await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
    return text_of(pilot)


@pytest.mark.long
async def test_the_array_is_made_after_the_ends_of_the_serial_numbers_and_deleted_after_its_name(
    tmp_path: Path,
) -> None:
    async with sheet(tmp_path) as pilot:
        asked = await ask(pilot)
        assert "DESTROYS DATA" in asked
        assert "2-6f509a" in asked
        await answer(pilot, "tab", *TYPED, "enter", "enter")
        await until(pilot, lambda: "Created by raidbench: rb-" in text_of(pilot))
        made: ArrayBuilder = pilot.app.workbench.arrays  # type: ignore[attr-defined]
        (entry,) = made.journal.entries()
        await until(pilot, lambda: "drives of 69" in words(pilot))
        assert "51 drives of 69" in words(pilot)
        await pilot.press("home", "d")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
        assert "mdadm --stop /dev/md100" in text_of(pilot)
        keys = ["minus" if letter == "-" else letter for letter in entry.array.name]
        await answer(pilot, "tab", *keys, "enter", "enter")
        await until(pilot, lambda: "53 drives of 69" in text_of(pilot))
        assert made.journal.entries() == ()


@pytest.mark.long
@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 40), (200, 60)], ids=str)
async def test_many_drives_are_listed_and_confirmed_by_one_short_word(tmp_path: Path, size: tuple[int, int]) -> None:
    async with sheet(tmp_path) as pilot:
        await pilot.press("space", *["down", "space"] * 7, "plus", "plus")
        await pilot.resize_terminal(*size)
        await pilot.press("a")
        await until(pilot, lambda: isinstance(dialog := pilot.app.screen, ConfirmDialog) and dialog._opened)
        await heard(pilot)
        dialog = pilot.app.screen
        assert isinstance(dialog, ConfirmDialog)
        token = dialog.confirmation.required
        assert re.fullmatch("8-[0-9a-f]{6}", token)
        assert f"type {token}" in text_of(pilot)
        seen: set[str] = set()
        await pilot.press("tab", *["minus" if letter == "-" else letter for letter in token], "enter")
        while pilot.app.screen is dialog:
            seen |= set(re.findall(r"S47FNA0M20170\d|mdadm --create", text_of(pilot)))
            await pilot.press("enter")
            await pilot.pause()
        assert len(seen) == 9
        await until(pilot, lambda: len(pilot.app.workbench.arrays.journal.entries()) == 1)  # type: ignore[attr-defined]


@pytest.mark.long
async def test_without_the_word_nothing_is_made(tmp_path: Path) -> None:
    async with sheet(tmp_path) as pilot:
        await ask(pilot)
        await answer(pilot, "tab", "2", "minus", *"e8ca0c", "enter", "enter")
        assert isinstance(pilot.app.screen, ConfirmDialog)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, NewArrayScreen))
        assert pilot.app.workbench.arrays.journal.entries() == ()  # type: ignore[attr-defined]


async def test_a_read_only_workbench_asks_for_no_word(tmp_path: Path) -> None:
    async with sheet(tmp_path, read_only=True) as pilot:
        await pilot.press("space", "down", "space", "plus", "a")
        await until(pilot, lambda: "Read-only mode: arrays are neither created" in notices(pilot))
        assert not isinstance(pilot.app.screen, ConfirmDialog)


@pytest.mark.long
async def test_what_the_tool_refuses_is_told_and_the_drives_stay_ticked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*_words: object, **_more: object) -> None:
        raise ToolFailedError("rb-1 was not created: no luck.", hint="All its parts were deleted.")

    monkeypatch.setattr(ArrayBuilder, "create", refused)
    async with sheet(tmp_path) as pilot:
        await ask(pilot)
        await answer(pilot, "tab", *TYPED, "enter", "enter")
        await until(pilot, lambda: "no luck" in notices(pilot))
        await until(pilot, lambda: "raid1 of 2 drives" in words(pilot))


@pytest.mark.long
async def test_ticked_drives_are_taken_to_a_sweep_over_levels(tmp_path: Path) -> None:
    async with sheet(tmp_path) as pilot:
        await pilot.press("c")
        assert "No drive is selected." in text_of(pilot)
        await pilot.press("space", "down", "space", "c")
        await until(pilot, lambda: "arrays of 2 drives" in text_of(pilot))
        await pilot.press("down", "down", "space")
        await until(pilot, lambda: "Confirm with" in text_of(pilot))
        shown = text_of(pilot)
        assert "2-6f509a" in shown
        assert all(f"[x] {level}" in shown for level in ("raid0", "raid1"))
        await pilot.press("1")
        await until(pilot, lambda: "New array" not in text_of(pilot))


@pytest.mark.long
async def test_ticked_physical_volumes_become_a_volume_after_the_name_of_their_group(tmp_path: Path) -> None:
    async with sheet(tmp_path) as pilot:
        table = pilot.app.screen.query_one("#array-drives")
        while table.cursor != "lvm:data:nvme2n1":  # type: ignore[attr-defined]
            await pilot.press("down")
        await pilot.press("space", "down", "space", "a")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
        assert "/usr/sbin/lvcreate --yes" in text_of(pilot)
        assert "Volume group data and 2 drives" in text_of(pilot)
        await answer(pilot, "tab", *"data", "enter", "enter")
        await until(pilot, lambda: "Created by raidbench: rb-" in text_of(pilot))
        made: ArrayBuilder = pilot.app.workbench.arrays  # type: ignore[attr-defined]
        (entry,) = made.journal.entries()
        assert (str(entry.array.controller), entry.stage.value) == ("lvm:data", "made")


@pytest.mark.long
async def test_what_a_disk_system_takes_hours_for_is_shown_and_not_asked_about(tmp_path: Path) -> None:
    rack = MACHINES["ssds"]()
    rack.systems[0].unassigned = 2
    bench = Workbench(SimulatedHost(rack, speed=FAST), paths=paths_in(tmp_path))
    app = WorkbenchApp(bench, ScreenOptions(session=tmp_path / "session"))
    async with app.run_test(size=(160, 60)) as pilot:
        await settled(pilot)
        await pilot.press("A")
        await until(pilot, lambda: isinstance(app.screen, NewArrayScreen) and "free for an array" in words(pilot))
        while app.screen.query_one("#array-drives").cursor != "smcli:DS3400_A/drive 0,13":  # type: ignore[attr-defined]
            await pilot.press("down")
        await pilot.press("space", "down", "space", "a")
        await until(pilot, lambda: "A disk system needs hours to create" in notices(pilot))
        assert "create logicalDrive drives=(0,13 0,14) raidLevel=0" in notices(pilot)
        assert not isinstance(app.screen, ConfirmDialog)
