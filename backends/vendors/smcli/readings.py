"""Readings of the settings, and SMcli's names for them in profiles and statements. No I/O."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field

from backends.reported_words import word_text
from backends.settings import Choice, Reading, Risk, Setting, Span, available_unless, is_understood, offer
from backends.values import dataclass
from backends.vendors import _disk_systems
from backends.vendors._disk_systems import DELAYS, INFINITE, SECONDS, switch_choices, write_cache_choices
from backends.vendors.smcli.dialects import is_valid_name
from backends.vendors.smcli.facts import SystemPart, SystemProfile

_SWITCH = {"on": "TRUE", "off": "FALSE"}


@dataclass(frozen=True, slots=True)
class SmcliSetting:
    """A setting, its parameter in a statement, and its label in the profile."""

    setting: Setting
    """The declaration."""
    parameter: str
    """Its name in a statement."""
    labels: tuple[str, ...]
    """Beginnings of its label in the profile, in lower case."""
    value_words: Mapping[str, str] = field(default_factory=dict)
    """SMcli's keywords for values in statements, by raidbench's names, where the two differ."""


CACHE_BLOCK = SmcliSetting(_disk_systems.CACHE_BLOCK, "cacheBlockSize", ("cache block size",))
FLUSH_START = SmcliSetting(_disk_systems.FLUSH_START, "cacheFlushStart", ("start cache flushing at",))
FLUSH_STOP = SmcliSetting(_disk_systems.FLUSH_STOP, "cacheFlushStop", ("stop cache flushing at",))
READ_CACHE = SmcliSetting(_disk_systems.READ_CACHE, "readCacheEnabled", ("read cache",), _SWITCH)
WRITE_CACHE = SmcliSetting(
    _disk_systems.WRITE_CACHE, "writeCacheEnabled", ("write cache",), {"write-back": "TRUE", "write-through": "FALSE"}
)
WITHOUT_BATTERY = SmcliSetting(
    _disk_systems.WITHOUT_BATTERY, "cacheWithoutBatteryEnabled", ("write cache without batteries",), _SWITCH
)
MIRRORING = SmcliSetting(_disk_systems.MIRRORING, "mirrorCacheEnabled", ("write cache with mirroring",), _SWITCH)
PREFETCH = SmcliSetting(
    _disk_systems.PREFETCH, "cacheReadPrefetch", ("dynamic cache read prefetch", "cache read prefetch"), _SWITCH
)
FLUSH_MODIFIER = SmcliSetting(_disk_systems.FLUSH_MODIFIER, "cacheFlushModifier", ("flush write cache after",))
SEGMENT = SmcliSetting(_disk_systems.SEGMENT, "segmentSize", ("segment size",))
PRIORITY = SmcliSetting(_disk_systems.PRIORITY, "modificationPriority", ("modification priority",))

SYSTEM_TABLE = (CACHE_BLOCK, FLUSH_START, FLUSH_STOP)
"""Settings of a disk system, in display order."""

VOLUME_TABLE = (READ_CACHE, WRITE_CACHE, WITHOUT_BATTERY, MIRRORING, PREFETCH, FLUSH_MODIFIER, SEGMENT, PRIORITY)
"""Settings of a logical drive, in display order."""

SYSTEM_SETTINGS = tuple(row.setting for row in SYSTEM_TABLE)
VOLUME_SETTINGS = tuple(row.setting for row in VOLUME_TABLE)
BY_KEY = {row.setting.key: row for row in (*SYSTEM_TABLE, *VOLUME_TABLE)}
"""All settings by key."""


_NUMBER = re.compile(r"\d{1,7}(?:\.\d{1,3})?", re.ASCII)
_ON = re.compile(r"(Enabled|Disabled)\b(?: \((.{1,120})\))?", re.IGNORECASE)
_BLOCKS = ("4", "8", "16", "32")
_SEGMENTS = ("8", "16", "32", "64", "128", "256", "512")
_PRIORITIES = ("highest", "high", "medium", "low", "lowest")


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemView:
    """State of a disk system or one of its logical drives."""

    program: str
    """Path of SMcli."""
    profile: SystemProfile
    """Profile of the disk system."""
    volume: SystemPart | None = None
    """The logical drive; None for the disk system itself."""
    frozen: str | None = None
    """Why nothing can be changed (needs root, read-only mode), or None."""

    @property
    def record(self) -> SystemPart:
        """Return the part of the profile that has the settings: the logical drive, else the disk system."""
        return self.profile.summary if self.volume is None else self.volume

    @property
    def table(self) -> tuple[SmcliSetting, ...]:
        """Return the settings of the logical drive, else those of the disk system."""
        return SYSTEM_TABLE if self.volume is None else VOLUME_TABLE


def readings(view: SystemView) -> Mapping[str, Reading]:
    """Return the reading of every setting."""
    return {row.setting.key: _reading(view, row) for row in view.table}


def value_of(record: SystemPart, row: SmcliSetting) -> str | None:
    """Return a setting's value; None if it is not reported, `unknown` if it is not understood."""
    raw = record.text_of(*row.labels)
    return None if raw is None else _VALUES.get(row.setting.key, _parse_switch)(raw) or "unknown"


def _reading(view: SystemView, row: SmcliSetting) -> Reading:
    key, raw = row.setting.key, view.record.text_of(*row.labels)
    now = value_of(view.record, row)
    choices, span = _choices(view, key, now), _span(key)
    if span is not None and now not in (None, "unknown") and not span.minimum <= int(now or 0) <= span.maximum:
        now = "unknown"
    effective, why = _in_force(view, now, raw) if row is WRITE_CACHE else (None, None)
    return Reading(
        now=now,
        raw=raw,
        effective=effective,
        why_effective=why,
        choices=() if span is not None else choices,
        span=span,
        availability=available_unless(_repeated_name_reason(view), _unsettled(now), _blocked_reason(view, row)),
    )


