"""Declarations of the settings of bcache devices, cache sets and cache devices. No I/O.

Facts come from drivers/md/bcache/sysfs.c and Documentation/admin-guide/bcache.rst, verified on Linux 6.1.
"""

from __future__ import annotations

from backends.settings import Persistence, Risk, Setting, Span, offer

CACHE_MODE = Setting(
    key="cache_mode",
    label="Cache mode",
    help="Which way writes go. Kept in the backing device's superblock. After write-back, what only the cache has is "
    "copied to the disk in the background: until then the state stays dirty.",
    risk=Risk.POWER_LOSS,
    risk_text="With write-back, writes that were reported safe are on the cache device alone for a while: if it fails, "
    "they are lost and the filesystem is damaged.",
    persistence=Persistence.STORED,
)
SEQUENTIAL_CUTOFF = Setting(
    key="sequential_cutoff",
    label="Sequential cutoff",
    unit="bytes",
    help="A stream of this length goes past the cache, so that one backup does not push everything else out. 0 caches "
    "streams as well. The kernel tells it rounded down to a tenth of its unit.",
)
WRITEBACK_PERCENT = Setting(
    key="writeback_percent",
    label="Write-back share",
    unit="%",
    help="How much of the cache unwritten data may fill: the writing back is throttled to keep about as much. 0 takes "
    "the throttle off. Matters with write-back only. The kernel takes 40 for anything above, without a word.",
)
WRITEBACK_DELAY = Setting(
    key="writeback_delay",
    label="Write-back delay",
    unit="s",
    help="How long unwritten data stay in a cache that had none before the writing back begins: what is written again "
    "meanwhile reaches the disk once. Matters with write-back only.",
)
WRITEBACK_RUNNING = Setting(
    key="writeback_running",
    label="Writing back",
    help="Whether unwritten data are copied to the disk in the background at all.",
    risk=Risk.PERFORMANCE,
    risk_text="While it is off unwritten data pile up, and at 70 % of the cache every write waits for the disk.",
)
WRITEBACK_RATE_MINIMUM = Setting(
    key="writeback_rate_minimum",
    label="Write-back rate, at least",
    unit="sectors/s",
    help="Sectors of 512 bytes that are written back each second even while others use the disk.",
)
WRITEBACK_RATE_UPDATE = Setting(
    key="writeback_rate_update_seconds",
    label="Write-back rate, renewed",
    unit="s",
    help="How often the rate of writing back is computed anew from how much there is.",
)
READ_AHEAD = Setting(
    key="readahead_cache_policy",
    label="Cache read-ahead",
    help="Whether what the page cache reads ahead goes into the cache, too, or only metadata do.",
)
CONGESTED_READ = Setting(
    key="congested_read_threshold_us",
    label="Congested, reads",
    unit="us",
    help="When reads from the cache device take longer than this, some go past the cache. 0 never does that: right for "
    "a cache that is always the faster one.",
)
CONGESTED_WRITE = Setting(
    key="congested_write_threshold_us",
    label="Congested, writes",
    unit="us",
    help="When writes to the cache device take longer than this, some I/O goes past the cache. 0 never does that.",
)
REPLACEMENT = Setting(
    key="cache_replacement_policy",
    label="Replacement policy",
    help="Which buckets are given up for new data. Kept in the cache device's superblock.",
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
"""Settings of the cache set and its cache device, shared by all devices of the set."""

KEPT = tuple(
    setting.key for setting in SETTINGS if setting.persistence is not Persistence.STORED and setting.key not in OF_SET
)
"""Settings of the device itself that a reboot resets."""

SPANS = {
    WRITEBACK_PERCENT.key: Span(minimum=0, maximum=40, unit="%"),
    WRITEBACK_DELAY.key: Span(minimum=0, maximum=86_400, unit="s"),
    WRITEBACK_RATE_MINIMUM.key: Span(minimum=1, maximum=1 << 21, unit="sectors/s"),
    WRITEBACK_RATE_UPDATE.key: Span(minimum=1, maximum=60, unit="s"),
    CONGESTED_READ.key: Span(minimum=0, maximum=10_000_000, unit="us"),
    CONGESTED_WRITE.key: Span(minimum=0, maximum=10_000_000, unit="us"),
}
"""Offered ranges, extended to the present value. The kernel limits 40 % (bch_cutoff_writeback) and 60 s."""

CUTOFFS = tuple(1 << power for power in (16, 18, 20, 22, 24, 26, 30))
"""Offered sequential cutoffs in bytes, in addition to 0; any other number is accepted too."""

CUTOFF_MAX = (1 << 32) - 1
"""Bytes; the kernel limits larger values to this."""

CHOICES = {
    CACHE_MODE.key: {
        "writethrough": offer("write-through", "To cache and disk; told as done by the disk."),
        "writeback": offer("write-back", "To the cache; to the disk later, in its order.", risk=Risk.POWER_LOSS),
        "writearound": offer("write-around", "To the disk; only reads fill the cache."),
        "none": offer("none", "Nothing new comes in; what is in it is still read there."),
    },
    WRITEBACK_RUNNING.key: {
        "1": offer("on", "Unwritten data go to the disk."),
        "0": offer("off", "Unwritten data stay in the cache.", risk=Risk.PERFORMANCE),
    },
    READ_AHEAD.key: {
        "all": offer("all", "What is read ahead is cached."),
        "meta-only": offer("meta-only", "Only metadata read ahead are cached.", label="metadata only"),
    },
    REPLACEMENT.key: {
        "lru": offer("lru", "Those not used for longest."),
        "fifo": offer("fifo", "The oldest."),
        "random": offer("random", "Any."),
    },
}
"""Choices by the kernel's text."""
