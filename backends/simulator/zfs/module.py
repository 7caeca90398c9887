"""Simulated ZFS kernel module: its parameters and the size of the ARC."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from backends.simulator.caches import CacheCounts
from backends.simulator.tool_output import invalid_argument
from backends.values import dataclass

VERSION = "2.1.11-1"
ARCSTATS = "/proc/spl/kstat/zfs/arcstats"
PARAMETERS = "/sys/module/zfs/parameters/"

DEFAULTS: Mapping[str, int] = {
    "zfs_arc_max": 0,
    "zfs_arc_min": 0,
    "zfs_txg_timeout": 5,
    "zfs_dirty_data_max": 4 << 30,
    "zfs_prefetch_disable": 0,
    "zfs_vdev_max_active": 1000,
    "zfs_vdev_sync_read_max_active": 10,
    "zfs_vdev_sync_write_max_active": 10,
    "zfs_vdev_async_read_max_active": 3,
    "zfs_vdev_async_write_min_active": 2,
    "zfs_vdev_async_write_max_active": 30,
    "zfs_vdev_scrub_max_active": 3,
    "zfs_immediate_write_sz": 32768,
    "zil_slog_bulk": 786_432,
    "l2arc_write_max": 8 << 20,
    "l2arc_noprefetch": 1,
    "zvol_request_sync": 0,
    "zfs_max_recordsize": 1 << 20,
}
"""Default values of the module parameters (zfs(4), 2.1)."""

_BARE = 3 << 20
"""Size of an ARC without data, in bytes."""

_LEAST_MAX, _LEAST_MIN = 64 << 20, 32 << 20


@dataclass(slots=True, kw_only=True)
class ZfsModule:
    """State of the module, which is lost when the module is reloaded."""

    memory_bytes: int
    """Memory of the machine in bytes."""
    values: dict[str, int] = field(default_factory=dict)
    """Changed parameters."""
    most: int = 0
    """Maximum ARC size in bytes; 0 for the default, half of the memory."""
    least: int = 0
    """Minimum ARC size in bytes; 0 for the default, 1/32 of the memory."""

    def files(self, counts: CacheCounts) -> dict[str, str]:
        """Return the module's files in sysfs and procfs, by path. `counts`: contents and counters of the ARC."""
        hits, misses = int(counts.read_hits), int(counts.read_misses + counts.write_misses)
        rows = {
            "hits": hits,
            "misses": misses,
            "demand_data_hits": hits,
            "demand_data_misses": misses,
            "c": self.c_max,
            "c_min": self.c_min,
            "c_max": self.c_max,
            "size": min(self.c_max, _BARE + int(counts.held_bytes)),
            "l2_hits": 0,
            "l2_misses": 0,
            "l2_size": 0,
        }
        texts = [f"{name:<31} 4    {value}" for name, value in rows.items()]
        return {
            "/sys/module/zfs/version": VERSION,
            ARCSTATS: "\n".join(["9 1 0x01 123 33456 0 0", f"{'name':<31} type data", *texts]),
            **{f"{PARAMETERS}{name}": str(self.values.get(name, value)) for name, value in DEFAULTS.items()},
        }

    @property
    def c_max(self) -> int:
        """Effective maximum ARC size in bytes."""
        return self.most or self.memory_bytes // 2

    @property
    def c_min(self) -> int:
        """Effective minimum ARC size in bytes."""
        return self.least or max(self.memory_bytes // 32, _LEAST_MIN)

    def write(self, name: str, text: str) -> None:
        """Set a parameter. Raises ToolFailedError if the kernel refuses the value.

        ARC limits that are not valid are stored but ignored (2.1, arc_tuning_update).
        """
        if not re.fullmatch(r"-?\d{1,19}", text):
            raise invalid_argument(text)
        value = self.values[name] = int(text)
        if name == "zfs_arc_max" and max(_LEAST_MAX, self.c_min + 1) <= value < self.memory_bytes:
            self.most = value
        if name == "zfs_arc_min" and _LEAST_MIN <= value <= self.c_max:
            self.least = value
