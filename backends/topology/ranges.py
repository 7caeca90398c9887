"""Sector ranges that devices use on lower devices, and whether two devices may share a sector. No I/O.

Two devices are compared on the highest device that both are built on. There the kernel's tables show whether their
ranges are disjoint. Lower levels (members of an array, data of a thin pool) are not compared, because there that
device keeps disjoint ranges apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from backends.topology.device_mapper import SECTOR, DeviceRange, is_mapped
from backends.topology.loop_backing import Backing
from backends.topology.stacking import container_kind, is_volume
from backends.topology.tree import Node, Tree, number
from backends.values import dataclass

_FOREVER = 1 << 64
"""Sector number beyond the end of any device."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """A range of sectors of one device."""

    on: str
    """Kernel name of the device."""
    start: int = 0
    """First sector of 512 bytes."""
    end: int | None = None
    """First sector after the range; None for the end of the device."""
    slot: str | None = None
    """ID of the user to which an allocator (thin pool, ZFS pool, bcache set) gives its blocks.

    None without an allocator.
    """
    only_read: bool = False
    """Whether the upper device only reads this range."""


class RangeMap:
    """The layers of all block devices of a host, with their ranges."""

    def __init__(
        self, tree: Tree, mapped: Mapping[str, tuple[DeviceRange, ...]], backings: Mapping[str, Backing]
    ) -> None:
        """Take the block devices, device-mapper's tables by kernel name, and the backings of loop and zram devices."""
        self._tree = tree
        self._mapped = mapped
        self._backings = backings
        self._heights: dict[str, int] = {}
        self._below: dict[str, tuple[str, ...]] = {}

    def layers(self, name: str) -> frozenset[str]:
        """Return the kernel names of a device and of all devices below it."""
        names: set[str] = set()
        waiting = [name]
        while waiting:
            name = waiting.pop()
            if name not in names:
                names.add(name)
                waiting += self._lower(name)
        return frozenset(names)

    def meeting(self, name: str, other: str) -> str | None:
        """Return the kernel name of a device on which `name` and `other` may share a sector; None if there is none.

        Ranges that `name` only reads do not count, because `name` does not write there. Ranges that `other` reads
        count.
        """
        return self._meeting((Extent(on=name),), (Extent(on=other),))

    def _meeting(self, first: Sequence[Extent], second: Sequence[Extent]) -> str | None:
        """Return the device on which the ranges `first` of one device overlap the ranges `second` of another,
        or None.
        """
        mine, other = first[0].on, second[0].on
        if mine == other:
            return mine if any_overlap(first, second) else None
        # The higher of two devices cannot be below the other, so no common lower device is skipped.
        higher = first if self._height(mine) >= self._height(other) else second
        for lower, extents in self._expand_all(higher).items():
            if self._height(lower) >= self._height(higher[0].on):  # a cycle, which no kernel allows: assume overlap
                return lower
            value = self._meeting(extents, second) if higher is first else self._meeting(first, extents)
            if value is not None:
                return value
        return None

    def _height(self, name: str) -> int:
        """Return the number of layers below a device."""
        if name not in self._heights:
            self._heights[name] = 0  # ends the recursion in a cycle
            self._heights[name] = max((1 + self._height(lower) for lower in self._lower(name)), default=0)
        return self._heights[name]

    def _lower(self, name: str) -> tuple[str, ...]:
        """Return the kernel names of the devices directly below a device."""
        if name not in self._below:
            self._below[name] = tuple(dict.fromkeys(extent.on for extent in self._expand(Extent(on=name))))
        return self._below[name]

    def _expand_all(self, extents: Sequence[Extent]) -> dict[str, list[Extent]]:
        """Return the ranges one layer below `extents`, by kernel name of the lower device."""
        ranges: dict[str, list[Extent]] = {}
        for extent in extents:
            for lower in self._expand(extent):
                ranges.setdefault(lower.on, []).append(lower)
        return ranges

    def _expand(self, extent: Extent) -> Iterator[Extent]:
        """Yield the ranges on lower devices that one range occupies, one layer below it."""
        node = self._tree.nodes.get(extent.on)
        if node is None:
            return
        if node.parent is not None:
            yield _shift_extent(extent, node.parent, number(node.attributes.get("start")), node)
        elif (backing := self._backings.get(node.name)) is not None:
            lower = self._tree.by_devno(backing.devno) if backing.devno is not None else None
            if lower is not None:
                offset = number(node.attributes.get("loop/offset"))
                yield _shift_extent(extent, lower.name, None if offset is None else offset // SECTOR, node)
        elif is_mapped(node.name) and node.name in self._mapped:
            for stretch in self._mapped[node.name]:
                yield from self._of_stretch(extent, stretch)
        else:
            yield from (_of_slave(node, slave, extent.only_read) for slave in node.slaves)

    def _of_stretch(self, extent: Extent, stretch: DeviceRange) -> Iterator[Extent]:
        lower = self._tree.by_devno(stretch.on)
        if lower is None:
            return
        start, end = stretch.start, None if stretch.sectors is None else stretch.start + stretch.sectors
        if stretch.at is not None and end is not None:  # sectors keep their order, so a part may suffice
            shift = stretch.start - stretch.at
            start = max(start, extent.start + shift)
            end = end if extent.end is None else min(end, extent.end + shift)
            if start >= end:
                return
        only_read = extent.only_read or stretch.read
        yield Extent(on=lower.name, start=start, end=end, slot=stretch.thin, only_read=only_read)


def any_overlap(first: Sequence[Extent], second: Sequence[Extent]) -> bool:
    """Return whether a range of `first` that is written shares a sector with a range of `second`.

    All are on one device.
    """
    written = [extent for extent in first if not extent.only_read]
    slots = {extent.slot for extent in written}, {extent.slot for extent in second}
    if None not in slots[0] | slots[1]:
        return not slots[0].isdisjoint(slots[1])
    sides = [(extent, 0) for extent in written] + [(extent, 1) for extent in second]
    reach = [0, 0]  # end of the ranges of each side so far
    for extent, side in sorted(sides, key=lambda pair: pair[0].start):
        if extent.start < reach[1 - side]:
            return True
        reach[side] = max(reach[side], _FOREVER if extent.end is None else extent.end)
    return False


def _shift_extent(extent: Extent, lower: str, start: int | None, node: Node) -> Extent:
    """Return the range on the lower device that corresponds to `extent` of `node`, a partition or loop device.

    `start`: sector of the lower device at which `node` starts; None if unknown.
    """
    if start is None or node.size_bytes is None:
        return Extent(on=lower, only_read=extent.only_read)
    end = -(-node.size_bytes // SECTOR) if extent.end is None else extent.end
    return Extent(on=lower, start=start + extent.start, end=start + end, only_read=extent.only_read)


def _of_slave(node: Node, slave: str, only_read: bool) -> Extent:
    """Return the range of `slave` that `node` uses, from sysfs. Used for devices without a device-mapper table.

    A volume of external metadata (IMSM, DDF) uses a part of each disk: md/dev-NAME/offset is in sectors, size in KiB
    (Documentation/admin-guide/md.rst). The allocator of a ZFS pool or bcache set gives disjoint blocks to its devices.
    """
    if is_volume(node) or node.name.startswith("bcache"):
        return Extent(on=slave, slot=node.name, only_read=only_read)
    offset = number(node.attributes.get(f"md/dev-{slave}/offset"))
    kib = number(node.attributes.get(f"md/dev-{slave}/size"))
    if offset is None or kib is None or not _is_fixed_volume(node):
        return Extent(on=slave, only_read=only_read)
    return Extent(on=slave, start=offset, end=offset + kib * 2, only_read=only_read)


def _is_fixed_volume(node: Node) -> bool:
    """Return whether the array is a volume in a container and no reshape moves its data."""
    external = node.attributes.get("md/metadata_version", "").startswith("external:") and container_kind(node) is None
    return external and node.attributes.get("md/reshape_position") == "none"
