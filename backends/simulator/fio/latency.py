"""Latencies of many requests as fio's histogram keeps them: a lognormal body and a few slow ones."""

from __future__ import annotations

import math
import random
from collections import Counter

from backends.fio_buckets import bucket_of, edges_of, value_of

_SLOW = 2e-4
"""Share of the slow ones."""
_FEW = 300
"""Up to so many requests are drawn one by one."""
_REACH = 4.5


def latencies(count: int, mean_ns: float, spread: float, tail: float, chance: random.Random) -> Counter[int]:
    """Buckets of `count` requests with this mean and relative standard deviation.

    `tail`: how many times the mean the slow ones take. The mean of all is `mean_ns`, but for chance.
    """
    body = mean_ns * (1 - _SLOW * tail) / (1 - _SLOW)
    sigma = math.sqrt(math.log1p(spread * spread))
    middle = math.log(body) - sigma * sigma / 2
    slow = sum(chance.random() < _SLOW for _ in range(count)) if count <= _FEW else _noisy_count(count * _SLOW, chance)
    slow = min(slow, count)
    counts: Counter[int] = Counter()
    for _ in range(slow):
        wide = 0.45
        counts[_bucket(chance.lognormvariate(math.log(mean_ns * tail) - wide * wide / 2, wide))] += 1
    rest = count - slow
    if rest <= _FEW:
        for _ in range(rest):
            counts[_bucket(chance.lognormvariate(middle, sigma))] += 1
        return counts
    counts.update(_spread(rest, middle, sigma, chance))
    return counts


def _spread(count: int, middle: float, sigma: float, chance: random.Random) -> Counter[int]:
    """`count` requests over the buckets by the lognormal's shares, with the noise of counting."""
    low = _bucket(math.exp(middle - _REACH * sigma))
    high = _bucket(math.exp(middle + _REACH * sigma))
    scale = 1 / (sigma * math.sqrt(2))
    counts: Counter[int] = Counter()
    before, left = 0.0, count
    for bucket in range(low, high):
        below = 0.5 + 0.5 * math.erf((math.log(edges_of(bucket)[1]) - middle) * scale)
        here = min(left, _noisy_count((below - before) * count, chance))
        before = below
        if here:
            counts[bucket] = here
            left -= here
    if left:  # what rounding left over goes where most are, so that the shape stays
        counts[_bucket(math.exp(middle))] += left
    return counts


def _noisy_count(expected: float, chance: random.Random) -> int:
    """Return a count whose mean is `expected`, with the noise of counts."""
    if expected < 30:
        whole = int(expected)
        return max(0, whole + (chance.random() < expected - whole))
    return max(0, round(chance.gauss(expected, math.sqrt(expected) * 0.5)))


def _bucket(value: float) -> int:
    return bucket_of(max(1, int(value)))


def moments(counts: Counter[int]) -> tuple[float, float]:
    """Sum and sum of squares, by the buckets' midpoints."""
    total = squares = 0.0
    for bucket, count in counts.items():
        value = value_of(bucket)
        total += value * count
        squares += float(value) * value * count
    return total, squares
