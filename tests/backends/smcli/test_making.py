"""What SMcli would be told to make a logical drive: shown in the words of each dialect, and never run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.changes.arrays.candidates import candidates_of, choose, plan_array
from backends.array_planning import ArrayPlan, ArrayRequest, Candidate
from backends.errors import InvalidValueError, RefusedError
from backends.model import Level
from backends.protocol import ArrayCreator
from backends.registry import MachineBackends
from backends.simulator.smcli import DiskSystem
from backends.vendors.smcli.backend import Smcli
from backends.vendors.smcli.dialects import DELL, IBM, NETAPP, DialectTerms
from backends.vendors.smcli.facts import SystemPart, SystemProfile
from backends.vendors.smcli.statements import plan_logical_drive
from tests.backends.smcli.systems import TOOL, PlayedSystem


async def free_drives(host: PlayedSystem, count: int) -> tuple[MachineBackends, tuple[Candidate, ...]]:
    machine = MachineBackends.of(host)
    found, _ = await candidates_of(machine, await machine.probe())
    return machine, choose(found, [f"0,{6 + at}" for at in range(count)])


async def planned(level: Level, count: int, **more: object) -> ArrayPlan:
    machine, drives = await free_drives(PlayedSystem(DiskSystem(unassigned=4)), count)
    wish = ArrayRequest(level=level, drives=drives, name="rb-1")
    return await plan_array(machine, replace(wish, **more))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("level", "count", "strip", "statement"),
    [
        (Level.RAID5, 3, 128 << 10, 'drives=(0,6 0,7 0,8) raidLevel=5 userLabel="rb-1" segmentSize=128;'),
        (Level.RAID10, 4, None, 'drives=(0,6 0,7 0,8 0,9) raidLevel=1 userLabel="rb-1";'),
        (Level.RAID1, 2, 64 << 10, 'drives=(0,6 0,7) raidLevel=1 userLabel="rb-1";'),
    ],
)
async def test_ibms_statement_makes_array_and_logical_drive_at_once(
    level: Level, count: int, strip: int | None, statement: str
) -> None:
    plan = await planned(level, count, strip_bytes=strip)
    assert [step.argv for step in plan.steps] == [(TOOL, "-n", "DS4700_A", "-c", f"create logicalDrive {statement}")]
    assert "needs hours" in plan.by_hand
    assert plan.seconds > 0


@pytest.mark.parametrize(
    ("nouns", "statements"),
    [
        (IBM, ('create logicalDrive drives=(0,6 0,7) raidLevel=0 userLabel="rb-1" segmentSize=64;',)),
        (DELL, ('create virtualDisk physicalDisks=(0,6 0,7) raidLevel=0 userLabel="rb-1" segmentSize=64;',)),
        (
            NETAPP,
            (
                'create volumeGroup drives=(0,6 0,7) raidLevel=0 userLabel="rb-1";',
                'create volume volumeGroup="rb-1" userLabel="rb-1" segmentSize=64;',
            ),
        ),
    ],
)
async def test_each_dialect_has_its_own_words(nouns: DialectTerms, statements: tuple[str, ...]) -> None:
    _, drives = await free_drives(PlayedSystem(DiskSystem(unassigned=4)), 2)
    profile = SystemProfile(name="S", nouns=nouns, summary=SystemPart(name="S"))
    wish = ArrayRequest(level=Level.RAID0, drives=drives, name="rb-1", strip_bytes=64 << 10)
    assert tuple(step.argv[-1] for step in plan_logical_drive(wish, profile, TOOL).steps) == statements


async def test_nothing_is_run_and_nothing_of_it_can_be() -> None:
    host = PlayedSystem(DiskSystem(unassigned=4))
    machine, drives = await free_drives(host, 3)
    await plan_array(machine, ArrayRequest(level=Level.RAID5, drives=drives, name="rb-1"))
    assert host.ran == []
    assert not isinstance(Smcli(host), ArrayCreator)


async def test_a_drive_of_an_array_is_not_free() -> None:
    machine = MachineBackends.of(PlayedSystem(DiskSystem(unassigned=4)))
    found, _ = await candidates_of(machine, await machine.probe())
    own = {one.place: one.why_not for one in found if one.controller is not None}
    assert own["0,5"] == ("it is in smcli:DS4700_A/fast",)
    assert own["0,6"] == ()
    with pytest.raises(RefusedError, match="it is in smcli:DS4700_A/fast"):
        choose(found, ["0,5"])


async def test_one_that_was_taken_since_is_refused() -> None:
    host = PlayedSystem(DiskSystem(unassigned=4))
    machine, drives = await free_drives(host, 2)
    host.system.drives, host.system.unassigned = 9, 0
    with pytest.raises(RefusedError, match="it is in"):
        await plan_array(machine, ArrayRequest(level=Level.RAID0, drives=drives, name="rb-1"))


@pytest.mark.parametrize(
    ("level", "count", "more", "why"),
    [
        (Level.RAID50, 4, {}, "does not support RAID50"),
        (Level.RAID5, 2, {}, "at least 3 drives"),
        (Level.RAID0, 2, {"strip_bytes": 1 << 20}, "segment of 1048576 bytes"),
        (Level.RAID10, 4, {"spans": 2}, "no spans"),
        (Level.RAID0, 2, {"policies": {"write_cache": "write-back"}}, "no policies at creation"),
        (Level.RAID0, 2, {"size_bytes": 1 << 30}, "a size is not supported here"),
    ],
)
async def test_what_it_does_not_make_is_a_sentence(level: Level, count: int, more: dict[str, object], why: str) -> None:
    with pytest.raises(InvalidValueError, match=why):
        await planned(level, count, **more)
