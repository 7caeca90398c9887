"""Change of chunk and layout: whether the array can be reshaped, must be re-created, or cannot be changed. No I/O.

Verified on Linux 6.1 with mdadm 4.2. With these versions, a reshape of a RAID 10 with offset copies ends without an
error but corrupts the data, so it is not offered.
"""

from __future__ import annotations

from enum import StrEnum

from backends.sizes import percent_text
from backends.vendors.mdraid.facts import ArrayFacts, parse_limit
from backends.vendors.mdraid.layouts import ROTATING
from backends.vendors.mdraid.settings import PARITY
from backends.vendors.mdraid.sysfs import time_text

CHUNKS = tuple(1 << power for power in range(12, 25))
"""Chunk sizes in bytes, 4 KiB to 16 MiB."""

_USUAL = range(1 << 14, (1 << 20) + 1)
"""Range in bytes of the chunk sizes that are offered in addition to the current one."""


class ReshapeMethod(StrEnum):
    """Method of changing chunk size or layout."""

    RESHAPE = "reshape"
    RECREATE = "re-create"


def fixed_reason(array: ArrayFacts) -> str | None:
    """Return the reason why neither chunk nor layout can be changed now; None if there is none."""
    sync = array.sync
    if array.foreign is not None or array.cut:
        return array.foreign or array.cut
    if sync is not None:
        done = "" if sync.progress is None else f" ({percent_text(sync.progress, 1)} done)"
        return f"a {sync.action} {('waits' if sync.waiting else 'is running')}{done}. Wait until it ends"
    if (
        array.chunk is None
        or array.chunk.old is not None
        or (array.layout is not None and array.layout.old is not None)
    ):
        return "a reshape is incomplete"
    if array.degraded or any("faulty" in member.flags for member in array.members):
        return "members are missing or have failed"
    if array.array_state not in ("clean", "active", "active-idle", "write-pending"):
        return f"the array is {array.array_state or 'not running'}"
    if any("journal" in member.flags for member in array.members):
        return "it has a journal"
    if array.attributes.get("consistency_policy") == "ppl":
        return "it has a partial parity log; set consistency_policy to resync first"
    if array.disks is None or len(array.active) != array.disks:
        return "some of its members are not visible"
    return None


def method_of(array: ArrayFacts, key: str) -> ReshapeMethod:
    """Return the method by which the chunk or the layout can be changed. `key`: `chunk_size` or `layout`."""
    reshapes = array.level_word in PARITY
    if key == "chunk_size" and array.level_word == "raid0":
        # md reshapes a RAID 0 as a RAID 4, which needs members of equal size.
        reshapes = len({device.size_bytes for device in array.active}) == 1
    elif key == "chunk_size" and not reshapes:
        reshapes = array.layout is not None and array.layout.now >> 8 == 1  # near copies
    return ReshapeMethod.RESHAPE if reshapes else ReshapeMethod.RECREATE


def chunk_offers(array: ArrayFacts) -> tuple[int, ...]:
    """Return the legal chunk sizes in bytes, including the current one.

    A chunk must divide the used size of each member.
    """
    now = array.chunk.now if array.chunk is not None else 0
    used = _used_bytes(array)
    sizes = {size for size in CHUNKS if size in _USUAL and used and used % size == 0} | {now}
    return tuple(size for size in sorted(sizes) if size)


def layout_offers(array: ArrayFacts) -> tuple[str, ...]:
    """Return the names of the legal layouts of the array, including the current one."""
    now = array.layout_word
    if now is None:
        return ()
    if method_of(array, "layout") is ReshapeMethod.RESHAPE:
        layouts = [*ROTATING.values()]
    else:
        copies = _copies(array)
        layouts = [f"{kind}{copies}" for kind in "nfo"] if copies and array.disks and copies <= array.disks else []
    if now not in layouts and now != "unknown":
        layouts.append(now)
    return tuple(layouts)


def _copies(array: ArrayFacts) -> int | None:
    """Return the number of copies of each block in a RAID 10; None if its layout mixes kinds of copies."""
    if array.layout is None:
        return None
    near, far = array.layout.now & 0xFF, array.layout.now >> 8 & 0xFF
    return max(near, far) if min(near, far) == 1 and max(near, far) > 1 else None


def _used_bytes(array: ArrayFacts) -> int | None:
    """Return how many bytes of each member are used, a multiple of the chunk; None if unknown."""
    if array.component_bytes:
        return array.component_bytes
    sizes = [device.size_bytes for device in array.active]
    known_sizes = [size for size in sizes if size]
    return min(known_sizes) if known_sizes and len(known_sizes) == len(sizes) else None


def hours_text(array: ArrayFacts, system_kib: int | None) -> str:
    """Return a sentence about the duration of a reshape.

    `system_kib`: the system-wide speed limit in KiB/s, for an array without its own limit. Every byte is read and
    written on the same members. The speed limit counts only written bytes, so a member that reaches it transfers twice
    as much.
    """
    used, limit = _used_bytes(array), parse_limit(array.attributes.get("sync_speed_max"))
    kib = limit[0] if limit is not None else system_kib
    if not used or not kib:
        return "The duration is unknown."
    best = 2 * used / 1024 / kib
    slow = 2 * used / 1024 / 25_600
    text = f"at least {time_text(best)} if every member reaches the limit of {kib} KiB/s for both reads and writes"
    if slow > best:
        text += f", or {time_text(slow)} at 25600 KiB/s"
    return f"It takes {text}."
