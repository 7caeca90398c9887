"""Condition of drives and lost data of logical drives, out of ssacli's and arcconf's words."""

from __future__ import annotations

import pytest

from backends.model import State
from backends.vendors.smartarray.arcconf.parsing import card_text
from backends.vendors.smartarray.facts import BayDrive, CardText
from backends.vendors.smartarray.ssacli.parsing import cards
from backends.vendors.smartarray.vocabulary import read_health
from tests.case_loop import loop_over

CARD = "\nSmart Array P440ar in Slot 3\n   Slot: 3\n   Controller Status: OK\n"
WARNING = (
    "\nWarning: Unrecoverable Media Errors Detected on Drives during previous Rebuild \n"
    "or Background Surface Analysis (ARM) scan. Backup and Restore are recommended.{end}\n"
)
NAMES_THEM = " The\nfollowing logical drives are affected: 2, 5"


def bay(fields: str) -> BayDrive:
    """The drive of these lines, as ssacli indents them."""
    (found,) = cards(f"{CARD}\n   Array: A\n\n      physicaldrive 1I:1:2\n         {fields}\n")
    return found.drives[0]


def row(words: str) -> BayDrive:
    """The drive of one row of a list."""
    (found,) = cards(
        f"{CARD}\n   Array: A\n      physicaldrive 1I:1:2 (port 1I:box 1:bay 2, SAS HDD, 300 GB, {words})\n"
    )
    return found.drives[0]


def volumes(*numbers: int, own: str = "", warning: str = WARNING.format(end="")) -> CardText:
    """Logical drives of a card that prints a warning; `own` is a line of the second one."""
    text = "".join(
        f"\n      Logical Drive: {one}\n         Fault Tolerance: 5\n         Status: OK\n{own if at else ''}"
        for at, one in enumerate(numbers)
    )
    (found,) = cards(f"{CARD}{warning}\n   Array: A\n      Interface Type: SAS\n{text}")
    return found


@loop_over(
    ("words", "state", "predicts"),
    [
        ("OK", State.ONLINE, False),
        ("Predictive Failure", State.ONLINE, True),
        ("Predictive Failure, spare", State.SPARE, True),
        ("OK, Predictive Failure", State.ONLINE, True),
        ("Rebuilding, Predictive Failure", State.REBUILDING, True),
        ("Failed", State.FAILED, None),
        ("Failed, Predictive Failure", State.FAILED, True),
        ("Sideways", State.UNKNOWN, None),
    ],
)
def test_a_drive_that_announces_its_failure_keeps_its_other_state(
    words: str, state: State, predicts: bool | None
) -> None:
    one = row(words)
    assert (one.state, one.health.predicts_failure) == (state, predicts)


@pytest.mark.parametrize(
    ("use", "state"),
    [("Unassigned Drive", State.UNASSIGNED), ("Spare Drive", State.SPARE), ("Data Drive", State.ONLINE)],
)
def test_the_use_of_a_failing_drive_is_read(use: str, state: State) -> None:
    one = bay(f"Status: Predictive Failure\n         Drive Type: {use}")
    assert (one.state, one.health.predicts_failure, one.state_raw) == (state, True, "Predictive Failure")


@pytest.mark.parametrize(
    ("line", "wear", "predicts"),
    [
        ("Usage remaining: 93.35%", 6.65, False),
        ("Usage remaining: 100 percent", 0.0, False),
        ("Usage remaining: Not Supported", None, False),
        ("SSD Smart Trip Wearout: True", None, True),
        ("SSD Smart Trip Wearout: Not Supported", None, False),
    ],
)
def test_wear_of_flash(line: str, wear: float | None, predicts: bool) -> None:
    health = bay(f"Status: OK\n         {line}").health
    assert (health.wear_percent, health.predicts_failure) == (wear, predicts)


def test_a_temperature_of_0_is_no_temperature_and_the_warmest_is_no_limit() -> None:
    cold = bay("Status: OK\n         Current Temperature (C): 0\n         Maximum Temperature (C): 44").health
    assert (cold.temperature, cold.temperature_limit) == (None, None)


@loop_over(
    ("fields", "predicts", "counts"),
    [
        ({}, None, (None, None, None)),
        ({"s.m.a.r.t.": "No", "s.m.a.r.t. warnings": "0"}, False, (None, None, 0)),
        ({"s.m.a.r.t.": "Yes", "s.m.a.r.t. warnings": "2"}, True, (None, None, 2)),
        ({"pfa": "Yes"}, True, (None, None, None)),
        ({"56 day warning present": "True", "s.m.a.r.t.": "No"}, True, (None, None, None)),
        ({"smart warning count": "4"}, True, (None, None, 4)),
        ({"medium error count": "3", "link failure count": "2", "aborted command count": "5"}, None, (3, 7, None)),
        ({"media failures": "1", "hard read errors": "6", "hard write errors": "2"}, None, (8, None, None)),
        ({"predictive failures": "1", "s.m.a.r.t. warnings": "0"}, True, (None, None, 1)),
        ({"media failures": "Not Supported"}, None, (None, None, None)),
    ],
)
def test_flags_and_counters(
    fields: dict[str, str], predicts: bool | None, counts: tuple[int | None, int | None, int | None]
) -> None:
    health = read_health(fields, None)
    assert health.predicts_failure is predicts
    assert (health.media_errors, health.other_errors, health.predictive_errors) == counts


@pytest.mark.parametrize(
    ("own", "end", "lost"),
    [
        ("         Unrecoverable Media Errors: Detected\n", "", [None, "Detected", "Detected"]),
        ("", NAMES_THEM, [None, "Detected", "Detected"]),
        ("         Unrecoverable Media Errors: None\n", "", [None, None, None]),
    ],
)
def test_lost_data_belong_to_the_logical_drive(own: str, end: str, lost: list[str | None]) -> None:
    found = volumes(1, 2, 5, own=own, warning=WARNING.format(end=end))
    assert [one.lost for one in found.volumes] == lost
    assert (found.card.problems == ()) == any(lost)  # reported once: of the logical drive, or of the controller


def test_a_warning_that_names_an_unlisted_logical_drive_stays_with_the_controller() -> None:
    found = volumes(1, warning=WARNING.format(end=NAMES_THEM))
    assert [one.lost for one in found.volumes] == [None]
    assert len(found.card.problems) == 1


def test_failed_stripes_are_lost_data() -> None:
    text = (
        "Controllers found: 1\n----------\nController information\n----------\n   Controller Status : Optimal\n"
        "----------\nLogical device information\n----------\n"
        "Logical device number 0\n   Status of logical device : Optimal\n   Failed stripes : Yes\n"
        "Logical device number 1\n   Status of logical device : Optimal\n   Failed stripes : No\n"
    )
    found = card_text(text, 1)
    assert found is not None
    assert [one.lost for one in found.volumes] == ["Failed stripes", None]
