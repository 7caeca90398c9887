"""Settings that survive a reboot: `SYSFS` lines of mdadm.conf, one of ours per array. Pure.

mdadm(8) writes them to the array's `md` folder when it assembles it, the last line of an array first, and of a line the
last word first (mdadm's config.c, sysfsline; sysfs.c, sysfs_rules_apply).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from backends.errors import BlockedError
from backends.vendors.mdraid.plans import kernel_word

PATHS = ("/etc/mdadm/mdadm.conf", "/etc/mdadm.conf")
"""Where mdadm looks: first in the one its distribution was built with, then in the other."""

KEPT = (
    "preread_bypass_threshold",
    "stripe_cache_size",
    "group_thread_cnt",
    "skip_copy",
    "sync_speed_min",
    "sync_speed_max",
    "safe_mode_delay",
)
"""Settings that such a line can keep, in the order that lets mdadm set the stripe cache before its threshold."""

MARK = "# kept by raidbench"
"""Ends each line of ours."""

_UUID = re.compile(r"[0-9a-f]{8}(:[0-9a-f]{8}){3}")
_VALUE = re.compile(r"[0-9]{1,12}(\.[0-9]{3})?|system")


def sysfs_line(uuid: str, values: Mapping[str, str]) -> str:
    """The line that keeps these values. Raises BlockedError for what such a line cannot hold."""
    if not _UUID.fullmatch(uuid):
        raise BlockedError("The array has no UUID that mdadm.conf could name it by.")
    words: list[str] = []
    for key in KEPT:
        if key in values:
            word = kernel_word(key, values[key])
            if not _VALUE.fullmatch(word):
                raise BlockedError(f"mdadm.conf cannot hold {word!r} for {key}.")
            words.append(f"{key}={word}")
    return f"SYSFS uuid={uuid} {' '.join(words)} {MARK}"


def merge(text: str, uuid: str, values: Mapping[str, str]) -> str:
    """The file with this array's line of ours replaced, added or, for no values, taken out.

    Every other line stays as it is, a person's own SYSFS lines too; ours comes before them, so that it is applied after
    them. "" when nothing but ours was in it.
    """
    lines = [line for line in text.splitlines() if not _is_ours(line, uuid)]
    if values:
        first = next((at for at, line in enumerate(lines) if line.lstrip()[:5].upper() == "SYSFS"), len(lines))
        lines.insert(first, sysfs_line(uuid, values))
    return "\n".join(lines) + "\n" if any(line.strip() for line in lines) else ""


def _is_ours(line: str, uuid: str) -> bool:
    return line.startswith(f"SYSFS uuid={uuid} ") and line.rstrip().endswith(MARK)


def explain(device: str, values: Mapping[str, str]) -> str:
    """A sentence for the person."""
    if not values:
        return f"Takes out what was kept for {device}; what is set now stays until the next boot."
    return (
        f"mdadm sets {', '.join(values)} whenever it assembles {device}, from the next boot on. If the initramfs "
        "assembles the array, it has a copy of this file: renew it with update-initramfs -u or dracut -f."
    )
