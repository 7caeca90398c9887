"""What a later session shows against an earlier one of the same: worse by a threshold, or not. No I/O.

Nothing was measured in turn, so the interval between the two groups of runs holds only if sessions of the same do not
lie apart. How far they do is taken from other sessions where there are enough of them, and the interval is never
narrower than that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import pairwise
from math import fsum, log, sqrt
from statistics import median

from app.core.analysis.pair_design import LEVEL
from app.core.analysis.stats import ConfidenceInterval, MeanInterval, quantile, welch_interval
from app.core.analysis.verdict import FEWEST_RUNS
from backends.values import dataclass

FEWEST_SESSIONS = 4
"""Fewer tell too little of how far sessions lie apart."""

LATER_THRESHOLD_PERCENT = 5.0
"""What sessions of the same often lie apart by themselves: less than this makes nobody look."""

_MEDIAN_OF_NORMAL = 0.6744897501960817
"""Half of all values of a normal distribution lie within so many standard deviations."""


class RegressionVerdict(StrEnum):
    """How a later session stands to an earlier one."""

    WORSE = "worse"
    """By the threshold or more: the whole interval lies beyond it; of nights, the one on which a loss is told."""
    STILL_WORSE = "still-worse"
    """A later night of a loss that was told, and has not ended."""
    NOT_WORSE = "not-worse"
    """By the threshold or more: the whole interval lies on this side of it."""
    NOT_DECIDED = "not-decided"
    """The interval reaches over the threshold, or there is none."""
    REFUSED = "refused"
    """The state of the array during the runs forbids a verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegressionResult:
    """How it stands, and what that rests on."""

    standing: RegressionVerdict
    """What was shown."""
    interval: ConfidenceInterval | None
    """Of the later session against the earlier one; None where there is nothing to take a spread of."""
    of_sessions: bool = False
    """Whether it is as wide as sessions lie apart, which no number of runs makes narrower."""


def session_scatter(values: Sequence[float]) -> MeanInterval | None:
    """How far sessions lie apart, by one value of each in time, as logarithms; None of too few.

    From the median of the steps from one to the next: a change of level among them is one step, and does not hide the
    next one.
    """
    if len(values) < FEWEST_SESSIONS:
        return None
    logs = [log(value) for value in values]
    step = median(abs(after - before) for before, after in pairwise(logs)) / _MEDIAN_OF_NORMAL
    return MeanInterval(mean=fsum(logs) / len(logs), half=None, sd=step / sqrt(2), n=len(logs))


def judge_later(
    saved: Sequence[float],
    now: Sequence[float],
    *,
    between: MeanInterval | None,
    higher_is_better: bool = True,
    threshold: float = LATER_THRESHOLD_PERCENT,
    least: float = 0.0,
) -> RegressionResult:
    """How the later runs stand to the saved ones; `threshold` in percent, `between` as `apart` has it.

    `least`: half of what the interval is wide at least, as a logarithm.

    Raises ValueError of values without a logarithm.
    """
    if min(len(saved), len(now)) < FEWEST_RUNS:
        return RegressionResult(standing=RegressionVerdict.NOT_DECIDED, interval=None)
    interval = welch_interval(saved, now)
    half = least
    if between is not None and between.sd is not None:
        # Steps overlap and a median wastes some: with half as many degrees of freedom the interval keeps its level.
        half = max(half, quantile(1 - LEVEL / 2, (between.n - 1) / 2) * between.sd * sqrt(2))
    of_sessions = half > interval.high - interval.mean
    if of_sessions:
        interval = replace(interval, low=interval.mean - half, high=interval.mean + half)
    sign = 1 if higher_is_better else -1
    worst, best = sorted((sign * interval.percent_low, sign * interval.percent_high))
    if best <= -threshold:
        standing = RegressionVerdict.WORSE
    else:
        standing = RegressionVerdict.NOT_WORSE if worst > -threshold else RegressionVerdict.NOT_DECIDED
    return RegressionResult(standing=standing, interval=interval, of_sessions=of_sessions)
