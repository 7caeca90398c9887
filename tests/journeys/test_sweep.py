"""A sweep from the keyboard: ticked, shown, begun, watched, left, found again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest
from rich.color import ColorSystem
from textual.pilot import Pilot

from app.core.session.sweep_steps import PublishedFigure, PublishedKind, PublishedRows, SweepResult
from app.core.workbench import Workbench
from app.features.advice.rules import advise
from app.features.sweep.engine.plan_file import load_plan
from app.features.sweep.screen.screen import SweepScreen
from app.features.sweep.screen.sweep_control import sweep_controller
from app.tui.app import WorkbenchApp
from app.tui.options import ScreenOptions
from app.tui.plot_worker import PlotWorker
from backends.simulator.host import SimulatedHost
from tests.backends.simulator.asking import FAST, still_rack
from tests.features.sweep.loaded import LoadedSweep
from tests.features.sweep.screen_sweeps import TWO_BY_THREE, InThisProcess, WrittenSweep
from tests.journeys.test_colours import ENOUGH, contrast, on_the_screen
from tests.tui.conftest import stillness
from tests.tui.stage import (
    MACHINE,
    SIZES,
    Table,
    answer,
    app_of,
    heard,
    notices,
    opened,
    paths_in,
    set_table,
    settled,
    text_of,
    until,
)
from widgets.choice_list import ChoiceDialog
from widgets.confirm import ConfirmDialog
from widgets.field_dialog import TextDialog
from widgets.question import QuestionDialog

SWEEP = "2026-11-21-130000"


def screen_of(pilot: Pilot[int]) -> SweepScreen:
    screen = pilot.app.screen
    assert isinstance(screen, SweepScreen)
    return screen


@asynccontextmanager
async def on_the_rack(folder: Path, size: str) -> AsyncIterator[Pilot[int]]:
    """The screen on the simulated rack, its first array read."""

    class Tea(SimulatedHost):
        name = MACHINE.host  # as the session says: the sweep in the background goes on with it

    host = Tea(still_rack(), speed=FAST)
    paths = paths_in(folder)
    hands = InThisProcess(host, paths)
    options = ScreenOptions(session=paths.sessions / "2026-11-21-120000", hand_over=hands, sweep_speed=100.0)
    app = WorkbenchApp(Workbench(host, paths=paths, advisor=advise), options)
    async with app.run_test(size=SIZES[size]) as pilot:
        await settled(pilot)
        await pilot.press("4")
        await until(pilot, lambda: "Write cache" in rows(pilot))
        yield pilot
        for task in hands.tasks:
            task.cancel()
        await asyncio.gather(*hands.tasks, return_exceptions=True)


@pytest.fixture(params=SIZES)
async def rack(request: pytest.FixtureRequest, tmp_path: Path, still: None) -> AsyncIterator[Pilot[int]]:
    """A screen for those who tick and begin."""
    async with on_the_rack(tmp_path, request.param) as pilot:
        yield pilot


@pytest.fixture(scope="module", params=["small", pytest.param("large", marks=pytest.mark.long)])
def looked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What stood on one screen from its opening to the question before data is destroyed, by what was done last."""
    folder = tmp_path_factory.mktemp("looked")

    async def walk() -> dict[str, str]:
        seen: dict[str, str] = {}
        async with on_the_rack(folder, request.param) as pilot:
            seen["opened"] = text_of(pilot)
            await pilot.press("r")
            seen["r"] = notices(pilot)
            await choose(pilot, "o", "queue-depth")
            await until(pilot, lambda: "group:targets" in [row.key for row in screen_of(pilot).planner.table.rows])
            seen["plan"] = rows(pilot)
            await pilot.press("A")
            await until(pilot, lambda: "Write cache" in rows(pilot))
            seen["A"] = rows(pilot)
            await tick(pilot, "setting:read_ahead", "none", "adaptive")
            await pilot.press("ctrl+s")
            await until(pilot, lambda: isinstance(pilot.app.screen, TextDialog))
            pilot.app.screen.dismiss(str(folder / "mine.toml"))
            await until(pilot, (folder / "mine.toml").exists)
            seen["saved"] = " ".join(map(str, load_plan(str(folder / "mine.toml")).axes[0].values))
            await tick(pilot, "job:iodepth", "1", "32")
            seen["ticked"] = await planned(pilot, "2 set-ups, 2 workloads")
            for key in ("*", "* again"):
                await pilot.press("asterisk")
                await pilot.pause()
                seen[key] = rows(pilot)
            await to_row(pilot, "job:iodepth|32")
            await pilot.press("space")
            await to_row(pilot, "job:iodepth|other")
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, TextDialog))
            await heard(pilot)
            await pilot.press(*"24", "enter")
            await planned(pilot, "2 workloads")
            seen["typed"] = " ".join(ticked(pilot, "job:iodepth"))
            await tick(pilot, "setting:strip_size", "65536", "262144")
            seen["strip size"] = await planned(pilot, "DESTROYS DATA")
            await pilot.press("r")
            await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
            await heard(pilot)
            await pilot.press("enter", "escape")
            await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
            seen["follower"] = str(sweep_controller(app_of(pilot)).follower)
            await choose(pilot, "T", "megaraid:/c0/v2")
            await until(pilot, lambda: "T megaraid:/c0/v2" in text_of(pilot))
            seen["target"] = text_of(pilot)
        return seen

    with stillness():
        return asyncio.run(walk())


