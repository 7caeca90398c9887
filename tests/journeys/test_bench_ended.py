"""What can be done with runs that ended: summed up, compared, opened again, kept as a baseline, reported."""

from __future__ import annotations

import asyncio

import pytest
from textual.pilot import Pilot

from app.tui.bench.past_run import RunScreen
from app.tui.bench.screen import BenchScreen
from app.tui.runs.compare import CompareScreen
from app.tui.runs.figures import FiguresScreen
from backends.errors import StorageError
from tests.journeys.bench_walk import Way, press, run_once, screen_of, start, station, type_into, walked
from tests.tui.conftest import stillness
from tests.tui.stage import Table, answer, app_of, notices, opened, set_table, text_of, until

NO_REPORT = ("out.pdf", "there.md", "nowhere/out.md")
"""Where no report can be written: another kind of file, a file that is there, a folder that is not."""


async def opened_again(pilot: Pilot[int], table: Table) -> None:
    """The first run, upon the Bench screen."""
    session = app_of(pilot).session
    assert table.bench.folder is not None
    await pilot.app.push_screen(RunScreen(session.runs[0], table.bench.folder, session))
    await until(pilot, lambda: "no samples were saved for this run" in text_of(pilot))


async def two_runs(pilot: Pilot[int], table: Table, way: Way) -> None:
    """Two runs, and what follows on the Bench screen; then the list of them."""
    await run_once(pilot, table)
    way["one"] = station(pilot)
    await run_once(pilot, table, 102_000.0)
    way["two"] = station(pilot)
    await press(pilot, "c")
    way["c"] = station(pilot)
    await pilot.press("escape")
    await until(pilot, lambda: isinstance(pilot.app.screen, BenchScreen))
    for key in ("h", "escape"):
        await opened_again(pilot, table)
        way["opened again"] = station(pilot)
        await pilot.press(key)
        await until(pilot, lambda: not isinstance(pilot.app.screen, RunScreen))
        way[f"back by {key}"] = station(pilot)
    await press(pilot, "3")
    await press(pilot, "space", "c")
    way["one marked"] = station(pilot)
    await press(pilot, "down", "space", "c")
    way["compared"] = station(pilot)
    await pilot.press("escape", "enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, RunScreen))
    way["enter"] = station(pilot)
    await pilot.press("f")
    await until(pilot, lambda: isinstance(pilot.app.screen, FiguresScreen))
    way["figures"] = station(pilot)
    await pilot.press("v")
    await until(pilot, lambda: "No such file" in " ".join(text_of(pilot).replace("│", " ").split()))
    way["raw output"] = station(pilot)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Way:
    return walked(tmp_path_factory.mktemp("ended"), two_runs)


@pytest.mark.long
def test_the_end_is_summed_up(ended: Way) -> None:
    assert "done: read 85.4k IOPS, 334 MiB/s, p50 310 µs, p99 1.20 ms" in ended["one"].text


@pytest.mark.long
def test_the_end_says_what_to_do_next(ended: Way) -> None:
    assert "r run it again, E export" in ended["one"].text
    assert "Next: B measure against another value, c compare with r1, E export." in ended["two"].text


@pytest.mark.long
def test_c_compares_the_run_with_the_one_before(ended: Way) -> None:
    assert ended["c"].screen is CompareScreen


def test_a_run_is_opened_again_with_its_graphs(ended: Way) -> None:
    assert (ended["opened again"].screen, "85.4k" in ended["opened again"].text) == (RunScreen, True)


@pytest.mark.parametrize("key", ["h", "escape"])
def test_one_step_back_from_a_run_that_was_opened_again_is_the_screen_below(ended: Way, key: str) -> None:
    assert ended[f"back by {key}"].screen is BenchScreen


def test_two_marked_runs_are_compared(ended: Way) -> None:
    assert (ended["compared"].screen, "+19" in ended["compared"].text) == (CompareScreen, True)


def test_one_mark_is_not_enough_to_compare(ended: Way) -> None:
    assert "Mark two runs" in ended["one marked"].notices


def test_enter_opens_the_graphs_of_a_run_again(ended: Way) -> None:
    assert ended["enter"].screen is RunScreen


def test_f_then_shows_all_its_figures(ended: Way) -> None:
    assert (ended["figures"].screen, "Deviation" in ended["figures"].text) == (FiguresScreen, True)


def test_raw_output_that_is_not_there_is_a_sentence(ended: Way) -> None:
    assert ended["raw output"].screen is FiguresScreen


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Way:
    """A run as the baseline of the next one, in a report, and seen from a later session."""
    folder = tmp_path_factory.mktemp("kept")
    (folder / "there.md").write_text("mine")

    async def one_run(pilot: Pilot[int], table: Table, way: Way) -> None:
        await run_once(pilot, table)
        assert table.options.session is not None
        (table.options.session / "runs" / "r1").mkdir(parents=True, exist_ok=True)  # as fio would
        await press(pilot, "3")
        for name in (*NO_REPORT, "out.md"):
            await pilot.press("E")
            await type_into(pilot, str(folder / name))
            await pilot.app.workers.wait_for_complete()
            await pilot.pause()
            file = folder / name
            way[name] = station(pilot, file.read_text() if file.exists() else None)
        for key in ("b", "b again"):
            await press(pilot, key[0])
            way[key] = station(pilot)
        await press(pilot, "b", "2")
        screen_of(pilot)
        await start(pilot, table)
        way["next run"] = station(pilot)
        table.load.finish()
        await until(pilot, lambda: not table.bench.jobs.running)

    async def later(table: Table, way: Way) -> None:
        async with opened(table) as pilot:
            await press(pilot, "3")
            way["later"] = station(pilot)
            await pilot.press("asterisk")
            await until(pilot, lambda: "2026-11-21-120000/r1" in text_of(pilot))
            way["earlier runs"] = station(pilot)

    way = walked(folder, one_run)
    with stillness():
        asyncio.run(later(set_table(folder, session=folder / "sessions" / "2026-11-21-130000"), way))
    return way


@pytest.mark.long
def test_b_marks_the_baseline_and_takes_the_mark_away(kept: Way) -> None:
    assert (kept["b"].session.baseline, kept["b again"].session.baseline) == ("r1", None)


@pytest.mark.long
def test_the_baseline_is_drawn_into_the_next_run(kept: Way) -> None:
    assert "baseline r1" in kept["next run"].text


@pytest.mark.long
def test_the_report_is_written_where_it_is_wanted(kept: Way) -> None:
    assert "85.4k" in str(kept["out.md"].more)


@pytest.mark.long
@pytest.mark.parametrize("name", NO_REPORT)
def test_a_report_that_cannot_be_written_is_a_sentence(kept: Way, name: str) -> None:
    there = kept[name]
    assert ("Cannot write the report" in there.notices, there.more) == (True, "mine" if name == "there.md" else None)


def test_runs_of_earlier_sessions_are_shown_on_demand(kept: Way) -> None:
    assert "2026-11-21-120000/r1" in kept["earlier runs"].text


def test_an_empty_list_says_that_earlier_sessions_have_runs_and_the_key(kept: Way) -> None:
    assert "1 earlier session has runs: * shows them" in kept["later"].text


def fill_disk(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on nothing can be written into the session."""
    log = table.bench._log
    assert log is not None

    def full(_event: object) -> None:
        raise StorageError("The session cannot be written: No space left on device.", hint="Make room.")

    monkeypatch.setattr(log, "append", full)


async def test_a_full_disk_stops_the_record_and_says_so_and_no_run_seems_to_go_on(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(table) as pilot:
        await press(pilot, "2")
        await start(pilot, table)
        fill_disk(table, monkeypatch)
        table.load.finish()
        await until(pilot, lambda: not table.bench.jobs.running and not screen_of(pilot).pending)
        await until(pilot, lambda: "NOT RECORDED" in text_of(pilot))
        assert "No space left" in notices(pilot)
        assert app_of(pilot).session.active is None


async def test_on_a_full_disk_nothing_is_changed(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(table) as pilot:
        fill_disk(table, monkeypatch)
        await pilot.press("1", "enter", "down", "space", "a")
        await answer(pilot, "enter")
        await until(pilot, lambda: "No space left" in notices(pilot))
        assert table.host.written == []
