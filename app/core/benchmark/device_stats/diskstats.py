"""Parser for /proc/diskstats, the running totals of block devices, and differences of such totals. No I/O.

The fields are those of the kernel's Documentation/admin-guide/iostats.rst. Fields after the eleventh (discards,
flushes) are not used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import astuple

from backends.values import dataclass

SECTOR = 512
"""Bytes of a sector in these counters, independent of the sector size of the device."""

_FIELDS = 11
_COUNT = re.compile(r"[0-9]{1,20}")
_WRAP = 1 << 32
_LARGEST_STEP = 1 << 31


@dataclass(frozen=True, slots=True)
class DiskCounters:
    """Totals of one device since it appeared, or the difference between two such totals."""

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
    fields = field_text.split(None, _FIELDS)[:_FIELDS]
    if len(fields) < _FIELDS or not all(map(_COUNT.fullmatch, fields)):
        return None
    reads, _, sectors_read, _, writes, _, sectors_written, _, _, busy, waited = map(int, fields)
    return DiskCounters(reads, sectors_read, writes, sectors_written, busy, waited)


def since(before: DiskCounters, now: DiskCounters) -> DiskCounters:
    """Return the difference between two readings.

    Counters of 32 bits wrap: all counters of 32-bit kernels, and the milliseconds of every kernel. A device that was
    removed and added again counts from 0. A decrease counts as a wrap if the step is below 2^31, else as a new start
    from 0.
    """
    steps = [_step(old, new) for old, new in zip(astuple(before), astuple(now), strict=True)]
    if any(step is None for step in steps):
        return now
    return DiskCounters(*(step or 0 for step in steps))


def _step(old: int, new: int) -> int | None:
    """Return the increase of a counter from `old` to `new`, wraps included; None if the counter was reset."""
    if new >= old:
        return new - old
    step = new + _WRAP - old
    return step if 0 <= step < _LARGEST_STEP else None
