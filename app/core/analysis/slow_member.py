"""Decide which of several alike members is slower than the others: each against its siblings. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import exp, fsum, hypot, log, pi, sqrt
from statistics import fmean, median, stdev

from app.core.analysis.stats import quantile
from backends.values import dataclass

FALSE_ALARM = 0.04
"""How often any of all is called slow where none is; with hiccups somewhat more, simulated at most 5 %."""

POWER = 0.9
"""How often a member is found that is slower by the share that `detectable` returns."""

MATTERS = 0.05
"""A share by which one may be slower without being worth a word."""

ALIKE = 0.02
"""Standard deviation, as a share, by which sound members of one model are taken to differ: an assumption."""

FEWEST = 4
"""Of fewer the others are too few to say what is usual."""

FEWEST_ROUNDS = 3
"""Rounds without which their own scatter is not known."""

MOST_ROUNDS = 50
"""Rounds beyond which none is planned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberComparison:
    """One of them, against all others."""

    name: str
    """Which."""
    value: float
    """Its figure, the geometric mean of its rounds: what is longer is slower."""
    slower: float
    """By which share its figure lies above the median of the others; negative below."""
    low: float
    """The least by which it may, with the level held over all."""
    high: float
    """The most."""
    is_slow: bool
    """Whether all of the interval lies above 0, and the figure above MATTERS."""


def against_siblings(rounds: Sequence[Mapping[str, float]]) -> tuple[MemberComparison, ...]:
    """Return each against the others, the slowest first.

    `rounds`: figures by name (latencies, all positive), each with all of them, measured in an order that was drawn.

    Each round is centred on its median, which removes what a whole round has in common (a load, a temperature). The
    scatter between rounds is pooled over all members, with rounds far from their member's median drawn in. A member is
    compared with the median of the others. Its interval covers that scatter and the difference of sound members
    (ALIKE, or what many members show). `tests/core/analysis/test_siblings.py` simulates false alarms and power.
    Raises ValueError with fewer than four, or fewer than three rounds.
    """
    names = tuple(rounds[0]) if rounds else ()
    if len(names) < FEWEST or len(rounds) < FEWEST_ROUNDS:
        raise ValueError("needs four siblings and three rounds")
    logs = [{name: log(record[name]) for name in names} for record in rounds]
    centres = [median(log.values()) for log in logs]
    tamed = _tamed({name: [record[name] - by for record, by in zip(logs, centres, strict=True)] for name in names})
    means = {name: fmean(values) for name, values in tamed.items()}
    scatter = _scatter(tamed, means)
    comparisons = [_against(name, means, scatter, rounds) for name in names]
    return tuple(sorted(comparisons, key=lambda comparison: -comparison.slower))


def detectable(members: int, rounds: int, scatter: float) -> float:
    """Return by which share a member has to be slower to be found with POWER.

    `scatter`: standard deviation, as a share, of one member's figure from round to round.
    """
    free = (members - 1) * (rounds - 1)
    error = hypot(scatter / sqrt(rounds), ALIKE) * _widened(members - 1)
    return max(MATTERS, exp((_beyond(members, free) + quantile(POWER, free)) * error) - 1)


def rounds_to_show(share: float, members: int, scatter: float) -> int | None:
    """Return the fewest rounds in which a member slower by `share` is found with POWER; None for over MOST_ROUNDS."""
    enough = (n for n in range(FEWEST_ROUNDS, MOST_ROUNDS + 1) if detectable(members, n, scatter) <= share)
    return next(enough, None)


def _against(
    name: str, means: Mapping[str, float], scatter: float, rounds: Sequence[Mapping[str, float]]
) -> MemberComparison:
    others = [value for other, value in means.items() if other != name]
    spread, free = hypot(scatter / sqrt(len(rounds)), ALIKE), (len(means) - 1) * (len(rounds) - 1)
    if len(others) >= _MANY and (apart := stdev(near := _near(others))) > _UNLIKE * spread:
        spread, free = apart, len(near) - 1
    wide = spread * _beyond(len(means), free) * _widened(len(others))
    above = means[name] - median(others)
    low, high = exp(above - wide) - 1, exp(above + wide) - 1
    value = exp(fmean([log(record[name]) for record in rounds]))
    slower = exp(above) - 1
    return MemberComparison(
        name=name, value=value, slower=slower, low=low, high=high, is_slow=low > 0 and slower > MATTERS
    )


_NORMAL = 1.4826
"""Standard deviation by median absolute deviation, of values that scatter normally."""

_FAR = 4.5
"""Standard deviations from the middle beyond which a sibling says nothing of what is usual."""

_HICCUP = 2.5
"""Standard deviations from its member's median to which a round beyond them is drawn in."""

_MANY = 8
"""Siblings from which on their own differences are measured: of fewer, the scatter of three or four says little."""

_UNLIKE = 1.5
"""Times the expected standard deviation from which siblings differ by more than sound ones are taken to."""


def _beyond(members: int, free: float) -> float:
    """Return the quantile of Student's t that holds FALSE_ALARM over all members."""
    return quantile(1 - FALSE_ALARM / members, free)


def _widened(others: int) -> float:
    """Return how much wider the difference to a median of so many scatters than one member."""
    return sqrt(1 + pi / 2 / others)


def _near(values: Sequence[float]) -> list[float]:
    """Return the values without those far from the middle: a second slow one does not hide the first."""
    middle = median(values)
    reach = _FAR * _NORMAL * median(abs(value - middle) for value in values)
    return [value for value in values if abs(value - middle) <= reach]


def _tamed(centred: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """Return the figures with those drawn in that one round alone has: a hiccup is no slow member."""
    # By differences of two rounds, which need no middle: that of three rounds is one of them.
    pairs = [abs(value - other) for values in centred.values() for value, other in combinations(values, 2)]
    reach = _HICCUP * _NORMAL * median(pairs) / sqrt(2)
    middles = {name: median(values) for name, values in centred.items()}
    return {
        name: [min(max(value, middles[name] - reach), middles[name] + reach) for value in values]
        for name, values in centred.items()
    }


def _scatter(tamed: Mapping[str, Sequence[float]], means: Mapping[str, float]) -> float:
    """Return the standard deviation of a figure from one round to the next, of all together."""
    squares = [(value - means[name]) ** 2 for name, values in tamed.items() for value in values]
    rounds = len(squares) // len(means)
    return sqrt(fsum(squares) / ((len(means) - 1) * (rounds - 1)))
