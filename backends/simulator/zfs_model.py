"""Load model of ZFS: time that a request to a file or zvol takes on processors, disks and log. No I/O.

docs/dev/simulation.md explains the model. Values are rules of OpenZFS or published measurements, unless marked as
estimates.
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
"""Maximum number of zvol requests in progress (zfs(4), zvol_threads)."""

_TXG_S = 5.0
"""Seconds between two transaction groups (zfs(4), zfs_txg_timeout). A group writes a changed block only once."""

_CALL_US = 12.0
"""Latency in microseconds of a single request that needs only the ARC and no disk. An estimate."""

_SUMMED_MBPS = 4000.0
"""Speed of checksumming and copying data on one core, in MB/s. An estimate."""

_STREAM = 0.7
"""Share of the disks' sequential speed that is left with copy-on-write and metadata. An estimate."""

_ROTATION_US, _FLASH_LOG_US = 8_300.0, 20.0
"""Microseconds after the write until a log block is stable: at 7,200 rpm, and on flash with power-loss protection."""

ALLOCATED = 131_072
"""Bytes per write to a disk if many blocks are written at once. An estimate."""


_NO_LIMIT = 1 << 20
"""Maximum number of requests to a file in progress: in effect, no limit."""

_HALVINGS = 40
"""Number of bisection steps for the rate of small writes. More steps do not change the digits that are printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolFlow:
    """Blocks that the requests of a job read from the disks and write to them."""

    hits: float
    """Share of requests whose block is in the ARC."""
    record_reads: float
    """Blocks that are read from the disks per read request."""
    fetched: float
    """Blocks that a write request must read first, because it changes only a part of them."""
    record_writes: float
    """Blocks that are written per write request."""
    record_bytes: int
    """Size of a block in bytes."""


@lru_cache(maxsize=64)  # cached because it is called several times per interval of a run
def pool_flow(layout: WorkloadTarget, pool: Pooled, work: IoPattern) -> PoolFlow:
    """Return the blocks that a job's requests read and write when the disks are saturated."""
    region = work.region_bytes or layout.size_bytes
    size = max(1.0, work.mean_bytes)
    cached = min(1.0, pool.held_bytes / region) if region and pool.caches_data else 0.0
    record = pool.record_bytes
    records = max(1.0, size / record)
    if work.sequential and pool.caches_data:
        records = size / record  # the next request finds the rest of the block in memory
    flow = PoolFlow(
        hits=cached, record_reads=records * (1 - cached), fetched=0.0, record_writes=records, record_bytes=record
    )
    if size >= record or work.sequential or work.read_share >= 1 or not region:
        return flow
    written_us = _byte_write_us(pool)
    fetched_us = _record_demand(pool, work, record).together * (1 - cached)
    # Find the rate that saturates the disks. At the lowest rate, each write is to a different block. At the highest
    # rate, each group writes all blocks of the region once.
    low, high = 1.0, 1e6
    for _ in range(_HALVINGS):
        rate = math.sqrt(low * high)
        blocks = _blocks_per_write(rate, region / record)
        low, high = (rate, high) if rate * blocks * (record * written_us + fetched_us) < 1e6 else (low, rate)
    blocks = _blocks_per_write(low, region / record)
    return replace(flow, record_writes=blocks, fetched=blocks * (1 - cached))


def _blocks_per_write(rate: float, blocks: float) -> float:
    """Return the mean number of blocks written per small write, at `rate` writes per second to `blocks` blocks.

    A transaction group writes a block once, however often it has changed.
    """
    writes = rate * _TXG_S
    return blocks * -math.expm1(-writes / blocks) / writes


def _byte_write_us(pool: Pooled) -> float:
    """Return the disks' time per written byte, in microseconds."""
    stream = IoPattern(read_share=0.0, sequential=True, sizes=((ALLOCATED, 1.0),))
    _, write = disk_demands(pool.vdevs, stream)
    return write.together / _STREAM / ALLOCATED


def _record_demand(pool: Pooled, work: IoPattern, record: int) -> Demand:
    """Return the demand of reading one block from the disks."""
    read, _ = disk_demands(pool.vdevs, replace(work, sizes=((record, 1.0),)))
    return read


def pool_demands(
    layout: WorkloadTarget, work: IoPattern
) -> tuple[Demand, Demand, tuple[CacheHitPath, CacheHitPath]] | None:
    """Return the demand of a read, the demand of a write, and the ARC hits of reads and of writes; None without a pool.

    The stations of both demands are the processors, the disks and the log.
    """
    pool = layout.pool
    if pool is None:
        return None
    flow, size = pool_flow(layout, pool, work), work.mean_bytes
    on_region = replace(work, region_bytes=work.region_bytes or layout.size_bytes)
    record = _record_demand(pool, on_region, flow.record_bytes)
    copied = size / _SUMMED_MBPS
    summed = flow.record_bytes / _SUMMED_MBPS
    call = _CALL_US + copied
    miss_share = min(1.0, flow.record_reads)
    read = Demand(
        ((call + flow.record_reads * summed) / CORES, flow.record_reads * record.together, 0.0),
        call + miss_share * (record.alone + summed),
        flow.record_reads * record.together,
    )
    log = log_us(pool) if pool.sync == "always" else 0.0
    disks = flow.record_writes * flow.record_bytes * _byte_write_us(pool) + flow.fetched * record.together
    write = Demand(
        # Requests that wait for the log at the same time share one log block.
        (
            (call + flow.record_writes * summed) / CORES,
            disks,
            log / min(work.depth * work.jobs, work.tags) if log else 0.0,
        ),
        call + min(1.0, flow.fetched) * record.alone + log,
        disks,
    )
    return read, write, (CacheHitPath(share=1 - miss_share, alone_us=call), CacheHitPath())


def pool_threads(pool: Pooled, engine: str, jobs: int) -> int:
    """Return the maximum number of requests in progress: one per job for a file with libaio, as io_submit waits."""
    if pool.volume:
        return VOLUME_THREADS
    return jobs if engine == "libaio" else _NO_LIMIT


def log_us(pool: Pooled) -> float:
    """Return the microseconds until a synchronous write is on stable media."""
    if pool.sync == "disabled":
        return _CALL_US
    log_target = pool.log or pool.vdevs
    is_rotational = log_target.drive.media is Media.HDD
    return _ROTATION_US if is_rotational else log_target.drive.write_alone_us + _FLASH_LOG_US
