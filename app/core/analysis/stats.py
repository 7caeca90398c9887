"""Intervals of log-ratios from Student's t, and other statistics for differences. No I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from math import exp, expm1, fsum, inf, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist

from app.core.analysis.pair_design import LEVEL
from backends.values import dataclass

# -- student's t distribution from the incomplete beta function -------------------------------------------------------

# The continued fraction of the incomplete beta function is the one of Abramowitz & Stegun 26.5.8, evaluated with
# Lentz's method.

_TINY = 1e-300
_PRECISION = 1e-15
_TERMS = 10_000

_STEPS = 50
"""Maximum number of steps of Newton's method. Three are usual."""
_PRECISE_STEP = 1e-12
"""A step this small, relative to the larger of 1 and the value, is the last one: the digits double with each step."""
_LARGEST_LOG = 354.0
"""Logarithm of the largest number whose square is a float."""

_NORMAL = NormalDist()


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularized incomplete beta function I_x(a, b); a, b > 0, 0 <= x <= 1."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    # The fraction converges fast only for x below the mean; above it, use I_x(a, b) = 1 - I_(1-x)(b, a).
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or _TINY)
    value = d
    for m in range(1, _TERMS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + term * d or _TINY)
            c = 1 + term / c or _TINY
            value *= c * d
        if abs(c * d - 1) < _PRECISION:
            break
    return value


def tails(t: float, dof: float) -> float:
    """Return the probability that |T| is at least |t|, for T with Student's t distribution.

    `dof` must be above 0, but need not be an integer (Welch).
    """
    return incomplete_beta(dof / 2, 0.5, dof / (dof + t * t)) if t else 1.0


@lru_cache(maxsize=4096)
def quantile(p: float, dof: float) -> float:
    """Return the quantile of Student's t with `dof` degrees of freedom: a value is below it with probability `p`.

    Raises ValueError unless 0 < p < 1 and dof > 0.
    """
    if not 0 < p < 1 or dof <= 0:
        raise ValueError(f"no quantile of Student's t for p={p}, dof={dof}")
    if p == 0.5:
        return 0.0
    tail = min(p, 1 - p)
    sign = 1.0 if p > 0.5 else -1.0
    z = -_NORMAL.inv_cdf(tail)
    # Two terms of the Cornish-Fisher expansion (Abramowitz & Stegun 26.7.5), which are close except for few degrees.
    t = z + (z**3 + z) / (4 * dof) if dof > 2 else z
    # Newton's method for the logarithm of the tails as a function of log(t). That function is concave, so that after
    # the first step all values are on the same side, and nearly a line for few degrees of freedom.
    constant = lgamma((dof + 1) / 2) - lgamma(dof / 2) - log(dof * pi) / 2
    last = inf
    for _ in range(_STEPS):
        both = tails(t, dof)
        density = exp(constant - (dof + 1) / 2 * log1p(t * t / dof))
        step = log(both / (2 * tail)) * both / (2 * density * t)
        if step + log(t) > _LARGEST_LOG:
            return sign * inf
        t *= exp(step)
        # A step that is not smaller than the last one is the rounding error of the tails.
        if abs(step) * t <= _PRECISE_STEP * max(1.0, t) or abs(step) >= abs(last):
            break
        last = step
    return sign * t


# -- intervals of log-ratios, multiple tests and outliers -------------------------------------------------------------

# Each run counts as one value, because the samples within a run are not independent repeats. Two settings are compared
# in pairs of runs, and a random draw decides which setting is first in each pair. The reason is that drift and order
# affect results as much as most settings do (Duplyakin et al., USENIX ATC 2023).

THRESHOLD_PERCENT = 2.0
"""Default threshold, in percent; a smaller difference is no reason to change a setting."""

POWER = 0.80
"""Probability with which an effect of the detectable size is found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceInterval:
    """The mean of the natural logarithms of ratios B/A, with its two-sided confidence interval."""

    mean: float
    """Mean of ln(B/A)."""
    low: float
    """Lower end of the interval."""
    high: float
    """Upper end of the interval."""
    sd: float
    """Standard deviation of the log-ratio of one run of B and one run of A."""
    n: int
    """Number of log-ratios; for groups the number of runs in the smaller one."""
    p: float
    """Two-sided p value, for the hypothesis that there is no difference."""
    level: float = LEVEL
    """Level of the interval, 0.05 for 95 %: it covers the true value with probability 1 - level."""

    @property
    def smallest_percent(self) -> float:
        """Return the smallest effect, in percent, that `n` runs with this scatter show with 80 % probability."""
        error = self.sd / sqrt(self.n)
        return expm1((self.high - self.low) / 2 + quantile(POWER, self.n - 1) * error) * 100

    @property
    def percent(self) -> float:
        """Return the mean difference in percent of A."""
        return expm1(self.mean) * 100

    @property
    def percent_low(self) -> float:
        """Return the lower end of the difference in percent of A."""
        return expm1(self.low) * 100

    @property
    def percent_high(self) -> float:
        """Return the upper end of the difference in percent of A."""
        return expm1(self.high) * 100

    @property
    def excludes_zero(self) -> bool:
        """Return whether the whole interval is above 0, or the whole interval is below 0."""
        return self.low > 0 or self.high < 0

    def within(self, percent: float) -> bool:
        """Return whether the whole interval is between -`percent` and +`percent`."""
        return self.percent_low > -percent and self.percent_high < percent

    def at_least(self, half: float) -> ConfidenceInterval:
        """Return the interval, extended if necessary to reach `half` (a logarithm) to both sides of the mean."""
        return replace(self, low=min(self.low, self.mean - half), high=max(self.high, self.mean + half))


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanInterval:
    """The mean of repeats with its 95 % interval, in the unit of the values."""

    mean: float
    """Arithmetic mean."""
    half: float | None
    """Half the width of the interval; None for a single value."""
    sd: float | None
    """Standard deviation between runs; None for a single value."""
    n: int
    """Number of runs."""

    @property
    def ends(self) -> tuple[float, float] | None:
        """Return both ends of the interval, the lower one at least 0; None for a single value."""
        return None if self.half is None else (max(0.0, self.mean - self.half), self.mean + self.half)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogMeanInterval:
    """The geometric mean of repeats with its 95 % interval, in the unit of the values."""

    mean: float
    """Geometric mean."""
    low: float | None
    """Lower end of the interval; None for a single value."""
    high: float | None
    """Upper end of the interval; None for a single value."""
    n: int
    """Number of runs."""

    @property
    def ends(self) -> tuple[float, float] | None:
        """Return both ends of the interval; None for a single value."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def ratio_interval(ratios: Sequence[float], *, level: float = LEVEL) -> ConfidenceInterval:
    """Return Student's t interval of the mean of log-ratios; at least two are needed."""
    mean, variance = moments(ratios)
    n = len(ratios)
    return _interval(mean, sqrt(variance), sqrt(variance / n), n - 1, n, level)


