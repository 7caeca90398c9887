"""The state of a simulated 3ware card, and what its firmware makes of free drives, deletes and refuses."""

from __future__ import annotations

import zlib
from dataclasses import field

from backends import raid
from backends.model import Level
from backends.simulator.volume import Content
from backends.values import dataclass

LEVELS = {
    "raid0": "RAID-0",
    "raid1": "RAID-1",
    "raid5": "RAID-5",
    "raid10": "RAID-10",
    "raid50": "RAID-50",
    "single": "SINGLE",
}
"""By the word of `type=`, that of the table of units."""

_AS_LEVEL = {name: Level.RAID0 if word == "single" else Level(word) for word, name in LEVELS.items()}
_LEAST = {"RAID-0": 2, "RAID-1": 2, "RAID-5": 3, "RAID-10": 4, "RAID-50": 6, "SINGLE": 1}
_UNSTRIPED = ("RAID-1", "SINGLE", "SPARE")
STRIPES = (16, 64, 256)
"""KiB that a stripe may have."""

_KEPT_GIB = 0.118
"""What the card keeps of each drive for itself and rounds away (of 465.76 GB are 465.64 usable)."""

INITIALISING_SECONDS = 1800.0
"""How long the initialisation of parity takes."""


class CardRefusesError(Exception):
    """What the firmware says no with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedPort:
    """A drive."""

    number: int
    """Its port."""
    serial: str
    """Serial number."""
    model: str = "WD5000YS"
    """Model."""
    size_bytes: int = 500_107_862_016
    """Capacity."""
    status: str = "OK"
    """`OK`, `DEVICE-ERROR`, `SMART-FAILURE`."""


@dataclass(slots=True, kw_only=True)
class SimulatedUnit:
    """A unit."""

    number: int = 0
    """The card's choice, and the SCSI target."""
    kind: str = "RAID-5"
    """The table's word for its level; `SPARE`."""
    ports: tuple[int, ...] = (0, 1, 2, 3)
    """Its drives."""
    each: int = 0
    """Drives in each group of a RAID-10 or RAID-50."""
    stripe_kib: int = 64
    """Its stripe, where its level has one."""
    size_gib: float = 1396.93
    """Usable."""
    name: str = ""
    """Its name."""
    serial: str = "WD500YS0A1B2C3D4E5F6"
    """Its own serial number."""
    write: bool = True
    """Whether writes are cached."""
    read: str = "intelligent"
    """`off`, `basic`, `intelligent`."""
    verify: bool = True
    """Whether the card verifies it by itself."""
    state: str = "OK"
    """Its status, but for an initialisation that runs."""
    storsave: str = "protect"
    """`protect`, `balance`, `perform`."""
    queues: bool = True
    """Whether drives get several commands at once."""
    begun: float | None = None
    """When its initialisation began, by the rack's clock; None for none."""
    device: str | None = None
    """`sdb`; None while the kernel has none."""
    content: Content | None = None
    """What lies on it, None if it is blank."""
    sequence: int = 0
    """How many were made before it: a new disk under an old name is another one."""

    @property
    def striped(self) -> bool:
        """Whether its level has a stripe."""
        return self.kind not in _UNSTRIPED

    @property
    def level(self) -> Level:
        """In the common vocabulary, a single drive as a RAID 0 of one."""
        return _AS_LEVEL[self.kind]

    @property
    def groups(self) -> int:
        """Units that it is a stripe over; 1 where it is none."""
        return len(self.ports) // self.each if self.each else 1

    @property
    def size_bytes(self) -> int:
        """As the kernel has it."""
        return round(self.size_gib * (1 << 30)) // 512 * 512

    def initialised(self, now: float) -> float | None:
        """Share done of its initialisation; None if none is under way."""
        done = None if self.begun is None else (now - self.begun) / INITIALISING_SECONDS
        return done if done is not None and done < 1 else None

    def status(self, now: float) -> str:
        """The table's word."""
        return self.state if self.initialised(now) is None else "INITIALIZING"


def four_drives() -> list[SimulatedPort]:
    """Alike, with serial numbers that differ."""
    return [SimulatedPort(number=number, serial=f"WD-WCANU1{2000 + 37 * number}") for number in range(4)]


@dataclass(slots=True, kw_only=True)
class SimulatedThreeware:
    """A card with its units and drives; as new, a 9650SE with a RAID 5 of four drives."""

    number: int = 0
    """tw_cli's number of it."""
    model: str = "9650SE-4LPML"
    """Model."""
    battery: str = "OK"
    """`-` for none, `Charging`, `Fault`."""
    ports: list[SimulatedPort] = field(default_factory=four_drives)
    """Its drives."""
    units: list[SimulatedUnit] = field(default_factory=lambda: [SimulatedUnit()])
    """Its units."""
    cache_mib: int = 512
    """Memory of its cache."""
    pci: str = "0000:02:00.0"
    """Its place on the bus."""
    host: int = 0
    """SCSI host."""
    made: int = 0
    """Units that it has made: each has a serial number of its own."""

    def unit(self, number: int) -> SimulatedUnit | None:
        """The one of a number."""
        return next((unit for unit in self.units if unit.number == number), None)

    def unit_of(self, port: int) -> SimulatedUnit | None:
        """The one that has a drive."""
        return next((unit for unit in self.units if port in unit.ports), None)

    def writes_back(self, unit: SimulatedUnit) -> bool:
        """Whether writes are really cached: not while its battery is not ready."""
        return unit.write and self.battery in ("-", "OK")

    def model_of(self, unit: SimulatedUnit) -> str:
        """The model of its drives."""
        return next(port.model for port in self.ports if port.number == unit.ports[0])

    def make(self, kind: str, ports: tuple[int, ...], new: SimulatedUnit, now: float) -> SimulatedUnit:
        """A unit over free drives. `new`: its stripe, groups, name and policies. Raises CardRefusesError."""
        drives = {port.number: port for port in self.ports}
        for number in ports:
            if number not in drives:
                raise CardRefusesError(f"Port {number} is not available: no drive.")
            if self.unit_of(number) is not None or drives[number].status != "OK" or ports.count(number) > 1:
                raise CardRefusesError(f"Port {number} is not available.")
        per_group = {"RAID-10": 2, "RAID-50": new.each or 3}.get(kind, 0)
        fits = len(ports) >= _LEAST[kind] and (kind not in ("RAID-1", "SINGLE") or len(ports) == _LEAST[kind])
        if not fits or (per_group and (len(ports) % per_group or len(ports) // per_group < 2)):
            raise CardRefusesError("Invalid number of drives for the type of unit.")
        gib = min(drives[number].size_bytes for number in ports) / 2**30 - _KEPT_GIB
        unit = SimulatedUnit(number=self._number(), kind=kind, ports=ports, each=per_group, write=new.write)
        unit.stripe_kib, unit.name, unit.storsave = new.stripe_kib, new.name, new.storsave
        data = raid.data_drives(unit.level, len(ports), spans=unit.groups, copies=2) or 1
        unit.size_gib = float(f"{gib * data:.6g}")
        self.made += 1
        mark = zlib.crc32(f"{self.made} {new.name}".encode())
        unit.serial = f"{drives[ports[0]].serial.rpartition('-')[2][-8:]:0>8}{mark:08X}{self.made:04X}"
        parity = kind in ("RAID-5", "RAID-50") and (per_group or len(ports)) >= 5
        unit.begun = now if parity else None
        self.units.append(unit)
        self.units.sort(key=lambda unit: unit.number)
        return unit

    def _number(self) -> int:
        return next(number for number in range(len(self.units) + 1) if self.unit(number) is None)
