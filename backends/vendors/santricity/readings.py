"""Readings of a volume's settings, and their fields in reports and requests of the web services. No I/O."""

from __future__ import annotations

import json
from collections.abc import Mapping

from backends.reported_words import word_text
from backends.settings import Availability, Choice, Reading, Setting, available_unless, is_understood
from backends.text import clean
from backends.values import dataclass
from backends.vendors import _disk_systems
from backends.vendors._disk_systems import DELAYS, INFINITE, SECONDS, switch_choices, write_cache_choices
from backends.vendors.santricity.facts import WebView


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheField:
    """A setting with its fields in a volume's cache and in a request (VolumeCache, VolumeCacheSettings)."""

    setting: Setting
    """The setting."""
    reported_field: str
    """Reported field with the configured value."""
    force: str | None = None
    """Reported field that states whether the configured value is effective; None if no field does."""
    request_field: str
    """Field in a request."""


def _delay(seconds: str) -> str:
    """Return the web services' name of a delay in seconds: `flush10Sec` for `10`, `flush250Msec` for `0.25`."""
    if "." in seconds:
        return f"flush{round(float(seconds) * 1000)}Msec"
    return f"flush{seconds}Sec"


_DELAY_WORDS: Mapping[str, str] = {name: _delay(name) for name in SECONDS[1:]} | {
    SECONDS[0]: "flushImmediate",
    INFINITE: "flushInfinite",
}
"""Names of the web services for the longest time that data stays in the write cache, by value of the setting."""

WRITE_CACHE = CacheField(
    setting=_disk_systems.WRITE_CACHE,
    reported_field="writeCacheEnable",
    force="writeCacheActive",
    request_field="writeCacheEnable",
)
CACHE_FIELDS = (
    CacheField(
        setting=_disk_systems.READ_CACHE,
        reported_field="readCacheEnable",
        force="readCacheActive",
        request_field="readCacheEnable",
    ),
    WRITE_CACHE,
    CacheField(setting=_disk_systems.WITHOUT_BATTERY, reported_field="cwob", request_field="cacheWithoutBatteries"),
    CacheField(
        setting=_disk_systems.MIRRORING,
        reported_field="mirrorEnable",
        force="mirrorActive",
        request_field="mirrorEnable",
    ),
    CacheField(setting=_disk_systems.PREFETCH, reported_field="readAheadMultiplier", request_field="readAheadEnable"),
    CacheField(
        setting=_disk_systems.FLUSH_MODIFIER, reported_field="cacheFlushModifier", request_field="cacheFlushModifier"
    ),
)
"""Settings that can be changed, in display order."""

SETTINGS = (*(field.setting for field in CACHE_FIELDS), _disk_systems.SEGMENT)
"""Settings of a volume."""
BY_KEY = {field.setting.key: field for field in CACHE_FIELDS}
"""Settings that can be changed, by key."""


def value_of(key: str, reported: object) -> str | None:
    """Return the value as raidbench names it; `unknown` if it is not understood, None if it is not reported."""
    match key, reported:
        case _, None:
            return None
        case _disk_systems.WRITE_CACHE.key, bool():
            return "write-back" if reported else "write-through"
        case _disk_systems.PREFETCH.key, int() if not isinstance(reported, bool) and reported >= 0:
            return "on" if reported else "off"  # old firmware reports a multiplier, current firmware 0 or 1
        case _disk_systems.FLUSH_MODIFIER.key, str():
            return next((value for value, name in _DELAY_WORDS.items() if name == reported), "unknown")
        case ((_disk_systems.PREFETCH.key | _disk_systems.FLUSH_MODIFIER.key), _):
            return "unknown"
        case _, bool():
            return "on" if reported else "off"
        case _:
            return "unknown"


def request_value(key: str, value: str) -> bool | str:
    """Return a value in the form that a request contains."""
    if key == _disk_systems.FLUSH_MODIFIER.key:
        return _DELAY_WORDS[value]
    return value in ("on", "write-back")


_OTHER = {"on": "off", "off": "on", "write-back": "write-through", "write-through": "write-back"}


def readings(view: WebView) -> Mapping[str, Reading]:
    """Return the readings of all settings of a volume."""
    return {field.setting.key: _reading(view, field) for field in CACHE_FIELDS} | {
        _disk_systems.SEGMENT.key: _segment(view.volume.segment_bytes)
    }


def needs_hardware(view: WebView) -> bool:
    """Return whether the effective values depend on the hardware of the disk system."""
    cache = view.volume.cache
    return cache.get("cwob") is True or any(
        field.force is not None and cache.get(field.reported_field) is True and cache.get(field.force) is False
        for field in CACHE_FIELDS
    )


def _reading(view: WebView, field: CacheField) -> Reading:
    value = view.volume.cache.get(field.reported_field)
    now = value_of(field.setting.key, value)
    effective, why = _effective_value(view, field, now)
    return Reading(
        now=now,
        raw=None if value is None else clean(value if isinstance(value, str) else json.dumps(value), 60),
        effective=effective,
        why_effective=why,
        choices=_choices(view, field),
        availability=available_unless(None, _unknown_reason(now), _blocked_reason(view)),
    )


def _choices(view: WebView, field: CacheField) -> tuple[Choice, ...]:
    if field is WRITE_CACHE:
        safe = bool(view.hardware.batteries) and view.hardware.bad_battery is None
        return write_cache_choices(unsafe=view.volume.cache.get("cwob") is True and not safe)
    return DELAYS if field.setting is _disk_systems.FLUSH_MODIFIER else switch_choices(field.setting)


def _effective_value(view: WebView, field: CacheField, now: str | None) -> tuple[str | None, str | None]:
    """Return the effective value and the most likely reason if it differs from the configured one, or (None, None)."""
    if field.force is None or now not in _OTHER:
        return None, None
    cache, bad = view.volume.cache, view.hardware.bad_battery
    value = cache.get(field.force)
    if isinstance(value, bool) and value is not cache.get(field.reported_field):
        if value:
            return _OTHER[now], "the disk system reports that it is still active"
        return _OTHER[now], f"the disk system reports that it is not active{_reason(view)}"
    if field is WRITE_CACHE and now == "write-back" and bad is not None and cache.get("cwob") is True:
        return "write-back, not protected", f"a battery is {word_text(bad)}, and caching without batteries is on"
    return None, None


def _reason(view: WebView) -> str:
    if (bad := view.hardware.bad_battery) is not None:
        return f"; a battery is {word_text(bad)}"
    if (controller := view.hardware.bad_controller) is not None:
        return f"; the status of controller {controller.place} is {word_text(controller.status)}"
    return ""


def _unknown_reason(now: str | None) -> str | None:
    """Return why the current value is unknown; None if it is known."""
    if now is None:
        return "the web services do not report it"
    return None if is_understood(now) else "the value from the web services cannot be parsed"


def _blocked_reason(view: WebView) -> str | None:
    """Return the first reason against any change, or None."""
    if view.system.out_of_reach:
        return f"the proxy does not reach its disk system, which is {word_text(view.system.status)}"
    if view.volume.thin:
        return "raidbench cannot change settings of thin volumes"
    if view.volume.changeable is False:
        return "the disk system reports that its cache settings cannot be changed"
    return view.frozen


def _segment(size: int | None) -> Reading:
    """Return the reading of the segment size, which cannot be set here: changing it moves all data for hours."""
    return Reading(
        now=None if size is None else str(size >> 10),
        raw=None if size is None else f"{size} bytes",
        availability=Availability(
            why_not="a change moves all data for hours. Use the management software of the disk system"
        ),
    )
