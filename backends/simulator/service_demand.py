"""What one request costs at the stations of a simulated array: card, drives, link. Pure; see docs/dev/simulation.md."""

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
"""Exponent with which the stations' demands add up: nearly the largest alone."""
_HIT_US = 30.0
"""Time of taking a block out of a card's cache, the card's own latency apart."""
_ZEROS_US = 3.0
"""Time in which a driver answers for flash that was never written, by itself."""
SORTED = 0.8
"""Share of the time that disks take for writes which a cache gives them in the order of their places."""


_LARGE_CHUNK = 512 << 10
"""Bytes of a chunk from which on heads that pass over every other one read as if in order: an estimate."""
_FAR_WRITE, _OFFSET_WRITE = 0.6, 0.9
"""Share of the writing speed of HDDs that is left where their heads move to the copies. md(4) says "substantially
slower" of far and "without as much seeking" of offset; the figures are estimates."""


@dataclass(frozen=True, slots=True)
class Demand:
    """Microseconds that one request takes at each station, and alone."""

    stations: tuple[float, ...]
    """At each: the card's processor, the drives together and the way to the host; of an md mirror, each drive."""
    alone: float
    """Latency with nothing else in flight."""
    drives: float
    """Of the drives, of the busiest where they are told apart."""

    def mixed(self, other: Demand, share: float) -> Demand:
        """This for `share` of the requests, the other for the rest."""
        pairs = zip(self.stations, other.stations, strict=True)
        return Demand(
            tuple(mine * share + theirs * (1 - share) for mine, theirs in pairs),
            self.alone * share + other.alone * (1 - share),
            self.drives * share + other.drives * (1 - share),
        )

    def times(self, factor: float) -> Demand:
        """Everything that often."""
        return Demand(tuple(part * factor for part in self.stations), self.alone * factor, self.drives * factor)

    @property
    def together(self) -> float:
        """What a request takes of the bottleneck, its neighbours not forgotten: 1/capacity."""
        # Not the maximum: near balance the stations wait for each other, and the bend of measured curves is round.
        return math.pow(math.fsum(math.pow(part, _STATIONS) for part in self.stations), 1 / _STATIONS)


def mean_demand(
    demand: Callable[[WorkloadTarget, IoPattern, int], Demand], layout: WorkloadTarget, work: IoPattern
) -> Demand:
    """The mean demand over the mix of block sizes."""
    rows = [(demand(layout, work, size), share) for size, share in work.sizes]
    return Demand(
        tuple(
            math.fsum(part * share for part, (_, share) in zip(station, rows, strict=True))
            for station in zip(*(row.stations for row, _ in rows), strict=True)
        ),
        math.fsum(row.alone * share for row, share in rows),
        math.fsum(row.drives * share for row, share in rows),
    )


def _op(layout: WorkloadTarget, work: IoPattern, size: float, *, read: bool) -> float:
    """Time that one operation of `size` bytes takes of a drive, microseconds."""
    drive = layout.drive
    base, speed = (drive.read_us, drive.read_mbps) if read else (drive.write_us, drive.write_mbps)
    slower = 1.0
    if not read:
        slower = {"off": drive.no_cache, "on": drive.cache}.get(layout.drive_cache, 1.0)
    if work.sequential:
        return size / speed * slower
    base *= _seek_share(layout, work)
    if work.alignment % PAGE and drive.media is Media.SSD:
        # Flash pages that are touched in part: one more to read, and to write they are read first.
        base *= 1.3 if read else 2.2
    return (base + max(0.0, size - PAGE) / speed) * slower


def _seek_share(layout: WorkloadTarget, work: IoPattern) -> float:
    """Time of a random operation as a share of one on the whole device: in a small region heads have a short way."""
    if not work.region_bytes or not layout.size_bytes:
        return 1.0
    # A seek takes about the root of its distance.
    return 1 - layout.drive.seek * (1 - math.sqrt(min(1.0, work.region_bytes / layout.size_bytes)))


def _copies_read(layout: WorkloadTarget, work: IoPattern) -> float:
    """Return the share of the drives' time that reads of md's RAID 10 make use of.

    Far copies are read as a RAID 0 of the first part of each drive, offset ones alike where chunks are large, near ones
    as RAID 1+0: each drive passes over the copies that another one reads (md(4), "RAID10"; read_balance of
    drives/md/raid10.c before it told drives without heads apart).
    """
    if not layout.copies or layout.arrangement == "far" or not work.sequential:
        return 1.0
    near = 1 / layout.copies
    if layout.arrangement == "near":
        return near
    if layout.drive.media is not Media.HDD:
        return 1.0
    return near + (1 - near) * min(1.0, layout.strip_bytes / _LARGE_CHUNK)


