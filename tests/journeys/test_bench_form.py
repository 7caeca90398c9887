"""The job of the Bench screen: its form, and job files."""

from __future__ import annotations

import os

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from app.core.fio.fields import FIELDS
from app.core.fio.job_values import Pattern
from app.tui.bench.job_form import FieldRow, FoldedFields, JobForm
from tests.journeys.bench_walk import Way, press, screen_of, station, type_into, walked
from tests.tui.stage import Table, answer, heard, until

WRONG = ("/", "/nowhere/x.fio", "~nobody-of-that-name/x.fio", "/dev/null")
"""No job files."""


async def form(pilot: Pilot[int], field: str) -> JobForm:
    """The form, with the keys going into one of its fields."""
    await press(pilot, "e")
    screen = pilot.app.screen
    assert isinstance(screen, JobForm)
    screen.query_one(f"#field-{field}").focus()
    await pilot.pause()
    return screen


async def given_up(pilot: Pilot[int]) -> None:
    await pilot.press("escape")
    await until(pilot, lambda: not isinstance(pilot.app.screen, JobForm))


async def taken(pilot: Pilot[int]) -> None:
    await heard(pilot)
    await press(pilot, "ctrl+s")


def put(screen: JobForm, field: str, text: str) -> None:
    screen.query_one(f"#field-{field}").value = text  # type: ignore[attr-defined]


def shown(screen: JobForm) -> str:
    """Keys of the fields that are shown."""
    rows = screen.query(FieldRow)
    return " ".join((row.children[0].id or "").removeprefix("field-") for row in rows if row.display)


async def through_the_form(pilot: Pilot[int], table: Table, way: Way) -> None:
    """The form, again and again: first what is given up, then what is taken."""
    screen = await form(pilot, "bs")
    put(screen, "bs", "3000000000000")
    await pilot.pause()
    way["too large"] = station(pilot, str(screen.query_one("#complaint-bs", Static).visual))
    put(screen, "bs", "zero")
    await press(pilot, "ctrl+s")
    way["no size"] = station(pilot)
    put(screen, "bs", "4k")
    screen.query_one("#field-iodepth").focus()
    await pilot.pause()
    await press(pilot, "minus")
    way["less depth"] = station(pilot)
    await press(pilot, *"xyz")
    way["no depth"] = station(pilot)
    put(screen, "iodepth", "64")
    screen.query_one("#field-ioengine").focus()
    await pilot.pause()
    await pilot.press("enter")
    await answer(pilot, "down", "enter")
    way["engine"] = station(pilot, str(screen.query_one("#form-summary", Static).content))
    await given_up(pilot)
    for key in ("plus", "minus"):
        await form(pilot, "iodepth")
        await pilot.press(key)
        await taken(pilot)
        way[f"depth {key}"] = station(pilot)
    await form(pilot, "runtime")
    await pilot.press("plus", "minus")
    await taken(pilot)
    way["run time typed"] = station(pilot)
    put(await form(pilot, "rw"), "iodepth", "7")
    await pilot.press("space")
    await taken(pilot)
    way["own"] = station(pilot)
    screen = await form(pilot, "rw")
    way["folded"] = station(pilot, shown(screen))
    put(screen, "randseed", "7")
    screen.query_one(FoldedFields).focus()
    await press(pilot, "space")
    way["unfolded"] = station(pilot, f"{screen.focused.id if screen.focused else None} {shown(screen)}")
    await taken(pilot)
    way["own seed"] = station(pilot, shown(await form(pilot, "rw")))
    await given_up(pilot)


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> Way:
    return walked(tmp_path_factory.mktemp("forms"), through_the_form)


@pytest.mark.long
def test_the_form_says_at_the_field_what_is_wrong(forms: Way) -> None:
    assert forms["too large"].more


@pytest.mark.long
def test_the_form_does_not_take_a_bad_value(forms: Way) -> None:
    assert forms["no size"].screen is JobForm


