"""What is measured on the simulated host, in the state in force, and what is asked of it."""

from __future__ import annotations

from enum import StrEnum

from backends.model import Level
from backends.simulator.calibration import CardType, DriveType, SoftwareType
from backends.values import dataclass

PAGE = 4096
"""Bytes of a request of which most figures tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadTarget:
    """What is measured, in the state in force."""

    card: CardType | None
    """Its controller; None for a drive of the host's own."""
    drive: DriveType
    """Its members."""
    level: Level = Level.RAID0
    """Level."""
    drives: int = 1
    """Members that are there."""
    spans: int = 1
    """Spans of a spanned level."""
    strip_bytes: int = 65536
    """Strip."""
    write_back: bool = False
    """Writes are cached."""
    read_ahead: bool = False
    """Reads are looked ahead."""
    cached: bool = False
    """Reads go through the cache."""
    fastpath: bool = False
    """The activation key is there and nothing but the I/O policy keeps requests from the fast path."""
    drive_cache: str = "default"
    """`on`, `off`, `default`."""
    degraded: int = 0
    """Members missing."""
    rebuild_share: float = 0.0
    """Share of the drives' time that a rebuild takes."""
    cache_bytes: int = 0
    """The card's cache."""
    read_part: float = 1.0
    """Share of it that reads may take, 0..1."""
    write_part: float = 1.0
    """Share of it that unwritten data may take, 0..1."""
    cache_block_bytes: int = 0
    """What the cache keeps whole; 0 where it keeps just what was asked for."""
    mirrored: bool = False
    """Another controller gets a copy of what is cached."""
    bypass_bytes: int = 0
    """Writes of this size and larger go past the cache; 0 for none."""
    sorts_writes: bool = True
    """What leaves the cache is sorted by its place on the drives."""
    member_depth: int = 0
    """Requests that the card has under way on a drive at most; 0 without such a limit."""
    written_bytes: int | None = None
    """How much of the flash was ever written, from its beginning; None for all of it."""
    size_bytes: int = 0
    """Usable size."""
    software: SoftwareType | None = None
    """What md takes for itself; None where that is nothing."""
    copies: int = 0
    """Copies of every chunk of md's RAID 10; 0 of all others."""
    arrangement: str = "near"
    """How md lays them out: `near`, `far`, `offset`."""
    layered: bool = False
    """It is an array of arrays."""
    halves: tuple[DriveType, DriveType] | None = None
    """The two copies of an md mirror, which need not be alike; None for everything else."""
    read_from: tuple[bool, bool] = (True, True)
    """Which of them are read."""
    cache: CachedBy | None = None
    """The cache of the kernel that it is; `drive` is then the slow part's."""
    pool: Pooled | None = None
    """What ZFS makes of its drives; None for everything else."""


class CacheKind(StrEnum):
    """Caches of the kernel, by the names of their drivers."""

    DM_CACHE = "dm-cache"
    WRITECACHE = "dm-writecache"
    BCACHE = "bcache"


class CacheMode(StrEnum):
    """What becomes of a write; which of them there are depends on the kind."""

    WRITE_THROUGH = "write-through"
    WRITE_BACK = "write-back"
    WRITE_AROUND = "write-around"
    PASSTHROUGH = "passthrough"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedBy:
    """A slow part with a fast one before it."""

    kind: CacheKind
    """Whose rules hold."""
    mode: CacheMode
    """In force."""
    slow: WorkloadTarget
    """What has all the data."""
    fast: WorkloadTarget
    """What has some of them."""
    cache_bytes: int
    """How much of the fast part holds data."""
    block_bytes: int = PAGE
    """What is brought in and written out as a whole."""
    cutoff_bytes: int = 0
    """Streams of this length and longer pass by; 0 for none."""
    high: float = 1.0
    """Share of the cache that unwritten data fill before they are written out, 0..1."""
    low: float = 1.0
    """The share at which that ends."""
    held_bytes: float = 0.0
    """Data in the cache; they are those at the beginning of the device."""
    dirty_bytes: float = 0.0
    """Of them, those that the slow part does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooled:
    """A file or volume of a ZFS pool."""

    vdevs: WorkloadTarget
    """Where the data lie."""
    log: WorkloadTarget | None = None
    """A log device of its own."""
    record_bytes: int = 131072
    """The blocks that are there: recordsize or volblocksize."""
    arc_bytes: int = 0
    """What the ARC may take of the memory."""
    caches_data: bool = True
    """Whether it keeps data (primarycache=all)."""
    sync: str = "standard"
    """`standard`, `always`, `disabled`."""
    volume: bool = False
    """Whether it is a zvol."""
    held_bytes: float = 0.0
    """Data of it in the ARC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheHitPath:
    """Requests that a cache answers, or takes, by itself."""

    share: float = 0.0
    """Of all requests of the direction, 0..1."""
    alone_us: float = 0.0
    """Latency with nothing else in flight."""
    station: int = 0
    """The station of its demand that it waits for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IoPattern:
    """What is asked of it."""

    read_share: float = 1.0
    """0..1."""
    sequential: bool = False
    """Offsets follow each other."""
    sizes: tuple[tuple[int, float], ...] = ((PAGE, 1.0),)
    """Block sizes with their shares, which add up to 1."""
    align: int | None = None
    """Random offsets are multiples of it; None is the smallest block."""
    depth: int = 1
    """Requests in flight of each job."""
    jobs: int = 1
    """Threads."""
    region_bytes: int = 0
    """How much of the device is used; 0 is all of it."""
    rate_iops: float | None = None
    """Limit of all jobs together."""
    at_random: bool = False
    """Requests of that rate come at random, and wait for none before them."""
    scheduler: str = "none"
    """The kernel's I/O scheduler."""
    tags: int = 1024
    """Requests that the kernel passes on at once."""

    @property
    def alignment(self) -> int:
        """Bytes of which every random offset is a multiple."""
        return self.align or min(size for size, _ in self.sizes)

    @property
    def mean_bytes(self) -> float:
        """Bytes of an average request."""
        return sum(size * share for size, share in self.sizes)
