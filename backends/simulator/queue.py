"""Request queue files of a simulated disk: their defaults at boot, and the effect of writes to them."""

from __future__ import annotations

import re

from backends.errors import ToolFailedError
from backends.simulator.rack import Rack
from backends.simulator.tool_output import invalid_argument

_NUMBERS = {
    "read_ahead_kb": (0, 1 << 32),
    "nr_requests": (1, 1 << 31),
    "rq_affinity": (0, 2),
    "nomerges": (0, 2),
    "wbt_lat_usec": (-1, 1 << 31),
    "max_sectors_kb": (4, 1 << 31),
    "add_random": (0, 1),
    "iostats": (0, 1),
    "io_timeout": (1, (1 << 32) - 1),
}
"""Minimum and maximum of each numeric setting."""

_LIMITS = ("max_sectors_kb", "iostats", "add_random")
"""Settings, in addition to `write_cache`, that the kernel commits as queue limits, which resets read-ahead."""

DEPTH = "queue_depth"
"""Name of a SCSI device's file that is stored together with its queue files."""

CACHE = "cache_type"
"""Name of the sd driver's file with a drive's cache type, which is stored together with the queue files."""

CAN_QUEUE = 928
"""Commands that a controller's driver accepts at the same time (scsi_host/can_queue)."""

TAGS = 1024
"""Requests that a queue accepts at the same time."""

_SCHEDULED = 2048
_PAGE_KB = 4


def default_queue(*, rotational: bool, flushes: bool) -> dict[str, str]:
    """Return the files of `queue/` at boot."""
    return {
        "scheduler": "[none] mq-deadline kyber bfq",
        "read_ahead_kb": "128",
        "nr_requests": str(TAGS),
        "rq_affinity": "1",
        "nomerges": "0",
        "wbt_lat_usec": "75000" if rotational else "2000",
        "max_sectors_kb": "256",
        "max_hw_sectors_kb": "256",
        "write_cache": "write back" if flushes else "write through",
        "add_random": "1" if rotational else "0",
        "iostats": "1",
        "rotational": "1" if rotational else "0",
        "logical_block_size": "512",
        "physical_block_size": "512",
        "zoned": "none",
    }


def write_queue(rack: Rack, name: str, key: str, text: str, now: dict[str, str], tags: int | None) -> None:
    """Set `queue/key` of a disk.

    `now`: all files of the queue. `tags`: requests that its driver accepts, or None if the disk has no request queue of
    its own. Raises ToolFailedError if the kernel refuses the value.
    """
    queue = rack.queues.setdefault(name, {})
    if key == "scheduler":
        _set_scheduler(queue, text, now, tags)
    elif key == "write_cache":
        if text not in ("write back", "write through"):
            raise invalid_argument(text)
        queue[key] = text
        _reset_read_ahead(queue, now)
    elif key in _NUMBERS:
        queue[key] = _parse_number(key, text, now, tags)
        if key in _LIMITS:
            _reset_read_ahead(queue, {**now, key: queue[key]})
    else:
        raise ToolFailedError(f"The kernel refused {text!r}: Permission denied.", evidence=key)


def write_depth(rack: Rack, name: str, text: str, most: int) -> None:
    """Set a disk's `device/queue_depth`. `most`: limit of its SCSI host. Raises ToolFailedError if refused."""
    if not re.fullmatch(r"\d{1,9}", text) or not 1 <= int(text) <= most:
        raise invalid_argument(text)
    rack.queues.setdefault(name, {})[DEPTH] = str(int(text))


def write_cache_type(rack: Rack, name: str, text: str, now: dict[str, str]) -> None:
    """Set a drive's cache through the sd driver. "temporary" changes only what the kernel assumes about the drive.

    `now`: all files of its queue. Raises ToolFailedError if the kernel refuses the value.
    """
    kind = text.removeprefix("temporary ")
    if kind not in ("write back", "write through"):
        raise invalid_argument(text)
    queue = rack.queues.setdefault(name, {})
    queue["write_cache"] = kind
    _reset_read_ahead(queue, now)
    if text == kind:
        queue[CACHE] = kind


def _set_scheduler(queue: dict[str, str], text: str, now: dict[str, str], tags: int | None) -> None:
    names = re.sub(r"[][]", "", now["scheduler"]).split()
    if text not in names:
        raise invalid_argument(text)
    changed = f"[{text}]" not in now["scheduler"]
    queue["scheduler"] = " ".join(f"[{name}]" if name == text else name for name in names)
    if changed and tags is not None:  # the kernel resizes the queue for each scheduler
        queue["nr_requests"] = str(tags) if text == "none" else "256"
        if text == "bfq":
            queue["wbt_lat_usec"] = "0"


def _reset_read_ahead(queue: dict[str, str], now: dict[str, str]) -> None:
    """Raise read-ahead to its default, as Linux 6.18 does after each commit of limits (blk_apply_bdi_limits)."""
    optimal = int(now.get("optimal_io_size", "0")) // 1024
    if not optimal and now["rotational"] == "1":
        optimal = int(now["max_sectors_kb"])
    queue["read_ahead_kb"] = str(max(int(now["read_ahead_kb"]), 2 * optimal // _PAGE_KB * _PAGE_KB, 128))


def _parse_number(key: str, text: str, now: dict[str, str], tags: int | None) -> str:
    low, high = _NUMBERS[key]
    if not re.fullmatch(r"-?\d{1,12}", text) or not low <= int(text) <= high:
        raise invalid_argument(text)
    value = int(text)
    if key == "read_ahead_kb":
        value = value // _PAGE_KB * _PAGE_KB  # the kernel stores it in full pages (block/blk-sysfs.c, queue_ra_store)
    # Older kernels refuse a value above the hardware limit. Linux 6.18 silently uses the limit.
    if key == "max_sectors_kb" and value > int(now["max_hw_sectors_kb"]):
        raise invalid_argument(text)
    if key == "nr_requests":
        if tags is None or value > (tags if "[none]" in now["scheduler"] else _SCHEDULED):
            raise invalid_argument(text)
        value = max(value, 4)
    if key == "wbt_lat_usec" and value == -1:
        value = 75000 if now["rotational"] == "1" else 2000
    return str(value)
