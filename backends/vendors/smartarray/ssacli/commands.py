"""All ssacli, hpssacli and hpacucli command lines that raidbench runs, as listed in docs/smartarray.md."""

from __future__ import annotations

import re
from collections.abc import Sequence

from backends.errors import InvalidValueError
from backends.model import Level
from backends.vendors.smartarray.dialect import NewLogical

LIST = ("ctrl", "all", "show")
"""Arguments that list the controllers."""

_QUERY = re.compile(r"[a-z]{2,40}=\?", re.ASCII)
_CREATES = re.compile(
    r"(?:drives|raid|size|ss|numberparitygroups|caching|arrayaccelerator|logicaldrivelabel)=[A-Za-z0-9:,+_-]{1,400}",
    re.ASCII,
)
_SLOT = re.compile(r"slot=[0-9A-Za-z]{1,8}", re.ASCII)

WORDS = {
    "cache_ratio": "cacheratio",
    "no_battery_write_cache": "nobatterywritecache",
    "drive_write_cache": "drivewritecache",
    "drive_write_cache_unconfigured": "drivewritecache",
    "drive_write_cache_hba": "drivewritecache",
    "write_cache_bypass": "writecachebypassthreshold",
    "wait_for_cache_room": "waitforcacheroom",
    "elevator_sort": "elevatorsort",
    "queue_depth": "queuedepth",
    "rebuild_priority": "rebuildpriority",
    "expand_priority": "expandpriority",
    "surface_scan_mode": "surfacescanmode",
    "surface_scan_delay": "surfacescandelay",
    "parallel_surface_scan": "parallelsurfacescancount",
    "degraded_performance": "degradedperformanceoptimization",
    "inconsistency_repair": "inconsistencyrepairpolicy",
    "monitor_delay": "mnpdelay",
    "power_mode": "powermode",
    "survival_mode": "survivalmode",
    "spare_activation": "spareactivationmode",
}
"""Names of a controller's settings in commands, by setting key."""

CACHING = {"none": "disable", "controller-cache": "enable"}
"""Arguments that turn a logical drive's cache off and on, by acceleration."""

USAGE = {"drive_write_cache_unconfigured": "unconfigured", "drive_write_cache_hba": "hba"}
"""Arguments for the drives that a cache policy applies to, by setting key; `configured` for those in arrays, if the
controller distinguishes them."""


def show(slot: str) -> tuple[str, ...]:
    """Return the arguments that read everything about a controller."""
    return ("ctrl", f"slot={slot}", "show", "config", "detail")


def query(slot: str, word: str, volume: int | None = None) -> tuple[str, ...]:
    """Return the arguments that query the legal values of a setting."""
    volume_path = () if volume is None else ("ld", str(volume))
    return ("ctrl", f"slot={slot}", *volume_path, "modify", f"{word}=?")


def is_query(args: Sequence[str]) -> bool:
    """Return whether these arguments only query legal values, in one of the two forms that `query` returns."""
    match list(args):
        case ["ctrl", slot, "modify", last] | ["ctrl", slot, "ld", _, "modify", last]:
            return _SLOT.fullmatch(slot) is not None and _QUERY.fullmatch(last) is not None
        case _:
            return False


LEVELS = {
    Level.RAID0: "0",
    Level.RAID1: "1",
    Level.RAID10: "1+0",
    Level.RAID5: "5",
    Level.RAID6: "6",
    Level.RAID50: "50",
    Level.RAID60: "60",
}
"""Values of `raid=`, by RAID level."""


def create(slot: str, new: NewLogical, caching: str) -> tuple[str, ...]:
    """Return the arguments that create a logical drive over whole drives.

    `caching`: the tool's name for the cache setting, `caching` or `arrayaccelerator`. Raises InvalidValueError for a
    level that ssacli does not support.
    """
    if new.level not in LEVELS:
        raise InvalidValueError(f"ssacli does not support {new.level.name}.")
    groups = () if new.parity_groups is None else (f"numberparitygroups={new.parity_groups}",)
    cached_value = new.policies.get("acceleration")
    cached = () if cached_value is None else (f"{caching}={CACHING[cached_value]}",)
    drives, strip = f"drives={','.join(new.places)}", f"ss={new.strip_bytes // 1024}"
    options = ("type=ld", drives, f"raid={LEVELS[new.level]}", "size=max", strip, *groups, *cached)
    return ("ctrl", f"slot={slot}", "create", *options, f"logicaldrivelabel={new.name}", "forced")


def delete(slot: str, number: int) -> tuple[str, ...]:
    """Return the arguments that delete a logical drive. Deleting the last one of an array also deletes the array."""
    return ("ctrl", f"slot={slot}", "ld", str(number), "delete", "forced")


def is_creation_or_deletion(slot: str, args: Sequence[str]) -> bool:
    """Return whether these arguments are a `create` or `delete` command for this controller and nothing else."""
    match list(args):
        case ["ctrl", where, "create", "type=ld", *rest, "forced"]:
            return where == f"slot={slot}" and all(_CREATES.fullmatch(word) for word in rest)
        case ["ctrl", where, "ld", number, "delete", "forced"]:
            return where == f"slot={slot}" and number.isascii() and number.isdigit()
        case _:
            return False


def options(text: str) -> tuple[str, ...]:
    """Return the values that a `query` lists below `Available options are:`, or else in indented lines."""
    if "error:" in text.lower() and "available options" not in text.lower():
        return ()
    _, _, listed = text.rpartition("options are:")
    rows = (listed or text).splitlines()
    values = [row.split()[0] for row in rows if row[:1].isspace() and row.strip()]
    return tuple(dict.fromkeys(word for word in values if re.fullmatch(r"[A-Za-z0-9/+.]{1,24}", word, re.ASCII)))
