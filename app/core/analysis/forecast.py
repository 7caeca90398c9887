"""Whether more pairs would decide a comparison, said only where that mostly comes true. Pure.

Effect and scatter as seen are a lucky or an unlucky draw: taken for the truth, a forecast after three pairs came true
in 12 to 61 % of cases. So the effect is taken nearer to 0 and the scatter larger than seen, by as much as so few pairs
may be off by, and the pairs are those that decide under these.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log1p, sqrt

from app.core.analysis.noise import sd_upper_bound
from app.core.analysis.stats import POWER, THRESHOLD_PERCENT, ConfidenceInterval, quantile
from app.core.session.event_types import InterimAnalysis

FEWEST_FORETELLING = 6
"""Pairs below which nothing is foretold: three that happen to agree made it come true in 48 % of cases."""

CAUTION = 0.80
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
    off = quantile(CAUTION, n - 1) * interval.sd / sqrt(n)
    sd = interval.sd * sd_upper_bound(n - 1, CAUTION)
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