def ticked(pilot: Pilot[int], axis: str) -> tuple[str, ...]:
    """Values of an axis that are ticked."""
    draft = screen_of(pilot).planner.draft
    return () if draft is None else tuple(draft.ticked.get(axis, ()))


async def choose(pilot: Pilot[int], key: str, value: str) -> None:
    """The key of a list, and what is taken from it."""
    await pilot.press(key)
    await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceDialog))
    pilot.app.screen.dismiss(value)


def rows(pilot: Pilot[int]) -> str:
    """The list of axes, all of it."""
    return "\n".join(str(row.cells[0]) for row in screen_of(pilot).planner.table.rows)


async def to_row(pilot: Pilot[int], key: str) -> None:
    screen_of(pilot).planner.table.cursor = key
    await pilot.pause()


async def tick(pilot: Pilot[int], axis: str, *values: str) -> None:
    """Opens an axis and ticks values of it."""
    await to_row(pilot, axis)
    await pilot.press("right")
    for value in values:
        await to_row(pilot, f"{axis}|{value}")
        await pilot.press("space")


def plan_of(pilot: Pilot[int]) -> str:
    """The right side, all of it."""
    from widgets.details import Details

    groups = screen_of(pilot).planner.query_one("#sweep-facts", Details).groups
    return "\n".join(
        f"{group.heading}: " + "; ".join(f"{fact.label} {fact.value}" for fact in group.facts) for group in groups
    )


async def planned(pilot: Pilot[int], words: str) -> str:
    await until(pilot, lambda: words in plan_of(pilot))
    return plan_of(pilot)


@pytest.mark.long
def test_it_begins_with_the_first_free_array(looked: dict[str, str]) -> None:
    assert "megaraid:/c0/v1" in looked["opened"]


@pytest.mark.long
def test_with_nothing_ticked_it_says_what_to_do(looked: dict[str, str]) -> None:
    assert "Select two values" in looked["r"]


@pytest.mark.long
def test_a_plan_that_comes_along_is_opened_and_left(looked: dict[str, str]) -> None:
    assert ["Write cache" in looked[key] for key in ("plan", "A")] == [False, True]


@pytest.mark.long
def test_another_target_is_chosen(looked: dict[str, str]) -> None:
    assert "T megaraid:/c0/v2" in looked["target"]


def test_ticked_values_make_a_plan(looked: dict[str, str]) -> None:
    shown = looked["ticked"]
    assert "12 steps" in shown
    assert "Read-ahead" in shown
    assert "restored to none at the end" in shown


