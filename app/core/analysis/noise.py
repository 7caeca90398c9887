"""Scatter of repeated runs, and the effects that pairs of runs can show in spite of it. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import expm1, fsum, isfinite, log, log1p, sqrt
from statistics import NormalDist

from app.core.analysis.pair_design import FEWEST_PAIRS, LEVEL
from app.core.analysis.stats import POWER, THRESHOLD_PERCENT, ConfidenceInterval, quantile
from app.core.session.event_types import InterimAnalysis
from backends.values import dataclass

SIZES = (5.0, 10.0, 20.0)
"""Sizes of effects, in percent, for which a plan states the number of pairs that would find them."""

FEWEST_KNOWN = 3
"""Least degrees of freedom of a scatter. With fewer, the scatter says almost nothing about the next run."""

CAUTION = 0.75
"""Probability that the true scatter is at most the scatter that a plan assumes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNoise:
    """Scatter of runs with the same configuration."""

    sd: float
    """Standard deviation of the logarithm of the ratio of two runs."""
    dof: int
    """Degrees of freedom: the number of runs minus the number of groups."""
    runs: int
    """Number of runs from which the scatter was computed."""

    @property
    def percent(self) -> float:
        """Return the standard deviation of one run, in percent."""
        return expm1(self.sd / sqrt(2)) * 100

    @property
    def conservative_sd(self) -> float:
        """Return a standard deviation that is at least the true one with the probability `CAUTION`."""
        return self.sd * sd_upper_bound(self.dof)


def noise_of(groups: Iterable[Sequence[float]]) -> RunNoise | None:
    """Return the noise of groups of repeats, from their positive values; None if there are too few."""
    squares, dof, runs = 0.0, 0, 0
    for group in groups:
        logs = [log(value) for value in group if value > 0 and isfinite(value)]
        if len(logs) > 1:
            mean = fsum(logs) / len(logs)
            squares += fsum((log - mean) ** 2 for log in logs)
            dof += len(logs) - 1
            runs += len(logs)
    return RunNoise(sd=sqrt(2 * squares / dof), dof=dof, runs=runs) if dof >= FEWEST_KNOWN else None


def noise_of_pairs(interval: ConfidenceInterval) -> RunNoise | None:
    """Return the noise from the interval of pairs that had the same value on both sides; None for too few pairs."""
    return RunNoise(sd=interval.sd, dof=interval.n - 1, runs=2 * interval.n) if interval.n > FEWEST_KNOWN else None


def detectable_effect(noise: RunNoise, pairs: int, *, level: float = LEVEL) -> float:
    """Return the smallest effect in percent that this many pairs show with at least 80 % probability."""
    return expm1(_detectable_sds(pairs, level) * noise.conservative_sd) * 100


def pairs_for(noise: RunNoise, percent: float, most: int) -> int | None:
    """Return the fewest pairs that show an effect of `percent` with 80 % probability; None if `most` are not enough."""
    effect = log1p(percent / 100)
    return next(
        (n for n in range(FEWEST_PAIRS, most + 1) if _detectable_sds(n, LEVEL) * noise.conservative_sd <= effect), None
    )


def sd_upper_bound(dof: int, sure: float = CAUTION) -> float:
    """Return a factor: with probability `sure`, the true scatter is at most the sample scatter times this factor.

    The chi-squared distribution is approximated by the method of Wilson and Hilferty.
    """
    part = 2 / (9 * dof)
    return float(max(0.05, 1 - part - NormalDist().inv_cdf(sure) * sqrt(part)) ** -1.5)


def _detectable_sds(pairs: int, level: float) -> float:
    """Return the smallest effect that this many pairs show, in standard deviations of one pair."""
    return (quantile(1 - level / 2, pairs - 1) + quantile(POWER, pairs - 1)) / sqrt(pairs)


# -- forecast of how many pairs would decide a comparison --------------------------------------------------------------

# The measured effect and scatter have random errors. When a forecast after three pairs took them as true, it was
# correct in 12 to 61 % of cases. So the forecast allows for the uncertainty of few pairs: it assumes an effect nearer
# to 0 and a larger scatter.

FEWEST_FORETELLING = 6
"""Least number of pairs for a forecast. With three pairs that agreed by chance it was correct in only 48 % of cases."""

FORECAST_CAUTION = 0.80
"""Probability that the effect is not worse than the forecast assumes; also that the scatter is not."""


def deciding_look(
    interval: ConfidenceInterval, looks: Sequence[InterimAnalysis], *, threshold: float = THRESHOLD_PERCENT
) -> InterimAnalysis | None:
    """Return the first of these interim analyses that is likely to give a verdict; None if there is none.

    Each analysis takes place after a certain total number of pairs. It gives a verdict if it shows the effect, or if it
    shows that the effect is below the threshold (in percent).
    """
    n = interval.n
    if n < FEWEST_FORETELLING or not interval.sd:
        return None
    off = quantile(FORECAST_CAUTION, n - 1) * interval.sd / sqrt(n)
    sd = interval.sd * sd_upper_bound(n - 1, FORECAST_CAUTION)
    effect, limit = abs(interval.mean), log1p(threshold / 100)
    for look in looks:
        if look.pairs > n and (
            _is_shown(sd, effect - off, look.pairs, look.level, POWER)
            or _is_shown(sd, limit - effect - off, look.pairs, look.inside_level, (1 + POWER) / 2)
        ):
            return look
    return None


def _is_shown(sd: float, margin: float, pairs: int, level: float, power: float) -> bool:
    """Return whether the interval of `pairs` pairs reaches at most `margin` to each side, with probability `power`."""
    wanted = quantile(1 - level / 2, pairs - 1) + quantile(power, pairs - 1)
    return margin > 0 and wanted * sd / sqrt(pairs) <= margin
