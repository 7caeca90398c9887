"""Control chart for nights of one measurement since a baseline: whether a loss began, one alarm per episode. No I/O.

A self-starting CUSUM (Hawkins, "Self-starting CUSUM charts for location and scale", The Statistician 36, 1987). Each
night is compared with all earlier nights without an alarm, by Student's t of their number, as the score of a normal
distribution. The part of a loss beyond an allowance is added up, and the sum raises an alarm at `LIMIT`; an episode
lasts until the sum is 0 again. Five additions are ours, each simulated (`make method`):

- The allowance is the score of half of the threshold, if that is more. So irrelevant losses never add up, and nights
  that are alike raise fewer alarms (at 2 % scatter 0.1 a year instead of 4).
- Nights of a loss are not part of the reference until the sum is 0 again, so a loss does not become normal.
- Nights of an alarm join the reference when the second alarm ends. So weekends and maintenance nights become normal, a
  single fault does not. While the chart learns they join when the first alarm ends.
- The standard deviation grows by sqrt((1 + r) / (1 - r)) if consecutive nights are correlated by r, unless nights are
  correlated more with those of a week before. A weekly rhythm ends on its own; a correlated deviation adds up.
- One night so far below that Student's t with three degrees of freedom does not explain it raises an alarm alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import exp, expm1, fsum, log, log1p, sqrt
from operator import mul
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
"""Nights, including the baseline, before there is a chart; fewer do not show the scatter well enough."""

ALLOWANCE = 0.6
"""Least allowance, as a score; only the loss beyond it is added up."""

LIMIT = 5.5
"""Sum at which an alarm is raised."""

MOST = 2.5
"""Most that one night adds, so that two outlier nights raise no alarm."""

FAR = 12.0
"""Standard deviations below the reference at which one night is sufficient.

