"""Many set-ups measured in rounds: what could have come of the same values, had the order been drawn otherwise. Pure.

Each round visits all set-ups in an order of its own. If nothing differs, any other order would have met the same
values; so the labels are drawn anew within each round, again and again, and a contrast counts as different where it is
larger than the largest contrast of nearly all those drawings (Westfall and Young, Resampling-Based Multiple Testing,
1993). That holds whatever the device does by itself, and for all set-ups and workloads together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import fsum, sqrt
from random import Random
from statistics import fmean, median

from app.engine.judge.stats import Interval
from backends.values import dataclass

DRAWS = 499
"""Orders that are drawn. However many there are, no more than the level are wrong; fewer see a little less."""

CLIP = 8.0
"""Robust standard deviations from the middle of a round at which a value is held: a run that took ten times as long
would hide all differences else. Of 3, 5, 8 and 15 this finds +20 % in most of the noises that were tried."""

REACH = 0.55
"""How much of the level the drawings may be in which one set-up stands out as it did; half of them do so more."""

_NORMAL = 1.4826
"""Standard deviations of a normal distribution in its median absolute deviation."""

_LEAST = 1e-9
"""Of a standard deviation of logarithms: rounding is no scatter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """What was measured of some set-ups under one workload: of each round the values in their order."""

    values: tuple[tuple[float, ...], ...]
    """Logarithms, as many in every round."""
    labels: tuple[tuple[int, ...], ...]
    """Which set-up each is of; 0 is what the others are compared with."""

    @property
    def setups(self) -> int:
        """How many."""
        return len(self.values[0])


def reaches(setups: int, rounds: int, level: float) -> bool:
    """Whether so many rounds can show a set-up that stands out, however far it does."""
    return setups > 1 and float(setups) ** (1 - rounds) <= REACH * level


def rounds_needed(setups: int, level: float) -> int:
    """The fewest rounds that can; two set-ups at least."""
    rounds = 2
    while not reaches(setups, rounds, level):
        rounds += 1
    return rounds


@lru_cache(maxsize=16)
def permuted(
    family: tuple[Rounds, ...], *, seed: str, level: float, draws: int = DRAWS
) -> tuple[tuple[Interval, ...], ...]:
    """Of each member the intervals of all its contrasts with 0, which hold together for the whole family.

    An interval is around the median of the log-ratios of the rounds; it excludes 0 where chance does not explain the
    contrast. `seed` decides the drawings, so the same is found again.
    """
    held = [_held(one) for one in family]
    found = [_contrasts(_by_label(rows, one.labels)) for rows, one in zip(held, family, strict=True)]
    random = Random(seed)
    # Drawn from the values themselves it is exact where nothing differs. Where some do, their scatter hides how far the
    # others scatter: drawn from what is left of each set-up without its mean it holds there.
    orders = _largest(held, random, draws)
    left = _largest([_residuals(rows, one.labels) for rows, one in zip(held, family, strict=True)], random, draws)
    out = int(level * (draws + 1) + 1e-9)
    critical = max(_nth_largest(orders, out), _nth_largest(left, out))

    def p_of(size: float) -> float:
        return max((1 + sum(one >= size * (1 - 1e-9) for one in drawn)) / (draws + 1) for drawn in (orders, left))

    return tuple(tuple(_intervals(one, seen, critical, p_of, level)) for one, seen in zip(family, found, strict=True))


def _nth_largest(drawn: Sequence[float], n: int) -> float:
    return sorted(drawn)[-n] if n else float("inf")


def _intervals(
    one: Rounds, seen: _Contrasts, critical: float, p_of: Callable[[float], float], level: float
) -> Iterator[Interval]:
    by_label = _by_label(one.values, one.labels)
    for label in range(1, one.setups):
        middle = median(row[label] - row[0] for row in by_label)
        size = abs(seen.means[label] - seen.means[0]) / seen.error
        low, high = middle - critical * seen.error, middle + critical * seen.error
        if size <= critical * (1 + 1e-9):
            low, high = min(low, 0.0), max(high, 0.0)
        scatter = seen.error * sqrt(len(by_label))
        p = p_of(size)
        yield Interval(mean=middle, low=low, high=high, sd=scatter, n=len(by_label), p=p, level=level)


def _held(one: Rounds) -> list[list[float]]:
    """Of each round what its values are above its middle, without the outermost and without a rise along the rounds.

    No label has a say in it, so labels can be drawn anew behind it.
    """
    centred = [[value - middle for value in row] for row in one.values for middle in [median(row)]]
    most = CLIP * _NORMAL * median(abs(value) for row in centred for value in row)
    if most:
        centred = [[min(most, max(-most, value)) for value in row] for row in centred]
    places = [place - (one.setups - 1) / 2 for place in range(one.setups)]
    squares = len(centred) * fsum(place * place for place in places)
    rise = fsum(place * value for row in centred for place, value in zip(places, row, strict=True)) / squares
    flat = [[value - rise * place for place, value in zip(places, row, strict=True)] for row in centred]
    return [[value - mean for value in row] for row in flat for mean in [fmean(row)]]


def _by_label(rows: Sequence[Sequence[float]], labels: Sequence[Sequence[int]]) -> list[list[float]]:
    return [
        [value for _, value in sorted(zip(names, row, strict=True))] for names, row in zip(labels, rows, strict=True)
    ]


def _residuals(rows: Sequence[Sequence[float]], labels: Sequence[Sequence[int]]) -> list[list[float]]:
    by_label = _by_label(rows, labels)
    means = [fmean(column) for column in zip(*by_label, strict=True)]
    return [[value - mean for value, mean in zip(row, means, strict=True)] for row in by_label]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Contrasts:
    """Means by label, and the standard error of the difference of two."""

    means: tuple[float, ...]
    error: float


def _contrasts(by_label: Sequence[Sequence[float]]) -> _Contrasts:
    """Of rows that each have a mean of 0."""
    squares = fsum(value * value for row in by_label for value in row)
    return _compared(list(map(fsum, zip(*by_label, strict=True))), squares, len(by_label))


def _compared(sums: Sequence[float], squares: float, rounds: int) -> _Contrasts:
    left = max(0.0, squares - sum(one * one for one in sums) / rounds)
    variance = left / ((len(sums) - 1) * (rounds - 1))
    error = max(_LEAST, sqrt(variance)) * sqrt(2 / rounds)
    return _Contrasts(means=tuple(one / rounds for one in sums), error=error)


def _largest(family: Sequence[Sequence[Sequence[float]]], random: Random, draws: int) -> list[float]:
    """The largest contrast of the family, in standard errors, of each drawing."""
    squares = [fsum(value * value for row in rows for value in row) for rows in family]
    found = []
    for _ in range(draws):
        largest = 0.0
        for rows, whole in zip(family, squares, strict=True):
            drawn = [_shuffled(row, random) for row in rows]
            seen = _compared(list(map(sum, zip(*drawn, strict=True))), whole, len(rows))
            base, means = seen.means[0], seen.means
            largest = max(largest, (max(means) - base) / seen.error, (base - min(means)) / seen.error)
        found.append(largest)
    return found


def _shuffled(row: Sequence[float], random: Random) -> list[float]:
    """Half the time of `Random.shuffle`."""
    return [value for _, value in sorted([(random.random(), value) for value in row])]
