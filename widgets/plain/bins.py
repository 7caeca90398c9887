"""Bins of a heat map: of equal width on a logarithmic axis."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

_TO_A_DOUBLING: Final = 4


@lru_cache(maxsize=2048)
def bin_of(value: float) -> int:
    """The bin that a value is in; the first, 0, for all below 1."""
    return math.floor(math.log2(value) * _TO_A_DOUBLING) if value > 1 else 0


def bin_edge(place: int) -> float:
    """The lowest value of a bin."""
    return float(2.0 ** (place / _TO_A_DOUBLING))
