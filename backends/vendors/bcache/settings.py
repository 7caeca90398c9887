"""Declarations of the settings of bcache devices, cache sets and cache devices. No I/O.

Facts come from drivers/md/bcache/sysfs.c and Documentation/admin-guide/bcache.rst, verified on Linux 6.1.
"""

from __future__ import annotations

from backends.settings import Persistence, Risk, Setting, Span, offer

CACHE_MODE = Setting(
    key="cache_mode",
    label="Cache mode",
    help="How writes are cached. Stored in the superblock of the backing device. After a change from write-back, "
    "unwritten data is written to the disk in the background. Until then the state is dirty.",
    risk=Risk.POWER_LOSS,
    risk_text="With write-back, recent acknowledged writes are only on the cache device. If it fails, they are lost "
    "and "
    "the filesystem is damaged.",
    persistence=Persistence.STORED,
)
SEQUENTIAL_CUTOFF = Setting(
    key="sequential_cutoff",
    label="Sequential cutoff",
    unit="bytes",
    help="Sequential streams longer than this bypass the cache, so that a backup does not evict other data. 0 caches "
    "streams as well. The kernel reports the value rounded down to a tenth of its unit.",
)
WRITEBACK_PERCENT = Setting(
    key="writeback_percent",
    label="Write-back share",
    unit="%",
    help="Target share of unwritten data in the cache. The writeback rate is throttled to keep it. 0 disables the "
    "throttle. It has an effect with write-back only. The kernel silently uses 40 for higher values.",
)
WRITEBACK_DELAY = Setting(
    key="writeback_delay",
    label="Write-back delay",
    unit="s",
    help="Delay between the first unwritten data in the cache and the start of writeback. Data that is overwritten "
    "during this time reaches the disk only once. It has an effect with write-back only.",
)
WRITEBACK_RUNNING = Setting(
    key="writeback_running",
    label="Writing back",
    help="Whether unwritten data is written to the disk in the background.",
    risk=Risk.PERFORMANCE,
    risk_text="While it is off, unwritten data accumulates. At 70 % of the cache every write waits for the disk.",
)
WRITEBACK_RATE_MINIMUM = Setting(
    key="writeback_rate_minimum",
    label="Write-back rate, at least",
    unit="sectors/s",
    help="Sectors of 512 bytes that are written back each second even if the disk is busy.",
)
WRITEBACK_RATE_UPDATE = Setting(
    key="writeback_rate_update_seconds",
    label="Write-back rate, renewed",
    unit="s",
    help="Interval at which the writeback rate is recalculated from the amount of unwritten data.",
)
READ_AHEAD = Setting(
    key="readahead_cache_policy",
    label="Cache read-ahead",
    help="Which read-ahead data of the kernel bcache stores: all, or metadata only.",
)
CONGESTED_READ = Setting(
    key="congested_read_threshold_us",
    label="Congested, reads",
    unit="us",
    help="If reads from the cache device take longer than this, some bypass the cache. 0 disables this, which suits "
    "a cache that is always faster than the disk.",
)
CONGESTED_WRITE = Setting(
    key="congested_write_threshold_us",
    label="Congested, writes",
    unit="us",
    help="If writes to the cache device take longer than this, some I/O bypasses the cache. 0 disables this.",
)
REPLACEMENT = Setting(
    key="cache_replacement_policy",
    label="Replacement policy",
    help="Which buckets are evicted for new data. Stored in the superblock of the cache device.",
    persistence=Persistence.STORED,
)

SETTINGS = (
    CACHE_MODE,
    SEQUENTIAL_CUTOFF,
    WRITEBACK_PERCENT,
    WRITEBACK_DELAY,
    WRITEBACK_RUNNING,
    WRITEBACK_RATE_MINIMUM,
    WRITEBACK_RATE_UPDATE,
    READ_AHEAD,
    CONGESTED_READ,
    CONGESTED_WRITE,
    REPLACEMENT,
)
"""All settings in display order."""

OF_SET = (CONGESTED_READ.key, CONGESTED_WRITE.key, REPLACEMENT.key)
"""Settings of the cache set and its cache device. They apply to all devices that use the set."""

KEPT = tuple(
    setting.key for setting in SETTINGS if setting.persistence is not Persistence.STORED and setting.key not in OF_SET
)
"""Settings of the bcache device itself that a reboot resets and a udev rule can persist."""

SPANS = {
    WRITEBACK_PERCENT.key: Span(minimum=0, maximum=40, unit="%"),
    WRITEBACK_DELAY.key: Span(minimum=0, maximum=86_400, unit="s"),
    WRITEBACK_RATE_MINIMUM.key: Span(minimum=1, maximum=1 << 21, unit="sectors/s"),
    WRITEBACK_RATE_UPDATE.key: Span(minimum=1, maximum=60, unit="s"),
    CONGESTED_READ.key: Span(minimum=0, maximum=10_000_000, unit="us"),
    CONGESTED_WRITE.key: Span(minimum=0, maximum=10_000_000, unit="us"),
}
"""Offered ranges by key of the setting. A range is extended if the current value is above it.

The limits of 40 % (bch_cutoff_writeback) and 60 s are the kernel's.
"""

CUTOFFS = tuple(1 << power for power in (16, 18, 20, 22, 24, 26, 30))
"""Offered sequential cutoffs in bytes, in addition to 0; any other number is accepted too."""

CUTOFF_MAX = (1 << 32) - 1
"""Maximum sequential cutoff in bytes. The kernel reduces larger values to this one."""

CHOICES = {
    CACHE_MODE.key: {
        "writethrough": offer("write-through", "Writes go to cache and disk, and are acknowledged by the disk."),
        "writeback": offer(
            "write-back", "Writes go to the cache, and later to the disk in disk order.", risk=Risk.POWER_LOSS
        ),
        "writearound": offer("write-around", "Writes go to the disk. Only reads fill the cache."),
        "none": offer("none", "New data is not cached. Data that is already cached is still read from it."),
    },
    WRITEBACK_RUNNING.key: {
        "1": offer("on", "Unwritten data is written to the disk."),
        "0": offer("off", "Unwritten data remains in the cache.", risk=Risk.PERFORMANCE),
    },
    READ_AHEAD.key: {
        "all": offer("all", "Read-ahead data is cached."),
        "meta-only": offer("meta-only", "Only metadata from read-ahead is cached.", label="metadata only"),
    },
    REPLACEMENT.key: {
        "lru": offer("lru", "Evicts the least recently used data."),
        "fifo": offer("fifo", "Evicts the oldest data."),
        "random": offer("random", "Evicts random data."),
    },
}
"""Choices of each setting, by key of the setting and by the string in the kernel's file."""
