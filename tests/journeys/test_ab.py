"""A staged value measured against the one in force: one key, one question, one sentence."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest
from textual.pilot import Pilot

from app.core.fio.job import Engine, Job, JobTarget
from app.core.session.event_types import LoadEvent, PhaseChanged, SteadyPlan, WorkloadFinished
from app.core.session.results import Phase, RunStatus
from app.features.ab.screen import ExperimentDialog
from app.tui.app import WorkbenchApp
from app.tui.bench.screen import BenchScreen
from app.tui.runs.compare import CompareScreen
from app.tui.runs.screen import RunsScreen
from tests.tui.conftest import stillness
from tests.tui.stage import (
    SECTOR,
    SIZES,
    Moment,
    Table,
    app_of,
    figures,
    heard,
    moment,
    notices,
    opened,
    set_table,
    settled,
    text_of,
    until,
)
from widgets.choice_list import ChoiceDialog
from widgets.confirm import Confirmation, ConfirmDialog

KB = f"{SECTOR}/read_ahead_kb"


class PacedLoad:
    """Each run waits to be let on, and measures a fifth less at any read-ahead but 128."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.runs = 0
        self.go = asyncio.Semaphore(0)

    async def run(
        self,
        job: Job,
        targets: Sequence[JobTarget],
        workdir: Path,
        stop: asyncio.Event,
        *,
        steady: SteadyPlan | None = None,
    ) -> AsyncGenerator[LoadEvent, None]:
        self.runs += 1
        yield PhaseChanged(phase=Phase.MEASURING)
        let_on, halt = asyncio.create_task(self.go.acquire()), asyncio.create_task(stop.wait())
        await asyncio.wait({let_on, halt}, return_when=asyncio.FIRST_COMPLETED)
        let_on.cancel()
        halt.cancel()
        iops = (100_000.0 if self.table.host.files[KB] == "128" else 80_000.0) * (1 + 0.001 * (self.runs % 3))
        status = RunStatus.STOPPED if stop.is_set() else RunStatus.OK
        yield WorkloadFinished(
            figures=figures(status, None if status is RunStatus.OK else "stopped", iops), raw=workdir / "x"
        )

    def layout(self, target: JobTarget, workdir: Path, stop: asyncio.Event) -> AsyncGenerator[LoadEvent, None]:
        raise NotImplementedError

    def fill(
        self, target: JobTarget, workdir: Path, stop: asyncio.Event, *, loops: int, engine: Engine, block: int
    ) -> AsyncGenerator[LoadEvent, None]:
        raise NotImplementedError


@contextmanager
def paced(table: Table) -> Iterator[PacedLoad]:
    """The machine rests at once, the first pair begins with A, and the runs are let on one by one."""
    load = PacedLoad(table)
    measurer = table.bench.jobs._measurer

    def scripted(folder: Path) -> object:
        made = measurer(folder)
        made._load = load
        return made

    table.bench.jobs._measurer = scripted  # type: ignore[method-assign, assignment]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.features.ab.experiment.wait_until_idle", at_rest)
        patch.setattr("app.features.ab.plan.Random", SteadyRandom)
        yield load


@pytest.fixture
def load(table: Table) -> Iterator[PacedLoad]:
    with paced(table) as load:
        yield load


async def at_rest(*_: object) -> bool:
    """At once."""
    return True


class SteadyRandom:
    """Draws A first, then B, and so on."""

    def __init__(self, _: object = None) -> None:
        self.drawn = 0

    def randrange(self, _: int) -> int:
        return 1

    def random(self) -> float:
        self.drawn += 1
        return 0.0 if self.drawn % 2 else 0.9


@pytest.fixture
async def staged(table: Table, load: PacedLoad) -> AsyncIterator[Pilot[int]]:
    """One value of sda is staged."""
    async with opened(table) as pilot:
        app_of(pilot).stage("block:sda", "read_ahead_kb", "4096")
        yield pilot


