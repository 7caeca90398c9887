"""What befalls a device while it is measured: in the status line, on the time axis, at the end, in words and report."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from app.features.report.output import ReportFormat, report_text
from app.tui.bench.run_graphs import RunGraphs
from app.tui.bench.screen import BenchScreen
from backends.simulator.state_file import RackFile
from tests.backends.simulator.asking import NOW, still_rack
from tests.journeys.rack import bench, choose
from tests.tui.stage import app_of, text_in, text_of, until
from widgets.text_utils.symbols import BUSY

SIZES = ((80, 24), (120, 40))
BEGAN = "A check of md1 started at "
FELL = "The write cache of sde changed from write back to write through at "
"""Without the second of the run: on a busy machine it is any. tests/core/benchmark/test_course_watch.py tries that."""


async def mirror(folder: Path, size: tuple[int, int]) -> dict[str, str]:
    """A mirror is measured; in the middle of it a check begins."""
    rack, seen = RackFile(None, make=still_rack), {}
    async with bench(folder, rack, size=size) as pilot:
        await choose(pilot, "md:md1")
        screen = pilot.app.screen
        assert isinstance(screen, BenchScreen)
        screen.job = replace(screen.job, ramp=0)
        await pilot.press("r")
        await until(pilot, lambda: (run := app_of(pilot).session.active) is not None and len(run.samples) > 1)
        with rack.edit() as now:
            now.md["md1"].begin("check", NOW)
        await until(pilot, lambda: BEGAN in text_of(pilot) and BUSY.char in text_in(pilot, "#throughput"))
        seen["live"], seen["graph"] = text_of(pilot), text_in(pilot, "#throughput")
        await pilot.press("x")
        await until(pilot, lambda: not app_of(pilot).workbench.jobs.running and "r1 stopped" in text_of(pilot).lower())
        seen["over"] = text_of(pilot)
        marks = screen.query_one(RunGraphs).charts[0].data
        assert marks is not None
        seen["marks"] = " ".join(mark.text for mark in marks.marks)
        session, place = app_of(pilot).session, app_of(pilot).workbench.folder
        assert place is not None
        seen["warnings"] = "\n".join(session.runs[-1].figures.warnings)
        seen["report"] = report_text(session, place, ReportFormat.MARKDOWN)
    return seen


@pytest.fixture(scope="module", params=SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The screen while the run goes on, and at its end."""
    return asyncio.run(mirror(tmp_path_factory.mktemp("course"), request.param))


@pytest.mark.long
def test_work_that_begins_is_told_in_the_status_line_and_marked_on_the_axis(seen: dict[str, str]) -> None:
    assert BEGAN in seen["live"]
    assert BUSY.char in seen["graph"]


@pytest.mark.long
@pytest.mark.parametrize("where", ["over", "warnings", "report"])
def test_the_end_says_it_in_the_same_words(seen: dict[str, str], where: str) -> None:
    assert BEGAN in seen[where]


@pytest.mark.long
def test_the_mark_stays(seen: dict[str, str]) -> None:
    assert "check started" in seen["marks"]


@pytest.mark.long
async def test_a_battery_that_fails_is_told_while_the_run_goes_on_and_at_its_end(tmp_path: Path) -> None:
    rack = RackFile(None, make=still_rack)
    rack.rack.cards[3].fails_after = 1.0
    async with bench(tmp_path, rack) as pilot:
        await choose(pilot, "megaraid:/c3/v0")
        await pilot.press("r")
        await until(pilot, lambda: FELL in text_of(pilot))
        await pilot.press("x")
        await until(pilot, lambda: not app_of(pilot).workbench.jobs.running)
        assert FELL in "\n".join(app_of(pilot).session.runs[-1].figures.warnings)
