"""The settings of a disk system and of its logical drives, each declared once, with its word in a statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from backends.settings import Effect, Persistence, Risk, Setting
from backends.values import dataclass

_GUIDE = " (IBM System Storage DS3000, DS4000 and DS5000 Command Line Interface and Script Commands Programming Guide)."
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


def _setting(
    key: str, label: str, help: str, risk: Risk, risk_text: str, unit: str = "", effect: Effect = Effect.AT_ONCE
) -> Setting:
    return Setting(
        key=key,
        label=label,
        help=help + _GUIDE,
        risk=risk,
        risk_text=risk_text,
        unit=unit,
        persistence=Persistence.STORED,
        confirmed=False,
        effect=effect,
    )


_ALL = "It holds for every logical drive of the disk system, on both controllers."

CACHE_BLOCK = Knob(
    setting=_setting(
        "cache_block_size",
        "Cache block size",
        "Bytes of one block of the controllers' cache. Small for small random requests, large for sequential ones. "
        f"{_ALL}",
        Risk.PERFORMANCE,
        f"The cache is emptied and laid out anew. {_ALL}",
        "KiB",
    ),
    labels=("cache block size",),
    word="cacheBlockSize",
)
FLUSH_START = Knob(
    setting=_setting(
        "cache_flush_start",
        "Cache flush starts at",
        f"Share of the cache that holds unwritten data from which on the controllers write it out. {_ALL}",
        Risk.PERFORMANCE,
        "A cache that is nearly full of unwritten data makes bursts of writes wait for the disks.",
        "%",
    ),
    labels=("start cache flushing at",),
    word="cacheFlushStart",
)
FLUSH_STOP = Knob(
    setting=_setting(
        "cache_flush_stop",
        "Cache flush stops at",
        f"Share of unwritten data down to which they go on writing it out; not above where it starts. {_ALL}",
        Risk.PERFORMANCE,
        "A large distance to where it starts makes long bursts of writes to the disks.",
        "%",
    ),
    labels=("stop cache flushing at",),
    word="cacheFlushStop",
)
READ_CACHE = Knob(
    setting=_setting(
        "read_cache",
        "Read cache",
        "Whether what is read is kept in the controllers' cache.",
        Risk.PERFORMANCE,
        "Off, every read goes to the disks.",
    ),
    labels=("read cache",),
    word="readCacheEnabled",
    said=_SWITCH,
)
WRITE_CACHE = Knob(
    setting=_setting(
        "write_cache",
        "Write cache",
        "write-back: a write is reported done when it is in the cache. The controllers write through all the same "
        "while a battery is not charged (unless they may cache without batteries), or while the controller to which "
        "the cache is mirrored is missing.",
        Risk.POWER_LOSS,
        "A power cut loses writes that were reported done where the cache is not kept alive.",
    ),
    labels=("write cache",),
    word="writeCacheEnabled",
    said={"write-back": "TRUE", "write-through": "FALSE"},
)
WITHOUT_BATTERY = Knob(
    setting=_setting(
        "cache_without_battery",
        "Write cache without batteries",
        "Whether writes are cached even while the batteries are missing, discharged or not fully charged. It has no "
        "effect while the write cache is off.",
        Risk.POWER_LOSS,
        "A power cut loses writes that were reported done, unless an uninterruptible supply stands behind the system.",
    ),
    labels=("write cache without batteries",),
    word="cacheWithoutBatteryEnabled",
    said=_SWITCH,
)
MIRRORING = Knob(
    setting=_setting(
        "cache_mirroring",
        "Write cache with mirroring",
        "Whether the other controller keeps a copy of what is cached. It costs a few percent.",
        Risk.POWER_LOSS,
        "Off, a controller that fails takes writes along that were reported done.",
    ),
    labels=("write cache with mirroring",),
    word="mirrorCacheEnabled",
    said=_SWITCH,
)
PREFETCH = Knob(
    setting=_setting(
        "read_prefetch",
        "Read prefetch",
        "Whether the controllers read on into the cache when reads are sequential; how far they decide themselves.",
        Risk.PERFORMANCE,
        "On, random load may read more than it uses; off, sequential reads wait for the disks.",
    ),
    labels=("dynamic cache read prefetch", "cache read prefetch"),
    word="cacheReadPrefetch",
    said=_SWITCH,
)
FLUSH_MODIFIER = Knob(
    setting=_setting(
        "flush_modifier",
        "Flush after",
        "How long data stay in the write cache at most before they are written out.",
        Risk.POWER_LOSS,
        "The longer it is, the more a cache that is not kept alive loses at a power cut.",
        "s",
    ),
    labels=("flush write cache after",),
    word="cacheFlushModifier",
)
SEGMENT = Knob(
    setting=_setting(
        "segment_size",
        "Segment size",
        "Bytes on one drive before the next one follows. To change it all data are moved: that takes hours, cannot be "
        "stopped once it has begun, and nothing else can be changed in the array meanwhile. It works on while in use.",
        Risk.OUTAGE,
        "All data of the logical drive are moved; it takes hours, is slow meanwhile, and cannot be stopped. Undo moves "
        "them once more.",
        "KiB",
        effect=Effect.RESHAPE,
    ),
    labels=("segment size",),
    word="segmentSize",
)
PRIORITY = Knob(
    setting=_setting(
        "modification_priority",
        "Modification priority",
        "How much of the controllers a rebuild, a copy or a change of the logical drive may take from its users.",
        Risk.PERFORMANCE,
        "highest slows its users down while it lasts.",
    ),
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