async def asked(pilot: Pilot[int]) -> ConfirmDialog:
    """As far as the question, with three pairs."""
    await pilot.press("B")
    await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceDialog))
    await heard(pilot)
    await pilot.press("down", "enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
    await heard(pilot)
    assert isinstance(pilot.app.screen, ConfirmDialog)
    return pilot.app.screen


async def running(pilot: Pilot[int], load: PacedLoad, run: int) -> None:
    """Until that run is being made, and shown."""
    await until(pilot, lambda: load.runs == run and f"run {run} of 6" in text_of(pilot))


async def begun(pilot: Pilot[int], load: PacedLoad, runs: int) -> None:
    """As far as that run."""
    await asked(pilot)
    await pilot.press("y")
    for number in range(1, runs):
        await until(pilot, lambda number=number: load.runs == number)  # type: ignore[misc]
        load.go.release()
    await running(pilot, load, runs)


@dataclass(frozen=True)
class Walk:
    """An experiment from its question to the comparison of its runs."""

    question: Confirmation
    seen: Mapping[str, Moment]
    read_ahead: str
    """In force at the end."""


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    """Moments of one workbench, by the run that is being made or by what stands on the screen."""
    table = set_table(tmp_path_factory.mktemp("walked"))

    async def walk(load: PacedLoad) -> Walk:
        seen: dict[str, Moment] = {}
        async with opened(table) as pilot:
            app_of(pilot).stage("block:sda", "read_ahead_kb", "4096")
            question = (await asked(pilot)).confirmation
            await pilot.press("y")
            for run in range(1, 7):
                await running(pilot, load, run)
                seen[f"run {run}"] = moment(pilot, table)
                load.go.release()
            await until(pilot, lambda: not table.bench.jobs.running and "Slower with" in text_of(pilot))
            seen["end"] = moment(pilot, table)
            await pilot.press("3")
            await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen) and "e1 3B" in text_of(pilot))
            seen["runs"] = moment(pilot, table)
            await pilot.press("c")
            await until(pilot, lambda: isinstance(pilot.app.screen, CompareScreen))
            seen["comparison"] = moment(pilot, table)
            await pilot.press("plus")
            await until(pilot, lambda: "complete" in notices(pilot))
            seen["plus"] = moment(pilot, table)
        return Walk(question, seen, table.host.files[KB])

    with stillness(), paced(table) as load:
        return asyncio.run(walk(load))


@pytest.mark.long
def test_the_question_shows_the_way_there_and_back(walked: Walk) -> None:
    assert walked.question.commands == (f"echo 4096 > {KB}", f"echo 128 > {KB}")
    assert "3 pairs, in random order within each pair: 6 runs" in walked.question.summary


async def choosing(pilot: Pilot[int], *keys: str) -> None:
    """As far as the choice, then these keys."""
    await pilot.press("B")
    await until(pilot, lambda: isinstance(pilot.app.screen, ExperimentDialog))
    await heard(pilot)
    await pilot.press(*keys)
    await pilot.pause()


async def test_a_threshold_of_ones_own_is_in_the_question(staged: Pilot[int]) -> None:
    await choosing(staged, "down", "tab", "home", "delete", *"0.5", "enter")
    await until(staged, lambda: isinstance(staged.app.screen, ConfirmDialog))
    assert isinstance(staged.app.screen, ConfirmDialog)
    assert "3 pairs" in staged.app.screen.confirmation.summary
    assert "Differences within +-0.5 % count as no difference." in staged.app.screen.confirmation.summary


@pytest.mark.long
def test_two_percent_are_the_threshold_of_whoever_names_none(walked: Walk) -> None:
    assert "Differences within +-2 % count as no difference." in walked.question.summary


@pytest.mark.long
@pytest.mark.parametrize("text", ["0", "50", "x"])
async def test_no_threshold_is_no_answer(staged: Pilot[int], text: str) -> None:
    await choosing(staged, "tab", "home", "delete", *text, "shift+tab", "enter")
    assert isinstance(staged.app.screen, ExperimentDialog)
    assert "Invalid value: " in text_of(staged)


@pytest.mark.long
async def test_no_is_no(staged: Pilot[int], table: Table) -> None:
    await asked(staged)
    await staged.press("escape")
    await staged.pause()
    assert (table.bench.session.experiments, table.host.written) == ((), [])


@pytest.mark.long
def test_the_bench_shows_which_run_of_which_pair(walked: Walk) -> None:
    assert walked.seen["run 3"].screen is BenchScreen
    assert "run 3 of 6, pair 2 of 3, B 4096" in walked.seen["run 3"].text


@pytest.mark.long
def test_an_interval_on_the_way_is_not_yet_decided(walked: Walk) -> None:
    text = " ".join(walked.seen["run 5"].text.split())
    assert "read IOPS -20." in text
    assert "not yet decided" in text


def test_the_end_is_one_sentence_and_the_old_value(walked: Walk) -> None:
    end = walked.seen["end"]
    assert "↓ slower: read IOPS -20." in end.notices
    assert "Read-ahead was restored to 128 KiB." in end.notices
    assert "Slower with read-ahead 4096 KiB" in end.text
    assert walked.read_ahead == "128"


