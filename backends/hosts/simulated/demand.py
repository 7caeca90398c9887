"""What one request costs at the stations of a simulated array: card, drives, link. Pure; see docs/simulation.md."""

from __future__ import annotations

import math
from collections.abc import Callable

from backends.hosts.simulated.calibration import CardType, DriveType
from backends.model import Level, Media
from backends.values import dataclass

_PAGE = 4096
_STATIONS = 8.0
"""Exponent with which the stations' demands add up: nearly the largest alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What is measured, in the state in force."""

    card: CardType | None
    """Its controller; None for a drive of the host's own."""
    drive: DriveType
    """Its members."""
    level: Level = Level.RAID0
    """Level."""
    drives: int = 1
    """Members that are there."""
    spans: int = 1
    """Spans of a spanned level."""
    strip_bytes: int = 65536
    """Strip."""
    write_back: bool = False
    """Writes are cached."""
    read_ahead: bool = False
    """Reads are looked ahead."""
    cached: bool = False
    """Reads go through the cache."""
    fastpath: bool = False
    """The activation key is there and nothing but the I/O policy keeps requests from the fast path."""
    drive_cache: str = "default"
    """`on`, `off`, `default`."""
    degraded: int = 0
    """Members missing."""
    rebuild_share: float = 0.0
    """Share of the drives' time that a rebuild takes."""
    cache_bytes: int = 0
    """The card's cache."""
    size_bytes: int = 0
    """Usable size."""
    halves: tuple[DriveType, DriveType] | None = None
    """The two copies of an md mirror, which need not be alike; None for everything else."""
    read_from: tuple[bool, bool] = (True, True)
    """Which of them are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IoPattern:
    """What is asked of it."""

    read_share: float = 1.0
    """0..1."""
    sequential: bool = False
    """Offsets follow each other."""
    sizes: tuple[tuple[int, float], ...] = ((_PAGE, 1.0),)
    """Block sizes with their shares, which add up to 1."""
    align: int | None = None
    """Random offsets are multiples of it; None is the smallest block."""
    depth: int = 1
    """Requests in flight of each job."""
    jobs: int = 1
    """Threads."""
    region_bytes: int = 0
    """How much of the device is used; 0 is all of it."""
    rate_iops: float | None = None
    """Limit of all jobs together."""
    at_random: bool = False
    """Requests of that rate come at random, and wait for none before them."""
    scheduler: str = "none"
    """The kernel's I/O scheduler."""
    tags: int = 1024
    """Requests that the kernel passes on at once."""

    @property
    def alignment(self) -> int:
        """Bytes of which every random offset is a multiple."""
        return self.align or min(size for size, _ in self.sizes)

    @property
    def mean_bytes(self) -> float:
        """Bytes of an average request."""
        return sum(size * share for size, share in self.sizes)


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

    @property
    def together(self) -> float:
        """What a request takes of the bottleneck, its neighbours not forgotten: 1/capacity."""
        # Not the maximum: near balance the stations wait for each other, and the bend of measured curves is round.
        return math.pow(math.fsum(math.pow(part, _STATIONS) for part in self.stations), 1 / _STATIONS)


def of_sizes(of: Callable[[Layout, IoPattern, int], Demand], layout: Layout, work: IoPattern) -> Demand:
    """The mean demand over the mix of block sizes."""
    rows = [(of(layout, work, size), share) for size, share in work.sizes]
    return Demand(
        tuple(
            math.fsum(part * share for part, (_, share) in zip(station, rows, strict=True))
            for station in zip(*(row.stations for row, _ in rows), strict=True)
        ),
        math.fsum(row.alone * share for row, share in rows),
        math.fsum(row.drives * share for row, share in rows),
    )


def _op(drive: DriveType, work: IoPattern, size: float, *, read: bool, cache: str = "default") -> float:
    """Time that one operation of `size` bytes takes of a drive, microseconds."""
    base, speed = (drive.read_us, drive.read_mbps) if read else (drive.write_us, drive.write_mbps)
    slower = 1.0
    if not read:
        slower = drive.no_cache if cache == "off" else drive.cache if cache == "on" else 1.0
    if work.sequential:
        return size / speed * slower
    if work.alignment % _PAGE and drive.media is Media.SSD:
        # Flash pages that are touched in part: one more to read, and to write they are read first.
        base *= 1.3 if read else 2.2
    return base * slower + max(0.0, size - _PAGE) / speed


def _parts(layout: Layout, work: IoPattern, size: int) -> float:
    """Pieces into which strips cut a request, on average."""
    strip = layout.strip_bytes
    if layout.drives == 1 or work.sequential:
        return max(1.0, size / strip)
    # How many strip boundaries a request of this size crosses depends on where it may begin.
    step = math.gcd(work.alignment, strip)
    return max(1.0, (size - step) / strip + 1) if size > step or size > strip else 1.0


def _hit(layout: Layout, work: IoPattern) -> float:
    """Share of random requests whose block is in the card's cache already."""
    region = work.region_bytes or layout.size_bytes
    return min(1.0, 0.8 * layout.cache_bytes / region) if region and layout.cache_bytes else 0.0


