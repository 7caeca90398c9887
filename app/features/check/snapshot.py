"""Input of the rules: the inventory, the settings, and small files of the kernel. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field

from app.core.presentation.attention_list import ProposedChange
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
    """A PCI function of a controller or of an NVMe drive."""

    link: Link = field(default_factory=Link)
    """Present speed of its link, and the maximum of the device."""
    port: Link = field(default_factory=Link)
    """Maximum of the port above it, in `max_speed` and `max_width`."""
    node: int | None = None
    """NUMA node; None if the machine has none."""
    interrupts: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """CPUs of its interrupts by interrupt number; empty if not reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockDevice:
    """A block device of the kernel. None if the kernel does not report a value."""

    name: str
    """Kernel name."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Contents of files below /sys/block/NAME, by relative path."""
    below: tuple[str, ...] = ()
    """Kernel names of the disks and partitions that it consists of."""
    parts: Mapping[str, int] = field(default_factory=dict)
    """First bytes of its partitions on the disk, by kernel name."""
    queues: int | None = None
    """Number of hardware queues."""
    driver: str = ""
    """Driver of the underlying device."""

    def number(self, path: str) -> int | None:
        """Return the whole number in a file; None if there is none."""
        text = self.attributes.get(path, "")
        return int(text) if text.lstrip("-").isdigit() and text.isascii() else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskLink:
    """The SATA or SAS link of a disk as the kernel reports it, in Gb/s. None if not reported."""

    now: float | None = None
    """Negotiated speed."""
    port: float | None = None
    """Highest speed of the port."""
    allowed: float | None = None
    """Highest speed that the kernel still tries; it lowers this after errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSnapshot:
    """The state of a machine at one moment."""

    inventory: Inventory = field(default_factory=Inventory)
    """Its inventory."""
    readings: Mapping[Target, Mapping[str, Reading]] = field(default_factory=dict)
    """Settings by target; nothing for an unreadable target."""
    blocks: Mapping[str, BlockDevice] = field(default_factory=dict)
    """Block devices by kernel name."""
    slots: Mapping[str, PciSlot] = field(default_factory=dict)
    """PCI functions by address."""
    nvme: Mapping[str, str] = field(default_factory=dict)
    """PCI addresses of NVMe controllers by their kernel names."""
    nvme_states: Mapping[str, str] = field(default_factory=dict)
    """States of NVMe controllers by their kernel names: `live`, `dead`, ..."""
    links: Mapping[str, DiskLink] = field(default_factory=dict)
    """SATA and SAS links by the kernel names of the disks."""
    filesystem_errors: Mapping[str, int] = field(default_factory=dict)
    """Numbers of errors that filesystems have counted, by the kernel name of their device."""
    resync_limit: int | None = None
    """Highest resync speed of all md arrays in KiB/s; None if not reported."""
    policies: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """I/O policy and number of paths of NVMe subsystems by name."""
    mounts: tuple[Mount, ...] = ()
    """Mounted filesystems."""
    nodes: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """CPUs by NUMA node."""
    cores: int = 0
    """Number of logical CPUs; 0 if unknown."""
    governors: Mapping[str, int] = field(default_factory=dict)
    """Number of CPUs by frequency governor."""
    caps: Mapping[str, str] = field(default_factory=dict)
    """I/O limits of control groups, by file."""
    trim_timer: bool = False
    """Whether a timer trims all filesystems."""

    def things(self) -> Iterator[Array | Drive]:
        """Yield each array and drive once: without the second view of a disk, and without further paths."""
        yield from self.inventory.arrays
        yield from self.drives()

    def drives(self) -> Iterator[Drive]:
        """Yield each drive once: without the second view of a disk, and without further paths."""
        twins = self.inventory.twins
        return (drive for drive in self.inventory.drives if drive.target not in twins)

    def now(self, target: Target, key: str) -> str | None:
        """Return the value of a setting; None if it is not reported."""
        reading = self.readings.get(target, {}).get(key)
        return None if reading is None else reading.now

    def queue_of(self, device: Array | Drive) -> Target:
        """Return the kernel disk with the request queue of a device; the device itself if there is none."""
        twin = self.inventory.twin(device)
        return device.target if twin is None else twin.target

    def views(self, device: Array | Drive) -> tuple[Array | Drive, ...]:
        """Return all inventory entries with the same device node, including this one."""
        return self.inventory.at(device.device) if device.device is not None else (device,)

    def staged(self, target: Target, key: str, value: str) -> ProposedChange | None:
        """Return the change of a setting; None if it cannot be made now or the value is not legal."""
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
        """Return the block device at a device's node."""
        return self.blocks.get(kernel_name(device.device)) if device.device is not None else None

    def members(self, array: Array) -> tuple[Drive, ...]:
        """Return the known drives of an array."""
        targets = set(array.members)
        return tuple(drive for drive in self.inventory.drives if drive.target in targets)

    def controller(self, device: Array | Drive) -> Controller | None:
        """Return the controller of a device."""
        return next(
            (controller for controller in self.inventory.controllers if controller.target == device.controller), None
        )

    def media(self, device: Array | Drive) -> Media:
        """Return the media of a device; UNKNOWN if its drives differ."""
        if isinstance(device, Drive):
            return device.media
        kinds = {drive.media for drive in self.members(device)}
        return kinds.pop() if len(kinds) == 1 else Media.UNKNOWN

    def disk_of_part(self, name: str) -> tuple[BlockDevice | None, int]:
        """Return the disk with this kernel name or partition, and the partition's first byte on it."""
        if name in self.blocks:
            return self.blocks[name], 0
        for block in self.blocks.values():
            if name in block.parts:
                return block, block.parts[name]
        return None, 0

    def find_block(self, name: str) -> BlockDevice | None:
        """Return the disk with this kernel name, with this partition, or with this name below /dev/mapper."""
        mapped_name = name.removeprefix("mapper!")
        mapped = (block for block in self.blocks.values() if block.attributes.get("dm/name") == mapped_name)
        return self.disk_of_part(name)[0] or next(mapped, None)

    def striped_at(self, block: BlockDevice | None) -> Array | None:
        """Return the array whose strips a block device has: its own, or that of its only lower device.

        A linear volume on one array, and an encrypted device on it, have its strips. With several lower devices, there
        is none.
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
        """Return the array that a block device is; the striped one if there are several."""
        arrays = [array for array in self.inventory.arrays if array.device and kernel_name(array.device) == block.name]
        return next((array for array in arrays if array.strip_bytes), arrays[0] if arrays else None)


def alignment_of(array: Array) -> int | None:
    """Return the bytes to a multiple of which I/O on an array should be aligned; None if unknown.

    This is the full stripe for parity levels (of one span if there are several), and the strip for others.
    """
    if array.strip_bytes is None or array.level not in PARITY:
        return array.strip_bytes
    data = array.data_drives
    if array.level in PARITY_IN_SPANS and data:
        data = data // array.spans if array.spans and data % array.spans == 0 else None
    return full_stripe(array.strip_bytes, data)


def fact(device: Controller | Array | Drive, label: str) -> str | None:
    """Return the value of a fact; None if there is none of that label."""
    return next((fact.value for fact in device.facts if fact.label == label), None)


def fact_number(device: Controller | Array | Drive, label: str) -> float | None:
    """Return the first number in a fact: 85 in `85 % (warns at 10 %)`; None without one."""
    match = _NUMBER.search(fact(device, label) or "")
    return float(match[0]) if match else None


def fact_limit(device: Controller | Array | Drive, label: str) -> float | None:
    """Return the second number in a fact: 10 in `85 % (warns at 10 %)`; None without one."""
    numbers = _NUMBER.findall(fact(device, label) or "")
    return float(numbers[1]) if len(numbers) > 1 else None
