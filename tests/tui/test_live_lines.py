"""Lines that a sample does not change are not computed for it, and follow everything else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot

from app.tui.bench.live_view import target_line
from app.tui.header import HeaderLines
from tests.journeys.bench_walk import start
from tests.tui.stage import Table, app_of, opened, until


async def sampled(pilot: Pilot[int], table: Table, at: float) -> None:
    """Wait until the screen shows another interval of the running job."""
    table.load.take(at)
    await until(pilot, lambda: (run := app_of(pilot).session.active) is not None and run.samples[-1].at == at)
    await pilot.pause()


async def test_target_and_job_are_worded_for_a_new_run_inventory_or_width_and_not_for_a_sample(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    worded: list[int] = []

    def counted(*arguments: Any) -> str:
        worded.append(1)
        return target_line(*arguments)

    async with opened(table, (120, 40)) as pilot:
        await pilot.press("2")
        await start(pilot, table)
        await sampled(pilot, table, 3.0)
        monkeypatch.setattr("app.tui.bench.screen.target_line", counted)
        await sampled(pilot, table, 4.0)
        after_sample = len(worded)
        app = app_of(pilot)
        app.session = replace(app.session, inventory=replace(app.session.inventory, drives=()))
        await pilot.pause()
        after_inventory = len(worded)
        await pilot.resize_terminal(100, 40)
        await pilot.pause()
        after_width = len(worded)
        run = app.session.runs[-1]
        of_next_run = replace(run, start=replace(run.start, at=run.start.at + 1.0))
        app.session = replace(app.session, runs=(*app.session.runs[:-1], of_next_run))
        await pilot.pause()
    assert after_sample == 0
    assert 0 < after_inventory < after_width < len(worded)


async def test_the_header_is_drawn_anew_for_another_width_and_theme(table: Table) -> None:
    async with opened(table, (120, 40)) as pilot:
        header = pilot.app.screen.query_one(HeaderLines)
        dark = list(header.render_line(1))
        app_of(pilot).choose_theme("light")
        await pilot.pause()
        light = list(header.render_line(1))
        assert "".join(text for text, _, _ in light) == "".join(text for text, _, _ in dark)
        assert [style for _, style, _ in light] != [style for _, style, _ in dark]
        await pilot.resize_terminal(90, 40)
        await pilot.pause()
        assert (header.render_line(0).cell_length, "REC" in header.render_line(0).text) == (90, True)
