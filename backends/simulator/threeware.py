"""State of a simulated 3ware controller, and the rules of its firmware for units."""

from __future__ import annotations

import zlib
from dataclasses import field, replace

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
"""Unit types as tw_cli's tables show them, by the value of `type=` on the command line."""

_AS_LEVEL = {name: Level.RAID0 if word == "single" else Level(word) for word, name in LEVELS.items()}
_LEAST = {"RAID-0": 2, "RAID-1": 2, "RAID-5": 3, "RAID-10": 4, "RAID-50": 6, "SINGLE": 1}
_UNSTRIPED = ("RAID-1", "SINGLE", "SPARE")
STRIPES = (16, 64, 256)
"""Legal strip sizes in KiB."""

_KEPT_GIB = 0.118
"""GiB of each drive that the controller reserves or loses by rounding (465.64 of 465.76 GB are usable)."""

INITIALISING_SECONDS = 1800.0
"""Duration of a parity initialisation in seconds."""


class CardRefusesError(Exception):
    """Refusal by the firmware."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedPort:
    """One drive at a port."""

    number: int
    """Port number."""
    serial: str
    """Serial number."""
    model: str = "WD5000YS"
    """Model."""
    size_bytes: int = 500_107_862_016
    """Capacity in bytes."""
    status: str = "OK"
    """Status: `OK`, `DEVICE-ERROR`, `SMART-FAILURE`."""


@dataclass(slots=True, kw_only=True)
class SimulatedUnit:
    """One unit."""

    number: int = 0
    """Unit number, which is also the SCSI target."""
    kind: str = "RAID-5"
    """Unit type in tables, such as `RAID-5` or `SPARE`."""
    ports: tuple[int, ...] = (0, 1, 2, 3)
    """Ports of its drives."""
    each: int = 0
    """Number of drives in each group of a RAID-10 or RAID-50."""
    stripe_kib: int = 64
    """Strip size in KiB; ignored for levels without strips."""
    size_gib: float = 1396.93
    """Usable GiB."""
    name: str = ""
    """Unit name."""
    serial: str = "WD500YS0A1B2C3D4E5F6"
    """Serial number of the unit."""
    write: bool = True
    """True if writes are cached."""
    read: str = "intelligent"
    """Read cache: `off`, `basic`, `intelligent`."""
    verify: bool = True
    """True if the controller verifies the unit automatically."""
    state: str = "OK"
    """Status in tables, unless the unit is being initialised."""
    storsave: str = "protect"
    """Storsave policy: `protect`, `balance`, `perform`."""
    queues: bool = True
    """True if the controller sends several commands to a drive at once."""
    begun: float | None = None
    """Start of its initialisation in simulated time, or None if none is running."""
    device: str | None = None
    """Kernel name such as `sdb`, or None if the kernel has no disk for it."""
    content: Content | None = None
    """Contents, or None if it is blank."""
    sequence: int = 0
    """Creation number, by which a new disk that reuses a name is recognised as a different one."""

    @property
    def striped(self) -> bool:
        """True if its level has a strip size."""
        return self.kind not in _UNSTRIPED

    @property
    def level(self) -> Level:
        """RAID level. A single drive counts as a RAID 0 of one drive."""
        return _AS_LEVEL[self.kind]

    @property
    def groups(self) -> int:
        """Number of mirrors or RAID-5 groups that the unit stripes over; 1 for levels without groups."""
        return len(self.ports) // self.each if self.each else 1

    @property
    def size_bytes(self) -> int:
        """Size in bytes as the kernel reports it."""
        return round(self.size_gib * (1 << 30)) // 512 * 512

    def initialised_share(self, now: float) -> float | None:
        """Return the completed share of the initialisation, or None if none is running."""
        done = None if self.begun is None else (now - self.begun) / INITIALISING_SECONDS
        return done if done is not None and done < 1 else None

    def status(self, now: float) -> str:
        """Return the unit's status as tables show it."""
        return self.state if self.initialised_share(now) is None else "INITIALIZING"


def four_drives() -> list[SimulatedPort]:
    """Return four equal drives with different serial numbers."""
    return [SimulatedPort(number=number, serial=f"WD-WCANU1{2000 + 37 * number}") for number in range(4)]


@dataclass(slots=True, kw_only=True)
class SimulatedThreeware:
    """One controller with its units and drives. By default, a 9650SE with a RAID 5 of four drives."""

    number: int = 0
    """Controller number in tw_cli."""
    model: str = "9650SE-4LPML"
    """Model."""
    battery: str = "OK"
    """Battery status: `OK`, `Charging`, `Fault`, or `-` without a battery."""
    ports: list[SimulatedPort] = field(default_factory=four_drives)
    """Drives."""
    units: list[SimulatedUnit] = field(default_factory=lambda: [SimulatedUnit()])
    """Units."""
    cache_mib: int = 512
    """Cache size in MiB."""
    pci: str = "0000:02:00.0"
    """PCI address."""
    host: int = 0
    """SCSI host number."""
    made: int = 0
    """Number of units created so far. Each has its own serial number."""

    def unit(self, number: int) -> SimulatedUnit | None:
        """Return the unit with this number, or None."""
        return next((unit for unit in self.units if unit.number == number), None)

    def unit_of(self, port: int) -> SimulatedUnit | None:
        """Return the unit that a drive belongs to, or None."""
        return next((unit for unit in self.units if port in unit.ports), None)

    def writes_back(self, unit: SimulatedUnit) -> bool:
        """Return True if writes are cached now. If there is a battery, it must be ready."""
        return unit.write and self.battery in ("-", "OK")

    def make(self, kind: str, ports: tuple[int, ...], new: SimulatedUnit, now: float) -> SimulatedUnit:
        """Create a unit on free drives and return it. `new`: its strip size, groups, name and policies.

        Raises CardRefusesError if a drive is not free or the number of drives does not fit.
        """
        drives = {port.number: port for port in self.ports}
        for number in ports:
            if number not in drives:
                raise CardRefusesError(f"Port {number} is not available: no drive.")
            if self.unit_of(number) is not None or drives[number].status != "OK" or ports.count(number) > 1:
                raise CardRefusesError(f"Port {number} is not available.")
        per_group = {"RAID-10": 2, "RAID-50": new.each or 3}.get(kind, 0)
        count = _LEAST[kind] if kind in ("RAID-1", "SINGLE") else max(_LEAST[kind], len(ports))
        if len(ports) != count or (per_group and (len(ports) % per_group or len(ports) // per_group < 2)):
            raise CardRefusesError("Invalid number of drives for the type of unit.")
        drive_gib = min(drives[number].size_bytes for number in ports) / 2**30 - _KEPT_GIB
        number = next(number for number in range(len(self.units) + 1) if self.unit(number) is None)
        unit = replace(new, number=number, kind=kind, ports=ports, each=per_group)
        data = raid.data_drives(unit.level, len(ports), spans=unit.groups, copies=2) or 1
        unit.size_gib = float(f"{drive_gib * data:.6g}")
        self.made += 1
        mark = zlib.crc32(f"{self.made} {new.name}".encode())
        unit.serial = f"{drives[ports[0]].serial.rpartition('-')[2][-8:]:0>8}{mark:08X}{self.made:04X}"
        parity = kind in ("RAID-5", "RAID-50") and (per_group or len(ports)) >= 5
        unit.begun = now if parity else None
        self.units.append(unit)
        self.units.sort(key=lambda unit: unit.number)
        return unit
