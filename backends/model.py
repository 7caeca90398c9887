"""The words of storage: what is there, and how it stands. Values only, no I/O.

Unknown is `None` (the tool or kernel did not say). Sizes are bytes, times seconds; units end at the parser.
Strings from devices are already cleaned (backends.text.clean).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Self

from backends.identity import Identity, Signature, Use
from backends.values import dataclass

KERNEL = "block"
"""The backend whose drives are the kernel's disks."""

MAPPER = "dm"
"""The backend whose arrays are device-mapper's own; another vendor's at the same node is the primary."""

_FOLDERS = re.compile(r"/dev/(?:mapper/|zvol/)?")
"""Where the links of what has a name of its own lie."""


UNRECOVERABLE = "Unrecoverable media errors"
"""Label of the fact of an array that has lost data although it still serves the rest."""


class Level(StrEnum):
    """RAID levels, in the words of the command line's JSON."""

    RAID0 = "raid0"
    RAID1 = "raid1"
    RAID4 = "raid4"
    RAID5 = "raid5"
    RAID6 = "raid6"
    RAID10 = "raid10"
    RAID50 = "raid50"
    RAID60 = "raid60"
    JBOD = "jbod"
    CONCAT = "concat"
    CACHED = "cached"
    """One disk with a cache on another before it."""
    THIN_POOL = "thin-pool"
    """The space that thin volumes take theirs from."""
    THIN = "thin"
    """A volume that takes its space from such a pool as it is written."""
    VDO_POOL = "vdo-pool"
    """The store of blocks, each kept once and compressed, that a VDO volume is written to."""
    VDO = "vdo"
    """A volume on such a store."""
    SNAPSHOT = "snapshot"
    """What another volume was, as long as the store of what changed since has room."""
    RAIDZ1 = "raidz1"
    RAIDZ2 = "raidz2"
    RAIDZ3 = "raidz3"
    DRAID1 = "draid1"
    """ZFS's parity over all disks with distributed spares; the number is that of the parity blocks."""
    DRAID2 = "draid2"
    DRAID3 = "draid3"
    ZVOL = "zvol"
    """A volume of a ZFS pool."""
    FILESYSTEM = "filesystem"
    """A filesystem of a ZFS pool."""
    CRYPT = "crypt"
    """An encrypted volume."""
    MULTIPATH = "multipath"
    """A disk on several paths, as one."""
    REPLICATED = "replicated"
    """A disk that other hosts have a copy of (DRBD)."""
    MAPPED = "mapped"
    """Another target of device-mapper, or one whose table nobody may read."""
    UNKNOWN = "unknown"


class State(StrEnum):
    """State of an array or a drive."""

    OPTIMAL = "optimal"
    DEGRADED = "degraded"
    REBUILDING = "rebuilding"
    FAILED = "failed"
    OFFLINE = "offline"
    MISSING = "missing"
    SPARE = "spare"
    UNASSIGNED = "unassigned"
    FOREIGN = "foreign"
    ONLINE = "online"
    UNKNOWN = "unknown"


GONE = (State.FAILED, State.OFFLINE, State.MISSING)
"""States in which nothing is served."""

BROKEN = (*GONE, State.DEGRADED, State.REBUILDING)
"""States of what is not whole, the gravest first."""


class Media(StrEnum):
    """What stores the bits."""

    HDD = "hdd"
    SSD = "ssd"
    NVME = "nvme"
    VIRTUAL = "virtual"
    RAM = "ram"
    UNKNOWN = "unknown"


