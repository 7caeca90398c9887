"""Two runs side by side, as one screen: the verdict first."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import pytest
from textual.pilot import Pilot

from app.core.analysis.pair_design import RULE
from app.core.session.events import (
    ExperimentEnded,
    ExperimentMark,
    ExperimentStarted,
    LoggedEvent,
    RunEnded,
    SessionStarted,
)
from app.core.session.results import RunStatus
from app.tui.app import WorkbenchApp
from app.tui.bench.screen import BenchScreen
from app.tui.plot_worker import PlotWorker
from app.tui.runs.compare import CompareScreen
from app.tui.runs.screen import RunsScreen
from tests.core import sessions
from tests.tui.conftest import stillness
from tests.tui.stage import Table, opened, set_table, settled, text_of, until

STREAM = Path(__file__).parents[1] / "core" / "fio" / "streams" / "mixed.stdout"
SIZES = {"small": (80, 24), "large": (120, 40), "wide": (200, 60)}


@pytest.fixture
def table(tmp_path: Path, still: None) -> Table:
    """A workbench whose session holds an A/B."""
    return ab_table(tmp_path)


def with_histogram(over: LoggedEvent) -> LoggedEvent:
    """The end of a run, with all its latencies."""
    assert isinstance(over, RunEnded)
    assert over.figures.read is not None
    bins = ((800_000, 900), (1_500_000, 90), (2_000_000, 10))
    return replace(over, figures=replace(over.figures, read=replace(over.figures.read, bins=bins)))


def ab_table(folder: Path) -> Table:
    """The session that is open holds an A/B."""
    table = set_table(folder)
    assert table.options.session is not None
    sessions.written(table.options.session, *ab_events(sessions.started()))
    return table


def ab_events(begin: SessionStarted) -> list[LoggedEvent]:
    """A session with an A/B of three pairs, B a fifth slower."""
    order = ("A", "B", "B", "A", "A", "B")
    started = ExperimentStarted(
        at=1002.0,
        id="e1",
        target=sessions.SDA,
        key="read_ahead_kb",
        label="Read-ahead",
        a="128",
        b="4096",
        order=order,
        title="4k random read",
        measured="block:sda",
        rule=RULE,
    )
    events: list[LoggedEvent] = [begin, started]
    for at, letter in enumerate(order):
        iops = (1000.0 if letter == "A" else 800.0) + at
        settings = {"read_ahead_kb": "128" if letter == "A" else "4096"}
        begun, over = sessions.run(f"r{at + 1}", iops=iops, settings=settings, at=1010.0 + at * 10)
        mark = ExperimentMark(experiment="e1", letter=letter, pair=at // 2 + 1)
        events += [replace(begun, mark=mark), with_histogram(over)]  # type: ignore[arg-type]
    return [*events, ExperimentEnded(at=1100.0, id="e1", status=RunStatus.OK, restored=True)]


async def compared(pilot: Pilot[int]) -> None:
    """As far as the comparison: of an A/B one key, wherever the cursor is in it."""
    await pilot.press("3")
    await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen) and "e1 3B" in text_of(pilot))
    await pilot.press("c")
    await until(pilot, lambda: isinstance(pilot.app.screen, CompareScreen))
    await until(pilot, lambda: pilot.app.screen.query_one("#compared-picture", PlotWorker).picture is not None)
    await pilot.pause()


@asynccontextmanager
async def comparing(table: Table, size: str = "large") -> AsyncIterator[Pilot[int]]:
    async with opened(table, SIZES[size]) as pilot:
        await compared(pilot)
        yield pilot


@dataclass(frozen=True)
class Walk:
    """What the comparison said, and where the keys led from it."""

    first: str
    back: Mapping[str, type[object]]
    """The screen after each key that goes back."""
    again: type[object]
    """The screen of the runs after a look at another."""


async def walk(table: Table, size: str) -> Walk:
    """By both ways back to the list, and over the Bench screen."""
    async with comparing(table, size) as pilot:
        first, back = text_of(pilot), {}
        for key in ("escape", "h") if size == "large" else ():
            await pilot.press(key)
            await until(pilot, lambda: not isinstance(pilot.app.screen, CompareScreen))
            back[key] = type(pilot.app.screen)
            await compared(pilot)
        await pilot.press("2")
        await until(pilot, lambda: isinstance(pilot.app.screen, BenchScreen))
        await pilot.press("3")
        await until(pilot, lambda: not isinstance(pilot.app.screen, BenchScreen))
        return Walk(first, back, type(pilot.app.screen))


class Walks(dict[str, Walk]):
    """The walks by the size of the terminal, each made when a test asks for it first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __missing__(self, size: str) -> Walk:
        folder = self._folder / size
        folder.mkdir()
        with stillness():
            self[size] = asyncio.run(walk(ab_table(folder), size))
        return self[size]


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Walk]:
    return Walks(tmp_path_factory.mktemp("walks"))