def test_the_value_stays_staged_for_whoever_likes_it(walked: Walk) -> None:
    assert walked.seen["end"].staged == {"block:sda": {"read_ahead_kb": "4096"}}


async def test_x_ends_it_with_the_old_value(staged: Pilot[int], load: PacedLoad, table: Table) -> None:
    await begun(staged, load, 2)
    assert table.host.files[KB] == "4096"
    await staged.press("x")
    await until(staged, lambda: "Read-ahead was restored to 128 KiB" in notices(staged))
    assert not table.bench.jobs.running
    assert table.host.files[KB] == "128"


@pytest.mark.long
async def test_leaving_puts_the_old_value_back_first(staged: Pilot[int], load: PacedLoad, table: Table) -> None:
    await begun(staged, load, 2)
    await app_of(staged).stop_measuring()
    assert (table.host.files[KB], table.bench.jobs.running) == ("128", False)


def test_runs_show_the_sentence_and_their_places(walked: Walk) -> None:
    assert "e1: Slower with read-ahead 4096 KiB" in walked.seen["runs"].text


def test_c_compares_the_letters_of_the_run_under_the_cursor(walked: Walk) -> None:
    assert "in 3 pairs" in walked.seen["comparison"].text


async def on_its_comparison(pilot: Pilot[int]) -> None:
    """From an A/B that is over to its comparison."""
    await pilot.press("3")
    await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen) and "e1 1A" in text_of(pilot))
    await pilot.press("c")
    await until(pilot, lambda: isinstance(pilot.app.screen, CompareScreen))


@pytest.fixture(params=SIZES)
async def cut_short(request: pytest.FixtureRequest, table: Table, load: PacedLoad) -> AsyncIterator[Pilot[int]]:
    """The comparison of an A/B of three pairs that was stopped in the second."""
    async with opened(table, SIZES[request.param]) as pilot:
        app_of(pilot).stage("block:sda", "read_ahead_kb", "4096")
        await begun(pilot, load, 3)
        await pilot.press("x")
        await until(pilot, lambda: not table.bench.jobs.running)
        await on_its_comparison(pilot)
        yield pilot


@pytest.mark.long
async def test_plus_measures_the_pairs_that_the_plan_has_left(
    cut_short: Pilot[int], load: PacedLoad, table: Table
) -> None:
    await cut_short.press("plus")
    await until(cut_short, lambda: isinstance(cut_short.app.screen, ConfirmDialog))
    await heard(cut_short)
    assert "1 of them are done" in " ".join(text_of(cut_short).split())
    await cut_short.press("y")
    await until(cut_short, lambda: load.runs == 4)
    for _ in range(4):
        load.go.release()
    await until(cut_short, lambda: not table.bench.jobs.running and not app_of(cut_short).session.active)
    marks = [run.start.mark for run in app_of(cut_short).session.runs if run.figures.status is RunStatus.OK]
    assert {mark.pair for mark in marks if mark is not None} == {1, 2, 3}


def test_of_an_ab_that_is_complete_plus_says_why_there_are_no_more(walked: Walk) -> None:
    assert "e1 is complete. More pairs chosen after seeing the result would bias it." in walked.seen["plus"].notices


@pytest.mark.parametrize("more", [{}, {"nomerges": "2", "read_ahead_kb": "4096"}])
async def test_it_wants_exactly_one_staged_value(table: Table, load: PacedLoad, more: dict[str, str]) -> None:
    async with opened(table) as pilot:
        for key, value in more.items():
            app_of(pilot).stage("block:sda", key, value)
        await pilot.press("B")
        await pilot.pause()
        assert "exactly one value" in notices(pilot)


class Compare(Protocol):
    """The fixture of pytest-textual-snapshot."""

    def __call__(self, app: WorkbenchApp, *, terminal_size: tuple[int, int], run_before: object) -> bool: ...


@pytest.mark.long
@pytest.mark.parametrize("size", SIZES)
def test_picture(snap_compare: Compare, table: Table, load: PacedLoad, size: str) -> None:
    """A running experiment on the Bench screen."""

    async def act(pilot: Pilot[int]) -> None:
        await settled(pilot)
        app_of(pilot).stage("block:sda", "read_ahead_kb", "4096")
        await begun(pilot, load, 5)

    assert snap_compare(table.app(), terminal_size=SIZES[size], run_before=act)
