"""Common parts of SMcli and SANtricity's REST interface: settings, their choices, and the disk of a volume."""

from __future__ import annotations

from backends.model import Level
from backends.settings import Choice, Effect, Risk, Setting, offer, unconfirmed
from backends.topology import Node, Topology

_GUIDE = " (IBM System Storage DS3000, DS4000 and DS5000 Command Line Interface and Script Commands Programming Guide)."


_ALL = "It holds for every logical drive of the disk system, on both controllers."

CACHE_BLOCK = unconfirmed(
    key="cache_block_size",
    label="Cache block size",
    help="Bytes of one block of the controllers' cache. Small for small random requests, large for sequential ones. "
    f"{_ALL}" + _GUIDE,
    risk=Risk.PERFORMANCE,
    risk_text=f"The cache is emptied and laid out anew. {_ALL}",
    unit="KiB",
)
FLUSH_START = unconfirmed(
    key="cache_flush_start",
    label="Cache flush starts at",
    help=f"Share of the cache that holds unwritten data from which on the controllers write it out. {_ALL}" + _GUIDE,
    risk=Risk.PERFORMANCE,
    risk_text="A cache that is nearly full of unwritten data makes bursts of writes wait for the disks.",
    unit="%",
)
FLUSH_STOP = unconfirmed(
    key="cache_flush_stop",
    label="Cache flush stops at",
    help=f"Share of unwritten data down to which they go on writing it out; usually not above where it "
    f"starts. {_ALL}" + _GUIDE,
    risk=Risk.PERFORMANCE,
    risk_text="A large distance to where it starts makes long bursts of writes to the disks.",
    unit="%",
)
READ_CACHE = unconfirmed(
    key="read_cache",
    label="Read cache",
    help="Whether what is read is kept in the controllers' cache." + _GUIDE,
    risk=Risk.PERFORMANCE,
    risk_text="Off, every read goes to the disks.",
)
WRITE_CACHE = unconfirmed(
    key="write_cache",
    label="Write cache",
    help="write-back: a write is reported done when it is in the cache. The controllers write through all the same "
    "while a battery is not charged (unless they may cache without batteries), or while the controller to which "
    "the cache is mirrored is missing." + _GUIDE,
    risk=Risk.POWER_LOSS,
    risk_text="A power cut loses writes that were reported done where the cache is not kept alive.",
)
WITHOUT_BATTERY = unconfirmed(
    key="cache_without_battery",
    label="Write cache without batteries",
    help="Whether writes are cached even while the batteries are missing, discharged or not fully charged. It has no "
    "effect while the write cache is off." + _GUIDE,
    risk=Risk.POWER_LOSS,
    risk_text="A power cut loses writes that were reported done, unless an uninterruptible supply stands behind the "
    "system.",
)
MIRRORING = unconfirmed(
    key="cache_mirroring",
    label="Write cache with mirroring",
    help="Whether the other controller keeps a copy of what is cached. It costs a few percent." + _GUIDE,
    risk=Risk.POWER_LOSS,
    risk_text="Off, a controller that fails takes writes along that were reported done.",
)
PREFETCH = unconfirmed(
    key="read_prefetch",
    label="Read prefetch",
    help="Whether the controllers read on into the cache when reads are sequential; how far they decide themselves."
    + _GUIDE,
    risk=Risk.PERFORMANCE,
    risk_text="On, random load may read more than it uses; off, sequential reads wait for the disks.",
)
FLUSH_MODIFIER = unconfirmed(
    key="flush_modifier",
    label="Flush after",
    help="How long data stay in the write cache at most before they are written out." + _GUIDE,
    risk=Risk.POWER_LOSS,
    risk_text="The longer it is, the more a cache that is not kept alive loses at a power cut.",
    unit="s",
)
SEGMENT = unconfirmed(
    key="segment_size",
    label="Segment size",
    help="Bytes on one drive before the next one follows. To change it all data are moved: that takes hours, cannot be "
    "stopped once it has begun, and nothing else can be changed in the array meanwhile. It works on while in use."
    + _GUIDE,
    risk=Risk.OUTAGE,
    risk_text="All data of the logical drive are moved; it takes hours, is slow meanwhile, and cannot be stopped. "
    "Undo moves "
    "them once more.",
    unit="KiB",
    effect=Effect.RESHAPE,
)
PRIORITY = unconfirmed(
    key="modification_priority",
    label="Modification priority",
    help="How much of the controllers a rebuild, a copy or a change of the logical drive may take from its users."
    + _GUIDE,
    risk=Risk.PERFORMANCE,
    risk_text="highest slows its users down while it lasts.",
)

SECONDS = ("immediate", "0.25", "0.5", "0.75", "1", "1.5", "2", "5", "10", "20", "60", "120", "300", "1200", "3600")
"""Legal flush times of the write cache in seconds; `infinite` is legal as well."""
INFINITE = "infinite"

DELAYS = (
    *(offer(name, "Seconds until cached data are written out.") for name in SECONDS),
    offer(INFINITE, "Cached data are written out only when their room is needed.", risk=Risk.POWER_LOSS),
)
"""Choices of `flush_modifier`."""


def write_cache_choices(*, unsafe: bool) -> tuple[Choice, ...]:
    """Return the choices of `write_cache`. `unsafe`: it may cache without batteries and may have none."""
    return (
        offer(
            "write-back",
            "A write is reported done when it is in the cache.",
            risk=Risk.POWER_LOSS if unsafe else Risk.NONE,
        ),
        offer("write-through", "A write is reported done when it is on disk."),
    )


def switch_choices(setting: Setting) -> tuple[Choice, ...]:
    """Return the two values of a switch; the help of the one that can lose data says so."""
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
"""RAID levels by number; level 3 of these controllers has its parity on one drive, like our level 4."""


def level_of(number: str, members: int) -> Level:
    """Return the RAID level by its number; a mirror of more than two drives is striped."""
    level = LEVELS.get(number, Level.UNKNOWN)
    return Level.RAID10 if level is Level.RAID1 and members > 2 else level


def node_of(wwn: str | None, picture: Topology) -> Node | None:
    """Return the disk with a WWN (hex digits in lower case): its multipath device, or else its only path."""
    if wwn is None:
        return None
    nodes = [node for node in picture.tree.nodes.values() if node.parent is None]
    multipath = [node for node in nodes if node.attributes.get("dm/uuid", "").lower() == f"mpath-3{wwn}"]
    paths = [node for node in nodes if (node.attributes.get("device/wwid") or "").lower() == f"naa.{wwn}"]
    return next(iter(multipath), None) or (paths[0] if len(paths) == 1 else None)


def lock_name(wwn: str | None, name: str) -> str:
    """Return the name of the lock of a disk system, which is the same for every tool and endpoint."""
    return f"disk-system-{wwn or name}"


def battery_state(text: str) -> str:
    """Return the state of a faulty battery in the common vocabulary."""
    states = {"learn": "learning", "charging": "learning", "missing": "missing", "removed": "missing"}
    return next((state for word, state in states.items() if word in text.lower()), "failed")
