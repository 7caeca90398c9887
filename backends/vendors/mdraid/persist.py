"""Settings that survive a reboot: one line per array in the udev rules file of the kernel's disks. Pure.

mdadm.conf has SYSFS lines for this, but they do not do it: up to mdadm 4.6 a `uuid=` never matches on little-endian
machines (github.com/md-raid-utilities/mdadm/issues/242), and `mdadm --incremental`, by which udev assembles arrays,
does not read them (tried with mdadm 4.2). udev sets ENV{MD_UUID} of every running array (63-md-raid-arrays.rules).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from backends.errors import BlockedError
from backends.vendors.mdraid.plans import kernel_word

RULES = "/etc/udev/rules.d/99-raidbench.rules"
"""The file that settings of request queues are kept in too; 99 so that it runs after md's own rules."""

RELOAD = (("udevadm", "control", "--reload"),)
"""What makes udev read the file again. The values are in force already."""

HEADER = "# Settings kept by raidbench, one line per disk. `raidbench persist` changes only lines of its own form."
"""First line of the file."""

KEPT = (
    "stripe_cache_size",
    "preread_bypass_threshold",
    "group_thread_cnt",
    "skip_copy",
    "sync_speed_min",
    "sync_speed_max",
    "safe_mode_delay",
)
"""Settings that are lost at a reboot, the stripe cache before the threshold that it bounds."""

_FRONT = 'ACTION=="add|change", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk"'
_UUID = re.compile(r"[0-9a-f]{8}(:[0-9a-f]{8}){3}")
_VALUE = re.compile(r"[0-9]{1,12}(\.[0-9]{3})?|system")
_OURS = re.compile(
    re.escape(_FRONT) + r', ENV\{MD_UUID\}=="([0-9a-f:]{35})"((?:, ATTR\{md/[a-z_]+\}="[a-z0-9.]+")+)',
)


def rule_line(uuid: str, values: Mapping[str, str]) -> str:
    """The line that keeps these values. Raises BlockedError for what it cannot hold."""
    if not _UUID.fullmatch(uuid):
        raise BlockedError("The array has no UUID that a udev rule could know it by.")
    parts = [_FRONT, f'ENV{{MD_UUID}}=="{uuid}"']
    for key in KEPT:
        if key in values:
            word = kernel_word(key, values[key])
            if not _VALUE.fullmatch(word):
                raise BlockedError(f"A udev rule cannot hold {word!r} for {key}.")
            parts.append(f'ATTR{{md/{key}}}="{word}"')
    return ", ".join(parts)


def merge(text: str, uuid: str, values: Mapping[str, str]) -> str:
    """The file with this array's line replaced, added or, for no values, taken out; "" when nothing is left.

    Every other line, of a disk or of a person's own, stays as it is.
    """
    lines = [line for line in text.splitlines() if not _is_of(line, uuid)]
    if values:
        lines.append(rule_line(uuid, values))
    if not [line for line in lines if line.strip() and line != HEADER]:
        return ""
    if HEADER not in lines:
        lines.insert(0, HEADER)
    return "\n".join(lines) + "\n"


def _is_of(line: str, uuid: str) -> bool:
    found = _OURS.fullmatch(line)
    return found is not None and found[1] == uuid


def explain(device: str, uuid: str, values: Mapping[str, str]) -> str:
    """A sentence for the person."""
    if not values:
        return f"Takes out what was kept for {device}; what is set now stays until the next boot."
    return f"Sets {', '.join(values)} whenever the array with the UUID {uuid} starts, from the next boot on."
