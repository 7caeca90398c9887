"""What a request to a file or volume of a ZFS pool costs its processors, its disks and its log. Pure.

See docs/dev/simulation.md. What is no rule of OpenZFS or published figure is marked as an estimate.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

from backends.model import Media
from backends.simulator.calibration import CORES
from backends.simulator.mirror import disk_demands
from backends.simulator.service_demand import Demand
from backends.simulator.workload_target import CacheHitPath, IoPattern, Pooled, WorkloadTarget
from backends.values import dataclass

VOLUME_THREADS = 32
"""Requests to zvols that are worked on at a time (zfs(4), zvol_threads)."""

_TXG_S = 5.0
"""Seconds between two transaction groups (zfs(4), zfs_txg_timeout): a block written twice in one is written once."""

_CALL_US = 12.0
"""A request that needs no disk, alone: taken out of the ARC or put there. An estimate."""

_SUMMED_MBPS = 4000.0
"""Checksum and copy of a block on one core. An estimate."""

_STREAM = 0.7
"""Share of the disks' sequential speed that copy on write and its metadata leave. An estimate."""

_ROTATION_US, _FLASH_LOG_US = 8_300.0, 20.0
"""Beyond the write, until a log block is on a disk of 7200 turns, and on flash with power-loss protection."""

ALLOCATED = 131_072
"""Bytes that are written at a time where there are many blocks: an estimate."""


_NO_LIMIT = 1 << 20
"""Of requests to a file at a time."""

_HALVINGS = 40
"""Steps in which the rate of small writes is found; more change nothing that is printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolFlow:
    """What becomes of the requests of a job."""

    hits: float
    """Share whose block is in the ARC."""
    record_reads: float
    """Blocks of the pool that a read request fetches from the disks."""
    fetched: float
    """Blocks that a write request fetches first, since it changes a part of them."""
    record_writes: float
    """Blocks that a write request causes to be written."""
    record_bytes: int
    """Bytes of such a block."""


@lru_cache(maxsize=64)  # asked several times in every interval of a run
def pool_flow(layout: WorkloadTarget, pool: Pooled, work: IoPattern) -> PoolFlow:
    """What becomes of them once the disks have as much to do as they can."""
    region = work.region_bytes or layout.size_bytes
    size = max(1.0, work.mean_bytes)
    held = min(1.0, pool.held_bytes / region) if region and pool.caches_data else 0.0
    record = pool.record_bytes
    records = max(1.0, size / record)
    if work.sequential and pool.caches_data:
        records = size / record  # what is left of a block is in memory when the next request comes
    flow = PoolFlow(
        hits=held, record_reads=records * (1 - held), fetched=0.0, record_writes=records, record_bytes=record
    )
    if size >= record or work.sequential or work.read_share >= 1 or not region:
        return flow
    written_us = _written_us(pool)
    fetched_us = _record(pool, work, record).together * (1 - held)
    # Low: every write has a block to itself. High: all blocks of the region are written once in each group.
    low, high = 1.0, 1e6
    for _ in range(_HALVINGS):
        rate = math.sqrt(low * high)
        part = _blocks_each(rate, region / record)
        low, high = (rate, high) if rate * part * (record * written_us + fetched_us) < 1e6 else (low, rate)
    part = _blocks_each(low, region / record)
    return replace(flow, record_writes=part, fetched=part * (1 - held))


def _blocks_each(rate: float, places: float) -> float:
    """Blocks written for each of so many small writes a second: those that meet in one within one group cost one."""
    writes = rate * _TXG_S
    return places * -math.expm1(-writes / places) / writes


def _written_us(pool: Pooled) -> float:
    """Time of the disks for each byte that is written."""
    stream = IoPattern(read_share=0.0, sequential=True, sizes=((ALLOCATED, 1.0),))
    _, write = disk_demands(pool.vdevs, stream)
    return write.together / _STREAM / ALLOCATED


def _record(pool: Pooled, work: IoPattern, record: int) -> Demand:
    """Of one block read from the disks."""
    read, _ = disk_demands(pool.vdevs, replace(work, sizes=((record, 1.0),)))
    return read


def pool_demands(layout: WorkloadTarget, work: IoPattern) -> tuple[Demand, Demand] | None:
    """Of a read and of a write: stations are processors, disks and log; None where there is no pool."""
    pool = layout.pool
    if pool is None:
        return None
    flow, size = pool_flow(layout, pool, work), work.mean_bytes
    there = replace(work, region_bytes=work.region_bytes or layout.size_bytes)
    record = _record(pool, there, flow.record_bytes)
    copied = size / _SUMMED_MBPS
    summed = flow.record_bytes / _SUMMED_MBPS
    call = _CALL_US + copied
    missed = min(1.0, flow.record_reads)
    read = Demand(
        ((call + flow.record_reads * summed) / CORES, flow.record_reads * record.together, 0.0),
        call + missed * (record.alone + summed),
        flow.record_reads * record.together,
    )
    log = log_us(pool) if pool.sync == "always" else 0.0
    disks = flow.record_writes * flow.record_bytes * _written_us(pool) + flow.fetched * record.together
    write = Demand(
        # All that wait for the log at one moment are in one block of it.
        (
            (call + flow.record_writes * summed) / CORES,
            disks,
            log / min(work.depth * work.jobs, work.tags) if log else 0.0,
        ),
        call + min(1.0, flow.fetched) * record.alone + log,
        disks,
    )
    return read, write


def pool_hit_paths(layout: WorkloadTarget, work: IoPattern) -> tuple[CacheHitPath, CacheHitPath] | None:
    """Return the reads that memory serves; all writes go the same way. None where there is no pool."""
    pool = layout.pool
    if pool is None:
        return None
    missed = min(1.0, pool_flow(layout, pool, work).record_reads)
    return CacheHitPath(share=1 - missed, alone_us=_CALL_US + work.mean_bytes / _SUMMED_MBPS), CacheHitPath()


def pool_threads(pool: Pooled, engine: str, jobs: int) -> int:
    """Requests that are worked on at a time: libaio waits for each of a file (io_submit calls the filesystem)."""
    if pool.volume:
        return VOLUME_THREADS
    return jobs if engine == "libaio" else _NO_LIMIT


def log_us(pool: Pooled) -> float:
    """Time until a write that somebody waits for is on stable storage."""
    if pool.sync == "disabled":
        return _CALL_US
    where = pool.log or pool.vdevs
    turning = where.drive.media is Media.HDD
    return _ROTATION_US if turning else where.drive.write_alone_us + _FLASH_LOG_US
