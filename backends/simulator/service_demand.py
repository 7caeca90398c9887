"""Demand of one request: its time at controller, drives and link of a simulated array. No I/O.

docs/dev/simulation.md explains the model.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from backends.model import Level, Media
from backends.raid import PARITY
from backends.simulator.calibration import CORES, CardType
from backends.simulator.workload_target import PAGE, IoPattern, WorkloadTarget
from backends.values import dataclass

_STATIONS = 8.0
"""Exponent with which the stations' times are added. It makes the sum nearly equal to the longest of these times."""
_HIT_US = 30.0
"""Microseconds to read a block from a controller's cache, in addition to the latency of the controller itself."""
_ZEROS_US = 3.0
"""Microseconds that a driver takes for a read of flash that was never written."""
SORTED = 0.8
"""Factor of the time that writes take on the disks if a cache issues them in order of position."""


_LARGE_CHUNK = 512 << 10
"""Chunk size in bytes above which disks read at full sequential speed although their heads skip every other chunk. An
estimate."""
_FAR_WRITE, _OFFSET_WRITE = 0.6, 0.9
"""Shares of an HDD's write speed that are left in an md RAID 10 with far copies, and with offset copies.

The rest is lost to seeks between the copies. md(4) calls far "substantially slower", and offset "without as much
seeking". The values are estimates.
"""


@dataclass(frozen=True, slots=True)
class Demand:
    """Demand of one request: microseconds at each station, and the latency with nothing else in flight."""

    stations: tuple[float, ...]
    """Microseconds at each station: controller's processor, all drives together, link; for an md mirror, each drive."""
    alone: float
    """Latency in microseconds with nothing else in flight."""
    drives: float
    """Microseconds that the drives together are busy, or the busiest drive if they differ."""

    def mix(self, other: Demand, share: float) -> Demand:
        """Return the mean of this demand for `share` of the requests and of another demand for the rest."""
        pairs = zip(self.stations, other.stations, strict=True)
        return Demand(
            tuple(mine * share + theirs * (1 - share) for mine, theirs in pairs),
            self.alone * share + other.alone * (1 - share),
            self.drives * share + other.drives * (1 - share),
        )

    def times(self, factor: float) -> Demand:
        """Return this demand with all times multiplied by a factor."""
        return Demand(tuple(part * factor for part in self.stations), self.alone * factor, self.drives * factor)

    @property
    def together(self) -> float:
        """Time per request at full load (1/capacity): at the bottleneck, with the effect of the other stations."""
        # The maximum would be wrong: stations with similar times wait for each other, so measured curves bend smoothly.
        return math.pow(math.fsum(math.pow(part, _STATIONS) for part in self.stations), 1 / _STATIONS)


def mean_demand(
    demand: Callable[[WorkloadTarget, IoPattern, int], Demand], layout: WorkloadTarget, work: IoPattern
) -> Demand:
    """Return the mean of the demand over the job's mix of block sizes. `demand` returns the demand for one size."""
    rows = [(demand(layout, work, size), share) for size, share in work.sizes]
    return Demand(
        tuple(
            math.fsum(part * share for part, (_, share) in zip(station, rows, strict=True))
            for station in zip(*(row.stations for row, _ in rows), strict=True)
        ),
        math.fsum(row.alone * share for row, share in rows),
        math.fsum(row.drives * share for row, share in rows),
    )


def _operation_us(layout: WorkloadTarget, work: IoPattern, size: float, *, read: bool) -> float:
    """Return a drive's time for one operation of `size` bytes, in microseconds."""
    drive = layout.drive
    base, speed = (drive.read_us, drive.read_mbps) if read else (drive.write_us, drive.write_mbps)
    slower = 1.0
    if not read:
        slower = {"off": drive.no_cache, "on": drive.cache}.get(layout.drive_cache, 1.0)
    if work.sequential:
        return size / speed * slower
    base *= _seek_share(layout, work)
    if work.alignment % PAGE and drive.media is Media.SSD:
        # With partial flash pages, a read needs one more page, and a write must first read the pages.
        base *= 1.3 if read else 2.2
    return (base + max(0.0, size - PAGE) / speed) * slower


