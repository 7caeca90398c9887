"""The list of runs says the same wherever it is read: on the command line, on the screen, in the report."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.cli.main import cli
from app.core.session.event_types import WorkloadFinished
from app.core.session.results import LatencyStats, RunResult
from tests.tui.stage import Table, app_of, figures, opened, text_of, until


def mixed() -> RunResult:
    """Reads with a p99 of 1.20 ms and slower writes."""
    done = figures()
    assert done.read is not None
    return replace(done, write=replace(done.read, latency_ns=LatencyStats(p50=1_900_000, p99=7_300_000)))


def p99s(text: str, between: str = r"\s{2,}") -> dict[str, str]:
    """What the first table with a p99 says of its first run, by heading."""
    lines = text.splitlines()
    at = next(number for number, line in enumerate(lines) if "p99" in line)
    row = next(line for line in lines[at + 1 :] if re.search(r"\br1\b", line))
    heads, cells = (re.split(between, line.strip("│ ")) for line in (lines[at], row))
    return {head: cell for head, cell in zip(heads, cells, strict=True) if "p99" in head}


@pytest.fixture
async def told(table: Table, tmp_path: Path) -> dict[str, str]:
    """The list of a session with one mixed run: as `runs` prints it, on the Runs screen, in the report."""
    async with opened(table) as pilot:
        await pilot.press("2", "r")
        await until(pilot, lambda: app_of(pilot).session.active is not None)
        table.load.queue.put_nowait(WorkloadFinished(figures=mixed(), raw=Path("fio.out")))
        await until(pilot, lambda: not table.bench.jobs.running and app_of(pilot).session.runs)
        await pilot.press("3")
        pilot.app.clear_notifications()
        await pilot.pause()
        screen = text_of(pilot)
    session = str(table.options.session)
    listed = CliRunner().invoke(cli, ["--session", session, "runs"]).stdout
    report = CliRunner().invoke(cli, ["report", session, "--format", "md"]).stdout
    return {"runs": listed, "screen": screen, "report": report[report.index("\n## Runs\n") :]}


@pytest.mark.long
@pytest.mark.parametrize("place", ["runs", "screen", "report"])
async def test_a_mixed_run_has_the_same_p99_everywhere_named_for_its_direction(
    told: dict[str, str], place: str
) -> None:
    between = r"\s*\|\s*" if place == "report" else r"\s{2,}"
    assert p99s(told[place], between) == {"Read p99": "1.20 ms", "Write p99": "7.30 ms"}
