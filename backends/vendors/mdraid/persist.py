"""Settings that survive a reboot: one line per array in the udev rules file of the kernel's disks. Pure.

mdadm.conf has SYSFS lines for this, but they do not do it: up to mdadm 4.6 a `uuid=` never matches on little-endian
machines (github.com/md-raid-utilities/mdadm/issues/242), and `mdadm --incremental`, by which udev assembles arrays,
does not read them (tried with mdadm 4.2). udev sets ENV{MD_UUID} of every running array (63-md-raid-arrays.rules).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from backends.errors import BlockedError
from backends.udev import assign, queue_rules
from backends.vendors.mdraid.plans import kernel_word

RULES = queue_rules("md", "array")
"""The lines of arrays, beside those of request queues."""

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

_UUID = re.compile(r"[0-9a-f]{8}(:[0-9a-f]{8}){3}")


def match_of(uuid: str | None) -> tuple[str, ...]:
    """What recognises an array in a rule. Raises BlockedError without a UUID."""
    if uuid is None or not _UUID.fullmatch(uuid):
        raise BlockedError("The array has no UUID that a udev rule could know it by.")
    return (f'ENV{{MD_UUID}}=="{uuid}"',)


def actions(values: Mapping[str, str]) -> tuple[str, ...]:
    """What the line of an array does. Raises BlockedError for what it cannot hold."""
    return tuple(assign(f"md/{key}", kernel_word(key, values[key])) for key in KEPT if key in values)
