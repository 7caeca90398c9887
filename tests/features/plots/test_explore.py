"""X: pictures of what was measured, one key each, sized to the screen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
from textual.pilot import Pilot

from app.core.session.store import load
from app.features.plots.screen.plot_choices import ExploreOrigin, offers
from app.features.plots.screen.screen import ExploreScreen
from app.features.plots.selection import PlacedRun, PlotSelection
from app.tui.runs.screen import RunsScreen
from tests.core import sessions
from tests.features.plots.making import experiment, run
from tests.tui.conftest import stillness
from tests.tui.stage import Table, heard, opened, set_table, text_of, until
from widgets.choice_list import ChoiceDialog
from widgets.plot_render.plot_data import StaticPlotKind
from widgets.plot_view import StaticPlotView

Found = TypeVar("Found")


def measured(folder: Path) -> Table:
    """An A/B of three pairs, and two runs by themselves."""
    table = set_table(folder)
    assert table.options.session is not None
    events = (sessions.started(), sessions.seen(), *experiment(), *run(7), *run(8, ahead="4096", iops=700))
    sessions.written(table.options.session, *events)
    return table


def shown(pilot: Pilot[int], *words: str) -> Callable[[], bool]:
    return lambda: all(word in text_of(pilot) for word in words)


def fills(view: StaticPlotView, size: tuple[int, int]) -> bool:
    """Whether a picture was painted for the size that its place has in a terminal of this one."""
    return view.app.size == size and len(str(view.content).splitlines()) == view.size.height


async def explored(pilot: Pilot[int], *keys: str) -> ExploreScreen:
    """From the first screen on, until a picture stands there."""
    await pilot.press("3")
    await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen))
    await pilot.press(*keys, "X")
    await until(pilot, lambda: isinstance(pilot.app.screen, ExploreScreen))
    await until(pilot, lambda: "┤" in text_of(pilot) or "Nothing to draw over time" in text_of(pilot))
    screen = pilot.app.screen
    assert isinstance(screen, ExploreScreen)
    return screen


def walked(folder: Path, walk: Callable[[Pilot[int]], Coroutine[None, None, Found]]) -> Found:
    """What a walk finds on a small terminal."""

    async def all_of_it() -> Found:
        async with opened(measured(folder), (80, 24)) as pilot:
            return await walk(pilot)

    with stillness():
        return asyncio.run(all_of_it())


@pytest.mark.long
def test_a_run_of_an_ab_brings_both_arms_and_the_verdict(tmp_path: Path) -> None:
    async def walk(pilot: Pilot[int]) -> str:
        await explored(pilot)
        return text_of(pilot)

    text = str(walked(tmp_path, walk))
    assert all(words in text for words in ("A/B e1", "3 pairs", "──●──", "read-ahead 4096 KiB", "Explore · A/B e1"))


@pytest.mark.long
def test_marked_runs_stand_over_one_another(tmp_path: Path) -> None:
    async def walk(pilot: Pilot[int]) -> str:
        await explored(pilot, "end", "space", "up", "space")
        return text_of(pilot)

    text = str(walked(tmp_path, walk))
    assert ("r8, r7" in text, "by percentile" in text) == (True, True)


TITLES = {
    StaticPlotKind.HISTOGRAM: ": latency, 3 runs each",
    StaticPlotKind.BOX: ": IOPS, 3 runs each",
    StaticPlotKind.SCATTER: "IOPS and p99",
    StaticPlotKind.TIMELINE: "are not on disk",
    StaticPlotKind.CURVE: "A curve needs a sweep",
    StaticPlotKind.HISTORY: "Press * for all sessions",
    StaticPlotKind.PERCENTILES: "percentile",
}
"""What each picture shows, or says where it has no data."""


@pytest.mark.long
def test_each_picture_is_in_the_list_and_says_why_where_it_has_none(tmp_path: Path) -> None:
    async def walk(pilot: Pilot[int]) -> set[StaticPlotKind]:
        await explored(pilot)
        for kind, words in TITLES.items():
            await pilot.press("v")
            await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceDialog))
            await heard(pilot)
            await pilot.press("home", *["down"] * list(StaticPlotKind).index(kind), "enter")
            await until(pilot, shown(pilot, f"[{kind.value}]", words))
        return set(TITLES)

    assert walked(tmp_path, walk) == set(StaticPlotKind)


def test_the_key_of_histories_shows_the_history_in_explore_too(tmp_path: Path) -> None:
    async def walk(pilot: Pilot[int]) -> str:
        await explored(pilot)
        await pilot.press("H")
        await until(pilot, shown(pilot, "[history]", "Only one session is included."))
        return "shown"

    assert walked(tmp_path, walk) == "shown"


@pytest.mark.long
def test_brackets_pass_over_pictures_without_data(tmp_path: Path) -> None:
    async def walk(pilot: Pilot[int]) -> list[str]:
        await explored(pilot)
        names = []
        for word in ("[histogram]", "[box]", "[scatter]", "[timeline]", "[percentiles]"):
            await pilot.press("right_square_bracket")
            await until(pilot, shown(pilot, word))
            names.append(word)
        return names

    assert len(walked(tmp_path, walk)) == 5


@pytest.mark.long
def test_it_is_drawn_anew_when_the_terminal_has_another_size(tmp_path: Path) -> None:
    async def walk(pilot: Pilot[int]) -> list[tuple[int, bool]]:
        screen = await explored(pilot)
        found = []
        for size in ((80, 24), (120, 40), (200, 60)):
            await pilot.resize_terminal(*size)
            view = screen.query_one("#explore-main", StaticPlotView)
            await until(pilot, partial(fills, view, size))
            found.append((view.size.width, screen.query_one("#explore-second").display and screen.has_class("-beside")))
        return found

    (small, one), (large, other), (_, wide) = walked(tmp_path, walk)
    assert (small, large > 110, one, other, wide) == (78, True, False, False, True)


@pytest.mark.long
def test_enter_offers_what_else_there_is_and_a_star_takes_all_sessions(tmp_path: Path) -> None:
    async def walk(pilot: Pilot[int]) -> str:
        await explored(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceDialog))
        offered = text_of(pilot)
        await pilot.press("escape", "asterisk")
        await until(pilot, shown(pilot, "8 runs of 1 session", "4 runs each"))
        return offered

    offered = str(walked(tmp_path, walk))
    assert all(words in offered for words in ("A/B e1", "r1 on sda", "all sessions of sda"))


@pytest.mark.long
def test_it_writes_picture_and_figures_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "raidbench-percentiles.txt"

    async def walk(pilot: Pilot[int]) -> str:
        await explored(pilot)
        await pilot.press("E")
        await until(pilot, shown(pilot, "Write the plot to"))
        await heard(pilot)
        await pilot.press("enter")
        await until(pilot, file.exists)
        await until(pilot, lambda: file.read_text().endswith("\n"))
        return file.read_text()

    text = str(walked(tmp_path, walk))
    assert ("by percentile" in text, "Slower" in text, "p99.9" in text, "\x1b" in text) == (
        True,
        True,
        True,
        False,
    )


@pytest.mark.long
def test_left_goes_back_and_marks_are_as_they_were(tmp_path: Path) -> None:
    async def walk(pilot: Pilot[int]) -> str:
        await explored(pilot, "space")
        await pilot.press("left")
        await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen))
        return text_of(pilot)

    assert "1 marked" in str(walked(tmp_path, walk))


def test_without_a_run_it_says_which_keys_make_one(tmp_path: Path) -> None:
    async def walk() -> str:
        async with opened(set_table(tmp_path), (80, 24)) as pilot:
            await pilot.press("3")
            await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen))
            await pilot.press("X")
            await until(pilot, shown(pilot, "There is no run yet. Press 2 for Bench, then r to start one."))
            return "said"

    with stillness():
        assert asyncio.run(walk()) == "said"


def test_the_baseline_is_put_beneath_the_run_that_is_looked_at(tmp_path: Path) -> None:
    table = measured(tmp_path)
    assert table.options.session is not None
    held = load(table.options.session).session
    held = replace(held, baseline="r7")
    cursor = held.run("r8")
    assert cursor is not None
    origin = ExploreOrigin(session=held, folder=tmp_path, cursor=PlacedRun(run=cursor, folder=tmp_path))
    made = [offers(origin, table.bench)[0].make(beneath) for beneath in (True, False)]
    assert [[part.baseline for part in one.parts] for one in made if isinstance(one, PlotSelection)] == [
        [False, True],
        [False],
    ]
