"""Permutation test for many configurations measured in rounds. No I/O.

Each round measures all configurations once, in its own random order. If no configuration differs, any other order
would have given the same values. So the labels of the values are drawn again within each round, many times. A contrast
(the difference of a configuration from the baseline) counts if nearly all those draws have smaller contrasts only
(Westfall and Young, Resampling-Based Multiple Testing, 1993). This remains valid if the device itself changes over
time, and for all configurations and workloads together.

It is not valid if the runs of one configuration scatter more than those of the others. If that configuration is the
baseline, its error alone separates it from all configurations at once. So a contrast must meet one more condition:
judged by its own scatter, the configuration differs from the others, or the baseline differs from all of them.
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
"""Number of random draws. With more, slightly smaller effects are found; false verdicts never exceed the level."""

CLIP = 8.0
"""Distance from the median of a round at which values are clipped, in robust standard deviations.

Without clipping, one run that took ten times as long would hide all differences. Of the values 3, 5, 8 and 15, this one
finds an effect of +20 % in most of the tested kinds of noise.
"""

REACH = 0.55
"""Largest allowed probability that a draw keeps all values of one configuration together, as a share of the level.

In such a draw the configuration differs as much as observed, and in half of these draws even more. If such draws were
more frequent, chance could explain any difference, however large.
"""

_MEDIAN = 1.5
"""Variance of the median of normally distributed values, as a multiple of the variance of their mean."""

_NORMAL = 1.4826
"""Standard deviation divided by median absolute deviation, for a normal distribution."""

_LEAST = 1e-9
"""Smallest standard deviation of logarithms; a smaller one is only rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundResults:
    """Results of several configurations with one workload: the values of each round, in the order of measurement."""

    values: tuple[tuple[float, ...], ...]
    """Logarithms of the values, by round; every round has the same number."""
    labels: tuple[tuple[int, ...], ...]
    """The configuration of each value; 0 is the baseline."""
    names: tuple[str, ...] = ()
    """Names of the configurations, indexed by label. A configuration has the same name in all workloads."""

    @property
    def setups(self) -> int:
        """Return the number of configurations."""
        return len(self.values[0])


def can_show(setups: int, rounds: int, level: float) -> bool:
    """Return whether this many rounds can show that one configuration differs, however large the difference."""
    return setups > 1 and float(setups) ** (1 - rounds) <= REACH * level


def rounds_needed(setups: int, level: float) -> int:
    """Return the fewest rounds that can show a difference; `setups` must be at least 2."""
    rounds = 2
    while not can_show(setups, rounds, level):
        rounds += 1
    return rounds


@lru_cache(maxsize=16)
def permutation_intervals(
    family: tuple[RoundResults, ...], *, seed: str, level: float, draws: int = DRAWS
) -> tuple[tuple[ConfidenceInterval, ...], ...]:
    """Return, for each workload of the family, the intervals of all configurations compared with the baseline.

    The level holds for all intervals of the family together. Each interval is around the median of the log-ratios of
    the rounds. It excludes 0 if chance does not explain the contrast. `seed` makes the draws reproducible.
    """
    clipped = [_without_outliers(results) for results in family]
    contrasts = [_contrasts(_by_label(rows, results.labels)) for rows, results in zip(clipped, family, strict=True)]
    random = Random(seed)
    # If no configuration differs, draws from the values make the test exact. If some differ, the draws reflect these
    # differences instead of the scatter of the others. Then draws from the deviations of each configuration from its
    # mean keep the test valid. The stricter of both results counts.
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
    """Return the scatter of each configuration over all workloads of a family, by name of the configuration."""
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
    """Return, for each workload, the p value of the baseline's distance from the others, by its own scatter."""
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
    """Return the deviations of the values from the median of their round, clipped and without a trend in the rounds.

    This does not depend on the labels, so they can be drawn again afterwards.
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
    """Means of the configurations, indexed by label, and the standard error of the difference of two means."""

    means: tuple[float, ...]
    error: float


def _contrasts(by_label: Sequence[Sequence[float]]) -> _Contrasts:
    """Return the means and their error from the values of each round by label; each round must have a mean of 0."""
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
    """Return the largest differences in the family for each draw, in standard errors, as two lists.

    The first compares each configuration with the baseline (label 0). The second compares each configuration with the
    median of the others, without the baseline.
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
            if len(others) > 1:  # only the outermost values can be farthest from the median of the rest
                alone = max(
                    alone,
                    (others[-1] - _middle(others, len(others) - 1, 0)) / contrasts.error,
                    (_middle(others, len(others) - 1, 1) - others[0]) / contrasts.error,
                )
        largest_contrasts.append(contrast)
        largest_alone.append(alone)
    return largest_contrasts, largest_alone


def _middle(ascending: Sequence[float], count: int, begin: int) -> float:
    """Return the median of the `count` values that start at index `begin`."""
    half = begin + count // 2
    return ascending[half] if count % 2 else (ascending[half - 1] + ascending[half]) / 2


def _shuffled(row: Sequence[float], random: Random) -> list[float]:
    """Return the row in random order, in half the time of `Random.shuffle`."""
    return [value for _, value in sorted([(random.random(), value) for value in row])]
