"""Stripe arithmetic: the cost of writes to a parity array by size and alignment. No I/O.

A full-stripe write needs no reads: parity is computed from the written data. For a partial stripe, the array first
reads either the old data and parity (read-modify-write) or the strips that are not written (reconstruct-write). The
kernel chooses whichever reads less (drivers/md/raid5.c, handle_stripe_dirtying). Both are counted in I/Os of up to one
strip, so the results are lower bounds.
"""

from __future__ import annotations

from functools import cache
from math import gcd

from backends.values import dataclass

_MOST_OFFSETS = 1 << 16
"""Maximum number of offsets to try; more cost time and change nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StripeCost:
    """Means over all offsets that the writes can have."""

    stripe_bytes: int
    """Bytes of data in a stripe."""
    full_stripes: float
    """Stripes that one write fills completely."""
    partial: float
    """Stripes that one write fills partly."""
    partial_share: float
    """Share of the bytes that go into partial stripes, 0..1."""
    member_ios: float
    """Lower bound of member reads and writes for one write."""
    ideal_ios: float
    """Member reads and writes if all bytes went into full stripes."""

    @property
    def touched_stripes(self) -> float:
        """Return the number of stripes that one write touches."""
        return self.full_stripes + self.partial


@cache  # called every two seconds during a run, with thousands of offsets
def stripe_cost(size: int, align: int, *, strip: int, data: int, parity: int) -> StripeCost:
    """Return the cost of writing `size` bytes at multiples of `align` to stripes of `data` and `parity` strips."""
    full = strip * data
    step = gcd(align, full)
    if full // step > _MOST_OFFSETS:
        step = full // gcd(full, _MOST_OFFSETS)
    offsets = range(0, full, step)
    full_stripes = partial = partial_bytes = ios = 0
    for offset in offsets:
        for start, length in _pieces(offset, size, full):
            if length >= full:
                count = length // full
                full_stripes += count
                ios += count * (data + parity)
            else:
                partial += 1
                partial_bytes += length
                strips = -(-(start % strip + length) // strip)
                ios += min(2 * (strips + parity), data + parity)
    number = len(offsets)
    return StripeCost(
        stripe_bytes=full,
        full_stripes=full_stripes / number,
        partial=partial / number,
        partial_share=partial_bytes / (number * size),
        member_ios=ios / number,
        ideal_ios=size / strip * (data + parity) / data,
    )


def _pieces(offset: int, size: int, full: int) -> list[tuple[int, int]]:
    """Return (offset in its stripe, bytes) of the part before the first boundary, the full stripes, and the rest."""
    first = min(size, -offset % full)
    middle = (size - first) // full * full
    last = size - first - middle
    return [(start, length) for start, length in ((offset, first), (0, middle), (0, last)) if length]