def test_the_form_shows_the_job_and_how_it_differs_from_its_profile(forms: Way) -> None:
    text = forms["less depth"].text
    assert "QD 32 · 1 job" in text
    assert "different from randread-4k: Queue depth 64 -> 32" in text


def test_the_form_names_the_fields_that_make_no_job(forms: Way) -> None:
    assert "invalid fields: Queue depth" in forms["no depth"].text


def test_enter_lists_what_a_field_takes(forms: Way) -> None:
    assert str(forms["engine"].more).endswith("io_uring")


@pytest.mark.parametrize(("how", "named"), [("run time typed", True), ("depth plus", False)])
def test_a_run_time_that_is_typed_is_named_whatever_it_is(forms: Way, how: str, named: bool) -> None:
    there = forms[how]
    assert there.job is not None
    assert (there.job.runtime, there.named_runtime) == (60, named)


def test_plus_makes_the_depth_the_next_round_one(forms: Way) -> None:
    there = forms["depth plus"]
    assert there.job is not None
    assert there.job.iodepth == 128


def test_a_job_changed_back_has_the_name_of_its_profile_again(forms: Way) -> None:
    assert (forms["depth plus"].profile, forms["depth minus"].profile) == (None, "randread-4k")


def test_a_job_of_ones_own_is_taken(forms: Way) -> None:
    there = forms["own"]
    assert there.job is not None
    assert (there.job.iodepth, there.profile) == (7, None)


def test_a_pattern_is_chosen_from_those_there_are(forms: Way) -> None:
    there = forms["own"]
    assert there.job is not None
    assert there.job.rw is Pattern.RANDWRITE


COMMON_FIELDS = "rw bs iodepth numjobs rwmixread runtime ramp size ioengine direct"


def test_the_form_shows_what_most_jobs_are_told_by(forms: Way) -> None:
    assert forms["folded"].more == COMMON_FIELDS


def test_all_other_fields_are_behind_one_line(forms: Way) -> None:
    focused, *fields = str(forms["unfolded"].more).split()
    assert (focused, sorted(fields)) == ("field-bssplit", sorted(field.key for field in FIELDS))


def test_a_field_with_a_value_of_its_own_is_shown_in_its_place(forms: Way) -> None:
    assert forms["own seed"].more == COMMON_FIELDS.replace("rwmixread", "rwmixread randseed")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Way:
    """One job file after the other: first those that are refused."""
    folder = tmp_path_factory.mktemp("files")
    os.mkfifo(folder / "pipe")
    texts = {
        "evil": "[a]\nrw=read\nexec_prerun=touch /tmp/x\n",
        "good": "[a]\nrw=randwrite\nbs=8k\niodepth=16\n",
        "minute": "[a]\nrw=randwrite\nruntime=60\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)

    async def through_the_files(pilot: Pilot[int], table: Table, way: Way) -> None:
        for name in (*WRONG, "pipe", *texts):
            before = screen_of(pilot).job
            await pilot.press("o")
            await type_into(pilot, name if name in WRONG else str(folder / name))
            way[name] = station(pilot, before)

    return walked(folder, through_the_files)


@pytest.mark.long
@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_job_file_is_a_sentence(files: Way, name: str) -> None:
    assert files[name].notices


@pytest.mark.long
def test_a_pipe_is_not_waited_for(files: Way) -> None:
    assert "pipe cannot be read: Is a named pipe" in files["pipe"].notices


@pytest.mark.long
def test_a_job_file_that_runs_programs_is_refused(files: Way) -> None:
    there = files["evil"]
    assert ("exec_prerun" in there.notices, there.job) == (True, there.more)


def test_a_job_file_is_taken(files: Way) -> None:
    there = files["good"]
    assert there.job is not None
    assert there.job.bs == 8192


def test_a_job_file_that_names_a_run_time_of_a_minute_means_it(files: Way) -> None:
    assert (files["good"].named_runtime, files["minute"].named_runtime) == (False, True)
