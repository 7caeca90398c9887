"""A finding is told at the device that its place is, lies on or is mounted from, and what wants a look is in order."""

from __future__ import annotations

from dataclasses import replace

from app.features.check.finding import Severity
from app.features.check.presentation import checked_troubles, finding_facts
from app.features.check.runner import CheckResult, device_at, evaluate
from app.features.check.snapshot import BlockDevice
from backends.model import Array, Drive, Inventory, Protection, State
from tests.case_loop import loop_over
from tests.features.check.sights import CARD, DISK, MEMBERS, VOLUME, array_of, card, members, mounted, on, volume


@loop_over(
    ("where", "at"),
    [
        (str(VOLUME), str(VOLUME)),
        (str(DISK), str(VOLUME)),
        (str(CARD), str(CARD)),
        (str(MEMBERS[0]), str(MEMBERS[0])),
        ("sda", str(VOLUME)),
        ("sda1", str(VOLUME)),
        ("sda1 on sda", str(VOLUME)),
        ("/srv", str(VOLUME)),
        ("vg-db", ""),
        ("processors", ""),
        ("system.slice", ""),
    ],
)
def test_a_place_is_told_at_its_device(where: str, at: str) -> None:
    snapshot = replace(
        array_of(),
        blocks={
            "sda": BlockDevice(name="sda", parts={"sda1": 1 << 20}),
            "dm-0": BlockDevice(name="dm-0"),
        },
        mounts=mounted(source="/dev/sda1"),
    )
    assert device_at(snapshot, where) == at


def found() -> CheckResult:
    """A battery that failed, a foreign drive and one with errors, a note."""
    broken = card(protection=Protection(kind="bbu", state="failed"))
    return evaluate(
        array_of(
            controller=broken,
            array=volume(state=State.DEGRADED),
            drives=(*members()[:3], replace(members()[3], state=State.FOREIGN, array=None)),
            readings=on(VOLUME, read_ahead="read-ahead"),
            blocks={"sda": BlockDevice(name="sda", parts={"sda1": 1 << 20})},
        )
    )


def test_faults_come_first_and_each_is_told_once() -> None:
    checked = found()
    told = checked_troubles(checked.inventory, checked)
    faults = [one for one in checked.findings if one.rule.severity is Severity.FAULT]
    warnings = [one for one in checked.findings if one.rule.severity is Severity.WARN]
    assert faults
    assert warnings
    assert [one.key for one in told] == [checked.devices[one.outcome.where] for one in (*faults, *warnings)]


def test_what_no_rule_has_a_word_for_is_told_too() -> None:
    rebuilding = Inventory(arrays=(Array(target=VOLUME, state=State.REBUILDING),))
    assert [one.key for one in checked_troubles(rebuilding, CheckResult())] == [str(VOLUME)]


def test_notes_are_told_at_their_device_alone() -> None:
    checked = found()
    notes = [one for one in checked.findings if one.rule.severity is Severity.NOTE]
    told = checked_troubles(checked.inventory, checked)
    assert notes
    said = {note.outcome.message.rstrip(".") for note in notes}
    assert not said & {one.text for one in told}
    [facts] = finding_facts(checked.at(checked.devices[notes[0].outcome.where]))
    assert "note" in {line.label for line in facts.facts}


def test_where_nothing_was_found_nothing_is_shown() -> None:
    assert finding_facts(CheckResult().at(str(Drive(target=DISK).target))) == ()