class Scope(StrEnum):
    """What kind of thing a target is."""

    CONTROLLER = "controller"
    ARRAY = "array"
    DRIVE = "drive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Something that has settings; `address` is the backend's own (`sda`, `/c0/v1`), opaque to the rest."""

    backend: str
    """The vendor's name: `block`, `megaraid`, ..."""
    address: str
    """Unique within the backend and stable for as long as the machine runs."""
    scope: Scope = Scope.DRIVE
    """Controller, array or drive."""

    def __str__(self) -> str:
        return f"{self.backend}:{self.address}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Background work of a controller or array."""

    kind: str
    """`patrol-read`, `consistency-check`, `initialisation`, `rebuild`, `resync`, `reshape`, ..."""
    progress: float | None = None
    """0..1, None if not reported."""
    paused: bool = False
    """Whether it has been interrupted and waits for someone to resume it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One line of the facts panel that has no field of its own."""

    label: str
    """Shown as is: `Rotational`, `Firmware`."""
    value: str
    """Shown as is."""

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[str, str | None]]) -> tuple[Self, ...]:
        """Return a fact for each row of label and value that has a value."""
        return tuple(cls(label=label, value=value) for label, value in rows if value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The condition of a drive as its controller or the drive itself reports it.

    Each field is None where the tool does not report it, which is not the same as 0 or False.
    """

    predicts_failure: bool | None = None
    """Whether the drive or its controller says that the drive will fail: SMART status, "Predictive Failure"."""
    media_errors: int | None = None
    """Number of reads or writes that the medium failed."""
    other_errors: int | None = None
    """Number of errors that are not of the medium: the link, aborted commands, timeouts."""
    predictive_errors: int | None = None
    """Number of times that the drive announced its failure to the controller."""
    wear_percent: float | None = None
    """Share of the rated endurance that is used, in percent; may exceed 100."""
    temperature: float | None = None
    """Temperature in degrees Celsius."""
    temperature_limit: float | None = None
    """Temperature from which the drive itself warns, in degrees Celsius."""
    locked: bool | None = None
    """Whether the drive is encrypted and locked, so that nothing on it can be read."""
    foreign: bool | None = None
    """Whether the drive holds the configuration of another controller."""
    copyback: bool | None = None
    """Whether the controller is copying this drive's data to or from another drive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive:
    """A disk: physical, virtual, loop or zram."""

    target: Target
    """How settings and benchmarks address it."""
    controller: Target | None = None
    """The controller it hangs from, None if none is known."""
    array: Target | None = None
    """The array it is a member of."""
    model: str | None = None
    """Vendor and model as reported."""
    serial: str | None = None
    """Serial number."""
    firmware: str | None = None
    """Firmware revision."""
    wwn: str | None = None
    """World wide name, EUI-64 or NGUID, with its prefix (`naa.`, `eui.`)."""
    media: Media = Media.UNKNOWN
    """What stores the bits."""
    interface: str | None = None
    """`virtio`, `sata`, `sas`, `nvme`, `usb`, `loop`, `zram`, ..."""
    size_bytes: int | None = None
    """Capacity."""
    logical_block: int | None = None
    """Logical sector in bytes."""
    physical_block: int | None = None
    """Physical sector in bytes."""
    state: State = State.UNKNOWN
    """State as its controller or kernel sees it."""
    health: Health = Health()
    """Its condition, as far as it is reported."""
    device: str | None = None
    """`/dev/sda`; None if the kernel has no node for it."""
    paths: tuple[str, ...] = ()
    """Nodes of all paths to it, in their order, where the kernel has it more than once; else empty."""
    read_only: bool = False
    """The kernel refuses writes."""
    scheduler: str | None = None
    """I/O scheduler in force, None if the device has none."""
    identity: Identity | None = None
    """For the guard and the journal."""
    uses: tuple[Use, ...] = ()
    """What uses it or a partition of it, as far as can be seen without opening it."""
    above: tuple[str, ...] = ()
    """What stands on it at any height, in words: `md3`, `vg0/mail`, `mounted on /srv`."""
    signatures: tuple[Signature, ...] = ()
    """What lies on it, as far as udev or lsblk knows; the guard probes anew."""
    partitions: tuple[str, ...] = ()
    """Kernel names of its partitions."""
    backing: str | None = None
    """Backing file of a loop device."""
    facts: tuple[Fact, ...] = ()
    """Anything else worth a line."""

    @property
    def shown_elsewhere(self) -> bool:
        """Whether this is not the first of several paths, at which the disk is shown."""
        return bool(self.paths) and self.device != self.paths[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """A RAID array or virtual drive."""

    target: Target
    """How settings and benchmarks address it."""
    controller: Target | None = None
    """The controller it lives on; None for software RAID."""
    name: str | None = None
    """Its given name."""
    level: Level = Level.UNKNOWN
    """RAID level."""
    state: State = State.UNKNOWN
    """State."""
    size_bytes: int | None = None
    """Usable capacity."""
    strip_bytes: int | None = None
    """Bytes per member per stripe (chunk)."""
    data_drives: int | None = None
    """Members that carry data in one stripe, over all spans."""
    why: str = ""
    """Why it is not in order, in the backend's words; "" where these say no more than the state."""
    spans: int | None = None
    """Spans that the stripe lies over, 1 where there is only one; None if not known."""
    device: str | None = None
    """Block device node."""
    link: str | None = None
    """A path to the node that stays the same where the kernel numbers nodes anew at every boot: `/dev/vg0/db`."""
    folder: str | None = None
    """Where a filesystem is mounted, so that files there lie on it; its path, to be compared and not cleaned."""
    members: tuple[Target, ...] = ()
    """Member drives."""
    identity: Identity | None = None
    """For the guard and the journal."""
    uses: tuple[Use, ...] = ()
    """What uses it."""
    above: tuple[str, ...] = ()
    """What stands on it at any height, as of a drive; empty where only its uses tell."""
    tasks: tuple[Task, ...] = ()
    """Background work under way."""
    facts: tuple[Fact, ...] = ()
    """Anything else worth a line."""

    @property
    def called(self) -> str | None:
        """What administrators call it instead of a node that has another number at the next boot: `vg0/db`."""
        return None if self.link is None else _FOLDERS.sub("", self.link)


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """What keeps a write cache alive without power."""

    kind: str
    """`bbu`, `cachevault`, `none`."""
    state: str
    """`optimal`, `failed`, `learning`, `missing`, `unknown`."""
    temperature: float | None = None
    """Temperature of the battery or capacitor in degrees Celsius, None if not reported."""
    voltage: float | None = None
    """Voltage of the battery or capacitor in volts, None if not reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """An activated or activatable option of a controller."""

    name: str
    """The vendor's name for it."""
    state: str
    """`active`, `trial`, `not activated`, `unknown`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Controller:
    """A RAID controller or host bus adapter."""

    target: Target
    """How settings address it."""
    vendor: str
    """The backend that manages it."""
    model: str | None = None
    """Model."""
    serial: str | None = None
    """Serial number."""
    firmware: str | None = None
    """Firmware version."""
    driver: str | None = None
    """Kernel driver and version."""
    pci: str | None = None
    """PCI address, `0000:03:00.0`; None if it has none or the tool does not say."""
    cache_bytes: int | None = None
    """Size of its cache."""
    protection: Protection | None = None
    """Battery or capacitor."""
    features: tuple[Feature, ...] = ()
    """Activated options."""
    tasks: tuple[Task, ...] = ()
    """Background work under way."""
    facts: tuple[Fact, ...] = ()
    """Anything else worth a line."""


Device = Controller | Array | Drive
"""Anything that an inventory lists."""

THING_KINDS: Mapping[type, str] = {Controller: "controller", Array: "array", Drive: "drive"}
"""What a thing is called in files, JSON, metrics and selectors."""


def kind_of(device: Device) -> str:
    """Return `controller`, `array` or `drive`."""
    return THING_KINDS[type(device)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something that could not be read; the rest of the inventory stands."""

    where: str
    """The backend or device."""
    message: str
    """What happened."""
    hint: str = ""
    """What to do next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """All that one backend, or the whole machine, has."""

    controllers: tuple[Controller, ...] = ()
    """Controllers."""
    arrays: tuple[Array, ...] = ()
    """Arrays."""
    drives: tuple[Drive, ...] = ()
    """Drives."""
    problems: tuple[Problem, ...] = ()
    """What went wrong while looking."""

    @property
    def devices(self) -> tuple[Device, ...]:
        """Return controllers, arrays and drives, in this order."""
        return (*self.controllers, *self.arrays, *self.drives)

    def merge(self, other: Inventory) -> Inventory:
        """Both inventories in one."""
        return Inventory(
            controllers=self.controllers + other.controllers,
            arrays=self.arrays + other.arrays,
            drives=self.drives + other.drives,
            problems=self.problems + other.problems,
        )

    def find(self, address: str) -> Device | None:
        """The thing whose target prints as `address` (`block:sda`), or whose device node or lasting path it is.

        `block:dm-3` is whatever the kernel calls so.
        """
        for device in self.devices:
            if str(device.target) == address:
                return device
        backend, _, name = address.partition(":")
        node = {KERNEL: f"/dev/{name}", MAPPER: f"/dev/mapper/{name}"}.get(backend, address)
        return next(iter(self.at(node)), None) or next((array for array in self.arrays if array.link == node), None)

    def lasting(self, device: str) -> str:
        """A device node as a person reads it: by a path that stays where it has another number at the next boot."""
        return next((array.link for array in self.arrays if array.device == device and array.link), device)

    def at(self, device: str) -> tuple[Array | Drive, ...]:
        """Everything that this device node is: an array, a vendor's drive, the kernel's disk, in this order."""
        nodes: tuple[Array | Drive, ...] = (*self.arrays, *self.drives)
        here = (node for node in nodes if node.device is not None and node.device == device)
        return tuple(sorted(here, key=lambda node: node.target.backend == KERNEL))

    def holding(self, path: str) -> Array | None:
        """The filesystem that a file lies on; None where it is none of these."""
        holders = (
            array
            for array in self.arrays
            if array.folder is not None and path.startswith(array.folder.rstrip("/") + "/")
        )
        return max(holders, key=lambda holder: len(holder.folder or ""), default=None)

    def twin(self, device: Device) -> Drive | None:
        """The kernel's disk that an array or a vendor's drive is, whose queue settings are its own.

        None for the kernel's disks themselves and for what has no device node.
        """
        if isinstance(device, Controller) or device.device is None or device.target.backend == KERNEL:
            return None
        return next((d for d in self.drives if d.target.backend == KERNEL and d.device == device.device), None)

    @property
    def twins(self) -> frozenset[Target]:
        """What is shown with another thing and not by itself.

        The kernel's disk where a vendor has an array or a drive at its node, a vendor's drive where there is an array,
        and a disk at any but the first of its paths.
        """
        arrays = {array.device for array in self.arrays if array.device is not None}
        vendors = {d.device for d in self.drives if d.device is not None and d.target.backend != KERNEL}
        return frozenset(
            d.target
            for d in self.drives
            if d.device in arrays or (d.target.backend == KERNEL and d.device in vendors) or d.shown_elsewhere
        )
