"""Declarations of the settings of md arrays. The level of an array decides which settings it has. No I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from backends.settings import Effect, Persistence, Risk, Setting
from backends.sizes import size_words
from backends.values import dataclass
from backends.vendors.mdraid import full_speed
from backends.vendors.mdraid.facts import ArrayFacts

PARITY = ("raid4", "raid5", "raid6")
"""Levels with a stripe cache."""
REDUNDANT = ("raid1", *PARITY, "raid10")
"""Levels that can be resynchronised."""
STRIPED = ("raid0", *PARITY, "raid10")
"""Levels with chunks."""

STRIPE_CACHE = Setting(
    key="stripe_cache_size",
    label="Stripe cache",
    unit="pages a member",
    help="Pages per member that collect stripes before parity is written. More pages let small writes become "
    "full-stripe writes, which need no reads. The cache uses one page x members x this number of memory "
    "(Documentation/admin-guide/md.rst). raidbench offers at most a quarter of the memory.",
)
PREREAD = Setting(
    key="preread_bypass_threshold",
    label="Pre-read bypass",
    unit="stripes",
    help="How often full-stripe writes may overtake a stripe that must be read first. 0 keeps the order, higher "
    "values favour sequential writers. The limit is the size of the stripe cache (md.rst).",
)
GROUP_THREADS = Setting(
    key="group_thread_cnt",
    label="Parity threads",
    unit="threads",
    help="Worker threads per NUMA node that handle stripes. With 0 the array uses a single thread. More threads help "
    "on fast flash, if one core cannot keep up with parity. Changing it pauses the array for a moment "
    "(drivers/md/raid5.c, raid5_store_group_thread_cnt).",
)
SKIP_COPY = Setting(
    key="skip_copy",
    label="Write without copying",
    help="Whether full-stripe writes go to the members without a copy in the stripe cache. It saves CPU time and "
    "memory traffic. Changing it pauses the array for a moment (drivers/md/raid5.c, raid5_store_skip_copy).",
)
RESYNC_SPEED = Setting(
    key=full_speed.KEY,
    label="Resync speed",
    help="Speed of a resync, rebuild, check or reshape of this array. `full` raises both speed limits above the "
    "speed of the members and enlarges the stripe cache of RAID 4, 5 and 6. The other value is the current "
    "combination of stripe cache, highest and lowest speed. A change affects a running resync immediately (md.rst, "
    "sync_speed_min, sync_speed_max).",
    risk=Risk.PERFORMANCE,
    risk_text="At full speed all other I/O on the members is slow until the resync ends. Undo restores the old limits "
    "and "
    "the old stripe cache.",
    stands_for=full_speed.PARTS,
)
SPEED_MIN = Setting(
    key="sync_speed_min",
    label="Resync speed, at least",
    unit="KiB/s",
    help="Minimum speed of a resync, rebuild, check or reshape on each member, even during other I/O. `system` "
    "follows /proc/sys/dev/raid/speed_limit_min (md.rst).",
    risk=Risk.PERFORMANCE,
    risk_text="During a resync, a high minimum slows all other I/O.",
)
SPEED_MAX = Setting(
    key="sync_speed_max",
    label="Resync speed, at most",
    unit="KiB/s",
    help="Maximum speed of a resync, rebuild, check or reshape on each idle member. `system` follows "
    "/proc/sys/dev/raid/speed_limit_max (md.rst).",
)
BITMAP = Setting(
    key="bitmap",
    label="Write-intent bitmap",
    help="Records on the members which regions are being written, so that only these are resynchronised after a "
    "crash. It costs a little speed of random writes. Stored in the array's metadata (md(4), mdadm --grow "
    "--bitmap).",
    risk=Risk.PERFORMANCE,
    risk_text="Without a bitmap a crash causes a resync of the whole array, and a member that was briefly missing is "
    "rebuilt completely.",
    persistence=Persistence.STORED,
)
CONSISTENCY = Setting(
    key="consistency_policy",
    other_words=("resync", "ppl", "bitmap", "journal"),
    label="Consistency after a crash",
    help="How parity is made consistent after a crash. `resync` processes the whole array. `ppl` (RAID 5) keeps a "
    "partial parity log on the members, which also closes the write hole but costs write speed. Bitmap and "
    "journal are separate policies. Stored in the array's metadata (md(4), PARTIAL PARITY LOG; mdadm --grow "
    "--consistency-policy).",
    risk=Risk.POWER_LOSS,
    risk_text="Without the partial parity log, a crash of a degraded array may damage data that was not being written "
    "(the write hole).",
    persistence=Persistence.STORED,
)
SAFE_MODE = Setting(
    key="safe_mode_delay",
    label="Clean after",
    unit="ms",
    help="Time without a write after which the array is marked clean on its members. The next write waits until the "
    "mark is removed. A clean array needs no resync after a crash. 0 never marks it clean while it is in use "
    "(md.rst, safe_mode_delay).",
    risk=Risk.PERFORMANCE,
    risk_text="With 0 every crash causes a resync, unless a bitmap limits it.",
)
JOURNAL_MODE = Setting(
    key="journal_mode",
    label="Journal mode",
    help="Use of the journal device. `write-through` only closes the write hole: a write is acknowledged when it is "
    "on the members. With `write-back` a write is acknowledged when it is in the journal, and full stripes are "
    "written from there. Each assembly starts with write-through (drivers/md/raid5-cache.c; md(4)).",
    risk=Risk.POWER_LOSS,
    risk_text="With write-back, recent acknowledged writes are only on the journal device. If it fails, they are lost.",
)
CHUNK = Setting(
    key="chunk_size",
    label="Chunk size",
    unit="bytes",
    help="Amount of contiguous data on each member of a stripe. mdadm can change it while the array is in use (a "
    "reshape). During the reshape a RAID 0 runs as a RAID 4 without parity disk. A RAID 10 with far or offset "
    "copies must be re-created (mdadm(8), GROW MODE).",
    risk=Risk.OUTAGE,
    effect=Effect.RESHAPE,
    persistence=Persistence.STORED,
)
LAYOUT = Setting(
    key="layout",
    label="Layout",
    help="Layout of parity (RAID 5, 6) or copies (RAID 10). Parity can be moved while the array is in use (a "
    "reshape). A RAID 10 must be re-created to change its layout (mdadm(8), GROW MODE).",
    risk=Risk.OUTAGE,
    effect=Effect.RESHAPE,
    persistence=Persistence.STORED,
)
WRITE_MOSTLY = Setting(
    key="write_mostly",
    label="Write-mostly",
    help="Whether the member is read only if no other member is available. Use it for a slow member next to a fast "
    "one. Stored in the array's metadata. RAID 10 stores the mark but ignores it for reads (md(4), "
    "WRITE-MOSTLY).",
    persistence=Persistence.STORED,
)
FAILFAST = Setting(
    key="failfast",
    label="Fail fast",
    help="Whether requests to the member fail at the first transport error without a retry, so that the other copy "
    "responds immediately. Stored in the array's metadata (md(4), FAILFAST).",
    risk=Risk.PERFORMANCE,
    risk_text="A short transport error is enough to remove the member from the array.",
    persistence=Persistence.STORED,
)

_LEVELS: tuple[tuple[Setting, tuple[str, ...]], ...] = (
    (STRIPE_CACHE, PARITY),
    (PREREAD, PARITY),
    (GROUP_THREADS, PARITY),
    (SKIP_COPY, PARITY),
    (RESYNC_SPEED, REDUNDANT),
    (SPEED_MIN, REDUNDANT),
    (SPEED_MAX, REDUNDANT),
    (BITMAP, REDUNDANT),
    (CONSISTENCY, REDUNDANT),
    (SAFE_MODE, REDUNDANT),
    (JOURNAL_MODE, PARITY),
    (CHUNK, STRIPED),
    (LAYOUT, ("raid5", "raid6", "raid10")),
)
_OF_MEMBERS: tuple[tuple[Setting, tuple[str, ...]], ...] = (
    (WRITE_MOSTLY, ("raid1", "raid10")),
    (FAILFAST, ("raid1", "raid10")),
)

GENERAL = tuple(setting for setting, _ in _LEVELS)
"""Settings that an array may have at any level, in display order."""

OF_MEMBERS = tuple(setting for setting, _ in _OF_MEMBERS)
"""Settings that each member may have."""

SPEEDS = ("sync_speed_min", "sync_speed_max")
"""Settings that also have the value `system`, which selects the system-wide limit."""

ON_OFF = {
    "skip_copy": ("0", "1"),
    "write_mostly": ("-writemostly", "writemostly"),
    "failfast": ("-failfast", "failfast"),
}
"""Settings with the values `off` and `on`, and for each the kernel's words for `off` and `on`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayTraits:
    """Traits of an array that decide which settings it has."""

    level: str
    """The kernel's name of the level."""
    disks: int | None
    """Configured number of members."""
    members: tuple[str, ...]
    """Kernel names of the members, in the order of their slots."""
    page_bytes: int = 4096
    """The kernel's page size in bytes."""
    journal: bool = False
    """Whether it has a journal device."""


