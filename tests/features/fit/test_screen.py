"""Is it fit for etcd, asked on the Bench screen: run by run, and no answer before the last."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.core.workbench import Workbench
from app.features.fit import screen
from app.features.fit.engine import plan_fit
from app.features.fit.screen import FitSheet, fit_choices
from app.tui.app import WorkbenchApp
from app.tui.bench.screen import BenchScreen
from app.tui.options import ScreenOptions
from app.tui.target_choices import fit_items, workload_items
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from tests.backends.simulator.asking import FAST
from tests.tui.stage import notices, paths_in, settled, text_in, until
from widgets.choice_list import ChoiceDialog


def test_the_programs_are_offered_beside_the_workloads_and_none_has_the_name_of_one() -> None:
    values = {item.value for item in workload_items()}
    assert fit_items() == fit_choices()
    assert not values & {item.value for item in fit_items()}
    assert fit_items()[0].label == "Is it fit for etcd?"


def recorded(show: Callable[[FitSheet], None], seen: list[list[str]]) -> Callable[[FitSheet], None]:
    """The method, which also notes the lines that it shows."""

    def both(sheet: FitSheet) -> None:
        seen.append(list(sheet._test.rows))
        show(sheet)

    return both


def rows(pilot: Pilot[int]) -> str:
    """The lines of the sheet, once it is drawn, without their breaks: a long path moves them."""
    return " ".join(text_in(pilot, "#fit-rows").split()) if pilot.app.screen.query("#fit-rows") else ""


async def test_the_sheet_fills_in_run_by_run_and_answers_after_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen, "plan_fit", partial(plan_fit, runs=2, seconds=1))
    seen: list[list[str]] = []
    monkeypatch.setattr(FitSheet, "_show", recorded(FitSheet._show, seen))
    host = SimulatedHost(linux_rack(), speed=FAST, folders=(str(tmp_path),))
    app = WorkbenchApp(
        Workbench(host, paths=paths_in(tmp_path)), ScreenOptions(session=tmp_path / "session", scratch=str(tmp_path))
    )
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        app.do("fit.show", "fit:etcd", str(tmp_path))
        await until(pilot, lambda: isinstance(app.screen, FitSheet) and "stuck for" in rows(pilot))
        assert "run 2: p99 of a flush" in rows(pilot)
        answers = [any("fit for etcd" in row for row in lines) for lines in seen]
        finished = [sum(row.startswith("run ") for row in lines) for lines in seen]
        assert [done for done, answer in zip(finished, answers, strict=True) if answer] == [2]
        assert 1 in finished
        assert not app.measuring
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, FitSheet))


async def test_a_folder_that_cannot_be_measured_is_refused_on_the_screen(tmp_path: Path) -> None:
    bench = Workbench(SimulatedHost(linux_rack(), speed=FAST), paths=paths_in(tmp_path))
    app = WorkbenchApp(bench, ScreenOptions(session=tmp_path / "session"))
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        app.do("fit.show", "fit:etcd", "/dev/sda")
        await until(pilot, lambda: "There is no answer." in rows(pilot))
        assert "never writes to one" in notices(pilot)


async def test_a_program_is_chosen_where_workloads_are_chosen(tmp_path: Path) -> None:
    host = SimulatedHost(linux_rack(), speed=FAST, folders=(str(tmp_path),))
    app = WorkbenchApp(
        Workbench(host, paths=paths_in(tmp_path)), ScreenOptions(session=tmp_path / "session", scratch=str(tmp_path))
    )
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("2")
        await until(pilot, lambda: isinstance(app.screen, BenchScreen))
        bench = app.screen
        assert isinstance(bench, BenchScreen)
        bench.action_profile()
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        app.screen.dismiss("fit:prometheus")
        await until(pilot, lambda: "is fit for Prometheus" in rows(pilot))
