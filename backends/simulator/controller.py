"""A controller of the simulated rack, and the values that its properties may have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from backends.model import Level, Media
from backends.simulator.calibration import CARDS, MIB, CardType
from backends.simulator.disk import ONLINE, REBUILD, SimulatedDrive
from backends.simulator.queueing_model import WorkloadTarget
from backends.simulator.volume import Volume
from backends.values import dataclass

DEFAULTS: Mapping[str, str] = {
    "ncq": "on",
    "cache_bypass": "on",
    "auto_rebuild": "on",
    "copyback": "on",
    "copyback_smart_hdd": "off",
    "copyback_smart_ssd": "off",
    "load_balance": "on",
    "patrol_ssds": "off",
    "patrol_delay": "168",
    "patrol_drives": "255",
    "check_delay": "168",
    "smart_poll": "300",
}
"""Values of a new controller."""

_MOST = {"patrol_delay": 65535, "patrol_drives": 255, "check_delay": 65535, "smart_poll": 65535}
_WORDS = {"patrol_ssds": ("on", "only-mixed", "off")}


def allows(key: str, value: str) -> bool:
    """Return whether the firmware takes this value of a property."""
    if key in _MOST:
        return value.isascii() and value.isdigit() and len(value) < 6 and int(value) <= _MOST[key]
    return key in DEFAULTS and value in _WORDS.get(key, ("on", "off"))


RATES = {"rebuild": 30, "bgi": 30, "cc": 30, "migrate": 30, "patrol": 30, "flush": 4}
"""Rates of background work in percent, and seconds between two flushes of the cache, of a new controller."""
STORCLI, MEGACLI = "storcli", "MegaCli"
"""The tools that may see a card."""

FASTPATH = "MegaRAID FastPath"
"""The option that an activation key brings."""


@dataclass(slots=True, kw_only=True)
class Battery:
    """What keeps the cache alive."""

    kind: str = "bbu"
    """`bbu` or `cachevault`."""
    state: str = "optimal"
    """`optimal`, `failed`, `charging`, `learning`."""
    temperature: int = 33
    """Degrees Celsius."""

    @property
    def healthy(self) -> bool:
        """Whether writes may be cached."""
        return self.state == "optimal"


@dataclass(slots=True, kw_only=True)
class SimulatedCard:
    """One controller with all that hangs from it."""

    number: int
    """Its number in every tool that sees it."""
    product: str
    """Key of `calibration.CARDS`."""
    serial: str
    """Serial number."""
    firmware: str
    """Firmware version."""
    package: str
    """Firmware package."""
    sas_address: str
    """16 hex digits."""
    bus: int
    """PCI bus."""
    host: int
    """SCSI host."""
    cache_mib: int
    """Memory."""
    seen_by: tuple[str, ...] = (STORCLI, MEGACLI)
    """Tools that see it."""
    battery: Battery | None = None
    """None if none is fitted."""
    options: tuple[str, ...] = ("MegaRAID RAID6", "MegaRAID RAID5")
    """Active software options."""
    pending: tuple[str, ...] = ()
    """Options that a restart will make active."""
    can_fastpath: bool = True
    """Whether the firmware has FastPath at all."""
    adaptive: bool = True
    """Whether it knows adaptive read-ahead."""
    blocks_ssd_cache: bool = False
    """Whether it refuses to change the drive cache of a volume on SSDs."""
    slow: float = 0.0
    """Seconds that its long answers take."""
    fails_after: float | None = None
    """Seconds of fio on its volumes after which its battery fails, to show what becomes of a run; None: it does not."""
    strip_minimum: int = 8192
    """Smallest strip."""
    strip_maximum: int = 1 << 20
    """Largest strip."""
    rates: dict[str, int] = field(default_factory=lambda: dict(RATES))
    """`rebuild`, `bgi`, `cc`, `migrate`, `patrol` in per cent; `flush` in seconds."""
    patrol: str = "auto"
    """`off`, `auto`, `manual`."""
    check: str = "off"
    """`off`, `sequential`, `concurrent`."""
    perf_mode: int = 0
    """0 or 1."""
    properties: dict[str, str] = field(default_factory=dict)
    """Properties that are not as in `DEFAULTS`."""
    jbod: bool = False
    """Whether it may pass a drive on as it is."""
    pinned: bool = False
    """Whether it keeps unwritten data of an array that is missing."""
    disks: list[SimulatedDrive] = field(default_factory=list)
    """Drives, in the order of their places."""
    volumes: list[Volume] = field(default_factory=list)
    """Virtual drives, in the order of their numbers."""

    @property
    def type(self) -> CardType:
        """What model it is."""
        return CARDS[self.product]

    @property
    def protected(self) -> bool:
        """Whether the cache survives a power cut."""
        return self.battery is not None and self.battery.healthy

    def property(self, key: str) -> str:
        """Return the present value of a property."""
        return self.properties.get(key, DEFAULTS[key])

    def volume(self, number: int) -> Volume | None:
        """The volume of this number."""
        return next((volume for volume in self.volumes if volume.number == number), None)

    def disk(self, position: str) -> SimulatedDrive | None:
        """The drive at `enclosure:slot`."""
        return next((disk for disk in self.disks if disk.place == position), None)

    def members(self, volume: Volume) -> list[SimulatedDrive]:
        """Drives of a volume, in span order."""
        by_position = {disk.place: disk for disk in self.disks}
        return [by_position[position] for position in volume.places if position in by_position]

    def settle(self, now: float) -> None:
        """Bring what goes on by itself up to date: a rebuild that is over, an initialisation that is over."""
        for disk in self.disks:
            if disk.state == REBUILD and disk.rebuilt(now) >= 1:
                disk.state = ONLINE
        for volume in self.volumes:
            begins = volume.bgi_since
            if begins is not None and (not volume.auto_bgi if now < begins else volume.initialised(now) is None):
                volume.bgi_since = None

    def missing(self, volume: Volume) -> int:
        """Members that hold no valid data."""
        return sum(disk.state != ONLINE for disk in self.members(volume))

    def state(self, volume: Volume) -> str:
        """`optimal`, `degraded`, `partially degraded` (RAID6 with one drive to spare), `offline`."""
        missing = self.missing(volume)
        if not missing:
            return "optimal"
        spare = {Level.RAID0: 0, Level.RAID6: 2, Level.RAID60: 2}.get(volume.level, 1)
        if missing > spare:
            return "offline"
        return "partially degraded" if missing < spare else "degraded"

    def fastpath_ready(self, volume: Volume) -> bool:
        """Whether the key is there and the array is sound; the volume's policies decide the rest."""
        return self.can_fastpath and FASTPATH in self.options and self.state(volume) == "optimal"

    def layout(self, volume: Volume, now: float) -> WorkloadTarget:
        """The volume as the load model sees it: policies in force, members that are there."""
        members = self.members(volume)
        missing = self.missing(volume)
        rebuilding = any(disk.state == REBUILD for disk in members)
        busy = 0.6 * self.rates["rebuild"] / 100 if rebuilding else 0.0
        if volume.initialised(now) is not None:
            busy = max(busy, 0.4 * self.rates["bgi"] / 100)
        return WorkloadTarget(
            card=self.type,
            drive=members[0].type,
            level=volume.level,
            drives=max(1, len(members) - missing),
            spans=volume.spans,
            strip_bytes=volume.strip_bytes,
            write_back=volume.writes_back(self.protected),
            read_ahead=volume.read_ahead != "none",
            cached=volume.io_policy == "cached",
            fastpath=self.fastpath_ready(volume),
            drive_cache=volume.drive_cache,
            degraded=missing,
            rebuild_share=busy,
            cache_bytes=self.cache_mib * MIB,
            size_bytes=volume.size_bytes,
        )

    def is_on_flash(self, volume: Volume) -> bool:
        """Whether its members are SSDs."""
        return any(disk.type.media is Media.SSD for disk in self.members(volume))