def outline_of(array: ArrayFacts, page_bytes: int) -> ArrayTraits:
    """Return the traits of an array."""
    names = tuple(member.name for member in array.members if member.slot is not None and "faulty" not in member.flags)
    journal = any("journal" in member.flags for member in array.members)
    return ArrayTraits(level=array.level_word, disks=array.disks, members=names, page_bytes=page_bytes, journal=journal)


def settings_of(outline: ArrayTraits | None) -> tuple[Setting, ...]:
    """Return the settings of an array; all general settings if the array has not been read yet."""
    if outline is None:
        return GENERAL
    applicable = tuple(
        _with_memory_text(setting, outline)
        for setting, levels in _LEVELS
        if outline.level in levels and (setting is not JOURNAL_MODE or outline.journal)
    )
    return (*applicable, *_member_settings(outline))


def _with_memory_text(setting: Setting, outline: ArrayTraits) -> Setting:
    """Return a setting. The help of the stripe cache also states how much memory it needs on this array."""
    if setting is not STRIPE_CACHE or not outline.disks:
        return setting
    pages = outline.disks * outline.page_bytes
    text = f"256 pages on {outline.disks} members are {size_words(256 * pages)}, 4096 are {size_words(4096 * pages)}."
    return replace(setting, help=f"{setting.help} {text}")


def _member_settings(outline: ArrayTraits) -> Iterable[Setting]:
    for setting, levels in _OF_MEMBERS:
        if outline.level in levels:
            for name in outline.members:
                yield replace(setting, key=f"{setting.key}.{name}", label=f"{setting.label}, {name}")


def member_of(key: str) -> tuple[str, str] | None:
    """Return `write_mostly.sda1` as (`write_mostly`, `sda1`); None for a setting of the array."""
    kind, dot, name = key.partition(".")
    return (kind, name) if dot and any(kind == setting.key for setting, _ in _OF_MEMBERS) else None
