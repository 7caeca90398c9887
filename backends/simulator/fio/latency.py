"""Random latencies as a fio histogram: most have a lognormal distribution, and a few are slow."""

from __future__ import annotations

import math
import random
from collections import Counter

from backends.fio_buckets import bucket_of, edges_of, value_of

_SLOW = 2e-4
"""Share of slow requests."""
_FEW = 300
"""Largest number of requests whose latencies are drawn one by one."""
_REACH = 4.5


def latencies(count: int, mean_ns: float, spread: float, tail: float, chance: random.Random) -> Counter[int]:
    """Return the latency buckets of `count` requests with this mean and relative standard deviation.

    `tail`: latency of the slow requests as a multiple of the mean. Apart from noise, the mean of all requests is
    `mean_ns`.
    """
    body = mean_ns * (1 - _SLOW * tail) / (1 - _SLOW)
    sigma = math.sqrt(math.log1p(spread * spread))
    middle = math.log(body) - sigma * sigma / 2
    slow = sum(chance.random() < _SLOW for _ in range(count)) if count <= _FEW else _noisy_count(count * _SLOW, chance)
    slow = min(slow, count)
    counts: Counter[int] = Counter()
    for _ in range(slow):
        sigma_slow = 0.45
        counts[_bucket(chance.lognormvariate(math.log(mean_ns * tail) - sigma_slow * sigma_slow / 2, sigma_slow))] += 1
    rest = count - slow
    if rest <= _FEW:
        for _ in range(rest):
            counts[_bucket(chance.lognormvariate(middle, sigma))] += 1
        return counts
    counts.update(_spread(rest, middle, sigma, chance))
    return counts


def _spread(count: int, middle: float, sigma: float, chance: random.Random) -> Counter[int]:
    """Return the number of requests per bucket: `count` lognormally distributed latencies, with random noise."""
    low = _bucket(math.exp(middle - _REACH * sigma))
    high = _bucket(math.exp(middle + _REACH * sigma))
    scale = 1 / (sigma * math.sqrt(2))
    counts: Counter[int] = Counter()
    before, left = 0.0, count
    for bucket in range(low, high):
        below = 0.5 + 0.5 * math.erf((math.log(edges_of(bucket)[1]) - middle) * scale)
        bucket_count = min(left, _noisy_count((below - before) * count, chance))
        before = below
        if bucket_count:
            counts[bucket] = bucket_count
            left -= bucket_count
    if left:  # the rounding remainder goes to the bucket in the middle, to keep the shape
        counts[_bucket(math.exp(middle))] += left
    return counts


def _noisy_count(expected: float, chance: random.Random) -> int:
    """Return a random count with the mean `expected`. From 30, its deviation is half of that of a Poisson count."""
    if expected < 30:
        floor = int(expected)
        return max(0, floor + (chance.random() < expected - floor))
    return max(0, round(chance.gauss(expected, math.sqrt(expected) * 0.5)))


def _bucket(value: float) -> int:
    return bucket_of(max(1, int(value)))


def moments(counts: Counter[int]) -> tuple[float, float]:
    """Return the sum and the sum of squares of the latencies, from the midpoints of the buckets."""
    total = squares = 0.0
    for bucket, count in counts.items():
        value = value_of(bucket)
        total += value * count
        squares += float(value) * value * count
    return total, squares
