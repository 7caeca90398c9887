"""Planning arrays with the real backends and taking their steps on the rack with free drives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.core.changes.arrays.candidates import candidates_of, choose, plan_array
from backends.array_planning import ArrayPlan, ArrayRequest, Candidate
from backends.change import ChangeStep
from backends.host import Command, Completed
from backends.model import Array, Inventory, Level
from backends.registry import MachineBackends
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.arrays import arrays_rack
from backends.simulator.rack import Rack
from tests.backends.simulator.asking import FAST, NOW

STORCLI = tuple(f"252:{slot}" for slot in range(6))
MEGACLI = tuple(f"245:{slot}" for slot in range(8))
MD = tuple(f"sd{letter}" for letter in "bcdefghi")
"""Free drives by who makes arrays of them."""

SHAPES = (
    (Level.RAID0, 1, None),
    (Level.RAID0, 6, None),
    (Level.RAID1, 2, None),
    (Level.RAID5, 3, None),
    (Level.RAID5, 6, None),
    (Level.RAID6, 5, None),
    (Level.RAID10, 6, None),
    (Level.RAID10, 4, None),
    (Level.RAID50, 6, 2),
)
"""Level, drives, spans."""

BY_MEGACLI_AND_MD = (*SHAPES, (Level.RAID60, 8, 2))
"""For that, storcli's card has too few."""


def new_rack() -> Rack:
    return arrays_rack(lambda: NOW)


def new_host(rack: Rack | None = None) -> SimulatedHost:
    return SimulatedHost(rack if rack is not None else new_rack(), speed=FAST)


async def drives_of(host: SimulatedHost, names: Sequence[str]) -> tuple[Candidate, ...]:
    machine = MachineBackends.of(host)
    found, problems = await candidates_of(machine, await machine.probe(), names)
    assert problems == ()
    return choose(found, names)


async def planned(
    host: SimulatedHost,
    level: Level,
    names: Sequence[str],
    *,
    name: str = "rb-1a2b",
    strip: int | None = None,
    spans: int | None = None,
    layout: str | None = None,
    assume_clean: bool = False,
    **policies: str,
) -> ArrayPlan:
    drives = await drives_of(host, names)
    wish = ArrayRequest(
        level=level, drives=drives, name=name, strip_bytes=strip, spans=spans, layout=layout, policies=policies
    )
    return await plan_array(MachineBackends.of(host), wish, assume_clean=assume_clean)


async def taken(host: SimulatedHost, steps: Iterable[ChangeStep]) -> tuple[Completed, ...]:
    """What every step printed."""
    return tuple([await host.run(Command(argv=step.argv, mutates=True)) for step in steps])


async def seen(host: SimulatedHost) -> Inventory:
    found = await MachineBackends.of(host).probe()
    assert found.problems == ()
    return found


def serials(found: Inventory, array: Array) -> list[str]:
    """Of its members, in order; those of the arrays that it is made of."""
    known: list[str] = []
    for member in array.members:
        thing = found.find(str(member))
        assert thing is not None
        known += serials(found, thing) if isinstance(thing, Array) else [getattr(thing, "serial", None) or ""]
    return known
