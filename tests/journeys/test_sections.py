"""A job file of several sections on the simulated rack, from the Bench screen at 100x30."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.tui.bench.screen import BenchScreen
from tests.journeys.bench_walk import type_into
from tests.journeys.rack import bench, choose
from tests.journeys.test_several_targets import drawn
from tests.tui.stage import heard, notices, text_of, until
from widgets.choice_list import ChoiceDialog

pytestmark = pytest.mark.long

SSD = "megaraid:/c0/v1"
FILE = """
[global]
direct=1
ioengine=libaio
time_based
[random]
rw=randread
bs=4k
iodepth=8
runtime=4
[stream]
rw=read
bs=256k
runtime=4
[after]
stonewall
rw=randread
bs=8k
runtime=3
"""


async def take(pilot: Pilot[int], file: Path, *downs: str) -> None:
    """Open a job file, and choose what of it is run."""
    await pilot.press("o")
    await type_into(pilot, str(file))
    await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceDialog))
    await heard(pilot)
    await pilot.press(*downs, "enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, BenchScreen))


async def walk(folder: Path) -> dict[str, str]:
    """All sections are run, each is looked at alone while they run and afterwards; then one section alone."""
    seen = {}
    file = folder / "three.fio"
    file.write_text(FILE)
    async with bench(folder, size=(100, 32)) as pilot:
        await choose(pilot, SSD)
        await pilot.press("o")
        await type_into(pilot, str(file))
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceDialog))
        seen["choices"] = text_of(pilot)
        await heard(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: "3 sections: random + stream, then after" in text_of(pilot))
        screen = pilot.app.screen
        assert isinstance(screen, BenchScreen)
        await pilot.press("e")
        await until(pilot, lambda: "several sections" in notices(pilot))
        await pilot.press("r")
        await until(pilot, lambda: "stream" in text_of(pilot) and bool(drawn(screen)))
        seen["together"] = text_of(pilot)
        await pilot.press("right_square_bracket", "right_square_bracket")
        await until(pilot, lambda: "IOPS of stream" in text_of(pilot))
        seen["stream"] = text_of(pilot)
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: "r1 done" in text_of(pilot))
        await until(pilot, lambda: bool(drawn(screen)))
        seen["after"] = text_of(pilot)
        data = screen.graphs.charts[0].data
        assert data is not None
        seen["marks"] = " ".join(mark.text for mark in data.marks)
        seen["first point of after"] = str(round(drawn(screen)[0][0]))
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: "IOPS of" not in text_of(pilot))
        seen["over"] = text_of(pilot)
        await take(pilot, file, "down", "down")
        await until(pilot, lambda: "256k sequential read" in text_of(pilot))
        seen["alone"] = text_of(pilot)
    return seen


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The screen at each station of the walk."""
    return asyncio.run(walk(tmp_path_factory.mktemp("sections")))


def names(text: str) -> list[str]:
    """The first words of the rows of the large figures."""
    lines = text.splitlines()
    at = next(number for number, line in enumerate(lines) if "MiB/s" in line and "p50" in line)
    rest = lines[at + 1 :]
    end = next(number for number, line in enumerate(rest) if "IOPS" in line)
    return [line.split()[0] for line in rest[:end]]


def test_all_sections_or_each_alone_can_be_chosen(seen: dict[str, str]) -> None:
    shown = seen["choices"]
    assert [word in shown for word in ("all sections", "[random]", "[stream]", "[after]")] == [True] * 4


def test_a_section_that_waits_has_no_row_before_it_runs(seen: dict[str, str]) -> None:
    assert names(seen["together"]) == ["all", "random", "stream"]


def test_the_graphs_of_a_section_are_titled_with_its_name(seen: dict[str, str]) -> None:
    assert "Latency of stream" in seen["stream"]


def test_at_the_end_each_section_has_a_row(seen: dict[str, str]) -> None:
    assert names(seen["over"]) == ["all", "random", "stream", "after"]


def test_a_section_that_waits_is_drawn_from_its_own_start(seen: dict[str, str]) -> None:
    assert ("IOPS of after" in seen["after"], seen["first point of after"]) == (True, "4")


def test_the_wait_of_a_section_is_no_standstill(seen: dict[str, str]) -> None:
    assert "stall" not in seen["marks"]


def test_the_next_step_named_is_one_that_works(seen: dict[str, str]) -> None:
    assert ("B measure" in seen["over"], "] show each section alone" in seen["over"]) == (False, True)


def test_one_section_alone_is_an_ordinary_job(seen: dict[str, str]) -> None:
    assert "Next run: 256k sequential read" in seen["alone"]
