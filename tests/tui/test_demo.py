"""The workbench on the simulated rack."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.workbench import Workbench
from app.features.advice.rules import advise
from app.tui.app import WorkbenchApp
from app.tui.bench.screen import BenchScreen
from app.tui.options import ScreenOptions
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from tests.backends.simulator.asking import FAST, still_host
from tests.tui.stage import answer, paths_in, settled, text_of, until

ARRAY = "megaraid:/c0/v1"


@pytest.mark.long
async def test_the_bench_begins_with_the_first_free_array(tmp_path: Path) -> None:
    bench = Workbench(still_host(), paths=paths_in(tmp_path), advisor=advise)
    app = WorkbenchApp(bench, ScreenOptions(session=tmp_path / "session"))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("2")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, BenchScreen)
        assert (screen.target_name, screen.where) == ("megaraid:/c0/v1", "/dev/sdb")


@pytest.mark.long
async def test_a_strip_size_staged_with_a_policy_is_applied_after_its_word_was_typed(tmp_path: Path) -> None:
    bench = Workbench(still_host(), paths=paths_in(tmp_path), advisor=advise)
    app = WorkbenchApp(bench, ScreenOptions(session=tmp_path / "session"))
    async with app.run_test(size=(120, 60)) as pilot:
        await settled(pilot)
        app.stage(ARRAY, "read_ahead", "read-ahead")
        app.stage(ARRAY, "strip_size", "131072")
        await pilot.press("a")
        await until(pilot, lambda: len(app.screen_stack) > 1)
        assert "strip=128" in text_of(pilot)
        await answer(pilot, "shift+tab", *"6ef362", "enter", "enter")
        await until(pilot, lambda: len(app.session.changes) == 2 and not app.staged)
        assert [change.end.result for change in app.session.changes if change.end] == ["verified", "verified"]


@pytest.mark.long
async def test_a_filesystem_is_measured_by_a_file_in_its_folder_and_a_volume_is_no_array_of_a_card(
    tmp_path: Path,
) -> None:
    bench = Workbench(SimulatedHost(linux_rack(), speed=FAST), paths=paths_in(tmp_path), advisor=advise)
    app = WorkbenchApp(bench, ScreenOptions(session=tmp_path / "session"))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("2")
        await pilot.pause()
        bench_screen = app.screen
        assert isinstance(bench_screen, BenchScreen)
        assert not (bench_screen.target_name or "").startswith("zfs:")
        await pilot.press("1", "/", *"tank/files", "enter")
        await until(pilot, lambda: "zfs:tank/files" in text_of(pilot) or "tank/files · filesystem" in text_of(pilot))
        await pilot.press("m")
        await until(pilot, lambda: bench_screen.where == "/tank/files")
