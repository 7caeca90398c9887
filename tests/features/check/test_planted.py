"""All rules over whole machines, counted once: what is planted is found, and no healthy machine is accused."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from app.features.check.rule_table import RULES
from app.features.check.runner import check
from backends.host import Host
from backends.registry import MachineBackends
from tests.case_loop import loop_over
from tests.features.check.planted import MACHINES, PLANTED, Plant, PlantedFault, PlantedHost

PAGE = Path(__file__).parents[3] / "docs" / "dev" / "check-evidence.md"

Told = frozenset[tuple[str, str]]
"""Findings as rule and place."""


@dataclass(frozen=True)
class Count:
    """What came of all of them."""

    found: tuple[str, ...]
    """Rules whose fault was found at its place."""
    missed: tuple[str, ...]
    false: tuple[str, ...]
    """Findings that nothing was planted for, in words."""
    healthy: int
    """Machines with nothing wrong, of which nothing was said."""
    accused: tuple[str, ...]
    """Such machines of which something was said."""


async def told_of(host: Host) -> Told:
    """All findings of a machine, by the way that `raidbench check` goes."""
    machine = MachineBackends.of(host)
    checked = await check(machine, await machine.probe())
    return frozenset((one.rule.id, one.outcome.where) for one in checked.findings)


async def told_with(planted: PlantedFault, plant: Plant) -> Told:
    """The same of a machine with something planted; all of it has to be met there, or the test plants nothing."""
    host = PlantedHost(MACHINES[planted.machine](), plant)
    found = await told_of(host)
    assert {*plant.answers, *plant.edits} <= host.grown, planted.id
    return found


async def counted() -> Count:
    bare = {name: await told_of(make()) for name, make in MACHINES.items()}
    found: list[str] = []
    missed: list[str] = []
    false: list[str] = []
    accused: list[str] = []
    healthy = sum(not told for told in bare.values())
    for one in PLANTED:
        fresh = await told_with(one, one.fault) - bare[one.machine]
        wanted = (one.id, one.where)
        (found if wanted in fresh else missed).append(one.id)
        false += [f"{one.id}: {other}" for other in sorted(fresh - {wanted}) if other[0] not in one.also]
        near = await told_with(one, one.near)
        fresh = near - bare[one.machine]
        false += [f"near {one.id}: {other}" for other in sorted(fresh) if other[0] not in one.near_is]
        if not one.near_is and not bare[one.machine]:
            healthy += not near
            accused += [one.id] if near else []
    return Count(tuple(found), tuple(missed), tuple(false), healthy, tuple(accused))


@pytest.mark.long
async def test_what_is_planted_is_found_and_no_healthy_machine_is_accused() -> None:
    count = await counted()
    assert (count.missed, count.false, count.accused) == ((), (), ())
    assert len(count.found) >= 40
    assert count.healthy >= 20
    page = PAGE.read_text(encoding="utf-8")
    assert f"{len(PLANTED)} faults are planted in simulated hosts and recordings; {len(count.found)} are found" in page
    assert f"On {count.healthy} healthy machines there are no findings" in page


def test_every_rule_that_needs_no_run_is_planted_once() -> None:
    assert [one.id for one in PLANTED] == [rule.id for rule in RULES.values() if rule.look is not None]


@loop_over("planted", PLANTED, ids=lambda one: one.id)
def test_a_near_miss_is_another_machine_than_the_fault(planted: PlantedFault) -> None:
    assert planted.fault != planted.near
    assert planted.id not in planted.near_is
