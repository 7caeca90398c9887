"""Intervals of log-ratios, and what else is needed to tell a difference from chance. Pure, standard library only.

A run is one value; the samples within a run are not repeats. Two settings are compared in pairs measured in turn, the
first of each pair drawn, because drift and order make as much of a difference as most settings do (Duplyakin et al.,
USENIX ATC 2023).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, expm1, fsum, inf, log, sqrt

from app.engine.judge.looks import LEVEL
from app.engine.judge.student import quantile, tails
from backends.values import dataclass

THRESHOLD_PERCENT = 2.0
"""A difference smaller than this makes no one change a setting."""

_LARGEST_PERCENT = 50

MOST_PAIRS = 1000
"""More are never proposed."""

POWER = 0.80
"""How often an effect of the size named is to be found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """The mean of natural logarithms of ratios B/A with its two-sided interval."""

    mean: float
    """ln(B/A), on the average."""
    low: float
    """Lower end."""
    high: float
    """Upper end."""
    sd: float
    """Standard deviation of one log-ratio, of one run of B to one run of A."""
    n: int
    """How many log-ratios; of groups the number of runs in the smaller one."""
    p: float
    """Two-sided p value of no difference at all."""
    level: float = LEVEL
    """It covers 1 - level: 0.05 for an interval of 95 %."""

    @property
    def covers(self) -> str:
        """`95 %`, `99.2 %`."""
        return f"{(1 - self.level) * 100:.4g} %"

    @property
    def smallest_percent(self) -> float:
        """The smallest effect that so many runs with this scatter would have shown four times of five, in percent."""
        error = self.sd / sqrt(self.n)
        return expm1((quantile(1 - self.level / 2, self.n - 1) + quantile(POWER, self.n - 1)) * error) * 100

    @property
    def percent(self) -> float:
        """The mean as percent of A."""
        return expm1(self.mean) * 100

    @property
    def percent_low(self) -> float:
        """The lower end as percent of A."""
        return expm1(self.low) * 100

    @property
    def percent_high(self) -> float:
        """The upper end as percent of A."""
        return expm1(self.high) * 100

    @property
    def excludes_zero(self) -> bool:
        """Whether all of it lies on one side."""
        return self.low > 0 or self.high < 0

    def within(self, percent: float) -> bool:
        """Whether all of it lies inside +-percent."""
        return self.percent_low > -percent and self.percent_high < percent

    def __str__(self) -> str:
        return f"{self.percent:+.1f} % [{self.percent_low:+.1f}, {self.percent_high:+.1f}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The mean of repeats of the same thing with its 95 % interval, in the unit of the values."""

    mean: float
    """Arithmetic mean."""
    half: float | None
    """Half the width of the interval; None of a single value."""
    sd: float | None
    """Standard deviation from run to run; None of a single value."""
    n: int
    """How many runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSpread:
    """The geometric mean of repeats of the same thing with its 95 % interval, in the unit of the values."""

    mean: float
    """Geometric mean."""
    low: float | None
    """Lower end of the interval; None of a single value."""
    high: float | None
    """Upper end."""
    n: int
    """How many runs."""


def paired(a: Sequence[float], b: Sequence[float], *, level: float = LEVEL) -> Interval:
    """The interval of ln(b[i]/a[i]) with Student's t, n-1 degrees of freedom.

    Raises ValueError unless both hold the same number, at least two, of positive values.
    """
    if len(a) != len(b) or len(a) < 2:
        raise ValueError(f"{len(a)} and {len(b)} values make no pairs")
    return of_ratios(log_ratios(a, b), level=level)


def of_ratios(ratios: Sequence[float], *, level: float = LEVEL) -> Interval:
    """The interval of log-ratios, at least two."""
    mean, variance = _moments(ratios)
    n = len(ratios)
    return _interval(mean, sqrt(variance), sqrt(variance / n), n - 1, n, level)


def unpaired(a: Sequence[float], b: Sequence[float], *, level: float = LEVEL) -> Interval:
    """The interval of the difference of the mean logarithms of two groups, after Welch.

    Raises ValueError unless both hold at least two positive values.
    """
    if min(len(a), len(b)) < 2:
        raise ValueError(f"{len(a)} and {len(b)} values make no groups")
    (mean_a, variance_a), (mean_b, variance_b) = _moments([*map(log, a)]), _moments([*map(log, b)])
    share_a, share_b = variance_a / len(a), variance_b / len(b)
    squares = share_a**2 / (len(a) - 1) + share_b**2 / (len(b) - 1)
    dof = (share_a + share_b) ** 2 / squares if squares else float(len(a) + len(b) - 2)
    spread = sqrt(variance_a + variance_b)
    return _interval(mean_b - mean_a, spread, sqrt(share_a + share_b), dof, min(len(a), len(b)), level)


def spread(values: Sequence[float]) -> Spread:
    """Mean and 95 % interval of repeats. Raises ValueError of no values."""
    if not values:
        raise ValueError("no values")
    if len(values) == 1:
        return Spread(mean=values[0], half=None, sd=None, n=1)
    mean, variance = _moments(values)
    half = quantile(0.975, len(values) - 1) * sqrt(variance / len(values))
    return Spread(mean=mean, half=half, sd=sqrt(variance), n=len(values))


def log_spread(values: Sequence[float]) -> LogSpread:
    """Geometric mean and 95 % interval of repeats of what doubles and halves, such as a latency; positive values."""
    if len(values) < 2:
        return LogSpread(mean=geometric_mean(values), low=None, high=None, n=len(values))
    seen = of_ratios([*map(log, values)])
    return LogSpread(mean=exp(seen.mean), low=exp(seen.low), high=exp(seen.high), n=len(values))


def threshold_of(text: str) -> float:
    """Percent as somebody writes them: `1%` or `1`. Raises ValueError with the reason."""
    try:
        number = float(text.strip().removesuffix("%"))
    except ValueError:
        number = 0.0
    if not 0 < number < _LARGEST_PERCENT:
        raise ValueError(f"{text.strip()!r} is not a share such as 1% (above 0, below {_LARGEST_PERCENT}).")
    return number


def pairs_to_decide(interval: Interval, *, threshold: float = THRESHOLD_PERCENT) -> int:
    """Pairs in all that decide four times of five, if effect and scatter are as seen.

    Either the effect shows, or, where it is below the threshold, that it is. At most MOST_PAIRS + 1.
    """
    effect, limit = abs(interval.mean), log(1 + threshold / 100)
    # Inside the threshold on both sides: each of them may miss it.
    margins = [(margin, power) for margin, power in ((effect, POWER), (limit - effect, (1 + POWER) / 2)) if margin > 0]
    needed = (pairs_needed(interval.sd, margin, level=interval.level, power=power) for margin, power in margins)
    return max(interval.n + 1, min(needed))


def pairs_needed(sd: float, effect: float, *, level: float = LEVEL, power: float = POWER) -> int:
    """The smallest n >= ((t.975 + t.80) * sd / effect)**2, with n-1 degrees of freedom; at most MOST_PAIRS + 1.

    `sd` of one log-ratio, `effect` as log-ratio; t.975 for a level of 0.05.
    """

    def enough(n: int) -> bool:
        return n >= ((quantile(1 - level / 2, n - 1) + quantile(power, n - 1)) * sd / effect) ** 2

    low, high = 1, MOST_PAIRS + 1
    while high - low > 1:  # both quantiles fall as n grows, so enough stays enough
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """p values adjusted for their number after Holm, in the order given."""
    ranked = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(ranked):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return tuple(adjusted)


def false_discoveries(p_values: Sequence[float]) -> tuple[float, ...]:
    """p values adjusted after Benjamini and Hochberg, in the order given: they hold the share of false ones."""
    ranked = sorted(range(len(p_values)), key=lambda index: p_values[index], reverse=True)
    adjusted = [0.0] * len(p_values)
    smallest = 1.0
    for rank, index in enumerate(ranked):
        smallest = min(smallest, p_values[index] * len(p_values) / (len(p_values) - rank))
        adjusted[index] = smallest
    return tuple(adjusted)


def outlier(values: Sequence[float]) -> int | None:
    """The place of the one value that does not belong to the others; None where all do.

    The externally studentised residual against Student's t, for the number of values (Bonferroni, 5 %), 3.5 at least:
    of six values from one distribution one in seven times the largest is beyond 3.5 alone.
    """
    n = len(values)
    if n < 4:
        return None
    mean, variance = _moments(values)
    if not variance:
        return None
    place = max(range(n), key=lambda at: abs(values[at] - mean))
    residual = values[place] - mean
    rest = (variance * (n - 1) - residual**2 * n / (n - 1)) / (n - 2)
    studentised = abs(residual) / sqrt(rest * (1 - 1 / n)) if rest > 0 else inf
    return place if studentised > max(3.5, quantile(1 - LEVEL / (2 * n), n - 2)) else None


def geometric_mean(values: Sequence[float]) -> float:
    """Of positive values: the mean that belongs to log-ratios."""
    return exp(fsum(map(log, values)) / len(values))


def log_ratios(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """ln(b[i]/a[i]) of each pair. Raises ValueError of unequal numbers or of what has no logarithm."""
    return [log(other / one) for one, other in zip(a, b, strict=True)]


def _moments(values: Sequence[float]) -> tuple[float, float]:
    """Mean and variance (n-1)."""
    mean = fsum(values) / len(values)
    return mean, fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _interval(mean: float, sd: float, error: float, dof: float, n: int, level: float) -> Interval:
    half = quantile(1 - level / 2, dof) * error
    p = tails(mean / error, dof) if error else float(mean == 0)
    return Interval(mean=mean, low=mean - half, high=mean + half, sd=sd, n=n, p=p, level=level)
