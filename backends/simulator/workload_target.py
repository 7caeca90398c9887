"""Input of the load model: a simulated device with its effective settings, and an I/O pattern."""

from __future__ import annotations

from enum import StrEnum

from backends.model import Level
from backends.simulator.calibration import CardType, DriveType, SoftwareType
from backends.values import dataclass

PAGE = 4096
"""Request size in bytes that most performance data refer to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadTarget:
    """Device to benchmark, with its effective settings."""

    card: CardType | None
    """Controller, or None for a drive of the host itself."""
    drive: DriveType
    """Type of the members."""
    level: Level = Level.RAID0
    """RAID level."""
    drives: int = 1
    """Number of present members."""
    spans: int = 1
    """Number of spans."""
    strip_bytes: int = 65536
    """Strip size in bytes."""
    write_back: bool = False
    """True if writes are cached."""
    read_ahead: bool = False
    """True if the controller reads ahead."""
    cached: bool = False
    """True if reads go through the cache."""
    fastpath: bool = False
    """True if FastPath is active. The I/O policy may still prevent its use."""
    drive_cache: str = "default"
    """Drive cache policy: `on`, `off`, `default`."""
    degraded: int = 0
    """Number of missing members."""
    rebuild_share: float = 0.0
    """Share of the drives' time that a rebuild takes, 0..1."""
    cache_bytes: int = 0
    """Size of the controller's cache in bytes."""
    read_part: float = 1.0
    """Share of the cache that reads may use, 0..1."""
    write_part: float = 1.0
    """Share of the cache that unwritten data may use, 0..1."""
    cache_block_bytes: int = 0
    """Size of a block that the cache keeps as a unit, in bytes; 0 if the cache keeps exactly the request."""
    mirrored: bool = False
    """True if another controller gets a copy of cached data."""
    bypass_bytes: int = 0
    """Smallest write that bypasses the cache, in bytes; 0 if no write does."""
    sorts_writes: bool = True
    """True if the cache sorts its writes by position on the drives."""
    member_depth: int = 0
    """Maximum requests per drive that the controller has in flight; 0 for no limit."""
    written_bytes: int | None = None
    """Bytes of the flash that were ever written, from its start; None for all of it."""
    size_bytes: int = 0
    """Usable bytes."""
    software: SoftwareType | None = None
    """Processor time of md, or None if it is negligible."""
    copies: int = 0
    """Copies of each chunk of an md RAID 10; 0 for other arrays."""
    arrangement: str = "near"
    """Layout of the md RAID 10 copies: `near`, `far`, `offset`."""
    layered: bool = False
    """True for an array of arrays."""
    halves: tuple[DriveType, DriveType] | None = None
    """Types of both drives of an md mirror, which may differ; None for other devices."""
    read_from: tuple[bool, bool] = (True, True)
    """Whether reads go to each of `halves`."""
    cache: CachedBy | None = None
    """Kernel cache of the device; `drive` is then the type of the slow part. None without a cache."""
    pool: Pooled | None = None
    """ZFS pool on the drives, or None."""


class CacheKind(StrEnum):
    """Kernel caches, by driver name."""

    DM_CACHE = "dm-cache"
    WRITECACHE = "dm-writecache"
    BCACHE = "bcache"


class CacheMode(StrEnum):
    """How a cache handles writes. Not every kind of cache has every mode."""

    WRITE_THROUGH = "write-through"
    WRITE_BACK = "write-back"
    WRITE_AROUND = "write-around"
    PASSTHROUGH = "passthrough"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedBy:
    """A slow device with a fast one as its cache."""

    kind: CacheKind
    """Driver."""
    mode: CacheMode
    """Effective mode."""
    slow: WorkloadTarget
    """Device with all the data."""
    fast: WorkloadTarget
    """Device with the cached data."""
    cache_bytes: int
    """Usable cache size in bytes."""
    block_bytes: int = PAGE
    """Size of a block that is loaded or written out as a unit, in bytes."""
    cutoff_bytes: int = 0
    """Length in bytes above which a sequential stream bypasses the cache; 0 for no bypass."""
    high: float = 1.0
    """Share of the cache with unwritten data at which writing out starts, 0..1."""
    low: float = 1.0
    """Share of the cache with unwritten data at which writing out ends, 0..1."""
    held_bytes: float = 0.0
    """Bytes in the cache. By assumption, these are the data at the start of the device."""
    dirty_bytes: float = 0.0
    """Bytes in the cache that the slow part does not have yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooled:
    """File or zvol of a ZFS pool."""

    vdevs: WorkloadTarget
    """Drives with the data."""
    log: WorkloadTarget | None = None
    """Separate log device, or None."""
    record_bytes: int = 131072
    """Size of its existing blocks in bytes: recordsize or volblocksize."""
    arc_bytes: int = 0
    """Maximum size of the ARC in bytes."""
    caches_data: bool = True
    """True if the ARC keeps data (primarycache=all)."""
    sync: str = "standard"
    """Value of the property sync: `standard`, `always`, `disabled`."""
    volume: bool = False
    """True for a zvol."""
    held_bytes: float = 0.0
    """Bytes of the file or zvol in the ARC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheHitPath:
    """Requests that a cache serves alone, without the slow device."""

    share: float = 0.0
    """Share of the reads, or of the writes, 0..1."""
    alone_us: float = 0.0
    """Latency in microseconds with nothing else in flight."""
    station: int = 0
    """Index of the station that these requests wait for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IoPattern:
    """I/O pattern of a job."""

    read_share: float = 1.0
    """Share of reads, 0..1."""
    sequential: bool = False
    """True if offsets are sequential."""
    sizes: tuple[tuple[int, float], ...] = ((PAGE, 1.0),)
    """Block sizes in bytes with their shares, which add up to 1."""
    align: int | None = None
    """Alignment of random offsets in bytes; None for the smallest block."""
    depth: int = 1
    """Requests in flight per job."""
    jobs: int = 1
    """Number of jobs."""
    region_bytes: int = 0
    """Size of the region of the device that is used, in bytes; 0 for the complete device."""
    rate_iops: float | None = None
    """IOPS limit of all jobs together, or None."""
    at_random: bool = False
    """True if rate-limited requests arrive at random, whether or not earlier ones have completed."""
    scheduler: str = "none"
    """Kernel I/O scheduler."""
    tags: int = 1024
    """Maximum number of requests that the kernel has in flight."""

    @property
    def alignment(self) -> int:
        """Alignment of random offsets in bytes."""
        return self.align or min(size for size, _ in self.sizes)

    @property
    def mean_bytes(self) -> float:
        """Mean request size in bytes."""
        return sum(size * share for size, share in self.sizes)
