"""The backend of Marvell boot cards: what mvcli says; there is nothing to set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from backends.host import Host
from backends.model import Array, Controller, Drive, Inventory, Level, Media, Problem, Scope, State, Target
from backends.vendors._listed import facts, program_of, said
from backends.vendors.marvell.answers import ADAPTER, DISK, VOLUME, kibibytes, records
from backends.vendors.marvell.presence import PLACES, READS

NAME = "marvell"
"""The prefix of this backend's targets."""

NOTHING_TO_SET = "none: the card caches nothing, and its stripe size is chosen when a virtual disk is created"
"""Why there is nothing to set."""

_STATES = {
    "functional": State.OPTIMAL,
    "degraded": State.DEGRADED,
    "offline": State.OFFLINE,
    "rebuilding": State.REBUILDING,
}
_LEVELS = {"RAID0": Level.RAID0, "RAID1": Level.RAID1, "RAID10": Level.RAID10, "JBOD": Level.JBOD}


class Marvell:
    """The Marvell card of one host. mvcli tells of one at a time, the first."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def inventory(self) -> Inventory:
        """The card, its virtual disks and drives."""
        program = program_of(self._host, PLACES, NAME, "mvcli")
        if not isinstance(program, str):
            return program
        cards, volumes, disks = [await said(self._host, program, *words) for words in READS]
        found = records(cards, *ADAPTER)
        if not found:
            return Inventory()
        owner = Target(backend=NAME, address="0", scope=Scope.CONTROLLER)
        arrays = tuple(_array(row, owner) for row in records(volumes, *VOLUME))
        return Inventory(
            controllers=(_card(found[0], owner),),
            arrays=_each_once(arrays),
            drives=_each_once(tuple(_drive(row, owner, arrays) for row in records(disks, *DISK))),
        )

    async def diagnose(self) -> tuple[Problem, ...]:
        """Nothing of its own."""
        return ()


Thing = TypeVar("Thing", Array, Drive)


def _each_once(things: tuple[Thing, ...]) -> tuple[Thing, ...]:
    return tuple({one.target: one for one in reversed(things)}.values())[::-1]


def _card(row: Mapping[str, str], owner: Target) -> Controller:
    link = row.get("current pcie link"), row.get("current pcie speed")
    told = [("PCI ids", row.get("product")), ("Levels", row.get("supported raid mode"))]
    told += [("PCIe link", f"{link[1]} x{link[0]}" if all(link) else None), ("Health", row.get("image health"))]
    told += [("Settings", NOTHING_TO_SET)]
    return Controller(
        target=owner,
        vendor=NAME,
        model=f"Marvell {row.get('product', '')}".strip(),
        firmware=row.get("firmware version"),
        facts=facts(told),
    )


def _disk_target(number: str) -> Target:
    return Target(backend=NAME, address=f"0/drive {number}")


def _array(row: Mapping[str, str], owner: Target) -> Array:
    level = _LEVELS.get(row.get("raid mode", ""), Level.UNKNOWN)
    members = tuple(map(_disk_target, row.get("pd raid setup", "").split()))
    strip = row.get("stripe size", "")
    return Array(
        target=Target(backend=NAME, address=f"0/{row['id']}", scope=Scope.ARRAY),
        controller=owner,
        name=row.get("name"),
        level=level,
        state=_STATES.get(row.get("status", ""), State.UNKNOWN),
        size_bytes=kibibytes(row.get("size")),
        strip_bytes=int(strip) << 10 if strip.isascii() and strip.isdigit() and len(strip) < 6 else None,
        data_drives={Level.RAID0: len(members), Level.RAID1: 1}.get(level) if members else None,
        members=members,
        facts=facts([("Cache mode", row.get("cache mode")), ("Settings", NOTHING_TO_SET)]),
    )


def _drive(row: Mapping[str, str], owner: Target, arrays: tuple[Array, ...]) -> Drive:
    target = _disk_target(row.get("pd id", ""))
    array = next((one.target for one in arrays if target in one.members), None)
    return Drive(
        target=target,
        controller=owner,
        array=array,
        model=row.get("model"),
        serial=row.get("serial"),
        firmware=row.get("firmware version"),
        media=Media.SSD if row.get("ssd type") == "SSD" else Media.UNKNOWN,
        interface="sata" if row.get("type", "").startswith("SATA") else None,
        size_bytes=kibibytes(row.get("size")),
        state=State.ONLINE if array is not None else State.UNASSIGNED,
        facts=facts(
            [
                ("Place", row.get("linked at")),
                ("Write cache", row.get("write cache")),
                ("Link", row.get("current speed")),
            ]
        ),
    )
