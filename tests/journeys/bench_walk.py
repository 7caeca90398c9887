"""Walks through the Bench screen by keys: each workbench is opened once, and tests look at the stations on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from textual.pilot import Pilot
from textual.screen import Screen

from app.core.fio.job import Job
from app.core.session.state import Session
from app.tui.bench.screen import BenchScreen
from tests.tui.conftest import stillness
from tests.tui.stage import Table, app_of, heard, notices, opened, set_table, text_of, until
from widgets.field_dialog import TextDialog


@dataclass(frozen=True)
class Station:
    """What a person saw at one point of the way, and what the workbench knew."""

    text: str
    notices: str
    screen: type[Screen[object]]
    session: Session
    job: Job | None
    """The job of the Bench screen and what it is called, where that is in front."""
    profile: str | None
    named_runtime: bool | None
    """Whether somebody named the run time."""
    more: object
    """What this station is about besides."""

    @property
    def footer(self) -> list[str]:
        """The words of the last line."""
        return self.text.splitlines()[-1].split()

    @property
    def figures(self) -> str:
        """The line of the large figures."""
        lines = self.text.splitlines()
        return lines[next(at for at, line in enumerate(lines) if "IOPS read" in line) + 1]

    def row(self, words: str) -> str:
        """The line that has these words."""
        return next(line for line in self.text.splitlines() if words in line)


Way = dict[str, Station]


def station(pilot: Pilot[int], more: object = None) -> Station:
    """As it stands now; what was said until now is not said again."""
    screen = pilot.app.screen
    bench = screen if isinstance(screen, BenchScreen) else None
    now = Station(
        text=text_of(pilot),
        notices=notices(pilot),
        screen=type(screen),
        session=app_of(pilot).session,
        job=None if bench is None else bench.job,
        profile=None if bench is None else bench.profile,
        named_runtime=None if bench is None else bench.request().length_agreed,
        more=more,
    )
    pilot.app.clear_notifications()
    return now


def walked(folder: Path, walk: Callable[[Pilot[int], Table, Way], Awaitable[None]]) -> Way:
    """The stations of a walk that begins on the Bench screen of a new workbench."""
    table, way = set_table(folder), Way()

    async def go() -> None:
        async with opened(table) as pilot:
            await pilot.press("2")
            await pilot.pause()
            await walk(pilot, table, way)

    with stillness():
        asyncio.run(go())
    return way


def screen_of(pilot: Pilot[int]) -> BenchScreen:
    """The Bench screen, which is in front."""
    screen = pilot.app.screen
    assert isinstance(screen, BenchScreen)
    return screen


async def press(pilot: Pilot[int], *keys: str) -> None:
    """Keys, and what comes of them."""
    await pilot.press(*keys)
    await pilot.pause()


async def start(pilot: Pilot[int], table: Table, samples: int = 4) -> None:
    """A job runs and has measured something."""
    await pilot.press("r")
    await until(pilot, lambda: app_of(pilot).session.active is not None)
    table.load.cpu()
    for number in range(1, samples + 1):
        table.load.take(number * 0.25)

    def drawn() -> bool:
        run = app_of(pilot).session.active
        return run is not None and len(run.samples) == samples and run.host_percent is not None

    await until(pilot, drawn)


async def run_once(pilot: Pilot[int], table: Table, iops: float = 85_400.0) -> None:
    """A job from start to end."""
    before = len(app_of(pilot).session.runs)
    await pilot.press("r")
    await until(pilot, lambda: app_of(pilot).session.active is not None)
    table.load.take(0.25, iops)
    table.load.finish(iops=iops)
    await until(pilot, lambda: not table.bench.jobs.running and len(app_of(pilot).session.runs) > before)
    await until(pilot, lambda: not screen_of(pilot).pending)


async def stopped(pilot: Pilot[int], table: Table) -> None:
    """The job is stopped by its key."""
    await pilot.press("x")
    await until(pilot, lambda: not table.bench.jobs.running and not screen_of(pilot).pending)


async def type_into(pilot: Pilot[int], text: str) -> None:
    """Into the field of the dialog in front, over what stands there."""
    await until(pilot, lambda: isinstance(pilot.app.screen, TextDialog))
    await heard(pilot)
    field = pilot.app.screen.query_one("#field")
    field.value = text  # type: ignore[attr-defined]
    await pilot.press("enter")
    await pilot.pause()
