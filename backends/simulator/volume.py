"""A virtual drive in the simulated rack: what is configured, and what of it is in force."""

from __future__ import annotations

from backends import raid
from backends.model import Level
from backends.values import dataclass

SPANNED = {Level.RAID10: Level.RAID1, Level.RAID50: Level.RAID5, Level.RAID60: Level.RAID6}
"""Levels that are spans of a simpler one, and that one."""

BGI_AFTER = 300.0
"""Seconds from the making of a volume to the beginning of its background initialisation."""

BGI_SECONDS = 1800.0
"""How long a background initialisation takes."""


@dataclass(slots=True, kw_only=True)
class Content:
    """What lies on a volume."""

    table: str | None = None
    """`gpt`, or None when the filesystem fills the device."""
    filesystem: str = "ext4"
    """Its type."""
    label: str = ""
    """Its label."""
    uuid: str = ""
    """Its UUID."""
    mount: str | None = None
    """Where it is mounted, None if nowhere."""


@dataclass(slots=True, kw_only=True)
class Volume:
    """One virtual drive, in the common vocabulary."""

    number: int
    """Target id."""
    group: int
    """Drive group."""
    name: str = ""
    """Given name."""
    level: Level = Level.RAID5
    """Level."""
    places: tuple[str, ...] = ()
    """Members as `enclosure:slot`, in span order."""
    per_span: int = 0
    """Drives in each span."""
    size_bytes: int = 0
    """Usable."""
    strip_bytes: int = 65536
    """Set when it is made, and never after."""
    write_cache: str = "write-through"
    """Configured: `write-through`, `write-back`, `always-write-back`."""
    read_ahead: str = "none"
    """`none`, `read-ahead`, `adaptive`."""
    io_policy: str = "direct"
    """`direct`, `cached`."""
    drive_cache: str = "default"
    """`on`, `off`, `default`."""
    cache_bypass: str = "intelligent-64k"
    """`intelligent`, `standard` or `custom-1` to `custom-3` with `-64k`, `-128k` or `-256k`; `off`."""
    access: str = "read-write"
    """`read-write`, `read-only`, `blocked`."""
    auto_bgi: bool = True
    """Background initialisation starts by itself."""
    bgi_since: float | None = None
    """When it began, or will begin; None if there is none."""
    device: str = ""
    """`sdb`; "" while the kernel has none."""
    naa: str = ""
    """32 hex digits."""
    sequence: int = 0
    """Which of all volumes ever made it is: the kernel numbers its disks so."""
    created: float = 0.0
    """Rack's time."""
    content: Content | None = None
    """What lies on it, None if it is blank."""

    @property
    def spans(self) -> int:
        """Number of spans."""
        return max(1, len(self.places) // self.per_span) if self.per_span else 1

    @property
    def data_drives(self) -> int:
        """Drives' worth of data."""
        return raid.data_drives(self.level, len(self.places), spans=self.spans, copies=2) or 1

    def writes_back(self, battery_healthy: bool) -> bool:
        """Whether writes are really cached: a dead battery keeps write-through in force, unless told otherwise."""
        if self.write_cache == "write-back":
            return battery_healthy
        return self.write_cache == "always-write-back"

    def initialised(self, now: float) -> float | None:
        """Share done of its background initialisation; None if none is under way."""
        if self.bgi_since is None or now < self.bgi_since:
            return None
        done = (now - self.bgi_since) / BGI_SECONDS
        return done if done < 1 else None
