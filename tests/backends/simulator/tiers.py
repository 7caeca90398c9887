"""Devices of the kernel with a fast part before a slow one, and pools, for the load model."""

from __future__ import annotations

from typing import Any

from backends.model import Level
from backends.simulator.calibration import DRIVES
from backends.simulator.workload_target import CachedBy, CacheKind, CacheMode, IoPattern, Pooled, WorkloadTarget

K, M, G = 1 << 10, 1 << 20, 1 << 30

_HDD, _PM983 = DRIVES["ST3500630NS"], DRIVES["MZ1LB960HAJQ"]

SLOW = WorkloadTarget(
    card=None, drive=_HDD, level=Level.RAID1, drives=2, halves=(_HDD, _HDD), size_bytes=_HDD.size_bytes
)
"""A mirror of two disks."""

FAST = WorkloadTarget(card=None, drive=_PM983, size_bytes=_PM983.size_bytes)
"""An NVMe drive."""

READS = IoPattern(depth=32, region_bytes=8 * G)
WRITES = IoPattern(depth=32, region_bytes=8 * G, read_share=0.0)
MIX = IoPattern(depth=32, region_bytes=8 * G, read_share=0.7)
STREAM = IoPattern(depth=8, region_bytes=8 * G, sequential=True, sizes=((M, 1.0),))
"""What is asked for, in the first 8 GiB."""


def cached(kind: CacheKind, mode: CacheMode = CacheMode.WRITE_BACK, **changes: Any) -> WorkloadTarget:
    """200 GiB of the mirror with 40 GiB of the NVMe drive before them, which hold the first 40 GiB."""
    values: dict[str, Any] = {"cache_bytes": 40 * G, "held_bytes": 40 * G, **changes}
    if kind is CacheKind.DM_CACHE:
        values.setdefault("block_bytes", 64 * K)
    if kind is CacheKind.WRITECACHE:  # it holds what is not written out
        values = {"high": 0.5, "low": 0.45, **values, "held_bytes": changes.get("dirty_bytes", 0)}
    cache = CachedBy(kind=kind, mode=mode, slow=SLOW, fast=FAST, **values)
    return WorkloadTarget(card=None, drive=_HDD, size_bytes=200 * G, cache=cache)


def pooled(record: int = 128 * K, **changes: Any) -> WorkloadTarget:
    """100 GiB in a pool on the mirror, none of it in the ARC of 47 GiB."""
    return WorkloadTarget(
        card=None,
        drive=_HDD,
        size_bytes=100 * G,
        pool=Pooled(vdevs=SLOW, record_bytes=record, arc_bytes=47 * G, **changes),
    )
