"""Nights of the same measurement since a baseline: whether a loss began, one alarm an episode. No I/O.

A self-starting CUSUM (Hawkins, "Self-starting CUSUM charts for location and scale", The Statistician 36, 1987). Each
night is held against all nights before it that were not alarmed, by Student's t of their number, as the score of a
normal distribution. What lies more than an allowance below adds up, and is an alarm at `LIMIT`; an episode lasts until
the sum is 0 again. Five things are ours, each simulated (`make method`):

- the allowance is what half of the threshold would score, if that is more: what does not matter never adds up, and
  nights that resemble each other raise fewer alarms (at 2 % scatter 0.1 a year for 4);
- nights that lie below wait outside the reference until the sum is 0 again: a loss does not become what is usual;
- nights of an alarm join the reference when the second alarm ends: weekends and maintenance nights become usual, a
  single fault does not. While the chart learns they join when the first one ends;
- the standard deviation grows by sqrt((1 + r) / (1 - r)) where successive nights are correlated by r, unless nights are
  correlated more with those of a week before: a weekly rhythm returns by itself, a correlated deviation adds up;
- one night so far below that no tail of Student's t with three degrees of freedom explains it is an alarm by itself.
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
"""Nights, that of the baseline included, before there is a chart: of fewer the scatter is not known well enough."""

ALLOWANCE = 0.6
"""Of a score at least: what adds up is what lies further below."""

LIMIT = 5.5
"""Sum at which it is an alarm."""

MOST = 2.5
"""That one night adds: two wild nights are no alarm."""

FAR = 12.0
"""Standard deviations below at which one night is enough: of Student's t with three degrees of freedom, scaled to
the same deviation, one in 12,000 lies there."""

SHORT = 30
"""Nights of the longest episode that may be a part of normal operation; a longer one never joins the reference."""

WEEK = 7
"""Nights of a rhythm that is no correlation."""

SIGHT = 7
"""Nights within which a loss of the size that is named is told, more often than not."""

_NORMAL = NormalDist()
_SCORE_END = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlChart:
    """How the last of some nights stands."""

    judgement: RegressionResult
    """What was shown: WORSE of the first night of an episode alone, STILL_WORSE of those after it. The interval is that
    of the nights that lie below, else of the last alone, against the reference; None where there is none."""
    nights: int
    """How many there are, that of the baseline included."""
    known: int
    """Of how many the reference is from here on."""
    against: int
    """Of how many it was when the last night was held against it; 1 while it is the baseline alone."""
    sd: float | None
    """How far its nights lie apart, as logarithms; None of one."""
    since: int | None
    """Place of the first night that lies below without a break, that of the baseline is 0; None where none does."""
    begun: int | None
    """Place of the night on which the episode was told; None without one."""
    episodes: tuple[int, ...]
    """Places of the nights on which one was told."""
    seen_percent: float | None
    """A loss of so much would be told within `SIGHT` nights, more often than not; None while it learns."""

    @property
    def standing(self) -> RegressionVerdict:
        """What was shown."""
        return self.judgement.standing

    @property
    def learning(self) -> bool:
        """Whether there are too few nights for a chart."""
        return self.known < LEARNING


def night_chart(
    nights: Sequence[Sequence[float]],
    *,
    earlier: Sequence[float] = (),
    higher_is_better: bool = True,
    threshold: float = LATER_THRESHOLD_PERCENT,
    judged_early: bool = True,
) -> ControlChart:
    """The chart of the nights in time, each by the values of its runs, first that of the baseline.

    `earlier`: one value of each session before them. `threshold` in percent. `judged_early`: whether nights are held
    against the first alone while too few are known. Raises ValueError without a night, and of values that have no
    logarithm.
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
        self._known = [_level(saved)]
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
        """The next night."""
        learning = len(self._known) < LEARNING
        self._against = 1 if learning else len(self._known)
        worse = self._early(values) if learning else self._charted(night, values)
        if not worse:
            self._begun = None
        elif self._begun is None:
            self._begun = night
            self._since = night if self._since is None else self._since
            self._episodes.append(night)
            self._standing = RegressionVerdict.WORSE
        else:
            self._standing = RegressionVerdict.STILL_WORSE

    def _early(self, values: Sequence[float]) -> bool:
        """Against the baseline alone, by an interval no narrower than these nights lie apart."""
        between = session_scatter([*self._earlier, *map(exp, self._known[1:])])
        judged = judge_later(
            self._saved,
            values,
            between=between,
            higher_is_better=self._sign > 0,
            threshold=self._threshold,
            least=_chance_distance(self._known),
        )
        self._standing, self._judged = judged.standing, lambda: judged
        worse = self._judged_early and self._standing is RegressionVerdict.WORSE
        if worse:
            self._waiting.append(_level(values))
        else:
            self._recover(_level(values), recurs=True)
        return worse

    def _recover(self, level: float, *, recurs: bool) -> None:
        """Add the level to the reference, and the nights before it that may be a part of normal operation."""
        if self._begun is not None:
            self._waiting = self._waiting if len(self._waiting) <= SHORT else []
            if not recurs:
                self._ended, self._waiting = self._waiting, []
            else:
                self._ended, self._waiting = [], [*self._ended, *self._waiting]
        self._known += [*self._waiting, level]
        self._waiting, self._since = [], None

    def _charted(self, night: int, values: Sequence[float]) -> bool:
        level = _level(values)
        mean, single = _moments(self._known)
        single = max(single, self._loss / 10)
        sd = single * _inflation(self._known)
        number = len(self._known)
        below = self._sign * (mean - level)
        score = _score(below / sd / sqrt(1 + 1 / number), number - 1)
        added = min(score - self._allowance(sd, number), MOST)
        self._sum = max(0.0, self._sum + added)
        if below / single / sqrt(1 + 1 / number) > FAR and below > self._loss:
            self._sum = LIMIT
        if not self._sum:
            self._standing, self._judged = (
                RegressionVerdict.NOT_WORSE,
                partial(_compare_nights, self._known[:], [level]),
            )
            self._recover(level, recurs=len(self._episodes) > 1)
            return False
        self._waiting.append(level)
        self._since = night if self._since is None else self._since
        worse = self._begun is not None or self._sum >= LIMIT
        if worse:
            self._sum = min(self._sum, LIMIT)
        self._standing = RegressionVerdict.NOT_DECIDED if self._sum >= MOST else RegressionVerdict.NOT_WORSE
        self._judged = partial(_compare_nights, self._known[:], self._waiting[:])
        return worse

    def _allowance(self, sd: float, number: int) -> float:
        return max(ALLOWANCE, _score(self._loss / 2 / sd / sqrt(1 + 1 / number), number - 1))

    def result(self, nights: int) -> ControlChart:
        """Return how the last night stands."""
        number = len(self._known)
        mean_sd = _moments(self._known) if number > 1 else None
        detectable_percent = None
        if mean_sd is not None and number >= LEARNING:
            sd = max(mean_sd[1], self._loss / 10) * _inflation(self._known)
            wanted = self._allowance(sd, number) + LIMIT / (SIGHT - 1)
            loss = quantile(_NORMAL.cdf(wanted), number - 1) * sd * sqrt(1 + 1 / number)
            detectable_percent = (-expm1(-loss) if self._sign > 0 else expm1(loss)) * 100
        return ControlChart(
            judgement=replace(self._judged(), standing=self._standing),
            nights=nights,
            known=number,
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
    """How far one night more may lie from the mean of these by chance; 0 where fewer than two are known."""
    if len(logs) < 2:
        return 0.0
    return quantile(1 - LEVEL / 2, len(logs) - 1) * _moments(logs)[1] * sqrt(1 + 1 / len(logs))


def _score(t: float, dof: int) -> float:
    """The score of a normal distribution that is as rare as this of Student's t."""
    score = -_NORMAL.inv_cdf(max(tails(t, dof) / 2, _SCORE_END))
    return score if t > 0 else -score


def _compare_nights(reference: Sequence[float], nights: Sequence[float]) -> RegressionResult:
    """Return the mean of these nights against that of the known ones, by how far those lie apart."""
    mean, sd = _moments(reference)
    number = len(reference)
    moved = fsum(nights) / len(nights) - mean
    error = sd * _inflation(reference) * sqrt(1 / len(nights) + 1 / number)
    half = quantile(1 - LEVEL / 2, number - 1) * error
    p = tails(moved / error, number - 1) if error else float(moved == 0)
    interval = ConfidenceInterval(mean=moved, low=moved - half, high=moved + half, sd=sd, n=len(nights), p=p)
    return RegressionResult(standing=RegressionVerdict.NOT_DECIDED, interval=interval, of_sessions=True)
