"""Settings of drives that survive a reboot: a udev rules file of its own, one line per drive. Pure.

The write cache goes through sd's cache_type, so that drive and kernel agree; udev takes the one folder that `*` stands
for (udev(7), ATTR). What only a program can set is run when the drive appears.
"""

from __future__ import annotations

from collections.abc import Mapping

from backends.errors import BlockedError
from backends.udev import RuleFile, assign
from backends.vendors.scsi.disks import Disk, Kind
from backends.vendors.scsi.settings import BITS, OPTIONS, SETTINGS

RULES = RuleFile(
    path="/etc/udev/rules.d/99-raidbench-drives.rules",
    header="# Drives' own settings kept by raidbench, one line per drive. `raidbench persist` changes only such lines.",
    event="add",
    action=r'(?:ATTR\{[a-z_/*]+\}="[a-z0-9 ]+"|RUN\+="[^"\\]+")',
    thing="drive",
    until="the drive loses power",
)
"""The file; the queues' settings have their own beside it."""


def actions(disk: Disk, tool: str | None, values: Mapping[str, str]) -> tuple[str, ...]:
    """What a rule does to set these values, in the order of the declarations.

    Raises BlockedError for what a rule cannot set on this disk.
    """
    found: list[str] = []
    for setting in SETTINGS:
        value = values.get(setting.key)
        if value is None:
            continue
        if setting.key == "queue_depth":
            found.append(assign("device/queue_depth", value))
        elif setting.key == "drive_cache" and disk.cache_type in ("write back", "write through"):
            word = "write back" if value == "on" else "write through"
            found.append(assign("device/scsi_disk/*/cache_type", word))
        else:
            found.append(f'RUN+="{_program(disk, tool, setting.key, value)} $devnode"')
    return tuple(found)


def _program(disk: Disk, tool: str | None, key: str, value: str) -> str:
    """The program and its words, without the device."""
    if tool is None or '"' in tool or " " in tool or "%" in tool or "$" in tool:
        raise BlockedError(f"Without its tool, {key} of {disk.node.device} cannot be kept by a rule.")
    if disk.kind is Kind.ATA and key in OPTIONS:
        word = {"on": "1", "off": "0"}.get(value, value)
        return f"{tool} -q {OPTIONS[key]}{word}"
    if disk.kind is Kind.SCSI and key in BITS:
        name, inverted = BITS[key]
        return f"{tool} --quiet --set={name}={int((value == 'on') is not inverted)}"
    raise BlockedError(f"{key} of {disk.node.device} cannot be kept by a rule.")