def read_demand(layout: Layout, work: IoPattern, size: int) -> Demand:
    """Of one read."""
    drive, card = layout.drive, layout.card
    streaming = work.sequential and (layout.read_ahead or card is None)
    parts = _parts(layout, work, size)
    op = _op(drive, work, size / parts, read=True)
    mirrored = layout.level in (Level.RAID1, Level.RAID10)
    spread = layout.drives * (card.mirror_gain if mirrored and card is not None else 1.0)
    drives = op * parts / spread / (1 - layout.rebuild_share)
    if layout.degraded:
        drives *= 1 + _lost(layout)
    alone = drive.read_alone_us + (size - _PAGE) / drive.read_mbps / max(1.0, parts)
    if streaming:
        alone = 25.0 + size / drive.read_mbps / max(1, layout.drives)
    if card is None:
        return Demand((0.0, drives, size / drive.read_mbps), max(alone, 5.0), drives)
    time = card.sequential_us if work.sequential else card.read_us
    if not work.sequential:
        time += layout.read_ahead * card.read_ahead_us + layout.cached * card.cached_us
        if layout.fastpath and not layout.cached and not layout.read_ahead:
            time -= card.fastpath_us
        # Only cached I/O looks into the controller's cache for a read; direct I/O passes by it.
        hit = _hit(layout, work) if layout.cached else 0.0
        drives *= 1 - hit
        alone = alone * (1 - hit) + 30.0 * hit
    time += (parts - 1) * card.read_us * 0.25
    return Demand((time, drives, size / card.read_mbps), max(alone, 5.0) + card.alone_us, drives)


def _lost(layout: Layout) -> float:
    """Work added by reading what a missing drive held from all others."""
    if layout.level in (Level.RAID1, Level.RAID10):
        return 1 / max(1, layout.drives)
    return max(0, layout.drives - 1) / (layout.drives + layout.degraded)


def _parity(level: Level) -> int:
    """Parity blocks of a stripe."""
    return {Level.RAID5: 1, Level.RAID50: 1, Level.RAID6: 2, Level.RAID60: 2}.get(level, 0)


def write_demand(layout: Layout, work: IoPattern, size: int) -> Demand:
    """Of one write, with the reading before that parity makes necessary."""
    drive, card = layout.drive, layout.card
    parity = _parity(layout.level)
    parts = _parts(layout, work, size)
    full = _full_stripes(layout, work, size) if parity else 0.0
    op = _op(drive, work, size / parts, read=False, cache=layout.drive_cache)
    copies = 2 if layout.level in (Level.RAID1, Level.RAID10) else 1
    operations = float(copies)
    busy = op * parts * copies
    alone = drive.write_alone_us + (size - _PAGE) / drive.write_mbps / max(1.0, parts)
    if parity:
        width = (layout.drives + layout.degraded) / layout.spans
        fetch = _op(drive, work, size / parts, read=True)
        efficiency = card.parity_efficiency if card is not None and not _fast(layout) else 1.0
        # Read-modify-write: old data and old parity are read, both are written.
        again = (1 + parity) * (op + fetch) * parts / efficiency
        # A full stripe needs nothing from the drives: parity comes from what is in memory.
        whole = size / drive.write_mbps * width / max(1.0, width - parity)
        busy = whole * full + again * (1 - full)
        operations = (2 + 2 * parity) * (1 - full) + width / max(1.0, width - parity) * full
        alone += drive.read_alone_us * (1 - full)
    drives = busy / layout.drives / (1 - layout.rebuild_share)
    if layout.degraded:
        drives *= 1 + _lost(layout) / 2
    if card is None:
        return Demand((0.0, drives, size / drive.write_mbps), max(alone, 5.0), drives)
    link = size / card.write_mbps
    if not layout.write_back:
        return Demand((card.write_us * operations, drives, link), max(alone, 5.0) + card.alone_us, drives)
    taken = card.write_back_us + card.write_back_op_us * operations + (card.parity_us if parity else 0.0)
    if work.sequential:
        taken = card.sequential_us * 2 + size / (4 * card.write_mbps)
    else:
        drives *= 1 - _hit(layout, work)
    return Demand((taken, drives, link), card.write_back_alone_us + size / card.write_mbps, drives)


def _fast(layout: Layout) -> bool:
    """Whether writes take the fast path: the I/O policy is about reads and does not matter here."""
    return layout.fastpath and not layout.write_back and not layout.read_ahead


def _full_stripes(layout: Layout, work: IoPattern, size: int) -> float:
    """Share of the bytes written in whole stripes, which need no reading before."""
    width = (layout.drives + layout.degraded) // max(1, layout.spans) - _parity(layout.level)
    stripe = layout.strip_bytes * max(1, width)
    if work.sequential and layout.write_back:
        return 1.0
    if size % stripe == 0:
        return 1.0
    return max(0.0, (size // stripe - 1) * stripe / size)
