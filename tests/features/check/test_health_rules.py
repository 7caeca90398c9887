"""Rules on the health of drives: limits, one finding a fault, and the cost of a broken array by its level."""

from __future__ import annotations

from typing import Any

import pytest

from app.features.check.runner import evaluate
from app.features.check.snapshot import SystemSnapshot
from backends.model import UNRECOVERABLE, Array, Drive, Health, Inventory, Level, Media, Scope, State, Target, Task
from tests.case_loop import loop_over
from tests.features.check.sights import CARD, VOLUME, array_of, card, disk, disk_of, fact, ill, members, volume

SICK = Health(
    predicts_failure=True,
    predictive_errors=2,
    media_errors=3,
    other_errors=900,
    wear_percent=97.0,
    temperature=74.0,
    locked=True,
    foreign=True,
    copyback=True,
)
FAULTS = (
    "drive-failing",
    "drive-locked",
    "drive-foreign",
    "drive-errors",
    "drive-other-errors",
    "drive-worn",
    "drive-hot",
    "drive-copyback",
)


def ids(snapshot: SystemSnapshot) -> list[str]:
    return [ruling.rule.id for ruling in evaluate(snapshot).findings]


def messages(snapshot: SystemSnapshot, id: str) -> list[str]:
    found = evaluate(snapshot).findings
    return [ruling.outcome.message for ruling in found if ruling.rule.id == id]


def test_a_drive_with_every_fault_is_reported_once_for_each() -> None:
    assert ids(disk_of(disk(health=SICK))) == list(FAULTS)


def test_a_drive_of_which_nothing_is_reported_has_no_finding() -> None:
    assert ids(disk_of(disk())) == []


def test_two_views_of_a_drive_are_reported_once() -> None:
    behind = Target(backend="megaraid", address="/c0/e1/s7")
    through = Target(backend="scsi", address="sda")
    views = (disk(target=behind, health=SICK), disk(target=through, health=SICK), disk(health=SICK))
    assert sorted(ids(SystemSnapshot(inventory=Inventory(drives=views)))) == sorted(FAULTS)


def test_a_fault_that_only_the_hidden_view_reports_is_found() -> None:
    behind = disk(target=Target(backend="megaraid", address="/c0/e1/s7"), health=Health(predicts_failure=False))
    snapshot = SystemSnapshot(inventory=Inventory(drives=(behind, disk(health=Health(predicts_failure=True)))))
    assert [(ruling.rule.id, ruling.outcome.where) for ruling in evaluate(snapshot).findings] == [
        ("drive-failing", "megaraid:/c0/e1/s7")
    ]


@pytest.mark.parametrize(("inner", "told"), [(None, True), (85.0, False)])
def test_a_temperature_is_judged_by_the_limit_of_the_same_view(inner: float | None, told: bool) -> None:
    behind = Target(backend="megaraid", address="/c0/e1/s7")
    warm = disk(target=behind, media=Media.SSD, health=Health(temperature=75.0, temperature_limit=inner))
    other = disk(media=Media.SSD, health=Health(temperature=20.0, temperature_limit=99.0))
    found = messages(SystemSnapshot(inventory=Inventory(drives=(warm, other))), "drive-hot")
    assert found == ["The drive is at 75 °C. It reports no limit; such drives are usually rated up to 70 °C."] * told


def test_a_member_behind_a_card_is_reported_at_its_own_address() -> None:
    drives = members()
    sick = Drive(target=drives[1].target, controller=CARD, array=VOLUME, health=Health(predictive_errors=1))
    found = evaluate(array_of(drives=(drives[0], sick))).findings
    assert [(ruling.rule.id, ruling.outcome.where) for ruling in found] == [("drive-failing", str(sick.target))]


@pytest.mark.parametrize(("celsius", "told"), [(77.0, False), (78.0, True)])
def test_flash_on_pcie_is_judged_by_the_temperature_of_its_chip(celsius: float, told: bool) -> None:
    card = disk(media=Media.SSD, interface="pcie", health=Health(temperature=celsius))
    assert ids(disk_of(card)) == ["drive-hot"] * told


def test_a_drive_that_has_failed_is_not_reported_as_about_to_fail() -> None:
    assert ids(disk_of(disk(state=State.FAILED, health=Health(predicts_failure=True)))) == ["drive-failed"]


def test_a_warning_of_the_drive_is_reported_once_with_its_cause() -> None:
    warns = disk(facts=fact("Warning", "reliability degraded"), health=Health(predicts_failure=True))
    assert ids(disk_of(warns)) == ["drive-warns"]


