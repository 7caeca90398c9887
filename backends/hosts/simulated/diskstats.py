"""The kernel's totals of the simulated disks: what a running fio adds to them, and /proc/diskstats made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from backends.hosts.simulated.load import Expected, IoPattern, Layout
from backends.hosts.simulated.mirror import busy_share, halves, in_flight
from backends.model import Level
from backends.values import dataclass

Totals = dict[str, list[float]]
"""By kernel name: reads, sectors read, writes, sectors written, milliseconds busy, milliseconds waited for."""

DISKSTATS = "/proc/diskstats"
"""Where the kernel keeps count."""

_SECTOR = 512
_COLUMNS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskShare:
    """A disk's part of what a job does."""

    name: str
    """Kernel name."""
    reads: float
    """Share of the reads."""
    writes: float
    """Share of the writes; a copy on each is 1 for each."""
    queued: float
    """Requests in flight there."""


def shares(name: str, members: Sequence[str], layout: Layout, work: IoPattern, expected: Expected) -> list[DiskShare]:
    """The disk under a job, and what is below an md array or a multipath disk: stripes and paths share evenly."""
    population = float(min(work.depth * work.jobs, work.tags))
    found = [DiskShare(name=name, reads=1.0, writes=1.0, queued=population)]
    loads = halves(layout, work)
    if loads is not None:
        queued = in_flight(loads, expected.iops, population)
        found += [
            DiskShare(name=member, reads=load.reads, writes=1.0 if work.read_share < 1 else 0.0, queued=waiting)
            for member, load, waiting in zip(members, loads, queued, strict=True)
        ]
    elif members:
        even = 1 / len(members)
        copies = 2 if layout.card is None and layout.level in (Level.RAID1, Level.RAID10) else 1
        found += [DiskShare(name=one, reads=even, writes=copies * even, queued=population * even) for one in members]
    return found


@dataclass(slots=True)
class DiskCounts:
    """What the jobs of this process have done, as far as the rack does not have it yet."""

    totals: Totals = field(default_factory=dict)
    """By disk."""
    seconds: float = 0.0
    """How long they ran, in the rack's time."""

    def add(self, disks: Sequence[DiskShare], done: tuple[int, int, int, int], seconds: float) -> None:
        """What a job did in so many seconds: reads, bytes read, writes, bytes written."""
        reads, read_bytes, writes, written = done
        self.seconds += seconds
        for disk in disks:
            added = [
                reads * disk.reads,
                read_bytes * disk.reads / _SECTOR,
                writes * disk.writes,
                written * disk.writes / _SECTOR,
                busy_share(disk.queued) * seconds * 1000,
                disk.queued * seconds * 1000,
            ]
            self.totals[disk.name] = _sum(self.totals.get(disk.name), added)

    def move_to(self, totals: Totals) -> None:
        """Give it all to the rack."""
        for name, row in self.totals.items():
            totals[name] = _sum(totals.get(name), row)
        self.totals.clear()


def _sum(one: Sequence[float] | None, other: Sequence[float] | None) -> list[float]:
    nothing = (0.0,) * _COLUMNS
    return [had + more for had, more in zip(one or nothing, other or nothing, strict=True)]


def diskstats(numbers: Mapping[str, str], before: Totals, now: Totals) -> str:
    """The text of /proc/diskstats. `numbers`: MAJ:MIN of each disk by kernel name."""
    lines = []
    for name, number in numbers.items():
        reads, sectors, writes, written, busy, waited = map(int, _sum(before.get(name), now.get(name)))
        major, _, minor = number.partition(":")
        lines.append(
            f"{major:>4} {minor:>7} {name} {reads} 0 {sectors} 0 {writes} 0 {written} 0 0 {busy} {waited} 0 0 0 0 0 0"
        )
    return "\n".join(lines) + "\n"
