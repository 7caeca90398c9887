"""A machine with SMcli and the disk of one logical drive: sysfs by hand, a simulated disk system."""

from __future__ import annotations

from collections.abc import Sequence

from backends.host import Command, Completed
from backends.simulator.smcli import DiskSystem
from tests.backends.fakes import FakeHost, disk, machine

TOOL = "/opt/IBM_DS/client/SMcli"


class PlayedSystem(FakeHost):
    """DS4700_A with its logical drive `fast`, which is sdb here."""

    def __init__(self, system: DiskSystem | None = None, *, root: bool = True) -> None:
        self.system = system or DiskSystem()
        own = self.system.volumes[0]
        files = machine(disk("sdb", devno="8:16", size=own.size_bytes, device__wwid=f"naa.{own.wwn}"), **{TOOL: ""})
        super().__init__(files, root=root)
        self.made_up = True
        self.ran: list[str] = []

    def which(self, names: Sequence[str]) -> str | None:
        return TOOL if TOOL in names else None

    async def run(self, command: Command) -> Completed:
        if command.argv[0] != TOOL:
            return Completed(returncode=2, stdout="", stderr="")
        statement = command.argv[-1]
        assert command.mutates == statement.startswith("set ")
        if command.mutates:
            self.ran.append(statement)
        said = self.system.answer(command.argv[1:])
        return Completed(returncode=said.code, stdout=said.text, stderr="")
