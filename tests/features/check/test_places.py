"""A finding is told at the device that its place is, lies on or is mounted from, and the list is in order."""

from __future__ import annotations

from dataclasses import replace

from app.core.presentation.finding_counts import SEVERITIES
from app.features.check.entries import finding_entries
from app.features.check.finding import Severity
from app.features.check.presentation import finding_facts
from app.features.check.runner import CheckResult, device_at, evaluate
from app.features.check.snapshot import BlockDevice
from backends.model import Drive, Problem, Protection, State
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


def test_each_finding_is_listed_once_and_faults_come_first() -> None:
    checked = found()
    entries = finding_entries(checked)
    assert {entry.severity for entry in entries} == set(Severity)
    assert [(entry.rule, entry.where) for entry in entries] == [
        (one.rule.id, one.outcome.where) for one in checked.findings
    ]
    assert [entry.severity.value for entry in entries if entry.severity] == list(checked.severities)


def test_what_a_tool_reports_of_another_object_is_listed_but_is_no_finding() -> None:
    problems = tuple(Problem(where=where, message="Wants a look.") for where in (str(CARD), "acme"))
    entries = finding_entries(replace(found(), problems=problems))
    assert [entry.where for entry in entries if entry.severity is None] == ["acme"]


def test_the_facts_of_a_device_name_the_severity_in_words() -> None:
    checked = found()
    [facts] = finding_facts(checked.at(str(CARD)))
    assert facts.facts[0].label == "fault"


def test_every_severity_has_a_name_in_counts() -> None:
    assert [*SEVERITIES] == [severity.value for severity in reversed(Severity)]


def test_where_nothing_was_found_nothing_is_shown() -> None:
    assert finding_facts(CheckResult().at(str(Drive(target=DISK).target))) == ()
