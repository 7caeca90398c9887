"""Machines with simulated Smart Array and Adaptec cards, for the backend's rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from backends.host import Command, Completed
from backends.simulator.smartarray import arcconf, ssacli
from backends.simulator.smartarray.cards import SmartBay, SmartCard, SmartVolume
from backends.simulator.tool_output import SimulatedOutput
from tests.backends.fakes import FakeHost, disk, machine

SSACLI = "/usr/sbin/ssacli"
ARCCONF = "/usr/Arcconf/arcconf"
NAA = "600508b1001c00000000000000000001"
SIZE = 936_703_000 << 10
"""Of the disk that the logical drive is; the tools round."""

BAYS = tuple(
    SmartBay(place=f"2I:1:{at}", serial=f"S5X{at}000000", wwn=f"500a0751{at:08x}", group="A" if at < 3 else None)
    for at in (1, 2, 3)
)
HPE = SmartCard(bays=BAYS)
"""A healthy P408i-a with a RAID 1 of two SSDs, and a third drive."""
SMARTRAID = replace(HPE, number="1", model="Adaptec SmartRAID 3204-8i", pci="0000:60:00.0")
"""The same firmware as arcconf's."""
SERIES = SmartCard(
    number="1",
    model="Adaptec 5805",
    serial="0A11DEMO148F",
    firmware="5.2-0 (18948)",
    series=True,
    bays=tuple(replace(bay, ssd=False) for bay in BAYS),
    volumes=(SmartVolume(number=0, device=None, size_gib=893.3),),
)
"""A card of series 5 with its battery."""


class PlayedCards(FakeHost):
    """A machine with ssacli's cards and arcconf's, and /dev/sdb, which is the first logical drive."""

    def __init__(self, hpe: tuple[SmartCard, ...] = (), adaptec: tuple[SmartCard, ...] = (), **files: str) -> None:
        sdb = disk("sdb", devno="8:16", size=SIZE, device__wwid=f"naa.{NAA}")
        super().__init__(machine(sdb, **files, **{SSACLI: "", ARCCONF: ""}))
        self.made_up = True
        self.hpe, self.adaptec = hpe, adaptec
        self.ran: list[str] = []
        self.instead: dict[str, SimulatedOutput] = {}
        """What is said, and nothing done, where a line begins so."""
        self.lies: dict[str, SimulatedOutput] = {}
        """What is said, where a line holds it, whatever was done."""
        self.becomes: dict[str, tuple[SmartCard, ...]] = {}
        """The cards after a line that holds it, which says nothing."""
        self.stale = 0
        """How often arcconf shows the cards as they were before a change."""
        self._before = adaptec

    def which(self, names: Any) -> str | None:
        for name in names:
            if name in ("ssacli", SSACLI) and self.hpe:
                return SSACLI
            if name in ("arcconf", ARCCONF) and self.adaptec:
                return ARCCONF
        return super().which(names)

    async def run(self, command: Command) -> Completed:
        words = command.argv[1:]
        self.ran.append(" ".join(words))
        said = next((play for start, play in self.instead.items() if self.ran[-1].startswith(start)), None)
        if said is None and command.argv[0] == SSACLI:
            said, after = ssacli.answer(self.hpe, words)
            assert command.mutates or after is self.hpe
            self.hpe = after
        elif said is None and command.argv[0] == ARCCONF:
            late = self.stale > 0 and words[0] == "getconfig" and self.adaptec != self._before
            self.stale -= late
            self._before = self._before if late else self.adaptec
            said, after = arcconf.answer(self._before, words)
            assert command.mutates or after is self._before
            self.adaptec = self.adaptec if late else after
        if said is None:
            return await super().run(command)
        line = self.ran[-1]
        self.hpe = next((cards for part, cards in self.becomes.items() if part in line), self.hpe)
        said = next((lie for part, lie in self.lies.items() if part in line), said)
        return Completed(returncode=said.code, stdout=said.text, stderr="")

    @property
    def sets(self) -> list[str]:
        """The lines that were to change something."""
        return [
            line
            for line in self.ran
            if not line.endswith("=?") and (" modify " in line or line.startswith(("setcache ", "setp")))
        ]
