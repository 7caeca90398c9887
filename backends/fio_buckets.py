"""fio's latency buckets: 64 for each power of two, named by the midpoint that fio prints in `bins`.

Each latency below 128 ns has a bucket of its own. Above that, a latency differs from the midpoint of its bucket by at
most 0.78 %. The last bucket counts all latencies from 17.18 s on (fio's stat.h, FIO_IO_U_PLAT_BITS 6, 29 groups).
"""

from __future__ import annotations

_BITS = 6
_PER_GROUP = 1 << _BITS
_GROUPS = 29
LAST_BUCKET = _GROUPS * _PER_GROUP - 1
"""Number of the last bucket, which also counts all longer latencies."""


def bucket_of(value: int) -> int:
    """Return the number of the bucket that counts a latency of `value` ns."""
    top = value.bit_length() - 1
    if top <= _BITS:
        return max(value, 0)
    shift = top - _BITS
    return min(((shift + 1) << _BITS) + ((value >> shift) & (_PER_GROUP - 1)), LAST_BUCKET)


def value_of(bucket: int) -> int:
    """Return the midpoint in ns that fio prints for a bucket."""
    low, end = edges_of(bucket)
    return low + (end - low) // 2


def edges_of(bucket: int) -> tuple[int, int]:
    """Return the first latency in a bucket and the first beyond it, in ns; for the last bucket its nominal end."""
    if bucket < 2 * _PER_GROUP:
        return bucket, bucket + 1
    shift = (bucket >> _BITS) - 1
    low = (_PER_GROUP + bucket % _PER_GROUP) << shift
    return low, low + (1 << shift)


LAST_VALUE = value_of(LAST_BUCKET)
"""Value that fio prints for any latency from 17.18 s on. fio's `max` is the exact value."""
