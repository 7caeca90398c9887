"""A machine with an ioMemory card: sysfs by hand, the programs of the simulated card."""

from __future__ import annotations

from collections.abc import Sequence

from backends.host import Command, Completed, FileStat
from backends.simulator.fusionio import IoMemory
from tests.backends.fakes import QUEUE, FakeHost, disk, machine

DRIVER = {"/sys/module/iomemory_vsl/version": "3.2.16"}
PROGRAMS = ("fio-status", "fio-detach", "fio-format", "fio-attach")


class PlayedCard(FakeHost):
    """fct0 with its block device fioa; the kernel has it while it is attached."""

    def __init__(self, card: IoMemory | None = None, *, root: bool = True) -> None:
        self.card = card or IoMemory()
        files = machine(disk("fioa", devno="252:0", size=self.card.size_bytes, queue=QUEUE), **DRIVER)
        files |= {"/sys/block/fioa/serial": self.card.serial, "/sys/block/fioa/wwid": "eui.0000001149d0969f"}
        programs = {f"/usr/bin/{name}": "" for name in PROGRAMS}
        super().__init__(
            files | programs, stats={"/dev/fioa": FileStat(kind="block", size=0, devno="252:0")}, root=root
        )
        self.made_up = True
        self.ran: list[str] = []
        self.missing: tuple[str, ...] = ()

    def which(self, names: Sequence[str]) -> str | None:
        if own := [name for name in PROGRAMS if name in names and name not in self.missing]:
            return f"/usr/bin/{own[0]}"
        return next((f"/sbin/{name}" for name in ("blkid", "wipefs") if name in names), None)

    async def run(self, command: Command) -> Completed:
        name = command.argv[0].rpartition("/")[2]
        if name not in PROGRAMS:
            empty = '{"signatures": []}' if name == "wipefs" else ""
            return self.tools.get(name, Completed(returncode=0 if empty else 2, stdout=empty, stderr=""))
        said = self.card.answer(name, command.argv[1:])
        assert command.mutates == (name != "fio-status")
        if command.mutates:
            self.ran.append(" ".join((name, *command.argv[1:])))
        self.files["/sys/block/fioa/queue/logical_block_size"] = str(self.card.sector_bytes)
        return Completed(returncode=said.code, stdout=said.text, stderr="")
