"""How far runs of the same lie apart, and so what pairs of them can show, before anything is set. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import expm1, fsum, isfinite, log, log1p, sqrt
from statistics import NormalDist

from app.core.analysis.pair_design import FEWEST_PAIRS, LEVEL
from app.core.analysis.stats import POWER, THRESHOLD_PERCENT, ConfidenceInterval, quantile
from app.core.session.event_types import InterimAnalysis
from backends.values import dataclass

SIZES = (5.0, 10.0, 20.0)
"""Percent: effects of which a plan says how many pairs would find them."""

FEWEST_KNOWN = 3
"""Degrees of freedom below which a scatter says next to nothing of the next run."""

CAUTION = 0.75
"""How sure the true scatter is not larger than is taken for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNoise:
    """How far runs of the same lie apart."""

    sd: float
    """Standard deviation of the logarithm of one run's ratio to another."""
    dof: int
    """Degrees of freedom: runs without one for each group of them."""
    runs: int
    """How many runs that is taken from."""

    @property
    def percent(self) -> float:
        """From one run to the next, in percent: the standard deviation of one run."""
        return expm1(self.sd / sqrt(2)) * 100

    @property
    def conservative_sd(self) -> float:
        """The same as `sd`, and not less than the truth with the probability `CAUTION`."""
        return self.sd * sd_upper_bound(self.dof)


def noise_of(groups: Iterable[Sequence[float]]) -> RunNoise | None:
    """From groups of repeats, each by its positive values; None where they say too little."""
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
    """From pairs in which both sides were the same; None of too few."""
    return RunNoise(sd=interval.sd, dof=interval.n - 1, runs=2 * interval.n) if interval.n > FEWEST_KNOWN else None


def detectable_effect(noise: RunNoise, pairs: int, *, level: float = LEVEL) -> float:
    """The smallest effect, in percent, that so many pairs show four times of five at least."""
    return expm1(_needed(pairs, level) * noise.conservative_sd) * 100


def pairs_for(noise: RunNoise, percent: float, most: int) -> int | None:
    """The fewest pairs that show an effect of so many percent four times of five; None where `most` do not."""
    effect = log1p(percent / 100)
    return next((n for n in range(FEWEST_PAIRS, most + 1) if _needed(n, LEVEL) * noise.conservative_sd <= effect), None)


def sd_upper_bound(dof: int, sure: float = CAUTION) -> float:
    """The true scatter as a multiple of that of a sample, at most, with the probability `sure`.

    The chi-squared distribution after Wilson and Hilferty.
    """
    part = 2 / (9 * dof)
    return float(max(0.05, 1 - part - NormalDist().inv_cdf(sure) * sqrt(part)) ** -1.5)


def _needed(pairs: int, level: float) -> float:
    """The effect in standard deviations of one pair."""
    return (quantile(1 - level / 2, pairs - 1) + quantile(POWER, pairs - 1)) / sqrt(pairs)


# -- whether more pairs would decide a comparison, said only where that mostly comes true -----------------------------

# Effect and scatter as measured are a lucky or an unlucky draw: taken for the truth, a forecast after three pairs came
# true in 12 to 61 % of cases. So the effect is taken nearer to 0 and the scatter larger than measured, by as much as so
# few pairs may be off by, and the pairs are those that decide under these.

FEWEST_FORETELLING = 6
"""Pairs below which nothing is foretold: three that happen to agree made it come true in 48 % of cases."""

FORECAST_CAUTION = 0.80
"""How sure effect and scatter are each not worse than is taken for the forecast."""


def deciding_look(
    interval: ConfidenceInterval, looks: Sequence[InterimAnalysis], *, threshold: float = THRESHOLD_PERCENT
) -> InterimAnalysis | None:
    """The first of these looks, each after so many pairs in all, that would decide; None if none is likely to.

    Either the effect shows, or, where it is below the threshold (in percent), that it is.
    """
    n = interval.n
    if n < FEWEST_FORETELLING or not interval.sd:
        return None
    off = quantile(FORECAST_CAUTION, n - 1) * interval.sd / sqrt(n)
    sd = interval.sd * sd_upper_bound(n - 1, FORECAST_CAUTION)
    effect, limit = abs(interval.mean), log1p(threshold / 100)
    for look in looks:
        if look.pairs > n and (
            _shows(sd, effect - off, look.pairs, look.level, POWER)
            or _shows(sd, limit - effect - off, look.pairs, look.inside_level, (1 + POWER) / 2)
        ):
            return look
    return None


def _shows(sd: float, margin: float, pairs: int, level: float, power: float) -> bool:
    """Whether the interval of so many pairs keeps that far away, so often."""
    wanted = quantile(1 - level / 2, pairs - 1) + quantile(power, pairs - 1)
    return margin > 0 and wanted * sd / sqrt(pairs) <= margin
