"""Student's t distribution from the incomplete beta function. Pure, standard library only.

The continued fraction of the incomplete beta function is the one of Abramowitz & Stegun 26.5.8, evaluated with
Lentz's method.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, inf, lgamma, log, log1p

_TINY = 1e-300
_PRECISION = 1e-15
_TERMS = 10_000


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function I_x(a, b); a, b > 0, 0 <= x <= 1."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    # The fraction converges fast on one side of the mean only; the other side is its mirror image.
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, _away_from_zero(1 - (a + b) * x / (a + 1))
    d = 1 / d
    value = d
    for m in range(1, _TERMS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _away_from_zero(1 + term * d)
            c = _away_from_zero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < _PRECISION:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def tails(t: float, dof: float) -> float:
    """The probability that |T| is at least |t|; `dof` > 0 need not be whole (Welch)."""
    return incomplete_beta(dof / 2, 0.5, dof / (dof + t * t)) if t else 1.0


@lru_cache(maxsize=4096)
def quantile(p: float, dof: float) -> float:
    """The t below which T lies with probability p. Raises ValueError unless 0 < p < 1 and dof > 0."""
    if not 0 < p < 1 or dof <= 0:
        raise ValueError(f"no quantile of Student's t for p={p}, dof={dof}")
    if p == 0.5:
        return 0.0
    tail = 2 * min(p, 1 - p)
    low, high = 0.0, 1.0
    while tails(high, dof) > tail:
        low, high = high, high * 2
        if high == inf:
            return inf if p > 0.5 else -inf
    while high - low > 4e-15 * max(1.0, high):
        middle = (low + high) / 2
        low, high = (middle, high) if tails(middle, dof) > tail else (low, middle)
    return (low + high) / 2 if p > 0.5 else -(low + high) / 2
