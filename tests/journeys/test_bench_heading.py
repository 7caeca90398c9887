"""The heading of Bench belongs to the figures below it, whatever was applied or chosen since."""

from __future__ import annotations

import asyncio

import pytest
from textual.pilot import Pilot

from tests.journeys.bench_walk import run_once
from tests.journeys.test_bench_target import scratch_file_at
from tests.journeys.test_settings import apply
from tests.tui.conftest import stillness
from tests.tui.stage import Table, answer, opened, set_table, settled, text_in, text_of, until

SIZES = {"small": (80, 24), "large": (120, 40), "wide": (200, 60)}
LARGER = ("large", "wide")


def heading(pilot: Pilot[int]) -> list[str]:
    """The target and the job, and what differs since, each without spaces around it."""
    return [text_in(pilot, name).strip() for name in ("#target", "#job", "#since")]


async def choose_job(pilot: Pilot[int], key: str) -> None:
    """Choose the workload above or below the present one."""
    await pilot.press("p")
    await answer(pilot, key, "enter")
    await until(pilot, lambda: len(pilot.app.screen_stack) == 1)


async def walk(pilot: Pilot[int], table: Table) -> dict[str, list[str]]:
    """Measure a disk, apply another scheduler, choose another job and then a scratch file; measure that."""
    seen = {}
    await pilot.press("m")
    await pilot.pause()
    await run_once(pilot, table)
    seen["measured"] = heading(pilot)
    await pilot.press("1")
    await settled(pilot)
    await pilot.press("enter", "home", "space")
    await apply(pilot)
    await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
    await pilot.press("2")
    await until(pilot, lambda: "Measured with" in text_of(pilot))
    seen["applied"] = heading(pilot)
    await choose_job(pilot, "down")
    seen["job"] = heading(pilot)
    await choose_job(pilot, "up")
    await scratch_file_at(pilot, str(table.options.scratch))
    await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
    seen["target"] = heading(pilot)
    await run_once(pilot, table, 12_000.0)
    await settled(pilot)
    await until(pilot, lambda: "file /" in heading(pilot)[0])
    seen["measured there"] = heading(pilot)
    return seen


@pytest.fixture(scope="module", params=["small", *(pytest.param(size, marks=pytest.mark.long) for size in LARGER)])
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    table = set_table(tmp_path_factory.mktemp("heading"))

    async def go() -> dict[str, list[str]]:
        async with opened(table, size=SIZES[request.param]) as pilot:
            return await walk(pilot, table)

    with stillness():
        return asyncio.run(go())


@pytest.mark.long
def test_nothing_differs_right_after_a_run(seen: dict[str, list[str]]) -> None:
    target, job, since = seen["measured"]
    assert ("block:sda" in target, "randread-4k" in job, since) == (True, True, "")


def test_an_applied_value_is_named_beside_the_one_that_was_measured(seen: dict[str, list[str]]) -> None:
    *then, _ = seen["measured"]
    *now, since = seen["applied"]
    assert (now, since) == (then, "Measured with I/O scheduler mq-deadline; now kyber.")


def test_another_job_is_the_next_and_leaves_the_heading(seen: dict[str, list[str]]) -> None:
    assert (seen["job"][:2], "Next run: " in seen["job"][2]) == (seen["measured"][:2], True)


def test_another_target_is_the_next_and_leaves_the_heading(seen: dict[str, list[str]]) -> None:
    assert (seen["target"][:2], seen["target"][2][:24]) == (seen["measured"][:2], "Next run: a scratch file")


def test_the_next_run_has_a_heading_of_its_own(seen: dict[str, list[str]]) -> None:
    target, _, since = seen["measured there"]
    assert (target[:6], since) == ("file /", "")