def test_f_folds_away_what_was_not_chosen_and_shows_it_again(looked: dict[str, str]) -> None:
    folded, after = looked["*"], looked["* again"]
    assert ("Block size" in folded, "Queue depth" in folded, "Block size" in after) == (False, True, True)


def test_a_value_of_ones_own_is_typed(looked: dict[str, str]) -> None:
    assert looked["typed"] == "1 24"


def test_what_destroys_data_is_told_and_asked_for_by_name(looked: dict[str, str]) -> None:
    assert ("DESTROYS DATA" in looked["strip size"], looked["follower"]) == (True, "None")


def test_what_is_ticked_is_saved_as_a_plan(looked: dict[str, str]) -> None:
    assert looked["saved"] == "none adaptive"


@pytest.mark.exhaustive
async def test_it_runs_to_its_end_and_ranks(rack: Pilot[int]) -> None:
    await tick(rack, "setting:read_ahead", "none", "adaptive")
    await to_row(rack, "measure:pairs")
    await rack.press("right")
    await to_row(rack, "measure:pairs|0")
    await rack.press("space")
    await planned(rack, "2 set-ups")
    await rack.press("r")
    await answer(rack, "enter")
    await until(rack, lambda: (f := sweep_controller(app_of(rack)).follower) is not None and f.over)
    shown = text_of(rack)
    assert "FINISHED: 6 steps; settings restored" in shown
    assert "baseline" in shown


@pytest.fixture
def going(table: Table) -> WrittenSweep:
    """A sweep of another process, in its sixth step."""
    sweep = WrittenSweep(table.bench.paths.sessions / SWEEP)
    sweep.steps(5)
    sweep.running(sweep.design.steps[5])
    return sweep


async def watched(pilot: Pilot[int]) -> None:
    """Until the running sweep was found and read."""
    await until(pilot, lambda: sweep_controller(app_of(pilot)).running)
    await pilot.press("4")
    await until(pilot, lambda: "RUNNING step 6" in text_of(pilot))


@pytest.mark.long
async def test_a_sweep_of_another_process_is_found_and_goes_on_until_x_asks_it_to_stop(
    table: Table, going: WrittenSweep
) -> None:
    async with opened(table, SIZES["small"]) as pilot:
        await watched(pilot)
        assert "sweep 6/12" in text_of(pilot).splitlines()[0]
        await pilot.press("q")
        await answer(pilot, "escape")
        assert (pilot.app._exit, going.asked_to_stop) == (False, False)
        await pilot.press("x")
        await until(pilot, lambda: "STOPPING" in text_of(pilot))
        assert going.asked_to_stop
        going.end(SweepResult.STOPPED, "A stop was requested.")
        await until(pilot, lambda: "STOPPED after 5 of 12 steps; settings restored" in text_of(pilot))


@pytest.mark.long
async def test_r_continues_a_stopped_sweep(table: Table, going: WrittenSweep) -> None:
    continued: list[Path] = []

    async def hand_over(folder: Path) -> int:
        continued.append(folder)
        return 1

    table.options = replace(table.options, hand_over=hand_over)
    async with opened(table, SIZES["small"]) as pilot:
        await watched(pilot)
        going.end(SweepResult.STOPPED, "A stop was requested.")
        await until(pilot, lambda: "Press r to continue." in text_of(pilot))
        await pilot.press("r")
        await until(pilot, lambda: continued)
    assert continued == [going.folder]


@pytest.mark.long
async def test_leaving_it_running_asks_nothing_of_it(table: Table, going: WrittenSweep) -> None:
    async with opened(table) as pilot:
        await watched(pilot)
        await pilot.press("q")
        await answer(pilot, "l")
        await until(pilot, lambda: pilot.app._exit)
        assert not going.asked_to_stop


