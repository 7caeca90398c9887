"""What is shown late is of what stands then: an answer that nobody waits for any more is not shown."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from app.features.sweep.engine.risk_assessment import RiskAssessment, assess_risk
from app.features.sweep.screen import planner
from app.tui.runs.screen import RunsScreen
from tests.core import sessions
from tests.journeys.test_run_list import STREAM
from tests.journeys.test_sweep import on_the_rack, plan_of, tick, to_row
from tests.tui.stage import Table, opened, text_of, until


async def test_a_plan_that_was_unticked_meanwhile_is_not_shown(
    tmp_path: Path, still: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, answered = asyncio.Event(), asyncio.Event()

    async def slow(*given: object) -> RiskAssessment:
        asked.set()
        await answered.wait()
        return await assess_risk(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(planner, "assess_risk", slow)
    async with on_the_rack(tmp_path, "large") as pilot:
        await tick(pilot, "job:iodepth", "1", "32")
        await until(pilot, asked.is_set)
        await to_row(pilot, "job:iodepth|32")
        await pilot.press("space")
        await until(pilot, lambda: "Nothing to compare yet" in plan_of(pilot))
        answered.set()
        await until(pilot, lambda: not [worker for worker in pilot.app.workers if worker.group == "sweep-survey"])
        assert "Nothing to compare yet" in plan_of(pilot)


async def test_the_graphs_of_a_run_come_when_nothing_is_measured_any_more(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, measured = table.options.session, True
    assert folder is not None
    sessions.written(folder, sessions.started(), *sessions.run("r1"))
    (folder / "runs" / "r1").mkdir(parents=True)
    shutil.copy(STREAM, folder / "runs" / "r1" / "fio.out")

    monkeypatch.setattr(RunsScreen, "_may_read", lambda _: not measured)
    async with opened(table) as pilot:
        await pilot.press("3")
        await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen) and "r1" in text_of(pilot))
        await until(pilot, lambda: pilot.app.screen.query_one("#runs-preview")._is_postponed)  # type: ignore[attr-defined]
        assert not pilot.app.screen.query_one("#preview-graphs").display
        measured = False
        await pilot.press("b")  # anything new in the session shows the list anew, as the end of a job does
        await until(pilot, lambda: pilot.app.screen.query_one("#preview-graphs").display)
