"""A machine held against a named file of settings: counted, shown beside what is set, staged by one key."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.core.workbench import Workbench
from app.tui.app import WorkbenchApp
from app.tui.options import ScreenOptions
from tests.backends.simulator.asking import still_host
from tests.counting import counting_rack
from tests.tui.stage import (
    SECTOR,
    Table,
    app_of,
    notices,
    opened,
    paths_in,
    set_table,
    settled,
    text_in,
    text_of,
    until,
)

FILE = """format = 1
[[target]]
select = {address = "block:sda"}
[target.set]
nr_requests = 64
read_ahead_kb = 4096
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "good.toml"
    path.write_text(FILE)
    return path


@pytest.fixture
def held(tmp_path: Path, still: None, file: Path) -> Table:
    """The usual machine, held against the file: read_ahead_kb of sda is 128, nr_requests 64."""
    return set_table(tmp_path, state_file=file)


async def again(pilot: Pilot[int]) -> None:
    await pilot.press("R")
    await settled(pilot)


async def test_the_header_counts_what_differs(held: Table) -> None:
    async with opened(held) as pilot:
        assert "1 drifted (w)" in text_of(pilot).splitlines()[0]


async def test_without_a_file_nothing_is_said_of_drift(table: Table) -> None:
    async with opened(table) as pilot:
        assert "drifted" not in text_of(pilot)
        await pilot.press("enter")
        assert "Wanted" not in text_in(pilot, "#settings")
        await pilot.press("w")
        assert "No state file is configured" in notices(pilot)


async def test_the_value_of_the_file_stands_beside_the_one_that_is_set(held: Table) -> None:
    async with opened(held) as pilot:
        await pilot.press("w")
        await until(pilot, lambda: "line 6" in text_in(pilot, "#setting-help"))
        lines = [line.lstrip("> ") for line in text_in(pilot, "#settings").splitlines()]
        rows = {line.split("  ")[0]: line for line in lines}
        assert rows["Read-ahead"].split()[1:5] == ["128", "KiB", "4096", "KiB"]
        assert rows["Queue size"].count("64 requests") == 1
        assert "good.toml, line 6, requires 4096 KiB." in text_in(pilot, "#setting-help")


async def test_one_key_goes_there_and_stages_the_value(held: Table) -> None:
    async with opened(held) as pilot:
        await pilot.press("w")
        await until(pilot, lambda: "line 6" in text_of(pilot))
        assert app_of(pilot).staged == {}
        await pilot.press("w")
        assert app_of(pilot).staged == {"block:sda": {"read_ahead_kb": "4096"}}


async def test_what_is_set_so_is_drift_no_longer(held: Table) -> None:
    async with opened(held) as pilot:
        held.host.files[f"{SECTOR}/read_ahead_kb"] = "4096"
        await again(pilot)
        assert "drifted" not in text_of(pilot)
        await pilot.press("w")
        assert "No setting that was read differs from good.toml." in notices(pilot)


EVERYTHING = """format = 1
[[target]]
select = {vendor = "megaraid", kind = "array"}
[target.set]
read_ahead = "read-ahead"
strip_size = 131072
[[target]]
select = {vendor = "block", kind = "drive"}
optional = true
set = {read_ahead_kb = 4096}
"""


async def test_no_program_runs_for_it(tmp_path: Path, still: None) -> None:
    """The comparison with a file about every array and drive uses the values that were read for the screen.

    Not the programs of two starts are compared: how often the screen reads depends on which card answers first.
    """
    host, file = counting_rack("lsi"), tmp_path / "good.toml"
    file.write_text(EVERYTHING)
    app = WorkbenchApp(
        Workbench(host, paths=paths_in(tmp_path)), ScreenOptions(session=tmp_path / "session", state_file=file)
    )
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await until(pilot, lambda: all(worker.is_finished for worker in app.workers) and app.drifted.count > 0)
        before = app.drifted.count
        host.ran.clear()
        await app.drifted.update()
        assert (host.shown, app.drifted.count) == ([], before)


async def test_what_destroys_data_is_told_and_not_staged_by_the_key(tmp_path: Path, still: None) -> None:
    file = tmp_path / "good.toml"
    file.write_text('format = 1\n[[target]]\nselect = {address = "megaraid:/c0/v1"}\nset = {strip_size = 131072}\n')
    bench = Workbench(still_host(), paths=paths_in(tmp_path))
    app = WorkbenchApp(bench, ScreenOptions(session=tmp_path / "session", state_file=file))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("w")
        await until(pilot, lambda: "line 4, requires 128 KiB" in text_in(pilot, "#setting-help").replace("\n", " "))
        await pilot.press("w")
        assert "line 4, requires 128 KiB: this would destroy data or change its layout" in text_of(pilot)
        assert app.staged == {}


async def test_a_file_that_is_wrong_is_told_once_with_its_line(held: Table, file: Path) -> None:
    file.write_text(FILE.replace("4096", '"much"'))
    async with opened(held) as pilot:
        assert notices(pilot).count("good.toml, line 6: read_ahead_kb") == 1
        await again(pilot)
        assert notices(pilot).count("good.toml, line 6: read_ahead_kb") == 1
        assert "drifted" not in text_of(pilot).splitlines()[0]
        file.write_text(FILE)
        os.utime(file, (1, 1))
        await again(pilot)
        assert "1 drifted" in text_of(pilot)


async def test_a_file_that_is_gone_is_told(held: Table, file: Path) -> None:
    file.unlink()
    async with opened(held) as pilot:
        assert "good.toml: No such file or directory." in notices(pilot)


async def test_what_the_file_names_and_is_not_there_is_told(held: Table, file: Path) -> None:
    file.write_text(FILE + '[[target]]\nselect = {address = "block:sdz"}\nset = {read_ahead_kb = 128}\n')
    async with opened(held) as pilot:
        assert "Line 7: no device has address block:sdz." in notices(pilot)
        assert "1 drifted" in text_of(pilot)
