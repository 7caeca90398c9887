"""Racks of any size."""

from __future__ import annotations

import time

from backends.host import Command, Completed
from backends.vendors.megaraid.storcli import StorCli7
from backends.vendors.simulated.host import SimulatedHost
from backends.vendors.simulated.machines import rack_of
from backends.vendors.simulated.tools import PATHS
from tests.backends.simulated.asking import FAST, NOW


class Remembering(SimulatedHost):
    """Answers a line it has answered before from memory, so that only the reading of it is measured."""

    def __init__(self, cards: int, drives: int, volumes: int) -> None:
        super().__init__(rack_of(cards, drives, volumes, lambda: NOW), speed=FAST)
        self._answers: dict[tuple[str, ...], Completed] = {}

    async def run(self, command: Command) -> Completed:
        if command.argv not in self._answers:
            self._answers[command.argv] = await super().run(command)
        return self._answers[command.argv]


async def reading(cards: int, drives: int, volumes: int) -> float:
    """Processor seconds of reading all cards, the least of three."""
    dialect = StorCli7(Remembering(cards, drives, volumes), PATHS["storcli64"])
    taken = []
    for _ in range(4):
        begun = time.process_time()
        for number in await dialect.cards():
            found = await dialect.read(number)
            assert (len(found.drives), len(found.volumes)) == (drives, volumes)
        taken.append(time.process_time() - begun)
    return min(taken[1:])


async def test_the_largest_rack_is_read_at_once() -> None:
    assert await reading(4, 24, 64) < 3.0  # a guard against the absurd; `make bench` measures it


async def test_every_volume_of_the_largest_rack_has_a_disk_of_its_own() -> None:
    host = SimulatedHost(rack_of(4, 24, 64, lambda: NOW), speed=FAST)
    names = {volume.device for _, volume in host.rack.volumes()}
    numbers = [await host.read(f"/sys/block/{name}/dev") for name in names]
    assert len(names) == len(set(numbers)) == 256
