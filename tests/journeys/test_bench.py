"""Choosing a job, running it, watching it, and what can be done with its figures: by keys alone."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from app.engine.fio.job_values import Pattern
from app.engine.session.figures import RunStatus
from app.tui.screens.bench.job_form import JobForm
from app.tui.screens.bench.reopened import RunScreen
from app.tui.screens.bench.screen import BenchScreen
from app.tui.screens.log.screen import LogScreen
from app.tui.screens.runs.compare import CompareScreen
from app.tui.screens.runs.figures import FiguresScreen
from backends.errors import StorageError
from tests.tui.conftest import stillness
from tests.tui.stage import Moment, Table, answer, app_of, heard, moment, notices, opened, set_table, text_of, until
from widgets.chart import LineChart
from widgets.choice_list import ChoiceDialog
from widgets.confirm import ConfirmDialog
from widgets.field_dialog import TextDialog
from widgets.log_view import LogView


@pytest.fixture
async def bench(table: Table) -> AsyncIterator[Pilot[int]]:
    """The Bench screen."""
    async with opened(table) as pilot:
        await pilot.press("2")
        await pilot.pause()
        yield pilot


def screen_of(pilot: Pilot[int]) -> BenchScreen:
    screen = pilot.app.screen
    assert isinstance(screen, BenchScreen)
    return screen


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
    await until(pilot, lambda: not table.bench.measuring and len(app_of(pilot).session.runs) > before)
    await until(pilot, lambda: not screen_of(pilot).pending)


def figures_in(text: str) -> str:
    """The line of the large figures."""
    lines = text.splitlines()
    return lines[next(at for at, line in enumerate(lines) if "IOPS read" in line) + 1]


async def type_into(pilot: Pilot[int], text: str) -> None:
    """Into the field of the dialog in front, over what stands there."""
    await until(pilot, lambda: isinstance(pilot.app.screen, TextDialog))
    await heard(pilot)
    field = pilot.app.screen.query_one("#field")
    field.value = text  # type: ignore[attr-defined]
    await pilot.press("enter")
    await pilot.pause()


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Moment]:
    """Moments of one workbench with a running job, by what was done last."""
    table = set_table(tmp_path_factory.mktemp("watched"))

    async def walk() -> dict[str, Moment]:
        seen: dict[str, Moment] = {}
        async with opened(table) as pilot:
            await pilot.press("2")
            await pilot.pause()
            await start(pilot, table)
            seen["started"] = moment(pilot, table)
            for key in ("r", "g"):
                await pilot.press(key)
                await pilot.pause()
                seen[key] = moment(pilot, table)
            await pilot.press("p")
            await answer(pilot, "down", "enter")
            seen["another workload"] = moment(pilot, table)
            await pilot.press("5")
            await pilot.pause()
            seen["log"] = moment(pilot, table)
            await pilot.press("3")
            table.load.finish()
            await until(pilot, lambda: not table.bench.measuring)
            await pilot.press("2")
            await pilot.pause()
            seen["back"] = moment(pilot, table)
        return seen

    with stillness():
        return asyncio.run(walk())


def test_a_running_job_is_in_the_header_of_every_screen(watched: dict[str, Moment]) -> None:
    assert "ETA" in watched["log"].text.splitlines()[0]


def test_the_figures_of_the_interval_stand_above_the_graphs(watched: dict[str, Moment]) -> None:
    assert "85.4k" in figures_in(watched["started"].text)


def test_processor_shares_are_shown(watched: dict[str, Moment]) -> None:
    assert "fio 41 % of a core, host 27 %" in watched["started"].text


def test_r_does_not_start_a_second_job(watched: dict[str, Moment]) -> None:
    assert "running already" in watched["r"].notices


def test_g_shows_bytes(watched: dict[str, Moment]) -> None:
    assert ("─ MiB/s ─" in watched["r"].text, "─ MiB/s ─" in watched["g"].text) == (False, True)


def test_while_a_job_runs_the_screen_names_that_job(watched: dict[str, Moment]) -> None:
    assert "4k random read" in watched["another workload"].row("randread-4k:")


def test_a_run_that_ended_meanwhile_is_summed_up_when_the_screen_comes_back(watched: dict[str, Moment]) -> None:
    assert "done: read" in watched["back"].text


async def test_the_end_is_summed_up(bench: Pilot[int], table: Table) -> None:
    await run_once(bench, table)
    assert "done: read 85.4k IOPS, 334 MiB/s, p50 310 µs, p99 1.20 ms" in text_of(bench)


async def test_x_stops_and_keeps_the_figures(bench: Pilot[int], table: Table) -> None:
    await start(bench, table)
    await bench.press("x")
    await until(bench, lambda: not table.bench.measuring)
    assert app_of(bench).session.runs[0].figures.status is RunStatus.STOPPED


async def test_x_stops_the_laying_out_of_a_file_too(bench: Pilot[int], table: Table) -> None:
    table.load.laid_out = False
    await bench.press("r")
    await until(bench, lambda: table.bench.measuring and "laying out" in text_of(bench))
    await bench.press("x")
    await until(bench, lambda: not table.bench.measuring)
    assert app_of(bench).session.runs[0].figures.status is RunStatus.STOPPED


async def test_x_without_a_job_says_so(bench: Pilot[int]) -> None:
    await bench.press("x")
    await bench.pause()
    assert "No job is running" in notices(bench)


async def test_a_run_goes_on_while_another_screen_is_in_front(bench: Pilot[int], table: Table) -> None:
    await start(bench, table)
    await bench.press("1")
    await bench.pause()
    table.load.finish()
    await until(bench, lambda: not table.bench.measuring)
    assert app_of(bench).session.runs[0].figures.status is RunStatus.OK


async def test_silence_of_fio_is_told(bench: Pilot[int], table: Table) -> None:
    await start(bench, table)
    for part in range(5):
        table.load.take(5.0 + part * 0.25, 0.0, p99=None, stalled=True)
    await until(bench, lambda: "No I/O completed for 1.2 s" in text_of(bench))
    assert table.bench.measuring


async def test_a_stall_is_told_on_whichever_screen_is_in_front(bench: Pilot[int], table: Table) -> None:
    await start(bench, table)
    await bench.press("1")
    for part in range(5):
        table.load.take(5.0 + part * 0.25, 0.0, p99=None, stalled=True)
    await until(bench, lambda: "No I/O completed" in text_of(bench))
    assert "No I/O completed" in notices(bench)


def charts(pilot: Pilot[int]) -> tuple[LineChart, ...]:
    return screen_of(pilot).graphs.charts


async def test_space_freezes_all_graphs(bench: Pilot[int]) -> None:
    await bench.press("space")
    assert [chart.frozen for chart in charts(bench)] == [True, True, True]


async def test_the_first_press_of_plus_shows_less_time_and_minus_goes_back(bench: Pilot[int], table: Table) -> None:
    await start(bench, table)
    await bench.press("plus")
    closer = {chart.window for chart in charts(bench)}
    await bench.press("minus")
    assert (closer, {chart.window for chart in charts(bench)}) == ({60.0}, {0.0})


@pytest.mark.parametrize(("key", "words"), [("plus", "nothing to be shown closer"), ("minus", "All of the time")])
async def test_a_zoom_that_goes_no_further_says_so(bench: Pilot[int], key: str, words: str) -> None:
    await bench.press(key)
    await bench.pause()
    assert words in notices(bench)


async def test_z_fits_the_time_axis_to_what_was_measured(bench: Pilot[int], table: Table) -> None:
    await start(bench, table)
    await bench.press("z")
    await bench.pause()
    fitted = charts(bench)[0].data
    assert fitted is not None
    assert fitted.x_max == 11.0


async def test_an_idle_screen_waits_for_nothing(bench: Pilot[int]) -> None:
    assert ("waiting" in text_of(bench), "r runs the job" in text_of(bench)) == (False, True)


async def test_a_run_stopped_before_its_first_sample_waits_for_nothing(bench: Pilot[int], table: Table) -> None:
    await bench.press("r")
    await until(bench, lambda: app_of(bench).session.active is not None)
    await bench.press("x")
    await until(bench, lambda: "nothing was measured" in text_of(bench))
    assert "waiting" not in text_of(bench)


async def test_after_the_end_no_figure_of_an_interval_is_left(bench: Pilot[int], table: Table) -> None:
    await start(bench, table)
    table.load.finish(iops=102_000.0)
    await until(bench, lambda: "r1 done" in text_of(bench))
    assert ("102k" in figures_in(text_of(bench)), "85.4k" in text_of(bench)) == (True, False)


async def test_the_end_says_what_to_do_next(bench: Pilot[int], table: Table) -> None:
    await run_once(bench, table)
    first = text_of(bench)
    await run_once(bench, table)
    assert "r run it again, E export" in first
    assert "Next: B measure against another value, c compare with r1, E export." in text_of(bench)


async def test_c_compares_the_run_with_the_one_before(bench: Pilot[int], table: Table) -> None:
    await run_once(bench, table)
    await run_once(bench, table)
    await bench.press("c")
    await bench.pause()
    assert isinstance(bench.app.screen, CompareScreen)


async def test_a_run_is_opened_again_with_its_graphs(bench: Pilot[int], table: Table) -> None:
    await run_once(bench, table)
    session = app_of(bench).session
    assert table.bench.folder is not None
    await bench.app.push_screen(RunScreen(session.runs[0], table.bench.folder, session))
    await until(bench, lambda: "no sample was kept of this run" in text_of(bench))
    assert "85.4k" in text_of(bench)


@pytest.mark.parametrize("key", ["h", "escape"])
async def test_one_step_back_from_a_run_that_was_opened_again_is_the_screen_below(
    bench: Pilot[int], table: Table, key: str
) -> None:
    await run_once(bench, table)
    session = app_of(bench).session
    assert table.bench.folder is not None
    await bench.app.push_screen(RunScreen(session.runs[0], table.bench.folder, session))
    await bench.press(key)
    await until(bench, lambda: bench.app.screen is screen_of(bench))


async def test_the_footer_has_the_keys_of_what_goes_on(bench: Pilot[int], table: Table) -> None:
    def begins(*words: str) -> bool:
        return text_of(bench).splitlines()[-1].split()[: len(words)] == list(words)

    await until(bench, lambda: begins("r", "Run", "p", "Profile"))
    await start(bench, table)
    await until(bench, lambda: begins("x", "Stop"))
    table.load.finish()
    await until(bench, lambda: begins("r", "Run", "c", "Compare"))


async def test_v_shows_the_latency_as_a_heat_map_and_back(bench: Pilot[int], table: Table) -> None:
    await start(bench, table)
    await bench.press("v")
    await until(bench, lambda: "all I/Os of the moment" in text_of(bench))
    await bench.press("v")
    await until(bench, lambda: "p99.9" in text_of(bench) and "all I/Os" not in text_of(bench))


async def test_l_shows_latency_on_a_linear_scale(bench: Pilot[int]) -> None:
    await bench.press("l")
    assert not bench.app.screen.query_one("#latency", LineChart).log_scale


async def test_a_profile_is_chosen_from_a_list(bench: Pilot[int]) -> None:
    await bench.press("p")
    await answer(bench, "down", "enter")
    assert (screen_of(bench).profile, "randwrite-4k" in text_of(bench)) == ("randwrite-4k", True)


async def test_the_form_says_at_the_field_what_is_wrong(bench: Pilot[int]) -> None:
    await bench.press("e")
    await bench.pause()
    bench.app.screen.query_one("#field-bs").value = "3000000000000"  # type: ignore[attr-defined]
    await bench.pause()
    assert str(bench.app.screen.query_one("#complaint-bs").visual)  # type: ignore[attr-defined]


async def test_the_form_does_not_take_a_bad_value(bench: Pilot[int]) -> None:
    await bench.press("e")
    await bench.pause()
    bench.app.screen.query_one("#field-bs").value = "zero"  # type: ignore[attr-defined]
    await bench.press("ctrl+s")
    await bench.pause()
    assert isinstance(bench.app.screen, JobForm)


async def test_a_job_of_ones_own_is_taken(bench: Pilot[int]) -> None:
    await bench.press("e")
    await bench.pause()
    bench.app.screen.query_one("#field-iodepth").value = "7"  # type: ignore[attr-defined]
    await heard(bench)
    await bench.press("ctrl+s")
    await bench.pause()
    assert (screen_of(bench).job.iodepth, screen_of(bench).profile) == (7, None)


async def form(pilot: Pilot[int], field: str) -> JobForm:
    """The form, with the keys going into one of its fields."""
    await pilot.press("e")
    await pilot.pause()
    screen = pilot.app.screen
    assert isinstance(screen, JobForm)
    screen.query_one(f"#field-{field}").focus()
    await pilot.pause()
    return screen


async def test_plus_makes_the_depth_the_next_round_one(bench: Pilot[int]) -> None:
    await form(bench, "iodepth")
    await bench.press("plus")
    await heard(bench)
    await bench.press("ctrl+s")
    await bench.pause()
    assert screen_of(bench).job.iodepth == 128


@pytest.mark.parametrize("keys", [("plus", "minus"), ()], ids=["typed", "left alone"])
async def test_a_run_time_that_is_typed_is_named_whatever_it_is(bench: Pilot[int], keys: tuple[str, ...]) -> None:
    await form(bench, "runtime")
    await bench.press(*keys)
    await heard(bench)
    await bench.press("ctrl+s")
    await bench.pause()
    assert (screen_of(bench).job.runtime, screen_of(bench).request().told) == (60, bool(keys))


async def test_a_pattern_is_chosen_from_those_there_are(bench: Pilot[int]) -> None:
    await form(bench, "rw")
    await bench.press("space")
    await heard(bench)
    await bench.press("ctrl+s")
    await bench.pause()
    assert screen_of(bench).job.rw is Pattern.RANDWRITE


async def test_enter_lists_what_a_field_takes(bench: Pilot[int]) -> None:
    await form(bench, "ioengine")
    await bench.press("enter")
    await answer(bench, "down", "enter")
    assert str(bench.app.screen.query_one("#form-summary", Static).content).endswith("io_uring")


async def test_the_form_shows_the_job_and_how_it_differs_from_its_profile(bench: Pilot[int]) -> None:
    await form(bench, "iodepth")
    await bench.press("minus")
    await bench.pause()
    assert "QD 32 · 1 job" in text_of(bench)
    assert "other than randread-4k: Queue depth 64 -> 32" in text_of(bench)


async def test_a_job_changed_back_has_the_name_of_its_profile_again(bench: Pilot[int]) -> None:
    for key in ("plus", "minus"):
        await form(bench, "iodepth")
        await bench.press(key)
        await heard(bench)
        await bench.press("ctrl+s")
        await bench.pause()
    assert screen_of(bench).profile == "randread-4k"


async def test_the_form_names_the_fields_that_make_no_job(bench: Pilot[int]) -> None:
    await form(bench, "iodepth")
    await bench.press(*"xyz")
    await bench.pause()
    assert "not a job yet: Queue depth" in text_of(bench)


async def test_a_job_file_is_taken(bench: Pilot[int], tmp_path: Path) -> None:
    (tmp_path / "a.fio").write_text("[a]\nrw=randwrite\nbs=8k\niodepth=16\n")
    await bench.press("o")
    await type_into(bench, str(tmp_path / "a.fio"))
    assert screen_of(bench).job.bs == 8192


async def test_a_job_file_that_names_a_run_time_of_a_minute_means_it(bench: Pilot[int], tmp_path: Path) -> None:
    (tmp_path / "a.fio").write_text("[a]\nrw=randwrite\nruntime=60\n")
    await bench.press("o")
    await bench.pause()
    await type_into(bench, str(tmp_path / "a.fio"))
    assert screen_of(bench).request().told


async def test_a_job_file_that_runs_programs_is_refused(bench: Pilot[int], tmp_path: Path) -> None:
    (tmp_path / "a.fio").write_text("[a]\nrw=read\nexec_prerun=touch /tmp/x\n")
    before = screen_of(bench).job
    await bench.press("o")
    await type_into(bench, str(tmp_path / "a.fio"))
    assert ("exec_prerun" in notices(bench), screen_of(bench).job) == (True, before)


@pytest.mark.parametrize("name", ["/", "/nowhere/x.fio", "~nobody-of-that-name/x.fio", "/dev/null"])
async def test_what_is_no_job_file_is_a_sentence(bench: Pilot[int], name: str) -> None:
    await bench.press("o")
    await type_into(bench, name)
    assert notices(bench)


async def test_a_pipe_is_not_waited_for(bench: Pilot[int], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    await bench.press("o")
    await type_into(bench, str(tmp_path / "pipe"))
    assert "not a regular file" in notices(bench)


async def test_a_device_is_chosen_as_target(bench: Pilot[int]) -> None:
    await bench.press("T")
    await answer(bench, "down", "enter")
    assert "block:sda · hdd · sda" in text_of(bench)


async def test_another_place_for_the_scratch_file_is_taken(bench: Pilot[int]) -> None:
    await bench.press("T")
    await until(bench, lambda: isinstance(bench.app.screen, ChoiceDialog))
    await heard(bench)
    await bench.press("enter")
    await type_into(bench, "/somewhere/else.dat")
    assert "in /somewhere/else.dat" in text_of(bench)


async def test_a_place_that_is_no_place_is_a_sentence(bench: Pilot[int]) -> None:
    await bench.press("T")
    await until(bench, lambda: isinstance(bench.app.screen, ChoiceDialog))
    await heard(bench)
    await bench.press("enter")
    await type_into(bench, "~nobody-of-that-name/x")
    await bench.press("r")
    await until(bench, lambda: "Not measured" in notices(bench))
    assert not app_of(bench).session.runs


async def writing_to_sda(pilot: Pilot[int]) -> None:
    """A writing job on the hard disk, started."""
    await pilot.press("1")
    await pilot.pause()
    await pilot.press("m")
    await pilot.pause()
    await pilot.press("p")
    await answer(pilot, "down", "enter")
    await pilot.press("r")
    await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
    await heard(pilot)


async def test_m_takes_the_device_to_the_bench(bench: Pilot[int]) -> None:
    await bench.press("1")
    await bench.pause()
    await bench.press("m")
    await bench.pause()
    assert "block:sda · hdd · sda" in text_of(bench)


async def test_writing_to_a_device_in_use_is_refused_with_the_reason(bench: Pilot[int], table: Table) -> None:
    table.gate.refused = ("/dev/sda is mounted on /srv.",)
    await writing_to_sda(bench)
    assert ("mounted on /srv" in text_of(bench), "REFUSED" in text_of(bench)) == (True, True)


async def test_writing_to_a_device_names_what_is_lost(bench: Pilot[int], table: Table) -> None:
    table.gate.found = ("/dev/sda1: ext4 'home', 931.5 GiB",)
    await writing_to_sda(bench)
    assert "ext4 'home'" in text_of(bench)


async def test_a_device_is_written_to_only_after_its_name_was_typed(bench: Pilot[int], table: Table) -> None:
    table.gate.found = ("/dev/sda1: ext4",)
    await writing_to_sda(bench)
    await bench.press("tab", *"sda", "enter", "enter")
    await until(bench, lambda: app_of(bench).session.active is not None)
    assert app_of(bench).session.runs[0].start.destructive


async def test_another_name_does_not_start_it(bench: Pilot[int], table: Table) -> None:
    table.gate.found = ("/dev/sda1: ext4",)
    await writing_to_sda(bench)
    await bench.press("tab", *"sdb", "enter", "enter")
    await bench.pause()
    assert not app_of(bench).session.runs


async def two_runs(pilot: Pilot[int], table: Table) -> None:
    """Two finished runs, and the list of them."""
    await run_once(pilot, table)
    await run_once(pilot, table, 102_000.0)
    await pilot.press("3")
    await pilot.pause()


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Moment]:
    """Moments of one list of two runs, by what was done last."""
    table = set_table(tmp_path_factory.mktemp("listed"))

    async def walk() -> dict[str, Moment]:
        seen: dict[str, Moment] = {}
        async with opened(table) as pilot:
            await pilot.press("2")
            await pilot.pause()
            await two_runs(pilot, table)
            await pilot.press("space", "c")
            await pilot.pause()
            seen["one marked"] = moment(pilot, table)
            await pilot.press("down", "space", "c")
            await pilot.pause()
            seen["compared"] = moment(pilot, table)
            await pilot.press("escape", "enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, RunScreen))
            seen["enter"] = moment(pilot, table)
            await pilot.press("f")
            await until(pilot, lambda: isinstance(pilot.app.screen, FiguresScreen))
            seen["figures"] = moment(pilot, table)
            await pilot.press("r")
            await until(pilot, lambda: "No such file" in " ".join(text_of(pilot).replace("│", " ").split()))
            seen["raw output"] = moment(pilot, table)
        return seen

    with stillness():
        return asyncio.run(walk())


def test_two_marked_runs_are_compared(listed: dict[str, Moment]) -> None:
    assert (listed["compared"].screen, "+19" in listed["compared"].text) == (CompareScreen, True)


def test_one_mark_is_not_enough_to_compare(listed: dict[str, Moment]) -> None:
    assert "Mark two runs" in listed["one marked"].notices


def test_enter_opens_the_graphs_of_a_run_again(listed: dict[str, Moment]) -> None:
    assert listed["enter"].screen is RunScreen


def test_f_then_shows_all_its_figures(listed: dict[str, Moment]) -> None:
    assert (listed["figures"].screen, "Deviation" in listed["figures"].text) == (FiguresScreen, True)


def test_raw_output_that_is_not_there_is_a_sentence(listed: dict[str, Moment]) -> None:
    assert listed["raw output"].screen is FiguresScreen


async def test_b_marks_the_baseline_and_takes_the_mark_away(bench: Pilot[int], table: Table) -> None:
    await two_runs(bench, table)
    await bench.press("b")
    await bench.pause()
    marked = app_of(bench).session.baseline
    await bench.press("b")
    await bench.pause()
    assert (marked, app_of(bench).session.baseline) == ("r1", None)


async def test_the_baseline_is_drawn_into_the_next_run(bench: Pilot[int], table: Table) -> None:
    await run_once(bench, table)
    await bench.press("b")
    await start(bench, table)
    assert "baseline r1" in text_of(bench)


async def test_runs_of_earlier_sessions_are_shown_on_demand(bench: Pilot[int], table: Table, tmp_path: Path) -> None:
    await run_once(bench, table)
    later = set_table(tmp_path, session=tmp_path / "sessions" / "2026-11-21-130000")
    async with opened(later) as pilot:
        await pilot.press("3", "A")
        await until(pilot, lambda: "2026-11-21-120000/r1" in text_of(pilot))


async def test_an_empty_list_says_that_earlier_sessions_have_runs_and_the_key(
    bench: Pilot[int], table: Table, tmp_path: Path
) -> None:
    await run_once(bench, table)
    assert table.options.session is not None
    (table.options.session / "runs" / "r1").mkdir(parents=True, exist_ok=True)  # as fio would
    later = set_table(tmp_path, session=tmp_path / "sessions" / "2026-11-21-130000")
    async with opened(later) as pilot:
        await pilot.press("3")
        await pilot.pause()
        assert "1 earlier session has runs: A shows them" in text_of(pilot)


async def test_the_report_is_written_where_it_is_wanted(bench: Pilot[int], table: Table, tmp_path: Path) -> None:
    await run_once(bench, table)
    await bench.press("3", "e")
    await type_into(bench, str(tmp_path / "out.md"))
    await bench.app.workers.wait_for_complete()
    assert "85.4k" in (tmp_path / "out.md").read_text()


@pytest.mark.parametrize("name", ["out.pdf", "there.md", "nowhere/out.md"])
async def test_a_report_that_cannot_be_written_is_a_sentence(
    bench: Pilot[int], table: Table, tmp_path: Path, name: str
) -> None:
    (tmp_path / "there.md").write_text("mine")
    await run_once(bench, table)
    await bench.press("3", "e")
    await type_into(bench, str(tmp_path / name))
    await bench.app.workers.wait_for_complete()
    await bench.pause()
    assert ("No report was written" in notices(bench), (tmp_path / "there.md").read_text()) == (True, "mine")


async def test_a_note_is_in_the_log(bench: Pilot[int]) -> None:
    await bench.press("5", "w")
    await type_into(bench, "fan is loud")
    await bench.pause()
    assert "fan is loud" in text_of(bench)


async def test_the_log_is_searched(bench: Pilot[int]) -> None:
    await bench.press("5", "slash", *"drives", "enter")
    await bench.pause()
    assert len(bench.app.screen.query_one(LogView).matches) == 1


async def test_escape_ends_the_search(bench: Pilot[int]) -> None:
    await bench.press("5", "slash", *"drives", "escape")
    await bench.pause()
    assert bench.app.screen.query_one(LogView).search == ""


async def test_enter_unfolds_an_entry(bench: Pilot[int]) -> None:
    await bench.press("5", "home", "enter")
    await bench.pause()
    assert (isinstance(bench.app.screen, LogScreen), "Debian 12" in text_of(bench)) == (True, True)


async def test_help_lists_every_key_of_the_screen(bench: Pilot[int]) -> None:
    await bench.press("question_mark")
    await bench.pause()
    assert "fio's summary is kept" in text_of(bench)


async def test_the_palette_finds_a_command_of_another_screen_and_goes_there(bench: Pilot[int]) -> None:
    await bench.press("ctrl+p", *"earlier runs")
    await until(bench, lambda: "Show or hide the runs" in text_of(bench))
    await bench.press("enter")
    await until(bench, lambda: type(bench.app.screen).__name__ == "RunsScreen")
    assert app_of(bench).current_mode == "runs"


async def test_the_palette_stays_away_from_dialogs(bench: Pilot[int]) -> None:
    await bench.press("p")
    await until(bench, lambda: isinstance(bench.app.screen, ChoiceDialog))
    await bench.press("ctrl+p")
    await bench.pause()
    assert isinstance(bench.app.screen, ChoiceDialog)


async def test_a_full_disk_stops_the_record_and_says_so(
    bench: Pilot[int], table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    await start(bench, table)
    fill_disk(table, monkeypatch)
    table.load.finish()
    await until(bench, lambda: not table.bench.measuring)
    await until(bench, lambda: "NOT RECORDED" in text_of(bench))
    assert "No space left" in notices(bench)


async def test_a_run_whose_end_could_not_be_recorded_is_not_shown_as_running(
    bench: Pilot[int], table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    await start(bench, table)
    fill_disk(table, monkeypatch)
    table.load.finish()
    await until(bench, lambda: not table.bench.measuring and not screen_of(bench).pending)
    assert app_of(bench).session.active is None


async def test_on_a_full_disk_nothing_is_changed(
    bench: Pilot[int], table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_disk(table, monkeypatch)
    await bench.press("1", "enter", "down", "space", "a")
    await answer(bench, "enter")
    await until(bench, lambda: "No space left" in notices(bench))
    assert table.host.written == []


def fill_disk(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on nothing can be written into the session."""
    log = table.bench._log
    assert log is not None

    def full(_event: object) -> None:
        raise StorageError("The session cannot be written: No space left on device.", hint="Make room.")

    monkeypatch.setattr(log, "append", full)
