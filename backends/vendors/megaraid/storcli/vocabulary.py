"""Meanings of the tools' terms, as raidbench names them. Other terms mean `unknown`, and are kept as printed. No I/O.

Sources: the legends that the tools print below their tables, `storcli help`, and the recordings (docs/megaraid.md).
"""

from __future__ import annotations

import re

from backends.model import Level, Media, State
from backends.vendors._cards import UNKNOWN, ReportedValue, reported_word
from backends.vendors.megaraid.facts import Policies

VOLUME_STATES = {
    "optl": State.OPTIMAL,
    "optimal": State.OPTIMAL,
    "dgrd": State.DEGRADED,
    "degraded": State.DEGRADED,
    "pdgd": State.DEGRADED,
    "partially degraded": State.DEGRADED,
    "rec": State.REBUILDING,
    "recovery": State.REBUILDING,
    "ofln": State.OFFLINE,
    "offln": State.OFFLINE,
    "offline": State.OFFLINE,
    "frgn": State.FOREIGN,
    "foreign": State.FOREIGN,
    "msng": State.MISSING,
}
"""States of a virtual drive."""

DRIVE_STATES = {
    "onln": State.ONLINE,
    "online": State.ONLINE,
    "cfshld": State.ONLINE,
    "cpybck": State.ONLINE,
    "cbshld": State.ONLINE,
    "jbod": State.ONLINE,
    "offln": State.OFFLINE,
    "offline": State.OFFLINE,
    "rbld": State.REBUILDING,
    "rebuild": State.REBUILDING,
    "failed": State.FAILED,
    "ubad": State.FAILED,
    "msng": State.MISSING,
    "missing": State.MISSING,
    "ugood": State.UNASSIGNED,
    "ugshld": State.UNASSIGNED,
    "ugunsp": State.UNASSIGNED,
    "ubunsp": State.FAILED,
    "ghs": State.SPARE,
    "dhs": State.SPARE,
    "hspshld": State.SPARE,
    "frgn": State.FOREIGN,
    "foreign": State.FOREIGN,
}
"""States of a drive by the single word of version 7. `ubad` is a drive that the controller has given up."""

_ROLES = {
    "conf": State.ONLINE,
    "uconf": State.UNASSIGNED,
    "jbod": State.ONLINE,
    "ghs": State.SPARE,
    "dhs": State.SPARE,
}
"""Purpose of a drive, by the first word of version 8 without its ending."""

_ENDINGS = {"shld": None, "sntz": None, "unsp": None, "dgrd": State.DEGRADED}
"""Endings of the first word of version 8. Shielded, being sanitized and unsupported do not change the state. Degraded
means that one of the drive's logical units is degraded."""

_WHOLE_WORDS = {"shld": State.ONLINE, "unusbl": State.FAILED, "various": State.UNKNOWN}
"""First words that name no purpose: a shielded JBOD drive, an unusable drive, and several units in different states."""

_CONDITIONS = {
    "online": None,
    "good": None,
    "replace": None,
    "offline": State.OFFLINE,
    "rebuild": State.REBUILDING,
    "rebuilding": State.REBUILDING,
    "failed": State.FAILED,
    "bad": State.FAILED,
    "unusable": State.FAILED,
    "missing": State.MISSING,
    "degraded": State.DEGRADED,
    "foreign": State.FOREIGN,
}
"""Condition of a drive, by the second word of version 8; None if the first word decides the state."""

_LEVELS = {
    "raid0": Level.RAID0,
    "raid1": Level.RAID1,
    "raid4": Level.RAID4,
    "raid5": Level.RAID5,
    "raid6": Level.RAID6,
    "raid10": Level.RAID10,
    "raid50": Level.RAID50,
    "raid60": Level.RAID60,
    "jbod": Level.JBOD,
}

_SPANNED = {Level.RAID1: Level.RAID10, Level.RAID5: Level.RAID50, Level.RAID6: Level.RAID60}

WRITE = {
    "wt": "write-through",
    "writethrough": "write-through",
    "write through": "write-through",
    "wb": "write-back",
    "writeback": "write-back",
    "write back": "write-back",
    "awb": "always-write-back",
    "fwb": "always-write-back",
    "always writeback": "always-write-back",
    "alwayswriteback": "always-write-back",
    "always write back": "always-write-back",
    "force writeback": "always-write-back",
}
"""Write policies."""

READ = {
    "nr": "none",
    "nora": "none",
    "no read ahead": "none",
    "r": "read-ahead",
    "ra": "read-ahead",
    "read ahead": "read-ahead",
    "ar": "adaptive",
    "adra": "adaptive",
}
"""Read policies."""

IO = {"d": "direct", "direct": "direct", "c": "cached", "cached": "cached"}
"""I/O policies."""

DRIVE_CACHE = {
    "enabled": "on",
    "enable": "on",
    "enbl": "on",
    "on": "on",
    "disabled": "off",
    "disable": "off",
    "dsbl": "off",
    "off": "off",
    "disk's default": "default",
    "drive's default": "default",
    "disk default": "default",
    "default": "default",
    "dflt": "default",
}
"""Policies for the drive caches."""

