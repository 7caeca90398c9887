"""Input of the rules: the inventory, the settings, and the contents of small kernel files. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field

from app.features.check.finding import ProposedChange
from backends.model import Array, Controller, Drive, Inventory, Media, Target
from backends.pci import Link
from backends.raid import PARITY, PARITY_IN_SPANS, full_stripe
from backends.settings import Reading
from backends.topology import kernel_name
from backends.topology.mounts import Mount
from backends.values import dataclass

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class PciSlot:
    """The PCI function of a controller or NVMe drive, and the port above it."""

    link: Link = field(default_factory=Link)
    """Current speed and width of the link, and the maximum that the device supports."""
    port: Link = field(default_factory=Link)
    """Link of the port above the device. Its maximum is in `max_speed` and `max_width`."""
    node: int | None = None
    """NUMA node of the device; None if the machine reports none."""
    interrupts: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """CPUs to which each interrupt of the device goes, by interrupt number; empty if not reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockDevice:
    """A block device of the kernel. A value is None if the kernel does not report it."""

    name: str
    """Kernel name of the device."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Contents of files below /sys/block/NAME, by relative path."""
    below: tuple[str, ...] = ()
    """Kernel names of the disks and partitions below a stacked device."""
    parts: Mapping[str, int] = field(default_factory=dict)
    """First byte of each partition on the disk, by the partition's kernel name."""
    queues: int | None = None
    """Number of hardware queues; None if the kernel does not report it."""
    driver: str = ""
    """Driver of the underlying device."""

    def number(self, path: str) -> int | None:
        """Return the whole number in the file with this relative path; None if it contains none."""
        text = self.attributes.get(path, "")
        return int(text) if text.lstrip("-").isdigit() and text.isascii() else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskLink:
    """The SATA or SAS link of a disk, as the kernel reports it. Speeds are in Gb/s, or None if not reported."""

    now: float | None = None
    """Speed that drive and port have negotiated."""
    port: float | None = None
    """Highest speed that the port supports."""
    allowed: float | None = None
    """Highest speed that the kernel allows. It lowers this limit after link errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSnapshot:
    """The state of a machine at one moment."""

    inventory: Inventory = field(default_factory=Inventory)
    """Controllers, arrays and drives of the machine."""
    readings: Mapping[Target, Mapping[str, Reading]] = field(default_factory=dict)
    """Values of the settings by target and key. Targets that could not be read are missing."""
    blocks: Mapping[str, BlockDevice] = field(default_factory=dict)
    """Block devices by kernel name."""
    slots: Mapping[str, PciSlot] = field(default_factory=dict)
    """PCI functions of controllers and NVMe drives, by PCI address."""
    nvme: Mapping[str, str] = field(default_factory=dict)
    """PCI addresses of NVMe controllers by their kernel names."""
    nvme_states: Mapping[str, str] = field(default_factory=dict)
    """States of NVMe controllers, such as `live` or `dead`, by their kernel names."""
    links: Mapping[str, DiskLink] = field(default_factory=dict)
    """SATA and SAS links by the kernel names of the disks."""
    filesystem_errors: Mapping[str, int] = field(default_factory=dict)
    """Number of errors that each filesystem has counted, by the kernel name of its device (btrfs: by its UUID)."""
    resync_limit: int | None = None
    """System-wide limit for the resync speed of md arrays in KiB/s; None if not reported."""
    policies: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """I/O policy and number of paths of each NVMe subsystem, by its name."""
    mounts: tuple[Mount, ...] = ()
    """Mounted filesystems."""
    nodes: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """CPUs by NUMA node."""
    cores: int = 0
    """Number of logical CPUs; 0 if unknown."""
    governors: Mapping[str, int] = field(default_factory=dict)
    """Number of CPUs by frequency governor."""
    caps: Mapping[str, str] = field(default_factory=dict)
    """I/O limits of control groups, by the path of the file."""
    trim_timer: bool = False
    """Whether fstrim.timer, which trims all filesystems, is enabled."""

    def things(self) -> Iterator[Array | Drive]:
        """Yield each array and drive once. A disk that the inventory lists several times is not repeated."""
        yield from self.inventory.arrays
        yield from self.drives()

    def drives(self) -> Iterator[Drive]:
        """Yield each drive once. A disk that the inventory lists several times is not repeated."""
        twins = self.inventory.twins
        return (drive for drive in self.inventory.drives if drive.target not in twins)

    def now(self, target: Target, key: str) -> str | None:
        """Return the configured value of a setting; None if it is not reported."""
        reading = self.readings.get(target, {}).get(key)
        return None if reading is None else reading.now

    def queue_of(self, device: Array | Drive) -> Target:
        """Return the target that has the request queue of a device in Linux: its kernel disk, or the device itself."""
        twin = self.inventory.twin(device)
        return device.target if twin is None else twin.target

    def views(self, device: Array | Drive) -> tuple[Array | Drive, ...]:
        """Return all inventory entries with the device's node, including the device itself."""
        return self.inventory.at(device.device) if device.device is not None else (device,)

    def staged(self, target: Target, key: str, value: str) -> ProposedChange | None:
        """Return the change that sets a setting to `value`; None if that is impossible now or not allowed."""
        reading = self.readings.get(target, {}).get(key)
        if reading is None or not reading.availability.available:
            return None
        if reading.choices and value not in {choice.value for choice in reading.choices}:
            return None
        if reading.span is not None and not (
            value.isdigit() and reading.span.minimum <= int(value) <= reading.span.maximum
        ):
            return None
        return ProposedChange(target=target, key=key, value=value)

    def block_of(self, device: Array | Drive) -> BlockDevice | None:
        """Return the kernel's block device of a device; None if there is none."""
        return self.blocks.get(kernel_name(device.device)) if device.device is not None else None

    def members(self, array: Array) -> tuple[Drive, ...]:
        """Return the members of an array that the inventory contains as drives."""
        targets = set(array.members)
        return tuple(drive for drive in self.inventory.drives if drive.target in targets)

    def controller(self, device: Array | Drive) -> Controller | None:
        """Return the controller of a device; None if there is none."""
        return next(
            (controller for controller in self.inventory.controllers if controller.target == device.controller), None
        )

    def media(self, device: Array | Drive) -> Media:
        """Return the media type of a drive, or of the drives of an array; UNKNOWN if they differ."""
        if isinstance(device, Drive):
            return device.media
        kinds = {drive.media for drive in self.members(device)}
        return kinds.pop() if len(kinds) == 1 else Media.UNKNOWN

    def disk_of_part(self, name: str) -> tuple[BlockDevice | None, int]:
        """Return the disk with this kernel name, or with a partition of this name, and the partition's first byte.

        For a disk, the first byte is 0. For an unknown name, the disk is None.
        """
        if name in self.blocks:
            return self.blocks[name], 0
        for block in self.blocks.values():
            if name in block.parts:
                return block, block.parts[name]
        return None, 0

    def find_block(self, name: str) -> BlockDevice | None:
        """Return the block device with this kernel, partition or device-mapper name; None if there is none."""
        mapped_name = name.removeprefix("mapper!")
        mapped = (block for block in self.blocks.values() if block.attributes.get("dm/name") == mapped_name)
        return self.disk_of_part(name)[0] or next(mapped, None)

    def striped_at(self, block: BlockDevice | None) -> Array | None:
        """Return the array that determines the strip size of a block device; None if there is none.

        This is the array at the device itself, or at the only device below it. So a linear volume or an encrypted
        device on one array has the strips of that array. With several devices below, there is no such array.
        """
        visited: set[str] = set()
        while block is not None and block.name not in visited:
            visited.add(block.name)
            array = self.array_at(block)
            if array is not None and array.strip_bytes:
                return array
            block = self.disk_of_part(block.below[0])[0] if len(block.below) == 1 else None
        return None

    def array_at(self, block: BlockDevice) -> Array | None:
        """Return the array whose node this block device is. Of several, return one with a known strip size."""
        arrays = [array for array in self.inventory.arrays if array.device and kernel_name(array.device) == block.name]
        return next((array for array in arrays if array.strip_bytes), arrays[0] if arrays else None)


