"""Free space of thin-provisioned storage: whether raw writes, scratch files and running benchmarks fit. No I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from backends.sizes import size_words
from backends.values import dataclass

MARGIN = 0.1
"""Fraction of a pool, snapshot store or filesystem that must stay free. If one is full, all its users' writes fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocatedRange:
    """Space that a run allocated. Writing there again allocates no more space."""

    layer: str
    """Kernel name of the device that allocated the space."""
    place: str
    """Name of the storage for display, equal to `ThinCapacity.place`."""
    part: str
    """`metadata` of a thin pool; "" for data."""
    within: int
    """Length in bytes of the area that the run wrote to, from the start of the device."""
    written: int
    """Bytes of this area that were allocated when the run ended."""
    held: int
    """All bytes that were allocated for the layer when the run ended.
    If fewer are allocated later, some were freed, or are shared with a snapshot.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRange:
    """Part of a device that will be written."""

    size: int | None = None
    """Length in bytes, from the start of the device; None for the whole device."""
    allocated: tuple[AllocatedRange, ...] = ()
    """Space that earlier runs allocated in this part."""


WHOLE = WriteRange()
"""The write range for a whole device on which no earlier run allocated space."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinCapacity:
    """Storage from which a device allocates space when it is written."""

    kind: str
    """A value of `ThinKind`."""
    place: str
    """Name of the storage for display: `the thin pool vg0/pool`."""
    key: str
    """Identifier for later reads: a device-mapper name, a path, a ZFS volume."""
    layer: str = ""
    """Kernel name of the device that allocates the space."""
    part: str = ""
    """`metadata` of a thin pool; "" for data."""
    unknown: str = ""
    """Reason why the free space is unknown; "" if it is known."""
    size_bytes: int = 0
    """Total size in bytes."""
    free_bytes: int = 0
    """Free bytes."""
    unit: int = 1
    """Size of one allocation unit in bytes."""
    takes: int = 1
    """Bytes that one allocation unit occupies in the storage, including its metadata."""
    capacity: int = 0
    """Size in bytes of the device that is written."""
    held: int = 0
    """Bytes of the device that are already allocated; writing them again needs no more space."""
    beside: tuple[str, ...] = ()
    """Names of other users of the storage for display. Their writes fail as well if the storage is full."""

    def need(self, area: WriteRange) -> int:
        """Return the maximum number of bytes that writes to the area can allocate."""
        return -(-self._unallocated(area) // self.unit) * self.takes

    def limited_to(self, area: WriteRange) -> ThinCapacity:
        """Return the storage with the unallocated bytes of the area as `capacity`, so that `need` can be summed."""
        return replace(self, capacity=self._unallocated(area), held=0)

    def allocated_since(self, before: ThinCapacity, area: WriteRange) -> AllocatedRange:
        """Return the space that was allocated in the area since `before`, an earlier reading of the same storage."""
        within = self.capacity if area.size is None else area.size
        already = self._allocated_before(area)
        written = min(within, already + max(0, self.held - before.held))
        return AllocatedRange(
            layer=self.layer, place=self.place, part=self.part, within=within, written=written, held=self.held
        )

    def _unallocated(self, area: WriteRange) -> int:
        """Return how many bytes of the area are not allocated yet."""
        wanted = self.capacity if area.size is None else area.size - self._allocated_before(area)
        return max(0, min(wanted, self.capacity - self.held))

    def _allocated_before(self, area: WriteRange) -> int:
        """Return how many bytes of the area an earlier run has allocated."""
        key = (self.layer, self.place, self.part)
        earlier = (entry for entry in area.allocated if (entry.layer, entry.place, entry.part) == key)
        size = self.capacity if area.size is None else area.size
        return max(
            (entry.written for entry in earlier if 0 < entry.held <= self.held and entry.within <= size), default=0
        )

    @property
    def reserve(self) -> int:
        """Return the bytes that must stay free."""
        return int(self.size_bytes * MARGIN)


def refusals(shown: str, rooms: Iterable[ThinCapacity], area: WriteRange) -> tuple[str, ...]:
    """Return a sentence for each storage whose free space is unknown, or below a tenth once the area is written.

    `shown`: name of the device for display. No I/O.
    """
    shared: dict[tuple[str, str, str], list[ThinCapacity]] = {}
    for room in rooms:
        shared.setdefault((room.kind, room.key, room.part), []).append(room)
    sentences = []
    for same in shared.values():
        capacity, need = same[0], sum(room.need(area) for room in same)
        if reason := next((room.unknown for room in same if room.unknown), ""):
            sentences.append(
                f"{shown} is thin-provisioned on {capacity.place}, and the free space there is unknown: {reason}."
            )
        elif need and capacity.free_bytes - need < capacity.reserve:
            amount = "all" if area.size is None else size_words(area.size)
            sentences.append(
                f"Not enough free space: writing {amount} of {shown} may need {size_words(need)} of "
                f"{capacity.place}, where {size_words(capacity.free_bytes)} of {size_words(capacity.size_bytes)} are "
                f"free and 10 % must stay free.{_losers(capacity)}"
            )
    return tuple(sentences)


def low_capacity_reasons(rooms: Iterable[ThinCapacity]) -> tuple[str, ...]:
    """Return a clause for each storage whose free space has fallen to the reserve or is unknown. No I/O."""
    clauses = []
    for room in rooms:
        if room.unknown:
            clauses.append(f"the free space of {room.place} is now unknown ({room.unknown})")
        elif room.free_bytes <= room.reserve:
            clauses.append(f"{room.place} has {size_words(room.free_bytes)} of {size_words(room.size_bytes)} free")
    return tuple(dict.fromkeys(clauses))


def _losers(room: ThinCapacity) -> str:
    if not room.beside:
        return ""
    named = ", ".join(room.beside[:8]) + (f" and {len(room.beside) - 8} more" if len(room.beside) > 8 else "")
    return f" If it runs full, writes to {named} fail as well."
