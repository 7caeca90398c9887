"""/proc/diskstats: the kernel's running totals of block devices, and what lies between two of them. No I/O.

Fields as in the kernel's Documentation/admin-guide/iostats.rst; those after the eleventh (discards, flushes) are not
needed here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import astuple

from backends.values import dataclass

SECTOR = 512
"""Bytes of a sector in these counters, whatever the device's own."""

_FIELDS = 11
_COUNT = re.compile(r"[0-9]{1,20}")
_WRAP = 1 << 32
_FAR = 1 << 31


@dataclass(frozen=True, slots=True)
class DiskCounters:
    """Totals of one device since it appeared, or the difference of two such."""

    reads: int = 0
    """Reads completed."""
    sectors_read: int = 0
    """Sectors of 512 bytes."""
    writes: int = 0
    """Writes completed."""
    sectors_written: int = 0
    """Sectors of 512 bytes."""
    busy_ms: int = 0
    """Milliseconds with at least one request in flight."""
    waited_ms: int = 0
    """Milliseconds that all requests together were in flight."""


def parse(text: str, names: Iterable[str]) -> dict[str, DiskCounters]:
    """The totals of these devices by kernel name, as sysfs has it; what is not there or has too few fields is left out.

    Before Linux 2.6.25 a partition has four fields only.
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
    """What stands behind the name."""
    fields = field_text.split(None, _FIELDS)[:_FIELDS]
    if len(fields) < _FIELDS or not all(map(_COUNT.fullmatch, fields)):
        return None
    reads, _, sectors_read, _, writes, _, sectors_written, _, _, busy, waited = map(int, fields)
    return DiskCounters(reads, sectors_read, writes, sectors_written, busy, waited)


def since(before: DiskCounters, now: DiskCounters) -> DiskCounters:
    """What was done between two readings.

    Counters of 32 bits wrap (all of them on 32-bit kernels, the milliseconds everywhere). A device that went away and
    came back counts from nothing again: a fall that would be half of all 32 bits or more is taken for that.
    """
    steps = [_step(old, new) for old, new in zip(astuple(before), astuple(now), strict=True)]
    if any(step is None for step in steps):
        return now
    return DiskCounters(*(step or 0 for step in steps))


def _step(old: int, new: int) -> int | None:
    """The way from one count to the next; None if it began anew."""
    if new >= old:
        return new - old
    step = new + _WRAP - old
    return step if 0 <= step < _FAR else None
