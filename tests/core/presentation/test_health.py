"""The health of a drive in the list of devices and among its facts."""

from __future__ import annotations

from typing import Any

import pytest

from app.core.presentation.device import device_facts, state_cell
from app.core.presentation.device_table import DeviceListOptions, devices_table, matching_keys, search_texts
from app.core.presentation.device_tree import DeviceTreeNode
from app.core.presentation.table import Cell, StatusSymbol, Tone, text_of
from backends.health import HealthFault
from backends.model import Array, Drive, Fact, Health, Inventory, Level, Media, Scope, State, Target
from tests.case_loop import loop_over

MD = Target(backend="md", address="md0", scope=Scope.ARRAY)


def drive(name: str = "sda", state: State = State.ONLINE, facts: tuple[Fact, ...] = (), **health: Any) -> Drive:
    target = Target(backend="scsi", address=name)
    return Drive(
        target=target,
        array=MD,
        device=f"/dev/{name}",
        media=Media.SSD,
        state=state,
        facts=facts,
        health=Health(**health),
    )


def lines(shown: Drive) -> dict[str, tuple[str, Tone]]:
    found = [line for group in device_facts(shown) if group.heading == "Health" for line in group.facts]
    assert len({line.label for line in found}) == len(found)
    return {line.label: (line.value, line.tone) for line in found}


@loop_over(
    ("health", "words"),
    [
        ({"predicts_failure": True}, "predicts failure"),
        ({"predictive_errors": 1}, "predicts failure"),
        ({"locked": True}, "locked"),
        ({"media_errors": 1}, "media errors"),
        ({"foreign": True}, "foreign"),
        ({"temperature": 70.0}, "hot"),
        ({"wear_percent": 80.0}, "worn"),
        ({"other_errors": 100}, "other errors"),
        ({"predicts_failure": True, "media_errors": 7, "wear_percent": 99.0}, "predicts failure"),
    ],
)
def test_the_gravest_fault_marks_a_drive(health: dict[str, Any], words: str) -> None:
    cell = state_cell(DeviceTreeNode(device=drive(**health)))
    assert (cell.text, cell.mark) == (words, StatusSymbol.ATTENTION)
    assert cell.tone is (Tone.BAD if HealthFault(words).is_grave else Tone.ATTENTION)
    assert len(words) < len("unassigned, rebuilding")


@pytest.mark.parametrize(
    "health",
    [
        {},
        {"predicts_failure": False, "predictive_errors": 0, "media_errors": 0, "locked": False, "foreign": False},
        {"wear_percent": 79.9, "temperature": 69.0, "other_errors": 99},
        {"temperature": 74.0, "temperature_limit": 75.0},
    ],
)
def test_a_drive_in_good_health_has_no_mark(health: dict[str, Any]) -> None:
    assert state_cell(DeviceTreeNode(device=drive(**health))) == Cell("online", Tone.GOOD, StatusSymbol.WELL)


def test_a_state_that_says_more_follows_the_fault() -> None:
    spare = drive(state=State.SPARE, predicts_failure=True)
    assert state_cell(DeviceTreeNode(device=spare)).text == "predicts failure, spare"
    rebuilding = drive(state=State.REBUILDING, media_errors=1)
    assert state_cell(DeviceTreeNode(device=rebuilding)).text == "media errors, rebuilding"
    foreign = drive(state=State.FOREIGN, foreign=True)
    assert state_cell(DeviceTreeNode(device=foreign)).text == "foreign"


def test_a_drive_that_is_gone_keeps_its_state() -> None:
    gone = state_cell(DeviceTreeNode(device=drive(state=State.FAILED, predicts_failure=True)))
    assert (gone.text, gone.mark) == ("failed", StatusSymbol.FAILED)
    out = state_cell(DeviceTreeNode(device=drive(predicts_failure=True), role="failed"))
    assert (out.text, out.mark) == ("failed", StatusSymbol.FAILED)


