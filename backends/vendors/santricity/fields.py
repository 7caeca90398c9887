"""How the web services say the settings of a volume: the field that is set, the one in force, the one to send. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from backends.settings import Setting
from backends.values import dataclass
from backends.vendors import _disk_systems
from backends.vendors._disk_systems import INFINITE, SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheField:
    """A setting, and what it is called in a volume's cache and in a request (VolumeCache, VolumeCacheSettings)."""

    setting: Setting
    """What it is."""
    told: str
    """Its field in what is told: what is set."""
    force: str | None = None
    """The field that says whether it is in force."""
    sent: str
    """Its field in a request."""


def _delay(seconds: str) -> str:
    """`flush10Sec`, `flush250Msec`."""
    if "." in seconds:
        return f"flush{round(float(seconds) * 1000)}Msec"
    return f"flush{seconds}Sec"


DELAYS: Mapping[str, str] = {one: _delay(one) for one in SECONDS[1:]} | {
    SECONDS[0]: "flushImmediate",
    INFINITE: "flushInfinite",
}
"""Words of the web services for the times that data may stay in the cache."""

WRITE_CACHE = CacheField(
    setting=_disk_systems.WRITE_CACHE,
    told="writeCacheEnable",
    force="writeCacheActive",
    sent="writeCacheEnable",
)
CACHE_FIELDS = (
    CacheField(
        setting=_disk_systems.READ_CACHE, told="readCacheEnable", force="readCacheActive", sent="readCacheEnable"
    ),
    WRITE_CACHE,
    CacheField(setting=_disk_systems.WITHOUT_BATTERY, told="cwob", sent="cacheWithoutBatteries"),
    CacheField(setting=_disk_systems.MIRRORING, told="mirrorEnable", force="mirrorActive", sent="mirrorEnable"),
    CacheField(setting=_disk_systems.PREFETCH, told="readAheadMultiplier", sent="readAheadEnable"),
    CacheField(setting=_disk_systems.FLUSH_MODIFIER, told="cacheFlushModifier", sent="cacheFlushModifier"),
)
"""In the order they are shown."""

SETTINGS = (*(one.setting for one in CACHE_FIELDS), _disk_systems.SEGMENT)
"""Of a volume."""
BY_KEY = {one.setting.key: one for one in CACHE_FIELDS}
"""Those that are sent, by their keys."""


def value_of(key: str, told: object) -> str | None:
    """In the common vocabulary; `unknown` if it is not understood, None if nothing is told."""
    match key, told:
        case _, None:
            return None
        case _disk_systems.WRITE_CACHE.key, bool():
            return "write-back" if told else "write-through"
        case _disk_systems.PREFETCH.key, int() if not isinstance(told, bool) and told >= 0:
            return "on" if told else "off"  # a multiplier of old firmware, 0 or 1 of today's
        case _disk_systems.FLUSH_MODIFIER.key, str():
            return next((value for value, one in DELAYS.items() if one == told), "unknown")
        case ((_disk_systems.PREFETCH.key | _disk_systems.FLUSH_MODIFIER.key), _):
            return "unknown"
        case _, bool():
            return "on" if told else "off"
        case _:
            return "unknown"


def sent(key: str, value: str) -> bool | str:
    """What a request says for a value."""
    if key == _disk_systems.FLUSH_MODIFIER.key:
        return DELAYS[value]
    return value in ("on", "write-back")
