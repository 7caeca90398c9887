"""A run ends when its drives are as warm as they warn of themselves, and says so."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import pytest

from app.core.benchmark.abort_conditions import HEAT, AbortMonitor, ConditionCheck
from app.core.session.results import RunResult, RunStatus
from backends.errors import StorageError

WATCHED = replace(HEAT, every=0.0)
HOT = ("nvme0n1 has 84 °C (warns at 80 °C)",)
STOPPED = RunResult(status=RunStatus.STOPPED)


def looks(*answers: tuple[str, ...] | Exception) -> ConditionCheck:
    """What is seen, look after look."""
    left: Iterator[tuple[str, ...] | Exception] = iter(answers)

    async def look() -> tuple[str, ...]:
        answer = next(left)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return look


async def ended(look: ConditionCheck | None, figures: RunResult = STOPPED) -> RunResult:
    """The figures of a run that goes on until it is told to stop."""
    stop = asyncio.Event()
    async with AbortMonitor(WATCHED, look, stop) as heat:
        async with asyncio.timeout(120):
            await stop.wait()
    return heat.explain(figures)


async def test_a_drive_at_its_warning_stops_the_run() -> None:
    assert (await ended(looks(HOT))).reason == "Stopped because of heat: nvme0n1 has 84 °C (warns at 80 °C)."


async def test_it_is_looked_at_again_and_again() -> None:
    assert "84 °C" in ((await ended(looks((), (), HOT))).reason or "")


@pytest.mark.parametrize("trouble", [StorageError("gone"), OSError("gone")])
async def test_what_cannot_be_read_now_is_looked_at_again(trouble: Exception) -> None:
    assert "84 °C" in ((await ended(looks(trouble, HOT))).reason or "")


async def test_a_cool_drive_stops_nothing() -> None:
    stop = asyncio.Event()

    async def cool() -> tuple[str, ...]:
        seen.set()
        return ()

    seen = asyncio.Event()
    async with AbortMonitor(WATCHED, cool, stop) as heat:
        await seen.wait()
    assert (stop.is_set(), heat.explain(STOPPED)) == (False, STOPPED)


@pytest.mark.parametrize("status", [RunStatus.OK, RunStatus.FAILED])
async def test_a_run_that_was_over_by_itself_keeps_its_own_words(status: RunStatus) -> None:
    figures = RunResult(status=status, reason="its own")
    assert await ended(looks(HOT), figures) == figures


async def test_nothing_goes_on_looking_after_the_run() -> None:
    async with AbortMonitor(HEAT, looks(HOT), asyncio.Event()):
        pass
    assert [task for task in asyncio.all_tasks() if task.get_name() == "heat"] == []
