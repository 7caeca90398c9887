"""The command lines of ssacli, hpssacli and hpacucli.

Words after the program, `N` a slot; nothing is ever answered to a question, and `forced` keeps it from asking one.

Reads:

    ctrl all show                       which cards it sees
    ctrl slot=N show config detail      card, arrays, logical drives and drives in one text (read again around a change)
    ctrl slot=N modify cacheratio=?     which ratios there are, once; nothing is changed by a word that ends in `=?`
    ctrl slot=N ld L modify ss=?        which strip sizes there are, once

Changes, one a command:

    ctrl slot=N modify cacheratio=R/W  nobatterywritecache=  writecachebypassthreshold=  waitforcacheroom=
        elevatorsort=  queuedepth=  rebuildpriority=  expandpriority=  surfacescanmode=  surfacescandelay=
        parallelsurfacescancount=  degradedperformanceoptimization=  inconsistencyrepairpolicy=  mnpdelay= (forced)
    ctrl slot=N modify drivewritecache=enable|disable|default [usage=configured|unconfigured|hba] forced
    ctrl slot=N ld L modify caching=enable|disable forced       hpacucli: arrayaccelerator=
    ctrl slot=N array A modify ssdsmartpath=enable|disable forced
    ctrl slot=N ld L modify ss=KIB forced
"""

from __future__ import annotations

import re
from collections.abc import Sequence

LIST = ("ctrl", "all", "show")
"""Which cards there are."""

_QUERY = re.compile(r"[a-z]{2,40}=\?", re.ASCII)
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
}
"""What ssacli calls the settings of a card."""

USAGE = {"drive_write_cache_unconfigured": "unconfigured", "drive_write_cache_hba": "hba"}
"""Which drives a policy of caches is for; those in arrays are `configured`, where the card tells them apart."""


def show(slot: str) -> tuple[str, ...]:
    """All of a card."""
    return ("ctrl", f"slot={slot}", "show", "config", "detail")


def query(slot: str, word: str, volume: int | None = None) -> tuple[str, ...]:
    """Which values a word may have."""
    place = () if volume is None else ("ld", str(volume))
    return ("ctrl", f"slot={slot}", *place, "modify", f"{word}=?")


def is_query(words: Sequence[str]) -> bool:
    """Whether these words only ask which values there are: exactly one of the two forms of `query`."""
    match list(words):
        case ["ctrl", slot, "modify", last] | ["ctrl", slot, "ld", _, "modify", last]:
            return _SLOT.fullmatch(slot) is not None and _QUERY.fullmatch(last) is not None
        case _:
            return False


def options(text: str) -> tuple[str, ...]:
    """The values that an answer to `query` names, below `Available options are:`, else in indented lines."""
    if "error:" in text.lower() and "available options" not in text.lower():
        return ()
    _, _, listed = text.rpartition("options are:")
    rows = (listed or text).splitlines()
    found = [row.split()[0] for row in rows if row[:1].isspace() and row.strip()]
    return tuple(dict.fromkeys(word for word in found if re.fullmatch(r"[A-Za-z0-9/+.]{1,24}", word, re.ASCII)))