def _copies_written(layout: WorkloadTarget) -> float:
    """Return the share of the speed of writes that is left by the way to the other copies."""
    if not layout.copies or layout.drive.media is not Media.HDD:
        return 1.0
    return {"far": _FAR_WRITE, "offset": _OFFSET_WRITE}.get(layout.arrangement, 1.0)


def _parts(layout: WorkloadTarget, work: IoPattern, size: int) -> float:
    """Pieces into which strips cut a request, on average."""
    strip = layout.strip_bytes
    if layout.drives == 1 and layout.card is None:
        return 1.0
    if layout.drives == 1 or work.sequential:
        return max(1.0, size / strip)
    # How many strip boundaries a request of this size crosses depends on where it may begin.
    step = math.gcd(work.alignment, strip)
    return max(1.0, (size - step) / strip + 1) if size > step or size > strip else 1.0


def _by_lines(layout: WorkloadTarget, work: IoPattern, size: int) -> tuple[float, IoPattern]:
    """Bytes that the drives move for a random request which the card's cache takes in whole lines, and how they lie."""
    line = layout.card.line_bytes if layout.card is not None and not work.sequential else 0
    if not line:
        return size, work
    step = math.gcd(work.alignment, line)
    return ((size - step) // line + (size - step) % line / line + 1) * line, replace(work, align=line)


def _hit(layout: WorkloadTarget, work: IoPattern, size: int, part: float) -> float:
    """Share of the requests whose block is in the part of the card's cache that they may use."""
    region, room = work.region_bytes or layout.size_bytes, 0.8 * layout.cache_bytes * part
    share = min(1.0, room / region) if region else 0.0
    if work.sequential:
        return float(share == 1.0)  # what does not fit is gone when the stream comes by again
    # Blocks larger than the requests are kept whole: until their neighbours are asked for, that is waste.
    filled = min(1.0, size / layout.cache_block_bytes) if layout.cache_block_bytes else 1.0
    return share * (filled + (1 - filled) * share)


def _moving(layout: WorkloadTarget, size: int, card: CardType) -> float:
    """Time of moving a request in or out of the cache, block by block, beyond its first block."""
    blocks = math.ceil(size / layout.cache_block_bytes) if layout.cache_block_bytes else 1
    return (blocks - 1) * card.block_us


def _unwritten(layout: WorkloadTarget, work: IoPattern) -> float:
    """Share of the reads that touch no flash, since nothing was ever written there."""
    region = work.region_bytes or layout.size_bytes
    if layout.written_bytes is None or not region:
        return 0.0
    return max(0.0, 1 - layout.written_bytes / region)


def read_demand(layout: WorkloadTarget, work: IoPattern, size: int) -> Demand:
    """Of one read."""
    drive, card = layout.drive, layout.card
    streaming = work.sequential and (layout.read_ahead or card is None)
    parts = _parts(layout, work, size)
    fetched, lying = _by_lines(layout, work, size) if layout.read_ahead else (size, work)
    if layout.copies and layout.arrangement == "far":
        # Reads stay in the first part of each drive (commit 8ed3a19563b6 of Linux).
        lying = replace(lying, region_bytes=(lying.region_bytes or layout.size_bytes) // layout.copies)
    op = _op(layout, lying, fetched / parts, read=True)
    mirrored = layout.level in (Level.RAID1, Level.RAID10)
    spread = layout.drives * (card.mirror_gain if mirrored and card is not None else 1.0)
    drives = op * parts / spread / (1 - layout.rebuild_share) / _copies_read(layout, work)
    if layout.degraded:
        drives *= 1 + _degraded_work(layout)
    alone = drive.read_alone_us * _seek_share(layout, work) + (fetched - PAGE) / drive.read_mbps / max(1.0, parts)
    if streaming:
        alone = 25.0 + size / drive.read_mbps / max(1, layout.drives)
    if layout.software is not None:
        return _with_md(layout, work, size, Demand((0.0, drives, 0.0), max(alone, 5.0), drives), read=True)
    if card is None:
        fresh = _unwritten(layout, work)
        kept = 1 - fresh
        # A stream takes what the drive's own link carries, which is all that its drives do: no station of its own.
        link = 0.0 if work.sequential else size / drive.read_mbps / layout.drives
        stations = (fresh * _ZEROS_US, drives * kept, link * kept)
        return Demand(stations, max(alone * kept + fresh * _ZEROS_US, 5.0), drives * kept)
    time = card.read_us
    if work.sequential:
        time = card.sequential_us + card.strip_us * size / layout.strip_bytes
    else:
        time += layout.read_ahead * card.read_ahead_us + layout.cached * card.cached_us
        if layout.fastpath and not layout.cached and not layout.read_ahead:
            time -= card.fastpath_us
    # Only cached I/O looks into the controller's cache for a read; direct I/O passes by it.
    if layout.cached:
        hit = _hit(layout, work, size, layout.read_part)
        drives *= 1 - hit
        alone = alone * (1 - hit) + _HIT_US * hit
        time += _moving(layout, size, card)
    time += (parts - 1) * card.read_us * 0.25
    return Demand((time, drives, size / card.read_mbps), max(alone, 5.0) + card.alone_us, drives)


def _degraded_work(layout: WorkloadTarget) -> float:
    """Return the work added by reading the data of a missing drive from all others."""
    if layout.level in (Level.RAID1, Level.RAID10):
        return 1 / max(1, layout.drives)
    return max(0, layout.drives - 1) / (layout.drives + layout.degraded)


def write_demand(layout: WorkloadTarget, work: IoPattern, size: int) -> Demand:
    """Of one write, with the reading before that parity makes necessary."""
    drive, card = layout.drive, layout.card
    parity = PARITY.get(layout.level, 0)
    if layout.bypass_bytes and size >= layout.bypass_bytes:
        layout = replace(layout, write_back=False)
    parts = _parts(layout, work, size)
    full = _full_stripes(layout, work, size) if parity else 0.0
    op = _op(layout, work, size / parts, read=False)
    copies = layout.copies or (2 if layout.level in (Level.RAID1, Level.RAID10) else 1)
    operations = float(copies)
    busy = op * parts * copies / _copies_written(layout)
    alone = drive.write_alone_us * _seek_share(layout, work) + (size - PAGE) / drive.write_mbps / max(1.0, parts)
    if parity:
        width = (layout.drives + layout.degraded) / layout.spans
        moved, lying = _by_lines(layout, work, size) if layout.write_back else (size, work)
        fetch, put = (_op(layout, lying, moved / parts, read=read) for read in (True, False))
        efficiency = card.parity_efficiency if card is not None and not _takes_fast_path(layout) else 1.0
        if layout.software is not None:
            efficiency = layout.software.again
        # Read-modify-write: old data and old parity are read, both are written.
        again = (1 + parity) * (put + fetch) * parts / efficiency
        # A full stripe needs nothing from the drives: parity comes from what is in memory.
        whole = size / drive.write_mbps * width / max(1.0, width - parity)
        busy = whole * full + again * (1 - full)
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
    hit = _hit(layout, work, size, layout.write_part)
    taken = card.write_back_us + (card.write_back_op_us * operations + (card.parity_us if parity else 0.0)) * (1 - hit)
    if work.sequential:
        taken = card.sequential_us * 2 + size / (4 * card.write_mbps) + card.strip_us * size / layout.strip_bytes
    elif drive.media is Media.HDD and layout.sorts_writes:
        drives *= SORTED
    # What is written again before it has left the cache costs the drives nothing.
    drives *= 1 - hit
    taken += _moving(layout, size, card)
    if layout.mirrored:
        taken *= 1 + card.copy_cost
    return Demand((taken, drives, link), card.write_back_alone_us + size / card.write_mbps, drives)


def _with_md(layout: WorkloadTarget, work: IoPattern, size: int, demand: Demand, *, read: bool) -> Demand:
    """Return it with the processor time of md, and what is left of the drives where all of them stream at once."""
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
        left = software.write_stream
        if read:
            # Strips of parity are passed over, and the heads or buffers of their drives with them.
            left = software.stream * (1 - parity * layout.spans / (layout.drives + layout.degraded))
            left *= software.layer_stream if layout.layered else 1.0
        drives /= left
    jobs = max(1, min(work.jobs, CORES))
    # Each array of an array of arrays has a thread of its own, which one job does not keep busy at the same time.
    time = submit / jobs + threaded / min(jobs, layout.spans)
    return Demand((time, drives, 0.0), demand.alone + submit + threaded, drives)


def parity_operations(layout: WorkloadTarget, work: IoPattern) -> tuple[float, float, float]:
    """Of an array with parity, on average: reads of its drives for a read, reads for a write, writes for a write."""
    parity, width = PARITY[layout.level], (layout.drives + layout.degraded) / layout.spans
    full = math.fsum(_full_stripes(layout, work, size) * share for size, share in work.sizes)
    again = (1 + parity) * (1 - full)
    return 1 + layout.degraded * _degraded_work(layout), again, again + full * width / max(1.0, width - parity)


def _takes_fast_path(layout: WorkloadTarget) -> bool:
    """Whether writes take the fast path: the I/O policy is about reads and does not matter here."""
    return layout.fastpath and not layout.write_back and not layout.read_ahead


def _full_stripes(layout: WorkloadTarget, work: IoPattern, size: int) -> float:
    """Share of the bytes written in whole stripes, which need no reading before."""
    width = (layout.drives + layout.degraded) // max(1, layout.spans) - PARITY.get(layout.level, 0)
    stripe = layout.strip_bytes * max(1, width)
    if work.sequential and layout.write_back:
        return 1.0
    if size % stripe == 0:
        return 1.0
    return max(0.0, (size // stripe - 1) * stripe / size)
