"""What runs in time show beside an effect: an order, a trend, a period, a move to another level. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from itertools import accumulate, pairwise
from math import cos, expm1, fsum, log, log2, pi, sin, sqrt
from statistics import fmean

from app.core.analysis.pair_design import LEVEL
from app.core.analysis.sample_groups import ComparisonSides, place_in_session
from app.core.analysis.stats import THRESHOLD_PERCENT, ConfidenceInterval, moments, tails, welch_interval
from app.core.session.state import RunRecord
from backends.values import dataclass

# -- what a comparison in pairs shows beside its effect ---------------------------------------------------------------

# An order, a trend or a period of the machine itself.

SURE = 0.01
"""Only what chance makes in one experiment of a hundred is told."""

FEWEST = 6
"""Pairs below which nothing of the kind can be seen."""

FEWEST_OF_A_KIND = 2
"""Pairs that begin with a change of the setting, and others: fewer have no scatter."""


class RunPattern(StrEnum):
    """What runs do by themselves."""

    ORDER = "order"
    """The second run of a pair differs from the first, whichever it is."""
    TREND = "trend"
    """They drift from the first to the last."""
    PERIOD = "period"
    """They rise and fall."""
    CARRY_OVER = "carry-over"
    """The effect is smaller in pairs that begin with a change of the setting: what was set before still works."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftPattern:
    """A pattern that chance alone hardly makes."""

    pattern: RunPattern
    """Which."""
    size: float
    """In percent; of a period its length in runs, of a carry-over the effect in pairs that begin with a change."""
    others: float = 0.0
    """Of a carry-over the effect in the other pairs, in percent."""


def disturbances(sides: ComparisonSides, value: Callable[[RunRecord], float | None]) -> Iterator[DriftPattern]:
    """What the runs did by themselves. Pairs drawn in turn cancel it; it widens the interval."""
    if not sides.interleaved or len(sides.a) < FEWEST:
        return
    letters = {run.id: letter for letter, runs in (("A", sides.a), ("B", sides.b)) for run in runs}
    timed = sorted((*sides.a, *sides.b), key=place_in_session)
    values = [value(run) for run in timed]
    logs = [log(value) for value in values if value is not None and value > 0]
    if len(logs) == len(timed):
        yield from find_patterns([letters[run.id] for run in timed], logs)


def carry_over(sides: ComparisonSides, value: Callable[[RunRecord], float | None]) -> Iterator[DriftPattern]:
    """A smaller effect in pairs whose first run has the other setting than the run before it.

    The second run of a pair always follows the other setting. Where the first one does, too, both are off, and towards
    each other: if a run keeps a share of what was set before, the effect seen loses that share in one kind of pair and
    twice as much in the other. Student's t, one-sided, as a carry-over never makes an effect larger.
    """
    with_switch: list[float] = []
    without: list[float] = []
    for switched, ratio in _by_switch(sides, value):
        (with_switch if switched else without).append(ratio)
    counts = len(with_switch), len(without)
    if sum(counts) < FEWEST or min(counts) < FEWEST_OF_A_KIND:
        return
    difference = fmean(without) - fmean(with_switch)
    squares = fsum((value - fmean(kind)) ** 2 for kind in (with_switch, without) for value in kind)
    dof = sum(counts) - 2
    error = sqrt(squares / dof * (1 / counts[0] + 1 / counts[1]))
    same_way = difference * fmean(without) > 0
    if same_way and error and tails(difference / error, dof) / 2 < SURE:
        yield DriftPattern(
            pattern=RunPattern.CARRY_OVER, size=_percent(fmean(with_switch)), others=_percent(fmean(without))
        )


def _by_switch(sides: ComparisonSides, value: Callable[[RunRecord], float | None]) -> Iterator[tuple[bool, float]]:
    """Of each pair whether it began with a change of the setting, and its log-ratio.

    An experiment begins with A in force. A pair is left out where the one before it does not count.
    """
    last_letters: dict[tuple[str, int], str] = {}
    pairs = sorted(zip(sides.a, sides.b, strict=True), key=lambda pair: place_in_session(pair[0]))
    for a, b in pairs:
        mark, a_value, b_value = a.start.mark, value(a), value(b)
        if mark is None or not a_value or not b_value or min(a_value, b_value) <= 0:
            continue
        first, last = sorted((a, b), key=place_in_session)
        last_letters[mark.experiment, mark.pair] = _letter(last)
        before = "A" if mark.pair == 1 else last_letters.get((mark.experiment, mark.pair - 1))
        if before is not None:
            yield before != _letter(first), log(b_value / a_value)


def _letter(run: RunRecord) -> str:
    return "" if run.start.mark is None else run.start.mark.letter


def find_patterns(letters: Sequence[str], logs: Sequence[float]) -> Iterator[DriftPattern]:
    """Order, trend and period in logarithms of the runs in time, each with the letter of its side."""
    centre = {
        letter: fmean([value for run_letter, value in zip(letters, logs, strict=True) if run_letter == letter])
        for letter in "AB"
    }
    residuals = [value - centre[letter] for letter, value in zip(letters, logs, strict=True)]
    seconds = [second - first for first, second in zip(residuals[::2], residuals[1::2], strict=True)]
    if _p_of_mean(seconds) < SURE:
        yield DriftPattern(pattern=RunPattern.ORDER, size=_percent(fmean(seconds)))
    slope, p = _trend(residuals)
    if p < SURE:
        yield DriftPattern(pattern=RunPattern.TREND, size=_percent(slope * (len(residuals) - 1)))
        middle = (len(residuals) - 1) / 2
        residuals = [value - slope * (at - middle) for at, value in enumerate(residuals)]
    period, p = _period(residuals)
    if p < SURE:
        yield DriftPattern(pattern=RunPattern.PERIOD, size=period)


