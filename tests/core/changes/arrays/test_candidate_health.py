"""What the health of a drive says against a new array of it, whatever has the drive."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.core.changes.arrays.candidates import candidates_of, choose, plan_array
from app.core.presentation.table import Row, text_of
from app.features.arrays.presentation import candidate, drives_table, plan_sentences
from backends.array_planning import ArrayRequest, Candidate
from backends.errors import RefusedError
from backends.model import Drive, Health, Inventory, Level
from backends.registry import MachineBackends
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.table import MACHINES
from tests.backends.simulator.asking import FAST
from tests.case_loop import loop_over

FREE = ("megaraid:/c0/e252/s0", "smartarray:/arc1/0:0", "smartarray:/slot0/2I:1:1", "threeware:/c2/p0", "scsi:sdb")
"""A free drive behind each kind of controller, and one of the kernel's."""


async def found_with(address: str, **health: Any) -> tuple[MachineBackends, tuple[Candidate, ...], Candidate]:
    """Return all candidates of a machine on which one drive reports this health, and that drive."""
    machine = MachineBackends.of(SimulatedHost(MACHINES["arrays"](), speed=FAST))
    inventory = await machine.probe()
    drives = tuple(_sick(drive, health) if str(drive.target) == address else drive for drive in inventory.drives)
    found, problems = await candidates_of(machine, replace(inventory, drives=drives), [address])
    assert problems == ()
    (one,) = (drive for drive in found if str(drive.drive) == address)
    return machine, found, one


def _sick(drive: Drive, health: dict[str, Any]) -> Drive:
    return replace(drive, health=Health(**health))


@pytest.mark.long
@loop_over("address", FREE)
@loop_over(
    ("health", "why"),
    [
        ({"predicts_failure": True}, "it predicts failure"),
        ({"predictive_errors": 1}, "it predicts failure"),
        ({"locked": True}, "it is encrypted and locked"),
        ({"foreign": True}, "it has a foreign configuration and may belong to an array of another controller"),
    ],
)
async def test_a_drive_that_will_fail_or_is_not_this_hosts_is_refused(
    address: str, health: dict[str, Any], why: str
) -> None:
    _, found, one = await found_with(address, **health)
    assert one.why_not == (why,)
    with pytest.raises(RefusedError, match=why):
        choose(found, [address])


@pytest.mark.parametrize("address", FREE)
async def test_a_drive_in_good_health_is_free(address: str) -> None:
    well = {"predicts_failure": False, "media_errors": 0, "locked": False, "foreign": False, "wear_percent": 79.0}
    _, _, one = await found_with(address, **well)
    assert (one.why_not, one.cautions) == ((), ())


@pytest.mark.parametrize("address", FREE)
async def test_media_errors_and_wear_are_warned_of_and_not_refused(address: str) -> None:
    _, _, one = await found_with(address, media_errors=3, wear_percent=91.0)
    assert one.free
    assert one.cautions == ("it has 3 media errors", "it has used 91 % of its rated endurance")
    assert candidate(one)["cautions"] == list(one.cautions)
    (row,) = drives_table([one]).rows
    assert "free, but it has 3 media errors; it has used 91 %" in _standing(row)


def _standing(row: Row) -> str:
    return text_of(row.cells[-1])


async def test_the_plan_of_an_array_warns_of_its_sick_drive() -> None:
    machine, found, one = await found_with("megaraid:/c0/e252/s0", media_errors=3)
    others = tuple(drive for drive in found if str(drive.drive) == "megaraid:/c0/e252/s1")
    plan = await plan_array(machine, ArrayRequest(level=Level.RAID1, drives=(one, *others), name="rb-1"))
    assert "252:0: it has 3 media errors." in plan_sentences(plan)


async def test_the_view_of_another_vendor_counts_too() -> None:
    machine = MachineBackends.of(SimulatedHost(MACHINES["arrays"](), speed=FAST))
    inventory = await machine.probe()
    disk = next(drive for drive in inventory.drives if str(drive.target) == "block:sdb")
    drives = (*(drive for drive in inventory.drives if drive != disk), _sick(disk, {"predicts_failure": True}))
    found, _ = await candidates_of(machine, Inventory(drives=drives), ["scsi:sdb"])
    assert [one.why_not for one in found if str(one.drive) == "scsi:sdb"] == [("it predicts failure",)]
