"""Control chart of one measurement that is repeated every night. It finds the night on which a loss began. No I/O.

The first night is the baseline. Each episode (a loss from its beginning to its end) raises one alarm. The method is a
self-starting CUSUM (Hawkins, "Self-starting CUSUM charts for location and scale", The Statistician 36, 1987). Each
night is compared with all earlier nights without an alarm, by Student's t, and the result is expressed as a normal
score. The part of each score beyond an allowance is added up. When the sum reaches `LIMIT`, there is an alarm. The
episode lasts until the sum is 0 again. Five additions are raidbench's own, and each was simulated (`make method`):

- The allowance is at least the score of half the threshold. So irrelevant losses never add up, and nights without a
  change raise fewer alarms (at 2 % scatter 0.1 a year instead of 4).
- Nights of a loss are not part of the reference until the sum is 0 again, so a loss does not become normal.
- Nights of an alarm join the reference when the second alarm ends. So weekends and maintenance nights become normal,
  but a single fault does not. While the chart is learning, they join when the first alarm ends.
- If consecutive nights have a correlation of r, the standard deviation is multiplied by sqrt((1 + r) / (1 - r)),
  because correlated deviations add up. This does not apply if the correlation with the nights a week before is higher.
  That is a weekly rhythm, whose deviations end by themselves.
- A single night raises an alarm if it is so far below that Student's t with three degrees of freedom cannot explain it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import exp, expm1, fsum, log, log1p, sqrt
from statistics import NormalDist

from app.core.analysis.pair_design import LEVEL
from app.core.analysis.regression import (
    LATER_THRESHOLD_PERCENT,
    RegressionResult,
    RegressionVerdict,
    judge_later,
    session_scatter,
)
from app.core.analysis.stats import ConfidenceInterval, moments, quantile, tails
from backends.values import dataclass

LEARNING = 10
"""Nights needed for a chart, including the baseline; fewer do not show the scatter well enough."""

ALLOWANCE = 0.6
"""Smallest allowance, as a normal score: only the part of a night's score beyond the allowance is added to the sum."""

LIMIT = 5.5
"""Sum at which an alarm is raised."""

MOST = 2.5
"""Maximum that one night adds to the sum, so that two outlier nights raise no alarm."""

FAR = 12.0
"""A single night more than this many standard deviations below the reference raises an alarm.

A Student's t distribution with three degrees of freedom and the same standard deviation exceeds this distance once in
about 8,200 values.
"""

SHORT = 30
"""Length in nights of the longest episode that can be normal operation; a longer one never joins the reference."""

WEEK = 7
"""Length in nights of a weekly rhythm. Such a rhythm does not count as correlation of consecutive nights."""

SIGHT = 7
"""Number of nights in which the chart reports a loss of the size `seen_percent` with more than 50 % probability."""

_NORMAL = NormalDist()
_SCORE_END = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlChart:
    """State of the chart after the last night of a series."""

    judgement: RegressionResult
    """The verdict: WORSE on the night that raises the alarm, STILL_WORSE on later nights of the episode.

    Its interval compares the nights of a loss, or without a loss the last night, with the reference. The interval is
    None if there is nothing to compare.
    """
    nights: int
    """Number of nights, including the baseline."""
    reference_size: int
    """Number of nights in the reference with which the next night will be compared."""
    against: int
    """Number of nights with which the last night was compared; 1 (the baseline) while the chart is learning."""
    sd: float | None
    """Standard deviation of the logarithms of the reference nights; None if there is only one."""
    since: int | None
    """Index of the first night of the current loss (the baseline is 0); None without a loss."""
    begun: int | None
    """Index of the night on which the current episode raised its alarm; None without an episode."""
    episodes: tuple[int, ...]
    """Indexes of the nights on which an alarm was raised."""
    seen_percent: float | None
    """Size of a loss that is reported within `SIGHT` nights with more than 50 % probability; None while learning."""

    @property
    def standing(self) -> RegressionVerdict:
        """Return the verdict after the last night."""
        return self.judgement.standing

    @property
    def learning(self) -> bool:
        """Return whether the reference has too few nights for a chart."""
        return self.reference_size < LEARNING


