"""The demo works on every simulated machine: it is listed, a setting is changed and undone, a load is measured.

All other tests of the simulator are in tests/backends/simulator: `make test-simulator`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.fio.job import Job, Pattern
from app.core.session.results import RunStatus
from backends.change import Change
from backends.model import Target
from backends.registry import MachineBackends
from backends.settings import Effect
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.table import MACHINES
from tests.backends.simulator.asking import FAST, NOW
from tests.backends.simulator.loads import run

each_machine = pytest.mark.parametrize("name", MACHINES)


def host_of(name: str) -> SimulatedHost:
    return SimulatedHost(MACHINES[name](lambda: NOW), speed=FAST)


@each_machine
async def test_it_lists_what_there_is(name: str) -> None:
    found = await MachineBackends.of(host_of(name)).probe()
    assert [problem for problem in found.problems if not problem.message.startswith("The controller reports")] == []
    assert found.arrays
    assert found.drives


@each_machine
async def test_a_setting_is_changed_and_undone(name: str) -> None:
    machine = MachineBackends.of(host_of(name))
    change = await planned(machine)
    target, key = change.target, change.key
    before = (await machine.read(target))[key].now
    assert before is not None
    await machine.setter(target).apply(change)
    assert (await machine.read(target))[key].now != before
    await machine.setter(target).apply(await machine.setter(target).back(target, key, before, change.companions))
    assert (await machine.read(target))[key].now == before


@each_machine
async def test_a_load_is_measured(name: str, tmp_path: Path) -> None:
    host = host_of(name)
    device = next(array.device for array in (await MachineBackends.of(host).probe()).arrays if array.device)
    ran = await run(host, Job(rw=Pattern.RANDREAD, iodepth=16, runtime=5, ramp=1), tmp_path, device)
    assert ran.figures.status is RunStatus.OK
    assert ran.figures.read is not None
    assert ran.figures.read.iops > 100
    assert len(ran.samples) >= 5


async def planned(machine: MachineBackends) -> Change:
    """Return the first change of a setting of an array that is in force at once."""
    for array in (await machine.probe()).arrays:
        if change := await planned_for(machine, array.target):
            return change
    raise AssertionError("no array has a setting to change")


async def planned_for(machine: MachineBackends, target: Target) -> Change | None:
    for key, reading in (await machine.read(target)).items():
        other = next((choice.value for choice in reading.choices if choice.value != reading.now), None)
        if reading.availability.available and other is not None:
            change = await machine.setter(target).plan(target, key, other)
            if change.effect is Effect.AT_ONCE:
                return change
    return None