@pytest.mark.long
async def test_stopping_it_on_the_way_out_waits_until_everything_is_back(table: Table, going: WrittenSweep) -> None:
    async with opened(table) as pilot:
        await watched(pilot)
        await pilot.press("q")
        await answer(pilot, "s")
        await until(pilot, lambda: going.asked_to_stop)
        assert not pilot.app._exit
        going.end(SweepResult.STOPPED)
        await until(pilot, lambda: pilot.app._exit)


async def test_settings_that_are_not_back_are_shouted(table: Table, going: WrittenSweep) -> None:
    async with opened(table) as pilot:
        await watched(pilot)
        going.end(SweepResult.FAILED, "EIO", left=("ahead of fake:v1 is not none again: EIO",))
        await until(pilot, lambda: "NOT ALL SETTINGS WERE RESTORED: ahead of fake:v1" in text_of(pilot))


async def test_a_published_table_comes_before_everything_else_that_was_found(table: Table) -> None:
    made = replace(
        TWO_BY_THREE,
        published=(
            PublishedFigure(
                row="ahead=none",
                column="iodepth=1",
                kind=PublishedKind.IOPS,
                value=8000.0,
                source="an article",
                printed="8000",
                row_name="NORA",
                column_name="depth 1",
            ),
        ),
        published_rows=PublishedRows.SETUPS,
    )
    sweep = WrittenSweep(table.bench.paths.sessions / SWEEP, made)
    sweep.steps(len(made.steps))
    async with opened(table) as pilot:
        await pilot.press("4")
        await until(pilot, lambda: sweep_controller(app_of(pilot)).running)
        sweep.end(SweepResult.FINISHED)
        await until(pilot, lambda: "-50.0 %" in text_of(pilot))
        shown = text_of(pilot)
        assert "Comparison with published results: an article" in shown
        assert all(word in shown for word in ("NORA", "depth 1 IOPS", "8,000", "ours", "difference"))
        place = pilot.app.screen.query_one("#sweep-published")
        assert place.region.y <= pilot.app.screen.query_one("#sweep-short").region.y


async def test_a_sweep_that_was_cut_short_is_told_at_the_next_start(table: Table, going: WrittenSweep) -> None:
    going.close()
    async with opened(table) as pilot:
        await until(pilot, lambda: isinstance(pilot.app.screen, QuestionDialog))
        assert "A sweep was interrupted, and its settings may still be active." in text_of(pilot)


async def test_going_on_hands_it_to_another_process(tmp_path: Path, still: None) -> None:
    handed: list[Path] = []

    async def hand_over(folder: Path) -> int:
        handed.append(folder)
        return 1

    table = set_table(tmp_path, hand_over=hand_over)
    sweep = WrittenSweep(table.bench.paths.sessions / SWEEP)
    sweep.close()
    async with opened(table) as pilot:
        await answer(pilot, "c")
        await until(pilot, lambda: handed)
        assert handed == [sweep.folder]


@pytest.mark.long
async def test_read_only_starts_none(tmp_path: Path, still: None) -> None:
    table = set_table(tmp_path)
    async with opened(table) as pilot:
        await pilot.press("4")
        await until(pilot, lambda: "Block size" in rows(pilot))
        await tick(pilot, "job:iodepth", "1", "2")
        await planned(pilot, "2 workloads")
        await pilot.press("r")
        await until(pilot, lambda: "A sweep cannot be started in read-only mode" in notices(pilot))
        assert len(list(table.bench.paths.sessions.iterdir())) == 1


class Compare(Protocol):
    """The fixture of pytest-textual-snapshot."""

    def __call__(
        self, app: WorkbenchApp, *, terminal_size: tuple[int, int], run_before: Callable[[Pilot[int]], Awaitable[None]]
    ) -> bool: ...


async def ticking(pilot: Pilot[int]) -> None:
    """Two axes are ticked."""
    await until(pilot, lambda: "Block size" in rows(pilot))
    screen_of(pilot).planner.seed = 7
    await tick(pilot, "job:iodepth", "1", "32")
    await tick(pilot, "setting:scheduler", "none", "mq-deadline", "bfq")
    await planned(pilot, "2 workloads")