def night_chart(
    nights: Sequence[Sequence[float]],
    *,
    earlier: Sequence[float] = (),
    higher_is_better: bool = True,
    threshold: float = LATER_THRESHOLD_PERCENT,
    judged_early: bool = True,
) -> ControlChart:
    """Return the chart of a series of nights in order of time. The first is the baseline.

    `nights`: the values of the runs of each night. `earlier`: one value for each session before the baseline.
    `threshold`: in percent. `judged_early`: whether a night can raise an alarm while there are too few nights for a
    chart; it is then compared with the baseline alone. Raises ValueError without a night, and for values that have no
    logarithm.
    """
    if not nights or not all(nights):
        raise ValueError("no nights")
    chart = _Chart(nights[0], earlier, higher_is_better, threshold, judged_early=judged_early)
    for night, values in enumerate(nights[1:], 1):
        chart.add(night, values)
    return chart.result(len(nights))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scatter:
    """Mean and scatter of the nights of a reference, as natural logarithms."""

    nights: int
    """Number of nights."""
    mean: float
    """Mean of their levels."""
    sd: float
    """Standard deviation of their levels."""
    inflation: float
    """Factor by which correlation makes a sum of these nights scatter more; 1 for uncorrelated nights."""


class _Reference:
    """Levels of normal nights, with the sums that give their scatter.

    The sums make the cost of a night independent of the number of nights before it. They are of distances from the
    first level, so that a small scatter of large levels is not lost to rounding.
    """

    def __init__(self, first: float) -> None:
        self.levels = [first]
        self._sum = 0.0
        self._squares = 0.0
        self._products = {1: 0.0, WEEK: 0.0}
        """Sum of the products of nights that are so many nights apart."""

    def extend(self, levels: Sequence[float]) -> None:
        """Add the levels of further nights."""
        for level in levels:
            off = level - self.levels[0]
            self._sum += off
            self._squares += off * off
            for apart in self._products:
                if len(self.levels) >= apart:
                    self._products[apart] += off * (self.levels[-apart] - self.levels[0])
            self.levels.append(level)

    def scatter(self) -> _Scatter:
        """Return mean and scatter of two or more nights."""
        number = len(self.levels)
        mean = self._sum / number
        squares = max(0.0, self._squares - number * mean * mean)
        around = (self._products_around(mean, apart) / squares if squares else 0.0 for apart in (1, WEEK))
        return _Scatter(
            nights=number,
            mean=self.levels[0] + mean,
            sd=sqrt(squares / (number - 1)),
            inflation=_inflation(number, *around),
        )

    def _products_around(self, mean: float, apart: int) -> float:
        """Return the sum of the products of nights `apart` nights apart, as distances from `mean`."""
        pairs = max(0, len(self.levels) - apart)
        first, last = self.levels[:apart], self.levels[pairs:]
        ends = sum(first) + sum(last) - (len(first) + len(last)) * self.levels[0]
        return self._products[apart] - mean * (2 * self._sum - ends) + pairs * mean * mean


def _inflation(number: int, last: float, weekly: float) -> float:
    """Return the factor by which correlation makes a sum of so many nights scatter more; 1 for uncorrelated nights.

    `last`, `weekly`: the correlation with the night before, and with that of a week before.
    """
    if last <= 1 / sqrt(number) or last <= weekly:
        return 1.0
    return sqrt((1 + last) / (1 - last))


