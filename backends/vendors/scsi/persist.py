"""Settings of drives that survive a reboot: a udev rules file of its own, one line per drive. Pure.

The write cache goes through sd's cache_type, so that drive and kernel agree; udev takes the one folder that `*` stands
for (udev(7), ATTR). What only a program can set is run when the drive appears.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from backends.errors import BlockedError
from backends.topology import Node
from backends.vendors.scsi.disks import Disk, Kind
from backends.vendors.scsi.settings import BITS, OPTIONS, SETTINGS

RULES = "/etc/udev/rules.d/99-raidbench-drives.rules"
"""The file; the queues' settings have their own beside it."""

RELOAD = (("udevadm", "control", "--reload"),)
"""What makes udev read the file again. The values are in force already, nothing has to be triggered."""

HEADER = "# Drives' own settings kept by raidbench, one line per drive. `raidbench persist` changes only such lines.\n"
"""First line of the file."""

_FRONT = 'ACTION=="add", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk"'
_MATCH = r'(?:ENV\{ID_SERIAL\}|ENV\{ID_WWN\}|ATTRS\{wwid\})=="[^"\\]*"'
_ASSIGN = r'(?:ATTR\{[a-z_/*]+\}="[a-z0-9 ]+"|RUN\+="[^"\\]+")'
_OURS = re.compile(re.escape(_FRONT) + rf"((?:, {_MATCH})+)((?:, {_ASSIGN})+)")


def assignments(disk: Disk, tool: str | None, values: Mapping[str, str]) -> tuple[str, ...]:
    """What a rule does to set these values, in the order of the declarations.

    Raises BlockedError for what a rule cannot set on this disk.
    """
    found: list[str] = []
    for setting in SETTINGS:
        value = values.get(setting.key)
        if value is None:
            continue
        if setting.key == "queue_depth":
            found.append(f'ATTR{{device/queue_depth}}="{value}"')
        elif setting.key == "drive_cache" and disk.cache_type in ("write back", "write through"):
            word = "write back" if value == "on" else "write through"
            found.append(f'ATTR{{device/scsi_disk/*/cache_type}}="{word}"')
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


def merge_rules(text: str, match: tuple[str, ...], actions: tuple[str, ...]) -> str:
    """The file with this drive's line replaced, added or, for no actions, taken out; "" when nothing is left.

    Lines of any other form, a person's own, stay as they are.
    """
    mine = ", " + ", ".join(match)
    lines = [line for line in text.splitlines() if not _is_line_of(line, mine)]
    if actions:
        lines.append(", ".join((_FRONT, *match, *actions)))
    if not any(line.strip() and line != HEADER.rstrip() for line in lines):
        return ""
    if HEADER.rstrip() not in lines:
        lines.insert(0, HEADER.rstrip())
    return "\n".join(lines) + "\n"


def _is_line_of(line: str, match: str) -> bool:
    found = _OURS.fullmatch(line)
    return found is not None and found[1] == match


def explain(node: Node, match: tuple[str, ...], values: Mapping[str, str]) -> str:
    """A sentence for the person."""
    if not values:
        return f"Takes out what was kept for {node.device}; what is set now stays until the drive loses power."
    return f"Sets {', '.join(values)} whenever the drive with {' and '.join(match)} appears, from the next boot on."
