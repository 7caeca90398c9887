"""Data that ssacli or arcconf reports about a controller; the parsers create it, the backend reads it.

A field is None if the tool does not report it. A `ReportedValue` keeps the tool's text and its meaning. Text that is
not understood means `unknown`, never a default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from backends.model import Health, Media
from backends.values import dataclass
from backends.vendors._cards import BackgroundOperation, ReportedArray, ReportedCard, ReportedDrive, ReportedValue


class Family(StrEnum):
    """Firmware family of a controller, on which its settings depend."""

    SMART = "smart"
    """Smart Array and SmartRAID, which have the same firmware with either tool."""
    SERIES = "series"
    """Adaptec series 2 to 8 (aacraid)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerSource:
    """Power source that keeps the cache during a power cut."""

    kind: str
    """`bbu`, `capacitor`, `none`."""
    state: str
    """State as the tool prints it: `OK`, `Recharging`, `ZMM not installed`."""
    healthy: bool | None = None
    """Whether cached writes now survive a power cut; None if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogicalDrive(ReportedArray):
    """A logical drive (arcconf: logical device)."""

    array: str | None = None
    """Letter (ssacli) or number (arcconf) of its array."""
    stripe_bytes: int | None = None
    """Bytes of data in a full stripe."""
    acceleration: ReportedValue | None = None
    """Accelerator in use: `none`, `controller-cache`, `smart-path`. Only for the family SMART."""
    read_cache: ReportedValue | None = None
    """Configured read cache: `on`, `off`. Only for the family SERIES."""
    write_cache: ReportedValue | None = None
    """Configured write policy: `write-through`, `write-back`, `always-write-back`. Only for the family SERIES."""
    writing_back: ReportedValue | None = None
    """Whether writes are cached now, if reported: `on`, `off`. Only for the family SERIES."""
    reading_cached: ReportedValue | None = None
    """Whether reads are cached now, if reported: `on`, `off`. Only for the family SERIES."""
    old_words: bool = False
    """Whether the tool uses the older name `Array Accelerator` for its caching, in output and commands."""
    device: str | None = None
    """Device node that the tool reports: `/dev/sda`."""
    width: int | None = None
    """Number of members that the tool names, including missing ones; None if not reported."""
    ssd_cache: str | None = None
    """The tool's text about an SSD cache for this logical drive (maxCache, SSD Smart Cache); None if there is none."""
    parity_groups: int | None = None
    """Number of parity groups of RAID 50 and 60; None if not reported."""
    jobs: tuple[BackgroundOperation, ...] = ()
    """Background operations on it."""
    lost: str | None = None
    """The tool's text about data that is lost because no member can supply it; None if it reports no loss."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveGroup:
    """Drive group (array) that contains logical drives."""

    name: str
    """Name: `A`, `0`."""
    media: Media = Media.UNKNOWN
    """Media of its drives."""
    smart_path: ReportedValue | None = None
    """Smart Path, which bypasses the cache: `enable`, `disable`. None if it does not apply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BayDrive(ReportedDrive):
    """A physical drive."""

    place: str
    """Place: `2I:1:3` (ssacli), `0:3` (arcconf: channel and device)."""
    array: str | None = None
    """Name of its array; None if it is in none."""
    physical_bytes: int | None = None
    """Physical sector size in bytes."""
    use_raw: str = ""
    """Purpose of the drive as the tool prints it, if reported separately from the state."""
    health: Health = Health()
    """Health of the drive, from its status and error counters."""
    write_cache: ReportedValue | None = None
    """State of the drive's own write cache, if reported: `on`, `off`."""
    device: str | None = None
    """Device node that the tool reports for a drive exposed to the system: `/dev/sda`."""
    slot: str | None = None
    """Location as the tool prints it, if `place` does not contain it."""
    usage_left: str | None = None
    """Remaining life of a flash drive, as the tool prints it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaidCard(ReportedCard):
    """A controller and its settings."""

    number: str
    """Slot (ssacli) or number (arcconf) that the tool's commands expect; "" if unknown."""
    family: Family = Family.SMART
    """Firmware family."""
    state_raw: str | None = None
    """State as the tool prints it."""
    mode: str | None = None
    """`RAID`, `HBA`, `Mixed`, ..."""
    cache_state: str | None = None
    """State of the cache as the tool prints it: `OK`, `Temporarily Disabled`, `Not Configured`."""
    cache_details: str | None = None
    """The tool's reason for the state of the cache."""
    power: PowerSource | None = None
    """Power source of the cache; None if not reported."""
    capacitor_c: int | None = None
    """Temperature of the capacitor or battery in degrees Celsius."""
    cache_module_c: int | None = None
    """Temperature of the cache module in degrees Celsius."""
    values: Mapping[str, ReportedValue] = field(default_factory=dict)
    """Settings of the controller by key, as far as reported."""
    limits: Mapping[str, int] = field(default_factory=dict)
    """Largest values by setting key, if reported."""
    locked: str | None = None
    """The tool's explanation if the controller refuses every change of its configuration; else None."""

    @property
    def passes_through(self) -> bool:
        """Return whether it cannot create arrays, because it is a host bus adapter or in HBA mode."""
        return (self.mode or "").upper().startswith("HBA")


@dataclass(frozen=True, slots=True, kw_only=True)
class CardText:
    """One controller with its arrays and drives, parsed from the output of its tool."""

    card: RaidCard
    """The controller itself."""
    groups: tuple[DriveGroup, ...] = ()
    """Arrays."""
    volumes: tuple[LogicalDrive, ...] = ()
    """Logical drives."""
    drives: tuple[BayDrive, ...] = ()
    """Physical drives."""
    cut: str = ""
    """Clause, without a full stop, that says what is missing from truncated output; "" if it is complete."""
    twice: str = ""
    """Clause that names objects which the output describes more than once, or "". These are refused and not listed."""

    def volume(self, number: int | None) -> LogicalDrive | None:
        """Return the logical drive with this number, or None."""
        return next((volume for volume in self.volumes if volume.number == number), None)

    def group(self, name: str | None) -> DriveGroup | None:
        """Return the array with this name, or None."""
        return next((group for group in self.groups if group.name == name), None)

    def drive(self, bay: str | None) -> BayDrive | None:
        """Return the drive at this place, or None."""
        return next((drive for drive in self.drives if drive.place == bay), None)
