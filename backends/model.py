"""The storage model: devices and their state. Values only, no I/O.

`None` means unknown: the tool or kernel did not report it. Sizes are in bytes, times in seconds; parsers convert all
units. Strings from devices are already cleaned (backends.text.clean).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Self

from backends.identity import Identity, Signature, Use
from backends.values import dataclass

KERNEL = "block"
"""Backend whose drives are the kernel's disks."""

MAPPER = "dm"
"""Backend that reports device-mapper's own arrays.

If another backend reports an array at the same node, device-mapper's array is merged into that one.
"""

_FOLDERS = re.compile(r"/dev/(?:mapper/|zvol/)?")
"""Pattern of the folder in front of the lasting name of a device in `Array.link`."""


UNRECOVERABLE = "Unrecoverable media errors"
"""Label of the `Fact` of an array that has lost some of its data but still serves the rest."""


class Level(StrEnum):
    """RAID levels by their names in JSON."""

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
    """A disk with a cache on another disk."""
    THIN_POOL = "thin-pool"
    """The space from which thin volumes are allocated."""
    THIN = "thin"
    """A volume whose space is allocated from a thin pool when it is written."""
    VDO_POOL = "vdo-pool"
    """The store of deduplicated and compressed blocks of a VDO volume."""
    VDO = "vdo"
    """A volume in a VDO pool."""
    SNAPSHOT = "snapshot"
    """An earlier state of another volume. It becomes invalid when its space for the blocks changed since is full."""
    RAIDZ1 = "raidz1"
    RAIDZ2 = "raidz2"
    RAIDZ3 = "raidz3"
    DRAID1 = "draid1"
    """ZFS parity over all disks with distributed spares. The digit is the number of parity blocks."""
    DRAID2 = "draid2"
    DRAID3 = "draid3"
    ZVOL = "zvol"
    """A volume of a ZFS pool."""
    FILESYSTEM = "filesystem"
    """A filesystem of a ZFS pool."""
    CRYPT = "crypt"
    """An encrypted volume."""
    MULTIPATH = "multipath"
    """A disk with several paths."""
    REPLICATED = "replicated"
    """A disk that is replicated to other hosts (DRBD)."""
    MAPPED = "mapped"
    """Any other device of device-mapper, or one whose table is unreadable."""
    UNKNOWN = "unknown"


IO_SUSPENDED = "suspended: all I/O waits"
"""End of `Array.why` for an array whose I/O the kernel has suspended. All its members may be present."""


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
"""States in which the device serves no I/O."""

BROKEN = (*GONE, State.DEGRADED, State.REBUILDING)
"""States of incomplete arrays and failed devices, most severe first."""


class Media(StrEnum):
    """Media types."""

    HDD = "hdd"
    SSD = "ssd"
    NVME = "nvme"
    VIRTUAL = "virtual"
    RAM = "ram"
    UNKNOWN = "unknown"


