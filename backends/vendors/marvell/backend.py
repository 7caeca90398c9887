"""Backend for Marvell boot controllers: parses the output of mvcli and sets nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

from backends.model import Array, Controller, Drive, Health, Inventory, Level, Media, Scope, State, Target
from backends.raid import data_drives
from backends.sizes import read_size
from backends.tool_output import collect_problems
from backends.vendors._read_only import ListingBackend, facts, program_of, read_output
from backends.vendors.marvell.nvme import nvme_inventory
from backends.vendors.marvell.presence import CARDS, DISKS, LINES, NAME, PLACES, READS, SMART, VOLUMES, on_bus, records

ADAPTER = ("adapter id", "controller id")
DISK = ("adapter",)
VOLUME = ("id",)
"""Labels that start a record of a virtual disk."""


_ATTRIBUTE = re.compile(
    r"[0-9A-F]{2} {1,8}(\S.{0,40}?) {2,40}\d{1,3} {1,16}\d{1,3} {1,20}\d{1,3} {1,20}([0-9A-F]{12})"
    r"(?: {1,16}(\S{1,20}))?",
    re.ASCII,
)
"""Pattern of a S.M.A.R.T. attribute: name, raw value and status. Version 4.1.0.9 of mvcli prints no status."""
_MEDIA = ("current pending", "offline scan wrong", "reported uncorrectable errors")
_LINK = ("udma crc error rate",)
_HEAT = "hda temperature"


def drive_health(text: str) -> Health:
    """Return the health of a drive from `smart -p N`.

    The lowest byte of the raw value `HDA temperature` is the current temperature in degrees Celsius.
    """
    attribute_rows = [row for line in text.splitlines()[:LINES] if (row := _ATTRIBUTE.fullmatch(line.strip()[:200]))]
    raw = {row[1].lower(): int(row[2], 16) for row in attribute_rows}
    verdict = re.search(r"^SMART STATUS RETURN: ([A-Za-z]{1,20})", text, re.ASCII | re.MULTILINE)
    verdicts = [row[3] for row in attribute_rows if row[3]] + ([verdict[1]] if verdict is not None else [])
    media, link = ([raw[name] for name in names if name in raw] for names in (_MEDIA, _LINK))
    return Health(
        predicts_failure=any(word.upper() != "OK" for word in verdicts) if verdicts else None,
        media_errors=max(media, default=None),
        other_errors=max(link, default=None),
        temperature=float(raw[_HEAT] & 0xFF) or None if _HEAT in raw else None,
    )


NOTHING_TO_SET = "none: the controller caches nothing, and its stripe size is chosen when a virtual disk is created"
"""Fact that states why there are no settings."""

_STATES = {
    "functional": State.OPTIMAL,
    "degraded": State.DEGRADED,
    "offline": State.OFFLINE,
    "rebuilding": State.REBUILDING,
}
_LEVELS = {"RAID0": Level.RAID0, "RAID1": Level.RAID1, "RAID10": Level.RAID10, "JBOD": Level.JBOD}


class Marvell(ListingBackend):
    """Backend for the Marvell controllers of one host. mvcli reports only the first one."""

    async def inventory(self) -> Inventory:
        """Return the controllers of both kinds (SATA and NVMe), their virtual disks and drives."""
        return (await self._sata()).merge(await nvme_inventory(self._host))

    async def _sata(self) -> Inventory:
        program = program_of(self._host, PLACES, NAME, "mvcli")
        if not isinstance(program, str):
            return program
        asked = zip(READS, (CARDS, VOLUMES, DISKS), strict=True)
        tool_outputs = [await read_output(self._host, check, NAME, program, *arguments) for arguments, check in asked]
        cards, volumes, disks = tool_outputs
        card_records = records(cards.text, *ADAPTER)
        if not card_records:  # no recording shows the output without a controller
            return Inventory(problems=collect_problems(tool_outputs[:1]) if await on_bus(self._host) else ())
        owner = Target(backend=NAME, address="0", scope=Scope.CONTROLLER)
        arrays = tuple(_array(row, owner) for row in records(volumes.text, *VOLUME))
        rows = [row for row in records(disks.text, *DISK) if row.get("pd id")]
        numbers = [row["pd id"] for row in rows if _NUMBER.fullmatch(row["pd id"])]
        smart = {
            number: await read_output(self._host, SMART, NAME, program, "smart", "-p", number) for number in numbers
        }
        health = {
            number: drive_health(tool_output.text) for number, tool_output in smart.items() if not tool_output.cut
        }
        free = State.UNKNOWN if volumes.cut else State.UNASSIGNED
        return Inventory(
            controllers=(_card(card_records[0], owner),),
            arrays=_without_duplicates(arrays),
            drives=_without_duplicates(
                tuple(_drive(row, owner, arrays, free, health.get(row["pd id"])) for row in rows)
            ),
            problems=collect_problems((*tool_outputs, *smart.values())),
        )


Listed = TypeVar("Listed", Array, Drive)


def _without_duplicates(devices: tuple[Listed, ...]) -> tuple[Listed, ...]:
    return tuple({array.target: array for array in reversed(devices)}.values())[::-1]


def _card(row: Mapping[str, str], owner: Target) -> Controller:
    link = row.get("current pcie link"), row.get("current pcie speed")
    pairs = [("PCI ids", row.get("product")), ("Levels", row.get("supported raid mode"))]
    pairs += [("PCIe link", f"{link[1]} x{link[0]}" if all(link) else None), ("Health", row.get("image health"))]
    pairs += [("Settings", NOTHING_TO_SET)]
    return Controller(
        target=owner,
        vendor=NAME,
        model=f"Marvell {row['product']}" if row.get("product") else None,
        firmware=row.get("firmware version"),
        facts=facts(pairs),
    )


_NUMBER = re.compile(r"\d{1,3}", re.ASCII)
"""Pattern of a drive's number. The number becomes an argument of a command, so nothing else is allowed."""


