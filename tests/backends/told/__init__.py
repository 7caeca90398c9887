"""All that is told of the things of each vendor's played machine, as text.

`python -m tests.backends.told` writes the files anew. A person reads what stands in them before it is committed: the
test only sees that it stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from backends.model import Inventory, Target
from backends.protocol import InventoryBackend
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from backends.vendors.areca.backend import Areca
from backends.vendors.bcache.backend import Bcache
from backends.vendors.fusionio.backend import FusionIo
from backends.vendors.hba.backend import HbaBackend
from backends.vendors.lvm.backend import Lvm
from backends.vendors.marvell.backend import Marvell
from backends.vendors.mdraid.backend import MdRaid
from backends.vendors.megaraid.backend import MegaRaid
from backends.vendors.nvme.backend import Nvme
from backends.vendors.santricity.backend import Santricity
from backends.vendors.scsi.backend import ScsiBackend
from backends.vendors.smartarray.backend import SmartArray
from backends.vendors.smcli.backend import Smcli
from backends.vendors.threeware.backend import Threeware
from backends.vendors.zfs.backend import Zfs
from tests.backends.bcache import machines as bcache
from tests.backends.fusionio import cards as fusionio
from tests.backends.hba import test_backend as hba
from tests.backends.listed.texts import ARECA, MARVELL, PlayedUnit, Telling
from tests.backends.lvm import machines as lvm
from tests.backends.mdraid.machines import MdHost, array, reshaping
from tests.backends.megaraid import cards as megaraid
from tests.backends.nvme.drives import PlayedDrive
from tests.backends.santricity.services import PlayedWeb
from tests.backends.scsi.drives import Ata, DriveHost, Scsi
from tests.backends.simulator.asking import FAST
from tests.backends.smartarray import cards as smartarray
from tests.backends.smcli.systems import PlayedSystem

FOLDER = Path(__file__).parent
SMART = {
    "temperature": {"current": 34},
    "rotation_rate": 7200,
    "form_factor": {"name": "3.5 inches"},
    "interface_speed": {"current": {"string": "6.0 Gb/s"}},
    "smart_status": {"passed": True},
    "power_on_time": {"hours": 12_345},
    "endurance_used": {"current_percent": 3},
    "serial_number": "ZAD0",
    "firmware_version": "SN03",
}


def _md() -> InventoryBackend:
    """A mirror with a bitmap, and a RAID 5 that is reshaped and lacks a disk."""
    host = MdHost(
        array("raid1", ("sda", "sdb"), more={"bitmap/location": "+8", "bitmap/chunksize": "67108864"}),
        array("raid5", ("sdc", "sdd"), "md1", raid_disks="3", degraded="1", mismatch_cnt="128"),
    )
    reshaping(host)
    return MdRaid(host)


MACHINES: Mapping[str, Callable[[], InventoryBackend]] = {
    "adaptec": lambda: SmartArray(smartarray.PlayedCards(adaptec=(smartarray.SERIES,))),
    "areca": lambda: Areca(Telling("cli64", ARECA)),
    "bcache": lambda: Bcache(bcache.files()),
    "fusionio": lambda: FusionIo(fusionio.PlayedCard()),
    "hba": lambda: HbaBackend(hba.host()),
    "lvm-caches": lambda: Lvm(lvm.host(*lvm.CACHES)),
    "lvm-kinds": lambda: Lvm(lvm.host(*lvm.KINDS)),
    "marvell": lambda: Marvell(Telling("mvcli", MARVELL)),
    "mdraid": _md,
    "megaraid": lambda: MegaRaid(megaraid.PlayedCard()),
    "nvme": lambda: Nvme(PlayedDrive()),
    "santricity": lambda: Santricity(PlayedWeb()),
    "scsi": lambda: ScsiBackend(DriveHost({"sda": Ata(smart=SMART), "sdb": Scsi()}, tools=("smartctl",))),
    "smartarray": lambda: SmartArray(smartarray.PlayedCards((smartarray.HPE,))),
    "smcli": lambda: Smcli(PlayedSystem()),
    "threeware": lambda: Threeware(PlayedUnit()),
    "zfs": lambda: Zfs(SimulatedHost(linux_rack(), speed=FAST)),
}
"""What each of them is told of, by the name of its file."""


def told(name: str) -> str:
    """Everything of this machine, a line a field; what is unknown is left out."""
    return "\n".join(_lines(asyncio.run(MACHINES[name]().inventory()))) + "\n"


def _lines(found: Inventory) -> Iterator[str]:
    drives = dict.fromkeys((*found.drives[:1], *found.drives[-1:]))  # the others are like them
    for kind, things in (("controller", found.controllers), ("array", found.arrays), ("drive", drives)):
        for thing in things:
            yield f"{kind} {thing.target}"
            yield from (f"    {line}" for line in _fields(thing))
    yield from (f"problem {one.where}: {one.message}" for one in found.problems)


def _fields(thing: Any) -> Iterator[str]:
    for each in fields(thing):
        value = getattr(thing, each.name)
        if each.name == "facts":
            yield from (f"- {fact.label}: {fact.value}" for fact in value)
        elif each.name != "target" and value not in (None, (), ""):
            yield f"{each.name}: {', '.join(map(_words, value)) if isinstance(value, tuple) else _words(value)}"


def _words(value: Any) -> str:
    """What is known of it: a field that it may get one day and that is unknown here changes no file."""
    if not is_dataclass(value) or isinstance(value, Target):
        return str(value)
    known = ((each.name, getattr(value, each.name)) for each in fields(value))
    return " ".join(f"{name}={one}" for name, one in known if one not in (None, (), ""))
