"""Backend for Areca controllers: shows the output of cli64 and sets nothing."""

from __future__ import annotations

from collections.abc import Mapping

from backends.model import Array, Controller, Drive, Health, Inventory, Problem, Protection, Scope, State, Target, Task
from backends.sizes import read_size
from backends.tool_output import ToolOutput, collect_problems
from backends.vendors._read_only import ListingBackend, facts, only_card, program_of, read_output, record_output
from backends.vendors.areca import CARDS
from backends.vendors.areca.output_parsing import (
    ArecaDrive,
    RaidSet,
    count_strange_rows,
    drive_health,
    drives,
    pairs,
    raid_sets,
)
from backends.vendors.areca.presence import PLACES, READS, UNRECORDED, WHOLE

NAME = "areca"
"""Prefix of the targets of this backend."""

NOTHING_TO_SET = "read-only: the cli64 commands that change settings are not documented"
"""Fact that states why there are no settings."""

_SHOWN = (
    "Disk Write Cache Mode",
    "Volume Data Read Ahead",
    "HDD Read Ahead Cache",
    "SATA NCQ Support",
    "HDD Queue Depth",
    "Amount Of Read Ahead",
    "Buffer Threshold",
    "Background Task Priority",
    "CPU Temperature",
    "Controller Temp.",
)
"""Labels of the rows of cli64 that are shown as facts."""

_CARD = Target(backend=NAME, address="card", scope=Scope.CONTROLLER)
_SETS = {
    "normal": State.OPTIMAL,
    "checking": State.OPTIMAL,
    "initializing": State.OPTIMAL,
    "rebuilding": State.REBUILDING,
    "degraded": State.DEGRADED,
    "incomplete": State.DEGRADED,
}
_TASKS = {"checking": "consistency-check", "initializing": "initialisation", "rebuilding": "rebuild"}
_USES = {"hotspare": State.SPARE, "failed": State.FAILED, "free": State.UNASSIGNED}


class Areca(ListingBackend):
    """Backend for the Areca controller that cli64 reports on one host."""

    async def inventory(self) -> Inventory:
        """Return the controller, its RAID sets and drives."""
        program = program_of(self._host, PLACES, NAME, "cli64")
        if not isinstance(program, str):
            return program
        tool_outputs = [await read_output(self._host, WHOLE, NAME, program, *pair) for pair in READS]
        *about, sets_output, drives_output = tool_outputs
        problems = collect_problems(tool_outputs)
        if count := count_strange_rows(drives_output.text):
            text = f"{count} row{('s' if count > 1 else '')} of the output of `cli64 disk info` cannot be parsed."
            problems += (Problem(where=NAME, message=text, hint="Run `raidbench capture` and report it."),)
        rows = {key: value for tool_output in reversed(about) for key, value in pairs(tool_output.text).items()}
        if not rows:
            return Inventory(problems=problems)
        sets, disks = raid_sets(sets_output.text), drives(drives_output.text)
        owners = {disk.number: raid_set for disk in disks for raid_set in sets if _belongs_to(disk, raid_set)}
        asked = await self._read_drives(program, disks)
        problems += collect_problems(asked.values())
        health = {
            number: Health() if tool_output.cut else drive_health(tool_output.text)
            for number, tool_output in asked.items()
        }
        members = {
            raid_set.number: [disk for disk in disks if owners.get(disk.number) is raid_set] for raid_set in sets
        }
        return Inventory(
            controllers=(_card(rows, await only_card(self._host, CARDS)),),
            arrays=tuple(_array(raid_set, [] if drives_output.cut else members[raid_set.number]) for raid_set in sets),
            drives=tuple(_drive(disk, owners.get(disk.number), health[disk.number]) for disk in disks),
            problems=problems,
        )

    async def _read_drives(self, program: str, disks: tuple[ArecaDrive, ...]) -> Mapping[str, ToolOutput]:
        """Return the output about each drive, by the drive's number. The drives are read one after the other."""
        return {
            disk.number: await read_output(self._host, WHOLE, NAME, program, "disk", "info", f"drv={disk.number}")
            for disk in disks
        }

    async def ask_legal_values(self, target: Target) -> int:
        """List the volume sets, so that a recording contains the output, and return the number of commands run."""
        program = self._host.which(PLACES)
        if program is None or target != _CARD:
            return 0
        await record_output(self._host, program, *UNRECORDED)
        return 1


def _belongs_to(disk: ArecaDrive, raid_set: RaidSet) -> bool:
    """Return whether the drive belongs to the RAID set.

    The column `Usage` of the drive may truncate the name of the set, but not to fewer than twelve characters.
    """
    return disk.usage == raid_set.name or (len(disk.usage) >= 12 and raid_set.name.startswith(disk.usage))


def _card(rows: Mapping[str, str], pci: str | None) -> Controller:
    battery = rows.get("Battery Status")
    rows_shown = [*((label, rows.get(label)) for label in _SHOWN), ("Battery", battery), ("Settings", NOTHING_TO_SET)]
    return Controller(
        target=_CARD,
        vendor=NAME,
        model=rows.get("Controller Name"),
        serial=rows.get("Serial Number"),
        firmware=rows.get("Firmware Version"),
        pci=pci,
        protection=None
        if battery is None
        else Protection(kind="bbu", state="optimal" if battery == "100%" else "unknown"),
        facts=facts(rows_shown),
    )


def _set_target(raid_set: RaidSet) -> Target:
    return Target(backend=NAME, address=f"set {raid_set.number}", scope=Scope.ARRAY)


def _drive_target(disk: ArecaDrive) -> Target:
    return Target(backend=NAME, address=f"drive {disk.number}")


def _array(raid_set: RaidSet, disks: list[ArecaDrive]) -> Array:
    word = raid_set.state.lower()
    return Array(
        target=_set_target(raid_set),
        controller=_CARD,
        name=raid_set.name,
        state=_SETS.get(word, State.UNKNOWN),
        size_bytes=read_size(raid_set.size, base=1000),
        members=tuple(map(_drive_target, disks)),
        tasks=(Task(kind=_TASKS[word]),) if word in _TASKS else (),
        facts=facts([("Card's word", raid_set.state), ("Drives", raid_set.disks), ("Settings", NOTHING_TO_SET)]),
    )


def _drive(disk: ArecaDrive, owner: RaidSet | None, health: Health) -> Drive:
    online = State.ONLINE if owner is not None else State.UNKNOWN
    return Drive(
        target=_drive_target(disk),
        controller=_CARD,
        array=_set_target(owner) if owner is not None else None,
        model=disk.model,
        size_bytes=read_size(disk.size, base=1000),
        state=_USES.get(disk.usage.lower().partition("[")[0], online),  # for example `HotSpare[Global]`
        health=health,
        facts=facts([("Place", disk.place), ("Use", disk.usage)]),
    )