ACCESS = {
    "rw": "read-write",
    "read write": "read-write",
    "ro": "read-only",
    "read only": "read-only",
    "b": "blocked",
    "blkd": "blocked",
    "blocked": "blocked",
    "hd": "hidden",
    "hidden": "hidden",
}
"""Access policies."""

MEDIA = {"hdd": Media.HDD, "ssd": Media.SSD}
"""Media."""

INTERFACES = {"sata": "sata", "sas": "sas", "nvme": "nvme", "pcie": "nvme"}
"""Interfaces."""

BACKUP = {
    "optimal": "optimal",
    "opt": "optimal",
    "charging": "charging",
    "learning": "learning",
    "learn": "learning",
    "degraded": "degraded",
    "dgd": "degraded",
    "degraded(need attention)": "degraded",
    "degraded (needs attention)": "degraded",
    "non operational": "failed",
    "failed": "failed",
    "fail": "failed",
    "missing": "missing",
    "msng": "missing",
    "absent": "missing",
    "not present": "missing",
}
"""States of battery, CacheVault and energy pack."""

HEALTHY = {"optimal": True, "learning": False, "degraded": False, "failed": False, "missing": False}
"""Whether the cached data survives a power cut, by state; unknown for other states."""

JOBS = {
    "background initialization": "background-initialisation",
    "bgi": "background-initialisation",
    "initialization": "initialisation",
    "foreground initialization": "initialisation",
    "fgi": "initialisation",
    "init": "initialisation",
    "consistency check": "consistency-check",
    "cc": "consistency-check",
    "reconstruction": "migration",
    "migrate": "migration",
    "online capacity expansion": "migration",
    "oce": "migration",
    "rebuild": "rebuild",
    "copyback": "copyback",
    "patrol read": "patrol-read",
}
"""Background operations."""

_CACHE = re.compile(r"(NR|Ra|R|RA|ADRA|AR)?(AWB|FWB|WB|WT)(D|C)?")
"""Letters of the `Cache` column. By the legend, `RAWB` is R and AWB, so RA is tried after R. The tool itself prints the
small letter in `RaWB`."""
_ADAPTIVE = "Ra"
"""Letters for adaptive read-ahead, by the legend of version 1 of the tool."""


def level(text: str | None, spans: int | None) -> Level:
    """Return the RAID level; the tools may report a spanned RAID 1 as `RAID1` with a span depth of 2."""
    plain = _LEVELS.get((text or "").lower().replace(" ", "").replace("-", ""), Level.UNKNOWN)
    return _SPANNED.get(plain, plain) if spans is not None and spans > 1 else plain


def policies(column: str | None) -> Policies:
    """Return the policies of the `Cache` column: `RWBD`, `NRWTD`, `RAWBC`, or `NR,WB` of version 8."""
    if column is None:
        return Policies()
    read, comma, write = column.partition(",")
    if comma:
        return Policies(
            write_cache=reported_word(write.strip() or None, WRITE), read_ahead=_read_ahead(read.strip() or None)
        )
    match = _CACHE.fullmatch(column.strip())
    if match is None:
        unknown_policy = ReportedValue(value=UNKNOWN, raw=column)
        return Policies(write_cache=unknown_policy, read_ahead=unknown_policy, io_policy=unknown_policy)
    return Policies(
        write_cache=reported_word(match[2], WRITE),
        read_ahead=_read_ahead(match[1]),
        io_policy=reported_word(match[3], IO),
    )


def _read_ahead(text: str | None) -> ReportedValue | None:
    """Return the read policy from the letters in the `Cache` column."""
    return ReportedValue(value="adaptive", raw=_ADAPTIVE) if text == _ADAPTIVE else reported_word(text, READ)


def is_copying(state: str | None, status: str | None) -> bool | None:
    """Return True if the state or status says that the drive is being copied to its replacement; else None."""
    return (state or "").lower() in ("cpybck", "cbshld") or (status or "").lower() == "replace" or None


def drive_state(state: str | None, status: str | None) -> State:
    """Return the state of a drive.

    Version 7 prints one word for it. Version 8 prints purpose and condition, of which the worse one counts.
    """
    first = (state or "").lower()
    if status is None:
        return DRIVE_STATES.get(first, State.UNKNOWN)
    role = _role(first)
    condition = _CONDITIONS.get(status.lower(), State.UNKNOWN)
    return role if condition is None or role is State.FAILED else condition


def _role(word: str) -> State:
    if word in _WHOLE_WORDS:
        return _WHOLE_WORDS[word]
    role = next((name for name in _ROLES if word.startswith(name)), "")
    ending = word.removeprefix(role)
    if not role or (ending and ending not in _ENDINGS):
        return State.UNKNOWN
    return _ENDINGS.get(ending) or _ROLES[role]
