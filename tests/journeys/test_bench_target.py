"""What the job of the Bench screen is run on: a scratch file, a device, and what it takes to write to one."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.journeys.bench_walk import Way, press, station, type_into, walked
from tests.tui.stage import Table, answer, app_of, heard, notices, text_of, until
from widgets.choice_list import ChoiceDialog
from widgets.confirm import ConfirmDialog


async def scratch_file_at(pilot: Pilot[int], place: str) -> None:
    """The first of the targets, at another place."""
    await pilot.press("T")
    await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceDialog))
    await heard(pilot)
    await pilot.press("home", "enter")
    await type_into(pilot, place)


async def asked(pilot: Pilot[int]) -> None:
    """The question before a device is written to."""
    await pilot.press("r")
    await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
    await heard(pilot)


async def left(pilot: Pilot[int]) -> None:
    await pilot.press("escape")
    await until(pilot, lambda: "not started" in text_of(pilot))
    pilot.app.clear_notifications()


async def from_target_to_target(pilot: Pilot[int], table: Table, way: Way) -> None:
    """Targets are chosen; then a writing job is to run on a hard disk in one state after the other."""
    await pilot.press("T")
    await answer(pilot, "down", "enter")
    way["chosen"] = station(pilot)
    await scratch_file_at(pilot, "/somewhere/else.dat")
    way["elsewhere"] = station(pilot)
    await scratch_file_at(pilot, "~nobody-of-that-name/x")
    await pilot.press("r")
    await until(pilot, lambda: "Not measured" in notices(pilot))
    way["nowhere"] = station(pilot)
    await press(pilot, "1")
    await press(pilot, "m")
    way["taken along"] = station(pilot)
    await pilot.press("p")
    await answer(pilot, "down", "enter")
    table.gate.refused = ("/dev/sda is mounted on /srv.",)
    await asked(pilot)
    way["in use"] = station(pilot)
    await left(pilot)
    app_of(pilot).refresh_screen()  # as what goes on behind does at any time
    await pilot.pause()
    way["left"] = station(pilot)
    table.gate.refused, table.gate.found = (), ("/dev/sda1: ext4 'home', 931.5 GiB",)
    await asked(pilot)
    way["not empty"] = station(pilot)
    await press(pilot, "tab", *"sdb", "enter", "enter")
    way["another name"] = station(pilot)
    await left(pilot)
    await asked(pilot)
    await pilot.press("tab", *"sda", "enter", "enter")
    await until(pilot, lambda: app_of(pilot).session.active is not None)
    way["its name"] = station(pilot)


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> Way:
    return walked(tmp_path_factory.mktemp("targets"), from_target_to_target)


@pytest.mark.long
def test_a_device_is_chosen_as_target(targets: Way) -> None:
    assert "block:sda · hdd · sda" in targets["chosen"].text


@pytest.mark.long
def test_another_place_for_the_scratch_file_is_taken(targets: Way) -> None:
    assert "in /somewhere/else.dat" in targets["elsewhere"].text


@pytest.mark.long
def test_a_place_that_is_no_place_is_a_sentence(targets: Way) -> None:
    there = targets["nowhere"]
    assert ("Not measured" in there.notices, there.session.runs) == (True, ())


def test_m_takes_the_device_to_the_bench(targets: Way) -> None:
    before, after = targets["nowhere"].text, targets["taken along"].text
    assert ("block:sda · hdd · sda" in before, "block:sda · hdd · sda" in after) == (False, True)


def test_writing_to_a_device_in_use_is_refused_with_the_reason(targets: Way) -> None:
    text = targets["in use"].text
    assert ("mounted on /srv" in text, "REFUSED" in text) == (True, True)


def test_that_it_did_not_start_stands_until_something_else_is_to_be_measured(targets: Way) -> None:
    said = "not started" in targets["left"].text, "not measured" in targets["taken along"].text
    assert said == (True, False)


def test_writing_to_a_device_names_what_is_lost(targets: Way) -> None:
    assert "ext4 'home'" in targets["not empty"].text


def test_another_name_does_not_start_it(targets: Way) -> None:
    assert targets["another name"].session.runs == ()


def test_a_device_is_written_to_only_after_its_name_was_typed(targets: Way) -> None:
    (run,) = targets["its name"].session.runs
    assert run.start.destructive