async def running(pilot: Pilot[int]) -> None:
    """Somebody's sweep is in its sixth step."""
    await until(pilot, lambda: "RUNNING step 6" in text_of(pilot))


def painted(pilot: Pilot[int]) -> str:
    """The picture of the sweep."""
    return str(pilot.app.screen.query_one("#sweep-picture", PlotWorker).content)


async def ended(pilot: Pilot[int]) -> None:
    """It is over."""
    await until(pilot, lambda: "FINISHED" in text_of(pilot))


@pytest.mark.long
@pytest.mark.parametrize("size", SIZES)
def test_picture_of_a_curve_that_is_complete(snap_compare: Compare, table: Table, size: str) -> None:
    loaded = LoadedSweep()
    sweep = WrittenSweep(table.bench.paths.sessions / SWEEP, loaded.design)
    sweep.write(*loaded.events)

    async def act(pilot: Pilot[int]) -> None:
        await settled(pilot)
        await pilot.press("4")
        await until(pilot, lambda: sweep_controller(app_of(pilot)).running)
        sweep.end(SweepResult.FINISHED)
        await ended(pilot)
        await until(pilot, lambda: "┤" in painted(pilot))
        pilot.app.clear_notifications()
        await pilot.pause()

    assert snap_compare(table.app(), terminal_size=SIZES[size], run_before=act)


@pytest.mark.long
async def test_a_curve_is_told_while_it_grows_and_drawn_at_its_end(table: Table) -> None:
    loaded = LoadedSweep(most=50)
    sweep = WrittenSweep(table.bench.paths.sessions / SWEEP, loaded.design)
    sweep.write(*loaded.events)
    async with opened(table) as pilot:
        await pilot.press("4")
        await until(pilot, lambda: "Asked" in text_of(pilot))
        assert not pilot.app.screen.query_one("#sweep-picture").display
        sweep.end(SweepResult.FINISHED)
        await until(pilot, lambda: "┤" in painted(pilot))


@pytest.mark.long
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("story", [ticking, running, ended], ids=lambda story: story.__name__)
def test_picture(
    snap_compare: Compare, table: Table, story: Callable[[Pilot[int]], Awaitable[None]], size: str
) -> None:
    sweep = None
    if story is not ticking:
        sweep = WrittenSweep(table.bench.paths.sessions / SWEEP)
        sweep.steps(5 if story is running else len(sweep.design.steps))
        sweep.running(sweep.design.steps[5 if story is running else 0])

    async def act(pilot: Pilot[int]) -> None:
        await settled(pilot)
        await pilot.press("4")
        if story is ended and sweep is not None:
            await until(pilot, lambda: sweep_controller(app_of(pilot)).running)
            sweep.end(SweepResult.FINISHED)
        await story(pilot)
        await until(pilot, lambda: story is not ended or "┤" in painted(pilot))
        pilot.app.clear_notifications()
        await pilot.pause()

    assert snap_compare(table.app(), terminal_size=SIZES[size], run_before=act)


@pytest.mark.exhaustive
@pytest.mark.parametrize("colours", [ColorSystem.TRUECOLOR, ColorSystem.EIGHT_BIT], ids=["millions", "256"])
@pytest.mark.parametrize("theme", ["dark", "light"])
async def test_every_figure_can_be_read_on_its_shade(
    tmp_path: Path, still: None, theme: str, colours: ColorSystem
) -> None:
    table = set_table(tmp_path, theme=theme)
    sweep = WrittenSweep(table.bench.paths.sessions / SWEEP)
    sweep.steps(5)
    sweep.running(sweep.design.steps[5])
    async with opened(table) as pilot:
        await watched(pilot)
        weak = {text for _, style, text in on_the_screen(pilot) if contrast(style, colours) < ENOUGH}
    sweep.close()
    assert weak == set()
