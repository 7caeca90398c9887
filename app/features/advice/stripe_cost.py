"""Stripe arithmetic: what writes of a size and alignment cost on an array with parity. Pure.

A stripe that is written whole needs no reading: parity is computed from what is written. Of one that is written in
part either the old data and parity are read first (read-modify-write) or the strips that are not written
(reconstruct-write); drivers/md/raid5.c, handle_stripe_dirtying, takes what reads less. Both are counted here in
pieces of a strip, so the figures are lower bounds.
"""

from __future__ import annotations

from functools import cache
from math import gcd

from backends.values import dataclass

_MOST_OFFSETS = 1 << 16
"""Offsets that are tried; more differ in nothing but patience."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StripeCost:
    """Means over all offsets that the writes can have."""

    full_stripe: int
    """Bytes of data in a stripe."""
    whole: float
    """Stripes that one write fills."""
    partial: float
    """Stripes that it writes a part of."""
    partial_share: float
    """Share of the bytes that go into stripes written in part, 0..1."""
    member_ios: float
    """Reads and writes of members for one write, at least."""
    ideal_ios: float
    """The same if all its bytes went into whole stripes."""

    @property
    def touched(self) -> float:
        """Stripes that one write reaches."""
        return self.whole + self.partial


@cache  # asked every two seconds while a job runs, with thousands of offsets
def stripe_cost(size: int, align: int, *, strip: int, data: int, parity: int) -> StripeCost:
    """What a write of `size` bytes at multiples of `align` costs; stripes are of `data` and `parity` strips."""
    full = strip * data
    step = gcd(align, full)
    if full // step > _MOST_OFFSETS:
        step = full // gcd(full, _MOST_OFFSETS)
    offsets = range(0, full, step)
    whole = partial = partial_bytes = ios = 0
    for offset in offsets:
        for start, length in _pieces(offset, size, full):
            if length >= full:
                count = length // full
                whole += count
                ios += count * (data + parity)
            else:
                partial += 1
                partial_bytes += length
                strips = -(-(start % strip + length) // strip)
                ios += min(2 * (strips + parity), data + parity)
    number = len(offsets)
    return StripeCost(
        full_stripe=full,
        whole=whole / number,
        partial=partial / number,
        partial_share=partial_bytes / (number * size),
        member_ios=ios / number,
        ideal_ios=size / strip * (data + parity) / data,
    )


def _pieces(offset: int, size: int, full: int) -> list[tuple[int, int]]:
    """(offset within its stripe, bytes) of the part before the first boundary, of the whole stripes, of the rest."""
    first = min(size, -offset % full)
    middle = (size - first) // full * full
    last = size - first - middle
    return [(start, length) for start, length in ((offset, first), (0, middle), (0, last)) if length]
