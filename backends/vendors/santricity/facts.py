"""What the web services tell of a disk system. Values only; what they do not say is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from backends.model import Health
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSystem:
    """A disk system that the web services manage."""

    door: str
    """Where it was asked: `/santricity:/lab`."""
    id: str
    """What the web services call it in their paths."""
    name: str
    """Its name in addresses: its own, or its id where that cannot be told from others."""
    model: str | None = None
    """Model."""
    firmware: str | None = None
    """Firmware version."""
    wwn: str | None = None
    """World wide name, small hexadecimal digits."""
    serial: str | None = None
    """Serial number of the enclosure."""
    status: str | None = None
    """`optimal`, `needsAttn`, `offline`, ... in its own word."""
    password: str | None = None
    """Of a proxy: whether it knows the system's own password: `valid`, `invalid`, `unknown`."""

    @property
    def out_of_reach(self) -> bool:
        """Whether the proxy has not reached it, so that what it tells of it is old."""
        return self.status in ("offline", "neverContacted", "removed")


@dataclass(frozen=True, slots=True, kw_only=True)
class WebVolume:
    """A volume."""

    id: str
    """What the web services call it."""
    name: str
    """Its name in addresses."""
    wwn: str | None = None
    """World wide name, small hexadecimal digits."""
    level: str | None = None
    """`raid5`, `raidDiskPool`."""
    status: str | None = None
    """`optimal`, ..."""
    action: str | None = None
    """What goes on: `none`, `initializing`."""
    size_bytes: int | None = None
    """Capacity."""
    segment_bytes: int | None = None
    """Bytes on one drive before the next one follows."""
    group: str | None = None
    """Its volume group or pool."""
    owner: str | None = None
    """The controller that serves it."""
    preferred: str | None = None
    """The one that should."""
    thin: bool = False
    """Whether it takes room only when written to."""
    changeable: bool | None = None
    """Whether its cache settings can be changed, as it says itself."""
    cache: Mapping[str, object] = field(default_factory=dict)
    """Fields of its cache, as they came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebGroup:
    """A volume group, or a pool."""

    id: str
    """What volumes and drives call it."""
    name: str | None = None
    """Its label."""
    pool: bool = False
    """Whether stripes are spread over all drives of it."""
    wwn: str | None = None
    """World wide name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebDrive:
    """A drive."""

    place: str
    """`99,4`: tray and slot."""
    group: str | None = None
    """The volume group or pool it belongs to."""
    model: str | None = None
    """Product."""
    serial: str | None = None
    """Serial number."""
    firmware: str | None = None
    """Firmware version."""
    wwn: str | None = None
    """World wide name, small hexadecimal digits."""
    media: str | None = None
    """`hdd`, `ssd`."""
    interface: str | None = None
    """`sas`, `nvme4k`."""
    size_bytes: int | None = None
    """Raw capacity."""
    status: str | None = None
    """`optimal`, `failed`, ..."""
    spare: bool = False
    """Whether it waits to replace another one."""
    health: Health = Health()
    """Its condition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebController:
    """One of its controllers."""

    id: str
    """What volumes call it."""
    place: str
    """`A` or `B`; else its slot."""
    model: str | None = None
    """Model."""
    serial: str | None = None
    """Serial number."""
    firmware: str | None = None
    """Version of its software."""
    status: str | None = None
    """`optimal`, `failed`, `serviceMode`, ..."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebHardware:
    """What a disk system is made of."""

    controllers: tuple[WebController, ...] = ()
    """Controllers."""
    drives: tuple[WebDrive, ...] = ()
    """Drives."""
    batteries: tuple[str, ...] = ()
    """State of each battery, in its own word."""
    serials: tuple[str, ...] = ()
    """Serial numbers of trays and batteries."""

    @property
    def bad_battery(self) -> str | None:
        """The state of a battery that is not well."""
        return next((battery for battery in self.batteries if battery != "optimal"), None)

    @property
    def bad_controller(self) -> WebController | None:
        """A controller that is not well."""
        return next((controller for controller in self.controllers if controller.status not in (None, "optimal")), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebView:
    """A volume of a disk system at one moment."""

    system: WebSystem
    """The disk system."""
    volume: WebVolume
    """The volume."""
    hardware: WebHardware = field(default_factory=WebHardware)
    """What it is made of; empty where nobody asked."""
    frozen: str | None = None
    """Why nothing may be changed (read-only mode)."""
