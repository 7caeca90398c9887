"""NVMe RAID 1 boot controllers, read through mnv_cli. Nothing is set."""

from __future__ import annotations

import re
from collections.abc import Mapping

from backends.host import Host
from backends.model import Array, Controller, Drive, Inventory, Level, Media, Problem, Scope, State, Target
from backends.pci import function_of
from backends.raid import data_drives
from backends.reported_words import plain_words
from backends.sizes import read_size
from backends.tool_output import collect_problems
from backends.vendors._read_only import facts, program_of, read_output
from backends.vendors.marvell.presence import NAME, NVME_CARDS, NVME_DISKS, NVME_PLACES, NVME_VOLUMES, READS, records

_CARD, _VOLUME, _DISK = "bus device fun", "vd id", "pd id"
"""Labels that start the records of controllers, virtual disks and drives.

The line above a controller's record, with the number of the controller, has no colon and so is no label.
"""

_DEVICE = re.compile(r"/dev/(nvme\d{1,4})", re.ASCII)
_NUMBER = re.compile(r"\d{1,4}", re.ASCII)
_STATES = {
    "functional": State.OPTIMAL,
    "optimal": State.OPTIMAL,
    "degraded": State.DEGRADED,
    "rebuilding": State.REBUILDING,
    "rebuild": State.REBUILDING,
    "failed": State.FAILED,
    "offline": State.OFFLINE,
}
_DISK_STATES = {
    "idle": None,
    "online": None,
    "rebuild": State.REBUILDING,
    "rebuilding": State.REBUILDING,
    "failed": State.FAILED,
    "dead": State.FAILED,
    "offline": State.OFFLINE,
    "missing": State.MISSING,
}
"""State of a drive by the status that mnv_cli prints. None: it depends on whether the drive is in an array."""

_LEVELS = {"RAID0": Level.RAID0, "RAID1": Level.RAID1, "RAID10": Level.RAID10, "JBOD": Level.JBOD}


async def nvme_inventory(host: Host) -> Inventory:
    """Return the controller with its virtual disks and drives.

    If mnv_cli lists several controllers, return only the controllers, and a problem.
    """
    program = program_of(host, NVME_PLACES, NAME, "mnv_cli")
    if not isinstance(program, str):
        return program
    asked = zip(READS, (NVME_CARDS, NVME_VOLUMES, NVME_DISKS), strict=True)
    tool_outputs = [await read_output(host, check, NAME, program, *arguments) for arguments, check in asked]
    cards, volumes, disks = tool_outputs
    rows = records(cards.text, _CARD)
    owners = [_target(row, at) for at, row in enumerate(rows)]
    controllers = tuple(_card(row, owner) for row, owner in zip(rows, owners, strict=True))
    problems = collect_problems(tool_outputs if rows else tool_outputs[:1])
    if len(rows) != 1:
        message = (
            f"mnv_cli reports {len(rows)} controllers but not which one has the virtual disks, so the virtual disks "
            "are not listed."
        )
        return Inventory(
            controllers=controllers,
            problems=(*problems, *([Problem(where=NAME, message=message)] if rows else [])),
        )
    arrays = tuple(_array(row, owners[0]) for row in records(volumes.text, _VOLUME) if _NUMBER.fullmatch(row[_VOLUME]))
    free = State.UNKNOWN if volumes.cut else State.UNASSIGNED
    drives = (
        _drive(row, owners[0], arrays, free) for row in records(disks.text, _DISK) if _NUMBER.fullmatch(row[_DISK])
    )
    return Inventory(
        controllers=controllers,
        arrays=tuple({array.target: array for array in arrays}.values()),
        drives=tuple({drive.target: drive for drive in drives}.values()),
        problems=problems,
    )


def _target(row: Mapping[str, str], at: int) -> Target:
    """Return the target of a controller. Its address is the kernel's name (`nvme0`), else `card` and the index `at`."""
    named = _DEVICE.fullmatch(row.get("device", ""))
    return Target(backend=NAME, address=named[1] if named is not None else f"card{at}", scope=Scope.CONTROLLER)


def _card(row: Mapping[str, str], owner: Target) -> Controller:
    ids = [row.get(label, "").removeprefix("0x") for label in ("vid", "did", "svid", "sdid")]
    pairs = [("PCI ids", " ".join(filter(None, ids))), ("Device", row.get("device")), ("Cache", row.get("cache"))]
    pairs += [("Levels", row.get("supported raid mode")), ("Strip sizes", row.get("support stripe size"))]
    name = " ".join(row.get("subnqn", "").split())
    return Controller(
        target=owner,
        vendor=NAME,
        model=f"Marvell NVMe RAID: {name}" if name else "Marvell NVMe RAID",
        firmware=row.get("firmware version") or None,
        pci=function_of(row.get(_CARD)),
        facts=facts(pairs),
    )


def _disk_target(owner: Target, number: str) -> Target:
    return Target(backend=NAME, address=f"{owner.address}/drive{number}")


def _array(row: Mapping[str, str], owner: Target) -> Array:
    level = _LEVELS.get(row.get("raid mode", "").upper().replace(" ", ""), Level.UNKNOWN)
    members = tuple(_disk_target(owner, number) for number in row.get("pds", "").split() if _NUMBER.fullmatch(number))
    status = row.get("status", "")
    state = _STATES.get(status.lower(), State.UNKNOWN)
    return Array(
        target=Target(backend=NAME, address=f"{owner.address}/vd{row[_VOLUME]}", scope=Scope.ARRAY),
        controller=owner,
        name=row.get("name") or None,
        level=level,
        state=state,
        why=plain_words(status) if state is not State.OPTIMAL and status.lower() != state.value else "",
        size_bytes=read_size(row.get("size")),
        strip_bytes=read_size(row.get("stripe block size"), bare="k"),
        data_drives=data_drives(level, len(members)),
        members=members,
        facts=facts([("Reported as", status), ("Importable", row.get("importable"))]),
    )


def _drive(row: Mapping[str, str], owner: Target, arrays: tuple[Array, ...], free: State) -> Drive:
    """Return a drive. `free`: state of a drive that is in no array."""
    target = _disk_target(owner, row[_DISK])
    array = next((array.target for array in arrays if target in array.members), None)
    state = _DISK_STATES.get(row.get("status", "").lower(), State.UNKNOWN)
    return Drive(
        target=target,
        controller=owner,
        array=array,
        model=row.get("model") or None,
        serial=row.get("serial") or None,
        firmware=row.get("firmware version") or None,
        media=Media.NVME,
        interface="nvme",
        size_bytes=read_size(row.get("size")),
        logical_block=read_size(row.get("sector size")),
        state=state or (State.ONLINE if array is not None else free),
        facts=facts(
            [
                ("Reported as", row.get("status")),
                ("Slot", row.get("ssd backend rc/slot id")),
                ("SMART critical warning", row.get("smart critical warning")),
            ]
        ),
    )
