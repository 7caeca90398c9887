"""Declarations of the settings of md arrays; the level decides which of them an array has. No I/O."""

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
    help="Pages per member in which whole stripes are gathered before parity is written. More lets small writes become "
    "full stripes, which need no reading. It takes one page x members x this number of memory "
    "(Documentation/admin-guide/md.rst); no more than a quarter of the memory is offered.",
)
PREREAD = Setting(
    key="preread_bypass_threshold",
    label="Pre-read bypass",
    unit="stripes",
    help="How often full-stripe writes may go before a stripe that has to be read first. 0 serves them in order, more "
    "favours sequential writers. No more than the stripe cache has (md.rst).",
)
GROUP_THREADS = Setting(
    key="group_thread_cnt",
    label="Parity threads",
    unit="threads",
    help="Worker threads per NUMA node that handle stripes; 0 leaves it all to the one thread of the array. More helps "
    "fast flash, where one core cannot keep up with parity. The array pauses for a moment while it is set "
    "(drivers/md/raid5.c, raid5_store_group_thread_cnt).",
)
SKIP_COPY = Setting(
    key="skip_copy",
    label="Write without copying",
    help="Whether full-stripe writes go to the members from where the data lie, without being copied into the stripe "
    "cache first: less CPU time and memory traffic. The array pauses for a moment while it is set "
    "(drivers/md/raid5.c, raid5_store_skip_copy).",
)
RESYNC_SPEED = Setting(
    key=full_speed.KEY,
    label="Resync speed",
    help="Sets in one step how fast a resync, rebuild, check or reshape of this array runs. `full` raises both limits "
    "of the speed beyond what the members can do, and enlarges the stripe cache of RAID 4, 5 and 6. The other value "
    "is the present combination of stripe cache, highest and lowest speed. A resync that is under way follows at once "
    "(md.rst, sync_speed_min, sync_speed_max).",
    risk=Risk.PERFORMANCE,
    risk_text="At full speed everything else on the members is slow until the resync has ended. Undo brings the old "
    "limits and the old stripe cache back.",
    stands_for=full_speed.PARTS,
)
SPEED_MIN = Setting(
    key="sync_speed_min",
    label="Resync speed, at least",
    unit="KiB/s",
    help="What a resync, rebuild, check or reshape may take of each member although others want it. `system` follows "
    "/proc/sys/dev/raid/speed_limit_min (md.rst).",
    risk=Risk.PERFORMANCE,
    risk_text="While a resync runs, a high minimum takes speed from everything else.",
)
SPEED_MAX = Setting(
    key="sync_speed_max",
    label="Resync speed, at most",
    unit="KiB/s",
    help="What a resync, rebuild, check or reshape may reach on each member when nobody else wants it. `system` "
    "follows /proc/sys/dev/raid/speed_limit_max (md.rst).",
)
BITMAP = Setting(
    key="bitmap",
    label="Write-intent bitmap",
    help="Marks on the members where writes are under way, so that after a crash only those places are resynchronised. "
    "Costs a little on random writes. Kept in the array's own metadata (md(4), mdadm --grow --bitmap).",
    risk=Risk.PERFORMANCE,
    risk_text="Without a bitmap a crash is followed by a resync of the whole array, and a member that was away for a "
    "moment is rebuilt from end to end.",
    persistence=Persistence.STORED,
)
CONSISTENCY = Setting(
    key="consistency_policy",
    other_words=("resync", "ppl", "bitmap", "journal"),
    label="Consistency after a crash",
    help="How parity is made right after a crash: `resync` reads and writes everything, `ppl` (RAID 5) keeps a partial "
    "parity log on the members, which also closes the write hole and costs write speed. Bitmap and journal are "
    "policies of their own. Kept in the array's own metadata (md(4), PARTIAL PARITY LOG; mdadm --grow "
    "--consistency-policy).",
    risk=Risk.POWER_LOSS,
    risk_text="Without the partial parity log, a crash of an array with a missing member may damage data that were not "
    "being written (the write hole).",
    persistence=Persistence.STORED,
)
SAFE_MODE = Setting(
    key="safe_mode_delay",
    label="Clean after",
    unit="ms",
    help="How long without a write until the array is marked clean on its members; the next write waits for the mark "
    "to be taken off. A crash of a clean array needs no resync. 0 never marks it clean while it is in use "
    "(md.rst, safe_mode_delay).",
    risk=Risk.PERFORMANCE,
    risk_text="With 0 every crash is followed by a resync, as far as the bitmap does not spare it.",
)
JOURNAL_MODE = Setting(
    key="journal_mode",
    label="Journal mode",
    help="What the journal device of the array is for: `write-through` only closes the write hole, a write is reported "
    "done when it is on the members; with `write-back` when it is in the journal, and whole stripes are written from "
    "there. The array begins with write-through each time it is assembled (drivers/md/raid5-cache.c; md(4)).",
    risk=Risk.POWER_LOSS,
    risk_text="With write-back, writes that were reported done are on the journal device alone for a while: if it "
    "fails, they are lost.",
)
CHUNK = Setting(
    key="chunk_size",
    label="Chunk size",
    unit="bytes",
    help="Bytes on one member before the next one follows. mdadm can move the data into chunks of another size while "
    "the array is in use (a reshape); RAID 0 becomes a RAID 4 without parity disk for as long as that takes; a RAID 10 "
    "with far or offset copies has to be created again (mdadm(8), GROW MODE).",
    risk=Risk.OUTAGE,
    effect=Effect.RESHAPE,
    persistence=Persistence.STORED,
)
LAYOUT = Setting(
    key="layout",
    label="Layout",
    help="How parity (RAID 5, 6) or copies (RAID 10) are laid out. Parity can be moved while the array is in use (a "
    "reshape); to lay copies out in another way a RAID 10 has to be created again (mdadm(8), GROW MODE).",
    risk=Risk.OUTAGE,
    effect=Effect.RESHAPE,
    persistence=Persistence.STORED,
)
WRITE_MOSTLY = Setting(
    key="write_mostly",
    label="Write-mostly",
    help="Whether the member is read only when nothing else can be: for a slow one beside a fast one. Kept in the "
    "array's own metadata. RAID 10 keeps the mark and passes over it when it reads (md(4), WRITE-MOSTLY).",
    persistence=Persistence.STORED,
)
FAILFAST = Setting(
    key="failfast",
    label="Fail fast",
    help="Whether requests to the member fail at the first trouble of its transport, without being tried again, so "
    "that the other copy answers at once. Kept in the array's own metadata (md(4), FAILFAST).",
    risk=Risk.PERFORMANCE,
    risk_text="A short disturbance of the transport is enough to throw the member out of the array.",
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
"""Settings with the value `system`."""

ON_OFF = {
    "skip_copy": ("0", "1"),
    "write_mostly": ("-writemostly", "writemostly"),
    "failfast": ("-failfast", "failfast"),
}
"""Settings with `off` and `on`, and the kernel's texts for these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayTraits:
    """Traits of an array that decide which settings it has."""

    level: str
    """The kernel's term."""
    disks: int | None
    """Configured number of members."""
    members: tuple[str, ...]
    """Kernel names of members in a slot, by slot."""
    page_bytes: int = 4096
    """The kernel's page size."""
    journal: bool = False
    """Whether it has a journal device."""


def outline_of(array: ArrayFacts, page_bytes: int) -> ArrayTraits:
    """Return the traits of an array."""
    names = tuple(member.name for member in array.members if member.slot is not None and "faulty" not in member.flags)
    journal = any("journal" in member.flags for member in array.members)
    return ArrayTraits(level=array.level_word, disks=array.disks, members=names, page_bytes=page_bytes, journal=journal)


def settings_of(outline: ArrayTraits | None) -> tuple[Setting, ...]:
    """Return the settings of an array; all general ones if it was not read yet."""
    if outline is None:
        return GENERAL
    applicable = tuple(
        _with_memory_text(setting, outline)
        for setting, levels in _LEVELS
        if outline.level in levels and (setting is not JOURNAL_MODE or outline.journal)
    )
    return (*applicable, *_member_settings(outline))


def _with_memory_text(setting: Setting, outline: ArrayTraits) -> Setting:
    """Return the stripe cache setting with the memory that it needs on this array."""
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
