"""Settings of a logical volume, and the view of a volume that determines which of them apply. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from backends.settings import Effect, Persistence, Risk, Setting
from backends.values import dataclass
from backends.vendors.lvm.facts import CACHE, POOLS, WRITECACHE, LoadedTable, LvFacts

_kept = partial(Setting, persistence=Persistence.STORED)
"""Constructor of a setting that LVM stores in the metadata of the group."""

DEFAULT = "default"
"""Value of a numeric setting for which LVM stores no number, so that the default of LVM or the kernel applies."""

CACHE_MODE = _kept(
    key="cache_mode",
    label="Cache mode",
    help="When a write is acknowledged: with write-through when cache and slow device have it, with write-back when "
    "the cache has it. passthrough does not use the cache. A change from write-back writes all unwritten data "
    "to the slow device first, which may take hours and cannot be interrupted (lvmcache(7), dm-cache cache "
    "modes).",
    risk=Risk.POWER_LOSS,
    risk_text="The cache has the only copy of recent writes. If its device fails, they are lost, and usually the "
    "filesystem as well.",
)
CACHE_POLICY = _kept(
    key="cache_policy",
    other_words=("smq", "mq", "cleaner"),
    label="Cache policy",
    help="The policy that selects the cached blocks. Kernels since 4.2 have only smq, with the alias mq. LVM stores "
    "`cleaner` but loads it only during a flush (dm-cache-policy-smq.c; tested with LVM 2.03.16).",
)
MIGRATION = _kept(
    key="migration_threshold",
    label="Migration threshold",
    unit="sectors",
    help="Maximum number of sectors in transit between cache and slow device. More sectors fill the cache faster, "
    "but slow other I/O. The minimum of LVM is 8 chunks (lvmcache(7)).",
)
HIGH_WATERMARK = _kept(
    key="high_watermark",
    label="Writeback starts at",
    unit="%",
    help="Fill level of the cache at which writeback starts. A higher value lets more rewrites stay in the cache, "
    "but leaves less space for a burst (Documentation/admin-guide/device-mapper/writecache.rst; 50 by default).",
)
LOW_WATERMARK = _kept(
    key="low_watermark",
    label="Writeback stops at",
    unit="%",
    help="Fill level of the cache at which writeback stops. It cannot exceed the start level (writecache.rst; 45 by "
    "default).",
)
WRITEBACK_JOBS = _kept(
    key="writeback_jobs",
    label="Writeback jobs",
    unit="blocks",
    help="Maximum number of blocks in flight to the slow device. A limit favours reads, but drains the cache more "
    "slowly. By default there is no limit (writecache.rst).",
)
AUTOCOMMIT_BLOCKS = _kept(
    key="autocommit_blocks",
    label="Commit after",
    unit="blocks",
    help="Number of blocks written without a flush after which the cache commits them automatically. Flushed data is "
    "always safe (writecache.rst; 65536 by default on a block device).",
)
AUTOCOMMIT_TIME = _kept(
    key="autocommit_time",
    label="Commit after a time of",
    unit="ms",
    help="Time without a flush after which the cache commits written data automatically (writecache.rst; 1000 by "
    "default).",
)
CLEANER = _kept(
    key="cleaner",
    label="Drain the cache",
    help="Writes all cached data back and sends new writes to the slow volume. Use it before you remove the cache "
    "(lvmcache(7), dm-writecache settings).",
    risk=Risk.PERFORMANCE,
    risk_text="During the flush and afterwards, writes are as slow as the slow device.",
)
READ_AHEAD = _kept(
    key="lv_read_ahead",
    label="Read-ahead of the volume",
    unit="KiB",
    help="Read-ahead of the page cache for sequential reads of this volume. It has no effect on direct=1. LVM stores "
    "it and writes it to the volume's queue (read_ahead_kb) at each activation or change. A value from "
    "`blockdev --setra` remains until then. The read-ahead of the underlying disks is irrelevant (lvchange(8), "
    "--readahead).",
)
WRITE_BEHIND = _kept(
    key="write_behind",
    label="Write-behind",
    unit="writes",
    help="Writes that may be outstanding on write-mostly members (lvmraid(7)). Linux 6.1 ignores "
    "LVM's value and keeps 0, because it takes the number from the bitmap on the members (md-bitmap.c, "
    "md_bitmap_read_sb; tested with Linux 6.1).",
    risk=Risk.POWER_LOSS,
    risk_text="A write is acknowledged before the write-mostly members have it. If the other members fail then, the "
    "write "
    "is lost.",
)
MIN_RECOVERY = _kept(
    key="min_recovery_rate",
    label="Resync speed, at least",
    unit="KiB/s",
    help="Minimum speed of a resync or rebuild on each member, even during other I/O (lvmraid(7)).",
    risk=Risk.PERFORMANCE,
    risk_text="During a resync, a high minimum slows all other I/O.",
)
MAX_RECOVERY = _kept(
    key="max_recovery_rate",
    label="Resync speed, at most",
    unit="KiB/s",
    help="Maximum speed of a resync or rebuild on each idle member (lvmraid(7)).",
)
STRIPE_SIZE = _kept(
    key="stripe_size",
    label="Stripe size",
    unit="bytes",
    help="Amount of contiguous data on each member of a stripe. LVM can change it for RAID 4, 5, 6 and 10 while the "
    "volume is in use (a reshape, lvmraid(7)). A reshape permanently uses a few free extents of the group. It "
    "is fixed for striped volumes and RAID 0.",
    risk=Risk.OUTAGE,
    risk_text="The volume remains usable but slow until the reshape ends. The change cannot be undone before that.",
    effect=Effect.RESHAPE,
)
WRITE_MOSTLY = _kept(
    key="write_mostly",
    label="Write-mostly",
    help="Whether the member is read only if no other member is available. Use it for a slow member next to a fast "
    "one. All members but one may have it (lvmraid(7)).",
)

RESHAPED = ("raid4", "raid5", "raid6", "raid10")
"""Levels whose stripe size LVM can change."""

_KINDS: tuple[tuple[Setting, tuple[str, ...]], ...] = (
    (CACHE_MODE, (CACHE,)),
    (CACHE_POLICY, (CACHE,)),
    (MIGRATION, (CACHE,)),
    *(
        (setting, (WRITECACHE,))
        for setting in (HIGH_WATERMARK, LOW_WATERMARK, WRITEBACK_JOBS, AUTOCOMMIT_BLOCKS, AUTOCOMMIT_TIME, CLEANER)
    ),
    (STRIPE_SIZE, ("striped", "raid0", *RESHAPED)),
    (WRITE_BEHIND, ("raid1",)),
    (MIN_RECOVERY, ("raid1", *RESHAPED)),
    (MAX_RECOVERY, ("raid1", *RESHAPED)),
)

GENERAL = (READ_AHEAD, *(setting for setting, _ in _KINDS))
"""Settings of all kinds of volumes, in display order."""

OF_MEMBERS = (WRITE_MOSTLY,)
"""Settings that exist once for each member of a RAID 1."""

OPTIONS: Mapping[str, str] = {
    "cache_mode": "--cachemode",
    "cache_policy": "--cachepolicy",
    "lv_read_ahead": "--readahead",
    "write_mostly": "--writemostly",
    "write_behind": "--writebehind",
    "min_recovery_rate": "--minrecoveryrate",
    "max_recovery_rate": "--maxrecoveryrate",
    "stripe_size": "--stripesize",
}
"""Option of lvchange or lvconvert for each setting. All other settings use --cachesettings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LvTraits:
    """Properties of a volume that determine its list of settings."""

    level: str
    """RAID level or kind of the volume: `cache`, `linear`, `raid1`, ..."""
    members: tuple[str, ...] = ()
    """Nodes of the physical volumes that hold the images of a RAID 1, in order; empty for other levels."""


