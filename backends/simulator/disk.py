"""Simulated physical drives: behind a controller, or behind several paths."""

from __future__ import annotations

from backends.simulator.calibration import DRIVES, DriveType
from backends.values import dataclass

ONLINE, REBUILD, FAILED, GOOD, SPARE, FOREIGN, JBOD = (
    "online",
    "rebuild",
    "failed",
    "good",
    "spare",
    "foreign",
    "jbod",
)
"""States of a drive."""

COERCION = 1 << 30
"""Unit to which controllers round drive sizes down, so that drives of different makes can replace each other."""


@dataclass(slots=True, kw_only=True)
class SimulatedDrive:
    """One drive behind a controller."""

    enclosure: int | None
    """Enclosure device ID, or None for a drive attached directly to the controller."""
    slot: int
    """Slot number."""
    did: int
    """Device ID."""
    model: str
    """Model, a key of `calibration.DRIVES`."""
    serial: str
    """Serial number."""
    wwn: str
    """World wide name, 16 hex digits."""
    state: str = GOOD
    """State, such as `ONLINE` or `GOOD`."""
    group: int | None = None
    """Number of the drive group that the drive belongs to, or None."""
    temperature: int = 31
    """Temperature in degrees Celsius."""
    media_errors: int = 0
    """Media error count."""
    other_errors: int = 0
    """Other error count."""
    predictive_errors: int = 0
    """Predictive failure count."""
    alert: bool = False
    """True if the drive flagged a S.M.A.R.T. alert."""
    rebuild_from: float = 0.0
    """Share of the rebuild that was already complete at `rebuild_since`, 0..1."""
    rebuild_since: float = 0.0
    """Start of the rebuild in simulated time."""
    rebuild_seconds: float = 8 * 3600.0
    """Duration of a full rebuild."""

    @property
    def place(self) -> str:
        """Position as `245:1`, or `:1` without an enclosure."""
        return f"{'' if self.enclosure is None else self.enclosure}:{self.slot}"

    @property
    def type(self) -> DriveType:
        """Performance data of the drive's model."""
        return DRIVES[self.model]

    @property
    def coerced_bytes(self) -> int:
        """Bytes of the drive that an array can use."""
        return self.type.size_bytes // COERCION * COERCION

    def rebuild_share(self, now: float) -> float:
        """Return the share of the rebuild that is complete, 0..1."""
        return min(1.0, self.rebuild_from + max(0.0, now - self.rebuild_since) / self.rebuild_seconds)

    def rebuild_minutes(self, now: float) -> int:
        """Return how long the rebuild has been running, in minutes."""
        return int((now - self.rebuild_since + self.rebuild_from * self.rebuild_seconds) / 60)


@dataclass(slots=True, kw_only=True)
class MultipathDisk:
    """One disk behind several ports."""

    device: str
    """Kernel name of the multipath disk, such as `dm-0`."""
    alias: str
    """Name of the multipath disk below /dev/mapper."""
    paths: tuple[str, ...]
    """Kernel names of the SCSI disks that are its paths."""
    hosts: tuple[int, ...]
    """SCSI host number of each path."""
    pci: tuple[str, ...]
    """PCI function of each path."""
    lun: int
    """Logical unit number."""
    wwn: str
    """World Wide Name, 32 or 16 hex digits."""
    vendor: str
    """SCSI vendor string."""
    product: str
    """SCSI product string."""
    model: str = ""
    """Model of the drive, a key of `DRIVES`; "" for a logical drive of a disk system."""
    rev: str = "0736"
    """SCSI revision."""
    transport: str = "rport"
    """`rport` for Fibre Channel, or `sas`."""
