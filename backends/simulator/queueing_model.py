"""How fast a simulated array is: a closed queueing model. Pure; told in words in docs/dev/simulation.md.

Every request costs time at four stations: the card's processor, the drives, the link, and the host in front of
them. With N requests in flight the array does X(N) a second; the mean time of one follows from Little's law.
"""

from __future__ import annotations

import math
from dataclasses import replace

from backends.model import Media
from backends.simulator.cache_model import cache_hit_paths, cached_demands
from backends.simulator.calibration import CORES, DRIVER_IOPS, ONE_CORE_IOPS, SCHEDULER_COST, SUBMIT_US
from backends.simulator.mirror import disk_demands
from backends.simulator.service_demand import Demand
from backends.simulator.workload_target import CacheHitPath, CacheKind, CacheMode, IoPattern, WorkloadTarget
from backends.simulator.zfs_model import log_us, pool_demands, pool_hit_paths
from backends.values import dataclass

__all__ = ["Direction", "IoPattern", "PredictedPerformance", "WorkloadTarget", "predict"]

_READ_KNEE = 1.0
_WRITE_KNEE = 4.0


_FAST_SPREAD, _FAST_TAIL = 0.195, 4.0
"""Of what a cache answers: as reads of flash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestClass:
    """Requests of one kind."""

    share: float
    """Of all requests of the direction, 0..1."""
    mean_us: float
    """See `Direction`."""
    spread: float
    """The same."""
    tail: float
    """The same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """Reads or writes."""

    iops: float
    """A second."""
    mean_us: float
    """Mean completion latency, as fio counts it."""
    spread: float
    """Its standard deviation as a share of the mean."""
    tail: float
    """How many times the mean the rare slow ones take."""
    burst: float = 1.0
    """How many times as fast as on average it goes between its pauses; 1 for a device that is even."""
    fast_share: float = 0.0
    """Requests that a cache answers, 0..1."""
    fast_us: float = 0.0
    """Mean latency of those; `mean_us` is that of all."""

    @property
    def request_classes(self) -> tuple[RequestClass, ...]:
        """The kinds of requests: one, or those that a cache answers and the others."""
        part = self.fast_share
        if part <= 0:
            return (RequestClass(share=1.0, mean_us=self.mean_us, spread=self.spread, tail=self.tail),)
        fast = RequestClass(share=part, mean_us=self.fast_us, spread=_FAST_SPREAD, tail=_FAST_TAIL)
        if part >= 1:
            return (replace(fast, mean_us=self.mean_us),)
        rest = max(self.fast_us, (self.mean_us - part * self.fast_us) / (1 - part))
        return fast, RequestClass(share=1 - part, mean_us=rest, spread=self.spread, tail=self.tail)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedPerformance:
    """What comes of it."""

    read: Direction | None
    """Reads."""
    write: Direction | None
    """Writes."""
    submit_us: float
    """Mean time of submitting (`slat`): waiting in front of a host that is the bottleneck included."""
    core_percent: float
    """Processor time of all jobs, 100 is one core."""
    flush_us: float
    """Mean time of a flush."""
    drive_busy: float
    """Share of time the drives work, 0..1."""

    @property
    def iops(self) -> float:
        """Both directions."""
        return (self.read.iops if self.read else 0.0) + (self.write.iops if self.write else 0.0)


def predict(layout: WorkloadTarget, work: IoPattern) -> PredictedPerformance:
    """Return throughput and latency of a workload on an array."""
    reads, writes = cached_demands(layout, work) or pool_demands(layout, work) or disk_demands(layout, work)
    share = work.read_share
    both = reads.mixed(writes, share)
    knee = _knee(reads, writes, share)
    capacity = 1e6 / both.together
    population = work.depth * work.jobs
    # What is beyond the queue's tags waits in the host and adds to latency, not to throughput.
    inside = min(population, work.tags)
    at_drives = layout.member_depth * layout.drives or math.inf
    free = _throughput(min(inside, at_drives), capacity, both.alone, knee)
    iops = min(free, _host(layout, work), work.rate_iops or math.inf)
    burst = _burst(layout, work, iops) if iops > 0.9 * free and share < 1 else 1.0
    # Where the host is the bottleneck the array is not full: fewer requests are in it than were asked for.
    held = inside if iops >= free else _population(iops, capacity, both.alone, knee)
    submit = SUBMIT_US
    if work.rate_iops is None or iops < work.rate_iops:
        submit += max(0.0, population - held) / iops * 1e6
    mean = max(held / iops * 1e6 - SUBMIT_US, 1.0)
    waiting = max(0.0, mean - both.alone)
    # What comes at random meets queues of any length; with a fixed number in flight they are all about as long.
    uneven = waiting / mean if work.at_random and iops == work.rate_iops else 0.0
    squeeze = min(1.0, mean / both.alone)
    request_classes = cache_hit_paths(layout, work) or pool_hit_paths(layout, work)
    where = max(range(len(both.stations)), key=both.stations.__getitem__)
    # One waits where there is something to wait for: what a cache answers does not wait for the disks behind it.
    weights = [demand.stations[where] / both.stations[where] if request_classes else 1.0 for demand in (reads, writes)]
    reading, writing = (
        (demand.alone * squeeze, waiting * weight) for demand, weight in zip((reads, writes), weights, strict=True)
    )
    red = _direction(layout, iops * share, sum(reading), True, share, uneven)
    written = _direction(layout, iops * (1 - share), sum(writing), False, share, uneven)
    if request_classes:
        red, written = (
            _with_cache_hits(red, request_classes[0], where, reading[1]),
            _with_cache_hits(written, request_classes[1], where, writing[1]),
        )
    return PredictedPerformance(
        read=red,
        write=None if written is None else replace(written, burst=burst),
        submit_us=submit,
        core_percent=min(100.0 * min(work.jobs, CORES), iops * _core_us(layout, work) / 1e4),
        flush_us=_flush(layout),
        drive_busy=min(1.0, iops * both.drives / 1e6),
    )


