"""Pairs by their signed ranks: Wilcoxon's exact test and the interval of Hodges and Lehmann that belongs to it. No I/O.

A run that took ten times as long moves a mean and blows up its scatter, so that more pairs made verdicts rarer; among
ranks it is one value that is the largest. Where all is normal they find two points of a hundred less than Student's t.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, combinations_with_replacement
from math import sqrt
from statistics import NormalDist, median

from app.core.analysis.pair_design import LEVEL
from app.core.analysis.stats import ConfidenceInterval, quantile, ratio_interval

RANKS_FROM = 8
"""Pairs from which on ranks judge, below it Student's t: six have 64 patterns of signs, and no level below 3 %."""

_MOST_EXACT = 100
"""Pairs; beyond that the sum of the ranks is as good as normal."""


def uses_ranks(pairs: int, level: float) -> bool:
    """Whether ranks judge so many pairs at this level: fixed by the numbers, never by what was measured.

    Two of the patterns of signs have to lie within the level. Where only one does, a single pair the other way decides
    everything, and one pair more would have made verdicts rarer by up to twelve points of a hundred.
    """
    return pairs >= RANKS_FROM and 2.0 ** (2 - pairs) <= level


def pair_interval(
    ratios: Sequence[float], *, level: float = LEVEL, strictest: float | None = None
) -> ConfidenceInterval:
    """The interval of the log-ratios of pairs, at least two.

    `strictest`: the level that p has to be held against where it is below `level`, as it is of one figure of many.
    """
    if uses_ranks(len(ratios), level if strictest is None else strictest):
        return signed_ranks(ratios, level=level)
    return ratio_interval(ratios, level=level)


def signed_ranks(ratios: Sequence[float], *, level: float = LEVEL) -> ConfidenceInterval:
    """The median of the means of any two (a value with itself included), with the interval that the ranks give.

    Covers at least 1 - level: sums of ranks are whole numbers. The scatter is that with which Student's t would have an
    interval of the same width. Raises ValueError where so few values reach no such level.
    """
    n = len(ratios)
    means = sorted((value + other) / 2 for value, other in combinations_with_replacement(ratios, 2))
    below = _sums(n)
    out = bisect_right(below, level / 2)
    if not out:
        raise ValueError(f"{n} pairs have no interval at a level of {level:g}")
    low, high = means[out - 1], means[-out]
    against = min(bisect_right(means, 0.0), len(means) - bisect_left(means, 0.0))
    sd = (high - low) / 2 * sqrt(n) / quantile(1 - below[out - 1], n - 1)
    return ConfidenceInterval(
        mean=median(means), low=low, high=high, sd=sd, n=n, p=min(1.0, 2 * below[against]), level=level
    )


@lru_cache(maxsize=128)
def _sums(n: int) -> tuple[float, ...]:
    """How likely the ranks of one sign add up to 0, 1, 2 ... at most, where both signs are alike."""
    most = n * (n + 1) // 2
    if n > _MOST_EXACT:
        normal = NormalDist(most / 2, sqrt(n * (n + 1) * (2 * n + 1) / 24))
        return tuple(normal.cdf(at + 0.5) for at in range(most + 1))
    ways = [1] + [0] * most
    for rank in range(1, n + 1):
        for at in range(most, rank - 1, -1):
            ways[at] += ways[at - rank]
    return tuple(count / 2**n for count in accumulate(ways))
