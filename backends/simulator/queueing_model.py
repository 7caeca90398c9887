"""Predicts the performance of a simulated array with a closed queueing model. No I/O.

docs/dev/simulation.md explains the model.

Every request takes time at four stations: the controller's processor, the drives, the link, and the host in front of
them. With N requests in flight, the array completes X(N) requests per second. The mean time of a request follows from
Little's law.
"""

from __future__ import annotations

import math
from dataclasses import replace

from backends.model import Media
from backends.simulator.cache_model import cached_demands
from backends.simulator.calibration import CORES, DRIVER_IOPS, ONE_CORE_IOPS, SCHEDULER_COST, SUBMIT_US
from backends.simulator.mirror import disk_demands
from backends.simulator.service_demand import Demand
from backends.simulator.workload_target import CacheHitPath, CacheKind, CacheMode, IoPattern, WorkloadTarget
from backends.simulator.zfs_model import log_us, pool_demands
from backends.values import dataclass

__all__ = ["Direction", "IoPattern", "PredictedPerformance", "WorkloadTarget", "predict"]

_READ_KNEE = 1.0
_WRITE_KNEE = 4.0


_FAST_SPREAD, _FAST_TAIL = 0.195, 4.0
"""Latency spread and tail of cache hits, which are assumed to equal those of flash reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestClass:
    """Performance of one class of requests, such as cache hits."""

    share: float
    """Share of the reads, or of the writes, 0..1."""
    mean_us: float
    """Mean completion latency in microseconds."""
    spread: float
    """Standard deviation of the latency, relative to the mean."""
    tail: float
    """Latency of rare slow requests, as a multiple of the mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """Performance of reads or writes."""

    iops: float
    """Requests per second."""
    mean_us: float
    """Mean completion latency in microseconds, as fio reports it."""
    spread: float
    """Standard deviation of the latency, relative to the mean."""
    tail: float
    """Latency of rare slow requests, as a multiple of the mean."""
    burst: float = 1.0
    """Speed between the device's pauses, relative to the mean speed; 1 for a device without pauses."""
    fast_share: float = 0.0
    """Share of cache hits, 0..1."""
    fast_us: float = 0.0
    """Mean latency of cache hits in microseconds. `mean_us` is the mean of all requests."""

    @property
    def request_classes(self) -> tuple[RequestClass, ...]:
        """Classes of requests: a single one, or cache hits and misses."""
        hit_share = self.fast_share
        if hit_share <= 0:
            return (RequestClass(share=1.0, mean_us=self.mean_us, spread=self.spread, tail=self.tail),)
        fast = RequestClass(share=hit_share, mean_us=self.fast_us, spread=_FAST_SPREAD, tail=_FAST_TAIL)
        if hit_share >= 1:
            return (replace(fast, mean_us=self.mean_us),)
        rest = max(self.fast_us, (self.mean_us - hit_share * self.fast_us) / (1 - hit_share))
        return fast, RequestClass(share=1 - hit_share, mean_us=rest, spread=self.spread, tail=self.tail)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedPerformance:
    """Predicted performance of a workload."""

    read: Direction | None
    """Performance of reads, or None without reads."""
    write: Direction | None
    """Performance of writes, or None without writes."""
    submit_us: float
    """Mean submission latency (`slat`) in microseconds, including the wait if the host is saturated."""
    core_percent: float
    """Processor time of all jobs; 100 is one core."""
    flush_us: float
    """Mean latency of a flush in microseconds."""
    drive_busy: float
    """Share of time that the drives are busy, 0..1."""

    @property
    def iops(self) -> float:
        """IOPS of reads and writes together."""
        return (self.read.iops if self.read else 0.0) + (self.write.iops if self.write else 0.0)


