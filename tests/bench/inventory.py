"""What it costs to understand a large chassis: the processor time of reading the cards' answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

from backends.host import Command, Completed
from backends.simulator.host import SimulatedHost
from backends.simulator.programs import PATHS
from backends.vendors.megaraid.storcli import StorCli7
from tests.backends.simulator.racks import rack_of
from tests.bench.figures import Figure, median
from tests.bench.place import Place


class Remembering(SimulatedHost):
    """Answers a line it has answered before from memory."""

    def __init__(self, cards: int, drives: int, volumes: int) -> None:
        super().__init__(rack_of(cards, drives, volumes, lambda: 1_700_000_000.0), speed=1e6)
        self._answers: dict[tuple[str, ...], Completed] = {}

    async def run(self, command: Command) -> Completed:
        """From memory, if it can be."""
        if command.argv not in self._answers:
            self._answers[command.argv] = await super().run(command)
        return self._answers[command.argv]


def measure(place: Place) -> Iterator[Figure]:
    """The largest rack that is promised, and whether ten thousand drives cost ten thousand times one."""
    rounds = 3 if place.quick else 9
    large = asyncio.run(reading(4, 24, 64, rounds))
    yield median("4 x 24 drives, 256 volumes: inventory read", [each * 1000 for each in large], "ms", goal=100.0)
    few = min(asyncio.run(reading(25, 100, 1, rounds))) / 2_500
    many = [each / 10_000 / few for each in asyncio.run(reading(100, 100, 1, rounds))]
    yield median("10,000 drives: cost of one, against 2,500", many, "x", goal=1.3)


async def reading(cards: int, drives: int, volumes: int, rounds: int) -> list[float]:
    """Processor seconds of reading all cards, once a round."""
    dialect = StorCli7(Remembering(cards, drives, volumes), PATHS["storcli64"])
    found: list[float] = []
    for _ in range(rounds + 1):
        begun = time.process_time()
        for number in await dialect.cards():
            await dialect.read(number)
        found.append(time.process_time() - begun)
    return found[1:]  # the first round made the answers