def traits_of(volume: LvFacts, group: Mapping[str, LvFacts]) -> LvTraits:
    """Return the traits of a volume. `group`: all volumes of its group by name."""
    images = [group[name] for name in volume.places if name in group] if volume.level == "raid1" else []
    places = tuple(
        image.places[0] for image in images if len(image.places) == 1 and image.places[0].startswith("/dev/")
    )
    return LvTraits(level=volume.level, members=places)


def settings_of(traits: LvTraits | None) -> tuple[Setting, ...]:
    """Return the settings of a volume: all general settings if it has not been read yet, and an empty tuple for a pool.

    Two images on one physical volume share a setting, because lvchange addresses the physical volume.
    """
    if traits is None:
        return GENERAL
    if traits.level in POOLS:
        return ()
    applicable = tuple(setting for setting, levels in _KINDS if traits.level in levels)
    members = tuple(
        replace(WRITE_MOSTLY, key=f"{WRITE_MOSTLY.key}.{name}", label=f"{WRITE_MOSTLY.label}, {name}")
        for name in dict.fromkeys(node_name.removeprefix("/dev/") for node_name in traits.members)
    )
    return (READ_AHEAD, *applicable, *members)


@dataclass(frozen=True, slots=True, kw_only=True)
class LvView:
    """Current state of one volume, and the reasons why it cannot be changed."""

    volume: LvFacts
    """Facts from LVM."""
    group: Mapping[str, LvFacts]
    """All volumes of its group by name, including hidden ones."""
    loaded: LoadedTable | None = None
    """The kernel's device-mapper table of the volume; None if it is not reported."""
    lvchange: str | None = None
    """Path of lvchange; None if it is not installed."""
    lvconvert: str | None = None
    """Path of lvconvert; None if it is not installed."""
    why_not: str | None = None
    """Reason why no setting can be changed: not root, read-only mode, truncated output; None if there is none."""
    silent: str = ""
    """Reason why a command that changes the volume would hang, as a clause; "" if it would not."""
    redundant: bool = False
    """Whether its cache survives the loss of a drive."""
    cache_on: str = ""
    """Nodes of the devices that hold its cache, separated by commas; "" without a cache."""
    page_bytes: int = 4096
    """Page size of the kernel in bytes."""

    @property
    def traits(self) -> LvTraits:
        """Return the properties that determine its list of settings."""
        return traits_of(self.volume, self.group)
