"""Simulated MegaRAID controller and the legal values of its properties."""

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
"""Property values of a new controller."""

_MOST = {"patrol_delay": 65535, "patrol_drives": 255, "check_delay": 65535, "smart_poll": 65535}
_WORDS = {"patrol_ssds": ("on", "only-mixed", "off")}


def is_legal(key: str, value: str) -> bool:
    """Return True if the firmware accepts `value` for the property `key`."""
    if key in _MOST:
        return value.isascii() and value.isdigit() and len(value) < 6 and int(value) <= _MOST[key]
    return key in DEFAULTS and value in _WORDS.get(key, ("on", "off"))


RATES = {"rebuild": 30, "bgi": 30, "cc": 30, "migrate": 30, "patrol": 30, "flush": 4}
"""Background rates of a new controller in percent; `flush` is the cache flush interval in seconds."""
STORCLI, MEGACLI = "storcli", "MegaCli"
"""Tools that may list a simulated controller."""

FASTPATH = "MegaRAID FastPath"
"""Name of the advanced software option that the activation key enables."""


@dataclass(slots=True, kw_only=True)
class Battery:
    """Battery or capacitor that backs the cache."""

    kind: str = "bbu"
    """`bbu` or `cachevault`."""
    state: str = "optimal"
    """`optimal`, `failed`, `charging`, `learning`."""
    temperature: int = 33
    """Degrees Celsius."""

    @property
    def healthy(self) -> bool:
        """True if the firmware may cache writes."""
        return self.state == "optimal"


@dataclass(slots=True, kw_only=True)
class SimulatedCard:
    """One controller with its drives and virtual drives."""

    number: int
    """Controller number in every tool that lists it."""
    product: str
    """Product name, a key of `calibration.CARDS`."""
    serial: str
    """Serial number."""
    firmware: str
    """Firmware version."""
    package: str
    """Firmware package version."""
    sas_address: str
    """SAS address of the controller, 16 hex digits."""
    bus: int
    """PCI bus number."""
    host: int
    """SCSI host number."""
    cache_mib: int
    """Cache size in MiB."""
    seen_by: tuple[str, ...] = (STORCLI, MEGACLI)
    """Tools that list the controller."""
    battery: Battery | None = None
    """Battery, or None if none is fitted."""
    options: tuple[str, ...] = ("MegaRAID RAID6", "MegaRAID RAID5")
    """Active software options."""
    pending: tuple[str, ...] = ()
    """Options that become active after a reboot."""
    can_fastpath: bool = True
    """True if the firmware supports FastPath."""
    adaptive: bool = True
    """True if the firmware supports adaptive read-ahead."""
    blocks_ssd_cache: bool = False
    """True if the firmware refuses to change the drive cache of a volume on SSDs."""
    slow: float = 0.0
    """Duration of the controller's long commands in seconds."""
    fails_after: float | None = None
    """Total run time of fio jobs in seconds after which the battery fails, for a demonstration; None for never."""
    strip_minimum: int = 8192
    """Smallest strip size in bytes."""
    strip_maximum: int = 1 << 20
    """Largest strip size in bytes."""
    rates: dict[str, int] = field(default_factory=lambda: dict(RATES))
    """Background rates: `rebuild`, `bgi`, `cc`, `migrate`, `patrol` in percent; `flush` in seconds."""
    patrol: str = "auto"
    """Mode of patrol read: `off`, `auto`, `manual`."""
    check: str = "off"
    """Mode of the consistency check: `off`, `sequential`, `concurrent`."""
    perf_mode: int = 0
    """Performance mode: 0 for the best IOPS, 1 for the least latency."""
    properties: dict[str, str] = field(default_factory=dict)
    """Properties that differ from `DEFAULTS`."""
    jbod: bool = False
    """True if JBOD drives are allowed."""
    pinned: bool = False
    """True if the cache keeps unwritten data of a missing array."""
    disks: list[SimulatedDrive] = field(default_factory=list)
    """Drives, ordered by enclosure and slot."""
    volumes: list[Volume] = field(default_factory=list)
    """Virtual drives, ordered by number."""

    @property
    def type(self) -> CardType:
        """Performance data of the controller's model."""
        return CARDS[self.product]

    @property
    def protected(self) -> bool:
        """True if cached writes survive a power cut."""
        return self.battery is not None and self.battery.healthy

    def property(self, key: str) -> str:
        """Return the current value of a property."""
        return self.properties.get(key, DEFAULTS[key])

    def volume(self, number: int) -> Volume | None:
        """Return the virtual drive with this number, or None."""
        return next((volume for volume in self.volumes if volume.number == number), None)

    def disk(self, position: str) -> SimulatedDrive | None:
        """Return the drive at `enclosure:slot`, or None."""
        return next((disk for disk in self.disks if disk.place == position), None)

    def members(self, volume: Volume) -> list[SimulatedDrive]:
        """Return the drives of a virtual drive, in span order."""
        by_position = {disk.place: disk for disk in self.disks}
        return [by_position[position] for position in volume.places if position in by_position]

    def settle(self, now: float) -> None:
        """End rebuilds and initialisations that are complete at time `now`. Cancel planned ones without `auto_bgi`."""
        for disk in self.disks:
            if disk.state == REBUILD and disk.rebuild_share(now) >= 1:
                disk.state = ONLINE
        for volume in self.volumes:
            begin = volume.bgi_since
            if begin is not None and (not volume.auto_bgi if now < begin else volume.initialised_share(now) is None):
                volume.bgi_since = None

    def missing(self, volume: Volume) -> int:
        """Return the number of members of a virtual drive that have no valid data."""
        return sum(disk.state != ONLINE for disk in self.members(volume))

    def state(self, volume: Volume) -> str:
        """Return `optimal`, `degraded`, `partially degraded` (a RAID 6 that can lose one more drive) or `offline`."""
        missing = self.missing(volume)
        if not missing:
            return "optimal"
        spare = {Level.RAID0: 0, Level.RAID6: 2, Level.RAID60: 2}.get(volume.level, 1)
        if missing > spare:
            return "offline"
        return "partially degraded" if missing < spare else "degraded"

    def has_fastpath(self, volume: Volume) -> bool:
        """Return True if the FastPath key is active and the array is optimal. Some policies still prevent FastPath."""
        return self.can_fastpath and FASTPATH in self.options and self.state(volume) == "optimal"

    def layout(self, volume: Volume, now: float) -> WorkloadTarget:
        """Return a virtual drive as a target of the load model, with its effective policies and members at `now`."""
        members = self.members(volume)
        missing = self.missing(volume)
        rebuilding = any(disk.state == REBUILD for disk in members)
        busy = 0.6 * self.rates["rebuild"] / 100 if rebuilding else 0.0
        if volume.initialised_share(now) is not None:
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
            fastpath=self.has_fastpath(volume),
            drive_cache=volume.drive_cache,
            degraded=missing,
            rebuild_share=busy,
            cache_bytes=self.cache_mib * MIB,
            size_bytes=volume.size_bytes,
        )

    def is_on_flash(self, volume: Volume) -> bool:
        """Return True if a member is an SSD."""
        return any(disk.type.media is Media.SSD for disk in self.members(volume))
