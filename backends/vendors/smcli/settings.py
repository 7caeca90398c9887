"""How SMcli says the settings of a disk system: where each stands in the profile, and its word in a statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from backends.settings import Setting
from backends.values import dataclass
from backends.vendors import _disk_systems

_SWITCH = {"on": "TRUE", "off": "FALSE"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """A setting, where it stands in the profile, and how it is said in a statement."""

    setting: Setting
    """What it is."""
    labels: tuple[str, ...]
    """Beginnings of its label in the profile, in small letters."""
    word: str
    """Its parameter."""
    said: Mapping[str, str] = field(default_factory=dict)
    """A value's word where that is another one."""


CACHE_BLOCK = Knob(
    setting=_disk_systems.CACHE_BLOCK,
    labels=("cache block size",),
    word="cacheBlockSize",
)
FLUSH_START = Knob(
    setting=_disk_systems.FLUSH_START,
    labels=("start cache flushing at",),
    word="cacheFlushStart",
)
FLUSH_STOP = Knob(
    setting=_disk_systems.FLUSH_STOP,
    labels=("stop cache flushing at",),
    word="cacheFlushStop",
)
READ_CACHE = Knob(
    setting=_disk_systems.READ_CACHE,
    labels=("read cache",),
    word="readCacheEnabled",
    said=_SWITCH,
)
WRITE_CACHE = Knob(
    setting=_disk_systems.WRITE_CACHE,
    labels=("write cache",),
    word="writeCacheEnabled",
    said={"write-back": "TRUE", "write-through": "FALSE"},
)
WITHOUT_BATTERY = Knob(
    setting=_disk_systems.WITHOUT_BATTERY,
    labels=("write cache without batteries",),
    word="cacheWithoutBatteryEnabled",
    said=_SWITCH,
)
MIRRORING = Knob(
    setting=_disk_systems.MIRRORING,
    labels=("write cache with mirroring",),
    word="mirrorCacheEnabled",
    said=_SWITCH,
)
PREFETCH = Knob(
    setting=_disk_systems.PREFETCH,
    labels=("dynamic cache read prefetch", "cache read prefetch"),
    word="cacheReadPrefetch",
    said=_SWITCH,
)
FLUSH_MODIFIER = Knob(
    setting=_disk_systems.FLUSH_MODIFIER,
    labels=("flush write cache after",),
    word="cacheFlushModifier",
)
SEGMENT = Knob(
    setting=_disk_systems.SEGMENT,
    labels=("segment size",),
    word="segmentSize",
)
PRIORITY = Knob(
    setting=_disk_systems.PRIORITY,
    labels=("modification priority",),
    word="modificationPriority",
)

SYSTEM_KNOBS = (CACHE_BLOCK, FLUSH_START, FLUSH_STOP)
"""Of a disk system, in the order they are shown."""

VOLUME_KNOBS = (
    READ_CACHE,
    WRITE_CACHE,
    WITHOUT_BATTERY,
    MIRRORING,
    PREFETCH,
    FLUSH_MODIFIER,
    SEGMENT,
    PRIORITY,
)
"""Of a logical drive, in the order they are shown."""

SYSTEM_SETTINGS = tuple(knob.setting for knob in SYSTEM_KNOBS)
VOLUME_SETTINGS = tuple(knob.setting for knob in VOLUME_KNOBS)
KNOBS = {knob.setting.key: knob for knob in (*SYSTEM_KNOBS, *VOLUME_KNOBS)}
"""All by their keys."""
