"""Room beneath what promises more than there is, and whether a write fits: decided here for raw devices, for scratch
files and for runs under way. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from backends.sizes import size_words
from backends.values import dataclass

MARGIN = 0.1
"""Of a pool, a store or a file system, what stays free: once it is full, whatever else lies in it fails as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocatedRange:
    """What a run left where it wrote: writing there again takes no room."""

    layer: str
    """Kernel name of what took the room."""
    place: str
    """From where, in words."""
    part: str
    """As of `ThinCapacity`."""
    within: int
    """The first so many bytes of the device it wrote to."""
    written: int
    """Bytes of these that have room since."""
    held: int
    """All that the layer had then: with less, something was given back or is shared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRange:
    """What of a device will be written to."""

    size: int | None = None
    """Its first so many bytes, None for all of it."""
    lying: tuple[AllocatedRange, ...] = ()
    """What earlier runs left there."""


WHOLE = WriteRange()
"""All of a device, about which nothing else is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinCapacity:
    """What a device takes room from as it is written."""

    kind: str
    """Of `ThinKind`."""
    place: str
    """What it is taken from, in words: `the thin pool vg0/pool`."""
    key: str
    """By what that is asked again: a device-mapper name, a path, a volume of ZFS."""
    layer: str = ""
    """Kernel name of what takes it."""
    part: str = ""
    """`metadata` of a thin pool; "" for what holds data."""
    unknown: str = ""
    """Why it is not known how much is left, "" where it is."""
    size_bytes: int = 0
    """All of it."""
    free_bytes: int = 0
    """What is left."""
    unit: int = 1
    """Bytes in which it is given out."""
    takes: int = 1
    """Bytes that such a unit takes of it."""
    capacity: int = 0
    """Bytes of what is written to."""
    held: int = 0
    """Bytes of that which have their room already, and take none when they are written again."""
    beside: tuple[str, ...] = ()
    """What else has no room left when it is full."""

    def need(self, area: WriteRange) -> int:
        """Bytes that writing there takes at most."""
        return -(-self._new(area) // self.unit) * self.takes

    def asked(self, area: WriteRange) -> ThinCapacity:
        """The same where only so much is to be written: so that several such writes can be counted together."""
        return replace(self, capacity=self._new(area), held=0)

    def after(self, before: ThinCapacity, area: WriteRange) -> AllocatedRange:
        """What was written there since. `before`: the same room then."""
        within = self.capacity if area.size is None else area.size
        already = self._sure(area)
        written = min(within, already + max(0, self.held - before.held))
        return AllocatedRange(
            layer=self.layer, place=self.place, part=self.part, within=within, written=written, held=self.held
        )

    def _new(self, area: WriteRange) -> int:
        """Bytes that have no room yet."""
        wanted = self.capacity if area.size is None else area.size - self._sure(area)
        return max(0, min(wanted, self.capacity - self.held))

    def _sure(self, area: WriteRange) -> int:
        """Bytes of the area that have it since an earlier run."""
        own = (self.layer, self.place, self.part)
        earlier = (entry for entry in area.lying if (entry.layer, entry.place, entry.part) == own)
        size = self.capacity if area.size is None else area.size
        return max(
            (entry.written for entry in earlier if 0 < entry.held <= self.held and entry.within <= size), default=0
        )

    @property
    def reserve(self) -> int:
        """Bytes that stay free."""
        return int(self.size_bytes * MARGIN)


def refusals(shown: str, rooms: Iterable[ThinCapacity], area: WriteRange) -> tuple[str, ...]:
    """Why writing there does not fit with a tenth left, each a sentence. Pure."""
    shared: dict[tuple[str, str, str], list[ThinCapacity]] = {}
    for room in rooms:
        shared.setdefault((room.kind, room.key, room.part), []).append(room)
    sentences = []
    for same in shared.values():
        capacity, need = same[0], sum(room.need(area) for room in same)
        if reason := next((room.unknown for room in same if room.unknown), ""):
            sentences.append(
                f"{shown} takes room from {capacity.place} as it is written, and how much is left is unknown: {reason}."
            )
        elif need and capacity.free_bytes - need < capacity.reserve:
            amount = "all" if area.size is None else size_words(area.size)
            sentences.append(
                f"Writing {amount} of {shown} may take {size_words(need)} of {capacity.place}:"
                f" {size_words(capacity.free_bytes)} of {size_words(capacity.size_bytes)} are free, and a tenth"
                f" stays free.{_losers(capacity)}"
            )
    return tuple(sentences)


def affected_capacities(rooms: Iterable[ThinCapacity], area: WriteRange) -> tuple[ThinCapacity, ...]:
    """Those that writing there takes something from: they are looked at while it goes on."""
    return tuple(room for room in rooms if room.need(area))


def low_capacity_reasons(rooms: Iterable[ThinCapacity]) -> tuple[str, ...]:
    """Those that have no more left than stays free, or of which nobody knows any more, a clause each. Pure."""
    clauses = []
    for room in rooms:
        if room.unknown:
            clauses.append(f"how much is left of {room.place} is not known any more ({room.unknown})")
        elif room.free_bytes <= room.reserve:
            clauses.append(f"{room.place} has {size_words(room.free_bytes)} of {size_words(room.size_bytes)} left")
    return tuple(dict.fromkeys(clauses))


def _losers(room: ThinCapacity) -> str:
    if not room.beside:
        return ""
    named = ", ".join(room.beside[:8]) + (f" and {len(room.beside) - 8} more" if len(room.beside) > 8 else "")
    return f" Once it is full, nothing can be written to {named} either."
