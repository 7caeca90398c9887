"""Data that the web services report about a disk system. A field is None if it is not reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from backends.model import Health
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSystem:
    """A disk system that the web services manage."""

    door: str
    """Door that reported it: `/santricity:/lab`."""
    id: str
    """Its id in request paths."""
    name: str
    """Its name in addresses: its own name, or its id if the name is not unique."""
    model: str | None = None
    """Model."""
    firmware: str | None = None
    """Firmware version."""
    wwn: str | None = None
    """World wide name, lower case hexadecimal digits."""
    serial: str | None = None
    """Serial number of the enclosure."""
    status: str | None = None
    """Status as the web services report it: `optimal`, `needsAttn`, `offline`, ..."""
    password: str | None = None
    """Whether a proxy knows the system's password: `valid`, `invalid`, `unknown`."""

    @property
    def out_of_reach(self) -> bool:
        """Return whether the proxy cannot reach the disk system, so that its data is out of date."""
        return self.status in ("offline", "neverContacted", "removed")


@dataclass(frozen=True, slots=True, kw_only=True)
class WebVolume:
    """A volume."""

    id: str
    """Its id in request paths."""
    name: str
    """Its name in addresses."""
    wwn: str | None = None
    """World wide name, lower case hexadecimal digits."""
    level: str | None = None
    """RAID level: `raid5`, `raidDiskPool`."""
    status: str | None = None
    """Status as the web services report it: `optimal`, ..."""
    action: str | None = None
    """Background operation: `none`, `initializing`."""
    size_bytes: int | None = None
    """Capacity in bytes."""
    segment_bytes: int | None = None
    """Segment size in bytes."""
    group: str | None = None
    """Id of its volume group or pool."""
    owner: str | None = None
    """Id of the controller that serves it."""
    preferred: str | None = None
    """Id of its preferred controller."""
    thin: bool = False
    """Whether it is thin-provisioned."""
    changeable: bool | None = None
    """Whether the disk system reports that the volume's cache settings can be changed; None if not reported."""
    cache: Mapping[str, object] = field(default_factory=dict)
    """Fields of its cache, as reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebGroup:
    """A volume group, or a pool."""

    id: str
    """Id that volumes and drives refer to."""
    name: str | None = None
    """Label."""
    pool: bool = False
    """Whether it is a pool, which spreads stripes over all of its drives."""
    wwn: str | None = None
    """World wide name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebDrive:
    """A drive."""

    place: str
    """Tray and slot: `99,4`."""
    group: str | None = None
    """Id of its volume group or pool."""
    model: str | None = None
    """Product name."""
    serial: str | None = None
    """Serial number."""
    firmware: str | None = None
    """Firmware version."""
    wwn: str | None = None
    """World wide name, lower case hexadecimal digits."""
    media: str | None = None
    """Media: `hdd`, `ssd`."""
    interface: str | None = None
    """Interface: `sas`, `nvme4k`."""
    size_bytes: int | None = None
    """Raw capacity in bytes."""
    status: str | None = None
    """Status as the web services report it: `optimal`, `failed`, ..."""
    spare: bool = False
    """Whether it is a hot spare."""
    health: Health = Health()
    """Health of the drive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebController:
    """A controller of a disk system."""

    id: str
    """Id that volumes refer to."""
    place: str
    """`A` or `B`, else its slot."""
    model: str | None = None
    """Model."""
    serial: str | None = None
    """Serial number."""
    firmware: str | None = None
    """Software version."""
    status: str | None = None
    """Status as the web services report it: `optimal`, `failed`, `serviceMode`, ..."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebHardware:
    """Hardware of a disk system."""

    controllers: tuple[WebController, ...] = ()
    """Controllers."""
    drives: tuple[WebDrive, ...] = ()
    """Drives."""
    batteries: tuple[str, ...] = ()
    """Status of each battery, as the web services report it: `optimal`, ..."""
    serials: tuple[str, ...] = ()
    """Serial numbers of trays and batteries."""

    @property
    def bad_battery(self) -> str | None:
        """Return the status of a battery that is not optimal, or None."""
        return next((battery for battery in self.batteries if battery != "optimal"), None)

    @property
    def bad_controller(self) -> WebController | None:
        """Return a controller that is not optimal, or None."""
        return next((controller for controller in self.controllers if controller.status not in (None, "optimal")), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebView:
    """The current state of a volume, with its disk system."""

    system: WebSystem
    """The disk system."""
    volume: WebVolume
    """The volume."""
    hardware: WebHardware = field(default_factory=WebHardware)
    """Hardware of the disk system; empty if it was not read."""
    frozen: str | None = None
    """Why nothing may be changed (read-only mode, root helper); None if changes are allowed."""
