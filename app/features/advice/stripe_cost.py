"""Computes the cost of writes to a parity array from their size and alignment. No I/O.

A full-stripe write needs no reads, because parity is computed from the written data. For a partial stripe, the array
first reads either the old data and parity (read-modify-write) or the strips that are not written (reconstruct-write).
The kernel chooses the method with fewer reads (drivers/md/raid5.c, handle_stripe_dirtying). Each I/O is assumed to
cover up to one strip, so the results are lower bounds.
"""

from __future__ import annotations

from functools import cache
from math import gcd

from backends.values import dataclass

_MOST_OFFSETS = 1 << 16
"""Maximum number of offsets to try. More offsets would cost time and not change the result noticeably."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StripeCost:
    """Cost of a write, averaged over all offsets that the writes can have."""

    stripe_bytes: int
    """Bytes of data in a full stripe."""
    full_stripes: float
    """Number of stripes that one write fills completely."""
    partial: float
    """Number of stripes that one write fills partially."""
    partial_share: float
    """Share of the bytes that go into partial stripes, from 0 to 1."""
    member_ios: float
    """Minimum number of reads and writes of members for one write."""
    ideal_ios: float
    """Number of I/Os on members per write if all bytes went into full stripes."""

    @property
    def touched_stripes(self) -> float:
        """Return the number of stripes that one write touches."""
        return self.full_stripes + self.partial


@cache  # called every two seconds during a run, and tries thousands of offsets
def stripe_cost(size: int, align: int, *, strip: int, data: int, parity: int) -> StripeCost:
    """Return the cost of writing `size` bytes at multiples of `align`.

    `strip`: bytes of a strip; `data` and `parity`: numbers of data and parity strips in a stripe.
    """
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
    """Split a write at stripe boundaries: the part before the first boundary, the full stripes, and the rest.

    Return the offset in its stripe and the number of bytes of each part that is not empty.
    """
    first = min(size, -offset % full)
    middle = (size - first) // full * full
    last = size - first - middle
    return [(start, length) for start, length in ((offset, first), (0, middle), (0, last)) if length]
