"""Simulated MegaRAID virtual drive: configured and effective values."""

from __future__ import annotations

from backends import raid
from backends.model import Level
from backends.values import dataclass

SPANNED = {Level.RAID10: Level.RAID1, Level.RAID50: Level.RAID5, Level.RAID60: Level.RAID6}
"""Spanned levels, with the level of each span."""

BGI_AFTER = 300.0
"""Seconds from the creation of a volume to the start of its background initialisation."""

BGI_SECONDS = 1800.0
"""Duration of a background initialisation in seconds."""


@dataclass(slots=True, kw_only=True)
class Content:
    """Partition table and filesystem on a volume."""

    table: str | None = None
    """`gpt`, or None if the filesystem fills the device."""
    filesystem: str = "ext4"
    """Filesystem type."""
    label: str = ""
    """Filesystem label."""
    uuid: str = ""
    """Filesystem UUID."""
    mount: str | None = None
    """Mount point, or None."""


@dataclass(slots=True, kw_only=True)
class Volume:
    """One virtual drive. The values of its settings are named as in raidbench, not as in a vendor's tool."""

    number: int
    """Target ID."""
    group: int
    """Drive group number."""
    name: str = ""
    """Given name."""
    level: Level = Level.RAID5
    """RAID level."""
    places: tuple[str, ...] = ()
    """Members as `enclosure:slot`, in span order."""
    per_span: int = 0
    """Drives in each span."""
    size_bytes: int = 0
    """Usable bytes."""
    strip_bytes: int = 65536
    """Strip size in bytes. It cannot change after creation."""
    write_cache: str = "write-through"
    """Configured policy: `write-through`, `write-back`, `always-write-back`."""
    read_ahead: str = "none"
    """Read policy: `none`, `read-ahead`, `adaptive`."""
    io_policy: str = "direct"
    """I/O policy: `direct`, `cached`."""
    drive_cache: str = "default"
    """Drive cache policy: `on`, `off`, `default`."""
    cache_bypass: str = "intelligent-64k"
    """Cache bypass mode: `intelligent`, `standard` or `custom-1` to `custom-3`, each followed by `-64k`, `-128k` or
    `-256k`; or `off`."""
    access: str = "read-write"
    """Access policy: `read-write`, `read-only`, `blocked`."""
    auto_bgi: bool = True
    """True if background initialisation starts automatically."""
    bgi_since: float | None = None
    """Past or planned start of the background initialisation; None if there is none."""
    device: str = ""
    """Kernel name such as `sdb`, or "" if the kernel has no disk for it."""
    naa: str = ""
    """NAA identifier, 32 hex digits."""
    sequence: int = 0
    """Creation number. The kernel numbers the disks in the same order."""
    created: float = 0.0
    """Creation time in simulated time."""
    content: Content | None = None
    """Contents, or None if the volume is blank."""

    @property
    def spans(self) -> int:
        """Number of spans."""
        return max(1, len(self.places) // self.per_span) if self.per_span else 1

    @property
    def data_drives(self) -> int:
        """Number of drives that hold data, without parity and copies."""
        return raid.data_drives(self.level, len(self.places), spans=self.spans, copies=2) or 1

    def writes_back(self, battery_healthy: bool) -> bool:
        """Return True if writes are cached. Without a healthy battery, `write-back` falls back to write-through."""
        if self.write_cache == "write-back":
            return battery_healthy
        return self.write_cache == "always-write-back"

    def initialised_share(self, now: float) -> float | None:
        """Return the completed share of the background initialisation, or None if none is running."""
        if self.bgi_since is None or now < self.bgi_since:
            return None
        done = (now - self.bgi_since) / BGI_SECONDS
        return done if done < 1 else None
