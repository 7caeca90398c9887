"""A card with as many virtual drives as cards have, and what each tool says of it, by the words of the command line."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from backends.host import Command, Completed
from backends.simulator.host import SimulatedHost
from backends.simulator.programs import PATHS
from backends.vendors.megaraid.dialect import Dialect
from backends.vendors.megaraid.megacli import MegaCli
from backends.vendors.megaraid.storcli import StorCli7
from tests.backends.megaraid import answers
from tests.backends.simulator.racks import rack_of

VOLUMES = 240
"""The most that a card of the 95xx or 96xx series has."""


class _Noting(SimulatedHost):
    """Keeps what it answered."""

    def __init__(self) -> None:
        super().__init__(rack_of(1, 8, VOLUMES, lambda: 1_700_000_000.0), speed=1e6)
        self.said: dict[str, str] = {}

    async def run(self, command: Command) -> Completed:
        done = await super().run(command)
        self.said[" ".join(word for word in command.argv[1:] if word not in ("J", "nolog"))] = done.stdout
        return done


def said_by(tool: str) -> Mapping[str, str]:
    """The answers of `storcli64`, `storcli2` or `MegaCli64` to all that is asked for an inventory."""
    if tool == "storcli2":
        return _version_8()
    host = _Noting()
    dialect: Dialect = (StorCli7 if tool == "storcli64" else MegaCli)(host, PATHS[tool])

    async def ask() -> None:
        for card in await dialect.cards():
            await dialect.read(card)

    asyncio.run(ask())
    return host.said


def _version_8() -> Mapping[str, str]:
    places = [f"306:{slot}" for slot in range(24)]
    drives = [
        {"EID:Slt": place, "PID": 293 + at, "State": "Conf", "Status": "Online", "DG": 0, "Size": "9.094 TiB"}
        for at, place in enumerate(places)
    ]
    own = {"Strip Size": "256 KiB", "Span Depth": 1, "Number of Drives": 24, "Auto BGI": "Off", "Secured": "No"}
    own |= {"Drive Write Cache Policy": "Disabled"}
    rows = [
        {"DG/VD": f"0/{number}", "TYPE": "RAID6", "State": "Optl", "Access": "RW", "Size": "100.0 GiB", "Name": ""}
        | {"CurrentCache": "NR,WB", "DefaultCache": "NR,WB"}
        for number in range(1, VOLUMES + 1)
    ]
    volumes = [
        {"VD Info": row, "PDs": drives, "VD Properties": own | {"SCSI NAA Id": f"600605b00a1b2c3d{at:016x}"}}
        for at, row in enumerate(rows)
    ]
    whole = {
        "Basics": {"Product Name": "MegaRAID 9660-16i", "Serial Number": "SPE1"},
        "Supported VD operations": {"Support Changing Write Policy": "Yes", "Support Changing Read Policy": "Yes"},
        "VD LIST": rows,
        "PD LIST": drives,
    }

    def answer(data: object, card: str | None = "0") -> str:
        return answers.answer(data, card=card, version=answers.VERSION_8)

    return {
        "show": answer({"System Overview": [{"Ctrl": 0, "Product Name": "MegaRAID 9660"}]}, None),
        "/c0 show all": answer(whole),
        "/c0/vall show all": answer({"Virtual Drives": volumes}),
        "/c0/eall/sall show all": answer({}),
        "/c0 show aso": answer({"Advanced Software options": []}),
    }
