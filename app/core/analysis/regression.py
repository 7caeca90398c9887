"""Comparison of a later session with an earlier one of the same measurement: worse by a threshold, or not. No I/O.

The sessions were not measured in turn. So the interval from their runs is valid only if sessions do not scatter. If
there are enough other sessions, their scatter is measured, and the interval is at least as wide as it requires.
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
"""Least number of sessions; fewer do not show the scatter of sessions well enough."""

LATER_THRESHOLD_PERCENT = 5.0
"""Default threshold in percent; sessions often differ by less than this without a cause."""

_MEDIAN_OF_NORMAL = 0.6744897501960817
"""Half of all values of a normal distribution are within this many standard deviations of the mean."""


class RegressionVerdict(StrEnum):
    """Verdict on a later session compared with an earlier one."""

    WORSE = "worse"
    """Worse by the threshold or more: the whole interval is beyond it. In a control chart: the night of the alarm."""
    STILL_WORSE = "still-worse"
    """A later night of a loss that was reported before and has not ended."""
    NOT_WORSE = "not-worse"
    """Not worse by the threshold: the whole interval is better than the threshold."""
    NOT_DECIDED = "not-decided"
    """The threshold is within the interval, or there is no interval."""
    REFUSED = "refused"
    """The state of the array during the runs forbids a verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegressionResult:
    """A verdict on a later session, with its interval."""

    standing: RegressionVerdict
    """The verdict on the later session."""
    interval: ConfidenceInterval | None
    """Interval of the later session compared with the earlier one; None without repeats."""
    of_sessions: bool = False
    """Whether the width of the interval comes from the scatter between sessions, which more runs do not reduce."""


def session_scatter(values: Sequence[float]) -> MeanInterval | None:
    """Return the scatter between sessions, from the logarithms of their values; None for too few sessions.

    `values`: one value for each session, in order of time. The scatter comes from the median of the steps between
    consecutive sessions. A change of level is only one step, so it does not hide the next change.
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
    """Return the verdict on the later runs compared with the saved ones.

    `threshold`: in percent. `between`: the result of `session_scatter`. `least`: the interval has at least this
    half-width, as a logarithm. Raises ValueError for values without a logarithm.
    """
    if min(len(saved), len(now)) < FEWEST_RUNS:
        return RegressionResult(standing=RegressionVerdict.NOT_DECIDED, interval=None)
    interval = welch_interval(saved, now)
    half = least
    if between is not None and between.sd is not None:
        # Consecutive steps share a session, and a median is less efficient than a mean. Half the degrees of freedom
        # compensate for both.
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
