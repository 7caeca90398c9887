"""Test for a slow member among several of the same kind: each is compared with the others. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import exp, fsum, hypot, log, pi, sqrt
from statistics import fmean, median, stdev

from app.core.analysis.stats import quantile
from backends.values import dataclass

FALSE_ALARM = 0.04
"""Chance that any sound member is called slow; with single slow rounds slightly more, simulated at most 5 %."""

POWER = 0.9
"""Chance of finding a member that is slower by the share that `detectable` returns."""

MATTERS = 0.05
"""Share by which a member may be slower without being reported."""

ALIKE = 0.02
"""Assumed standard deviation, as a share, between sound members of one model."""

FEWEST = 4
"""Least number of members; fewer do not show what is normal."""

FEWEST_ROUNDS = 3
"""Least number of rounds; fewer do not show their own scatter."""

MOST_ROUNDS = 50
"""Most rounds that are planned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberComparison:
    """One member compared with all others."""

    name: str
    """Its name."""
    value: float
    """Its result, the geometric mean of its rounds; a larger value is slower."""
    slower: float
    """Share by which its value is above the median of the others; negative below."""
    low: float
    """Lower end of the interval of that share, at a level for all members together."""
    high: float
    """Upper end."""
    is_slow: bool
    """Whether all of the interval is above 0, and the share above MATTERS."""


def against_siblings(rounds: Sequence[Mapping[str, float]]) -> tuple[MemberComparison, ...]:
    """Return each member compared with the others, the slowest first.

    `rounds`: values by name (latencies, all positive), each with all members, measured in random order.

    Each round is centred on its median, which removes effects common to the round (a load, a temperature). The scatter
    between rounds is pooled over all members, after rounds far from their member's median were clipped. A member is
    compared with the median of the others. Its interval covers that scatter and the difference of sound members (ALIKE,
    or the measured one of many members). `tests/core/analysis/test_siblings.py` simulates false alarms and power.
    Raises ValueError for fewer than four members or three rounds.
    """
    names = tuple(rounds[0]) if rounds else ()
    if len(names) < FEWEST or len(rounds) < FEWEST_ROUNDS:
        raise ValueError("needs four members to compare and three rounds")
    logs = [{name: log(record[name]) for name in names} for record in rounds]
    centres = [median(log.values()) for log in logs]
    clipped = _clip_outliers(
        {name: [record[name] - by for record, by in zip(logs, centres, strict=True)] for name in names}
    )
    means = {name: fmean(values) for name, values in clipped.items()}
    scatter = _scatter(clipped, means)
    comparisons = [_compare_member(name, means, scatter, rounds) for name in names]
    return tuple(sorted(comparisons, key=lambda comparison: -comparison.slower))


def detectable(members: int, rounds: int, scatter: float) -> float:
    """Return the share by which a member must be slower to be found with POWER.

    `scatter`: standard deviation, as a share, of one member's value between rounds.
    """
    free = (members - 1) * (rounds - 1)
    error = hypot(scatter / sqrt(rounds), ALIKE) * _median_factor(members - 1)
    return max(MATTERS, exp((_critical_value(members, free) + quantile(POWER, free)) * error) - 1)


def rounds_to_show(share: float, members: int, scatter: float) -> int | None:
    """Return the fewest rounds that find a member slower by `share` with POWER; None if MOST_ROUNDS do not."""
    enough = (n for n in range(FEWEST_ROUNDS, MOST_ROUNDS + 1) if detectable(members, n, scatter) <= share)
    return next(enough, None)


def _compare_member(
    name: str, means: Mapping[str, float], scatter: float, rounds: Sequence[Mapping[str, float]]
) -> MemberComparison:
    others = [value for other, value in means.items() if other != name]
    spread, free = hypot(scatter / sqrt(len(rounds)), ALIKE), (len(means) - 1) * (len(rounds) - 1)
    if len(others) >= _MANY and (apart := stdev(near := _without_far_values(others))) > _UNLIKE * spread:
        spread, free = apart, len(near) - 1
    wide = spread * _critical_value(len(means), free) * _median_factor(len(others))
    above = means[name] - median(others)
    low, high = exp(above - wide) - 1, exp(above + wide) - 1
    value = exp(fmean([log(record[name]) for record in rounds]))
    slower = exp(above) - 1
    return MemberComparison(
        name=name, value=value, slower=slower, low=low, high=high, is_slow=low > 0 and slower > MATTERS
    )


_NORMAL = 1.4826
"""Standard deviation divided by median absolute deviation, for normally distributed values."""

_FAR = 4.5
"""Standard deviations from the median beyond which a member does not show what is normal."""

_HICCUP = 2.5
"""Standard deviations from its member's median at which a round is clipped."""

_MANY = 8
"""Number of other members from which on their own differences are measured; three or four show too little."""

_UNLIKE = 1.5
"""Multiple of the expected standard deviation from which on members differ by more than sound ones."""


def _critical_value(members: int, free: float) -> float:
    """Return the quantile of Student's t that keeps FALSE_ALARM over all members."""
    return quantile(1 - FALSE_ALARM / members, free)


def _median_factor(others: int) -> float:
    """Return the factor by which the difference to the median of this many members scatters more than one member."""
    return sqrt(1 + pi / 2 / others)


def _without_far_values(values: Sequence[float]) -> list[float]:
    """Return the values without those far from the median, so that a second slow member does not hide the first."""
    middle = median(values)
    reach = _FAR * _NORMAL * median(abs(value - middle) for value in values)
    return [value for value in values if abs(value - middle) <= reach]


def _clip_outliers(centred: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """Return the values with single outlier rounds clipped: one slow round is no slow member."""
    # Differences of two rounds need no median; the median of three rounds is one of the three.
    pairs = [abs(value - other) for values in centred.values() for value, other in combinations(values, 2)]
    reach = _HICCUP * _NORMAL * median(pairs) / sqrt(2)
    middles = {name: median(values) for name, values in centred.items()}
    return {
        name: [min(max(value, middles[name] - reach), middles[name] + reach) for value in values]
        for name, values in centred.items()
    }


def _scatter(clipped: Mapping[str, Sequence[float]], means: Mapping[str, float]) -> float:
    """Return the standard deviation of a value between rounds, pooled over all members."""
    squares = [(value - means[name]) ** 2 for name, values in clipped.items() for value in values]
    rounds = len(squares) // len(means)
    return sqrt(fsum(squares) / ((len(means) - 1) * (rounds - 1)))
