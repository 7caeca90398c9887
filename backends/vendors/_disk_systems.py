"""Common parts of the backends for SMcli and SANtricity's REST interface: settings, their choices, a volume's disk."""

from __future__ import annotations

from backends.model import Level
from backends.settings import Choice, Effect, Risk, Setting, offer, unconfirmed
from backends.topology import Node, Topology

_GUIDE = " (IBM System Storage DS3000, DS4000 and DS5000 Command Line Interface and Script Commands Programming Guide)."


_ALL = "It applies to every logical drive of the disk system, on both controllers."

CACHE_BLOCK = unconfirmed(
    key="cache_block_size",
    label="Cache block size",
    help="Size of a block in the controllers' cache. Use small blocks for small random requests and large ones for "
    f"sequential requests. {_ALL}" + _GUIDE,
    risk=Risk.PERFORMANCE,
    risk_text=f"The cache is flushed and reorganised. {_ALL}",
    unit="KiB",
)
FLUSH_START = unconfirmed(
    key="cache_flush_start",
    label="Cache flush starts at",
    help=f"Share of unwritten data in the cache at which the controllers start writing it to disk. {_ALL}" + _GUIDE,
    risk=Risk.PERFORMANCE,
    risk_text="A cache that is nearly full of unwritten data makes bursts of writes wait for the disks.",
    unit="%",
)
FLUSH_STOP = unconfirmed(
    key="cache_flush_stop",
    label="Cache flush stops at",
    help="Share of unwritten data in the cache at which they stop writing it to disk. It is usually not above the "
    f"start value. {_ALL}" + _GUIDE,
    risk=Risk.PERFORMANCE,
    risk_text="A value far below the start value causes long bursts of writes to the disks.",
    unit="%",
)
READ_CACHE = unconfirmed(
    key="read_cache",
    label="Read cache",
    help="Whether read data is kept in the controllers' cache." + _GUIDE,
    risk=Risk.PERFORMANCE,
    risk_text="If it is off, every read goes to the disks.",
)
WRITE_CACHE = unconfirmed(
    key="write_cache",
    label="Write cache",
    help="With write-back, a write is acknowledged when it is in the cache. The controllers still use write-through "
    "while a battery is not charged (unless caching without batteries is on) or while the mirror controller is "
    "missing." + _GUIDE,
    risk=Risk.POWER_LOSS,
    risk_text="A power failure loses acknowledged writes if nothing protects the cache.",
)
WITHOUT_BATTERY = unconfirmed(
    key="cache_without_battery",
    label="Write cache without batteries",
    help="Whether writes are cached even while the batteries are missing, discharged or not fully charged. It has no "
    "effect while the write cache is off." + _GUIDE,
    risk=Risk.POWER_LOSS,
    risk_text="A power failure loses acknowledged writes, unless the system has an uninterruptible power supply.",
)
MIRRORING = unconfirmed(
    key="cache_mirroring",
    label="Write cache with mirroring",
    help="Whether the other controller keeps a copy of the cached data. It costs a few percent of speed." + _GUIDE,
    risk=Risk.POWER_LOSS,
    risk_text="If it is off, a controller failure loses acknowledged writes.",
)
PREFETCH = unconfirmed(
    key="read_prefetch",
    label="Read prefetch",
    help="Whether the controllers read ahead into the cache during sequential reads. They choose the amount." + _GUIDE,
    risk=Risk.PERFORMANCE,
    risk_text="If it is on, random reads may fetch unneeded data. If it is off, sequential reads wait for the disks.",
)
FLUSH_MODIFIER = unconfirmed(
    key="flush_modifier",
    label="Flush after",
    help="Longest time that data remains in the write cache before it is written to disk." + _GUIDE,
    risk=Risk.POWER_LOSS,
    risk_text="The longer the time, the more an unprotected cache loses at a power failure.",
    unit="s",
)
SEGMENT = unconfirmed(
    key="segment_size",
    label="Segment size",
    help="Amount of contiguous data on each drive of a stripe. Changing it moves all data. This takes hours and "
    "cannot be stopped, and nothing else in the array can be changed until it ends. The array remains usable." + _GUIDE,
    risk=Risk.OUTAGE,
    risk_text="All data of the logical drive is moved. This takes hours, slows the logical drive and cannot be "
    "stopped. "
    "Undo moves the data again.",
    unit="KiB",
    effect=Effect.RESHAPE,
)
PRIORITY = unconfirmed(
    key="modification_priority",
    label="Modification priority",
    help="Share of the controllers' time for a rebuild, a copy or a change of the logical drive." + _GUIDE,
    risk=Risk.PERFORMANCE,
    risk_text="With the value `highest`, other I/O is slow until the work ends.",
)

