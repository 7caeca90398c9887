"""What the rules see of a machine: the inventory, what is set, and small files of the kernel. Values only."""

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
    """Its link, and what the card is made for."""
    port: Link = field(default_factory=Link)
    """What the port above it is made for, in `max_speed` and `max_width`."""
    node: int | None = None
    """NUMA node, None where the machine has none."""
    interrupts: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """CPUs that its interrupts go to, by their numbers; empty where that is not told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A partition."""

    name: str
    """Kernel name."""
    start: int
    """Its first byte on the disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockDevice:
    """A disk of the kernel's, or what it makes of some. None is what the kernel does not say."""

    name: str
    """Kernel name."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Files below /sys/block/NAME by their path there, read."""
    below: tuple[str, ...] = ()
    """Kernel names of what it is made of: disks and partitions."""
    parts: tuple[Partition, ...] = ()
    """Its partitions."""
    queues: int | None = None
    """Hardware queues."""
    driver: str = ""
    """Driver of the device behind it."""

    def number(self, path: str) -> int | None:
        """A file that holds one whole number; None where there is none."""
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
    """A machine as it is at one moment."""

    inventory: Inventory = field(default_factory=Inventory)
    """What there is."""
    readings: Mapping[Target, Mapping[str, Reading]] = field(default_factory=dict)
    """What is set, by target; of one that could not be read nothing."""
    blocks: Mapping[str, BlockDevice] = field(default_factory=dict)
    """The kernel's disks by name."""
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
    """What is mounted here."""
    nodes: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """CPUs of NUMA nodes."""
    cores: int = 0
    """Logical CPUs, 0 if not known."""
    governors: Mapping[str, int] = field(default_factory=dict)
    """Frequency governors with the number of CPUs under each."""
    caps: Mapping[str, str] = field(default_factory=dict)
    """Limits of control groups by the file that holds them."""
    trim_timer: bool = False
    """Whether a timer trims all filesystems."""

    def things(self) -> Iterator[Array | Drive]:
        """Arrays and drives, each once: not the second view of a disk, nor its second path."""
        twins = self.inventory.twins
        yield from self.inventory.arrays
        yield from (drive for drive in self.inventory.drives if drive.target not in twins)

    def now(self, target: Target, key: str) -> str | None:
        """What a setting of a target is set to; None where nobody says."""
        reading = self.readings.get(target, {}).get(key)
        return None if reading is None else reading.now

    def queue_of(self, device: Array | Drive) -> Target:
        """The kernel's disk that it is, for the settings of its queue; itself where it has none."""
        twin = self.inventory.twin(device)
        return device.target if twin is None else twin.target

    def views(self, device: Array | Drive) -> tuple[Array | Drive, ...]:
        """All that the inventory has at its node, itself too."""
        return self.inventory.at(device.device) if device.device is not None else (device,)

    def staged(self, target: Target, key: str, value: str) -> ProposedChange | None:
        """The change of a setting, where it may be made here and now and the value is a legal one."""
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
        """The kernel's disk at its node."""
        return self.blocks.get(kernel_name(device.device)) if device.device is not None else None

    def members(self, array: Array) -> tuple[Drive, ...]:
        """Its drives, as far as they are known."""
        targets = set(array.members)
        return tuple(drive for drive in self.inventory.drives if drive.target in targets)

    def controller(self, device: Array | Drive) -> Controller | None:
        """The card it hangs from."""
        return next(
            (controller for controller in self.inventory.controllers if controller.target == device.controller), None
        )

    def media(self, device: Array | Drive) -> Media:
        """What stores its bits, where all of it is alike."""
        if isinstance(device, Drive):
            return device.media
        kinds = {drive.media for drive in self.members(device)}
        return kinds.pop() if len(kinds) == 1 else Media.UNKNOWN

    def disk_of_part(self, name: str) -> tuple[BlockDevice | None, int]:
        """The disk that a kernel name is or is a partition of, and at which byte of it that begins."""
        if name in self.blocks:
            return self.blocks[name], 0
        for block in self.blocks.values():
            for part in block.parts:
                if part.name == name:
                    return block, part.start
        return None, 0

    def block_called(self, name: str) -> BlockDevice | None:
        """The disk of a kernel name, of a partition's, or of a name below /dev/mapper."""
        mapped_name = name.removeprefix("mapper!")
        mapped = (block for block in self.blocks.values() if block.attributes.get("dm/name") == mapped_name)
        return self.disk_of_part(name)[0] or next(mapped, None)

    def striped_at(self, block: BlockDevice | None) -> Array | None:
        """The array whose strips a disk of the kernel's has: its own, or of what alone lies beneath it.

        A linear volume on one array and what is encrypted on it have its strips; of several below none is taken.
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
        """The array that a disk of the kernel's is; that of a striped layout where there are several."""
        arrays = [array for array in self.inventory.arrays if array.device and kernel_name(array.device) == block.name]
        return next((array for array in arrays if array.strip_bytes), arrays[0] if arrays else None)


def alignment_of(array: Array) -> int | None:
    """Return the bytes that a part of an array ought to begin at a multiple of; None if not known.

    Of levels with parity the full stripe, of one span where there are several; of others the strip.
    """
    if array.strip_bytes is None or array.level not in PARITY:
        return array.strip_bytes
    data = array.data_drives
    if array.level in PARITY_IN_SPANS and data:
        data = data // array.spans if array.spans and data % array.spans == 0 else None
    return full_stripe(array.strip_bytes, data)


def fact(device: Controller | Array | Drive, label: str) -> str | None:
    """The value of a line of facts; None where there is none."""
    return next((fact.value for fact in device.facts if fact.label == label), None)


def fact_number(device: Controller | Array | Drive, label: str) -> float | None:
    """The first number in it: 85 of `85 % (warns at 10 %)`."""
    match = _NUMBER.search(fact(device, label) or "")
    return float(match[0]) if match else None


def fact_limit(device: Controller | Array | Drive, label: str) -> float | None:
    """The second number in it: 10 of `85 % (warns at 10 %)`."""
    numbers = _NUMBER.findall(fact(device, label) or "")
    return float(numbers[1]) if len(numbers) > 1 else None
