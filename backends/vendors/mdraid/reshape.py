"""Chunk and layout: whether the array can be reshaped, has to be created again, or neither. Pure.

What can be reshaped was tried on Linux 6.1 with mdadm 4.2. There, mdadm and the kernel take a reshape of a RAID 10 with
offset copies and end it without complaint, and its data are not the same afterwards: it is not offered.
"""

from __future__ import annotations

from enum import StrEnum

from backends.values import dataclass
from backends.vendors.mdraid.facts import ArrayFacts, parse_limit
from backends.vendors.mdraid.layouts import ROTATING
from backends.vendors.mdraid.settings import PARITY
from backends.vendors.mdraid.sysfs import time_text

CHUNKS = tuple(1 << power for power in range(12, 25))
"""Chunk sizes in bytes, 4 KiB to 16 MiB."""

_USUAL = range(1 << 14, (1 << 20) + 1)
"""Chunk sizes that are offered, besides what there is."""


class ReshapeMethod(StrEnum):
    """How another geometry comes about."""

    RESHAPE = "reshape"
    RECREATE = "re-create"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReshapeChoice:
    """One value that chunk or layout may take."""

    value: str
    """In the setting's vocabulary."""
    way: ReshapeMethod
    """How."""


def fixed_reason(array: ArrayFacts) -> str | None:
    """Why neither chunk nor layout can be changed now; None when they can."""
    sync = array.sync
    if array.foreign is not None or array.cut:
        return array.foreign or array.cut
    if sync is not None:
        done = "" if sync.progress is None else f" ({sync.progress:.1%} done)"
        return f"a {sync.action} {'waits' if sync.waiting else 'is under way'}{done}: wait for its end"
    if (
        array.chunk is None
        or array.chunk.old is not None
        or (array.layout is not None and array.layout.old is not None)
    ):
        return "a reshape is not finished"
    if array.degraded or any("faulty" in member.flags for member in array.members):
        return "members are missing or have failed"
    if array.array_state not in ("clean", "active", "active-idle", "write-pending"):
        return f"the array is {array.array_state or 'not running'}"
    if any("journal" in member.flags for member in array.members):
        return "it has a journal"
    if array.attributes.get("consistency_policy") == "ppl":
        return "it has a partial parity log; set consistency_policy to resync first"
    if array.disks is None or len(array.active) != array.disks:
        return "not all of its members can be seen"
    return None


def method_of(array: ArrayFacts, key: str) -> ReshapeMethod:
    """How another chunk (`chunk_size`) or layout comes about."""
    if key == "chunk_size":
        return _chunk_way(array)
    return ReshapeMethod.RESHAPE if array.level_word in PARITY else ReshapeMethod.RECREATE


def chunk_offers(array: ArrayFacts) -> tuple[ReshapeChoice, ...]:
    """Chunk sizes this array can get, the present one among them; it must divide what is used of each member."""
    now = array.chunk.now if array.chunk is not None else 0
    used = _used(array)
    way = method_of(array, "chunk_size")
    sizes = {size for size in CHUNKS if size in _USUAL and used and used % size == 0} | {now}
    return tuple(ReshapeChoice(value=str(size), way=way) for size in sorted(sizes) if size)


def layout_offers(array: ArrayFacts) -> tuple[ReshapeChoice, ...]:
    """Layouts this array can get, the present one among them."""
    now = array.layout_word
    if now is None:
        return ()
    parts: list[str] = []
    way = method_of(array, "layout")
    if way is ReshapeMethod.RESHAPE:
        parts = [*ROTATING.values()]
    else:
        copies = _copies(array)
        parts = [f"{kind}{copies}" for kind in "nfo"] if copies and array.disks and copies <= array.disks else []
    if now not in parts and now != "unknown":
        parts.append(now)
    return tuple(ReshapeChoice(value=word, way=way) for word in parts)


def _chunk_way(array: ArrayFacts) -> ReshapeMethod:
    """RAID 0 goes by way of RAID 4, which wants members of one size."""
    if array.level_word in PARITY:
        return ReshapeMethod.RESHAPE
    if array.level_word == "raid0":
        return (
            ReshapeMethod.RESHAPE
            if len({device.size_bytes for device in array.active}) == 1
            else ReshapeMethod.RECREATE
        )
    near = array.layout is not None and array.layout.now >> 8 == 1
    return ReshapeMethod.RESHAPE if near else ReshapeMethod.RECREATE


def _copies(array: ArrayFacts) -> int | None:
    """Copies of a RAID 10 of one kind; None where kinds are mixed."""
    if array.layout is None:
        return None
    near, far = array.layout.now & 0xFF, array.layout.now >> 8 & 0xFF
    return max(near, far) if min(near, far) == 1 and max(near, far) > 1 else None


def _used(array: ArrayFacts) -> int | None:
    """Bytes used of each member that a chunk has to divide; None if they are not told."""
    if array.component_bytes:
        return array.component_bytes
    sizes = [device.size_bytes for device in array.active]
    known_sizes = [size for size in sizes if size]
    return min(known_sizes) if known_sizes and len(known_sizes) == len(sizes) else None


def hours_text(array: ArrayFacts, system_kib: int | None) -> str:
    """How long a reshape will take, in a sentence.

    `system_kib`: the machine's limit, for a level that has none of its own. Every byte is read and written again at the
    same members, so the speed limit, which counts what is written of each
    member, is reached at best where the members do twice as much.
    """
    used, limit = _used(array), parse_limit(array.attributes.get("sync_speed_max"))
    kib = limit[0] if limit is not None else system_kib
    if not used or not kib:
        return "How long it takes is not known."
    best = 2 * used / 1024 / kib
    slow = 2 * used / 1024 / 25_600
    text = f"at least {time_text(best)} if every member reaches the limit of {kib} KiB/s for reading and writing alike"
    if slow > best:
        text += f", {time_text(slow)} at 25600 KiB/s"
    return f"It takes {text}."
