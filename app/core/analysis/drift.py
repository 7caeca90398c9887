"""Patterns of runs over time that a setting did not cause: order, trend, period, and change of level. No I/O."""

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

# -- patterns in a comparison in pairs ------------------------------------------------------------------------------

SURE = 0.01
"""Largest p value of a reported pattern: chance causes it in at most one experiment of a hundred."""

FEWEST = 6
"""Least number of pairs that can show a pattern."""

FEWEST_OF_A_KIND = 2
"""Least number of pairs that begin with a change of the setting, and least number of other pairs.

A single pair does not show the scatter.
"""


class RunPattern(StrEnum):
    """A pattern of runs over time."""

    ORDER = "order"
    """The second run of a pair differs from the first, whichever setting it has."""
    TREND = "trend"
    """The values of the runs drift from the first run to the last."""
    PERIOD = "period"
    """The values of the runs rise and fall periodically."""
    CARRY_OVER = "carry-over"
    """The effect is smaller in pairs that begin with a change of the setting: the old value still has an effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftPattern:
    """A pattern in the runs that is unlikely to be chance."""

    pattern: RunPattern
    """The kind of pattern."""
    size: float
    """Size in percent. For a period: its length in runs.

    For a carry-over: the effect, in percent, in pairs that begin with a change of the setting.
    """
    others: float = 0.0
    """For a carry-over: the effect in the other pairs, in percent."""


def disturbances(sides: ComparisonSides, value: Callable[[RunRecord], float | None]) -> Iterator[DriftPattern]:
    """Yield the patterns in the runs over time.

    The random order within the pairs cancels the effect of a pattern on the mean, but not on the width of the interval.
    """
    if not sides.interleaved or len(sides.a) < FEWEST:
        return
    letters = {run.id: letter for letter, runs in (("A", sides.a), ("B", sides.b)) for run in runs}
    timed = sorted((*sides.a, *sides.b), key=place_in_session)
    values = [value(run) for run in timed]
    logs = [log(value) for value in values if value is not None and value > 0]
    if len(logs) == len(timed):
        yield from find_patterns([letters[run.id] for run in timed], logs)


def carry_over(sides: ComparisonSides, value: Callable[[RunRecord], float | None]) -> Iterator[DriftPattern]:
    """Yield a carry-over if pairs whose first run follows a change of the setting have a smaller effect.

    The second run of a pair always follows a change of the setting. If the first run does too, both runs are affected,
    and their values move towards each other. Suppose that a run keeps a share of the effect of the previous setting.
    Then pairs that begin with a change lose twice that share, and the other pairs lose it once. The test is a one-sided
    Student's t, because a carry-over never makes an effect larger.
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
    """Yield, for each pair, whether it began with a change of the setting, and the pair's ln(B/A).

    Before the first pair, A is in force. A pair is skipped if the pair before it is missing.
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
    """Yield the patterns ORDER, TREND and PERIOD in the logarithms of runs, in order of time.

    `letters`: the side of each run.
    """
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
    """Return the two-sided p value for the hypothesis that the mean is 0, by Student's t."""
    (mean, variance), n = moments(values), len(values)
    return tails(mean / sqrt(variance / n), n - 1) if variance else 1.0


def _trend(values: Sequence[float]) -> tuple[float, float]:
    """Return the slope per run of the regression line, and the p value for the hypothesis that there is no slope."""
    n = len(values)
    middle, mean = (n - 1) / 2, fmean(values)
    squares = fsum((at - middle) ** 2 for at in range(n))
    slope = fsum((at - middle) * (value - mean) for at, value in enumerate(values)) / squares
    residual = fsum((value - mean - slope * (at - middle)) ** 2 for at, value in enumerate(values)) / (n - 2)
    return slope, tails(slope / sqrt(residual / squares), n - 2) if residual else 1.0


def _period(values: Sequence[float]) -> tuple[float, float]:
    """Return the length of the strongest period, in runs, and its p value.

    The p value is that of Fisher's g, the largest share of one frequency in the periodogram.
    """
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


# -- changes of level in a series of measurements, permanent or temporary --------------------------------------------

# First try every position of a permanent change. If none is found, try every temporary change with a length in
# `STRETCH`. Of all these splits, take the one with the smallest p value of Student's t (one variance for both parts).
# It counts as a change under two conditions: its p value times the number of tried positions (Bonferroni) is at most
# the level, and the two means differ by the threshold or more. If both kinds of change are possible, each gets half the
# level. At least `FEWEST_POINTS` points must be before and after a change. Then examine each part in the same way.
#
# A history is examined often, and each examination may show a false change. With 5 % for each examination after every
# point, a quarter of all constant series would show a change by the sixtieth point. So a series of n points is tested
# at `level_of(n)`. The levels spent at each doubling of n add up to at most `LEVEL`, so at most that share of constant
# series ever shows a false change, however long the series get and however often they are examined.

FEWEST_POINTS = 3
"""Least number of points on each side of a change; fewer do not show whether the level stays."""

STRETCH = range(FEWEST_POINTS, 31)
"""Possible lengths, in points, of a temporary change of level; a longer one counts as two permanent changes."""

FEW_IN_STRETCH = 5
"""A temporary change with fewer points is tested at a fifth of the level, because a few outliers could look like it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """A change of level in a series of measurements."""

    at: int
    """Index of the first point after the change."""
    interval: ConfidenceInterval
    """Interval of the level after the change compared with the level before it.

    It uses the points back to the previous change and up to the next one.
    """
    before: int
    """Number of points used before the change."""
    after: int
    """Number of points used after the change."""


def shifts(values: Sequence[float], *, threshold: float = THRESHOLD_PERCENT) -> tuple[Shift, ...]:
    """Return the changes of level in a series of positive values, in order. `threshold`: least change, in percent."""
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
    """Return the test level for a series of this many points, which is analysed again after each point.

    It is so low that all analyses together seldom show a false change.
    """
    return LEVEL / 3 / max(1.0, log2(points / FEWEST_POINTS)) ** 2 if points else LEVEL


def _splits(logs: Sequence[float], offset: int, least: float, allowed: float) -> Iterator[int]:
    n = len(logs)
    for_good = [(0, at) for at in range(FEWEST_POINTS, n - FEWEST_POINTS + 1)]
    stretches = list(_stretches(n))
    level = allowed / 2 if stretches else allowed
    part = _most_significant_part(logs, for_good, least, level) or _most_significant_part(logs, stretches, least, level)
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


def _most_significant_part(
    logs: Sequence[float], parts: Sequence[tuple[int, int]], least: float, level: float
) -> tuple[int, int] | None:
    """Return begin and end of the part whose mean differs most significantly from the mean of the rest.

    `parts`: begin and end of each candidate. Return None if no part differs by `least` or more at `level`.
    """
    if not parts:
        return None
    n = len(logs)
    centre = fsum(logs) / n
    moved = [log - centre for log in logs]
    sums = list(accumulate(moved, initial=0.0))
    # The mean of all points is now 0. So a part of m points with the sum S explains S^2 / m + S^2 / (n - m) of the sum
    # of squares. That is n * S^2 / (m * (n - m)); the factor n is left out here.
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
