"""Each rule by one fault and one near miss; what nothing tells is neither."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.features.check.finding import Finding, Severity, UnknownResult
from app.features.check.presentation import summary
from app.features.check.rule_table import RULES
from app.features.check.runner import CheckResult, evaluate, require_known_rules
from app.features.check.snapshot import BlockDevice, SystemSnapshot
from backends.errors import InvalidValueError
from backends.model import Array, Controller, Drive, Inventory, Level, Problem, Protection, Scope, Target
from backends.settings import Availability, Reading, Span
from tests.case_loop import loop_over
from tests.features.check.sights import CASES, DISK, UNTOLD, VOLUME, M, array_of, fact, md, mounted, on, volume


def said(snapshot: SystemSnapshot, id: str) -> tuple[list[Finding], list[UnknownResult]]:
    look = RULES[id].look
    assert look is not None
    found = list(look(snapshot))
    return [one for one in found if isinstance(one, Finding)], [one for one in found if isinstance(one, UnknownResult)]


@loop_over("id", CASES)
def test_the_fault_is_found_and_the_near_miss_is_not(id: str) -> None:
    fault, near = CASES[id]
    (found,), _ = said(fault, id)
    assert found.where
    assert found.message.endswith(".")
    assert found.evidence
    assert found.fix
    assert said(near, id) == ([], [])


def test_every_rule_that_needs_no_run_has_its_fault_and_its_near_miss() -> None:
    assert set(CASES) == {rule.id for rule in RULES.values() if rule.look is not None}


@loop_over("id", UNTOLD)
def test_what_nothing_tells_is_neither_a_fault_nor_fine(id: str) -> None:
    found, unknown = said(UNTOLD[id], id)
    assert (found, len(unknown)) == ([], 1)


@loop_over("id", CASES)
def test_of_an_empty_machine_nothing_is_said(id: str) -> None:
    assert said(SystemSnapshot(), id) == ([], [])


@pytest.mark.parametrize(("used", "told"), [("94.1 %", True), ("80.0 %", True), ("79.9 %", False)])
def test_a_vdo_pool_that_fills_up_is_warned_of_as_what_loses_writes(used: str, told: bool) -> None:
    pool = volume(level=Level.VDO_POOL, facts=fact("Used, data", used))
    found, _ = said(array_of(array=pool), "pool-filling")
    assert [one.message.endswith("unwritten data is lost.") for one in found] == [True] * told


def test_the_gravest_comes_first() -> None:
    sights = [array_of(array=CASES[id][0].inventory.arrays[0]) for id in ("background-task",)]
    both = array_of(controller=CASES["battery-failed"][0].inventory.controllers[0], array=sights[0].inventory.arrays[0])
    assert [one.rule.id for one in evaluate(both).findings] == ["battery-failed", "background-task"]


def test_what_is_ignored_is_counted_and_not_told() -> None:
    checked = evaluate(CASES["battery-failed"][0], ignore={"battery-failed"})
    assert (checked.findings, [one.rule.id for one in checked.ignored]) == ((), ["battery-failed"])


def test_findings_are_held_against_a_severity() -> None:
    checked = evaluate(CASES["read-ahead-small"][0])
    assert (len(checked.from_on(Severity.NOTE)), len(checked.from_on(Severity.WARN))) == (1, 0)


def test_a_mistyped_rule_is_answered_with_the_nearest() -> None:
    with pytest.raises(InvalidValueError, match="batery-failed") as caught:
        require_known_rules(["batery-failed"])
    assert "battery-failed" in caught.value.hint


def test_what_concerns_another_thing_is_left_out() -> None:
    snapshot = CASES["misaligned"][0]
    array, drive = snapshot.inventory.arrays[0], snapshot.inventory.drives[0]
    assert [one.rule.id for one in evaluate(snapshot, about=array).findings] == ["misaligned"]
    assert evaluate(snapshot, about=drive).findings == ()


def test_firmware_is_compared_as_the_kernel_has_it_of_every_disk() -> None:
    md0 = Target(backend="md", address="md0", scope=Scope.ARRAY)
    names = ("sda", "sdb")
    targets = tuple(Target(backend="block", address=name) for name in names)
    drives = tuple(
        Drive(target=target, device=f"/dev/{target.address}", model="SSD 1", firmware=firmware)
        for target, firmware in zip(targets, ("HXM7404Q", "404Q"), strict=True)
    )
    inventory = Inventory(arrays=(Array(target=md0, members=targets),), drives=drives)
    blocks = {name: BlockDevice(name=name, attributes={"device/rev": "404Q"}) for name in names}
    assert said(SystemSnapshot(inventory=inventory, blocks=blocks), "firmware-mixed") == ([], [])
    assert len(said(SystemSnapshot(inventory=inventory), "firmware-mixed")[0]) == 1


@pytest.mark.parametrize(
    ("own", "machine", "told"), [("system", 9999, True), ("system", 10_000, False), ("200000", 10, False)]
)
def test_a_resync_follows_the_limit_of_the_machine_unless_the_array_has_its_own(
    own: str, machine: int, told: bool
) -> None:
    snapshot = replace(md(readings={"sync_speed_max": Reading(now=own)}), resync_limit=machine)
    assert len(said(snapshot, "md-resync-slow")[0]) == told


@pytest.mark.parametrize(("paths", "count", "told"), [((8, 8), 7, True), ((8, 8), 8, False), ((128,), 30, True)])
def test_a_multipath_device_queues_what_a_path_takes(paths: tuple[int, ...], count: int, told: bool) -> None:
    names = [f"sd{at}" for at in range(len(paths))]
    below = {
        name: BlockDevice(name=name, attributes={"device/queue_depth": str(depth)})
        for name, depth in zip(names, paths, strict=True)
    }
    files = {"dm/uuid": "mpath-1", "queue/nr_requests": str(count)}
    multipath = BlockDevice(name="dm-0", attributes=files, below=tuple(names))
    assert len(said(SystemSnapshot(blocks={"dm-0": multipath, **below}), "queue-tiny")[0]) == told


def test_findings_and_problems_of_other_targets_are_left_out() -> None:
    other = Target(backend="megaraid", address="/c1", scope=Scope.CONTROLLER)
    failed = Protection(kind="bbu", state="failed")
    snapshot = array_of(governors={"powersave": 8})
    own, second = snapshot.inventory.controllers[0], Controller(target=other, vendor="megaraid", protection=failed)
    names = ("megaraid:/c0", "megaraid:/c1", "megaraid", "areca", "block:sdz")
    problems = [Problem(where=name, message="It gives no answer.") for name in names]
    both = replace(snapshot, inventory=replace(snapshot.inventory, controllers=(own, second)))
    first = evaluate(both, about=own, problems=problems)
    assert (first.findings, [one.where for one in first.problems]) == ((), ["megaraid:/c0", "megaraid"])
    assert [one.rule.id for one in evaluate(both, about=second).findings] == ["battery-failed"]
    drive = both.inventory.drives[0]
    assert [one.where for one in evaluate(both, about=drive, problems=problems).problems] == [
        "megaraid:/c0",
        "megaraid",
    ]
    assert len(evaluate(both, problems=problems).problems) == len(names)


def test_a_change_is_offered_where_it_can_be_made() -> None:
    legal = Reading(now="128", span=Span(minimum=0, maximum=1 << 20))
    (found,), _ = said(array_of(readings=on(DISK, read_ahead_kb=legal)), "read-ahead-small")
    assert found.fix == "raidbench set block:sda read_ahead_kb=384"


@pytest.mark.parametrize(
    "reading",
    [
        Reading(now="128", span=Span(minimum=0, maximum=256)),
        Reading(now="128", availability=Availability(why_not="needs root")),
    ],
)
def test_no_change_is_offered_that_cannot_be_made(reading: Reading) -> None:
    (found,), _ = said(array_of(readings=on(DISK, read_ahead_kb=reading)), "read-ahead-small")
    assert found.staged is None


def test_the_read_ahead_of_a_card_stands_for_that_of_the_kernel() -> None:
    both = on(DISK, read_ahead_kb="128") | on(VOLUME, read_ahead="read-ahead")
    assert said(array_of(readings=both), "read-ahead-small") == ([], [])


@pytest.mark.parametrize(
    ("source", "below", "told"),
    [
        ("/dev/mapper/vg0-data", ("sda",), True),
        ("/dev/mapper/vg0-data", ("sda1",), True),
        ("/dev/dm-0", ("dm-1",), True),
        ("/dev/mapper/vg0-data", ("sda", "sdb"), False),
        ("/dev/mapper/vg0-data", ("dm-0",), False),
        ("/dev/mapper/vg0-other", ("sda",), False),
    ],
)
def test_a_filesystem_on_a_volume_of_one_array_has_the_stripe_of_that(
    source: str, below: tuple[str, ...], told: bool
) -> None:
    blocks = {
        "sda": BlockDevice(name="sda", parts={"sda1": M}),
        "sdb": BlockDevice(name="sdb"),
        "dm-0": BlockDevice(name="dm-0", attributes={"dm/name": "vg0-data"}, below=below),
        "dm-1": BlockDevice(name="dm-1", attributes={"dm/name": "crypt"}, below=("sda",)),
    }
    snapshot = array_of(blocks=blocks, mounts=mounted("sunit=128", "swidth=256", source=source))
    assert [flaw.where for flaw in said(snapshot, "fs-stripe-other")[0]] == (["/srv"] if told else [])


@pytest.mark.parametrize(
    "reading",
    [
        Reading(now="write-back", effective="unknown", why_effective="the battery is Strange"),
        Reading(now="unknown", raw="Flux", effective="write-through"),
    ],
)
def test_no_difference_is_found_from_a_value_that_is_not_understood(reading: Reading) -> None:
    snapshot = array_of(readings={VOLUME: {"write_cache": reading}})
    assert said(snapshot, "policy-not-in-force") == ([], [])
    known = Reading(now="write-back", effective="write-through")
    assert len(said(array_of(readings={VOLUME: {"write_cache": known}}), "policy-not-in-force")[0]) == 1


def test_the_summary_counts_questions_that_are_open_and_findings_that_are_ignored() -> None:
    outcome: Any = object()
    assert summary(CheckResult(rules=2)) == "2 rules: no findings."
    assert summary(CheckResult(rules=2, unknown=(outcome,))) == "2 rules: no findings; 1 question unanswered."
    assert summary(CheckResult(rules=2, ignored=(outcome,))) == "2 rules: no findings; 1 ignored."
