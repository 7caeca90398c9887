"""E on Devices: settings as a file that `apply` takes."""

from __future__ import annotations

import errno
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.features.apply.export_screen import devices_to_export
from app.features.apply.exporting import _device_comment
from backends.model import Array, Controller, Drive, Inventory, Level, Scope, Target
from tests.tui.stage import Table, answer, notices, opened, text_of, until

CARD = Target(backend="mega", address="/c0", scope=Scope.CONTROLLER)
V0 = Target(backend="mega", address="/c0/v0", scope=Scope.ARRAY)
INVENTORY = Inventory(
    controllers=(Controller(target=CARD, vendor="mega", model="LSI 9361"),),
    arrays=(Array(target=V0, controller=CARD, name="data", device="/dev/sda"),),
    drives=(
        Drive(target=Target(backend="mega", address="/c0/e1/s0"), controller=CARD, array=V0),
        Drive(target=Target(backend="block", address="sda"), device="/dev/sda"),
        Drive(target=Target(backend="block", address="sdb"), device="/dev/sdb"),
    ),
)


def exported(at: str | None, *found: str) -> list[str]:
    return [str(one.target) for one in devices_to_export(INVENTORY, None if at is None else INVENTORY.find(at), found)]


def test_an_array_comes_with_the_queue_of_its_disk() -> None:
    assert exported("mega:/c0/v0") == ["mega:/c0/v0", "block:sda"]


def test_a_card_comes_with_all_behind_it() -> None:
    assert exported("mega:/c0") == ["mega:/c0", "mega:/c0/v0", "block:sda", "mega:/c0/e1/s0"]


def test_what_a_filter_finds_is_exported_wherever_the_cursor_is() -> None:
    assert exported("mega:/c0", "block:sdb", "mega:/c0/v0") == ["block:sdb", "mega:/c0/v0", "block:sda"]


@pytest.mark.parametrize(
    ("level", "comment"), [(Level.RAID5, "mega:/c0/v0: raid5, data"), (Level.UNKNOWN, "mega:/c0/v0: data")]
)
def test_the_comment_of_an_array_names_a_known_level(level: Level, comment: str) -> None:
    assert _device_comment(replace(INVENTORY.arrays[0], level=level)) == comment


def test_nothing_under_the_cursor_is_nothing() -> None:
    assert exported(None) == []


async def write_to(pilot: Pilot[int], file: Path, told: str) -> None:
    await pilot.press("E")
    await answer(pilot, *["backspace"] * 20, *str(file), "enter")
    await until(pilot, lambda: told in notices(pilot))


def selected(file: Path) -> list[str]:
    return sorted(one["select"]["address"] for one in tomllib.loads(file.read_text())["target"])


@pytest.mark.long
async def test_the_settings_of_the_selected_device_are_written(table: Table, tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    async with opened(table) as pilot:
        await pilot.press("down", "E")
        await until(pilot, lambda: "Write the settings of vda (block:vda) to" in text_of(pilot))
        await pilot.press("escape")
        await write_to(pilot, file, "Settings written to")
        await pilot.press("Y")
        assert pilot.app.clipboard == str(file)
    assert selected(file) == ["block:vda"]
    assert tomllib.loads(file.read_text())["target"][0]["set"]["read_ahead_kb"] == 128


@pytest.mark.long
async def test_a_filter_chooses_several(table: Table, tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    async with opened(table) as pilot:
        await pilot.press("slash", *"n", "enter", "E")
        await until(pilot, lambda: "Write the settings of 3 devices to" in text_of(pilot))
        await pilot.press("escape")
        await write_to(pilot, file, "Settings written to")
    assert selected(file) == ["block:nvme0n1", "block:sda", "block:vda"]


async def test_a_filter_that_finds_nothing_exports_nothing(table: Table) -> None:
    async with opened(table) as pilot:
        await pilot.press("slash", *"zzz", "enter", "E")
        assert "Nothing matches zzz" in notices(pilot)


@pytest.mark.long
async def test_over_an_older_file_comments_stay_and_values_are_those_of_now(table: Table, tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(
        "format = 1 # mine\n[[target]]\n# the root disk\nselect = {address = 'block:vda'}\nset = {read_ahead_kb = 8}\n"
    )
    async with opened(table) as pilot:
        await pilot.press("slash", *"vda", "enter")
        await write_to(pilot, file, "Settings written to")
    text = file.read_text()
    assert ("# mine" in text, "# the root disk" in text) == (True, True)
    assert tomllib.loads(text)["target"] == [{"select": {"address": "block:vda"}, "set": {"read_ahead_kb": 128}}]


@pytest.mark.long
async def test_a_file_of_something_else_is_left_alone(table: Table, tmp_path: Path) -> None:
    file = tmp_path / "notes"
    file.write_text("mine")
    async with opened(table) as pilot:
        await write_to(pilot, file, "The existing file is not valid TOML")
    assert file.read_text() == "mine"


@pytest.mark.long
@pytest.mark.parametrize(("number", "told"), [(errno.ENOSPC, "No space left"), (errno.EACCES, "Permission denied")])
async def test_what_cannot_be_written_is_told_and_leaves_what_was_there(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, told: str
) -> None:
    file = tmp_path / "s.toml"
    file.write_text("format = 1\n")

    def written(_path: str, _content: bytes) -> None:
        raise OSError(number, told)

    monkeypatch.setattr("backends.system.local.file_replacement._write_temporary", written)
    async with opened(table) as pilot:
        await write_to(pilot, file, f"s.toml could not be written: {told}.")
        assert "Cannot write the settings" in notices(pilot)
    assert (file.read_text(), [one.name for one in tmp_path.glob(".raidbench-*")]) == ("format = 1\n", [])