def _seek_share(layout: WorkloadTarget, work: IoPattern) -> float:
    """Return the time of a random operation in the job's region, relative to one on the complete device."""
    if not work.region_bytes or not layout.size_bytes:
        return 1.0
    # Seek time is about proportional to the square root of the distance.
    return 1 - layout.drive.seek * (1 - math.sqrt(min(1.0, work.region_bytes / layout.size_bytes)))


def _copies_read_share(layout: WorkloadTarget, work: IoPattern) -> float:
    """Return the share of the drives' speed that sequential reads of an md RAID 10 get.

    Far copies are read as a RAID 0 on the first part of each drive, and so are, nearly, offset copies with large
    chunks. Near copies are read as a RAID 1+0, in which each drive skips the copies that another drive reads. Sources:
    md(4), "RAID10"; read_balance of drives/md/raid10.c before it distinguished non-rotational drives.
    """
    if not layout.copies or layout.arrangement == "far" or not work.sequential:
        return 1.0
    near = 1 / layout.copies
    if layout.arrangement == "near":
        return near
    if layout.drive.media is not Media.HDD:
        return 1.0
    return near + (1 - near) * min(1.0, layout.strip_bytes / _LARGE_CHUNK)


def _copies_written_share(layout: WorkloadTarget) -> float:
    """Return the share of the drives' write speed that is left after the seeks to the other copies of a RAID 10."""
    if not layout.copies or layout.drive.media is not Media.HDD:
        return 1.0
    return {"far": _FAR_WRITE, "offset": _OFFSET_WRITE}.get(layout.arrangement, 1.0)


def _strip_count(layout: WorkloadTarget, work: IoPattern, size: int) -> float:
    """Return the mean number of strips that a request touches."""
    strip = layout.strip_bytes
    if layout.drives == 1 and layout.card is None:
        return 1.0
    if layout.drives == 1 or work.sequential:
        return max(1.0, size / strip)
    # The mean number of strip boundaries in a request depends on the alignment of its offset.
    step = math.gcd(work.alignment, strip)
    return max(1.0, (size - step) / strip + 1) if size > step or size > strip else 1.0