@pytest.mark.parametrize(
    ("warning", "spare", "told"),
    [
        ("spare capacity low", "9 % (warns at 10 %)", ["drive-warns", "drive-hot"]),
        ("temperature out of range", "9 % (warns at 10 %)", ["drive-warns", "drive-worn"]),
        ("temperature out of range", "90 % (warns at 10 %)", ["drive-warns"]),
    ],
)
def test_spare_and_heat_that_the_drive_warns_of_are_reported_once(warning: str, spare: str, told: list[str]) -> None:
    hot = Health(temperature=80.0, temperature_limit=70.0)
    assert ids(disk_of(disk(facts=(*fact("Warning", warning), *fact("Spare", spare)), health=hot))) == told


@loop_over(
    ("media", "celsius", "limit", "told"),
    [
        (Media.SSD, 74.0, None, True),
        (Media.SSD, 70.0, None, True),
        (Media.SSD, 69.0, None, False),
        (Media.NVME, 74.0, None, True),
        (Media.NVME, 74.0, 83.0, False),
        (Media.HDD, 60.0, None, True),
        (Media.HDD, 59.0, None, False),
        (Media.HDD, 61.0, 65.0, False),
        (Media.UNKNOWN, 74.0, None, True),
        (Media.UNKNOWN, 69.0, None, False),
        (Media.SSD, 74.0, 0.0, True),
        (Media.VIRTUAL, 90.0, None, False),
    ],
)
def test_a_drive_without_a_limit_is_judged_by_that_of_its_media(
    media: Media, celsius: float, limit: float | None, told: bool
) -> None:
    warm = disk(media=media, health=Health(temperature=celsius, temperature_limit=limit))
    found = messages(disk_of(warm), "drive-hot")
    assert len(found) == told
    assert all("reports no limit" in message for message in found)


@pytest.mark.parametrize(("count", "told"), [(1, False), (99, False), (100, True), (900, True)])
def test_a_few_other_errors_are_usual_and_many_are_reported(count: int, told: bool) -> None:
    assert ids(ill(other_errors=count)) == ["drive-other-errors"] * told


@pytest.mark.parametrize(("left", "told"), [("10 % (warns at 10 %)", True), ("11 % (warns at 10 %)", False)])
def test_flash_is_worn_by_its_spare_blocks_too(left: str, told: bool) -> None:
    assert ids(disk_of(disk(facts=fact("Spare", left), health=Health(wear_percent=3.0)))) == ["drive-worn"] * told


def test_flash_that_is_worn_by_both_counts_is_reported_once() -> None:
    worn = disk(facts=fact("Spare", "9 % (warns at 10 %)"), health=Health(wear_percent=90.0))
    assert ids(disk_of(worn)) == ["drive-worn"]


def test_a_copyback_that_the_array_reports_as_a_task_is_reported_once() -> None:
    drives = members(health=Health(copyback=True))[:1]
    assert ids(array_of(drives=drives)) == ["drive-copyback"]
    assert ids(array_of(drives=drives, array=volume(tasks=(Task(kind="copyback"),)))) == ["background-task"]


@pytest.mark.parametrize("word", ["None", "none detected", "No", "0"])
def test_an_array_without_lost_blocks_is_not_reported(word: str) -> None:
    assert ids(array_of(controller=card(), array=volume(facts=fact(UNRECOVERABLE, word)))) == []


def _broken(level: Level, **more: Any) -> tuple[str, str]:
    array = Array(
        target=Target(backend="x", address="a", scope=Scope.ARRAY), **{"level": level, "state": State.DEGRADED, **more}
    )
    (found,) = evaluate(SystemSnapshot(inventory=Inventory(arrays=(array,)))).findings
    assert found.rule.id == "array-degraded"
    return found.outcome.message, found.outcome.fix


@loop_over("level", list(Level))
def test_only_levels_with_parity_compute_what_is_missing(level: Level) -> None:
    message, mends = _broken(level)
    parity = level.value.startswith(("raid4", "raid5", "raid6", "raidz", "draid"))
    assert ("calculated from parity" in message) == parity
    assert ("Another failure may lose the array" in message) == (parity or level in (Level.RAID1, Level.RAID10))
    assert ("Replace the failed drive" in mends) == (parity or level in (Level.RAID1, Level.RAID10))
    assert mends


def test_a_replica_and_a_thin_pool_are_fixed_with_their_own_tools() -> None:
    assert "drbdadm" in _broken(Level.REPLICATED)[1]
    assert "lvs" in _broken(Level.THIN_POOL)[1]


def test_an_array_that_failed_or_waits_is_not_said_to_compute_anything() -> None:
    assert _broken(Level.RAID5, state=State.FAILED)[0] == "The array is failed."
    assert _broken(Level.RAID5, why="its device is suspended: all I/O waits")[0] == (
        "The array is degraded: its device is suspended: all I/O waits."
    )