def predict(layout: WorkloadTarget, work: IoPattern) -> PredictedPerformance:
    """Return the predicted throughput and latency of a workload on an array."""
    cached = cached_demands(layout, work) or pool_demands(layout, work)
    reads, writes, hit_paths = cached or (*disk_demands(layout, work), None)
    share = work.read_share
    both = reads.mix(writes, share)
    knee = _knee(reads, writes, share)
    capacity = 1e6 / both.together
    population = work.depth * work.jobs
    # Requests for which the queue has no tag wait in the host. They increase latency, not throughput.
    in_queue = min(population, work.tags)
    at_drives = layout.member_depth * layout.drives or math.inf
    free = _throughput(min(in_queue, at_drives), capacity, both.alone, knee)
    iops = min(free, _host_iops(layout, work), work.rate_iops or math.inf)
    burst = _burst_factor(layout, work, iops) if iops > 0.9 * free and share < 1 else 1.0
    # If the host is the bottleneck, only some of the requests in flight are in the array.
    in_array = in_queue if iops >= free else _population(iops, capacity, both.alone, knee)
    submit = SUBMIT_US
    if work.rate_iops is None or iops < work.rate_iops:
        submit += max(0.0, population - in_array) / iops * 1e6
    mean = max(in_array / iops * 1e6 - SUBMIT_US, 1.0)
    waiting = max(0.0, mean - both.alone)
    # Random arrivals find queues of varying length. With a fixed number of requests in flight, queues are about equally
    # long.
    uneven = waiting / mean if work.at_random and iops == work.rate_iops else 0.0
    squeeze = min(1.0, mean / both.alone)
    bottleneck = max(range(len(both.stations)), key=both.stations.__getitem__)
    # Requests wait only at stations that they use: cache hits do not wait for the disks behind the cache.
    used = both.stations[bottleneck]
    weights = [demand.stations[bottleneck] / used if hit_paths else 1.0 for demand in (reads, writes)]
    reading, writing = (
        (demand.alone * squeeze, waiting * weight) for demand, weight in zip((reads, writes), weights, strict=True)
    )
    read_direction = _direction(layout, iops * share, sum(reading), True, share, uneven)
    write_direction = _direction(layout, iops * (1 - share), sum(writing), False, share, uneven)
    if hit_paths:
        read_direction = _with_cache_hits(read_direction, hit_paths[0], bottleneck, reading[1])
        write_direction = _with_cache_hits(write_direction, hit_paths[1], bottleneck, writing[1])
    return PredictedPerformance(
        read=read_direction,
        write=None if write_direction is None else replace(write_direction, burst=burst),
        submit_us=submit,
        core_percent=min(100.0 * min(work.jobs, CORES), iops * _core_us(layout, work) / 1e4),
        flush_us=_flush_us(layout),
        drive_busy=min(1.0, iops * both.drives / 1e6),
    )


def _with_cache_hits(direction: Direction | None, path: CacheHitPath, station: int, waiting: float) -> Direction | None:
    """Return the direction with its cache hits as a separate class of requests.

    `waiting`: mean time in microseconds that a request waits at the station with the index `station`.
    """
    if direction is None or path.share <= 0:
        return direction
    hit_waiting = waiting / path.share if station == path.station else 0.0
    return replace(direction, fast_share=path.share, fast_us=min(path.alone_us + hit_waiting, direction.mean_us))


def _burst_factor(layout: WorkloadTarget, work: IoPattern, iops: float) -> float:
    """Return the speed of random writes between the drive's pauses, relative to the mean speed, at full load."""
    if layout.card is not None or work.sequential:
        return 1.0
    return max(1.0, min(layout.drive.burst, layout.drive.write_mbps * 1e6 / (iops * work.mean_bytes)))


def _flush_us(layout: WorkloadTarget) -> float:
    """Return the latency of a flush in microseconds: until the data are in a protected cache, or else on the medium."""
    if layout.pool is not None:
        return log_us(layout.pool)
    if layout.write_back:
        return 60.0
    cache = layout.cache
    if cache is not None and (cache.kind is CacheKind.WRITECACHE or cache.mode is CacheMode.WRITE_BACK):
        return _flush_us(cache.fast)
    return 8_300.0 if layout.drive.media is Media.HDD else 900.0


