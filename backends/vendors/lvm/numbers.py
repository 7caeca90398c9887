"""The numbers that settings of a volume may have: their range, which are offered, and the check of one that is given.

Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from backends.errors import InvalidValueError
from backends.settings import Reading, Setting, check_value
from backends.topology.tree import number
from backends.values import dataclass
from backends.vendors.lvm.settings import CACHE_POLICY, READ_AHEAD
from backends.vendors.lvm.view import LvView

_MOST = (1 << 31) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """The numbers that a setting may have besides its default."""

    low: int
    """Smallest."""
    high: int
    """Largest."""
    steps: tuple[int, ...]
    """Those that are offered; any other can be given too."""
    default: int | None = None
    """What applies where none is set; None if that is no number or not known."""


_BEFORE = re.compile(r"\d{1,10}", re.ASCII)
_POLICIES = ("smq", "mq", "cleaner")

_WRITECACHE = {
    "writeback_jobs": Numbers(low=1, high=1 << 20, steps=(16, 64, 256, 1024, 4096)),
    "autocommit_blocks": Numbers(low=1, high=_MOST, steps=(64, 1024, 16_384, 65_536, 262_144), default=65_536),
    "autocommit_time": Numbers(low=1, high=3_600_000, steps=(100, 500, 1000, 5000, 10_000), default=1000),
}
"""drivers/md/dm-writecache.c, writecache_ctr."""

_HIGH, LOW_WATERMARK = 50, 45
"""Watermarks of the kernel's own, in percent (the same)."""

RATES = {"min_recovery_rate": "raid_min_recovery_rate", "max_recovery_rate": "raid_max_recovery_rate"}
"""By setting the column of lvs that tells it, in KiB/s; 0 or empty where none is set."""

_SPEEDS = (1000, 5000, 10_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
_AHEAD_MOST = 1 << 20
_BEHIND_MOST = 32_766
"""Writes (drivers/md/dm-raid.c: half of it must not exceed md-bitmap.h's COUNTER_MAX)."""


def numbers(key: str, view: LvView) -> Numbers | None:
    """What numbers a setting may have on this volume; None for one that has no numbers."""
    volume = view.volume
    if key == "migration_threshold":
        least = 8 * (volume.number("chunk_size") or 65_536) // 512
        return Numbers(low=least, high=1 << 24, steps=(2048, 4096, 8192, 16_384, 65_536), default=max(2048, least))
    if key == "high_watermark":
        low = number(volume.settings.get("low_watermark")) or LOW_WATERMARK
        return Numbers(low=max(1, min(low, 100)), high=100, steps=(50, 60, 70, 80, 90, 95), default=_HIGH)
    if key == "low_watermark":
        high = number(volume.settings.get("high_watermark")) or _HIGH
        return Numbers(low=0, high=min(high, 100), steps=(10, 20, 30, 40, 45, 60, 80), default=LOW_WATERMARK)
    if key in ("min_recovery_rate", "max_recovery_rate"):
        other = "max" if key.startswith("min") else "min"
        bound = volume.number(RATES[f"{other}_recovery_rate"])
        low, high = (1, bound or _MOST) if other == "max" else (bound or 1, _MOST)
        return Numbers(low=low, high=high, steps=_SPEEDS)
    if key == "write_behind":
        return Numbers(low=1, high=_BEHIND_MOST, steps=(256, 1024, 4096, 16_384))
    return _WRITECACHE.get(key)


def wanted_value(view: LvView) -> Callable[[Setting, Reading, str], str]:
    """The check of a value: numbers need not be among the steps that are offered. Raises InvalidValueError."""

    def check(setting: Setting, now: Reading, value: str) -> str:
        given = number(value)
        if setting.key == READ_AHEAD.key and given is not None:
            step = view.page_bytes // 1024
            if not 0 < given <= _AHEAD_MOST or given % step:
                hint = f"`auto`, `none`, or from {step} to {_AHEAD_MOST} KiB in steps of {step}."
                raise InvalidValueError(f"{setting.key} cannot be {given} here.", hint=hint)
            return str(given)
        legal = numbers(setting.key, view)
        if legal is None or given is None:
            return check_value(setting, now, value)
        if not legal.low <= given <= legal.high:
            hint = f"`default`, or from {legal.low} to {legal.high} {setting.unit}".rstrip() + "."
            raise InvalidValueError(f"{setting.key} cannot be {given} here.", hint=hint)
        return str(given)

    return check


def value_before(setting: Setting, now: Reading, value: str) -> str:
    """A value that LVM had kept: any number of a setting that has numbers, `mq` and `cleaner` though never offered.

    Raises InvalidValueError.
    """
    numeric = any(number(choice.value) is not None for choice in now.choices)
    kept = _BEFORE.fullmatch(value) if numeric else value in _POLICIES and setting.key == CACHE_POLICY.key
    return value if kept else check_value(setting, now, value)
