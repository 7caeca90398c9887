"""Preset that lets a resync run at full speed, and the settings that it combines. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping

KEY = "resync_speed"
"""Key of the preset."""

FULL = "full"
"""Value for the maximum speed that the members allow."""

FULL_KIB = 10_000_000
"""Limit in KiB/s on each member that is above the speed of any drive, so that it has no effect.

The kernel compares it with the measured speed (drivers/md/md.c, md_do_sync).
"""

CACHE_PAGES = 8192
"""Size of the stripe cache in pages per member, if memory allows. A resync of RAID 4 to 6 collects stripes in it."""

_CACHE = "stripe_cache_size"
_LIMITS = ("sync_speed_max", "sync_speed_min")
PARTS = (_CACHE, *_LIMITS)
"""Settings that the preset combines, in the order in which they are written."""

_WORD = re.compile(r"system|[1-9][0-9]{0,9}")
_BETWEEN = " + "


def parts_of(parity: bool) -> tuple[str, ...]:
    """Return the keys that the preset combines. Only levels with parity have a stripe cache."""
    return PARTS if parity else _LIMITS


def full_parts(cache_now: int | None, cache_most: int) -> dict[str, str]:
    """Return the value of each part at full speed. A stripe cache that is already larger is kept.

    `cache_now`: pages per member, None for a level without parity. `cache_most`: the largest value that is offered.
    """
    limits = dict.fromkeys(_LIMITS, str(FULL_KIB))
    return limits if cache_now is None else {_CACHE: str(max(cache_now, min(CACHE_PAGES, cache_most))), **limits}


def value_of(parts: Mapping[str, str], full: Mapping[str, str]) -> str:
    """Return the preset's value for these parts: `full`, or the values of all parts in one text."""
    return FULL if parts == full else _BETWEEN.join(parts.values())


def parts_in(value: str, parity: bool) -> dict[str, str]:
    """Return the parts that a value combines, by key; empty for `full` and for illegal values."""
    values, keys = value.split(_BETWEEN), parts_of(parity)
    legal = len(values) == len(keys) and all(_WORD.fullmatch(word) for word in values)
    return dict(zip(keys, values, strict=True)) if legal else {}
