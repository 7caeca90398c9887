"""The command lines of arcconf.

Words after the program, `C` a controller, counted from 1; `noprompt` keeps it from asking.

Reads:

    list                                which cards it sees (builds that do not know it: getversion)
    getconfig C al                      card, arrays, logical devices and drives in one text, read again around a change
    getstatus C                         work under way
    setcache                            its own usage, once, where a SmartRAID has logical devices: what it calls their
                                        caching

Changes, one a command:

    series 2 to 8
    setcache C logicaldrive L ron|roff noprompt
    setcache C logicaldrive L wt|wbb|wb noprompt
    setcache C device CHANNEL ID wb|wt noprompt
    setperform C 1|2|3
    setpriority C low|medium|high

    SmartRAID
    setcache C cacheratio READ WRITE noprompt
    setcache C nobatterywritecache|waitforcacheroom enable|disable noprompt
    setcache C writecachebypassthreshold KB noprompt
    setcache C drivewritecachepolicy Configured|Unconfigured|HBA 0|1|2 noprompt
    setcache C logicaldrive L WORD noprompt     the pair of words that the usage names
"""

from __future__ import annotations

import re

LIST = ("list",)
"""Which cards there are."""
VERSIONS = ("getversion",)
"""The same for builds that do not know `list`."""
USAGE = ("setcache",)
"""What may be said to `setcache`; without more words it changes nothing."""

WRITE_CACHE = {"write-through": "wt", "write-back": "wbb", "always-write-back": "wb"}
"""Words for the write cache of a logical device of series 2 to 8: `wbb` is on while it is protected."""

READ_CACHE = {"on": "ron", "off": "roff"}
"""Words for its read cache."""

DRIVE_CACHE = {"on": "wb", "off": "wt"}
"""Words for a drive's own cache."""

PERFORMANCE = {"dynamic": "1", "oltp": "2", "big-block": "3"}
"""Numbers of the performance modes."""

POLICIES = {"default": "0", "enable": "1", "disable": "2"}
"""Numbers of the policies for the drives' caches (Microchip's storage library)."""

DRIVES = {
    "drive_write_cache": "Configured",
    "drive_write_cache_unconfigured": "Unconfigured",
    "drive_write_cache_hba": "HBA",
}
"""Which drives a policy is for, in the words of its answers."""

_PAIRS = (("lon", "loff"), ("con", "coff"))


def config(number: str) -> tuple[str, ...]:
    """All of a card."""
    return ("getconfig", number, "al")


def status(number: str) -> tuple[str, ...]:
    """Its work under way."""
    return ("getstatus", number)


def caching_words(usage: str) -> tuple[str, str] | None:
    """What this build calls caching of a SmartRAID's logical device, on and off; None where its usage names no pair."""
    words = set(re.findall(r"[a-z]{2,8}", usage.lower()))
    return next((pair for pair in _PAIRS if set(pair) <= words), None)
