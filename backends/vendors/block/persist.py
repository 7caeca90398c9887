"""Settings that survive a reboot: one udev rules file, one line per disk. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from backends.errors import BlockedError
from backends.topology import Node
from backends.vendors.block.knobs import BY_KEY

RULES = "/etc/udev/rules.d/99-raidbench.rules"
"""The file; 99 so that it runs after 60-persistent-storage.rules has set ID_SERIAL and ID_WWN."""

RELOAD = (("udevadm", "control", "--reload"),)
"""What makes udev read the file again. The values are in force already, nothing has to be triggered."""

HEADER = "# Settings kept by raidbench, one line per disk. `raidbench persist` changes only lines of its own form.\n"
"""First line of the file."""

_FRONT = 'ACTION=="add|change", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk"'
_VALUE = re.compile(r"-?[a-z0-9][a-z0-9_ -]*|-?\d+")
_MATCH = r'(?:ENV\{MD_UUID\}|ENV\{ID_SERIAL\}|ENV\{ID_WWN\}|ATTR\{wwid\}|ATTRS\{wwid\}|ATTR\{serial\})=="[^"\\]*"'
_OURS = re.compile(re.escape(_FRONT) + rf'((?:, {_MATCH})+)((?:, ATTR\{{queue/[a-z_]+\}}="[a-z0-9_ -]+")+)')


def match_keys(node: Node) -> tuple[str, ...]:
    """What recognises this very disk in a rule, whatever its name: udev's identifiers, else the kernel's.

    ID_WWN alone may be shared by the volumes of one array (it is cut to 64 bits), so ID_SERIAL comes with it.
    Raises BlockedError when the disk has nothing stable.
    """
    own = node.attributes
    if "loop/backing_file" in own or node.name.startswith(("loop", "zram", "ram", "nbd")):
        raise BlockedError(
            f"{node.device} has nothing that stays the same over a reboot, so its settings cannot be kept.",
            hint="Set them again from the unit or script that sets the device up.",
        )
    if array := node.udev.get("MD_UUID"):
        pairs = [("ENV{MD_UUID}", array)]
    elif serial := node.udev.get("ID_SERIAL"):
        pairs = [("ENV{ID_SERIAL}", serial)]
        pairs += [("ENV{ID_WWN}", wwn)] if (wwn := node.udev.get("ID_WWN")) else []
    elif wwid := own.get("wwid"):
        pairs = [("ATTR{wwid}", wwid)]
    elif wwid := own.get("device/wwid"):
        pairs = [("ATTRS{wwid}", wwid)]
    elif serial := own.get("serial"):
        pairs = [("ATTR{serial}", serial)]
    else:
        raise BlockedError(
            f"{node.device} reports neither serial number nor WWN, so no rule could tell it from another disk.",
            hint="In a virtual machine, give the disk a serial number.",
        )
    return tuple(f'{key}=="{_pattern(value, node)}"' for key, value in pairs)


def _pattern(value: str, node: Node) -> str:
    """A udev match pattern that stands for this value.

    udev knows no escape for `|`, and none for quotes that all versions share: `?`, any one character, stands in.
    """
    text = value.strip()
    if not text or not text.isascii() or not text.isprintable():
        raise BlockedError(f"The serial number of {node.device} has characters that a udev rule cannot hold.")
    escaped = {"*": "[*]", "?": "[?]", "[": "[[]", '"': "?", "\\": "?", "|": "?"}
    return "".join(escaped.get(char, char) for char in text)


def require_unique(node: Node, match: tuple[str, ...], others: Iterable[Node]) -> None:
    """Raises BlockedError when another disk answers to the same rule."""
    for other in others:
        if other.name == node.name or other.parent is not None:
            continue
        try:
            same = match_keys(other) == match
        except BlockedError:
            continue
        if same:
            raise BlockedError(
                f"{node.device} and {other.device} report the same serial number: a rule would hit both.",
                hint="Set the values at boot from a unit that names the disk by its path.",
            )


def rule_line(match: tuple[str, ...], values: Mapping[str, str]) -> str:
    """The line for one disk; the scheduler first, because it resets others. Raises BlockedError for odd values."""
    parts = [_FRONT, *match]
    for key in BY_KEY:
        if key in values:
            if not _VALUE.fullmatch(values[key]):
                raise BlockedError(f"A udev rule cannot hold {values[key]!r} for {key}.")
            parts.append(f'ATTR{{queue/{key}}}="{values[key]}"')
    return ", ".join(parts)


def merge_rules(text: str, match: tuple[str, ...], values: Mapping[str, str]) -> str:
    """The file with this disk's line replaced, added or, for no values, taken out; "" when nothing is left.

    Lines of any other form, a person's own, stay as they are.
    """
    mine = ", " + ", ".join(match)
    lines = [line for line in text.splitlines() if not _is_line_of(line, mine)]
    if values:
        lines.append(rule_line(match, values))
    rest = [line for line in lines if line.strip() and line != HEADER.rstrip()]
    if not rest:
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
        return f"Takes out what was kept for {node.device}; what is set now stays until the next boot."
    return f"Sets {', '.join(values)} whenever the disk with {' and '.join(match)} appears, from the next boot on."