@pytest.mark.long
@pytest.mark.parametrize("size", SIZES)
def test_the_verdict_is_in_sight_before_any_key_at_every_size(walked: Mapping[str, Walk], size: str) -> None:
    shown = walked[size].first
    assert [words in shown for words in ("SLOWER", "read IOPS -19.9 %", "between -20.", "•", "read p99")] == [True] * 5


@pytest.mark.long
def test_it_says_what_is_compared_with_what(walked: Mapping[str, Walk]) -> None:
    assert "r2 against r1: Kernel read-ahead 4096 KiB against 128 KiB" in walked["large"].first


@pytest.mark.long
@pytest.mark.parametrize("key", ["escape", "h"])
def test_back_is_one_step_to_the_list(walked: Mapping[str, Walk], key: str) -> None:
    assert walked["large"].back[key] is RunsScreen


def test_another_screen_and_back_finds_the_comparison_as_it_was(walked: Mapping[str, Walk]) -> None:
    assert walked["large"].again is CompareScreen


def drawn(pilot: Pilot[int]) -> str:
    """What is painted."""
    return str(pilot.app.screen.query_one("#compared-picture", PlotWorker).content)


@pytest.mark.long
async def test_all_latencies_by_percentile_are_drawn_unasked_and_v_shows_both_over_time(table: Table) -> None:
    async with comparing(table, "wide") as pilot:
        await until(pilot, lambda: re.search(r"latency by percentile(.|\n)*read-ahead 128(.|\n)*p99", drawn(pilot)))
        await pilot.press("v")
        await until(pilot, lambda: "the intervals of r" in drawn(pilot))
        await pilot.press("v")
        await until(pilot, lambda: "latency by percentile" in drawn(pilot))


@pytest.mark.long
async def test_both_runs_are_drawn_over_time_from_what_fio_wrote(table: Table) -> None:
    assert table.options.session is not None
    for number in range(1, 7):
        place = table.options.session / "runs" / f"r{number}"
        place.mkdir(parents=True)
        shutil.copy(STREAM, place / "fio.out")
    async with comparing(table, "wide") as pilot:
        await pilot.press("g")
        await until(pilot, lambda: "one run of each" in drawn(pilot))


class Compare(Protocol):
    """The fixture of pytest-textual-snapshot."""

    def __call__(self, app: WorkbenchApp, *, terminal_size: tuple[int, int], run_before: object) -> bool: ...


@pytest.mark.long
@pytest.mark.parametrize("size", SIZES)
def test_picture(snap_compare: Compare, table: Table, size: str) -> None:
    """The comparison of an A/B."""

    async def act(pilot: Pilot[int]) -> None:
        await settled(pilot)
        await compared(pilot)
        await until(pilot, lambda: "┤" in drawn(pilot))
        await pilot.pause()

    assert snap_compare(table.app(), terminal_size=SIZES[size], run_before=act)
