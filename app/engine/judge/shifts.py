"""Where a series of measurements in time moved to another level, for good or for a while. Pure.

First every place is tried at which the level may have changed for good, then, if none is found, every stretch of
`STRETCH` points that may lie on a level of its own. The one with the smallest p of Student's t (one variance for both
parts) is a change if that p, times the number of places that were tried (Bonferroni), is at most the level, and the two
means differ by the threshold or more; where there is room for both questions each has half the level. What lies before
and after has `FEWEST_POINTS` at least; each part is then looked at alike. In a series that keeps its level any change
at all is found in at most `LEVEL` of the cases, however long it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from math import fsum, log, sqrt

from app.engine.judge.looks import LEVEL
from app.engine.judge.stats import THRESHOLD_PERCENT, Interval, unpaired
from app.engine.judge.student import tails
from backends.values import dataclass

FEWEST_POINTS = 3
"""On each side of a change: of fewer it is not known whether they stay."""

STRETCH = range(FEWEST_POINTS, 31)
"""Points that may lie on a level of their own between two on another; a longer stretch is two changes for good."""

FEW_IN_STRETCH = 5
"""Below so many points a few wild ones would do: such a stretch has a fifth of the level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """A change of level."""

    at: int
    """Place of the first point after it."""
    interval: Interval
    """The level after it against the one before, with the points up to the next change on both sides."""
    before: int
    """How many points those are before it."""
    after: int
    """And after it."""


def shifts(values: Sequence[float], *, threshold: float = THRESHOLD_PERCENT) -> tuple[Shift, ...]:
    """The changes of level of positive values, in their order; `threshold` in percent."""
    splits = sorted(set(_splits([log(value) for value in values], 0, log(1 + threshold / 100))))
    edges = [0, *splits, len(values)]
    return tuple(
        Shift(
            at=at,
            interval=unpaired(values[start:at], values[at:end]),
            before=at - start,
            after=end - at,
        )
        for start, at, end in zip(edges, splits, edges[2:], strict=False)
    )


def _splits(logs: Sequence[float], offset: int, least: float) -> Iterator[int]:
    n = len(logs)
    for_good = [(0, at) for at in range(FEWEST_POINTS, n - FEWEST_POINTS + 1)]
    stretches = list(_stretches(n))
    level = LEVEL / 2 if stretches else LEVEL
    part = _surest(logs, for_good, least, level) or _surest(logs, stretches, least, level)
    if part is None:
        return
    edges = [0, *(at for at in part if at), n]
    for begin, end in pairwise(edges):
        if begin:
            yield offset + begin
        yield from _splits(logs[begin:end], offset + begin, least)


def _stretches(n: int) -> Iterator[tuple[int, int]]:
    for begin in range(FEWEST_POINTS, n - FEWEST_POINTS - STRETCH.start + 1):
        for end in range(begin + STRETCH.start, min(begin + STRETCH.stop - 1, n - FEWEST_POINTS) + 1):
            yield begin, end


def _surest(
    logs: Sequence[float], parts: Sequence[tuple[int, int]], least: float, level: float
) -> tuple[int, int] | None:
    """Begin and end of that part whose mean differs most surely from the rest; None if none does."""
    if not parts:
        return None
    n = len(logs)
    centre = fsum(logs) / n
    moved = [one - centre for one in logs]
    sums = list(accumulate(moved, initial=0.0))
    # Of points round 0, what a part explains of all squares: S^2 / m of the part and of the rest.
    explained = [(sums[end] - sums[begin]) ** 2 / ((end - begin) * (n - end + begin)) for begin, end in parts]
    at = max(range(len(parts)), key=explained.__getitem__)
    begin, end = parts[at]
    count = end - begin
    step = (sums[end] - sums[begin]) * n / (count * (n - count))
    within = max(0.0, fsum(one * one for one in moved) - explained[at] * n)
    error = sqrt(within / (n - 2) * n / (count * (n - count)))
    p = tails(step / error, n - 2) if error > abs(step) * 1e-12 else float(not step)
    allowed = level / 5 if begin and count < FEW_IN_STRETCH else level
    return parts[at] if abs(step) >= least and p * len(parts) <= allowed else None
