"""Running a job and watching it, by keys alone; and what the keys of the screens do while nothing runs."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from app.core.session.results import RunStatus
from app.tui.bench.screen import BenchScreen
from app.tui.log.screen import LogScreen
from app.tui.runs.screen import RunsScreen
from tests.journeys.bench_walk import Station, Way, press, screen_of, start, station, stopped, type_into, walked
from tests.tui.stage import Table, answer, app_of, text_of, until
from widgets.chart import LineChart
from widgets.choice_list import ChoiceDialog
from widgets.log_view import LogView


def charts(pilot: Pilot[int]) -> tuple[LineChart, ...]:
    return screen_of(pilot).graphs.charts


def windows(pilot: Pilot[int]) -> set[float]:
    return {chart.window for chart in charts(pilot)}


async def keys_without_a_job(pilot: Pilot[int], table: Table, way: Way) -> None:
    """What the keys do while nothing runs."""
    await until(pilot, lambda: "Profile" in text_of(pilot).splitlines()[-1])
    way["opened"] = station(pilot)
    for key in ("x", "plus", "minus"):
        await press(pilot, key)
        way[key] = station(pilot)
    await press(pilot, "L")
    way["L"] = station(pilot, pilot.app.screen.query_one("#latency", LineChart).log_scale)
    await press(pilot, "space")
    way["space"] = station(pilot, [chart.frozen for chart in charts(pilot)])
    await press(pilot, "question_mark")
    way["help"] = station(pilot)
    await press(pilot, "escape")
    await pilot.press("p")
    await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceDialog))
    await press(pilot, "ctrl+p")
    way["palette over a dialog"] = station(pilot)
    await answer(pilot, "down", "enter")
    way["another profile"] = station(pilot)
    await pilot.press("ctrl+p", *"earlier runs")
    await until(pilot, lambda: "Show or hide the runs" in text_of(pilot))
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen))
    way["palette"] = station(pilot, app_of(pilot).current_mode)


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Way:
    return walked(tmp_path_factory.mktemp("idle"), keys_without_a_job)


@pytest.mark.long
def test_an_idle_screen_waits_for_nothing(idle: Way) -> None:
    text = idle["opened"].text
    assert ("waiting" in text, "r runs the job" in text) == (False, True)


@pytest.mark.long
def test_the_footer_begins_with_running(idle: Way) -> None:
    assert idle["opened"].footer[:4] == ["r", "Run", "p", "Profile"]


@pytest.mark.long
def test_x_without_a_job_says_so(idle: Way) -> None:
    assert "No job is running" in idle["x"].notices


@pytest.mark.parametrize(
    ("key", "words"), [("plus", "no data to zoom in on yet"), ("minus", "already show the whole time")]
)
def test_a_zoom_that_goes_no_further_says_so(idle: Way, key: str, words: str) -> None:
    assert words in idle[key].notices


def test_l_shows_latency_on_a_linear_scale(idle: Way) -> None:
    assert idle["L"].more is False


def test_space_freezes_all_graphs(idle: Way) -> None:
    assert idle["space"].more == [True, True, True]


def test_help_lists_every_key_of_the_screen(idle: Way) -> None:
    assert all(label in idle["help"].text for label in ("Freeze", "Heat map", "Log or linear", "Precondition"))


def test_the_palette_stays_away_from_dialogs(idle: Way) -> None:
    assert idle["palette over a dialog"].screen is ChoiceDialog


def test_a_profile_is_chosen_from_a_list(idle: Way) -> None:
    chosen = idle["another profile"]
    assert (chosen.profile, "randwrite-4k" in chosen.text) == ("randwrite-4k", True)


def test_the_palette_finds_a_command_of_another_screen_and_goes_there(idle: Way) -> None:
    assert (idle["palette"].screen, idle["palette"].more) == (RunsScreen, "runs")


async def through_the_log(pilot: Pilot[int], table: Table, way: Way) -> None:
    """The log of a session in which nothing was done yet: unfolded, searched, written into."""
    await press(pilot, "5", "home", "enter")
    way["unfolded"] = station(pilot)
    await press(pilot, "enter", "slash", *"drives", "escape")
    way["given up"] = station(pilot, pilot.app.screen.query_one(LogView).search)
    await press(pilot, "slash", *"drives", "enter")
    way["searched"] = station(pilot, len(pilot.app.screen.query_one(LogView).matches))
    await pilot.press("escape", "A")
    await type_into(pilot, "fan is loud")
    await pilot.pause()
    way["noted"] = station(pilot)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Way:
    return walked(tmp_path_factory.mktemp("log"), through_the_log)


@pytest.mark.long
def test_enter_unfolds_an_entry(log: Way) -> None:
    assert (log["unfolded"].screen, "Debian 12" in log["unfolded"].text) == (LogScreen, True)


def test_escape_ends_the_search(log: Way) -> None:
    assert log["given up"].more == ""


def test_the_log_is_searched(log: Way) -> None:
    assert log["searched"].more == 1


def test_a_note_is_in_the_log(log: Way) -> None:
    assert "fan is loud" in log["noted"].text


def silent(table: Table) -> None:
    """fio tells that nothing was completed for 1.2 s."""
    for part in range(5):
        table.load.take(5.0 + part * 0.25, 0.0, p99=None, stalled=True)


async def a_job_that_runs(pilot: Pilot[int], table: Table, way: Way) -> None:
    """A job is watched, on this screen and on others, to an end that comes while another one is in front."""
    await start(pilot, table)
    await until(pilot, lambda: "Stop" in text_of(pilot).splitlines()[-1])
    way["started"] = station(pilot)
    for key in ("r", "g", "y"):
        await press(pilot, key)
        way[key] = station(pilot)
    for key in ("plus", "minus"):
        await press(pilot, key)
        way[key] = station(pilot, windows(pilot))
    await press(pilot, "z")
    way["z"] = station(pilot, next(chart.data.x_max for chart in charts(pilot) if chart.data is not None))
    await pilot.press("v")
    await until(pilot, lambda: "all I/Os of an interval" in text_of(pilot))
    way["v"] = station(pilot)
    await pilot.press("v")
    await until(pilot, lambda: "all I/Os" not in text_of(pilot))
    way["v again"] = station(pilot)
    await pilot.press("p")
    await answer(pilot, "down", "enter")
    way["another workload"] = station(pilot)
    silent(table)
    await until(pilot, lambda: "No I/O completed" in text_of(pilot))
    way["silence"] = station(pilot, table.bench.jobs.running)
    await press(pilot, "5")
    way["log"] = station(pilot)
    await pilot.press("3")
    table.load.finish()
    await until(pilot, lambda: not table.bench.jobs.running)
    await press(pilot, "2")
    way["back"] = station(pilot)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Way:
    return walked(tmp_path_factory.mktemp("watched"), a_job_that_runs)


@pytest.mark.long
def test_a_running_job_is_in_the_header_of_every_screen(watched: Way) -> None:
    assert "ETA" in watched["log"].text.splitlines()[0]


@pytest.mark.long
def test_the_figures_of_the_interval_stand_above_the_graphs(watched: Way) -> None:
    assert "85.4k" in watched["started"].figures


@pytest.mark.long
def test_processor_shares_are_shown(watched: Way) -> None:
    assert "fio 41 % of a core, host 27 %" in watched["started"].text


@pytest.mark.long
def test_while_a_job_runs_the_footer_begins_with_stopping_it(watched: Way) -> None:
    assert watched["started"].footer[:2] == ["x", "Stop"]


def test_r_does_not_start_a_second_job(watched: Way) -> None:
    assert "running already" in watched["r"].notices


def test_g_shows_bytes(watched: Way) -> None:
    assert ("─ MiB/s ─" in watched["r"].text, "─ MiB/s ─" in watched["g"].text) == (False, True)


def test_one_key_begins_the_upper_graph_near_its_values_and_says_so(watched: Way) -> None:
    assert ("not from 0" in watched["g"].text, "not from 0" in watched["y"].text) == (False, True)


def test_the_first_press_of_plus_shows_less_time_and_minus_goes_back(watched: Way) -> None:
    assert (watched["plus"].more, watched["minus"].more) == ({60.0}, {0.0})


def test_z_fits_the_time_axis_to_what_was_measured(watched: Way) -> None:
    assert watched["z"].more == 11.0


def test_v_shows_the_latency_as_a_heat_map_and_back(watched: Way) -> None:
    assert ("all I/Os of an interval" in watched["v"].text, "p99.9" in watched["v again"].text) == (True, True)


def test_while_a_job_runs_the_screen_names_that_job(watched: Way) -> None:
    assert "4k random read" in watched["another workload"].row("randread-4k:")


def test_silence_of_fio_is_told(watched: Way) -> None:
    told = watched["silence"]
    assert ("No I/O completed for 1.2 s" in told.text, told.more) == (True, True)


def test_a_run_that_ended_meanwhile_is_summed_up_when_the_screen_comes_back(watched: Way) -> None:
    summary = watched["back"].text
    assert "r1 failed: No I/O completed for 1.2 s" in summary
    assert "read 85.4k IOPS" in summary


async def jobs_that_end(pilot: Pilot[int], table: Table, way: Way) -> None:
    """One job after the other, stopped or come to its end; the last one on another screen."""
    table.load.laid_out = False
    await pilot.press("r")
    await until(pilot, lambda: table.bench.jobs.running and "laying out" in text_of(pilot))
    await stopped(pilot, table)
    way["while it was laid out"] = station(pilot)
    table.load.laid_out = True
    await pilot.press("r")
    await until(pilot, lambda: app_of(pilot).session.active is not None)
    await stopped(pilot, table)
    await until(pilot, lambda: "nothing was measured" in text_of(pilot))
    way["before its first sample"] = station(pilot)
    await start(pilot, table)
    table.load.finish(iops=102_000.0)
    await until(pilot, lambda: "r3 done" in text_of(pilot))
    way["ended"] = station(pilot)
    await start(pilot, table)
    await stopped(pilot, table)
    way["stopped"] = station(pilot)
    await start(pilot, table)
    await press(pilot, "1")
    way["looking away"] = station(pilot)
    silent(table)
    await until(pilot, lambda: "No I/O completed" in text_of(pilot))
    way["silence elsewhere"] = station(pilot)
    table.load.finish()
    await until(pilot, lambda: not table.bench.jobs.running)
    way["ended elsewhere"] = station(pilot)


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> Way:
    return walked(tmp_path_factory.mktemp("ends"), jobs_that_end)


def last_run(there: Station) -> RunStatus:
    return there.session.runs[-1].figures.status


@pytest.mark.parametrize("when", ["while it was laid out", "before its first sample", "stopped"])
def test_x_stops_and_keeps_the_figures(ends: Way, when: str) -> None:
    assert last_run(ends[when]) is RunStatus.STOPPED


def test_a_run_stopped_before_its_first_sample_waits_for_nothing(ends: Way) -> None:
    assert "waiting" not in ends["before its first sample"].text


def test_after_the_end_no_figure_of_an_interval_is_left(ends: Way) -> None:
    there = ends["ended"]
    assert ("102k" in there.figures, "85.4k" in there.text) == (True, False)


def test_after_the_end_the_footer_begins_with_running_again_and_comparing(ends: Way) -> None:
    assert ends["ended"].footer[:4] == ["r", "Run", "c", "Compare"]


def test_a_stall_is_told_on_whichever_screen_is_in_front(ends: Way) -> None:
    there = ends["silence elsewhere"]
    assert (there.screen is BenchScreen, "No I/O completed" in there.text) == (False, True)


def test_a_run_goes_on_while_another_screen_is_in_front(ends: Way) -> None:
    away, after = ends["looking away"], ends["ended elsewhere"]
    assert (away.session.active is not None, away.screen is BenchScreen) == (True, False)
    assert last_run(after) is RunStatus.FAILED  # the device stalled while the log was in front
