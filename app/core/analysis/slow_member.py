"""Test for a slow member of an array: each member is compared with the others of the same kind. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import exp, fsum, hypot, log, pi, sqrt
from statistics import fmean, median, stdev

from app.core.analysis.stats import quantile
from backends.values import dataclass

FALSE_ALARM = 0.04
"""Chance that any healthy member is reported as slow.

If single rounds are slow, the chance is up to 5 % in simulations.
"""

POWER = 0.9
"""Chance of finding a member that is slower by the share that `detectable` returns."""

MATTERS = 0.05
"""Share by which a member may be slower than the others without being reported."""

ALIKE = 0.02
"""Assumed standard deviation between the values of healthy members of one model, as a share of their mean."""

FEWEST = 4
"""Least number of members; fewer do not show what is normal."""

FEWEST_ROUNDS = 3
"""Least number of rounds; fewer do not show how much rounds scatter."""

MOST_ROUNDS = 50
"""Largest number of rounds that is planned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberComparison:
    """Comparison of one member with all others."""

    name: str
    """Name of the member."""
    value: float
    """Result of the member, the geometric mean of its rounds; a larger value is slower."""
    slower: float
    """Share by which `value` is above the median of the others; negative if it is below."""
    low: float
    """Lower end of the interval of `slower`. The level of the interval holds for all members together."""
    high: float
    """Upper end of the interval of `slower`."""
    is_slow: bool
    """Whether the whole interval is above 0 and `slower` is above MATTERS."""


def against_siblings(rounds: Sequence[Mapping[str, float]]) -> tuple[MemberComparison, ...]:
    """Return each member compared with the others, the slowest first.

    `rounds`: for each round, the values (positive latencies) of all members by name, measured in random order.

    Each round is centred on its median. This removes effects that all its values share, such as a load or a
    temperature. Values far from the median of their member are clipped. Then the scatter between rounds is computed
    from all members together. A member is compared with the median of the others. Its interval allows for that scatter,
    and for the usual difference between healthy members: ALIKE, or the measured difference if there are many members.
    `tests/core/analysis/test_siblings.py` simulates false alarms and power. Raises ValueError for fewer than four
    members or three rounds.
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
    """Return the share by which a member must be slower to be found with the probability POWER.

    `scatter`: standard deviation, as a share, of one member's value between rounds.
    """
    free = (members - 1) * (rounds - 1)
    error = hypot(scatter / sqrt(rounds), ALIKE) * _median_factor(members - 1)
    return max(MATTERS, exp((_critical_value(members, free) + quantile(POWER, free)) * error) - 1)


def rounds_to_show(share: float, members: int, scatter: float) -> int | None:
    """Return the fewest rounds that find a member slower by `share` with the probability POWER.

    None if MOST_ROUNDS rounds are not enough.
    """
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
"""Distance from the median, in standard deviations, beyond which a member counts as abnormal.

Abnormal members are ignored when the usual difference between members is measured.
"""

_HICCUP = 2.5
"""Distance from the median of its member, in standard deviations, at which a value is clipped."""

_MANY = 8
"""Least number of other members whose differences are measured rather than assumed; three or four show too little."""

_UNLIKE = 1.5
"""Members differ unusually if their standard deviation is above this multiple of the expected one."""


def _critical_value(members: int, free: float) -> float:
    """Return the quantile of Student's t for which the chance of any false alarm is FALSE_ALARM."""
    return quantile(1 - FALSE_ALARM / members, free)


def _median_factor(others: int) -> float:
    """Return the scatter of a member's difference from the median of `others` members, as a multiple of its scatter."""
    return sqrt(1 + pi / 2 / others)


def _without_far_values(values: Sequence[float]) -> list[float]:
    """Return the values without those far from the median: a second slow member must not widen the normal scatter."""
    middle = median(values)
    reach = _FAR * _NORMAL * median(abs(value - middle) for value in values)
    return [value for value in values if abs(value - middle) <= reach]


def _clip_outliers(centred: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """Return the values with outliers clipped, because one slow round does not make a member slow."""
    # The scatter comes from differences of two rounds. Of three deviations from their median, one would always be 0.
    pairs = [abs(value - other) for values in centred.values() for value, other in combinations(values, 2)]
    reach = _HICCUP * _NORMAL * median(pairs) / sqrt(2)
    middles = {name: median(values) for name, values in centred.items()}
    return {
        name: [min(max(value, middles[name] - reach), middles[name] + reach) for value in values]
        for name, values in centred.items()
    }


def _scatter(clipped: Mapping[str, Sequence[float]], means: Mapping[str, float]) -> float:
    """Return the standard deviation of a value between rounds, computed from all members together."""
    squares = [(value - means[name]) ** 2 for name, values in clipped.items() for value in values]
    rounds = len(squares) // len(means)
    return sqrt(fsum(squares) / ((len(means) - 1) * (rounds - 1)))