def welch_interval(a: Sequence[float], b: Sequence[float], *, level: float = LEVEL) -> ConfidenceInterval:
    """Return Welch's interval of the difference between the mean logarithms of two groups.

    Raises ValueError unless both groups have at least two values, all positive.
    """
    if min(len(a), len(b)) < 2:
        raise ValueError(f"{len(a)} and {len(b)} values make no groups")
    (mean_a, variance_a), (mean_b, variance_b) = moments([*map(log, a)]), moments([*map(log, b)])
    share_a, share_b = variance_a / len(a), variance_b / len(b)
    squares = share_a**2 / (len(a) - 1) + share_b**2 / (len(b) - 1)
    dof = (share_a + share_b) ** 2 / squares if squares else float(len(a) + len(b) - 2)
    spread = sqrt(variance_a + variance_b)
    return _interval(mean_b - mean_a, spread, sqrt(share_a + share_b), dof, min(len(a), len(b)), level)


def mean_interval(values: Sequence[float]) -> MeanInterval:
    """Return mean and 95 % interval of repeats. Raises ValueError for no values."""
    if not values:
        raise ValueError("no values")
    if len(values) == 1:
        return MeanInterval(mean=values[0], half=None, sd=None, n=1)
    mean, variance = moments(values)
    half = quantile(0.975, len(values) - 1) * sqrt(variance / len(values))
    return MeanInterval(mean=mean, half=half, sd=sqrt(variance), n=len(values))


def log_mean_interval(values: Sequence[float]) -> LogMeanInterval:
    """Return geometric mean and 95 % interval of positive values that scatter by factors, such as latencies."""
    if len(values) < 2:
        return LogMeanInterval(mean=geometric_mean(values), low=None, high=None, n=len(values))
    interval = ratio_interval([*map(log, values)])
    return LogMeanInterval(mean=exp(interval.mean), low=exp(interval.low), high=exp(interval.high), n=len(values))


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return the p values in the same order, adjusted for their number by Holm's method."""
    ranked = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(ranked):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return tuple(adjusted)


def outliers(values: Sequence[float]) -> tuple[int, ...]:
    """Return the indexes of all outliers; at most a quarter of the values are outliers.

    One outlier can hide another, so the value farthest from the mean is removed repeatedly. The last removed value that
    is too far is an outlier, and so are all values removed before it (Rosner, Technometrics 25, 1983).
    """
    remaining, taken, outlier_count = [*range(len(values))], list[int](), 0
    for _ in range(len(values) // 4):
        farthest, far = _farthest([values[at] for at in remaining])
        taken.append(remaining.pop(farthest))
        if far:
            outlier_count = len(taken)
    return tuple(sorted(taken[:outlier_count]))


def _farthest(values: Sequence[float]) -> tuple[int, bool]:
    """Return the index of the value farthest from the mean, and whether it is too far. Needs three values or more.

    The limit for the externally studentised residual is a quantile of Student's t for the number of values (Bonferroni,
    5 %), but at least 3.5. With 3.5 alone, one in seven sets of six values from one distribution would have an outlier.
    """
    n = len(values)
    mean, variance = moments(values)
    index = max(range(n), key=lambda at: abs(values[at] - mean))
    if not variance:
        return index, False
    residual = values[index] - mean
    rest = (variance * (n - 1) - residual**2 * n / (n - 1)) / (n - 2)
    studentised = abs(residual) / sqrt(rest * (1 - 1 / n)) if rest > 0 else inf
    return index, studentised > max(3.5, quantile(1 - LEVEL / (2 * n), n - 2))


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of positive values."""
    return exp(fsum(map(log, values)) / len(values))


def log_ratios(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """Return ln(b[i]/a[i]) of each pair. Raises ValueError for unequal numbers or values without a logarithm."""
    return [log(other / value) for value, other in zip(a, b, strict=True)]


def moments(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and the sample variance (divided by n - 1)."""
    mean = fsum(values) / len(values)
    return mean, fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _interval(mean: float, sd: float, error: float, dof: float, n: int, level: float) -> ConfidenceInterval:
    half = quantile(1 - level / 2, dof) * error
    p = tails(mean / error, dof) if error else float(mean == 0)
    return ConfidenceInterval(mean=mean, low=mean - half, high=mean + half, sd=sd, n=n, p=p, level=level)