def _throughput(population: float, capacity: float, alone_us: float, knee: float) -> float:
    """Return the throughput X(N) in requests per second, for N (`population`) requests in flight.

    It is N divided by the latency `alone_us` when nearly idle, `capacity` when saturated, and a smooth curve between.
    """
    load = population / (capacity * alone_us / 1e6)
    return float(capacity * load / (1 + load**knee) ** (1 / knee))


def _population(iops: float, capacity: float, alone_us: float, knee: float) -> float:
    """Return N(X), the inverse of `_throughput`: the requests in the array if the host limits the throughput."""
    utilisation = min(iops / capacity, 0.999999)
    return float(capacity * alone_us / 1e6 * utilisation / (1 - utilisation**knee) ** (1 / knee))


def _knee(reads: Demand, writes: Demand, share: float) -> float:
    """Return how sharply the throughput curve bends: the mean of reads and writes, weighted by their demand.

    Reads spread unevenly over queues, so their curve bends gently. Writes wait at one place, so theirs bends sharply.
    """
    read, write = reads.together * share, writes.together * (1 - share)
    return (_READ_KNEE * read + _WRITE_KNEE * write) / (read + write)


def _core_iops(work: IoPattern) -> float:
    """Return the maximum IOPS of one job, which its core limits. Larger requests take a little more processor time."""
    return ONE_CORE_IOPS * SCHEDULER_COST.get(work.scheduler, 0.86) / (1 + work.mean_bytes / (512 * 1024))


def _core_us(layout: WorkloadTarget, work: IoPattern) -> float:
    """Return the processor time per request of fio and md on the core that runs the job."""
    software, fio_us = layout.software, 1e6 / _core_iops(work)
    if software is None:
        return fio_us
    submit = software.read_us * work.read_share + software.write_us * (1 - work.read_share)
    return max(fio_us, submit + layout.layered * software.layer_us)  # the times measured for md include that of fio


def _host_iops(layout: WorkloadTarget, work: IoPattern) -> float:
    """Return the host's IOPS limit: that of the jobs' processors, or that of driver and interrupts if lower."""
    return min(_driver_iops(layout), _core_iops(work) * min(work.jobs, CORES))


def _driver_iops(layout: WorkloadTarget) -> float:
    if layout.card is not None:
        return layout.card.driver_iops
    if layout.software is not None:
        return layout.software.adapter_iops
    if layout.cache is not None:
        return max(_driver_iops(layout.cache.slow), _driver_iops(layout.cache.fast))
    # The ARC needs no driver, and NVMe has queues and interrupts for each core: no limit.
    return math.inf if layout.pool is not None or layout.drive.media is Media.NVME else DRIVER_IOPS


def _direction(
    layout: WorkloadTarget, iops: float, mean_us: float, read: bool, share: float, uneven: float
) -> Direction | None:
    """Return the performance of one direction, or None without requests.

    `uneven`: share of the latency that requests wait in a queue of random length. The standard deviation of that wait
    equals its mean.
    """
    if iops <= 0:
        return None
    direction = _steady_direction(layout, iops, mean_us, read, share)
    return replace(direction, spread=math.hypot(direction.spread * (1 - uneven), uneven))


def _steady_direction(layout: WorkloadTarget, iops: float, mean_us: float, read: bool, share: float) -> Direction:
    """Return the performance of one direction if all queues are equally long."""
    mix = 1.0 if share in (0.0, 1.0) else 1.35
    if layout.drive.media is Media.HDD:
        return Direction(iops=iops, mean_us=mean_us, spread=0.55 * mix, tail=4.0)
    if read:
        spread = 0.146 if layout.cached else 0.178 if layout.read_ahead else 0.195
        return Direction(iops=iops, mean_us=mean_us, spread=spread * mix, tail=4.0)
    spread = 0.39 if layout.write_back else 0.345 if layout.fastpath else 0.253
    return Direction(iops=iops, mean_us=mean_us, spread=spread * mix, tail=14.0 if layout.write_back else 5.0)
