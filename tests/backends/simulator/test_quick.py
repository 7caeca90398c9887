"""A rack is whole at once; its tools take as long as on hardware only where it is told to be slow."""

from __future__ import annotations

import pytest

from app.core.workbench import Workbench
from app.features.advice.rules import advise
from backends.host import Command, Completed
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles import STATES
from backends.simulator.profiles.table import MACHINES, apply_states
from backends.simulator.rack import Rack

AT_ONCE = 1.2
"""Seconds in which all answers of a look come, one after the other; two are promised with what the program takes."""


class Counted(SimulatedHost):
    """Counts what is waited for."""

    waited = 0.0

    async def run(self, command: Command) -> Completed:
        done = await super().run(command)
        self.waited += done.seconds
        return done


async def waited(rack: Rack) -> float:
    """Simulated seconds that the programs of a look take together."""
    host = Counted(rack, speed=1_000_000)
    bench = Workbench(host, advisor=advise)
    found = await bench.hardware.probe()
    bench.close()
    assert found.arrays
    return host.waited


@pytest.mark.parametrize("name", MACHINES)
async def test_nobody_waits_for_a_card_that_is_not_there(name: str) -> None:
    assert await waited(MACHINES[name]()) < AT_ONCE


@pytest.mark.parametrize("name", ["lsi", "hpe"])
async def test_a_rack_told_to_be_slow_lets_one_wait(name: str) -> None:
    rack = MACHINES[name]()
    assert "slow" in STATES
    apply_states(rack, ["slow"])
    assert await waited(rack) > 8.0