class _Chart:
    def __init__(
        self,
        saved: Sequence[float],
        earlier: Sequence[float],
        higher_is_better: bool,
        threshold: float,
        *,
        judged_early: bool,
    ) -> None:
        self._saved = saved
        self._earlier = earlier
        self._sign = 1 if higher_is_better else -1
        self._threshold = threshold
        self._loss = log1p(threshold / 100)
        self._judged_early = judged_early
        self._reference = _Reference(_level(saved))
        self._waiting: list[float] = []
        self._ended: list[float] = []
        self._sum = 0.0
        self._since: int | None = None
        self._begun: int | None = None
        self._episodes: list[int] = []
        self._against = 1
        self._standing = RegressionVerdict.NOT_DECIDED
        self._judged: Callable[[], RegressionResult] = partial(RegressionResult, standing=self._standing, interval=None)

    def add(self, night: int, values: Sequence[float]) -> None:
        """Add the next night, and update sum, verdict and reference."""
        number = len(self._reference.levels)
        learning = number < LEARNING
        self._against = 1 if learning else number
        worse = self._judge_early(values) if learning else self._judge_by_chart(night, values)
        if not worse:
            self._begun = None
        elif self._begun is None:
            self._begun = night
            self._since = night if self._since is None else self._since
            self._episodes.append(night)
            self._standing = RegressionVerdict.WORSE
        else:
            self._standing = RegressionVerdict.STILL_WORSE

    def _judge_early(self, values: Sequence[float]) -> bool:
        """Compare a night with the baseline alone, and return whether it is worse.

        The interval is at least as wide as the scatter of the nights so far.
        """
        between = session_scatter([*self._earlier, *map(exp, self._reference.levels[1:])])
        judged = judge_later(
            self._saved,
            values,
            between=between,
            higher_is_better=self._sign > 0,
            threshold=self._threshold,
            least=_chance_distance(self._reference.levels),
        )
        self._standing, self._judged = judged.standing, lambda: judged
        worse = self._judged_early and self._standing is RegressionVerdict.WORSE
        if worse:
            self._waiting.append(_level(values))
        else:
            self._recover(_level(values), recurs=True)
        return worse

    def _recover(self, level: float, *, recurs: bool) -> None:
        """Add a night's level to the reference, preceded by the nights that were waiting to join it.

        Of the waiting nights, only those that can be normal operation are added.

        `recurs`: whether nights of an alarm may join the reference now.
        """
        if self._begun is not None:
            self._waiting = self._waiting if len(self._waiting) <= SHORT else []
            if not recurs:
                self._ended, self._waiting = self._waiting, []
            else:
                self._ended, self._waiting = [], [*self._ended, *self._waiting]
        self._reference.extend([*self._waiting, level])
        self._waiting, self._since = [], None

    def _judge_by_chart(self, night: int, values: Sequence[float]) -> bool:
        level = _level(values)
        scatter = self._reference.scatter()
        single = max(scatter.sd, self._loss / 10)
        sd = single * scatter.inflation
        number = scatter.nights
        below = self._sign * (scatter.mean - level)
        score = _score(below / sd / sqrt(1 + 1 / number), number - 1)
        added = min(score - self._allowance(sd, number), MOST)
        self._sum = max(0.0, self._sum + added)
        if below / single / sqrt(1 + 1 / number) > FAR and below > self._loss:
            self._sum = LIMIT
        if not self._sum:
            self._standing, self._judged = RegressionVerdict.NOT_WORSE, partial(_compare_nights, scatter, [level])
            self._recover(level, recurs=len(self._episodes) > 1)
            return False
        self._waiting.append(level)
        self._since = night if self._since is None else self._since
        worse = self._begun is not None or self._sum >= LIMIT
        if worse:
            self._sum = min(self._sum, LIMIT)
        self._standing = RegressionVerdict.NOT_DECIDED if self._sum >= MOST else RegressionVerdict.NOT_WORSE
        self._judged = partial(_compare_nights, scatter, self._waiting[:])
        return worse

    def _allowance(self, sd: float, number: int) -> float:
        return max(ALLOWANCE, _score(self._loss / 2 / sd / sqrt(1 + 1 / number), number - 1))

    def result(self, nights: int) -> ControlChart:
        """Return the state of the chart after the last night."""
        number = len(self._reference.levels)
        scatter = self._reference.scatter() if number > 1 else None
        detectable_percent = None
        if scatter is not None and number >= LEARNING:
            sd = max(scatter.sd, self._loss / 10) * scatter.inflation
            wanted = self._allowance(sd, number) + LIMIT / (SIGHT - 1)
            loss = quantile(_NORMAL.cdf(wanted), number - 1) * sd * sqrt(1 + 1 / number)
            detectable_percent = (-expm1(-loss) if self._sign > 0 else expm1(loss)) * 100
        return ControlChart(
            judgement=replace(self._judged(), standing=self._standing),
            nights=nights,
            reference_size=number,
            against=self._against,
            sd=None if scatter is None else scatter.sd,
            since=self._since,
            begun=self._begun,
            episodes=tuple(self._episodes),
            seen_percent=detectable_percent,
        )


def _level(values: Sequence[float]) -> float:
    return fsum(map(log, values)) / len(values)


def _chance_distance(logs: Sequence[float]) -> float:
    """Return how far from the mean of these nights chance can move another night; 0 for fewer than two nights."""
    if len(logs) < 2:
        return 0.0
    return quantile(1 - LEVEL / 2, len(logs) - 1) * sqrt(moments(logs)[1]) * sqrt(1 + 1 / len(logs))


def _score(t: float, dof: int) -> float:
    """Return the normal score that is as improbable as `t` under Student's t with `dof` degrees of freedom."""
    score = -_NORMAL.inv_cdf(max(tails(t, dof) / 2, _SCORE_END))
    return score if t > 0 else -score


def _compare_nights(reference: _Scatter, nights: Sequence[float]) -> RegressionResult:
    """Return the comparison of the mean of these nights with the mean of the reference.

    Its interval uses the scatter of the reference. Its verdict is always NOT_DECIDED; the caller sets the real one.
    """
    moved = fsum(nights) / len(nights) - reference.mean
    error = reference.sd * reference.inflation * sqrt(1 / len(nights) + 1 / reference.nights)
    half = quantile(1 - LEVEL / 2, reference.nights - 1) * error
    p = tails(moved / error, reference.nights - 1) if error else float(moved == 0)
    interval = ConfidenceInterval(mean=moved, low=moved - half, high=moved + half, sd=reference.sd, n=len(nights), p=p)
    return RegressionResult(standing=RegressionVerdict.NOT_DECIDED, interval=interval, of_sessions=True)
