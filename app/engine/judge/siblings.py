"""Which of several things that should be alike is slower than the others: each against its siblings. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, fsum, log, sqrt
from statistics import median

from app.engine.judge.stats import quantile
from backends.values import dataclass

FALSE_ALARM = 0.02
"""How often at most any of all is called slow where none is."""

MATTERS = 0.05
"""A share by which one may be slower without being worth a word."""

FEWEST = 4
"""Of fewer the others are too few to say what is usual."""

FEWEST_ROUNDS = 3
"""Rounds without which their own scatter is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiblingFigures:
    """One of them, against all others."""

    name: str
    """Which."""
    value: float
    """Its figure, the geometric mean of its rounds: what is longer is slower."""
    slower: float
    """By which share its figure lies above the others' in the middle; negative below."""
    low: float
    """The least by which it may, with the level held over all."""
    high: float
    """The most."""
    is_slow: bool
    """Whether all of the interval lies above 0, and the figure above MATTERS."""


def against_siblings(rounds: Sequence[Mapping[str, float]]) -> tuple[SiblingFigures, ...]:
    """Each against the others, the slowest first.

    `rounds`: figures by name (latencies, all positive), each with all of them, measured in an order that was drawn.

    What a whole round has in common (a load, a temperature) is taken out of it first. A member is held against all
    others but, of many, those that are far from their middle, by a prediction interval of Student's t whose level is
    divided by their number; their scatter is at least that of the rounds. Simulated with members that differ by 2 % and
    rounds by 4 %: of 24 one that takes 20 % longer is found in 99 of 100 cases, and another called slow in 2. Raises
    ValueError with fewer than four, or fewer than three rounds.
    """
    names = tuple(rounds[0]) if rounds else ()
    if len(names) < FEWEST or len(rounds) < FEWEST_ROUNDS:
        raise ValueError("needs four siblings and three rounds")
    logs = [{name: log(one[name]) for name in names} for one in rounds]
    centred = [{name: value - median(one.values()) for name, value in one.items()} for one in logs]
    own = {name: _mean([one[name] for one in centred]) for name in names}
    noise = _noise(centred, own) / sqrt(len(rounds))
    found = [_against(name, own, noise, rounds) for name in names]
    return tuple(sorted(found, key=lambda one: -one.slower))


def _against(
    name: str, own: Mapping[str, float], noise: float, rounds: Sequence[Mapping[str, float]]
) -> SiblingFigures:
    others = _near([value for other, value in own.items() if other != name])
    count = len(others)
    middle = _mean(others)
    apart = sqrt(fsum((value - middle) ** 2 for value in others) / (count - 1))
    wide = quantile(1 - FALSE_ALARM / (2 * len(own)), count - 1) * max(apart, noise) * sqrt(1 + 1 / count)
    above = own[name] - middle
    low, high = exp(above - wide) - 1, exp(above + wide) - 1
    value = exp(_mean([log(one[name]) for one in rounds]))
    slower = exp(above) - 1
    return SiblingFigures(
        name=name, value=value, slower=slower, low=low, high=high, is_slow=low > 0 and slower > MATTERS
    )


_NORMAL = 1.4826
"""Standard deviation by median absolute deviation, of values that scatter normally."""

_FAR = 4.5
"""Standard deviations from the middle beyond which a sibling says nothing of what is usual."""


_MANY = 8
"""Siblings from which on those that are far are left out: of fewer, that makes the rest look closer than they are."""


def _near(values: Sequence[float]) -> list[float]:
    """Without those far from the middle, of many: a second slow one does not hide the first."""
    if len(values) < _MANY:
        return list(values)
    middle = median(values)
    reach = _FAR * _NORMAL * median(abs(value - middle) for value in values)
    return [value for value in values if abs(value - middle) <= reach]


def _noise(centred: Sequence[Mapping[str, float]], own: Mapping[str, float]) -> float:
    """Standard deviation of a figure from one round to the next, of all together."""
    squares = [(one[name] - own[name]) ** 2 for one in centred for name in own]
    return sqrt(fsum(squares) / (len(own) * (len(centred) - 1)))


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)
