"""What ssacli or arcconf says of a card: parsers make these, the backend reads them.

A field is None where the tool did not say. A `ReportedValue` keeps the tool's words beside what they mean; words that
are not understood mean `unknown`, never a default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from backends.model import Health, Media, State
from backends.values import dataclass
from backends.vendors._cards import BackgroundOperation, ReportedArray, ReportedCard, ReportedDrive, ReportedValue


class Family(StrEnum):
    """Which firmware a card has: the settings follow from it."""

    SMART = "smart"
    """Smart Array and SmartRAID: one firmware, whichever tool speaks to it."""
    SERIES = "series"
    """Adaptec series 2 to 8 (aacraid)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerSource:
    """What keeps the cache without power."""

    kind: str
    """`bbu`, `capacitor`, `none`."""
    state: str
    """The tool's words: `OK`, `Recharging`, `ZMM not installed`."""
    healthy: bool | None = None
    """Whether written data outlive a power cut now; None if it cannot be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogicalDrive(ReportedArray):
    """A logical drive (arcconf: logical device)."""

    array: str | None = None
    """Letter (ssacli) or number (arcconf) of its array."""
    stripe_bytes: int | None = None
    """Bytes of data in a whole stripe."""
    acceleration: ReportedValue | None = None
    """`none`, `controller-cache`, `smart-path`: which one serves it. Family SMART."""
    read_cache: ReportedValue | None = None
    """`on`, `off`. Family SERIES."""
    write_cache: ReportedValue | None = None
    """`write-through`, `write-back`, `always-write-back`: as set. Family SERIES."""
    writing_back: ReportedValue | None = None
    """`on`, `off`: whether writes are cached now, where the tool says so. Family SERIES."""
    reading_cached: ReportedValue | None = None
    """`on`, `off`: whether reads are cached now, where the tool says so. Family SERIES."""
    old_words: bool = False
    """The tool calls its caching `Array Accelerator`, and knows it by that name."""
    device: str | None = None
    """`/dev/sda` as the tool says."""
    serials: tuple[str, ...] = ()
    """Serial numbers of its members, where those are told and not the places."""
    width: int | None = None
    """Members that are named, missing ones too, where that is told."""
    ssd_cache: str | None = None
    """The tool's words for an SSD cache in front of it (maxCache, SSD Smart Cache); None where it names none."""
    parity_groups: int | None = None
    """Groups with a parity of their own, of RAID 50 and 60; None where it is not told."""
    jobs: tuple[BackgroundOperation, ...] = ()
    """Background work on it."""
    lost: str | None = None
    """The tool's words for data that no member can supply any more; None where it reports none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveGroup:
    """An array: drives on which logical drives lie."""

    name: str
    """`A`, `0`."""
    state: State = State.UNKNOWN
    """State."""
    state_raw: str = ""
    """The tool's words for it."""
    media: Media = Media.UNKNOWN
    """What its drives are."""
    smart_path: ReportedValue | None = None
    """`enable`, `disable`: the short way past the cache. None where it does not apply."""
    free_bytes: int | None = None
    """Room without a logical drive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BayDrive(ReportedDrive):
    """A physical drive."""

    place: str
    """`2I:1:3` (ssacli), `0:3` (arcconf: channel and device)."""
    array: str | None = None
    """Its array's name, None if it is in none."""
    physical_bytes: int | None = None
    """Physical sector."""
    use_raw: str = ""
    """What it is used for, in the tool's words, where these are not those of its state."""
    health: Health = Health()
    """Its condition."""
    write_cache: ReportedValue | None = None
    """`on`, `off`: its own cache, where the tool says so."""
    device: str | None = None
    """`/dev/sda` as the tool says, of a drive that the card hands on."""
    slot: str | None = None
    """Where it sits, in the tool's words, where its place does not say."""
    usage_left: str | None = None
    """What is left of a flash drive's life, in the tool's words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaidCard(ReportedCard):
    """A card, and how its settings stand."""

    number: str
    """Slot (ssacli) or number of the controller (arcconf), as its tool is told; "" where it is not known."""
    family: Family = Family.SMART
    """Its firmware."""
    state_raw: str | None = None
    """The tool's words for its state."""
    mode: str | None = None
    """`RAID`, `HBA`, `Mixed`, ..."""
    cache_state: str | None = None
    """The tool's words: `OK`, `Temporarily Disabled`, `Not Configured`."""
    cache_details: str | None = None
    """Why, in the tool's words."""
    power: PowerSource | None = None
    """What keeps the cache; None if the tool says nothing of it."""
    capacitor_c: int | None = None
    """Temperature of the capacitor or battery in degrees Celsius."""
    cache_module_c: int | None = None
    """Temperature of the cache module in degrees Celsius."""
    values: Mapping[str, ReportedValue] = field(default_factory=dict)
    """Settings of the card by their keys, as far as it reports them."""
    limits: Mapping[str, int] = field(default_factory=dict)
    """Largest values by the keys of settings, where the card says so."""
    locked: str | None = None
    """The tool's words, where the card refuses every change of its configuration."""

    @property
    def passes_through(self) -> bool:
        """Whether it makes no arrays: a host bus adapter, or a card in that mode."""
        return (self.mode or "").upper().startswith("HBA")


@dataclass(frozen=True, slots=True, kw_only=True)
class CardText:
    """All that was said of one card."""

    card: RaidCard
    """The card itself."""
    groups: tuple[DriveGroup, ...] = ()
    """Arrays."""
    volumes: tuple[LogicalDrive, ...] = ()
    """Logical drives."""
    drives: tuple[BayDrive, ...] = ()
    """Physical drives."""
    cut: str = ""
    """What says that this is half of what there is to say, without a full stop; "" where it is all."""
    twice: str = ""
    """Why nothing is believed of something that the answer names more than once, as a clause; it is not listed."""

    def volume(self, number: int | None) -> LogicalDrive | None:
        """The logical drive of a number."""
        return next((volume for volume in self.volumes if volume.number == number), None)

    def group(self, name: str | None) -> DriveGroup | None:
        """The array of a name."""
        return next((group for group in self.groups if group.name == name), None)

    def drive(self, bay: str | None) -> BayDrive | None:
        """The drive at a place."""
        return next((drive for drive in self.drives if drive.place == bay), None)
