"""Physical drives of the simulated rack: behind a card, or reached on several paths."""

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
"""Cards leave away what does not fill a GiB, so that drives of different makes can replace each other."""


@dataclass(slots=True, kw_only=True)
class SimulatedDrive:
    """One drive behind a card."""

    enclosure: int | None
    """Enclosure device id; None when it hangs from the card itself."""
    slot: int
    """Slot."""
    did: int
    """Device id."""
    model: str
    """Key of `calibration.DRIVES`."""
    serial: str
    """Serial number."""
    wwn: str
    """16 hex digits."""
    state: str = GOOD
    """One of the states above."""
    group: int | None = None
    """Drive group it is in."""
    temperature: int = 31
    """Degrees Celsius."""
    media_errors: int = 0
    """Counter."""
    other_errors: int = 0
    """Counter."""
    predictive_errors: int = 0
    """Counter."""
    alert: bool = False
    """Whether it has flagged a S.M.A.R.T. alert."""
    rebuild_from: float = 0.0
    """For a rebuilding drive: share done when `rebuild_since` was."""
    rebuild_since: float = 0.0
    """Rack's time."""
    rebuild_seconds: float = 8 * 3600.0
    """How long all of it takes."""

    @property
    def place(self) -> str:
        """`245:1`, `:1` without an enclosure."""
        return f"{'' if self.enclosure is None else self.enclosure}:{self.slot}"

    @property
    def type(self) -> DriveType:
        """What model it is."""
        return DRIVES[self.model]

    @property
    def coerced_bytes(self) -> int:
        """What an array can use of it."""
        return self.type.size_bytes // COERCION * COERCION

    def rebuilt(self, now: float) -> float:
        """Share done of its rebuild, 1 when it is over."""
        return min(1.0, self.rebuild_from + max(0.0, now - self.rebuild_since) / self.rebuild_seconds)

    def rebuild_minutes(self, now: float) -> int:
        """Return how long its rebuild has taken."""
        return int((now - self.rebuild_since + self.rebuild_from * self.rebuild_seconds) / 60)


@dataclass(slots=True, kw_only=True)
class MultipathDisk:
    """One disk behind several ports."""

    device: str
    """Kernel name of the multipath disk, `dm-0`."""
    alias: str
    """Its name below /dev/mapper."""
    paths: tuple[str, ...]
    """Kernel names of the SCSI disks that are its paths."""
    hosts: tuple[int, ...]
    """SCSI host of each."""
    pci: tuple[str, ...]
    """PCI function of each."""
    lun: int
    """Number of the unit."""
    wwn: str
    """World wide name, 32 hex digits or 16."""
    vendor: str
    """SCSI vendor."""
    product: str
    """SCSI product."""
    model: str = ""
    """Key of `DRIVES`; "" for a logical drive of a disk system."""
    rev: str = "0736"
    """Revision."""
    transport: str = "rport"
    """`rport` for Fibre Channel, `sas`."""