def test_a_sick_member_is_shown_under_its_array_and_counted_there() -> None:
    drives = (drive("sda"), drive("sdb", predicts_failure=True))
    array = Array(
        target=MD,
        level=Level.RAID1,
        state=State.OPTIMAL,
        device="/dev/md0",
        members=tuple(one.target for one in drives),
    )
    table = devices_table(Inventory(arrays=(array,), drives=drives), DeviceListOptions())
    states = [text_of(row.cells[0]) for row in table.only("state").rows]
    assert states == ["optimal", "predicts failure", "online"]
    assert any("1 predicts failure, 1 online" in text_of(cell) for cell in table.rows[0].cells)


def test_the_worst_first_has_sick_drives_before_others() -> None:
    drives = (drive("sda"), drive("sdb", media_errors=1))
    loose = Inventory(drives=drives)
    table = devices_table(loose, DeviceListOptions(order="state"))
    assert [row.key for row in table.rows] == ["scsi:sdb", "scsi:sda"]


def test_a_filter_finds_drives_by_any_of_their_faults() -> None:
    drives = (drive("sda", predicts_failure=False), drive("sdb", predicts_failure=True, media_errors=1))
    texts = search_texts(Inventory(drives=drives), {})
    assert matching_keys(texts, "predicts failure") == matching_keys(texts, "1 media errors") == {"scsi:sdb"}


def test_every_reported_value_of_the_health_has_a_line() -> None:
    sick = drive(
        predicts_failure=True,
        predictive_errors=2,
        media_errors=3,
        other_errors=4,
        wear_percent=12.5,
        temperature=41.0,
        temperature_limit=70.0,
        locked=True,
        foreign=True,
        copyback=True,
    )
    assert lines(sick) == {
        "Failure predicted": ("yes", Tone.BAD),
        "Predicted failures": ("2", Tone.BAD),
        "Media errors": ("3", Tone.ATTENTION),
        "Other errors": ("4", Tone.PLAIN),
        "Endurance used": ("12.5 %", Tone.PLAIN),
        "Temperature": ("41 °C (warns at 70 °C)", Tone.PLAIN),
        "Locked": ("yes", Tone.BAD),
        "Foreign configuration": ("yes", Tone.ATTENTION),
        "Copyback": ("yes", Tone.PLAIN),
    }


def test_zero_is_shown_and_what_is_not_reported_is_not() -> None:
    assert lines(drive(media_errors=0, predicts_failure=False)) == {
        "Failure predicted": ("no", Tone.PLAIN),
        "Media errors": ("0", Tone.PLAIN),
    }
    assert lines(drive()) == {}


def test_a_fact_that_says_the_same_is_not_repeated() -> None:
    told = (
        Fact(label="Temperature", value="51 °C (at most 58 °C)"),
        Fact(label="Errors", value="3 media, 4 other"),
        Fact(label="SMART health", value="FAILED"),
        Fact(label="Life left", value="10 %"),
        Fact(label="Foreign configuration", value="yes"),
    )
    sick = drive(
        facts=told,
        temperature=51.0,
        media_errors=3,
        other_errors=4,
        predicts_failure=True,
        wear_percent=90.0,
        foreign=True,
    )
    assert lines(sick) == {
        "Failure predicted": ("yes", Tone.BAD),
        "Media errors": ("3", Tone.ATTENTION),
        "Other errors": ("4", Tone.PLAIN),
        "Endurance used": ("90 %", Tone.ATTENTION),
        "Temperature": ("51 °C (at most 58 °C)", Tone.PLAIN),
        "Foreign configuration": ("yes", Tone.ATTENTION),
    }


def test_a_fact_that_says_more_than_the_health_stays() -> None:
    silent = drive(facts=(Fact(label="SMART health", value="not known: the drive sleeps"),))
    assert lines(silent) == {"SMART health": ("not known: the drive sleeps", Tone.PLAIN)}
