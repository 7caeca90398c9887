"""Settings of a request queue that the kernel resets when another one is written. No I/O.

Decided here once: the order of a set and of a persistent rule, the values that undo restores, and the other settings
that a change may move. The tests measure each pair on the kernel at hand; docs/queue.md has two kernels side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from backends.changing import resets_first
from backends.topology.tree import number

_LIMITS = ("read_ahead_kb",)
"""Raised by `queue_limits_commit_update` to its default for the limits of the queue (Linux 6.9 and later)."""

SIDE_EFFECTS: Mapping[str, tuple[str, ...]] = {
    "scheduler": ("nr_requests", "wbt_lat_usec"),
    "max_sectors_kb": _LIMITS,
    "write_cache": _LIMITS,
    "iostats": _LIMITS,
    "add_random": _LIMITS,
}
"""Keys that the kernel may reset, by the key that is written.

scheduler: block/elevator.c, elevator_switch; block/bfq-iosched.c, wbt_disable_default. The others:
block/blk-settings.c, blk_apply_bdi_limits, called for each commit of limits by block/blk-sysfs.c.
"""

_READ_AHEAD_MIN = 128
"""KiB, VM_READAHEAD_PAGES (include/linux/mm.h)."""


def in_order(keys: Iterable[str]) -> list[str]:
    """Return the keys in the order in which nothing is reset after it was written."""
    return resets_first(keys, SIDE_EFFECTS)


def resets_to(key: str, value: str, attributes: Mapping[str, str], page_kb: int) -> dict[str, tuple[str, ...]]:
    """Return the values that the kernel may reset each setting to once `key` is `value`, or is taken back, by key.

    The default of read-ahead is twice the optimal I/O size, or twice the largest request where a rotational device
    reports none, in whole pages, and 128 KiB at least. Settings without an entry may get any value.
    """
    if "read_ahead_kb" not in SIDE_EFFECTS.get(key, ()):
        return {}
    optimal = (number(attributes.get("optimal_io_size")) or 0) // 1024
    present = number(attributes.get("max_sectors_kb")) or 0
    wanted = number(value) or 0 if key == "max_sectors_kb" else present
    defaults = {max(2 * size // page_kb * page_kb, _READ_AHEAD_MIN) for size in (0, optimal, present, wanted)}
    return {"read_ahead_kb": tuple(str(size) for size in sorted(defaults))}