def _number(raw: str) -> str | None:
    """Return the number in `16`, `128 KB` or `10.00`, without an empty fraction."""
    match = _NUMBER.match(raw)
    return None if match is None else f"{float(match[0]):g}" if float(match[0]) < 10**6 else None


def _parse_switch(raw: str) -> str | None:
    match = _ON.match(raw)
    return None if match is None else "on" if match[1].lower() == "enabled" else "off"


def _parse_write_cache(raw: str) -> str | None:
    return {"on": "write-back", "off": "write-through"}.get(_parse_switch(raw) or "")


def _delay(raw: str) -> str | None:
    word = raw.lower().split(" ")[0]
    value = word if word in ("immediate", INFINITE) else _number(raw)
    return value if value in (*SECONDS, INFINITE) else None


def _priority(raw: str) -> str | None:
    return raw.lower() if raw.lower() in _PRIORITIES else None


_VALUES: Mapping[str, Callable[[str], str | None]] = {
    CACHE_BLOCK.setting.key: _number,
    FLUSH_START.setting.key: _number,
    FLUSH_STOP.setting.key: _number,
    SEGMENT.setting.key: _number,
    WRITE_CACHE.setting.key: _parse_write_cache,
    FLUSH_MODIFIER.setting.key: _delay,
    PRIORITY.setting.key: _priority,
}
"""Parsers of reported values, by setting key. Settings without an entry are on/off settings."""


def _choices(view: SystemView, key: str, now: str | None) -> tuple[Choice, ...]:
    present = () if now in (None, "unknown") else (now or "",)
    match key:
        case CACHE_BLOCK.setting.key:
            return tuple(
                offer(size, "Some models do not support every size.") for size in _sort_sizes(_BLOCKS, present)
            )
        case SEGMENT.setting.key:
            moved = "All data of the logical drive is moved. Some models do not support every change in one step."
            return tuple(offer(size, moved, risk=Risk.OUTAGE) for size in _sort_sizes(_SEGMENTS, present))
        case FLUSH_MODIFIER.setting.key:
            return DELAYS
        case PRIORITY.setting.key:
            return tuple(offer(name, "Share of the controllers for background work.") for name in _PRIORITIES)
        case WRITE_CACHE.setting.key:
            unsafe = value_of(view.record, WITHOUT_BATTERY) == "on" and view.profile.is_protected is not True
            return write_cache_choices(unsafe=unsafe)
        case _:
            return switch_choices(BY_KEY[key].setting)


def _sort_sizes(usual: tuple[str, ...], present: tuple[str, ...]) -> list[str]:
    return sorted({*usual, *present}, key=float)


def _span(key: str) -> Span | None:
    """Return the range of a flush threshold; None for other settings.

    A stop threshold above the start threshold is not refused but causes a warning: IBM's own example is start 80, stop
    84 (see `_GUIDE` of _disk_systems).
    """
    return Span(minimum=0, maximum=100, unit="%") if key in (FLUSH_START.setting.key, FLUSH_STOP.setting.key) else None


def _in_force(view: SystemView, now: str | None, raw: str | None) -> tuple[str | None, str | None]:
    """Return the effective cache mode and the reason if the write cache is on, but not effective or not protected.

    (None, None) in all other cases.
    """
    if now != "write-back":
        return None, None
    cache_line = _ON.match(raw or "")
    if cache_line is not None and cache_line[2]:
        return "write-through", f'the disk system reports: "{cache_line[2]}"'
    bad = next((battery for battery in view.profile.batteries if not battery.startswith("Optimal")), None)
    if bad is not None and value_of(view.record, WITHOUT_BATTERY) != "on":
        return "write-through", f"a battery is {word_text(bad)}, and caching without batteries is off"
    offline = view.profile.offline
    if offline is not None and value_of(view.record, MIRRORING) == "on":
        state = offline.text_of("status")
        return (
            "write-through",
            f"the cache is mirrored, and the controller in {offline.name} is {word_text(state)}",
        )
    if bad is not None:
        return "write-back, not protected", f"a battery is {word_text(bad)}, and caching without batteries is on"
    return None, None


def _repeated_name_reason(view: SystemView) -> str | None:
    """Return the reason against a change if the name of the logical drive is not unique, else None."""
    if view.volume is not None and view.profile.volume(view.volume.name) is None:
        return f"its name is not unique: {view.profile.twice}".rstrip(": .")
    return None


def _unsettled(now: str | None) -> str | None:
    """Return why the current value is unknown; None if it is known."""
    if now is None:
        return "the profile does not report it"
    return None if is_understood(now) else "its value in the profile cannot be parsed"


def _blocked_reason(view: SystemView, row: SmcliSetting) -> str | None:
    """Return the first reason against any change, or None."""
    if not is_valid_name(view.profile.name):
        return "its disk system has a name with characters that SMcli commands do not accept"
    if view.volume is not None:
        if not is_valid_name(view.volume.name):
            return "its name has characters that SMcli commands do not accept"
        state = view.volume.text_of("logical drive status", "volume status", "virtual disk status") or "not told"
        if row is SEGMENT and not state.startswith("Optimal"):
            return f"its status is {word_text(state)}"
    return view.frozen