SECONDS = ("immediate", "0.25", "0.5", "0.75", "1", "1.5", "2", "5", "10", "20", "60", "120", "300", "1200", "3600")
"""Legal flush times of the write cache in seconds; `infinite` is legal as well."""
INFINITE = "infinite"

DELAYS = (
    *(offer(name, "Seconds until cached data is written to disk.") for name in SECONDS),
    offer(INFINITE, "Cached data is written to disk only when its space is needed.", risk=Risk.POWER_LOSS),
)
"""Choices of `flush_modifier`."""


def write_cache_choices(*, unsafe: bool) -> tuple[Choice, ...]:
    """Return the choices of `write_cache`.

    `unsafe`: whether the disk system may cache writes without a battery, so that write-back can lose data.
    """
    return (
        offer(
            "write-back",
            "A write is acknowledged when it is in the cache.",
            risk=Risk.POWER_LOSS if unsafe else Risk.NONE,
        ),
        offer("write-through", "A write is acknowledged when it is on disk."),
    )


def switch_choices(setting: Setting) -> tuple[Choice, ...]:
    """Return the choices `on` and `off` of a setting. The choice that can lose data is described by the risk text."""
    losing = {WITHOUT_BATTERY.key: "on", MIRRORING.key: "off"}.get(setting.key)
    return tuple(
        offer(
            value,
            setting.help if value != losing else setting.risk_text,
            risk=Risk.POWER_LOSS if value == losing else Risk.NONE,
        )
        for value in ("on", "off")
    )


LEVELS = {"0": Level.RAID0, "1": Level.RAID1, "3": Level.RAID4, "5": Level.RAID5, "6": Level.RAID6, "10": Level.RAID10}
"""RAID levels by the controllers' level number. Their level 3 has its parity on one drive, like RAID 4."""


def level_of(number: str, members: int) -> Level:
    """Return the RAID level for the controllers' level number and the number of member drives.

    Level 1 with more than two members is RAID 10, because the controllers stripe it.
    """
    level = LEVELS.get(number, Level.UNKNOWN)
    return Level.RAID10 if level is Level.RAID1 and members > 2 else level


def node_of(wwn: str | None, picture: Topology) -> Node | None:
    """Return the kernel disk with a WWN (lower-case hex digits): its multipath device, else its only path, or None."""
    if wwn is None:
        return None
    nodes = [node for node in picture.tree.nodes.values() if node.parent is None]
    multipath = [node for node in nodes if node.attributes.get("dm/uuid", "").lower() == f"mpath-3{wwn}"]
    paths = [node for node in nodes if (node.attributes.get("device/wwid") or "").lower() == f"naa.{wwn}"]
    return next(iter(multipath), None) or (paths[0] if len(paths) == 1 else None)


def lock_name(wwn: str | None, name: str) -> str:
    """Return the name of the lock of a disk system, which both backends for disk systems use."""
    return f"disk-system-{wwn or name}"


def battery_state(text: str) -> str:
    """Return the state of a faulty battery from the tool's string: `learning`, `missing` or `failed`."""
    states = {"learn": "learning", "charging": "learning", "missing": "missing", "removed": "missing"}
    return next((state for word, state in states.items() if word in text.lower()), "failed")
