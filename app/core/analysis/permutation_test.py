"""Permutation test for many configurations measured in rounds. No I/O.

Each round visits all configurations in its own order. If nothing differs, any other order would have given the same
values. So the labels are drawn again within each round, many times. A contrast counts as a difference if it is larger
than the largest contrast of nearly all those draws (Westfall and Young, Resampling-Based Multiple Testing, 1993). This
holds whatever the device does on its own, and for all configurations and workloads together.

It does not hold if the runs of one configuration scatter more than those of the others. If that is the baseline, its
error alone separates it from all configurations at once. So a contrast counts only under one more condition: the
configuration differs from the other configurations, or the baseline from all of them, by its own scatter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from math import fsum, inf, sqrt
from random import Random
from statistics import fmean, median

from app.core.analysis.scatter import FREEDOM, RowScatter, scatter_by_row, variance_ratios
from app.core.analysis.stats import ConfidenceInterval, tails
from backends.values import dataclass

DRAWS = 499
"""Number of random orders. More detect slightly more; the rate of false verdicts never exceeds the level."""

CLIP = 8.0
"""Robust standard deviations from the median of a round at which values are clipped.

Without it a run that took ten times as long would hide all differences. Of 3, 5, 8 and 15 this value finds +20 % in
most of the tested noises.
"""

REACH = 0.55
"""Largest share of the level for the draws in which one configuration differs as much as observed.

In half of those draws it differs even more.
"""

_MEDIAN = 1.5
"""Variance of the median of normal values, divided by that of their mean."""

_NORMAL = 1.4826
"""Standard deviations of a normal distribution in its median absolute deviation."""

_LEAST = 1e-9
"""Smallest standard deviation of logarithms; anything below is rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundResults:
    """Results of several configurations with one workload: the values of each round, in order."""

    values: tuple[tuple[float, ...], ...]
    """Logarithms, the same number in every round."""
    labels: tuple[tuple[int, ...], ...]
    """The configuration of each value; 0 is the baseline."""
    names: tuple[str, ...] = ()
    """Names of the configurations by label: the same name in several workloads is the same configuration."""

    @property
    def setups(self) -> int:
        """Return the number of configurations."""
        return len(self.values[0])


def can_show(setups: int, rounds: int, level: float) -> bool:
    """Return whether this many rounds can show that one configuration differs, however large the difference."""
    return setups > 1 and float(setups) ** (1 - rounds) <= REACH * level


def rounds_needed(setups: int, level: float) -> int:
    """Return the fewest rounds that can show a difference; needs at least two configurations."""
    rounds = 2
    while not can_show(setups, rounds, level):
        rounds += 1
    return rounds


@lru_cache(maxsize=16)
def permutation_intervals(
    family: tuple[RoundResults, ...], *, seed: str, level: float, draws: int = DRAWS
) -> tuple[tuple[ConfidenceInterval, ...], ...]:
    """Return, for each member of the family, the intervals of all its contrasts with 0.

    The intervals hold together for the whole family. Each is around the median of the log-ratios of the rounds, and
    excludes 0 if chance does not explain the contrast. `seed` fixes the draws, so that the result is reproducible.
    """
    clipped = [_without_outliers(results) for results in family]
    contrasts = [_contrasts(_by_label(rows, results.labels)) for rows, results in zip(clipped, family, strict=True)]
    random = Random(seed)
    # Drawn from the values themselves, the test is exact if nothing differs. If some configurations differ, their
    # differences hide the scatter of the others; then it holds for draws from the residuals of each configuration.
    residuals = [_residuals(rows, results.labels) for rows, results in zip(clipped, family, strict=True)]
    drawn = (_largest(clipped, random, draws), _largest(residuals, random, draws))
    rank = int(level * (draws + 1) + 1e-9)
    critical = max(sorted(largest)[-rank] for largest, _ in drawn) if rank else inf
    baseline_ps = _p_of_baselines(family, residuals, contrasts)
    wider = {} if len(family) * (len(clipped[0]) - 1) >= FREEDOM else row_scatter(family)

    def p_of(contrast: float, alone: float, baseline: float) -> float:
        of_contrast, of_setup = (
            max((1 + sum(largest >= value * (1 - 1e-9) for largest in drawing[at])) / (draws + 1) for drawing in drawn)
            for at, value in enumerate((contrast, alone))
        )
        return max(of_contrast, min(of_setup, baseline))

    return tuple(
        tuple(_intervals(results, member_contrasts, critical, partial(p_of, baseline=p), wider, level))
        for results, member_contrasts, p in zip(family, contrasts, baseline_ps, strict=True)
    )


def row_scatter(family: Sequence[RoundResults]) -> Mapping[str, RowScatter]:
    """Return the scatter of each configuration over the workloads of a family, by name."""
    return scatter_by_row(
        [(_names(results), _columns(_residuals(_without_outliers(results), results.labels))) for results in family],
    )


def _names(results: RoundResults) -> tuple[str, ...]:
    return results.names or tuple(map(str, range(results.setups)))


def _columns(by_label: Sequence[Sequence[float]]) -> list[tuple[float, ...]]:
    return list(zip(*by_label, strict=True))