def alignment_of(array: Array) -> int | None:
    """Return the unit in bytes to which I/O on an array should be aligned; None if unknown.

    For parity levels, this is the full stripe (of one span if there are several). For other levels, it is the strip.
    """
    if array.strip_bytes is None or array.level not in PARITY:
        return array.strip_bytes
    data = array.data_drives
    if array.level in PARITY_IN_SPANS and data:
        data = data // array.spans if array.spans and data % array.spans == 0 else None
    return full_stripe(array.strip_bytes, data)


def fact(device: Controller | Array | Drive, label: str) -> str | None:
    """Return the value of the fact with this label; None if the device has no such fact."""
    return next((fact.value for fact in device.facts if fact.label == label), None)


def fact_number(device: Controller | Array | Drive, label: str) -> float | None:
    """Return the first number in a fact, such as 85 in `85 % (warns at 10 %)`; None if there is no number."""
    match = _NUMBER.search(fact(device, label) or "")
    return float(match[0]) if match else None


def fact_limit(device: Controller | Array | Drive, label: str) -> float | None:
    """Return the second number in a fact, such as 10 in `85 % (warns at 10 %)`; None if there is no second one."""
    numbers = _NUMBER.findall(fact(device, label) or "")
    return float(numbers[1]) if len(numbers) > 1 else None
