"""A Smart Array whose battery gave up: write-back is set, write-through is in force, and every place says why."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

import pytest

from app.core.benchmark.runner import BenchmarkRequest
from app.core.fio.job import Job
from app.features.report.html import to_html
from app.features.report.markdown import to_markdown
from app.features.report.model import report_of
from backends.vendors.block import VENDOR as BLOCK
from backends.vendors.smartarray import VENDOR as SMARTARRAY
from tests.backends.smartarray.cards import HPE, PlayedCards
from tests.tui.stage import opened, set_table, text_in, text_of, until

LOW = replace(HPE, battery="Failed (Replace Batteries)")
"""Says what a recorded P400i says: `Cache Status Details: Cache disabled; low batteries.`"""

WHY = "the cache is temporarily disabled: Cache disabled; low batteries"


@dataclass(frozen=True, kw_only=True)
class Stations:
    """What stood where."""

    devices: str
    settings: str
    markdown: str
    html: str


@pytest.fixture(scope="module")
def stations(tmp_path_factory: pytest.TempPathFactory) -> Stations:
    """The logical drive in the list, its write cache among the settings, and the report of a run on it."""

    async def walk() -> Stations:
        table = set_table(tmp_path_factory.mktemp("low"), PlayedCards((LOW,)), (BLOCK, SMARTARRAY))
        async with opened(table, (200, 50)) as pilot:
            devices = text_of(pilot)
            await pilot.press("down", "enter", "down")
            await until(pilot, lambda: "Write cache  " in text_in(pilot, "#setting-help"))
            settings = text_in(pilot, "#setting-help")
            table.load.take(1.0)
            table.load.finish()
            job = Job.from_fields({"rw": "randread", "runtime": "2", "ramp": "0"})
            await table.bench.jobs.measure(
                await table.bench.jobs.prepare(BenchmarkRequest(where="/dev/sdb", name="/dev/sdb", job=job))
            )
            report = report_of(table.bench.session)
            return Stations(devices=devices, settings=settings, markdown=to_markdown(report), html=to_html(report))

    return asyncio.run(walk())


def words(text: str) -> str:
    """Without the breaks of lines."""
    return " ".join(text.replace("│", " ").split())


@pytest.mark.long
def test_the_list_of_devices_tells_both(stations: Stations) -> None:
    row = next(line for line in stations.devices.splitlines() if " data " in line)
    assert "back ▲through" in row


def test_the_settings_say_what_is_in_force_and_why(stations: Stations) -> None:
    assert f"The effective value is write-through: {WHY}." in words(stations.settings)


def test_the_report_says_it_of_the_run(stations: Stations) -> None:
    assert f"Write cache is set to write-back, but the effective value is write-through: {WHY}." in stations.html
    assert "but the effective value is write-through" in stations.markdown
    assert "low batteries" in stations.markdown
