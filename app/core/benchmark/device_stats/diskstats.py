"""Parser for /proc/diskstats, the running totals of block devices, and differences of such totals. No I/O.

The fields are those of the kernel's Documentation/admin-guide/iostats.rst. Discards (fields 12 to 15) are not used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from operator import add, sub
from typing import NamedTuple

from backends.values import dataclass

SECTOR = 512
"""Bytes of a sector in these counters, independent of the sector size of the device."""

_COUNT, _SPACE = r"([0-9]{1,20})", r"[ \t]+"
_FLUSHES = rf"(?:(?:{_SPACE}[0-9]{{1,20}}){{4}}{_SPACE}{_COUNT}{_SPACE}{_COUNT}(?![^ \t]))?"
_COUNTS = re.compile(_SPACE.join([_COUNT] * 11) + r"(?![^ \t])" + _FLUSHES)
_WRAP = 1 << 32
_LARGEST_STEP = 1 << 31


class DiskCounters(NamedTuple):
    """Totals of one device since it appeared, or the difference between two such totals.

    It is a tuple, because a hundred are made and compared every second.
    """

    reads: int = 0
    """Reads completed."""
    sectors_read: int = 0
    """Sectors read, of 512 bytes each."""
    writes: int = 0
    """Writes completed."""
    sectors_written: int = 0
    """Sectors written, of 512 bytes each."""
    busy_ms: int = 0
    """Milliseconds with at least one request in flight."""
    waited_ms: int = 0
    """Milliseconds in flight, added up over all requests."""
    read_ms: int = 0
    """Milliseconds that the completed reads took, added up over all reads."""
    write_ms: int = 0
    """Milliseconds that the completed writes took, added up over all writes."""
    flushes: int = 0
    """Flushes completed; 0 if the kernel does not count them (`counts_flushes`).

    An explicit flush is also counted as a write without data. A journal's flush may be part of a write with data.
    """
    flush_ms: int = 0
    """Milliseconds that the completed flushes took, added up over all flushes."""


@dataclass(frozen=True, slots=True)
class DeviceRates:
    """I/O of one device between two readings."""

    done: DiskCounters
    """Difference between the two readings."""
    seconds: float
    """Time between the readings; more than 0."""

    @property
    def read_iops(self) -> float:
        """Completed reads per second."""
        return self.done.reads / self.seconds

    @property
    def write_iops(self) -> float:
        """Completed writes per second."""
        return self.done.writes / self.seconds

    @property
    def read_bytes_per_second(self) -> float:
        """Bytes read per second."""
        return self.done.sectors_read * SECTOR / self.seconds

    @property
    def write_bytes_per_second(self) -> float:
        """Bytes written per second."""
        return self.done.sectors_written * SECTOR / self.seconds

    @property
    def latency_ns(self) -> float | None:
        """Mean time in nanoseconds that a completed read or write took; None if unknown.

        It is unknown if none was completed, or if all took too little time for the kernel to count.
        """
        return _mean_ns(self.done.read_ms + self.done.write_ms, self.done.reads + self.done.writes)

    @property
    def read_latency_ns(self) -> float | None:
        """Mean time in nanoseconds of a read; None if unknown, as for `latency_ns`."""
        return _mean_ns(self.done.read_ms, self.done.reads)

    @property
    def write_latency_ns(self) -> float | None:
        """Mean time in nanoseconds of a write; None if unknown, as for `latency_ns`."""
        return _mean_ns(self.done.write_ms, self.done.writes)

    @property
    def flush_latency_ns(self) -> float | None:
        """Mean time in nanoseconds of a flush; None if unknown, as for `latency_ns`."""
        return _mean_ns(self.done.flush_ms, self.done.flushes)

    @property
    def flush_iops(self) -> float:
        """Completed flushes per second."""
        return self.done.flushes / self.seconds

    @property
    def utilisation(self) -> float:
        """Share of the time with at least one request in flight, 0..1."""
        return min(1.0, self.done.busy_ms / 1000 / self.seconds)  # ticks are rounded, so the quotient may exceed 1

    @property
    def queue(self) -> float:
        """Mean number of requests in flight."""
        return self.done.waited_ms / 1000 / self.seconds


def _mean_ns(milliseconds: int, count: int) -> float | None:
    return milliseconds * 1e6 / count if count and milliseconds else None


def parse(text: str, names: Iterable[str]) -> dict[str, DiskCounters]:
    """Return the totals of the named devices, by kernel name as in sysfs.

    Devices that are missing or have too few fields are left out: before Linux 2.6.25 a partition has only four.
    """
    wanted = {name.replace("!", "/"): name for name in names}
    totals: dict[str, DiskCounters] = {}
    for line in text.split("\n"):
        tokens = line.split(None, 3)
        if len(tokens) == 4 and tokens[2] in wanted:
            counters = _counters(tokens[3])
            if counters is not None:
                totals[wanted[tokens[2]]] = counters
    return totals


def _counters(field_text: str) -> DiskCounters | None:
    """Return the counters from the fields after the name, or None if they are incomplete or no numbers."""
    match = _COUNTS.match(field_text)
    if match is None:
        return None
    numbers = map(int, match.groups("0"))
    reads, _, sectors_read, read_ms, writes, _, sectors_written, write_ms, _, busy, waited, *flushes = numbers
    return DiskCounters(reads, sectors_read, writes, sectors_written, busy, waited, read_ms, write_ms, *flushes)


def counts_flushes(text: str) -> bool:
    """Return whether /proc/diskstats has the flushes: Linux 5.5 and later write twenty fields a line."""
    return len(text.partition("\n")[0].split()) >= 20


def is_reset(before: DiskCounters, now: DiskCounters) -> bool:
    """Return whether a counter decreased by more than a wrap explains: the device was removed and added again."""
    return now != before and None in map(_step, before, now)


def since(before: DiskCounters, now: DiskCounters) -> DiskCounters:
    """Return the difference between two readings.

    Counters of 32 bits wrap: all counters of 32-bit kernels, and the milliseconds of every kernel. A device that was
    removed and added again counts from 0. A decrease counts as a wrap if the step is below 2^31, else as a new start
    from 0.
    """
    if before == now:
        return _NO_IO
    done = DiskCounters(*map(sub, now, before))
    if min(done) >= 0:
        return done
    steps = [_step(old, new) for old, new in zip(before, now, strict=True)]
    if any(step is None for step in steps):
        return now
    return DiskCounters(*(step or 0 for step in steps))


def add_counters(counters: Iterable[DiskCounters]) -> DiskCounters:
    """Return the sum of counters."""
    result = _NO_IO
    for other in counters:
        result = DiskCounters(*map(add, result, other))
    return result


_NO_IO = DiskCounters()


def _step(old: int, new: int) -> int | None:
    """Return the increase of a counter from `old` to `new`, wraps included; None if the counter was reset."""
    if new >= old:
        return new - old
    step = new + _WRAP - old
    return step if 0 <= step < _LARGEST_STEP else None