def _p_of_baselines(
    family: Sequence[RoundResults], left: Sequence[Sequence[Sequence[float]]], contrasts: Sequence[_Contrasts]
) -> list[float]:
    """Return, for each member, the probability that the scatter of the baseline alone explains its distance."""
    columns = [(_names(results), _columns(rows)) for results, rows in zip(family, left, strict=True)]
    by_row = scatter_by_row(columns)
    p = []
    for (names, residuals), contrast in zip(columns, contrasts, strict=True):
        row = by_row[names[0]]
        wider = max(1.0, row.ratio, variance_ratios(residuals)[0])
        error = contrast.error * sqrt((wider + _MEDIAN / (len(names) - 1)) / 2)
        far = abs(contrast.means[0] - median(contrast.means[1:])) / error
        p.append(min(1.0, len(family) * tails(far, row.freedom)))
    return p


def _intervals(
    results: RoundResults,
    contrasts: _Contrasts,
    critical: float,
    p_of: Callable[[float, float], float],
    wider: Mapping[str, RowScatter],
    level: float,
) -> Iterator[ConfidenceInterval]:
    by_label = _by_label(results.values, results.labels)
    others = sorted(contrasts.means[1:])
    for label in range(1, results.setups):
        middle = median(row[label] - row[0] for row in by_label)
        size = abs(contrasts.means[label] - contrasts.means[0]) / contrasts.error
        rank = others.index(contrasts.means[label])
        remaining = others[:rank] + others[rank + 1 :]
        alone = abs(contrasts.means[label] - median(remaining)) / contrasts.error if remaining else size
        sd = contrasts.error * sqrt(len(by_label))
        low, high = middle - critical * contrasts.error, middle + critical * contrasts.error
        scatter = wider.get(_names(results)[label])
        p = p_of(size, alone if scatter is None else alone / sqrt(max(1.0, scatter.ratio)))
        if p > level or size <= critical * (1 + 1e-9):
            low, high = min(low, 0.0), max(high, 0.0)
        yield ConfidenceInterval(mean=middle, low=low, high=high, sd=sd, n=len(by_label), p=p, level=level)


def _without_outliers(results: RoundResults) -> list[list[float]]:
    """Return the deviations of each round from its median, clipped and without a trend within the rounds.

    Labels have no influence on it, so they can be drawn again afterwards.
    """
    centred = [[value - middle for value in row] for row in results.values for middle in [median(row)]]
    most = CLIP * _NORMAL * median(abs(value) for row in centred for value in row)
    if most:
        centred = [[min(most, max(-most, value)) for value in row] for row in centred]
    offsets = [offset - (results.setups - 1) / 2 for offset in range(results.setups)]
    squares = len(centred) * fsum(offset * offset for offset in offsets)
    rise = fsum(offset * value for row in centred for offset, value in zip(offsets, row, strict=True)) / squares
    flat = [[value - rise * offset for offset, value in zip(offsets, row, strict=True)] for row in centred]
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
    """Means by label, and the standard error of the difference of two means."""

    means: tuple[float, ...]
    error: float


def _contrasts(by_label: Sequence[Sequence[float]]) -> _Contrasts:
    """Return the contrasts of rows that each have a mean of 0."""
    squares = fsum(value * value for row in by_label for value in row)
    return _contrasts_of(list(map(fsum, zip(*by_label, strict=True))), squares, len(by_label))


def _contrasts_of(sums: Sequence[float], squares: float, rounds: int) -> _Contrasts:
    left = max(0.0, squares - sum(value * value for value in sums) / rounds)
    variance = left / ((len(sums) - 1) * (rounds - 1))
    error = max(_LEAST, sqrt(variance)) * sqrt(2 / rounds)
    return _Contrasts(means=tuple(value / rounds for value in sums), error=error)


def _largest(
    family: Sequence[Sequence[Sequence[float]]], random: Random, draws: int
) -> tuple[list[float], list[float]]:
    """Return the largest contrasts of the family in each draw, in standard errors.

    The first list compares configurations with 0, the second with the median of the others except 0.
    """
    squares = [fsum(value * value for row in rows for value in row) for rows in family]
    largest_contrasts, largest_alone = [], []
    for _ in range(draws):
        contrast = alone = 0.0
        for rows, row_squares in zip(family, squares, strict=True):
            drawn = [_shuffled(row, random) for row in rows]
            contrasts = _contrasts_of(list(map(sum, zip(*drawn, strict=True))), row_squares, len(rows))
            base, others = contrasts.means[0], sorted(contrasts.means[1:])
            contrast = max(contrast, (others[-1] - base) / contrasts.error, (base - others[0]) / contrasts.error)
            if len(others) > 1:  # the outermost values are farthest from the median of the rest
                alone = max(
                    alone,
                    (others[-1] - _middle(others, len(others) - 1, 0)) / contrasts.error,
                    (_middle(others, len(others) - 1, 1) - others[0]) / contrasts.error,
                )
        largest_contrasts.append(contrast)
        largest_alone.append(alone)
    return largest_contrasts, largest_alone


def _middle(ascending: Sequence[float], count: int, begin: int) -> float:
    """Return the median of `count` values from `begin` on."""
    half = begin + count // 2
    return ascending[half] if count % 2 else (ascending[half - 1] + ascending[half]) / 2


def _shuffled(row: Sequence[float], random: Random) -> list[float]:
    """Return the row in random order; takes half the time of `Random.shuffle`."""
    return [value for _, value in sorted([(random.random(), value) for value in row])]
