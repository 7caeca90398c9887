"""Preset that lets a resync run at full speed, and the settings that it combines. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping

KEY = "resync_speed"
"""Key of the preset."""

FULL = "full"
"""Value of the preset with which a resync runs as fast as the members allow."""

FULL_KIB = 10_000_000
"""Speed limit in KiB/s per member. It is above the speed of any drive, so it never slows a resync.

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
    """Return the keys of the settings that the preset combines, with the stripe cache for a level with `parity`."""
    return PARTS if parity else _LIMITS


def full_parts(cache_now: int | None, cache_most: int) -> dict[str, str]:
    """Return the value of each combined setting at full speed. A stripe cache that is already larger is kept.

    `cache_now`: current stripe cache in pages per member; None for a level without parity. `cache_most`: the largest
    cache that is offered.
    """
    limits = dict.fromkeys(_LIMITS, str(FULL_KIB))
    return limits if cache_now is None else {_CACHE: str(max(cache_now, min(CACHE_PAGES, cache_most))), **limits}


def value_of(parts: Mapping[str, str], full: Mapping[str, str]) -> str:
    """Return the preset's value for the settings in `parts`: `FULL` if they equal those at full speed (`full`), or else
    all their values, joined by ` + `.
    """
    return FULL if parts == full else _BETWEEN.join(parts.values())


def parts_in(value: str, parity: bool) -> dict[str, str]:
    """Return the values of the combined settings that a value of the preset contains, by key; empty for `full` and
    illegal values.
    """
    values, keys = value.split(_BETWEEN), parts_of(parity)
    legal = len(values) == len(keys) and all(_WORD.fullmatch(word) for word in values)
    return dict(zip(keys, values, strict=True)) if legal else {}