Of Student's t with three degrees of freedom, scaled to the same deviation, one value in 12,000 is there.
"""

SHORT = 30
"""Nights of the longest episode that may be part of normal operation; a longer one never joins the reference."""

WEEK = 7
"""Nights of a weekly rhythm, which is no correlation."""

SIGHT = 7
"""Nights within which a loss of the stated size is reported, more often than not."""

_NORMAL = NormalDist()
_SCORE_END = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlChart:
    """State of the last night of a series."""

    judgement: RegressionResult
    """The verdict: WORSE for the first night of an episode only, STILL_WORSE for those after it.

    Its interval is that of the nights of a loss, or else of the last night, against the reference; None without any.
    """
    nights: int
    """Number of nights, including the baseline."""
    reference_size: int
    """Number of nights in the reference from now on."""
    against: int
    """Number of nights with which the last night was compared; 1 while there is only the baseline."""
    sd: float | None
    """Standard deviation of the reference, as logarithms; None for one night."""
    since: int | None
    """Index of the first night of the present loss, 0 is the baseline; None without a loss."""
    begun: int | None
    """Index of the night on which the episode was reported; None without one."""
    episodes: tuple[int, ...]
    """Indexes of the nights on which an episode was reported."""
    seen_percent: float | None
    """A loss of this size would be reported within `SIGHT` nights, more often than not; None while it learns."""

    @property
    def standing(self) -> RegressionVerdict:
        """Return the verdict."""
        return self.judgement.standing

    @property
    def learning(self) -> bool:
        """Return whether there are too few nights for a chart."""
        return self.reference_size < LEARNING


def night_chart(
    nights: Sequence[Sequence[float]],
    *,
    earlier: Sequence[float] = (),
    higher_is_better: bool = True,
    threshold: float = LATER_THRESHOLD_PERCENT,
    judged_early: bool = True,
) -> ControlChart:
    """Return the chart of nights in time, each given by the values of its runs; the first is the baseline.

    `earlier`: one value of each session before them. `threshold`: in percent. `judged_early`: whether nights are
    compared with the first one alone while there are too few. Raises ValueError without a night, and for values that
    have no logarithm.
    """
    if not nights or not all(nights):
        raise ValueError("no nights")
    chart = _Chart(nights[0], earlier, higher_is_better, threshold, judged_early=judged_early)
    for night, values in enumerate(nights[1:], 1):
        chart.add(night, values)
    return chart.result(len(nights))


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
        self._reference = [_level(saved)]
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
        """Add the next night."""
        learning = len(self._reference) < LEARNING
        self._against = 1 if learning else len(self._reference)
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
        """Compare with the baseline alone, by an interval no narrower than the scatter of these nights."""
        between = session_scatter([*self._earlier, *map(exp, self._reference[1:])])
        judged = judge_later(
            self._saved,
            values,
            between=between,
            higher_is_better=self._sign > 0,
            threshold=self._threshold,
            least=_chance_distance(self._reference),
        )
        self._standing, self._judged = judged.standing, lambda: judged
        worse = self._judged_early and self._standing is RegressionVerdict.WORSE
        if worse:
            self._waiting.append(_level(values))
        else:
            self._recover(_level(values), recurs=True)
        return worse

    def _recover(self, level: float, *, recurs: bool) -> None:
        """Add the level to the reference, and nights before it that may be part of normal operation."""
        if self._begun is not None:
            self._waiting = self._waiting if len(self._waiting) <= SHORT else []
            if not recurs:
                self._ended, self._waiting = self._waiting, []
            else:
                self._ended, self._waiting = [], [*self._ended, *self._waiting]
        self._reference += [*self._waiting, level]
        self._waiting, self._since = [], None

    def _judge_by_chart(self, night: int, values: Sequence[float]) -> bool:
        level = _level(values)
        mean, single = _moments(self._reference)
        single = max(single, self._loss / 10)
        sd = single * _inflation(self._reference)
        number = len(self._reference)
        below = self._sign * (mean - level)
        score = _score(below / sd / sqrt(1 + 1 / number), number - 1)
        added = min(score - self._allowance(sd, number), MOST)
        self._sum = max(0.0, self._sum + added)
        if below / single / sqrt(1 + 1 / number) > FAR and below > self._loss:
            self._sum = LIMIT
        if not self._sum:
            self._standing, self._judged = (
                RegressionVerdict.NOT_WORSE,
                partial(_compare_nights, self._reference[:], [level]),
            )
            self._recover(level, recurs=len(self._episodes) > 1)
            return False
        self._waiting.append(level)
        self._since = night if self._since is None else self._since
        worse = self._begun is not None or self._sum >= LIMIT
        if worse:
            self._sum = min(self._sum, LIMIT)
        self._standing = RegressionVerdict.NOT_DECIDED if self._sum >= MOST else RegressionVerdict.NOT_WORSE
        self._judged = partial(_compare_nights, self._reference[:], self._waiting[:])
        return worse

    def _allowance(self, sd: float, number: int) -> float:
        return max(ALLOWANCE, _score(self._loss / 2 / sd / sqrt(1 + 1 / number), number - 1))

    def result(self, nights: int) -> ControlChart:
        """Return the state of the last night."""
        number = len(self._reference)
        mean_sd = _moments(self._reference) if number > 1 else None
        detectable_percent = None
        if mean_sd is not None and number >= LEARNING:
            sd = max(mean_sd[1], self._loss / 10) * _inflation(self._reference)
            wanted = self._allowance(sd, number) + LIMIT / (SIGHT - 1)
            loss = quantile(_NORMAL.cdf(wanted), number - 1) * sd * sqrt(1 + 1 / number)
            detectable_percent = (-expm1(-loss) if self._sign > 0 else expm1(loss)) * 100
        return ControlChart(
            judgement=replace(self._judged(), standing=self._standing),
            nights=nights,
            reference_size=number,
            against=self._against,
            sd=None if mean_sd is None else mean_sd[1],
            since=self._since,
            begun=self._begun,
            episodes=tuple(self._episodes),
            seen_percent=detectable_percent,
        )


def _level(values: Sequence[float]) -> float:
    return fsum(map(log, values)) / len(values)


def _moments(logs: Sequence[float]) -> tuple[float, float]:
    mean, variance = moments(logs)
    return mean, sqrt(variance)


def _inflation(logs: Sequence[float]) -> float:
    """Return the factor by which sums of correlated nights scatter more than those of independent nights."""
    mean = fsum(logs) / len(logs)
    off = [log - mean for log in logs]
    squares = fsum(map(mul, off, off))
    if not squares:
        return 1.0
    last = fsum(map(mul, off, off[1:])) / squares
    if last <= 1 / sqrt(len(logs)) or last <= fsum(map(mul, off, off[WEEK:])) / squares:
        return 1.0
    return sqrt((1 + last) / (1 - last))


def _chance_distance(logs: Sequence[float]) -> float:
    """Return how far another night may be from the mean of these by chance; 0 for fewer than two."""
    if len(logs) < 2:
        return 0.0
    return quantile(1 - LEVEL / 2, len(logs) - 1) * _moments(logs)[1] * sqrt(1 + 1 / len(logs))


def _score(t: float, dof: int) -> float:
    """Return the normal score that is as rare as this value of Student's t."""
    score = -_NORMAL.inv_cdf(max(tails(t, dof) / 2, _SCORE_END))
    return score if t > 0 else -score


def _compare_nights(reference: Sequence[float], nights: Sequence[float]) -> RegressionResult:
    """Return the mean of these nights compared with that of the reference, by the scatter of the reference."""
    mean, sd = _moments(reference)
    number = len(reference)
    moved = fsum(nights) / len(nights) - mean
    error = sd * _inflation(reference) * sqrt(1 / len(nights) + 1 / number)
    half = quantile(1 - LEVEL / 2, number - 1) * error
    p = tails(moved / error, number - 1) if error else float(moved == 0)
    interval = ConfidenceInterval(mean=moved, low=moved - half, high=moved + half, sd=sd, n=len(nights), p=p)
    return RegressionResult(standing=RegressionVerdict.NOT_DECIDED, interval=interval, of_sessions=True)
