"""A host that counts the programs that are started on it."""

from __future__ import annotations

from backends.host import Command, Completed, Host
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.hpe import hpe_rack
from backends.simulator.profiles.linux import linux_rack
from backends.simulator.profiles.lsi import demo_rack
from backends.system.wrapped import HostWrapper
from tests.backends.simulator.asking import FAST, NOW


class CountingHost(HostWrapper):
    """Keeps every program's words."""

    def __init__(self, inner: Host) -> None:
        super().__init__(inner)
        self.ran: list[Command] = []

    async def run(self, command: Command) -> Completed:
        """Notes it and runs it."""
        self.ran.append(command)
        return await self._inner.run(command)

    @property
    def shown(self) -> list[str]:
        """What ran since `ran` was last emptied, one line each."""
        return [command.shown() for command in self.ran]

    @property
    def sets(self) -> int:
        """How many of these changed something."""
        return sum(command.mutates for command in self.ran)


RACKS = {"lsi": demo_rack, "hpe": hpe_rack, "linux": linux_rack}


def counting_rack(name: str) -> CountingHost:
    """`lsi`, `hpe` or `linux`, on which time stands still."""
    return CountingHost(SimulatedHost(RACKS[name](lambda: NOW), speed=FAST))