def _cache_lines(layout: WorkloadTarget, work: IoPattern, size: int) -> tuple[float, IoPattern]:
    """Return the bytes that drives move for a request, and their I/O pattern. The cache moves complete lines."""
    line = layout.card.line_bytes if layout.card is not None and not work.sequential else 0
    if not line:
        return size, work
    step = math.gcd(work.alignment, line)
    return ((size - step) // line + (size - step) % line / line + 1) * line, replace(work, align=line)


def _hit_share(layout: WorkloadTarget, work: IoPattern, size: int, part: float) -> float:
    """Return the share of requests whose block is in the controller's cache.

    `part`: share of the cache that these requests may use.
    """
    region, cache_bytes = work.region_bytes or layout.size_bytes, 0.8 * layout.cache_bytes * part
    share = min(1.0, cache_bytes / region) if region else 0.0
    if work.sequential:
        return float(share == 1.0)  # a stream larger than the cache evicts its data before it reads them again
    # The cache keeps complete blocks. A block that is larger than the request wastes space until its other parts are
    # used.
    filled = min(1.0, size / layout.cache_block_bytes) if layout.cache_block_bytes else 1.0
    return share * (filled + (1 - filled) * share)


def _moving_us(layout: WorkloadTarget, size: int, card: CardType) -> float:
    """Return the microseconds for moving a request's cache blocks, except the first, into or out of the cache."""
    blocks = math.ceil(size / layout.cache_block_bytes) if layout.cache_block_bytes else 1
    return (blocks - 1) * card.block_us


def _unwritten_share(layout: WorkloadTarget, work: IoPattern) -> float:
    """Return the share of reads that need no flash access because their blocks were never written."""
    region = work.region_bytes or layout.size_bytes
    if layout.written_bytes is None or not region:
        return 0.0
    return max(0.0, 1 - layout.written_bytes / region)


def read_demand(layout: WorkloadTarget, work: IoPattern, size: int) -> Demand:
    """Return the demand of one read."""
    drive, card = layout.drive, layout.card
    streaming = work.sequential and (layout.read_ahead or card is None)
    parts = _strip_count(layout, work, size)
    fetched, pattern = _cache_lines(layout, work, size) if layout.read_ahead else (size, work)
    if layout.copies and layout.arrangement == "far":
        # Far copies are read only from the first part of each drive (Linux commit 8ed3a19563b6), so seeks are shorter.
        pattern = replace(pattern, region_bytes=(pattern.region_bytes or layout.size_bytes) // layout.copies)
    op = _operation_us(layout, pattern, fetched / parts, read=True)
    mirrored = layout.level in (Level.RAID1, Level.RAID10)
    spread = layout.drives * (card.mirror_gain if mirrored and card is not None else 1.0)
    drives = op * parts / spread / (1 - layout.rebuild_share) / _copies_read_share(layout, work)
    if layout.degraded:
        drives *= 1 + _degraded_work(layout)
    alone = drive.read_alone_us * _seek_share(layout, work) + (fetched - PAGE) / drive.read_mbps / max(1.0, parts)
    if streaming:
        alone = 25.0 + size / drive.read_mbps / max(1, layout.drives)
    if layout.software is not None:
        return _with_md(layout, work, size, Demand((0.0, drives, 0.0), max(alone, 5.0), drives), read=True)
    if card is None:
        unwritten = _unwritten_share(layout, work)
        written = 1 - unwritten
        # For a stream, the time of the drive's link is already part of the drives' time.
        link = 0.0 if work.sequential else size / drive.read_mbps / layout.drives
        stations = (unwritten * _ZEROS_US, drives * written, link * written)
        return Demand(stations, max(alone * written + unwritten * _ZEROS_US, 5.0), drives * written)
    card_us = card.read_us
    if work.sequential:
        card_us = card.sequential_us + card.strip_us * size / layout.strip_bytes
    else:
        card_us += layout.read_ahead * card.read_ahead_us + layout.cached * card.cached_us
        if layout.fastpath and not layout.cached and not layout.read_ahead:
            card_us -= card.fastpath_us
    # Reads use the controller's cache only with cached I/O; direct I/O bypasses the cache.
    if layout.cached:
        hit = _hit_share(layout, work, size, layout.read_part)
        drives *= 1 - hit
        alone = alone * (1 - hit) + _HIT_US * hit
        card_us += _moving_us(layout, size, card)
    card_us += (parts - 1) * card.read_us * 0.25
    return Demand((card_us, drives, size / card.read_mbps), max(alone, 5.0) + card.alone_us, drives)


def _degraded_work(layout: WorkloadTarget) -> float:
    """Return the extra work of reconstructing a missing drive's data from the others, as a share of the normal work."""
    if layout.level in (Level.RAID1, Level.RAID10):
        return 1 / max(1, layout.drives)
    return max(0, layout.drives - 1) / (layout.drives + layout.degraded)


def write_demand(layout: WorkloadTarget, work: IoPattern, size: int) -> Demand:
    """Return the demand of one write, including the reads that parity requires."""
    drive, card = layout.drive, layout.card
    parity = PARITY.get(layout.level, 0)
    if layout.bypass_bytes and size >= layout.bypass_bytes:
        layout = replace(layout, write_back=False)
    parts = _strip_count(layout, work, size)
    full = _full_stripes(layout, work, size) if parity else 0.0
    op = _operation_us(layout, work, size / parts, read=False)
    copies = layout.copies or (2 if layout.level in (Level.RAID1, Level.RAID10) else 1)
    operations = float(copies)
    busy = op * parts * copies / _copies_written_share(layout)
    alone = drive.write_alone_us * _seek_share(layout, work) + (size - PAGE) / drive.write_mbps / max(1.0, parts)
    if parity:
        width = (layout.drives + layout.degraded) / layout.spans
        moved, pattern = _cache_lines(layout, work, size) if layout.write_back else (size, work)
        read_us, write_us = (_operation_us(layout, pattern, moved / parts, read=read) for read in (True, False))
        # Write-back and read-ahead rule out FastPath. The I/O policy affects only reads, so it is not checked here.
        fast = layout.fastpath and not layout.write_back and not layout.read_ahead
        efficiency = card.parity_efficiency if card is not None and not fast else 1.0
        if layout.software is not None:
            efficiency = layout.software.again
        # Read-modify-write reads old data and old parity, and writes new data and new parity.
        rewrite = (1 + parity) * (write_us + read_us) * parts / efficiency
        # A full stripe needs no reads: parity is computed from data in memory.
        full_stripe = size / drive.write_mbps * width / max(1.0, width - parity)
        busy = full_stripe * full + rewrite * (1 - full)
        operations = (2 + 2 * parity) * (1 - full) + width / max(1.0, width - parity) * full
        alone += drive.read_alone_us * (1 - full)
    drives = busy / layout.drives / (1 - layout.rebuild_share)
    if layout.degraded:
        drives *= 1 + _degraded_work(layout) / 2
    if layout.software is not None:
        return _with_md(layout, work, size, Demand((0.0, drives, 0.0), max(alone, 5.0), drives), read=False)
    if card is None:
        link = 0.0 if work.sequential else size / drive.write_mbps / layout.drives
        return Demand((0.0, drives, link), max(alone, 5.0), drives)
    link = size / card.write_mbps
    if not layout.write_back:
        return Demand((card.write_us * operations, drives, link), max(alone, 5.0) + card.alone_us, drives)
    hit = _hit_share(layout, work, size, layout.write_part)
    parity_us = card.parity_us if parity else 0.0
    card_us = card.write_back_us + (card.write_back_op_us * operations + parity_us) * (1 - hit)
    if work.sequential:
        card_us = card.sequential_us * 2 + size / (4 * card.write_mbps) + card.strip_us * size / layout.strip_bytes
    elif drive.media is Media.HDD and layout.sorts_writes:
        drives *= SORTED
    # Data that are overwritten in the cache are never written to the drives.
    drives *= 1 - hit
    card_us += _moving_us(layout, size, card)
    if layout.mirrored:
        card_us *= 1 + card.copy_cost
    return Demand((card_us, drives, link), card.write_back_alone_us + size / card.write_mbps, drives)


def _with_md(layout: WorkloadTarget, work: IoPattern, size: int, demand: Demand, *, read: bool) -> Demand:
    """Return the demand with md's processor time added, and with slower drives if all of them stream at once."""
    software, parity = layout.software, PARITY.get(layout.level, 0)
    assert software is not None
    submit = (software.read_us if read else software.write_us) + layout.layered * software.layer_us
    threaded = 0.0
    if parity:
        threaded += software.parity_us[parity] * (software.read_parity if read else 1.0)
    if parity > 1 and not read:
        threaded += size * _full_stripes(layout, work, size) / software.second_mbps
    drives = demand.drives
    if work.sequential:
        speed_share = software.write_stream
        if read:
            # Reads skip parity strips, but the drives still lose time for them.
            speed_share = software.stream * (1 - parity * layout.spans / (layout.drives + layout.degraded))
            speed_share *= software.layer_stream if layout.layered else 1.0
        drives /= speed_share
    jobs = max(1, min(work.jobs, CORES))
    # Each inner array has its own thread, but a single job does not keep all of these threads busy.
    processor_us = submit / jobs + threaded / min(jobs, layout.spans)
    return Demand((processor_us, drives, 0.0), demand.alone + submit + threaded, drives)


def parity_operations(layout: WorkloadTarget, work: IoPattern) -> tuple[float, float, float]:
    """Return the drive operations of an array with parity: drive reads per read, drive reads and writes per write."""
    parity, width = PARITY[layout.level], (layout.drives + layout.degraded) / layout.spans
    full = math.fsum(_full_stripes(layout, work, size) * share for size, share in work.sizes)
    again = (1 + parity) * (1 - full)
    return 1 + layout.degraded * _degraded_work(layout), again, again + full * width / max(1.0, width - parity)


def _full_stripes(layout: WorkloadTarget, work: IoPattern, size: int) -> float:
    """Return the share of bytes written in full stripes, which need no reads."""
    width = (layout.drives + layout.degraded) // max(1, layout.spans) - PARITY.get(layout.level, 0)
    stripe = layout.strip_bytes * max(1, width)
    if work.sequential and layout.write_back:
        return 1.0
    if size % stripe == 0:
        return 1.0
    return max(0.0, (size // stripe - 1) * stripe / size)
