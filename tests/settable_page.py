"""The table of settings of docs/vendors.md, from changes that the backends plan on simulated machines."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backends.errors import RaidbenchError
from backends.model import Target
from backends.protocol import Backend
from backends.settings import Reading, Setting
from backends.simulator.controller import MEGACLI
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from backends.testing.conformance import candidates
from backends.vendors.block.backend import BlockBackend
from backends.vendors.mdraid.backend import MdRaid
from backends.vendors.megaraid.addresses import card_target, volume_target
from backends.vendors.megaraid.backend import MegaRaid
from backends.vendors.scsi.backend import ScsiBackend
from tests.backends.mdraid.machines import MD0, MdHost, array
from tests.backends.megaraid.test_storcli8 import Played8
from tests.backends.scsi.drives import Ata, DriveHost, Scsi
from tests.backends.simulator.racks import rack_of


@dataclass(frozen=True, kw_only=True)
class System:
    """A system in the cells of the table."""

    name: str
    """Its name in the cells."""
    makers: tuple[Callable[[], Backend], ...]
    """Machines whose settings count; a setting that one of them sets can be set."""
    targets: tuple[Target, ...]
    """Targets on each machine."""


def _megacli() -> Backend:
    rack = rack_of(1, 8, 1, lambda: 1_700_000_000.0)
    rack.cards[0].seen_by = (MEGACLI,)
    return MegaRaid(SimulatedHost(rack, speed=1e9))


def _md(level: str) -> Callable[[], Backend]:
    return lambda: MdRaid(MdHost(array(level)))


def _journaled_md() -> Backend:
    four, mode = ("sda", "sdb", "sdc", "sdd"), "[write-through] write-back"
    return MdRaid(MdHost(array("raid5", four, flags={"sdd": "journal"}, raid_disks="3", journal_mode=mode)))


KERNEL = (
    System(
        name="block queue",
        makers=(lambda: BlockBackend(SimulatedHost(linux_rack())),),
        targets=tuple(Target(backend="block", address=name) for name in ("sda", "nvme0n1")),
    ),
    System(
        name="SATA",
        makers=(lambda: ScsiBackend(DriveHost({"sda": Ata(acoustic=254)})),),
        targets=(Target(backend="scsi", address="sda"),),
    ),
    System(
        name="SAS",
        makers=(lambda: ScsiBackend(DriveHost({"sda": Scsi(fixed=())})),),
        targets=(Target(backend="scsi", address="sda"),),
    ),
    System(
        name="md",
        makers=(*map(_md, ("raid0", "raid1", "raid5", "raid6", "raid10")), _journaled_md),
        targets=(MD0,),
    ),
)
"""Systems of the kernel, which have pages of their own."""

DIALECTS = (
    System(
        name="MegaCli",
        makers=(_megacli,),
        targets=(card_target("/c0"), volume_target("/c0", 0)),
    ),
    System(
        name="storcli2",
        makers=(lambda: MegaRaid(Played8()),),
        targets=(card_target("/c0"), volume_target("/c0", 1)),
    ),
)
"""Tools of one vendor that set other things than its first tool."""

HEAD = """## Settings

| Setting | Name | Set | Only shown |
| --- | --- | --- | --- |
"""


async def table(systems: Sequence[System]) -> str:
    """Return the section: a row for each key, in alphabetical order."""
    names: dict[str, str] = {}
    sets: dict[str, list[str]] = {}
    shows: dict[str, list[str]] = {}
    for system in systems:
        for key, (label, can) in sorted((await _keys(system)).items()):
            names.setdefault(key, label)
            (sets if can else shows).setdefault(key, []).append(system.name)
    rows = (
        (f"`{key}`", _name(key, names[key]), ", ".join(sets.get(key, "-")), ", ".join(shows.get(key, "-")))
        for key in sorted(names)
    )
    return HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _name(key: str, label: str) -> str:
    """Return the label of a setting, or nothing if it repeats the words of the key."""
    words = re.sub(r"[^a-z0-9]+", "_", label.lower()).strip("_")
    return "" if words == key else label


async def _keys(system: System) -> dict[str, tuple[str, bool]]:
    """Return the label of each setting by its key, and whether it can be set on one of the machines."""
    found: dict[str, tuple[str, bool]] = {}
    for make in system.makers:
        backend = make()
        await backend.inventory()
        for target in system.targets:
            readings = await backend.read(target)
            for setting in backend.settings(target):
                key, of_member, _ = setting.key.partition(".")
                label = setting.label.partition(",")[0] if of_member else setting.label
                can = await _can(backend, target, setting, readings[setting.key])
                before = found.get(key, (label, False))
                found[key] = (before[0], before[1] or can)
    return found


async def _can(backend: Backend, target: Target, setting: Setting, now: Reading) -> bool:
    """Return whether a change to another value can be planned."""
    if not now.availability.available:
        return False
    if setting.secret:
        return True
    for value in candidates(now):
        try:
            change = await backend.plan(target, setting.key, value)
        except RaidbenchError:
            continue
        if change.writes and (value != now.now or change.before is None):
            return True
    return False
