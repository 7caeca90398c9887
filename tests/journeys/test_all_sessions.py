"""The list of the runs of all sessions at 100x30: which device, which job, and that it is simulated."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from app.core.session.events import LoggedEvent, RunEnded, RunStarted
from tests.core import sessions
from tests.tui.stage import opened, set_table, text_in, text_of, until

TARGETS = ("megaraid:/c0/v1", "md:md1", "block:nvme0n1")


def run(number: int, target: str, at: float, job: str) -> list[LoggedEvent]:
    """A simulated run on a device with forty settings that no other device has."""
    settings = {f"{target} setting {key}": str(number) for key in range(40)}
    begun, ended = sessions.run(f"r{number}", target=target, settings=settings, at=at)
    assert isinstance(begun, RunStarted)
    assert isinstance(ended, RunEnded)
    return [replace(begun, simulated=True, profile=job), ended]


async def test_every_run_names_its_target_its_job_and_that_it_is_simulated(tmp_path: Path) -> None:
    table = set_table(tmp_path)
    for day, target in enumerate(TARGETS):
        events = run(1, target, 1003.0 + 86_400 * day, job=("randread-4k", "seqwrite-1m")[day % 2])
        sessions.written(table.bench.paths.sessions / f"2026-11-0{day + 1}-120000", sessions.started(), *events)
    async with opened(table, size=(100, 30)) as pilot:
        await pilot.press("3", "asterisk")
        await until(pilot, lambda: "2026-11-03" in text_of(pilot))
        shown = text_in(pilot, "#runs-list")
    rows = [line for line in shown.splitlines() if "-120000/r1" in line]
    named = [
        target in row and "SIMULATED" in row and ("randread-4k" in row or "seqwrite-1m" in row)
        for row, target in zip(rows, TARGETS, strict=True)
    ]
    hidden = [int(count) for count in re.findall(r"\+(\d+)", shown)]
    assert (named, sum(hidden) < 4) == ([True] * 3, True)


async def test_a_setting_that_differs_is_shown_before_the_curve_of_a_run(tmp_path: Path) -> None:
    table = set_table(tmp_path)
    assert table.options.session is not None
    runs = [*sessions.run("r1"), *sessions.run("r2", settings={"read_ahead_kb": "4096"})]
    sessions.written(table.options.session, sessions.started(), *runs)
    async with opened(table, size=(80, 24)) as pilot:
        await pilot.press("3")
        await until(pilot, lambda: "r2" in text_of(pilot))
        assert "4096 KiB" in text_in(pilot, "#runs-list")