def _p_of_mean(values: Sequence[float]) -> float:
    """Two-sided p of a mean of 0, after Student."""
    (mean, variance), n = moments(values), len(values)
    return tails(mean / sqrt(variance / n), n - 1) if variance else 1.0


def _trend(values: Sequence[float]) -> tuple[float, float]:
    """Slope a run of the line through them, and the p of none."""
    n = len(values)
    middle, mean = (n - 1) / 2, fmean(values)
    squares = fsum((at - middle) ** 2 for at in range(n))
    slope = fsum((at - middle) * (value - mean) for at, value in enumerate(values)) / squares
    residual = fsum((value - mean - slope * (at - middle)) ** 2 for at, value in enumerate(values)) / (n - 2)
    return slope, tails(slope / sqrt(residual / squares), n - 2) if residual else 1.0


def _period(values: Sequence[float]) -> tuple[float, float]:
    """Runs in the strongest period, and the p of chance: Fisher's g, the largest share of the periodogram."""
    n, mean = len(values), fmean(values)
    count = (n - 1) // 2
    powers = [_power(values, mean, cycles) for cycles in range(1, count + 1)]
    total = fsum(powers)
    if not total:
        return 0.0, 1.0
    strongest = max(range(count), key=lambda at: powers[at])
    return n / (strongest + 1), min(1.0, count * (1 - powers[strongest] / total) ** (count - 1))


def _power(values: Sequence[float], mean: float, cycles: int) -> float:
    turn = 2 * pi * cycles / len(values)
    along = fsum((value - mean) * cos(turn * at) for at, value in enumerate(values))
    across = fsum((value - mean) * sin(turn * at) for at, value in enumerate(values))
    return along**2 + across**2


def _percent(ratio: float) -> float:
    return expm1(ratio) * 100


# -- where a series of measurements in time moved to another level, for good or for a while ---------------------------

# First every place is tried at which the level may have changed for good, then, if none is found, every stretch of
# `STRETCH` points that may lie on a level of its own. The one with the smallest p of Student's t (one variance for
# both parts) is a change if that p, times the number of places that were tried (Bonferroni), is at most the level, and
# the two means differ by the threshold or more; where there is room for both questions each has half the level. What
# lies before and after has `FEWEST_POINTS` at least; each part is then looked at alike. Who keeps a history looks at it
# often, and each look is a chance of a false change: looked at after every point with 5 % each, a quarter of series
# that keep their level have shown one by the sixtieth. So a series of n points is allowed `level_of(n)`, whose shares
# over all doublings of n have a sum: then any change at all is ever found in at most `LEVEL` of the cases, however long
# it grows and however often it is looked at.

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
    interval: ConfidenceInterval
    """The level after it against the one before, with the points up to the next change on both sides."""
    before: int
    """How many points those are before it."""
    after: int
    """And after it."""


def shifts(values: Sequence[float], *, threshold: float = THRESHOLD_PERCENT) -> tuple[Shift, ...]:
    """The changes of level of positive values, in their order; `threshold` in percent."""
    logs = [log(value) for value in values]
    splits = sorted(set(_splits(logs, 0, log(1 + threshold / 100), level_of(len(logs)))))
    edges = [0, *splits, len(values)]
    return tuple(
        Shift(
            at=at,
            interval=welch_interval(values[start:at], values[at:end]),
            before=at - start,
            after=end - at,
        )
        for start, at, end in zip(edges, splits, edges[2:], strict=False)
    )


def level_of(points: int) -> float:
    """The share of false changes that looking at so many points may add."""
    return LEVEL / 3 / max(1.0, log2(points / FEWEST_POINTS)) ** 2 if points else LEVEL


def _splits(logs: Sequence[float], offset: int, least: float, allowed: float) -> Iterator[int]:
    n = len(logs)
    for_good = [(0, at) for at in range(FEWEST_POINTS, n - FEWEST_POINTS + 1)]
    stretches = list(_stretches(n))
    level = allowed / 2 if stretches else allowed
    part = _surest(logs, for_good, least, level) or _surest(logs, stretches, least, level)
    if part is None:
        return
    edges = [0, *(at for at in part if at), n]
    for begin, end in pairwise(edges):
        if begin:
            yield offset + begin
        yield from _splits(logs[begin:end], offset + begin, least, allowed)


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
    moved = [log - centre for log in logs]
    sums = list(accumulate(moved, initial=0.0))
    # Of points round 0, what a part explains of all squares: S^2 / m of the part and of the rest.
    explained = [(sums[end] - sums[begin]) ** 2 / ((end - begin) * (n - end + begin)) for begin, end in parts]
    at = max(range(len(parts)), key=explained.__getitem__)
    begin, end = parts[at]
    count = end - begin
    step = (sums[end] - sums[begin]) * n / (count * (n - count))
    within = max(0.0, fsum(value * value for value in moved) - explained[at] * n)
    error = sqrt(within / (n - 2) * n / (count * (n - count)))
    p = tails(step / error, n - 2) if error > abs(step) * 1e-12 else float(not step)
    allowed = level / 5 if begin and count < FEW_IN_STRETCH else level
    return parts[at] if abs(step) >= least and p * len(parts) <= allowed else None
