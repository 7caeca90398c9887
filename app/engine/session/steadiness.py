"""Whether what is measured has settled: the steady state rule of SNIA's SSS PTS 2.0.2. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

WINDOW = 5
"""Rounds of the measurement window."""

RANGE_SHARE = 0.20
"""Largest minus smallest round, as share of their mean."""

SLOPE_SHARE = 0.10
"""Rise or fall of the best linear fit over the window, as share of the mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steadiness:
    """The last rounds against the rule."""

    steady: bool
    """Whether both limits hold over a whole window."""
    range_share: float | None
    """Largest minus smallest round by their mean, 0.2 for 20 %; None before there is a window."""
    slope_share: float | None
    """Rise or fall of the linear fit over the window by the mean, never negative; None before there is a window."""


def steadiness(rounds: Sequence[float], *, window: int = WINDOW) -> Steadiness:
    """Judge the last `window` rounds: means of equally long stretches (of at least 10 s), oldest first."""
    last = rounds[-window:]
    if window < 2 or len(last) < window:
        return Steadiness(steady=False, range_share=None, slope_share=None)
    mean = fsum(last) / window
    if mean <= 0:
        return Steadiness(steady=False, range_share=None, slope_share=None)
    range_share = (max(last) - min(last)) / mean
    slope_share = abs(slope(last)) * (window - 1) / mean
    steady = range_share <= RANGE_SHARE and slope_share <= SLOPE_SHARE
    return Steadiness(steady=steady, range_share=range_share, slope_share=slope_share)


def slope(values: Sequence[float]) -> float:
    """Of the least-squares line, per round. Raises ZeroDivisionError of fewer than two values."""
    middle = (len(values) - 1) / 2
    mean = fsum(values) / len(values)
    across = fsum((index - middle) ** 2 for index in range(len(values)))
    return fsum((index - middle) * (value - mean) for index, value in enumerate(values)) / across