class Scope(StrEnum):
    """Kinds of targets."""

    CONTROLLER = "controller"
    ARRAY = "array"
    DRIVE = "drive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The address of a device that has settings. Only its backend interprets `address` (`sda`, `/c0/v1`)."""

    backend: str
    """Name of the vendor: `block`, `megaraid`, ..."""
    address: str
    """Unique within the backend and stable while the machine runs."""
    scope: Scope = Scope.DRIVE
    """Controller, array or drive."""

    def __str__(self) -> str:
        return f"{self.backend}:{self.address}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A background task of a controller or array."""

    kind: str
    """`patrol-read`, `consistency-check`, `initialisation`, `rebuild`, `resync`, `reshape`, ..."""
    progress: float | None = None
    """Completed part, from 0 to 1; None if not reported."""
    paused: bool = False
    """Whether it is interrupted until someone resumes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact about a device for which the model has no field."""

    label: str
    """Label, displayed as it is: `Rotational`, `Firmware`."""
    value: str
    """Value, displayed as it is."""

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[str, str | None]]) -> tuple[Self, ...]:
        """Return a fact for each pair of label and value, except for pairs whose value is None or empty."""
        return tuple(cls(label=label, value=value) for label, value in rows if value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The condition of a drive as its controller or the drive itself reports it.

    A field is None if the tool does not report it, which is not the same as 0 or False.
    """

    predicts_failure: bool | None = None
    """Whether the drive or its controller says that the drive will fail: SMART status, "Predictive Failure"."""
    media_errors: int | None = None
    """Number of reads or writes that failed because of the medium."""
    other_errors: int | None = None
    """Number of errors with other causes than the medium: link errors, aborted commands, timeouts."""
    predictive_errors: int | None = None
    """Number of times that the drive reported to the controller that it is about to fail."""
    wear_percent: float | None = None
    """Used part of the rated endurance in percent; may exceed 100."""
    temperature: float | None = None
    """Temperature in degrees Celsius."""
    temperature_limit: float | None = None
    """Temperature in degrees Celsius from which the drive itself issues a warning."""
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
    """Address for settings and benchmarks."""
    controller: Target | None = None
    """Controller that it is connected to, None if unknown."""
    array: Target | None = None
    """Array that it is a member of; None if none is known."""
    model: str | None = None
    """Vendor and model as reported."""
    serial: str | None = None
    """Serial number."""
    firmware: str | None = None
    """Firmware revision."""
    wwn: str | None = None
    """World wide name, EUI-64 or NGUID, with its prefix (`naa.`, `eui.`)."""
    media: Media = Media.UNKNOWN
    """Media type."""
    interface: str | None = None
    """`virtio`, `sata`, `sas`, `nvme`, `usb`, `loop`, `zram`, ..."""
    size_bytes: int | None = None
    """Capacity."""
    logical_block: int | None = None
    """Logical sector size in bytes."""
    physical_block: int | None = None
    """Physical sector size in bytes."""
    state: State = State.UNKNOWN
    """State as reported by its controller or the kernel."""
    health: Health = Health()
    """Health, as far as it is reported."""
    device: str | None = None
    """`/dev/sda`; None if the kernel has no node for it."""
    paths: tuple[str, ...] = ()
    """Nodes of all paths to it, in order, if the kernel has several; else empty."""
    read_only: bool = False
    """Whether the kernel refuses writes."""
    scheduler: str | None = None
    """Active I/O scheduler; None if the device has none."""
    identity: Identity | None = None
    """Identity for the guard and the journal."""
    uses: tuple[Use, ...] = ()
    """Uses of the disk or its partitions that are visible without opening it."""
    above: tuple[str, ...] = ()
    """Dependents at any level above it: `md3`, `vg0/mail`, `mounted on /srv`."""
    signatures: tuple[Signature, ...] = ()
    """Content according to udev or lsblk. The guard probes the content again before a write."""
    partitions: tuple[str, ...] = ()
    """Kernel names of its partitions."""
    backing: str | None = None
    """Backing file of a loop device."""
    facts: tuple[Fact, ...] = ()
    """Other facts."""

    @property
    def shown_elsewhere(self) -> bool:
        """Return whether the disk is shown under another of its paths. It is shown only under the first one."""
        return bool(self.paths) and self.device != self.paths[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """A RAID array or virtual drive."""

    target: Target
    """Address for settings and benchmarks."""
    controller: Target | None = None
    """Its controller; None for software RAID."""
    name: str | None = None
    """Name given by the administrator."""
    level: Level = Level.UNKNOWN
    """RAID level."""
    state: State = State.UNKNOWN
    """State."""
    size_bytes: int | None = None
    """Usable capacity."""
    strip_bytes: int | None = None
    """Strip size in bytes (md: chunk)."""
    data_drives: int | None = None
    """Number of members that hold data in one stripe, over all spans."""
    why: str = ""
    """Reason why the array is not optimal, as the tool words it; "" if it is optimal or the tool gives only a state."""
    spans: int | None = None
    """Number of spans in a stripe, 1 for arrays without spans; None if unknown."""
    device: str | None = None
    """Block device node."""
    link: str | None = None
    """Path to the node that stays the same even if the kernel renumbers nodes at a reboot: `/dev/vg0/db`."""
    folder: str | None = None
    """Mount point of a filesystem. Special characters are kept, because it is compared with paths of files."""
    members: tuple[Target, ...] = ()
    """Member drives."""
    identity: Identity | None = None
    """Identity for the guard and the journal."""
    uses: tuple[Use, ...] = ()
    """Uses of the array."""
    above: tuple[str, ...] = ()
    """Dependents at any level above it, as for a drive; empty if only `uses` lists them."""
    tasks: tuple[Task, ...] = ()
    """Running background work."""
    facts: tuple[Fact, ...] = ()
    """Other facts."""

    @property
    def called(self) -> str | None:
        """Return the name that administrators use, `vg0/db`, if the node may change at a reboot; else None."""
        return None if self.link is None else _FOLDERS.sub("", self.link)


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """Protection of a write cache against power loss."""

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
    """An option of a controller that is or can be activated."""

    name: str
    """Vendor's name for it."""
    state: str
    """`active`, `trial`, `not activated`, `unknown`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Controller:
    """A RAID controller or host bus adapter."""

    target: Target
    """Address for settings."""
    vendor: str
    """Backend that manages it."""
    model: str | None = None
    """Model."""
    serial: str | None = None
    """Serial number."""
    firmware: str | None = None
    """Firmware version."""
    driver: str | None = None
    """Kernel driver and version."""
    pci: str | None = None
    """PCI address, `0000:03:00.0`; None if it has none or the tool does not report it."""
    cache_bytes: int | None = None
    """Cache size in bytes."""
    protection: Protection | None = None
    """Battery or capacitor."""
    features: tuple[Feature, ...] = ()
    """Options that are activated or can be activated."""
    tasks: tuple[Task, ...] = ()
    """Running background work."""
    facts: tuple[Fact, ...] = ()
    """Other facts."""


Device = Controller | Array | Drive
"""Any device of an inventory."""

THING_KINDS: Mapping[type, str] = {Controller: "controller", Array: "array", Drive: "drive"}
"""Names of device kinds in files, JSON, metrics and selectors."""


def kind_of(device: Device) -> str:
    """Return `controller`, `array` or `drive`."""
    return THING_KINDS[type(device)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A part of the inventory that could not be read; the rest is valid."""

    where: str
    """Backend or device."""
    message: str
    """Description of the failure as a sentence."""
    hint: str = ""
    """Next step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """The devices of one backend, or of the whole machine."""

    controllers: tuple[Controller, ...] = ()
    """Controllers."""
    arrays: tuple[Array, ...] = ()
    """Arrays."""
    drives: tuple[Drive, ...] = ()
    """Drives."""
    problems: tuple[Problem, ...] = ()
    """Problems that occurred during the scan."""

    @property
    def devices(self) -> tuple[Device, ...]:
        """Return controllers, arrays and drives, in this order."""
        return (*self.controllers, *self.arrays, *self.drives)

    @property
    def block_devices(self) -> tuple[Array | Drive, ...]:
        """Return arrays and drives, in this order."""
        return (*self.arrays, *self.drives)

    def merge(self, other: Inventory) -> Inventory:
        """Return both inventories in one."""
        return Inventory(
            controllers=self.controllers + other.controllers,
            arrays=self.arrays + other.arrays,
            drives=self.drives + other.drives,
            problems=self.problems + other.problems,
        )

    def find(self, address: str) -> Device | None:
        """Return the device with this address (`block:sda`), device node or lasting path; None if there is none.

        `block:dm-3` finds the device with that kernel name, whatever its backend.
        """
        for device in self.devices:
            if str(device.target) == address:
                return device
        backend, _, name = address.partition(":")
        node = {KERNEL: f"/dev/{name}", MAPPER: f"/dev/mapper/{name}"}.get(backend, address)
        return next(iter(self.at(node)), None) or next((array for array in self.arrays if array.link == node), None)

    def lasting(self, device: str) -> str:
        """Return the path to display for a device node.

        This is its lasting path if the node may change at a reboot, else the node itself.
        """
        return next((array.link for array in self.arrays if array.device == device and array.link), device)

    def at(self, device: str) -> tuple[Array | Drive, ...]:
        """Return all devices at a node: first arrays, then drives of vendors, then the kernel's disk."""
        here = (node for node in self.block_devices if node.device is not None and node.device == device)
        return tuple(sorted(here, key=lambda node: node.target.backend == KERNEL))

    def holding(self, path: str) -> Array | None:
        """Return the filesystem that contains a file; None if it is not in the inventory."""
        holders = (
            array
            for array in self.arrays
            if array.folder is not None and path.startswith(array.folder.rstrip("/") + "/")
        )
        return max(holders, key=lambda holder: len(holder.folder or ""), default=None)

    def twin(self, device: Device) -> Drive | None:
        """Return the kernel's disk of an array or a vendor's drive, which has the queue settings.

        None for the kernel's disks themselves and for devices without a node.
        """
        if isinstance(device, Controller) or device.device is None or device.target.backend == KERNEL:
            return None
        return next((d for d in self.drives if d.target.backend == KERNEL and d.device == device.device), None)

    @property
    def twins(self) -> frozenset[Target]:
        """Return the targets that are shown with another device and not on their own.

        These are: a kernel disk if a vendor has an array or a drive at its node, a vendor's drive if there is an array
        at its node, and every path to a disk except the first.
        """
        arrays = {array.device for array in self.arrays if array.device is not None}
        vendors = {d.device for d in self.drives if d.device is not None and d.target.backend != KERNEL}
        return frozenset(
            d.target
            for d in self.drives
            if d.device in arrays or (d.target.backend == KERNEL and d.device in vendors) or d.shown_elsewhere
        )