def _with_cache_hits(direction: Direction | None, way: CacheHitPath, where: int, waiting: float) -> Direction | None:
    """Return the direction with the requests that a cache answers apart. `where`: the station that `waiting` is for."""
    if direction is None or way.share <= 0:
        return direction
    mine = waiting / way.share if where == way.station else 0.0
    return replace(direction, fast_share=way.share, fast_us=min(way.alone_us + mine, direction.mean_us))


def _burst(layout: WorkloadTarget, work: IoPattern, iops: float) -> float:
    """How much faster than on average a device that is written as fast as it can goes between its pauses."""
    if layout.card is not None or work.sequential:
        return 1.0
    return max(1.0, min(layout.drive.burst, layout.drive.write_mbps * 1e6 / (iops * work.mean_bytes)))


def _flush(layout: WorkloadTarget) -> float:
    """A flush ends in a cache that is kept alive, else at the medium."""
    if layout.pool is not None:
        return log_us(layout.pool)
    if layout.write_back:
        return 60.0
    cache = layout.cache
    if cache is not None and (cache.kind is CacheKind.WRITECACHE or cache.mode is CacheMode.WRITE_BACK):
        return _flush(cache.fast)
    return 8_300.0 if layout.drive.media is Media.HDD else 900.0


def _throughput(population: float, capacity: float, alone_us: float, knee: float) -> float:
    """X(N): N/alone when nearly idle, the capacity when full, smoothly between."""
    load = population / (capacity * alone_us / 1e6)
    return float(capacity * load / (1 + load**knee) ** (1 / knee))


def _population(iops: float, capacity: float, alone_us: float, knee: float) -> float:
    """N(X), the inverse: requests in the array when something in front of it limits the throughput."""
    used = min(iops / capacity, 0.999999)
    return float(capacity * alone_us / 1e6 * used / (1 - used**knee) ** (1 / knee))


def _knee(reads: Demand, writes: Demand, share: float) -> float:
    """Reads spread over drives and queue unevenly, writes pile up at one place: their demands weigh."""
    read, write = reads.together * share, writes.together * (1 - share)
    return (_READ_KNEE * read + _WRITE_KNEE * write) / (read + write)


def _one_core(work: IoPattern) -> float:
    """Requests a second of one job; larger ones cost a little more."""
    return ONE_CORE_IOPS * SCHEDULER_COST.get(work.scheduler, 0.86) / (1 + work.mean_bytes / (512 * 1024))


def _core_us(layout: WorkloadTarget, work: IoPattern) -> float:
    """Return the processor time of a request on the core of its job: of fio, and of md that the job goes through."""
    software, own = layout.software, 1e6 / _one_core(work)
    if software is None:
        return own
    submit = software.read_us * work.read_share + software.write_us * (1 - work.read_share)
    return max(own, submit + layout.layered * software.layer_us)  # md's figures were fitted with those of fio in them


def _host(layout: WorkloadTarget, work: IoPattern) -> float:
    """Return what the host takes: processors for the jobs, driver and interrupts for what the disks hang from."""
    return min(_driver(layout), _one_core(work) * min(work.jobs, CORES))


def _driver(layout: WorkloadTarget) -> float:
    if layout.card is not None:
        return layout.card.driver_iops
    if layout.software is not None:
        return layout.software.adapter_iops
    if layout.cache is not None:
        return max(_driver(layout.cache.slow), _driver(layout.cache.fast))
    # What memory answers passes no driver; NVMe has queues and interrupts for each core.
    return math.inf if layout.pool is not None or layout.drive.media is Media.NVME else DRIVER_IOPS


def _direction(
    layout: WorkloadTarget, iops: float, mean_us: float, read: bool, share: float, uneven: float
) -> Direction | None:
    """`uneven`: the share of the latency that is waiting in a queue of random length, which scatters by its mean."""
    if iops <= 0:
        return None
    direction = _steady_direction(layout, iops, mean_us, read, share)
    return replace(direction, spread=math.hypot(direction.spread * (1 - uneven), uneven))


def _steady_direction(layout: WorkloadTarget, iops: float, mean_us: float, read: bool, share: float) -> Direction:
    """Return the direction with queues of equal length."""
    mix = 1.0 if share in (0.0, 1.0) else 1.35
    if layout.drive.media is Media.HDD:
        return Direction(iops=iops, mean_us=mean_us, spread=0.55 * mix, tail=4.0)
    if read:
        spread = 0.146 if layout.cached else 0.178 if layout.read_ahead else 0.195
        return Direction(iops=iops, mean_us=mean_us, spread=spread * mix, tail=4.0)
    spread = 0.39 if layout.write_back else 0.345 if layout.fastpath else 0.253
    return Direction(iops=iops, mean_us=mean_us, spread=spread * mix, tail=14.0 if layout.write_back else 5.0)
