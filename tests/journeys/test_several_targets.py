"""Several arrays of the simulated rack in one job, from the Bench screen at 80x24."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from app.tui.bench.screen import BenchScreen
from tests.journeys.rack import bench, choose
from tests.tui.stage import answer, heard, text_of, until
from widgets.confirm import ConfirmDialog
from widgets.keyed_table import KeyedTable

SSD, FLASH, SYSTEM = "megaraid:/c0/v1", "megaraid:/c1/v0", "megaraid:/c0/v0"


KEYS = {"]": "right_square_bracket", "[": "left_square_bracket"}


def drawn(screen: BenchScreen) -> Sequence[tuple[float, float | None]]:
    """The points of the first curve of the upper graph; none before there is one."""
    data = screen.graphs.charts[0].data
    return () if data is None or not data.series else data.series[0].points


async def walk(folder: Path) -> dict[str, str]:
    """Two arrays are chosen, measured, stopped."""
    seen = {}
    async with bench(folder) as pilot:
        await choose(pilot, SSD, FLASH)
        await until(pilot, lambda: "64K, 256K" in text_of(pilot))
        seen["chosen"] = text_of(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, BenchScreen)
        screen.job = replace(screen.job, ramp=0)
        await pilot.press("r")
        await until(pilot, lambda: f" {FLASH} " in text_of(pilot))
        seen["live"] = text_of(pilot)
        await until(pilot, lambda: len(drawn(screen)) > 2)
        for key, shown in (("]", f"IOPS of {SSD}"), ("]", f"IOPS of {FLASH}"), ("[", f"IOPS of {SSD}")):
            await pilot.press(KEYS[key])
            await until(pilot, lambda shown=shown: shown in text_of(pilot))  # type: ignore[misc]
        seen["live part"] = text_of(pilot)
        own = drawn(screen)
        whole = screen.graphs._run_curves.points("read iops")
        sums = [sum(value or 0 for _, value in points) for points in (own, whole[: len(own)])]
        seen["live share"] = f"{sums[0] / sums[1]:.2f}"
        await pilot.press("x")
        await until(pilot, lambda: "r1 stopped" in text_of(pilot).lower())
        await until(pilot, lambda: bool(drawn(screen)))
        seen["over part"] = text_of(pilot)
        await pilot.press(KEYS["["])
        await until(pilot, lambda: "IOPS of" not in text_of(pilot))
        seen["over"] = text_of(pilot)
    return seen


async def ask(folder: Path) -> dict[str, str]:
    """Two arrays are chosen to be written to, and the question is answered by no."""
    seen = {}
    async with bench(folder) as pilot:
        await choose(pilot, SSD, FLASH)
        await pilot.press("p")
        await answer(pilot, "down", "enter")
        await pilot.press("r")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
        question = pilot.app.screen
        assert isinstance(question, ConfirmDialog)
        seen["question"] = text_of(pilot)
        seen["required"] = question.confirmation.required
        seen["risks"] = "\n".join(question.confirmation.risks)
        await heard(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: "not started" in text_of(pilot))
    return seen


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The screen at each station of the walk."""
    return asyncio.run(walk(tmp_path_factory.mktemp("several")))


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The question before both arrays are written to."""
    return asyncio.run(ask(tmp_path_factory.mktemp("asked")))


def rows(text: str) -> list[str]:
    """The first words of the lines below the heading of the figures."""
    lines = text.splitlines()
    at = next(number for number, line in enumerate(lines) if "MiB/s" in line and "p50" in line)
    return [line.split()[0] for line in lines[at + 1 : at + 4]]


@pytest.mark.long
def test_the_target_line_names_all_of_them(seen: dict[str, str]) -> None:
    assert "2 targets · ssd, flash · write through · read-ahead none · strip 64K, 256K" in seen["chosen"]


@pytest.mark.long
@pytest.mark.parametrize("when", ["live", "over"])
def test_the_sum_comes_first_and_each_has_a_row(seen: dict[str, str], when: str) -> None:
    assert rows(seen[when]) == ["all", SSD, FLASH]


@pytest.mark.long
@pytest.mark.parametrize("when", ["live part", "over part"])
def test_the_graphs_of_one_target_are_titled_with_its_name(seen: dict[str, str], when: str) -> None:
    assert (f"IOPS of {SSD}" in seen[when], f"Latency of {SSD}" in seen[when]) == (True, True)


@pytest.mark.long
def test_the_graph_of_one_target_has_its_share_only(seen: dict[str, str]) -> None:
    assert 0.05 < float(seen["live share"]) < 0.95


@pytest.mark.long
def test_the_question_names_each_device(asked: dict[str, str]) -> None:
    assert "writes to /dev/sdb, /dev/sdc" in asked["question"]
    assert asked["question"].count(" is LSI ") == asked["question"].count(" is AVAGO ") == 1


def test_the_question_tells_the_risk_of_each_device(asked: dict[str, str]) -> None:
    assert all(f"/dev/{node} is overwritten." in asked["risks"] for node in ("sdb", "sdc"))


def test_the_words_to_type_are_those_of_the_command_line(asked: dict[str, str]) -> None:
    assert asked["required"] == "2-bd6172"


@pytest.mark.long
async def test_one_disk_is_one_target_whatever_names_it_has(tmp_path: Path) -> None:
    async with bench(tmp_path) as pilot:
        await pilot.press("T")
        await until(pilot, lambda: len(pilot.app.screen_stack) > 1)
        await heard(pilot)
        keys = [row.key for row in pilot.app.screen.query_one(KeyedTable).rows]
        assert (keys.count(SSD), "block:sdb" in keys) == (1, False)


@pytest.mark.long
async def test_one_that_is_in_use_keeps_all_from_being_written_to(tmp_path: Path) -> None:
    async with bench(tmp_path) as pilot:
        await choose(pilot, SSD, SYSTEM)
        await pilot.press("p")
        await answer(pilot, "down", "enter")
        await pilot.press("r")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
        question = pilot.app.screen
        assert isinstance(question, ConfirmDialog)
        assert question.confirmation.tier == "refused"


@pytest.mark.long
async def test_several_are_not_preconditioned_at_once(tmp_path: Path) -> None:
    async with bench(tmp_path) as pilot:
        await choose(pilot, SSD, FLASH)
        await pilot.press("P")
        await until(pilot, lambda: "Only one target can be preconditioned at a time" in text_of(pilot))


@pytest.mark.long
async def test_a_scratch_file_cannot_be_marked(tmp_path: Path) -> None:
    async with bench(tmp_path) as pilot:
        await pilot.press("T")
        await until(pilot, lambda: len(pilot.app.screen_stack) > 1)
        await heard(pilot)
        await pilot.press("home", "space")
        await until(pilot, lambda: "This choice excludes the others" in text_of(pilot))