def _disk_target(number: str) -> Target:
    return Target(backend=NAME, address=f"0/drive {number}")


def _array(row: Mapping[str, str], owner: Target) -> Array:
    level = _LEVELS.get(row.get("raid mode", ""), Level.UNKNOWN)
    members = tuple(map(_disk_target, row.get("pd raid setup", "").split()))
    return Array(
        target=Target(backend=NAME, address=f"0/{row['id']}", scope=Scope.ARRAY),
        controller=owner,
        name=row.get("name"),
        level=level,
        state=_STATES.get(row.get("status", ""), State.UNKNOWN),
        size_bytes=read_size(row.get("size")),
        strip_bytes=read_size(row.get("stripe size"), bare="k"),
        data_drives=data_drives(level, len(members)),
        members=members,
        facts=facts([("Cache mode", row.get("cache mode")), ("Settings", NOTHING_TO_SET)]),
    )


def _drive(
    row: Mapping[str, str], owner: Target, arrays: tuple[Array, ...], free: State, health: Health | None
) -> Drive:
    """Return a drive. `free`: state of a drive that is in no array."""
    target = _disk_target(row["pd id"])
    array = next((array.target for array in arrays if target in array.members), None)
    return Drive(
        target=target,
        controller=owner,
        array=array,
        model=row.get("model"),
        serial=row.get("serial"),
        firmware=row.get("firmware version"),
        media=Media.SSD if row.get("ssd type") == "SSD" else Media.UNKNOWN,
        interface="sata" if row.get("type", "").startswith("SATA") else None,
        size_bytes=read_size(row.get("size")),
        state=State.ONLINE if array is not None else free,
        health=health or Health(),
        facts=facts(
            [
                ("Place", row.get("linked at")),
                ("Write cache", row.get("write cache")),
                ("Link", row.get("current speed")),
            ]
        ),
    )
